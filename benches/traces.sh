#!/usr/bin/env bash
# Measures traces beside the targets: benches/traces.sh HEDDLE TRACE_SPEED, the latter being the
# example of the crate heddle-traces. How fast a halo exchange of 64 ranks is read and compiled, in
# each mode, best of three, and in how much memory, which must be the same for a trace that is ten
# times as long. And what recording adds to a call, in 10^6 small messages, with each MPI library
# that is installed. Times inform and do not gate.
set -euo pipefail
heddle=$(realpath "$1")
speed=$(realpath "$2")
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Whether the first number is at most the second.
at_most() { awk "BEGIN { exit !($1 <= $2) }"; }

line() { printf '%-36s %10s %10s %8s %8s  %s\n' "$@"; }

# Compiles a trace three times: sets `rate` to the most calls per second, in millions, and `memory`
# to the most MB.
compile() { # mode, folder
    rate=0 memory=0
    for _ in 1 2 3; do
        read -r now megabytes < <("$speed" "$1" "$2")
        at_most "$now" "$rate" || rate=$now
        at_most "$megabytes" "$memory" || memory=$megabytes
    done
}

short=1000000
long=10000000
"$speed" write "$scratch/short" $short 64
"$speed" write "$scratch/long" $long 64
line "10 M calls of 64 ranks, one thread" "M calls/s" "at least" MB "at most" ""
for mode in read gaps durations aligned; do
    compile "$mode" "$scratch/short"
    # A quarter more than the short trace needs, and 8 MB.
    bound=$(awk "BEGIN { printf \"%.0f\", 1.25 * $memory + 8 }")
    compile "$mode" "$scratch/long"
    verdict=
    at_most 2 "$rate" || verdict=SLOW
    at_most "$memory" "$bound" || verdict="$verdict LARGE"
    line "$mode" "$rate" 2 "$memory" "$bound" "${verdict:-ok}"
done

echo
line "recording, 10^6 messages of 8 bytes" "ns/call" "at most" "bare" "" ""
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for library in openmpi:libmpi.so.40 mpich:libmpich.so.12; do
    name=${library%:*}
    if ! command -v "mpicc.$name" >/dev/null || ! command -v "mpirun.$name" >/dev/null; then
        line "$name" - 300 - "" "not installed"
        continue
    fi
    "mpicc.$name" -O1 -o "$scratch/overhead" ../app/recorder/tests/programs/overhead.c -ldl
    "$heddle" record --force --output "$scratch/recorded" -- \
        "mpirun.$name" -n 1 "$scratch/overhead" 1000000 "${library#*:}" >"$scratch/said"
    added=$(sed -n 's/.*recorder: median \([0-9.]*\) ns.*/\1/p' "$scratch/said")
    bare=$(sed -n 's/.*bare: median \([0-9.]*\) ns.*/\1/p' "$scratch/said")
    verdict=ok
    at_most "$added" 300 || verdict=SLOW
    line "$name" "$added" 300 "$bare" "" "$verdict"
done
