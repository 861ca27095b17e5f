#!/usr/bin/env bash
# Measures live programs beside the targets: benches/live.sh HEDDLE FOLDER [--long], where FOLDER
# has the libraries and wrappers of MPI that heddle-mpi-libraries makes. Ranks in one process: CPU
# seconds of the whole process and its peak memory, best of three; if SimGrid's SMPI is installed,
# also beside that. Ranks as processes: the wall time of a message, everything on one core.
# Sampling: a run with one step in 20 beside the whole one. The largest cases take minutes and 4 GB,
# and are run, once, only with --long. Times inform and do not gate.
set -euo pipefail
heddle=$(realpath "$1")
folder=$(realpath "$2")
long=${3:-}
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HEDDLE_MPI=$folder/lib
for program in halo pingpong relax; do
    "$folder/bin/mpicc" -O2 -o "$scratch/$program" "live/$program.c"
done

# The value of a key in a line of JSON.
value() { sed -n "s/.*\"$1\":\([0-9.eE+-]*\).*/\1/p"; }

# Whether the first number is at most the second.
at_most() { awk "BEGIN { exit !($1 <= $2) }"; }

# The smallest value of a key in several runs of a live program.
least() { # key, times, arguments of heddle mpirun
    local key=$1 times=$2 least= now
    shift 2
    for _ in $(seq "$times"); do
        "$heddle" mpirun --compute-time off --format json "$@" >"$scratch/run"
        now=$(value "$key" <"$scratch/run")
        if [ -z "$least" ] || at_most "$now" "$least"; then
            least=$now
            cp "$scratch/run" "$scratch/best"
        fi
    done
    echo "$least"
}

line() { printf '%-36s %10s %10s %8s %8s  %s\n' "$@"; }

halo() { # ranks, CPU seconds at most or -, MB at most, times
    local cpu mb verdict=
    cpu=$(least cpu_seconds "$4" -n "$1" --in-process --allreduce rdb "$scratch/halo")
    mb=$(value peak_rss_bytes <"$scratch/best" | awk '{ printf "%.0f", $1 / 1e6 }')
    [ "$2" = - ] || at_most "$cpu" "$2" || verdict=SLOW
    at_most "$mb" "$3" || verdict="$verdict LARGE"
    line "halo exchange, $1 ranks" "$(printf %.3f "$cpu")" "$2" "$mb" "$3" "${verdict:-ok}"
}

echo "load average before: $(cut -d' ' -f1 /proc/loadavg); what else runs slows all of this down"
line "in one process, best of three" "CPU s" "at most" MB "at most" ""
halo 1024 0.15 60 3
halo 4096 0.7 250 3
if [ "$long" = --long ]; then
    halo 16384 3 1000 1
    halo 65536 - 4000 1
else
    line "halo exchange, 16384 and 65536 ranks" "-" "-" "-" "-" "not run without --long"
fi

# Beside the peer on this machine, three runs each in turn, medians. The targets above are parts of
# what it took elsewhere.
peer() { # ranks, its steps, how many times as long it takes at least
    smpicc -O2 -DSTEPS="$2" -o "$scratch/halo-smpi" live/halo.c
    seq -f 'host-%g' 0 $(($1 - 1)) >"$scratch/hosts"
    rm -f "$scratch"/cpu-*
    TIMEFORMAT='%U %S'
    for _ in 1 2 3; do
        { time smpirun -np "$1" -platform live/cluster.xml -hostfile "$scratch/hosts" \
            --cfg=smpi/allreduce:rdb --cfg=smpi/simulate-computation:no \
            --log=root.thresh:critical "$scratch/halo-smpi" 2>"$scratch/said"; } \
            2>"$scratch/times" ||
            { cat "$scratch/said" >&2; exit 1; }
        awk '{ print $1 + $2 }' "$scratch/times" >>"$scratch/cpu-smpi"
        for network in "network loggops" "machine live/cluster.xml"; do
            # shellcheck disable=SC2086
            "$heddle" mpirun --compute-time off --format json -n "$1" --in-process \
                --allreduce rdb --$network "$scratch/halo" |
                value cpu_seconds >>"$scratch/cpu-${network%% *}"
        done
    done
    compare "$1 ranks: on loggops" network "$3" "$2"
    compare "$1 ranks: over flows" machine - "$2"
}
compare() {
    local theirs ours factor verdict=
    theirs=$(median cpu-smpi) ours=$(median "cpu-$2")
    factor=$(awk "BEGIN { printf \"%.1f\", $theirs / $ours }")
    [ "$3" = - ] || at_most "$3" "$factor" || verdict=SLOW
    [ "$3" = - ] || verdict=${verdict:-ok}
    [ "$4" = 10 ] || verdict="$verdict (SMPI: $4 of 10 steps)"
    line "$1" "$theirs" "$(printf %.3f "$ours")" "$factor" "$3" "$verdict"
}
median() { sort -g "$scratch/$1" | sed -n 2p; }
line "halo exchange beside SMPI, CPU s" SMPI Heddle factor "at least" ""
if command -v smpicc >/dev/null && command -v smpirun >/dev/null; then
    # 1.6 s over 0.15 s, and 3.5 s, for one step, over 0.7 s.
    peer 1024 10 10.7
    peer 4096 1 5
else
    line "1024 and 4096 ranks" "-" "-" "-" "-" "not run: SMPI is not installed"
fi

echo
line "processes on one core, best of three" "us" "at most" "" "" ""
heddle_anywhere=$heddle
heddle=$scratch/pinned
printf '#!/bin/sh\nexec taskset -c 0 "%s" "$@"\n' "$heddle_anywhere" >"$heddle"
chmod +x "$heddle"
few=$(least simulation_seconds 3 -n 2 "$scratch/pingpong" 0)
many=$(least simulation_seconds 3 -n 2 "$scratch/pingpong" 2000)
each=$(awk "BEGIN { printf \"%.1f\", ($many - $few) * 1e6 / 4000 }")
verdict=ok
at_most "$each" 8 || verdict=SLOW
line "a message of a ping-pong" "$each" 8 "" "" "$verdict"
"$heddle_anywhere" mpirun -q -n 512 --compute-time off "$scratch/halo"
line "halo exchange, 512 processes" "" "" "" "" "runs"

echo
heddle=$heddle_anywhere
line "sampling and folding" "" "at most" "" "" ""
# Five runs of each, in turn, as the machine's own speed changes: the medians of what one is of the
# other.
for _ in 1 2 3 4 5; do
    for times in 200 10; do
        "$heddle" mpirun --format json -n 4 "$scratch/relax" 16 200 $times >"$scratch/run-$times"
    done
    for key in makespan_ps simulation_seconds; do
        few=$(value $key <"$scratch/run-10") all=$(value $key <"$scratch/run-200")
        awk "BEGIN { printf \"%.2f\n\", 100 * $few / $all }" >>"$scratch/$key"
    done
done
third() { sort -g "$scratch/$1" | sed -n 3p; }
error=$(awk "BEGIN { printf \"%.2f\", $(third makespan_ps) - 100 }")
verdict=ok
at_most "${error#-}" 1 || verdict=WRONG
line "one step in 20, simulated time, %" "$error" 1 "" "" "$verdict"
verdict=ok
share=$(third simulation_seconds)
at_most "$share" 10 || verdict=SLOW
line "one step in 20, wall time, %" "$share" 10 "" "" "$verdict"
if [ "$long" = --long ]; then
    "$heddle" mpirun --format json -n 64 --in-process --fold 64MiB "$scratch/relax" 1024 20 2 \
        >"$scratch/run"
    mb=$(value peak_rss_bytes <"$scratch/run" | awk '{ printf "%.0f", $1 / 1e6 }')
    verdict=ok
    at_most "$mb" 3000 || verdict=LARGE
    line "64 ranks of 1 GiB each, MB" "$mb" 3000 "" "" "$verdict"
else
    line "64 ranks of 1 GiB each" "-" "" "" "" "not run without --long"
fi
