//! Words that settings can be, and what they mean.

use super::value::Words;

pub(super) const MODE: Words = &[
    ("gaps", "computation is the time between calls; what MPI takes is up to the model"),
    (
        "durations",
        "the time within calls, less what the recording network took, is computation too",
    ),
    ("aligned", "as `durations`, but waiting for late partners is left to the simulation"),
];
pub(super) const CLOCKS: Words = &[
    (
        "default",
        "as recorded for Heddle's own traces; for text traces as `init`, unless messages \
         contradict that",
    ),
    ("init", "all ranks leave `MPI_Init` at the same time"),
    ("recorded", "as they were measured against rank 0's"),
];
pub(super) const RECORDED_ON: Words = &[
    ("ideal", "a network that takes no time"),
    ("infiniband-ddr-simula", "the cluster of seed 000, by the rule of its section 5.4"),
];
pub(super) const ARRIVALS: Words = &[
    ("poisson", "at exponential intervals"),
    ("bernoulli", "one with the same probability in each time of a flit on the link"),
    ("bursty", "bursts of messages back to back, with exponential silence between them"),
    ("fixed", "at equal intervals, from a random phase on"),
];
pub(super) const COMPAT: Words = &[
    ("heddle", "the model with its corrections"),
    ("loggopsim", "the rules and the order of events of LogGOPSim, literally; on one thread"),
];
pub(super) const INJECT: Words =
    &[("end", "at the end of the send's overhead o"), ("start", "at its start")];
pub(super) const RECEIVE: Words = &[
    ("cpu", "the receiver's CPU is busy for o + max((s-1)O, (s-1)G), as in LogGOPSim"),
    (
        "nic",
        "the network interface is busy for g + (s-1)G, and then the CPU pays o + (s-1)O, as in \
         LogGP",
    ),
];
pub(super) const STRIPES: Words = &[
    ("none", "they are not"),
    ("equal", "in parts of equal size"),
    ("bandwidth", "in proportion to the bandwidth of the rails, or their weights"),
    ("water-filling", "so that all parts arrive at the same time"),
];
pub(super) const RENDEZVOUS: Words = &[
    (
        "abstract",
        "the data travels at once, and the sender is released when the message is matched",
    ),
    ("rts-cts", "a request and a clear-to-send cross the network before the data does"),
];
pub(super) const SEND_DONE: Words = &[
    (
        "left",
        "when the last byte has left the host; one that the host copies (`send-buffer`), at the \
         end of its overhead",
    ),
    ("overhead", "at the end of its overhead, whatever the network is doing"),
];
pub(super) const COMPUTE: Words = &[
    ("measured", "what the rank's CPU clock says between two calls of MPI"),
    ("off", "none: the program's data is right, and only its communication takes time"),
    ("constant", "the same for each region of computation between two calls: `constant`"),
    ("replayed", "what an earlier run measured: `times`"),
];
pub(super) const HOST_CLOCK: Words = &[
    ("real", "the time of this machine"),
    (
        "simulated",
        "simulated time, from the beginning of the year 2000; sleeping takes simulated time",
    ),
];
pub(super) const MODEL: Words = &[
    ("loggops", "messages take L and do not meet"),
    ("infiniband", "packets through switches, flit by flit: contention, lanes, credits"),
    ("packet", "packets through routers with virtual channels: allocators, arbiters, credits"),
    ("flow", "messages as flows that share links, by the hybrid model of SMPI; see `[flow]`"),
];
pub(super) const VARIANT: Words = &[
    ("hybrid", "SMPI's: modes by size, factors by size, shared links"),
    ("fluid", "shared links only: no factors, no overheads"),
    ("loggps", "modes and factors, but no message meets another"),
];
pub(super) const PRESETS: Words = &[
    ("infiniband-ddr-simula", "the cluster of seed 000: 4x DDR, hosts that cannot quite keep up"),
    ("infiniband-ddr-simula-cc", "the same with congestion control"),
    ("infiniband-qdr", "4x QDR"),
    ("infiniband-fdr", "4x FDR"),
    ("infiniband-edr", "4x EDR"),
    ("infiniband-hdr", "4x HDR"),
    ("infiniband-ndr", "4x NDR"),
    ("packet-default", "routers of a system network at 100 Gb/s, in round figures"),
    ("packet-booksim", "routers by the defaults of BookSim 2, with cycles of 1 ns"),
];
pub(super) const SWITCHING: Words = &[
    ("cut-through", "the buffer has room for the whole packet"),
    ("wormhole", "no other packet has it"),
];
pub(super) const ALLOCATORS: Words = &[
    ("input-first", "each input chooses a request, then each output one of these"),
    ("output-first", "each output chooses a request, then each input one of these"),
    ("islip", "likewise, and only grants of the first round move the arbiters"),
    ("wavefront", "requests are granted diagonal by diagonal, from another one on in turn"),
];
pub(super) const INJECTORS: Words = &[
    ("next", "the next one in turn that has room"),
    ("shortest", "of those that have room the one with most"),
    ("direction", "that of the port by which the packet leaves its first router"),
];
pub(super) const ARBITRATION: Words = &[
    ("round-robin", "the first from the one behind the last that was served"),
    ("matrix", "the one that was served least recently"),
    ("oldest", "the one whose packet came into the router first"),
    ("age", "the one whose message entered its host's interface first"),
    ("priority", "that of the lowest port and channel, whoever else waits"),
    ("random", "a random one"),
];
pub(super) const SPREAD: Words = &[
    ("fixed", "always as long as `pause`"),
    ("uniform", "from 0 to twice that"),
    ("exponential", "exponential with that mean"),
];
pub(super) const CHOICE: Words = &[
    ("pair", "once for a pair of hosts and service level: messages stay in order"),
    ("message", "for each message: those of a pair may overtake each other"),
];
pub(super) const VICTIMS: Words =
    &[("none", "no ports"), ("hosts", "ports to hosts"), ("all", "all ports")];
pub(super) const SCOPE: Words = &[
    ("queue-pair", "a queue pair: a host's messages to another"),
    ("service-level", "a service level of a host"),
];
pub(super) const CONGESTION: Words =
    &[("preset", "as the preset has it"), ("on", "with congestion control"), ("off", "without")];
pub(super) const PLACEMENT: Words = &[
    ("linear", "host after host"),
    ("round-robin", "one rank per host, then a second one"),
    ("random", "hosts in random order"),
    ("file", "as the file says: a rank and the name of its host per line"),
];
pub(super) const DISTRIBUTION: Words = &[
    ("fixed", "always `duration`"),
    ("uniform", "between `duration` and `duration-max`"),
    ("exponential", "exponential with the mean `duration`"),
];
pub(super) const TRANSPORT: Words = &[
    ("shared", "by reference, in shared memory"),
    ("serialised", "as bytes, as between machines; slower, for tests"),
];
pub(super) const TABLE_NAMES: Words = &[
    ("ranks", "`ranks.csv`: finish, busy and blocked times, messages and bytes of every rank"),
    ("messages", "`messages.csv`: every message with the times of its stages"),
    ("calls", "`calls.csv`: the MPI calls of traces and programs with their simulated times"),
    ("computation", "`computation.csv`: the regions of computation of a live program, as measured"),
    ("activity", "`activity.csv`: what every CPU does when"),
    ("lines", "`lines.csv`: the time that each line of a schedule's text takes"),
    ("loads", "`loads.csv`: the load of every link over time, in the flow model"),
    (
        "lanes",
        "`lanes.csv`: flits, queues, stalls and marks of the ports of a network with switches over \
         time",
    ),
    ("flows", "`flows.csv`: congestion notifications of such a network"),
    ("hops", "`hops.csv`: messages by the links that they crossed there"),
    ("losses", "`losses.csv`: packets that were discarded or sent again there"),
    ("links", "`links.svg`: its topology with the utilisation of its links"),
    ("devices", "`devices.csv`: its hosts and switches"),
    ("connections", "`connections.csv`: its links"),
];
pub(super) const TABLES_FORMAT: Words = &[
    ("csv", "text with a line per row"),
    ("parquet", "Apache Parquet, which is smaller and has the types of the columns"),
];
pub(super) const TIMELINE: Words = &[
    ("none", "no timeline"),
    ("perfetto", "a trace for the Perfetto viewer"),
    ("paje", "a trace in Pajé's format, for ViTE"),
    ("chrome", "JSON as of Chrome's tracing, which many viewers read"),
];
