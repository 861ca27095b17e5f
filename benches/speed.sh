#!/usr/bin/env bash
# Measures the speed of heddle on the cases that it is meant to be fast at: benches/speed.sh HEDDLE.
# Best of three; CPU seconds of the whole process and its peak memory, beside what they should be at
# most. Times inform and do not gate: see benches/instructions.sh for what gates.
set -euo pipefail
heddle=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The value of a key in a line of JSON.
value() { sed -n "s/.*\"$1\":\([0-9.eE+-]*\).*/\1/p"; }

# Runs heddle three times with --format json; keeps the run with the smallest value of a key.
best() { # key, arguments of heddle run
    local key=$1 least=
    shift
    for _ in 1 2 3; do
        "$heddle" run "$@" --format json >"$scratch/run"
        local now
        now=$(value "$key" <"$scratch/run")
        if [ -z "$least" ] || awk "BEGIN { exit !($now < $least) }"; then
            least=$now
            cp "$scratch/run" "$scratch/best"
        fi
    done
}

line() { printf '%-38s %9s %9s %9s %9s  %s\n' "$@"; }

measure() { # name, CPU seconds at most, MB at most or -, arguments of heddle run
    best cpu_seconds "${@:4}"
    local cpu mb verdict
    cpu=$(value cpu_seconds <"$scratch/best")
    mb=$(value peak_rss_bytes <"$scratch/best" | awk '{ printf "%.0f", $1 / 1e6 }')
    verdict=$(awk "BEGIN { print ($cpu <= $2 && (\"$3\" == \"-\" || $mb <= \"$3\" + 0)) ? \"ok\" : \"SLOW\" }")
    line "$1" "$(awk "BEGIN { printf \"%.3f\", $cpu }")" "$2" "$mb" "$3" "$verdict"
}

threads() { # name, arguments of heddle run
    local one two
    best simulation_seconds "${@:2}" --threads 1
    one=$(value simulation_seconds <"$scratch/best")
    best simulation_seconds "${@:2}" --threads 2
    two=$(value simulation_seconds <"$scratch/best")
    awk -v name="$1" -v one="$one" -v two="$two" 'BEGIN {
        printf "%-38s %7.2f s %7.2f s %8.2f x  %s\n", name, one, two, one / two,
            (one / two >= 1.6 ? "ok" : "below 1.6")
    }'
}

small=(--size 15B)
file=$scratch/dissemination
"$heddle" gen dissemination --ranks 131072 "${small[@]}" -o "$file.bin"
line "one thread" "CPU s" "at most" "MB" "at most" ""
measure "dissemination 128 Ki, binary file" 0.5 300 "$file.bin"
measure "dissemination 128 Ki" 0.15 - pattern:dissemination --ranks 131072 "${small[@]}"
measure "binomial-bcast 1 Mi" 0.3 - pattern:binomial-bcast --ranks 1048576 "${small[@]}"
for case in "256 0.02" "1024 0.15" "4096 3"; do
    read -r ranks limit <<<"$case"
    measure "linear-alltoall $ranks" "$limit" - pattern:linear-alltoall --ranks "$ranks" "${small[@]}"
done
measure "dissemination 1 Mi, permuted" 4 - \
    pattern:dissemination --ranks 1048576 --permute 1 "${small[@]}"
measure "linear-alltoall 1024, compat" 0.5 - \
    pattern:linear-alltoall --ranks 1024 "${small[@]}" --set loggops.compat=loggopsim
if [ "$(awk '/^MemAvailable/ { print int($2 / 1e6) }' /proc/meminfo)" -ge 9 ]; then
    measure "dissemination 16 Mi" 60 8000 pattern:dissemination --ranks 16777216 "${small[@]}"
else
    echo "dissemination 16 Mi: left out, needs 9 GB of free memory"
fi

echo
printf '%-38s %9s %9s %9s\n' "simulation phase, wall time" "1 thread" "2 threads" "speed-up"
threads "linear-alltoall 4096" pattern:linear-alltoall --ranks 4096 "${small[@]}"
threads "dissemination 4 Mi" pattern:dissemination --ranks 4194304 "${small[@]}"

echo
"$heddle" convert "$file.bin" "$file.goal"
bytes=$(stat -c %s "$file.goal")
least=
for _ in 1 2 3; do
    start=$(date +%s%N)
    "$heddle" convert "$file.goal" "$file.again.bin"
    took=$(($(date +%s%N) - start))
    if [ -z "$least" ] || [ "$took" -lt "$least" ]; then least=$took; fi
done
cmp "$file.bin" "$file.again.bin"
awk "BEGIN { printf \"text to binary: %.0f MB/s, should be 100 at least (%.0f MB)\n\", $bytes * 1e3 / $least, $bytes / 1e6 }"
