//! The tables `[rails]` and `[rail.NAME]`: hosts on several networks.

use super::*;

table! {
    POLICY: Name = "rails.policy", Value("vft"), None, scope::RAIL,
        "How a host chooses the rail of a message: `single:NAME`, `round-robin`, \
         `round-robin-destination`, `weighted`, `wfq`, `vft-4.4.1` to `vft-4.4.5`, `vft` or `ecf`.";
    STRIPES: Word(words::STRIPES) = "rails.stripes", Value("none"), None, scope::RAIL,
        "How messages are split that are larger than `rails.whole`.";
    WHOLE: Bytes = "rails.whole", Same(&["loggops.S"]), None, scope::RAIL,
        "The largest message that takes one rail, whatever `rails.stripes` says.";
    NOTICE: Switch = "rails.notice", Value("false"), None, scope::RAIL,
        "Whether hosts notice that a rail has become slower, by when messages leave it, as the \
         component for Open MPI does. For policies that compare times.";
}

/// The table `[rail.NAME]`.
pub(crate) mod rail {
    use super::*;

    table! {
        WEIGHT: Count(1, U16) = "rail.weight",
            Unset("in proportion to the bandwidth, 1/G"), None, scope::RAIL,
            "The share of messages that the policies `weighted` and `wfq` and stripes by \
             bandwidth give the rail.";
        HOSTS: Name = "rail.hosts", Unset("all"), None, scope::RAIL,
            "The hosts that are on the rail, by their numbers from 0: `0-7,12`. There must be a \
             rail that all hosts are on.";
        FAIL_AT: Time = "rail.fail-at", Unset("never"), None, scope::RAIL,
            "When the rail takes no more messages. What it has taken before arrives.";
        DEGRADE_AT: Time = "rail.degrade-at", Unset("never"), None, scope::RAIL,
            "When messages that enter the rail begin to be slower. For rails of the model \
             `loggops`.";
        DEGRADE_TO: Probability = "rail.degrade-to", Value("0.1"), None, scope::RAIL,
            "The part of the bandwidth that is left then.";
        RECOVER_AT: Time = "rail.recover-at", Unset("never"), None, scope::RAIL,
            "When a rail that has failed, or become slower, is as before.";
    }
}
