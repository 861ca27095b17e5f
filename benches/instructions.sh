#!/usr/bin/env bash
# Counts the instructions of a few small runs and compares them with a table of this folder:
# benches/instructions.sh HEDDLE TABLE [--record]. Fails where a run takes more than recorded, over
# 3 % in instructions.txt (the command as it is shipped) or 5 % in instructions-tests.txt (as it is
# built for tests: what the compiler puts into the same unit moves its counts).
# Counts, unlike times, do not depend on what else the machine does; those of another compiler or C
# library may differ, then record them again.
set -euo pipefail
heddle=$(realpath "$1")
cd "$(dirname "$0")"
recorded=$2
tolerance=3 # %
[ "$recorded" = instructions.txt ] || tolerance=5

if ! command -v valgrind >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -y -qq valgrind >/dev/null
    else
        echo "instructions: valgrind is missing (Debian: apt-get install valgrind)" >&2
        exit 1
    fi
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Prints the instructions of one run of heddle.
count() {
    if ! valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
        "$heddle" "$@" >"$scratch/out" 2>"$scratch/log"; then
        cat "$scratch/log" >&2
        return 1
    fi
    sed -n 's/,//g; s/^==[0-9]*== I *refs: *//p' "$scratch/log"
}

# A line "name count" per case. Live ranks are not among them: valgrind does not honour LD_AUDIT, so
# that a program under it never finds our libraries.
cases() {
    local goal=$scratch/ring.goal
    "$heddle" gen allreduce-ring --ranks 128 --size 4MiB -o "$goal"
    run() {
        local instructions
        instructions=$(count "${@:2}")
        echo "$1 $instructions"
    }
    run dissemination run pattern:dissemination --ranks 16384 --size 15B
    run binomial-bcast run pattern:binomial-bcast --ranks 65536 --size 15B
    run linear-alltoall run pattern:linear-alltoall --ranks 256 --size 15B
    run rendezvous run pattern:linear-alltoall --ranks 64 --size 100000B
    run compat run pattern:linear-alltoall --ranks 128 --size 15B --set loggops.compat=loggopsim
    run text-to-binary convert "$goal" "$scratch/ring.bin"
    run binary run "$scratch/ring.bin"
    run infiniband run pattern:linear-alltoall --ranks 48 --size 4096B \
        --network infiniband --topology fat-tree:levels=2,radix=12
    run infiniband-traffic run traffic:uniform \
        --network infiniband --topology torus:dims=4x4 --load 0.4
    run flow run pattern:linear-alltoall --ranks 24 --size 100000B \
        --machine ../examples/machines/graphene.toml --network flow
    run flow-replay run ../validation/simgrid/replays/random-0/trace.index \
        --machine ../validation/simgrid/replays/random-0/platform.xml --network flow
    run traces run ../validation/traces/sweep3d-2x2
}

if [ "${3:-}" = --record ]; then
    cases | tee "$scratch/new"
    mv "$scratch/new" "$recorded"
    exit 0
fi
if [ ! -e "$recorded" ]; then
    echo "instructions: benches/$recorded is missing; make bench-record writes it" >&2
    exit 1
fi
cases >"$scratch/now"
awk -v tolerance=$tolerance '
    BEGIN { format = "%-16s %14s %14s %8s\n"; printf format, "case", "recorded", "now", "change" }
    NR == FNR { before[$1] = $2; next }
    !($1 in before) { printf format, $1, "-", $2, "-"; failed = 1; next }
    {
        change = 100 * ($2 / before[$1] - 1)
        printf format, $1, before[$1], $2, sprintf("%+.1f %%", change)
        if (change > tolerance) failed = 1
        if (change < -tolerance) faster = 1
    }
    END {
        if (failed) print "a case takes more instructions than recorded, or is not recorded yet"
        if (faster) print "some cases became faster: make bench-record keeps that"
        exit failed
    }' "$recorded" "$scratch/now"
