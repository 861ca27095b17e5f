//! The tables `[flow]` and `[host]`: the model `flow`, and the speed of its hosts.

use super::*;

table! {
    VARIANT: Word(words::VARIANT) = "flow.variant", Value("hybrid"), None, scope::FLOW,
        "Which model.";
    OS: Name = "flow.os", Unset("sends cost nothing"), None, scope::FLOW_HOSTS,
        "Time of a blocking send before its message is posted, if it is detached: \
         `0B:8.9us:0.78ns/B;1KiB:2us`, a size, a time, and perhaps a time per byte.";
    OIS: Name = "flow.ois", Unset("sends cost nothing"), None, scope::FLOW_HOSTS,
        "Time of a non-blocking send, likewise.";
    OR: Name = "flow.or", Unset("receives cost nothing"), None, scope::FLOW_HOSTS,
        "Time of a receive when its message has arrived, if its send was detached, likewise.";
    EAGER_BELOW: Bytes = "flow.eager-below", Value("0 B"), None, scope::FLOW_HOSTS,
        "A message smaller than this travels when it is sent, any other when its receive is posted \
         too.";
    DETACHED_BELOW: Bytes = "flow.detached-below", Value("65536 B"), None, scope::FLOW_HOSTS,
        "A send smaller than this is done at once, any other when its message has arrived.";
    BANDWIDTH_FACTORS: Name = "flow.bandwidth-factors", Unset("those of SMPI"), None, scope::FLOW,
        "How much of its share of the links a message turns into progress, by size with its \
         envelope of 16 bytes: `0B:0.8;1KiB:0.6`.";
    LATENCY_FACTORS: Name = "flow.latency-factors", Unset("those of SMPI"), None, scope::FLOW,
        "By how much the latency of its route is longer, likewise.";
    WEIGHT: Bytes = "flow.weight", Value("8775 B"), None, scope::FLOW,
        "How much slow links count against a flow: its share falls with latency + the sum of \
         weight / bandwidth.";
    WINDOW: Bytes = "flow.window", Value("4194304 B"), None, scope::FLOW,
        "Most bytes under way per round trip (TCP-gamma); 0 B for no limit.";
    CROSS_TRAFFIC: Switch = "flow.cross-traffic", Value("true"), None, scope::FLOW,
        "Whether the way back of a flow carries 5 % of what it does.";
    LOOPBACK_BANDWIDTH: Name = "flow.loopback-bandwidth",
        Unset("as the platform says"), None, scope::FLOW_HOSTS,
        "What each message of a host to itself has, where the platform gives hosts no loopback of \
         their own: `10 GB/s`.";
    LOOPBACK_LATENCY: Time = "flow.loopback-latency",
        Unset("as the platform says"), None, scope::FLOW_HOSTS,
        "How long such a message is under way at least.";
    IN_ORDER: Switch = "flow.in-order", Value("false"), None, scope::FLOW_HOSTS,
        "Whether messages of a rank to another arrive in the order in which they set out, as over \
         a connection.";
    TEST: Time = "flow.test", Value("0 ns"), None, scope::FLOW_HOSTS,
        "Time of each `MPI_Test` and its kin in traces, in the mode `gaps`.";
    IPROBE: Time = "flow.iprobe", Value("0 ns"), None, scope::FLOW_HOSTS,
        "Time of each `MPI_Iprobe`.";
    INIT: Time = "flow.init", Value("0 ns"), None, scope::FLOW_HOSTS,
        "Time of `MPI_Init`.";
    CFG: Names = "flow.cfg", Unset("nothing"), flag("cfg", "NAME:VALUE"), scope::FLOW_HOSTS,
        "Items of SimGrid's configuration, `NAME:VALUE` separated by spaces, which override the \
         keys above and those of a platform file. The flag can be repeated.";
}

/// The table `[host]`.
pub(crate) mod host {
    use super::*;

    table! {
        SPEED: Name = "host.speed", Unset("as `traces.speed`"), None, scope::HOST_SPEED,
            "Speed of the target's hosts, for traces, where no platform of SimGrid says it: `10 \
             Gflop/s`.";
        RECORDED_SPEED: Name = "host.recorded-speed",
            Unset("computation takes as long as recorded"), None, scope::SPEED,
            "Speed of the machine on which traces were recorded; their computation is scaled to \
             the speed of the target's hosts.";
    }
}
