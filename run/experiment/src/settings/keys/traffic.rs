//! The table `[traffic]`: synthetic traffic.

use super::*;

table! {
    LOAD: Name = "traffic.load", Value("0.1:1.0:0.1"), flag("load", "LOAD"), scope::TRAFFIC,
        "Offered load: the part of the bandwidth of a sending host's link, headers included: \
         one, some with commas between them, or FIRST:LAST:STEP.";
    SATURATION: Switch = "traffic.saturation",
        Value("false"), flag("saturation", ""), scope::TRAFFIC,
        "Find the load from which on the network is saturated, by bisection to 0.01, instead.";
    LENGTH: Name = "traffic.length", Value("2 KiB"), flag("length", "LENGTH"), scope::TRAFFIC,
        "Length of messages: one (`2 KiB`), `uniform:64B:4KiB`, `normal:2KiB:512B` (mean and \
         standard deviation), `bimodal:64B:4KiB:0.9` (share of the first), or a file with a length \
         per line, and perhaps its weight.";
    ARRIVALS: Word(words::ARRIVALS) = "traffic.arrivals",
        Value("poisson"), flag("arrivals", "KIND"), scope::TRAFFIC,
        "When messages enter.";
    BURST: Factor = "traffic.burst", Value("8"), None, scope::TRAFFIC,
        "Mean number of messages of a burst.";
    HOST: Count(0, U32 - 1) = "traffic.host", Value("0"), None, scope::TRAFFIC,
        "The hot spot of `hot-spot`; the receiver of `incast`.";
    WAYS: Count(1, U32) = "traffic.ways", Unset("all others"), None, scope::TRAFFIC,
        "How many hosts send in an `incast`: those that follow the receiver.";
    SHARE: Factor = "traffic.share",
        Unset("0.2 to a hot spot, 0.8 in a sphere"), None, scope::TRAFFIC,
        "The part of the messages that goes to the hot spot, or stays in the sphere of locality.";
    RADIUS: Count(1, U32) = "traffic.radius",
        Unset("the fewest with which no sphere is empty"), None, scope::TRAFFIC,
        "Links between hosts of the same `sphere` of locality, those of the hosts included.";
    PRECISION: Factor = "traffic.precision",
        Value("0.02"), flag("precision", "PART"), scope::TRAFFIC,
        "A point is measured until the confidence intervals (95 %) of latency and accepted load \
         are at most this part of their means to either side.";
    BATCHES: Count(10, 100_000) = "traffic.batches", Value("200"), None, scope::TRAFFIC,
        "Most batches that are measured if that precision is not reached.";
    BATCH: Time = "traffic.batch",
        Unset("the time of 1000 messages, or of 10 latencies"), None, scope::TRAFFIC,
        "Time of a batch.";
    TIME: Time = "traffic.time",
        Unset("until precision or batches are reached"), None, scope::TRAFFIC,
        "Measure for so long and no longer, in ten batches, fewer if these were too short, or in \
         those of `traffic.batch`; then hosts send no more and the network runs empty.";
    WARM_UP: Time = "traffic.warm-up",
        Unset("until latency no longer drifts; none with `traffic.time`"), None, scope::TRAFFIC,
        "Time that is left out before `traffic.time`, in whole batches.";
    INTERVAL: Time = "traffic.interval", Same(&["output.interval"]), None, scope::TRAFFIC_PACKETS,
        "Width of the intervals of `lanes.csv`, which a run of one load with a folder writes.";
}
