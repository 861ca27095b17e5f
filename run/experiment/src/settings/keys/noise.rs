//! The table `[noise]`: interruptions by the operating system.

use super::*;

table! {
    TRACE: Path = "noise.trace", Unset("no trace"), None, scope::NOISE,
        "A file with one interruption per line, its start and its duration in nanoseconds; \
         LogGOPSim's format.";
    INTERVAL: Time = "noise.interval", Unset("no random noise"), None, scope::NOISE,
        "One interruption falls into each interval of this length, as a whole, at a random place \
         in it. At least 1 us, since every activity looks at all the intervals that it covers.";
    DURATION: Time = "noise.duration", Unset("no random noise"), None, scope::NOISE,
        "Length of a random interruption, at most that of an interval; what `exponential` draws \
         beyond that is cut.";
    DURATION_MAX: Time = "noise.duration-max", Unset("only for `uniform`"), None, scope::NOISE,
        "Greatest length of an interruption of the distribution `uniform`.";
    DISTRIBUTION: Word(words::DISTRIBUTION) = "noise.distribution",
        Value("fixed"), None, scope::NOISE,
        "Distribution of the length of random interruptions.";
    COSCHEDULED: Switch = "noise.coscheduled", Value("false"), None, scope::NOISE,
        "Whether all ranks are interrupted at the same times.";
}
