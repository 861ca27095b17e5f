#!/bin/sh
# Runs examples: examples/demo.sh HEDDLE FOLDER PART. Tables and drawings go to FOLDER. The part
# `command` has six that need the command alone, and `mpi` one that runs an MPI program.
set -eu
heddle=$1
out=$2
part=$3
mkdir -p "$out"

# Says what follows, then shows and runs a command of heddle.
show() {
    printf '\n== %s\n' "$1"
    shift
    printf '   heddle'
    printf ' %s' "$@"
    printf '\n\n'
    "$heddle" "$@"
}

if [ "$part" = mpi ]; then
    "$(dirname "$heddle")/mpi/bin/mpicc" -O2 -o "$out/stencil" examples/programs/stencil.c -lm
    show "An unmodified MPI program, 256 ranks in one process, over the fat tree" \
        mpirun -n 256 --in-process --machine examples/machines/fat-tree-648.toml "$out/stencil"
    printf '\nTables, timeline and drawing are in %s; ' "$out"
    printf 'https://ui.perfetto.dev opens the timeline.\n'
    printf 'A page that shows the run of the halos: %s\n' "$out/halo/report.html"
    exit
fi

show "A schedule that was recorded on a real cluster" run examples/ltest.toml
show "Sixteen ranks exchange halos while the system disturbs them" \
    run pattern:halo2d --ranks 16 --steps 3 --size 1KiB --compute 40us --allreduce 8B --gantt \
    --set noise.interval=50us --set noise.duration=20us --set noise.distribution=exponential \
    --set output.directory="$out/halo" --set output.timeline=perfetto --report --force
show "648 hosts on a fat tree of InfiniBand switches, packet by packet" \
    run pattern:dissemination --ranks 648 --size 180B --machine examples/machines/fat-tree-648.toml
show "One workload at every fidelity, and where they disagree" \
    ladder pattern:linear-alltoall --ranks 64 --size 16KiB \
    --machine examples/machines/edr-cluster.toml
show "Latency of a torus under growing load" \
    run traffic:uniform --network infiniband --topology torus:dims=4x4 --load 0.1:0.7:0.2
show "A topology, checked for deadlock and drawn" \
    topology fat-tree:levels=2,radix=8 --draw "$out/fat-tree.svg"
