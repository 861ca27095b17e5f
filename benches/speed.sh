#!/usr/bin/env bash
# Measures the speed of heddle on the cases that it is meant to be fast at, beside the targets:
# benches/speed.sh HEDDLE [--long]. Best of three: CPU seconds of the whole process, with the peak
# memory of that run. Those on two threads compare the wall time of the simulation phase. Cases
# that take a minute, one of them 8 GB, are run, once, only with --long. Times inform and do not
# gate: see benches/instructions.sh for what gates.
set -euo pipefail
heddle=$(realpath "$1")
long=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
times=3

# The value of a key in a line of JSON.
value() { sed -n "s/.*\"$1\":\([0-9.eE+-]*\).*/\1/p"; }

# Whether the first number is at most the second.
at_most() { awk "BEGIN { exit !($1 <= $2) }"; }

# Runs heddle several times with --format json; keeps the run with the smallest value of a key.
best() { # key, arguments of heddle run
    local key=$1 least= now
    shift
    for _ in $(seq "$times"); do
        "$heddle" run "$@" --format json >"$scratch/run"
        now=$(value "$key" <"$scratch/run")
        if [ -z "$least" ] || at_most "$now" "$least"; then
            least=$now
            cp "$scratch/run" "$scratch/best"
        fi
    done
}

line() { printf '%-36s %10s %10s %8s %8s  %s\n' "$@"; }

measure() { # name, CPU seconds at most, MB at most or -, arguments of heddle run
    best cpu_seconds "${@:4}"
    local cpu mb verdict=
    cpu=$(value cpu_seconds <"$scratch/best")
    mb=$(value peak_rss_bytes <"$scratch/best" | awk '{ printf "%.0f", $1 / 1e6 }')
    at_most "$cpu" "$2" || verdict=SLOW
    [ "$3" = - ] || at_most "$mb" "$3" || verdict="$verdict LARGE"
    line "$1" "$(printf %.3f "$cpu")" "$2" "$mb" "$3" "${verdict:-ok}"
}

threads() { # name, arguments of heddle run
    local one two ratio verdict=ok
    best simulation_seconds "${@:2}" --threads 1
    one=$(value simulation_seconds <"$scratch/best")
    best simulation_seconds "${@:2}" --threads 2
    two=$(value simulation_seconds <"$scratch/best")
    ratio=$(awk "BEGIN { printf \"%.2f\", $one / $two }")
    at_most 1.6 "$ratio" || verdict=SLOW
    at_most 1 "$one" || verdict="too short to tell"
    line "$1" "$(printf %.3f "$one")" "$(printf %.3f "$two")" "$ratio" 1.6 "$verdict"
}

dissemination() { # ranks, further arguments: sets `run`
    run=("pattern:dissemination" --ranks "$1" --size 15B "${@:2}")
}

alltoall() { # ranks, further arguments: sets `run`
    run=("pattern:linear-alltoall" --ranks "$1" --size 8B "${@:2}")
}

file=$scratch/dissemination
"$heddle" gen dissemination --ranks 131072 --size 15B -o "$file.bin"

echo "load average before: $(cut -d' ' -f1 /proc/loadavg); what else runs slows all of this down"
line "one thread, best of $times" "CPU s" "at most" MB "at most" ""
measure "dissemination 128 Ki, binary file" 0.5 300 "$file.bin"
dissemination 131072
measure "dissemination 128 Ki" 0.15 - "${run[@]}"
measure "binomial-bcast 1 Mi" 0.3 - pattern:binomial-bcast --ranks 1048576 --size 15B
alltoall 256
measure "linear-alltoall 256" 0.02 - "${run[@]}"
alltoall 1024
measure "linear-alltoall 1024" 0.15 - "${run[@]}"
alltoall 4096
measure "linear-alltoall 4096" 3 - "${run[@]}"
dissemination 1048576 --permute 1
measure "dissemination 1 Mi, permuted" 4 - "${run[@]}"
alltoall 1024 --set loggops.compat=loggopsim
measure "linear-alltoall 1024, compat" 0.5 - "${run[@]}"
staggered() { # ranks, radix of the fat tree: sets `run`
    run=(pattern:linear-alltoall --ranks "$1" --size 64KiB --network flow
        --topology "fat-tree:levels=2,radix=$2" --set flow.ois=0B:0.3us)
}
staggered 96 24
measure "flows, staggered alltoall 96" 0.2 - "${run[@]}"
staggered 192 24
measure "flows, staggered alltoall 192" 1.5 - "${run[@]}"
staggered 512 32
if [ "$long" = --long ]; then
    times=1 measure "flows, staggered alltoall 512, once" 60 - "${run[@]}"
else
    line "flows, staggered alltoall 512" "-" 60 "-" "-" "not run without --long"
fi
dissemination 16777216
if [ "$long" = --long ]; then
    times=1 measure "dissemination 16 Mi, once" 60 8000 "${run[@]}"
else
    line "dissemination 16 Mi" "-" 60 "-" 8000 "not run without --long"
fi

echo
line "simulation, best of $times" "1 thread s" "2 threads" ratio "at least" ""
alltoall 4096
threads "linear-alltoall 4096" "${run[@]}"
dissemination 1048576 --permute 1
threads "dissemination 1 Mi, permuted" "${run[@]}"
dissemination 4194304
threads "dissemination 4 Mi" "${run[@]}"

echo
"$heddle" convert "$file.bin" "$file.goal"
megabytes=$(awk "BEGIN { print $(stat -c %s "$file.goal") / 1e6 }")
least=
for _ in $(seq "$times"); do
    start=$(date +%s%N)
    "$heddle" convert "$file.goal" "$file.again.bin"
    took=$(($(date +%s%N) - start))
    if [ -z "$least" ] || [ "$took" -lt "$least" ]; then least=$took; fi
done
cmp "$file.bin" "$file.again.bin"
rate=$(awk "BEGIN { printf \"%.0f\", $megabytes * 1e9 / $least }")
verdict=ok
at_most 100 "$rate" || verdict=SLOW
line "one thread, best of $times" MB/s "at least" MB "" ""
line "text to binary" "$rate" 100 "$(printf %.0f "$megabytes")" "" "$verdict"
