//! The table `[traces]`: how the traces of a run become a schedule.

use super::*;

table! {
    MODE: Word(words::MODE) = "traces.mode", Value("gaps"), None, scope::TRACES,
        "How recorded time becomes time in the schedule.";
    CLOCKS: Word(words::CLOCKS) = "traces.clocks", Value("default"), None, scope::TRACES,
        "Which clocks of different ranks are compared.";
    RECORDED_ON: Word(words::RECORDED_ON) = "traces.recorded-on",
        Value("ideal"), None, scope::TRACES,
        "The network of the recording machine, whose part of the time in calls is taken out in the \
         modes `durations` and `aligned`.";
    SCALE: Factor = "traces.scale", Value("1"), flag("scale-compute", "FACTOR"), scope::TRACES,
        "By how much computation takes longer than recorded; with 0.5 it is twice as fast.";
    SCALE_RANKS: Name = "traces.scale-ranks", Unset("all as `scale`"), None, scope::TRACES,
        "Other factors for some ranks: `0=1.5,3=2`.";
    SCALE_REGIONS: Name = "traces.scale-regions", Unset("none"), None, scope::TRACES,
        "Further factors for regions, by the level of `MPI_Pcontrol`: `1=0.5`.";
    SPEED: Count(1, u64::MAX) = "traces.speed", Value("1000000000"), None, scope::TRACE_SPEED,
        "Operations per second of a host, for time-independent traces.";
    MAP: Path = "traces.map", Unset("each its own"), None, scope::TRACES,
        "A file with a number per line: the rank of the schedule that each recorded rank becomes.";
    COPIES: Count(1, U32) = "traces.copies", Value("1"), None, scope::TRACES,
        "How many copies of the recorded ranks run. Messages stay within a copy; collectives of \
         the world join all.";
    FROM_COLLECTIVE: Count(0, u64::MAX) = "traces.from-collective", Value("0"), None, scope::TRACES,
        "The schedule begins when this collective of the world ends, counted from 1; 0 is \
         `MPI_Init`.";
    TO_COLLECTIVE: Count(1, u64::MAX) = "traces.to-collective",
        Unset("the end"), None, scope::TRACES,
        "The schedule ends with this collective of the world.";
    FROM: Time = "traces.from", Unset("the beginning"), None, scope::TRACES,
        "The schedule begins with calls at this time since `MPI_Init`.";
    TO: Time = "traces.to", Unset("the end"), None, scope::TRACES,
        "The schedule ends before calls at this time.";
    PIN_PER_BYTE: TimePerByte = "traces.pin-per-byte", Value("0 ns/B"), None, scope::TRACES,
        "Cost of registering each byte of a buffer that was not used before, in mode `gaps`.";
    PIN_PER_CALL: Time = "traces.pin-per-call", Value("0 ns"), None, scope::TRACES,
        "Cost of a call that registers anything.";
    PIN_LIMIT: Bytes = "traces.pin-limit", Unset("no limit"), None, scope::TRACES,
        "Bytes that stay registered at most; the longest unused go first.";
    CONNECT: Time = "traces.connect", Value("0 ns"), None, scope::TRACES,
        "Cost of the first message from a rank to another, in mode `gaps`.";
}

/// The table `[traces.algorithms]`.
pub(crate) mod algorithms {
    use super::*;

    table! {
        BARRIER: Name = "traces.algorithms.barrier",
            Unset("as `workload.collectives` says"), flag("barrier", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Barrier`, also where communicators and windows are made.";
        BCAST: Name = "traces.algorithms.bcast",
            Unset("as `workload.collectives` says"), flag("bcast", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Bcast`.";
        REDUCE: Name = "traces.algorithms.reduce",
            Unset("as `workload.collectives` says"), flag("reduce", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Reduce`.";
        ALLREDUCE: Name = "traces.algorithms.allreduce",
            Unset("as `workload.collectives` says"), flag("allreduce", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Allreduce`.";
        GATHER: Name = "traces.algorithms.gather",
            Unset("as `workload.collectives` says"), flag("gather", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Gather`.";
        SCATTER: Name = "traces.algorithms.scatter",
            Unset("as `workload.collectives` says"), flag("scatter", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Scatter`.";
        ALLGATHER: Name = "traces.algorithms.allgather",
            Unset("as `workload.collectives` says"), flag("allgather", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Allgather`.";
        ALLGATHERV: Name = "traces.algorithms.allgatherv",
            Unset("as `workload.collectives` says"), flag("allgatherv", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Allgatherv`.";
        ALLTOALL: Name = "traces.algorithms.alltoall",
            Unset("as `workload.collectives` says"), flag("alltoall", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Alltoall`.";
        ALLTOALLV: Name = "traces.algorithms.alltoallv",
            Unset("as `workload.collectives` says"), flag("alltoallv", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Alltoallv`.";
        REDUCE_SCATTER: Name = "traces.algorithms.reduce-scatter",
            Unset("as `workload.collectives` says"), flag("reduce-scatter", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Reduce_scatter`.";
        REDUCE_SCATTER_BLOCK: Name = "traces.algorithms.reduce-scatter-block",
            Unset("as `workload.collectives` says"),
            flag("reduce-scatter-block", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Reduce_scatter_block`.";
        SCAN: Name = "traces.algorithms.scan",
            Unset("as `workload.collectives` says"), flag("scan", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Scan`.";
        EXSCAN: Name = "traces.algorithms.exscan",
            Unset("as `workload.collectives` says"), flag("exscan", "NAME"), scope::CALLS,
            "Algorithm of `MPI_Exscan`.";
    }
}
