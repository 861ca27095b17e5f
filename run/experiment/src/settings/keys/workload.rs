//! The table `[workload]`: what runs.

use super::*;

table! {
    SOURCE: Workload = "workload.source", Unset("required"), None, scope::SOURCE,
        "A GOAL file, text or binary; `-`, which is standard input; `pattern:NAME`, which `heddle \
         patterns` lists; `collective:NAME`; `traffic:NAME` (see `[traffic]`); or traces: a folder \
         with one file per rank, the beginning of their names, or an `.index` file.";
    TIME_UNIT: TimeUnit = "workload.time-unit", Value("ns"), None, scope::SCHEDULED,
        "The unit in which the `calc` operations of a GOAL file count.";
    RANKS: Count(1, U32) = "workload.ranks", Value("8"), flag("ranks", "N"), scope::GENERATED,
        "Number of ranks of a pattern or a collective.";
    SIZE: Bytes = "workload.size", Value("1 B"), flag("size", "SIZE"), scope::GENERATED,
        "Size of one message of a pattern; of the whole vector for `allreduce-*` and \
         `pipelined-ring`; the upper limit for `alltoallv`. Of a collective: the whole vector, or \
         the block of one rank (`gather`, `scatter`, `allgather`, `alltoall`, `reduce_scatter`).";
    ROOT: Count(0, U32 - 1) = "workload.root", Value("0"), flag("root", "RANK"), scope::GENERATED,
        "Root of a tree, of `gather` or `scatter`; head of `pipelined-ring`; the rank to which \
         `alltoallv` sends messages of the full size; the root of a collective.";
    WAYS: Count(1, U32) = "workload.ways", Value("1"), flag("ways", "N"), scope::PATTERN,
        "Messages that a rank sends per round of `nway-dissemination`, or at once in `bulk-reply`.";
    SEGMENT: Bytes = "workload.segment", Value("1 B"), flag("segment", "SIZE"), scope::GENERATED,
        "Size of a segment of `pipelined-ring`, and of the algorithms of collectives that cut \
         messages (each has one of its own).";
    SKEW: Count(1, u64::MAX) = "workload.skew", Value("1"), flag("skew", "N"), scope::PATTERN,
        "Messages of `alltoallv` have from 1 to size / skew bytes; none of them any, if the size \
         is 0.";
    STEPS: Count(1, U32) = "workload.steps", Value("1"), flag("steps", "N"), scope::PATTERN,
        "Steps of `halo1d`, `halo2d`, `halo3d`, `random-ring` and `random`, and how often messages \
         go around `two-way-ring`.";
    COMPUTE: Time = "workload.compute", Value("0 ns"), flag("compute", "TIME"), scope::PATTERN,
        "Computation at the start of a step of `halo1d`, `halo2d` and `halo3d`; a multiple of the \
         time unit.";
    ALLREDUCE: Bytes = "workload.allreduce",
        Unset("no allreduce"), flag("allreduce", "SIZE"), scope::PATTERN,
        "Size of an allreduce at the end of a step of `halo1d`, `halo2d` and `halo3d`.";
    GRID: Grid = "workload.grid",
        Unset("as near to a cube as can be"), flag("grid", "GRID"), scope::PATTERN,
        "Extents of the grid of `halo1d`, `halo2d` and `halo3d`.";
    SEED: Count(0, u64::MAX) = "workload.seed", Same(&["run.seed"]), None, scope::PATTERN,
        "Seed of `alltoallv`, `random-bisection`, `random-ring` and `random`.";
    PERMUTE: Count(0, u64::MAX) = "workload.permute",
        Unset("ranks keep their places"), flag("permute", "SEED"), scope::PATTERN,
        "Permutes the ranks of a pattern at random, by this seed.";
    ALGORITHM: Name = "workload.algorithm",
        Same(&["workload.collectives"]), flag("algorithm", "NAME"), scope::COLLECTIVE,
        "Algorithm of a collective.";
    COLLECTIVES: Name = "workload.collectives",
        Value("default"), flag("collectives", "LIBRARY"), scope::COLLECTIVES,
        "MPI library that chooses the algorithms of collectives: `openmpi`, `mpich`, `mvapich2`, \
         `impi`, `smpi_ompi`, `smpi_mpich`, and `smpi_default`, SMPI's choices if it is told \
         nothing. `default` is `openmpi`, but `smpi_default` for time-independent traces on a \
         platform of SimGrid, as `smpirun` replays them. Of traces and programs also `schedgen`, \
         the choices of LogGOPSim's tool.";
    PER_NODE: Count(1, U32) = "workload.per-node",
        Value("1"), flag("per-node", "N"), scope::COLLECTIVES,
        "Ranks on each node, for algorithms of collectives that tell nodes apart.";
    ELEMENT: Bytes = "workload.element", Value("1 B"), flag("element", "SIZE"), scope::COLLECTIVE,
        "Size of an element of a collective's vectors, which are not cut within one.";
    REDUCE_COST: TimePerByte = "workload.reduce-cost",
        Value("0 ns/B"), flag("reduce-cost", "RATE"), scope::COLLECTIVES,
        "Computation per byte that a collective combines; rounded to the time unit.";
}
