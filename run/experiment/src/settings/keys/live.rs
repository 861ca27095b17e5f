//! The table `[live]`: how programs run whose ranks are simulated.

use super::*;

table! {
    IN_PROCESS: Switch = "live.in-process", Value("false"), flag("in-process", ""), scope::LIVE,
        "Holds all ranks in one process: for tens of thousands of them. The program must not fork, \
         and the ranks share what is the process's: files, directory, environment.";
    COMPUTE: Word(words::COMPUTE) = "live.compute",
        Value("measured"), flag("compute-time", "HOW"), scope::LIVE,
        "How much time the program's own computation takes.";
    CONSTANT: Time = "live.constant", Unset("none"), flag("constant-time", "TIME"), scope::LIVE,
        "What each region of computation takes, if `compute` is `constant`.";
    TIMES: Path = "live.times", Unset("none"), flag("times", "FILE"), scope::LIVE,
        "The `computation.csv` of an earlier run, if `compute` is `replayed`.";
    SCALE: Factor = "live.scale", Value("1"), None, scope::LIVE,
        "By how much computation takes longer than measured; with 0.5 it is twice as fast.";
    POLL: Time = "live.poll", Value("100 ns"), None, scope::CALLS,
        "What a call that only looks costs (`MPI_Test`, `MPI_Iprobe` and their kin); of several in \
         a row (with less computation between them than ten times that) the n-th costs n times as \
         much, so that time goes on for a program that polls. Over flows, `smpi/test` and \
         `smpi/iprobe` say it, if they are set. Looks in the replay of a live run cost the same.";
    CLOCK: Time = "live.clock", Value("10 ns"), None, scope::LIVE,
        "What `MPI_Wtime` costs. Over flows, `smpi/wtime` says it, if it is set.";
    SPAWN: Count(0, 1 << 20) = "live.spawn",
        Unset("1000; on a machine with hosts, no more than have no rank"),
        flag("spawn-at-most", "N"), scope::LIVE,
        "How many processes the program may start while it runs (`MPI_Comm_spawn`). What is said \
         here, and the ranks of the start, are `MPI_UNIVERSE_SIZE`.";
    SPAWN_TIME: Time = "live.spawn-time", Value("0 ns"), None, scope::LIVE,
        "What a process that the program starts takes until it runs, besides the message that says \
         who it is.";
    FOLD: Bytes = "live.fold", Unset("none"), flag("fold", "SIZE"), scope::LIVE,
        "Allocations of at least this size are the same memory in all ranks.";
    HOST_CLOCK: Word(words::HOST_CLOCK) = "live.host-clock",
        Value("real"), flag("host-clock", "HOW"), scope::LIVE,
        "What clocks of the system show the program, and how long it sleeps.";
    NO_PAYLOAD: Switch = "live.no-payload", Value("false"), flag("no-payload", ""), scope::LIVE,
        "Messages and collectives have no contents: buffers are left alone, and may be absent.";
}
