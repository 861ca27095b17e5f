//! Every setting of an experiment, declared once.
//!
//! From this table come the reader of experiment files and of `--set`, the flags of the command
//! line, the JSON schema, the reference chapter of the book and `--print-config`.

// Long because it declares all of them.

use std::path::Path;

use crate::{
    value::{self, Kind},
    words::{
        ARRIVALS, CHOICE, CLOCKS, COMPAT, COMPUTE, CONGESTION, DISTRIBUTION, HOST_CLOCK, INJECT,
        MODE, MODEL, PLACEMENT, PRESETS, RECORDED_ON, RENDEZVOUS, SCOPE, SPREAD, TABLE_NAMES,
        TIMELINE, TRANSPORT, VARIANT, VICTIMS,
    },
};

/// A setting.
#[derive(Debug)]
pub struct Key {
    /// Its name: the table, a dot, and the key in it.
    pub name: &'static str,
    /// What it can be.
    pub kind: Kind,
    /// Its value if nothing is said.
    pub fallback: Fallback,
    /// What it means; in Markdown.
    pub doc: &'static str,
    /// The flag of the command line that sets it, besides `--set`.
    pub flag: Option<Flag>,
}

/// The value of a setting about which nothing is said.
#[derive(Clone, Copy, Debug)]
pub enum Fallback {
    /// This one, written as on a command line.
    Value(&'static str),
    /// That of the first of these that is set, or else of the last.
    Same(&'static [&'static str]),
    /// None; the text says what that means.
    Unset(&'static str),
}

/// A flag of the command line.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, without the dashes.
    pub long: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// What its value is called in a help text.
    pub value: &'static str,
}

/// What a table of settings is about.
pub const TABLES: &[(&str, &str)] = &[
    (
        "workload",
        "What runs: a schedule in a file, a pattern, a collective operation, or the traces of a run.",
    ),
    (
        "traces",
        "How the traces of a run become a schedule, if the workload is traces. Chapter \"Traces\" \
         explains the ways.",
    ),
    (
        "traces.algorithms",
        "Algorithms of single collectives of traces, by the names of the chapter \"Collective operations\"; what is not set is \
         as `workload.collectives` says. Non-blocking and persistent forms follow the blocking one, `alltoallw` follows `alltoallv`.",
    ),
    (
        "live",
        "How a program runs whose ranks are simulated (`heddle mpirun`). Chapter \"Live programs\" explains it.",
    ),
    (
        "traffic",
        "Synthetic traffic at the hosts of a network with switches, if the workload is `traffic:NAME`. \
         Chapter \"Synthetic traffic\" explains it.",
    ),
    (
        "loggops",
        "What a message costs its sender, the network and its receiver: the parameters of the \
         LogGOPS model. The defaults are LogGOPSim's; setting some leaves the others as they are.",
    ),
    (
        "loggops.large",
        "Other costs for messages of more than S bytes. What is not set here is as in `[loggops]`.",
    ),
    (
        "loggops.local",
        "Costs of messages of any size between ranks of one host, which do not enter the network. For \
         networks with switches; there o, g and O are as in `[loggops]` unless they are set here.",
    ),
    ("protocol", "How hosts agree on a message."),
    (
        "network",
        "What lies between the hosts: the wire of LogGOPS, or a topology with switches, lanes and \
         credits. The keys from `preset` on belong to the model `infiniband`; what is not set is as in \
         the preset.",
    ),
    (
        "network.arbiter",
        "Weights of the virtual lanes, by the arbiters of chapter 7.6.9 of the InfiniBand Architecture. Without them all \
         lanes have equal shares in the low table.",
    ),
    (
        "network.congestion",
        "Congestion control of the InfiniBand Architecture, annex A10. What is not set is as in the \
         preset; a preset without congestion control takes that of `infiniband-ddr-simula-cc`.",
    ),
    (
        "flow",
        "The model `flow`: what a message costs its hosts, and how it shares links. `[loggops]` and `[protocol]` \
         do not apply to it. Pieces and factors by size are lists separated by `;`; each holds for messages larger than its \
         size, up to the next.",
    ),
    ("host", "The speed of hosts, for the model `flow`."),
    ("placement", "Which host each rank runs on, where the network has a topology."),
    (
        "noise",
        "Interruptions by the operating system, from a recorded trace (`trace`) or at random \
         (`interval` and `duration`). Without either there are none.",
    ),
    ("run", "How the simulation is carried out. Only `seed` can change its results."),
    (
        "output",
        "The folder of results, and what is drawn. Without a folder, a run prints its summary and \
         writes nothing.",
    ),
];

// The table below wants an option.
#[allow(clippy::unnecessary_wraps)]
const fn flag(long: &'static str, value: &'static str) -> Option<Flag> {
    Some(Flag { long, short: None, value })
}

const fn key(
    name: &'static str,
    kind: Kind,
    fallback: Fallback,
    flag: Option<Flag>,
    doc: &'static str,
) -> Key {
    Key { name, kind, fallback, doc, flag }
}

use Fallback::{Same, Unset, Value};

/// The algorithm of a collective of traces.
const fn algorithm(name: &'static str, long: &'static str, doc: &'static str) -> Key {
    key(name, Kind::Name, Unset("as `workload.collectives` says"), flag(long, "NAME"), doc)
}

const COUNT: Kind = Kind::Count(1, u32::MAX as u64);
const FLITS: Kind = Kind::Count(1, u32::MAX as u64);
const SEED: Kind = Kind::Count(0, u64::MAX);

/// All settings, in the order of their tables.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    key("workload.source", Kind::Workload, Unset("required"), None,
        "A GOAL file, text or binary; `-`, which is standard input; `pattern:NAME`, which `heddle \
         patterns` lists; `collective:NAME`; `traffic:NAME` (see `[traffic]`); or traces: a folder with one file per rank, the beginning \
         of their names, or an `.index` file."),
    key("workload.time-unit", Kind::TimeUnit, Value("ns"), None,
        "The unit in which the `calc` operations of a GOAL file count."),
    key("workload.ranks", COUNT, Value("8"), flag("ranks", "N"),
        "Number of ranks of a pattern or a collective."),
    key("workload.size", Kind::Bytes, Value("1 B"), flag("size", "SIZE"),
        "Size of one message of a pattern; of the whole vector for `allreduce-*` and \
         `pipelined-ring`; the upper limit for `alltoallv`. Of a collective: the whole vector, or the \
         block of one rank (`gather`, `scatter`, `allgather`, `alltoall`, `reduce_scatter`)."),
    key("workload.root", Kind::Count(0, u32::MAX as u64 - 1), Value("0"), flag("root", "RANK"),
        "Root of a tree, of `gather` or `scatter`; head of `pipelined-ring`; the rank to which \
         `alltoallv` sends messages of the full size; the root of a collective."),
    key("workload.ways", COUNT, Value("1"), flag("ways", "N"),
        "Messages that a rank sends per round of `nway-dissemination`."),
    key("workload.segment", Kind::Bytes, Value("1 B"), flag("segment", "SIZE"),
        "Size of a segment of `pipelined-ring`, and of the algorithms of collectives that cut messages \
         (each has one of its own)."),
    key("workload.skew", Kind::Count(1, u64::MAX), Value("1"), flag("skew", "N"),
        "Messages of `alltoallv` have from 1 to size / skew bytes; none of them any, if the size is 0."),
    key("workload.steps", COUNT, Value("1"), flag("steps", "N"),
        "Steps of `halo1d`, `halo2d`, `halo3d` and `random`."),
    key("workload.compute", Kind::Time, Value("0 ns"), flag("compute", "TIME"),
        "Computation at the start of a step of `halo1d`, `halo2d` and `halo3d`; a multiple of \
         the time unit."),
    key("workload.allreduce", Kind::Bytes, Unset("no allreduce"), flag("allreduce", "SIZE"),
        "Size of an allreduce at the end of a step of `halo1d`, `halo2d` and `halo3d`."),
    key("workload.grid", Kind::Grid, Unset("as near to a cube as can be"), flag("grid", "GRID"),
        "Extents of the grid of `halo1d`, `halo2d` and `halo3d`."),
    key("workload.seed", SEED, Same(&["run.seed"]), None,
        "Seed of `alltoallv`, `random-bisection` and `random`."),
    key("workload.permute", SEED, Unset("ranks keep their places"), flag("permute", "SEED"),
        "Permutes the ranks of a pattern at random, by this seed."),
    key("workload.algorithm", Kind::Name, Same(&["workload.collectives"]), flag("algorithm", "NAME"),
        "Algorithm of a collective."),
    key("workload.collectives", Kind::Name, Value("default"), flag("collectives", "LIBRARY"),
        "MPI library that chooses the algorithms of collectives: `openmpi`, `mpich`, `mvapich2`, `impi`, \
         `smpi_ompi`, `smpi_mpich`; or `default`. Of traces: `openmpi` unless said otherwise, and also `schedgen`, the choices of \
         LogGOPSim's tool."),
    key("workload.per-node", COUNT, Value("1"), flag("per-node", "N"),
        "Ranks on each node, for algorithms of collectives that tell nodes apart."),
    key("workload.element", Kind::Bytes, Value("1 B"), flag("element", "SIZE"),
        "Size of an element of a collective's vectors, which are not cut within one."),
    key("workload.reduce-cost", Kind::TimePerByte, Value("0 ns/B"), flag("reduce-cost", "RATE"),
        "Computation per byte that a collective combines; rounded to the time unit."),

    key("live.in-process", Kind::Switch, Value("false"), flag("in-process", ""),
        "Holds all ranks in one process: for tens of thousands of them. The program must not fork, and the ranks share what is the \
         process's: files, directory, environment."),
    key("live.compute", Kind::Word(COMPUTE), Value("measured"), flag("compute-time", "HOW"),
        "How much time the program's own computation takes."),
    key("live.constant", Kind::Time, Unset("none"), flag("constant-time", "TIME"),
        "What each region of computation takes, if `compute` is `constant`."),
    key("live.times", Kind::Path, Unset("none"), flag("times", "FILE"),
        "The `computation.csv` of an earlier run, if `compute` is `replayed`."),
    key("live.scale", Kind::Factor, Value("1"), None,
        "By how much computation takes longer than measured; with 0.5 it is twice as fast."),
    key("live.poll", Kind::Time, Value("100 ns"), None,
        "What a call that only looks costs (`MPI_Test`, `MPI_Iprobe` and their kin); of several in a row (with less computation between them than ten times that) the n-th costs n times as \
         much, so that time goes on for a program that polls. Over flows, `smpi/test` and `smpi/iprobe` say it, if they are set. \
         Looks in the replay of a live run cost the same."),
    key("live.clock", Kind::Time, Value("10 ns"), None,
        "What `MPI_Wtime` costs. Over flows, `smpi/wtime` says it, if it is set."),
    key("live.spawn", Kind::Count(0, 1 << 20), Unset("1000; on a machine with hosts, no more than have no rank"),
        flag("spawn-at-most", "N"), "How many processes the program may start while it runs (`MPI_Comm_spawn`). What is said here, and the ranks \
         of the start, are `MPI_UNIVERSE_SIZE`."),
    key("live.spawn-time", Kind::Time, Value("0 ns"), None,
        "What a process that the program starts takes until it runs, besides the message that says who it is."),
    key("live.fold", Kind::Bytes, Unset("none"), flag("fold", "SIZE"),
        "Allocations of at least this size are the same memory in all ranks."),
    key("live.host-clock", Kind::Word(HOST_CLOCK), Value("real"), flag("host-clock", "HOW"),
        "What clocks of the system show the program, and how long it sleeps."),
    key("live.no-payload", Kind::Switch, Value("false"), flag("no-payload", ""),
        "Messages and collectives have no contents: buffers are left alone, and may be absent."),

    key("traces.mode", Kind::Word(MODE), Value("gaps"), None,
        "How recorded time becomes time in the schedule."),
    key("traces.clocks", Kind::Word(CLOCKS), Value("default"), None,
        "Which clocks of different ranks are compared."),
    key("traces.recorded-on", Kind::Word(RECORDED_ON), Value("ideal"), None,
        "The network of the recording machine, whose part of the time in calls is taken out in the modes \
         `durations` and `aligned`."),
    key("traces.scale", Kind::Factor, Value("1"), flag("scale-compute", "FACTOR"),
        "By how much computation takes longer than recorded; with 0.5 it is twice as fast."),
    key("traces.scale-ranks", Kind::Name, Unset("all as `scale`"), None,
        "Other factors for some ranks: `0=1.5,3=2`."),
    key("traces.scale-regions", Kind::Name, Unset("none"), None,
        "Further factors for regions, by the level of `MPI_Pcontrol`: `1=0.5`."),
    key("traces.speed", Kind::Count(1, u64::MAX), Value("1000000000"), None,
        "Operations per second of a host, for time-independent traces."),
    key("traces.map", Kind::Path, Unset("each its own"), None,
        "A file with a number per line: the rank of the schedule that each recorded rank becomes."),
    key("traces.copies", COUNT, Value("1"), None,
        "How many copies of the recorded ranks run. Messages stay within a copy; collectives of \
         the world join all."),
    key("traces.from-collective", SEED, Value("0"), None,
        "The schedule begins when this collective of the world ends, counted from 1; 0 is `MPI_Init`."),
    key("traces.to-collective", Kind::Count(1, u64::MAX), Unset("the end"), None,
        "The schedule ends with this collective of the world."),
    key("traces.from", Kind::Time, Unset("the beginning"), None,
        "The schedule begins with calls at this time since `MPI_Init`."),
    key("traces.to", Kind::Time, Unset("the end"), None,
        "The schedule ends before calls at this time."),
    key("traces.pin-per-byte", Kind::TimePerByte, Value("0 ns/B"), None,
        "Cost of registering each byte of a buffer that was not used before, in mode `gaps`."),
    key("traces.pin-per-call", Kind::Time, Value("0 ns"), None,
        "Cost of a call that registers anything."),
    key("traces.pin-limit", Kind::Bytes, Unset("no limit"), None,
        "Bytes that stay registered at most; the longest unused go first."),
    key("traces.connect", Kind::Time, Value("0 ns"), None,
        "Cost of the first message from a rank to another, in mode `gaps`."),

    algorithm("traces.algorithms.barrier", "barrier", "Algorithm of `MPI_Barrier`, also where communicators and windows are made."),
    algorithm("traces.algorithms.bcast", "bcast", "Algorithm of `MPI_Bcast`."),
    algorithm("traces.algorithms.reduce", "reduce", "Algorithm of `MPI_Reduce`."),
    algorithm("traces.algorithms.allreduce", "allreduce", "Algorithm of `MPI_Allreduce`."),
    algorithm("traces.algorithms.gather", "gather", "Algorithm of `MPI_Gather`."),
    algorithm("traces.algorithms.scatter", "scatter", "Algorithm of `MPI_Scatter`."),
    algorithm("traces.algorithms.allgather", "allgather", "Algorithm of `MPI_Allgather`."),
    algorithm("traces.algorithms.allgatherv", "allgatherv", "Algorithm of `MPI_Allgatherv`."),
    algorithm("traces.algorithms.alltoall", "alltoall", "Algorithm of `MPI_Alltoall`."),
    algorithm("traces.algorithms.alltoallv", "alltoallv", "Algorithm of `MPI_Alltoallv`."),
    algorithm("traces.algorithms.reduce-scatter", "reduce-scatter", "Algorithm of `MPI_Reduce_scatter`."),
    algorithm("traces.algorithms.reduce-scatter-block", "reduce-scatter-block", "Algorithm of `MPI_Reduce_scatter_block`."),
    algorithm("traces.algorithms.scan", "scan", "Algorithm of `MPI_Scan`."),
    algorithm("traces.algorithms.exscan", "exscan", "Algorithm of `MPI_Exscan`."),

    key("traffic.load", Kind::Name, Value("0.1:1.0:0.1"), flag("load", "LOAD"),
        "Offered load: the part of the bandwidth of a sending host's link, headers included; one, or \
         FIRST:LAST:STEP."),
    key("traffic.saturation", Kind::Switch, Value("false"), flag("saturation", ""),
        "Find the load from which on the network is saturated, by bisection to 0.01, instead."),
    key("traffic.length", Kind::Name, Value("2 KiB"), flag("length", "LENGTH"),
        "Length of messages: one (`2 KiB`), `uniform:64B:4KiB`, `normal:2KiB:512B` (mean and standard \
         deviation), `bimodal:64B:4KiB:0.9` (share of the first), or a file with a length per line, and \
         perhaps its weight."),
    key("traffic.arrivals", Kind::Word(ARRIVALS), Value("poisson"), flag("arrivals", "KIND"),
        "When messages enter."),
    key("traffic.burst", Kind::Factor, Value("8"), None,
        "Mean number of messages of a burst."),
    key("traffic.host", Kind::Count(0, u32::MAX as u64 - 1), Value("0"), None,
        "The hot spot of `hot-spot`; the receiver of `incast`."),
    key("traffic.ways", COUNT, Unset("all others"), None,
        "How many hosts send in an `incast`: those that follow the receiver."),
    key("traffic.share", Kind::Factor, Unset("0.2 to a hot spot, 0.8 in a sphere"), None,
        "The part of the messages that goes to the hot spot, or stays in the sphere of locality."),
    key("traffic.radius", COUNT, Unset("the fewest with which no sphere is empty"), None,
        "Links between hosts of the same `sphere` of locality, those of the hosts included."),
    key("traffic.precision", Kind::Factor, Value("0.02"), flag("precision", "PART"),
        "A point is measured until the confidence intervals (95 %) of latency and accepted load are at \
         most this part of their means to either side."),
    key("traffic.batches", Kind::Count(10, 100_000), Value("200"), None,
        "Most batches that are measured if that precision is not reached."),
    key("traffic.batch", Kind::Time, Unset("the time of 1000 messages, or of 10 latencies"), None,
        "Time of a batch."),
    key("traffic.interval", Kind::Time, Same(&["output.interval"]), None,
        "Width of the intervals of `lanes.csv`, which a run of one load with a folder writes."),

    key("loggops.L", Kind::Time, Value("2500 ns"), None,
        "L: time in the network from a message's injection to its arrival. Networks with switches have \
         their own."),
    key("loggops.o", Kind::Time, Value("1500 ns"), None,
        "o: CPU time per message, at the sender and at the receiver."),
    key("loggops.g", Kind::Time, Value("1000 ns"), None,
        "g: time between the starts of two messages on one network interface."),
    key("loggops.G", Kind::TimePerByte, Value("6 ns/B"), None,
        "G: time per byte after the first, on the network interface and the receiver's CPU. Where the \
         network has switches, bytes take their time there, and this is 0 unless it is set."),
    key("loggops.O", Kind::TimePerByte, Value("0 ns/B"), None,
        "O: CPU time per byte after the first, at the sender and at the receiver."),
    key("loggops.S", Kind::Bytes, Value("65535 B"), None,
        "S: the eager limit. A message of S bytes is still eager, a larger one uses rendezvous."),
    key("loggops.o-send", Kind::Time, Same(&["loggops.o"]), None,
        "o of the sender, where it differs from the receiver's."),
    key("loggops.o-recv", Kind::Time, Same(&["loggops.o"]), None,
        "o of the receiver."),
    key("loggops.O-send", Kind::TimePerByte, Same(&["loggops.O"]), None,
        "O of the sender."),
    key("loggops.O-recv", Kind::TimePerByte, Same(&["loggops.O"]), None,
        "O of the receiver."),
    key("loggops.inject", Kind::Word(INJECT), Value("end"), None,
        "When a message enters the network."),
    key("loggops.compat", Kind::Word(COMPAT), Value("heddle"), None,
        "Whose rules apply."),

    key("loggops.large.L", Kind::Time, Same(&["loggops.L"]), None, "L of large messages."),
    key("loggops.large.o", Kind::Time, Same(&["loggops.o"]), None, "o of large messages."),
    key("loggops.large.g", Kind::Time, Same(&["loggops.g"]), None, "g of large messages."),
    key("loggops.large.G", Kind::TimePerByte, Same(&["loggops.G"]), None, "G of large messages."),
    key("loggops.large.O", Kind::TimePerByte, Same(&["loggops.O"]), None, "O of large messages."),
    key("loggops.large.o-send", Kind::Time,
        Same(&["loggops.large.o", "loggops.o-send", "loggops.o"]), None,
        "o of the sender of a large message."),
    key("loggops.large.o-recv", Kind::Time,
        Same(&["loggops.large.o", "loggops.o-recv", "loggops.o"]), None,
        "o of the receiver of a large message."),
    key("loggops.large.O-send", Kind::TimePerByte,
        Same(&["loggops.large.O", "loggops.O-send", "loggops.O"]), None,
        "O of the sender of a large message."),
    key("loggops.large.O-recv", Kind::TimePerByte,
        Same(&["loggops.large.O", "loggops.O-recv", "loggops.O"]), None,
        "O of the receiver of a large message."),

    key("loggops.local.L", Kind::Time, Value("0 ns"), None,
        "L within a host: time from the moment at which a message would enter the network to its arrival."),
    key("loggops.local.o", Kind::Time, Same(&["loggops.o"]), None, "o within a host."),
    key("loggops.local.g", Kind::Time, Same(&["loggops.g"]), None,
        "g of messages within a host. Each rank has clocks of its own for g and G."),
    key("loggops.local.G", Kind::TimePerByte, Value("0 ns/B"), None, "G within a host."),
    key("loggops.local.O", Kind::TimePerByte, Same(&["loggops.O"]), None, "O within a host."),
    key("loggops.local.o-send", Kind::Time,
        Same(&["loggops.local.o", "loggops.o-send", "loggops.o"]), None,
        "o of the sender within a host."),
    key("loggops.local.o-recv", Kind::Time,
        Same(&["loggops.local.o", "loggops.o-recv", "loggops.o"]), None,
        "o of the receiver within a host."),
    key("loggops.local.O-send", Kind::TimePerByte,
        Same(&["loggops.local.O", "loggops.O-send", "loggops.O"]), None,
        "O of the sender within a host."),
    key("loggops.local.O-recv", Kind::TimePerByte,
        Same(&["loggops.local.O", "loggops.O-recv", "loggops.O"]), None,
        "O of the receiver within a host."),

    key("protocol.rendezvous", Kind::Word(RENDEZVOUS), Unset("`abstract`; `rts-cts` where the network has switches"),
        None,
        "How a message of more than S bytes waits for its receive."),

    key("network.model", Kind::Word(MODEL), Value("loggops"), flag("network", "MODEL"),
        "The model of the network."),
    key("network.topology", Kind::Topology, Unset("required by models with switches"),
        flag("topology", "TOPOLOGY"),
        "The topology: `KIND:KEY=VALUE,…` as `heddle topology list` lists them, or a file."),
    key("network.routing", Kind::Name, Unset("the usual one of the topology"),
        flag("routing", "NAME"),
        "How routes are made: `min-hop`, `up-down`, `d-mod-k`, `s-mod-k`, `random-up`, \
         `dimension-order`, `minimal` or `valiant`; with `:lanes=1` on one lane."),
    key("network.tables", Kind::Path, Unset("routes are computed"), None,
        "Forwarding tables instead: FDB vectors, or a dump of linear forwarding tables."),
    key("network.fail", Kind::Name, Unset("nothing fails"), None,
        "What is out of service: `SWITCH`, `DEVICE:PORT`, `links=FRACTION` or `switches=FRACTION`, \
         separated by commas."),
    key("network.preset", Kind::Word(PRESETS), Value("infiniband-edr"), flag("preset", "NAME"),
        "A set of parameters."),
    key("network.link", Kind::Name, Unset("as in the preset"), None,
        "Width and speed of links that do not name their own: `4xEDR`."),
    key("network.cable", Kind::Time, Unset("as in the preset"), None,
        "Time of flight of links that do not name their own."),
    key("network.latency-in", Kind::Time, Unset("as in the preset"), None,
        "Time in a switch before arbitration."),
    key("network.latency-out", Kind::Time, Unset("as in the preset"), None,
        "Time in a switch after it."),
    key("network.credit-delay", Kind::Time, Unset("as in the preset"), None,
        "Time that a credit takes besides that of flight."),
    key("network.update", Kind::Time, Unset("as in the preset"), None,
        "Time from one flow-control packet of a port to the next; 0 if they take no time on links."),
    key("network.padded", Kind::Switch, Unset("as in the preset"), None,
        "Whether a short last flit takes the time of a full one."),
    key("network.max-being-sent", Kind::Count(1, u16::MAX as u64), Unset("as in the preset"), None,
        "Packets that may leave an input port at a time."),
    key("network.buffer", FLITS, Unset("as in the preset"), None,
        "Input buffer of a switch port per lane, in flits of 64 bytes."),
    key("network.host-buffer", FLITS, Unset("as in the preset"), None,
        "Input buffer of a host per lane, in flits."),
    key("network.output-buffer", FLITS, Unset("as in the preset"), None,
        "Output buffer of a switch port, in flits."),
    key("network.crossbar", Kind::Time, Unset("as in the preset"), None,
        "Time of one flit through a switch's crossbar; 0 if it keeps up with its links."),
    key("network.mtu", Kind::Bytes, Unset("as in the preset"), None,
        "Payload of a full packet."),
    key("network.header", Kind::Bytes, Unset("as in the preset"), None,
        "Headers and checksums of a packet."),
    key("network.generator", Kind::Time, Unset("as in the preset"), None,
        "Time of one flit out of a host's memory."),
    key("network.sink", Kind::Time, Unset("as in the preset"), None,
        "Time of one flit into a host's memory."),
    key("network.pause-period", Kind::Time, Unset("as in the preset"), None,
        "A host's sink pauses once in each period of this length."),
    key("network.pause", Kind::Time, Unset("as in the preset"), None,
        "Length of a pause; 0 for none."),
    key("network.pause-phase", Kind::Time, Unset("as in the preset"), None,
        "Start of the first pause."),
    key("network.pause-resume", Kind::Time, Unset("as in the preset"), None,
        "From the end of a pause to the poll that follows it."),
    key("network.pause-spread", Kind::Word(SPREAD), Unset("as in the preset"), None,
        "How long pauses are."),
    key("network.acknowledge", Kind::Switch, Unset("as in the preset"), None,
        "Whether messages are acknowledged."),
    key("network.level", Kind::Count(0, 14), Value("0"), None,
        "Service level of the program's messages."),
    key("network.levels", Kind::Name, Unset("all are of `level`"), None,
        "Service levels of the hosts in turn, in the order of their ranks: `0,1`."),
    key("network.choice", Kind::Word(CHOICE), Unset("`message` for traffic, `pair` otherwise"), None,
        "When a source chooses a route, where the routing leaves a choice (`valiant`, `random-up`)."),

    key("network.arbiter.high", Kind::Name, Unset("as in the preset"), None,
        "High table of the arbiters of virtual lanes: `LANE:WEIGHT,…` in turn, weights in units of 64 bytes."),
    key("network.arbiter.low", Kind::Name, Unset("as in the preset"), None,
        "Low table, served when the high one has nothing to send or has used up its limit, likewise."),
    key("network.arbiter.high-limit", Kind::Count(0, 255), Unset("as in the preset"), None,
        "What the high table may send before the low one gets a turn, in units of 4096 bytes: 0 for a packet, 255 for no limit."),

    key("network.congestion.control", Kind::Word(CONGESTION), Value("preset"), None,
        "Whether there is congestion control."),
    key("network.congestion.threshold", Kind::Count(0, 15), Unset("as in the preset"), None,
        "Threshold of switch ports: 0 never marks, 15 marks at the lowest fill."),
    key("network.congestion.marking-rate", Kind::Count(0, u16::MAX as u64),
        Unset("as in the preset"), None,
        "Packets that may be marked between two that are."),
    key("network.congestion.packet-size", Kind::Count(0, 255), Unset("as in the preset"), None,
        "Smaller packets are not marked, in units of 64 bytes."),
    key("network.congestion.victims", Kind::Word(VICTIMS), Unset("as in the preset"), None,
        "Victim_Mask: ports that mark even when they are short of credits."),
    key("network.congestion.scope", Kind::Word(SCOPE), Unset("as in the preset"), None,
        "What has an index of its own."),
    key("network.congestion.increase", Kind::Count(1, u16::MAX as u64), Unset("as in the preset"),
        None, "CCTI_Increase: by how much a notification raises the index."),
    key("network.congestion.limit", Kind::Count(1, u16::MAX as u64), Unset("as in the preset"), None,
        "CCTI_Limit: the highest index."),
    key("network.congestion.min", Kind::Count(0, u16::MAX as u64), Unset("as in the preset"), None,
        "CCTI_Min: the lowest index."),
    key("network.congestion.trigger", Kind::Count(0, u16::MAX as u64), Unset("as in the preset"), None,
        "Trigger_Threshold: an index that reaches it is recorded."),
    key("network.congestion.table", Kind::Name, Unset("as in the preset"), None,
        "The table from index 0 on: `SHIFT:MULTIPLIER,…`, a delay of MULTIPLIER / 2^SHIFT times that of the packet."),
    key("network.congestion.notifications", Kind::Count(0, u16::MAX as u64),
        Unset("as in the preset"), None,
        "Notifications that may wait at a host; further ones are not sent."),
    key("network.congestion.timer", Kind::Time, Unset("as in the preset"), None,
        "CCTI_Timer: how long it takes until the index falls by one."),

    key("flow.variant", Kind::Word(VARIANT), Value("hybrid"), None,
        "Which model."),
    key("flow.os", Kind::Name, Unset("sends cost nothing"), None,
        "Time of a blocking send before its message is posted, if it is detached: `0B:8.9us:0.78ns/B;1KiB:2us`, a size, a time, \
         and perhaps a time per byte."),
    key("flow.ois", Kind::Name, Unset("sends cost nothing"), None,
        "Time of a non-blocking send, likewise."),
    key("flow.or", Kind::Name, Unset("receives cost nothing"), None,
        "Time of a receive when its message has arrived, if its send was detached, likewise."),
    key("flow.eager-below", Kind::Bytes, Value("0 B"), None,
        "A message smaller than this travels when it is sent, any other when its receive is posted too."),
    key("flow.detached-below", Kind::Bytes, Value("65536 B"), None,
        "A send smaller than this is done at once, any other when its message has arrived."),
    key("flow.bandwidth-factors", Kind::Name, Unset("those of SMPI"), None,
        "How much of its share of the links a message turns into progress, by size with its envelope of 16 bytes: \
         `0B:0.8;1KiB:0.6`."),
    key("flow.latency-factors", Kind::Name, Unset("those of SMPI"), None,
        "By how much the latency of its route is longer, likewise."),
    key("flow.weight", Kind::Bytes, Value("8775 B"), None,
        "How much slow links count against a flow: its share falls with latency + the sum of weight / bandwidth."),
    key("flow.window", Kind::Bytes, Value("4194304 B"), None,
        "Most bytes under way per round trip (TCP-gamma); 0 B for no limit."),
    key("flow.cross-traffic", Kind::Switch, Value("true"), None,
        "Whether the way back of a flow carries 5 % of what it does."),
    key("flow.loopback-bandwidth", Kind::Name, Unset("as the platform says"), None,
        "What each message of a host to itself has, where the platform gives hosts no loopback of their own: `10 GB/s`."),
    key("flow.loopback-latency", Kind::Time, Unset("as the platform says"), None,
        "How long such a message is under way at least."),
    key("flow.in-order", Kind::Switch, Value("false"), None,
        "Whether messages of a rank to another arrive in the order in which they set out, as over a connection."),
    key("flow.test", Kind::Time, Value("0 ns"), None,
        "Time of each `MPI_Test` and its kin in traces, in the mode `gaps`."),
    key("flow.iprobe", Kind::Time, Value("0 ns"), None, "Time of each `MPI_Iprobe`."),
    key("flow.init", Kind::Time, Value("0 ns"), None, "Time of `MPI_Init`."),
    key("flow.cfg", Kind::Names, Unset("nothing"), flag("cfg", "NAME:VALUE"),
        "Items of SimGrid's configuration, `NAME:VALUE` separated by spaces, which override the keys above and those of a \
         platform file. The flag can be repeated."),

    key("host.speed", Kind::Name, Unset("as `traces.speed`"), None,
        "Speed of the target's hosts, for traces, where no platform of SimGrid says it: `10 Gflop/s`."),
    key("host.recorded-speed", Kind::Name, Unset("computation takes as long as recorded"), None,
        "Speed of the machine on which traces were recorded; their computation is scaled to the speed of the target's hosts."),

    key("placement.kind", Kind::Word(PLACEMENT), Value("linear"), flag("placement", "KIND"),
        "The rule."),
    key("placement.file", Kind::Path, Unset("only for `file`"), None,
        "The file."),
    key("placement.hosts", Kind::Names, Unset("all hosts"), None,
        "The hosts to use, in this order, separated by commas or spaces: names or numbers, each with the most ranks that it \
         takes behind a colon, or without."),
    key("placement.per-host", COUNT, Unset("as many as it takes to place all evenly"), None,
        "Most ranks of each host."),
    key("placement.seed", SEED, Same(&["run.seed"]), None,
        "Seed of `random`."),

    key("noise.trace", Kind::Path, Unset("no trace"), None,
        "A file with one interruption per line, its start and its duration in nanoseconds; \
         LogGOPSim's format."),
    key("noise.interval", Kind::Time, Unset("no random noise"), None,
        "One interruption falls into each interval of this length, as a whole, at a random place in \
         it. At least 1 us, since every activity looks at all the intervals that it covers."),
    key("noise.duration", Kind::Time, Unset("no random noise"), None,
        "Length of a random interruption, at most that of an interval; what `exponential` draws \
         beyond that is cut."),
    key("noise.duration-max", Kind::Time, Unset("only for `uniform`"), None,
        "Greatest length of an interruption of the distribution `uniform`."),
    key("noise.distribution", Kind::Word(DISTRIBUTION), Value("fixed"), None,
        "Distribution of the length of random interruptions."),
    key("noise.coscheduled", Kind::Switch, Value("false"), None,
        "Whether all ranks are interrupted at the same times."),

    key("run.threads", Kind::Count(1, 1024), Value("1"), flag("threads", "N"),
        "Worker threads; their number does not change the results."),
    key("run.seed", SEED, Value("1"), flag("seed", "N"),
        "Seed of all random streams."),
    key("run.transport", Kind::Word(TRANSPORT), Value("shared"), None,
        "How messages travel between threads."),

    key("output.directory", Kind::Path, Unset("nothing is written"),
        Some(Flag { long: "output", short: Some('o'), value: "DIR" }),
        "Folder for manifest, summary, tables and timeline."),
    key("output.tables", Kind::Words(TABLE_NAMES), Value("ranks"), flag("tables", "LIST"),
        "Tables to write into the folder."),
    key("output.interval", Kind::Time, Value("10 us"), None,
        "Width of the intervals of `lanes.csv`."),
    key("output.timeline", Kind::Word(TIMELINE), Value("none"), flag("timeline", "FORMAT"),
        "Timeline to write into the folder."),
    key("output.gantt", Kind::Switch, Value("false"), flag("gantt", ""),
        "Draws a timeline of the first 32 ranks on the terminal, below the summary."),
    key("output.force", Kind::Switch, Value("false"), flag("force", ""),
        "Writes into a folder that is not empty, and runs a manifest although its inputs have changed."),
];

impl Key {
    /// Its default, if that is a value of its own.
    pub fn default_value(&self) -> Option<value::Value> {
        match self.fallback {
            Value(text) => self.kind.parse(text, Path::new("")).ok(),
            Same(_) | Unset(_) => None,
        }
    }

    /// The table it stands in.
    pub fn table(&self) -> &'static str {
        self.name.rsplit_once('.').map_or("", |(table, _)| table)
    }

    /// Its name in its table.
    pub fn short(&self) -> &'static str {
        self.name.rsplit_once('.').map_or(self.name, |(_, key)| key)
    }
}

/// The place of a key in [`KEYS`].
pub(crate) fn find(name: &str) -> Option<usize> {
    KEYS.iter().position(|key| key.name == name)
}

/// Whether a key says what a machine is, rather than what runs on it and how.
pub(crate) fn describes_machine(name: &str) -> bool {
    let tables = ["loggops.", "protocol.", "network.", "flow.", "host."];
    tables.iter().any(|table| name.starts_with(table))
}

/// The key that a flag means which several keys share: that of traces, if the workload is such, or
/// else the first.
pub(crate) fn of_flag(name: &'static str, traces: bool) -> &'static str {
    let long = |key: &Key| key.flag.map(|flag| flag.long);
    let own = find(name).and_then(|index| KEYS.get(index)).and_then(long);
    let mut others = KEYS.iter().filter(|key| own.is_some() && long(key) == own);
    let meant = if traces { others.next_back() } else { others.next() };
    meant.map_or(name, |key| key.name)
}

/// Whether a table of this name exists, perhaps only as part of a longer name.
pub(crate) fn is_table(name: &str) -> bool {
    TABLES.iter().any(|&(table, _)| table == name)
}

/// What to say about a name that is neither a key nor a table: the nearest one in the same table,
/// the same key in another table, or all there are.
pub(crate) fn suggestion(table: &str, name: &str) -> String {
    let inside: Vec<&'static str> =
        KEYS.iter().filter(|key| key.table() == table).map(Key::short).collect();
    let tables: Vec<&'static str> = TABLES
        .iter()
        .filter(|(other, _)| other.rsplit_once('.').map_or("", |(parent, _)| parent) == table)
        .map(|&(other, _)| other)
        .collect();
    if let Some(near) = units::nearest(name, &inside) {
        return format!("did you mean `{near}`?");
    }
    if let Some(key) = KEYS.iter().find(|key| key.short() == name) {
        return format!("`{name}` belongs to the table [{}]", key.table());
    }
    let full = if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") };
    if let Some(near) = units::nearest(&full, &tables) {
        return format!("did you mean the table [{near}]?");
    }
    if inside.is_empty() {
        format!("known tables: {}", tables.join(", "))
    } else {
        format!("known keys of [{table}]: {}", inside.join(", "))
    }
}
