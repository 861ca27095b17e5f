#!/usr/bin/env bash
# Measures the speed of the InfiniBand model, beside the targets: benches/traffic.sh HEDDLE
# TRAFFIC_SPEED LAYERS, the latter two being the examples of that name of heddle-traffic and
# heddle-host. Best of three; one thread and two take turns, nine times for traffic and five for a
# program, and their medians are compared. Times inform and do not gate; those on two threads need
# two idle cores.
set -euo pipefail
heddle=$(realpath "$1")
speed=$(realpath "$2")
layers=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

line() { printf '%-44s %10s %10s  %s\n' "$@"; }

# CPU seconds of a command, the least of three.
cpu() {
    local least= now
    TIMEFORMAT='%U %S'
    for _ in 1 2 3; do
        now=$({ time "$@" >"$scratch/out"; } 2>&1 | awk '{ print $1 + $2 }')
        if [ -z "$least" ] || awk "BEGIN { exit !($now < $least) }"; then least=$now; fi
    done
    echo "$least"
}

# Wall seconds of the traffic on so many threads. What it found is left in a file of that name.
wall() {
    "$speed" "$1" >"$scratch/$1"
    sed -i -n 's/.* in \([0-9.]*\) s.*/\1/p; /^Point/p' "$scratch/$1"
    head -1 "$scratch/$1"
}

median() { sort -g "$1" | awk '{ all[NR] = $1 } END { print all[(NR + 1) / 2] }'; }

at_most() { awk "BEGIN { exit !($1 <= $2) }" && echo ok || echo SLOW; }

echo "load average before: $(cut -d' ' -f1 /proc/loadavg); what else runs slows all of this down"
line "" measured target ""
seconds=$(cpu "$speed" 1)
millions=$(sed -n 's/.* messages: \([0-9.]*\) million.*/\1/p' "$scratch/out")
rate=$(awk "BEGIN { printf \"%.1f\", $millions / $seconds }")
line "million flit-hops a CPU second, 324 hosts" "$rate" 10 "$(at_most 10 "$rate")"
seconds=$(cpu "$speed" 1 infiniband-ddr-simula)
millions=$(sed -n 's/.* messages: \([0-9.]*\) million.*/\1/p' "$scratch/out")
rate=$(awk "BEGIN { printf \"%.1f\", $millions / $seconds }")
line "the same, hosts with pauses" "$rate" 10 "$(at_most 10 "$rate")"
for _ in 1 2 3 4 5 6 7 8 9; do
    wall 1 >>"$scratch/one"
    wall 2 >>"$scratch/two"
done
cmp <(tail -1 "$scratch/1") <(tail -1 "$scratch/2")
ratio=$(awk "BEGIN { printf \"%.2f\", $(median "$scratch/one") / $(median "$scratch/two") }")
line "one thread's wall time over two threads'" "$ratio" 1.5 "$(at_most 1.5 "$ratio")"
program=(pattern:linear-alltoall --ranks 324 --size 64KiB --network infiniband
    --topology xgft:children=18x18,parents=1x18 --set network.cable=100ns --format json)
for _ in 1 2 3 4 5; do
    for threads in 1 2; do
        "$heddle" run "${program[@]}" --threads $threads |
            sed -n 's/.*"simulation_seconds":\([0-9.eE+-]*\).*/\1/p' >>"$scratch/program$threads"
    done
done
one=$(median "$scratch/program1")
ratio=$(awk "BEGIN { printf \"%.2f\", $one / $(median "$scratch/program2") }")
line "the same, a program of 324 ranks" "$ratio" 1.6 "$(at_most 1.6 "$ratio")"
seconds=$(for _ in 1 2 3; do
    "$speed" 1 20 M9 1e-9 | sed -n 's/.* in \([0-9.]*\) s.*/\1/p'
done | sort -n | head -1)
line "10 ms of idle network, 648 hosts, s" "$seconds" 0.01 "$(at_most "$seconds" 0.01)"
seconds=$(cpu "$heddle" run pattern:dissemination --ranks 648 --size 180B \
    --network infiniband --topology M9)
line "dissemination of 180 B on M9, CPU s" "$seconds" 0.1 "$(at_most "$seconds" 0.1)"
for pattern in allreduce-ring dissemination linear-alltoall; do
    seconds=$("$layers" "$pattern" | sed -n 's/.* above \([0-9]*\) ns.*/\1/p')
    line "layers above the network, $pattern, ns" "$seconds" 300 "$(at_most "$seconds" 300)"
done
