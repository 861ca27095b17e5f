//! The table `[loggops]`: what a message costs its hosts and the wire.

use super::*;

table! {
    LATENCY: Time = "loggops.L", Value("2500 ns"), None, scope::WIRE,
        "L: time in the network from a message's injection to its arrival. Networks with switches \
         have their own.";
    OVERHEAD: Time = "loggops.o", Hosts("1500 ns", "200 ns"), None, scope::HOSTS,
        "o: CPU time per message, at the sender and at the receiver.";
    GAP: Time = "loggops.g", Hosts("1000 ns", "0 ns"), None, scope::HOSTS,
        "g: time between the starts of two messages on one network interface.";
    GAP_PER_BYTE: TimePerByte = "loggops.G", Value("6 ns/B"), None, scope::WIRE,
        "G: time per byte after the first, on the network interface and the receiver's CPU. In \
         networks with switches bytes take their time on links.";
    OVERHEAD_PER_BYTE: TimePerByte = "loggops.O", Value("0 ns/B"), None, scope::HOSTS,
        "O: CPU time per byte after the first, at the sender and at the receiver.";
    EAGER_LIMIT: Bytes = "loggops.S", Value("65535 B"), None, scope::EAGER,
        "S: the eager limit. A message of S bytes is still eager, a larger one uses rendezvous.";
    SEND_OVERHEAD: Time = "loggops.o-send", Same(&["loggops.o"]), None, scope::BEYOND_LOGGOPSIM,
        "o of the sender, where it differs from the receiver's.";
    RECEIVE_OVERHEAD: Time = "loggops.o-recv", Same(&["loggops.o"]), None, scope::BEYOND_LOGGOPSIM,
        "o of the receiver.";
    SEND_OVERHEAD_PER_BYTE: TimePerByte = "loggops.O-send",
        Same(&["loggops.O"]), None, scope::BEYOND_LOGGOPSIM,
        "O of the sender.";
    RECEIVE_OVERHEAD_PER_BYTE: TimePerByte = "loggops.O-recv",
        Same(&["loggops.O"]), None, scope::BEYOND_LOGGOPSIM,
        "O of the receiver.";
    INJECT: Word(words::INJECT) = "loggops.inject", Value("end"), None, scope::PROTOCOL,
        "When a message enters the network.";
    RECEIVE: Word(words::RECEIVE) = "loggops.receive",
        Value("cpu"), None, scope::BEYOND_LOGGOPSIM,
        "What a message from another host occupies at its receiver.";
    PAIRS: Path = "loggops.pairs", Unset("all pairs are as `[loggops]` says"), None,
        scope::LARGE_WIRE,
        "A file that puts pairs of hosts into classes, which tables `[loggops.class.NAME]` \
         describe: a CSV file with the columns `source`, `destination` and `class`. Hosts have \
         the numbers of their ranks, and a pair is the same in both directions. Other pairs are as \
         `[loggops]` says.";
    COMPAT: Word(words::COMPAT) = "loggops.compat", Value("heddle"), None, scope::WIRE,
        "Whose rules apply.";
}

/// The table `[loggops.large]`.
pub(crate) mod large {
    use super::*;

    table! {
        LATENCY: Time = "loggops.large.L", Same(&["loggops.L"]), None, scope::LARGE_WIRE,
            "L of large messages.";
        #[expect(dead_code, reason = "the sender's and the receiver's keys fall back on it")]
        OVERHEAD: Time = "loggops.large.o", Same(&["loggops.o"]), None, scope::BEYOND_LOGGOPSIM,
            "o of large messages.";
        GAP: Time = "loggops.large.g", Same(&["loggops.g"]), None, scope::BEYOND_LOGGOPSIM,
            "g of large messages.";
        GAP_PER_BYTE: TimePerByte = "loggops.large.G",
            Same(&["loggops.G"]), None, scope::LARGE_WIRE,
            "G of large messages.";
        #[expect(dead_code, reason = "the sender's and the receiver's keys fall back on it")]
        OVERHEAD_PER_BYTE: TimePerByte = "loggops.large.O",
            Same(&["loggops.O"]), None, scope::BEYOND_LOGGOPSIM,
            "O of large messages.";
        SEND_OVERHEAD: Time = "loggops.large.o-send",
            Same(&["loggops.large.o", "loggops.o-send", "loggops.o"]),
            None, scope::BEYOND_LOGGOPSIM,
            "o of the sender of a large message.";
        RECEIVE_OVERHEAD: Time = "loggops.large.o-recv",
            Same(&["loggops.large.o", "loggops.o-recv", "loggops.o"]),
            None, scope::BEYOND_LOGGOPSIM,
            "o of the receiver of a large message.";
        SEND_OVERHEAD_PER_BYTE: TimePerByte = "loggops.large.O-send",
            Same(&["loggops.large.O", "loggops.O-send", "loggops.O"]),
            None, scope::BEYOND_LOGGOPSIM,
            "O of the sender of a large message.";
        RECEIVE_OVERHEAD_PER_BYTE: TimePerByte = "loggops.large.O-recv",
            Same(&["loggops.large.O", "loggops.O-recv", "loggops.O"]),
            None, scope::BEYOND_LOGGOPSIM,
            "O of the receiver of a large message.";
    }
}

/// The tables `[loggops.class.NAME]`.
pub(crate) mod class {
    use super::*;

    table! {
        LATENCY: Time = "loggops.class.L", Same(&["loggops.L"]), None, scope::LARGE_WIRE,
            "L between the hosts of such a pair.";
        #[expect(dead_code, reason = "the sender's and the receiver's keys fall back on it")]
        OVERHEAD: Time = "loggops.class.o", Same(&["loggops.o"]), None, scope::LARGE_WIRE,
            "o of a message between them.";
        GAP: Time = "loggops.class.g", Same(&["loggops.g"]), None, scope::LARGE_WIRE,
            "g of a message between them.";
        GAP_PER_BYTE: TimePerByte = "loggops.class.G",
            Same(&["loggops.G"]), None, scope::LARGE_WIRE,
            "G of a message between them.";
        #[expect(dead_code, reason = "the sender's and the receiver's keys fall back on it")]
        OVERHEAD_PER_BYTE: TimePerByte = "loggops.class.O",
            Same(&["loggops.O"]), None, scope::LARGE_WIRE,
            "O of a message between them.";
        SEND_OVERHEAD: Time = "loggops.class.o-send",
            Same(&["loggops.class.o", "loggops.o-send", "loggops.o"]), None, scope::LARGE_WIRE,
            "o of the sender.";
        RECEIVE_OVERHEAD: Time = "loggops.class.o-recv",
            Same(&["loggops.class.o", "loggops.o-recv", "loggops.o"]), None, scope::LARGE_WIRE,
            "o of the receiver.";
        SEND_OVERHEAD_PER_BYTE: TimePerByte = "loggops.class.O-send",
            Same(&["loggops.class.O", "loggops.O-send", "loggops.O"]), None, scope::LARGE_WIRE,
            "O of the sender.";
        RECEIVE_OVERHEAD_PER_BYTE: TimePerByte = "loggops.class.O-recv",
            Same(&["loggops.class.O", "loggops.O-recv", "loggops.O"]), None, scope::LARGE_WIRE,
            "O of the receiver.";
    }

    /// The tables `[loggops.class.NAME.large]`.
    pub(crate) mod large {
        use super::*;

        table! {
            LATENCY: Time = "loggops.class.large.L",
                Same(&["loggops.class.L", "loggops.large.L", "loggops.L"]),
                None, scope::LARGE_WIRE,
                "L of a large message.";
            #[expect(dead_code, reason = "the sender's and the receiver's keys fall back on it")]
            OVERHEAD: Time = "loggops.class.large.o",
                Same(&["loggops.class.o", "loggops.large.o", "loggops.o"]),
                None, scope::LARGE_WIRE,
                "o of a large message.";
            GAP: Time = "loggops.class.large.g",
                Same(&["loggops.class.g", "loggops.large.g", "loggops.g"]),
                None, scope::LARGE_WIRE,
                "g of a large message.";
            GAP_PER_BYTE: TimePerByte = "loggops.class.large.G",
                Same(&["loggops.class.G", "loggops.large.G", "loggops.G"]),
                None, scope::LARGE_WIRE,
                "G of a large message.";
            #[expect(dead_code, reason = "the sender's and the receiver's keys fall back on it")]
            OVERHEAD_PER_BYTE: TimePerByte = "loggops.class.large.O",
                Same(&["loggops.class.O", "loggops.large.O", "loggops.O"]),
                None, scope::LARGE_WIRE,
                "O of a large message.";
            SEND_OVERHEAD: Time = "loggops.class.large.o-send",
                Same(&[
                    "loggops.class.large.o", "loggops.class.o-send", "loggops.class.o",
                    "loggops.large.o-send", "loggops.large.o", "loggops.o-send", "loggops.o",
                ]),
                None, scope::LARGE_WIRE,
                "o of the sender of a large message.";
            RECEIVE_OVERHEAD: Time = "loggops.class.large.o-recv",
                Same(&[
                    "loggops.class.large.o", "loggops.class.o-recv", "loggops.class.o",
                    "loggops.large.o-recv", "loggops.large.o", "loggops.o-recv", "loggops.o",
                ]),
                None, scope::LARGE_WIRE,
                "o of the receiver of a large message.";
            SEND_OVERHEAD_PER_BYTE: TimePerByte = "loggops.class.large.O-send",
                Same(&[
                    "loggops.class.large.O", "loggops.class.O-send", "loggops.class.O",
                    "loggops.large.O-send", "loggops.large.O", "loggops.O-send", "loggops.O",
                ]),
                None, scope::LARGE_WIRE,
                "O of the sender of a large message.";
            RECEIVE_OVERHEAD_PER_BYTE: TimePerByte = "loggops.class.large.O-recv",
                Same(&[
                    "loggops.class.large.O", "loggops.class.O-recv", "loggops.class.O",
                    "loggops.large.O-recv", "loggops.large.O", "loggops.O-recv", "loggops.O",
                ]),
                None, scope::LARGE_WIRE,
                "O of the receiver of a large message.";
        }
    }
}

/// The table `[loggops.local]`.
pub(crate) mod local {
    use super::*;

    table! {
        LATENCY: Time = "loggops.local.L", Value("0 ns"), None, scope::SHARED_HOSTS,
            "L within a host: time from the moment at which a message would enter the network to \
             its arrival.";
        #[expect(dead_code, reason = "the sender's and the receiver's keys fall back on it")]
        OVERHEAD: Time = "loggops.local.o", Same(&["loggops.o"]), None, scope::SHARED_HOSTS,
            "o within a host.";
        GAP: Time = "loggops.local.g", Same(&["loggops.g"]), None, scope::SHARED_HOSTS,
            "g of messages within a host. Each rank has clocks of its own for g and G.";
        GAP_PER_BYTE: TimePerByte = "loggops.local.G", Value("0 ns/B"), None, scope::SHARED_HOSTS,
            "G within a host.";
        #[expect(dead_code, reason = "the sender's and the receiver's keys fall back on it")]
        OVERHEAD_PER_BYTE: TimePerByte = "loggops.local.O",
            Same(&["loggops.O"]), None, scope::SHARED_HOSTS,
            "O within a host.";
        SEND_OVERHEAD: Time = "loggops.local.o-send",
            Same(&["loggops.local.o", "loggops.o-send", "loggops.o"]), None, scope::SHARED_HOSTS,
            "o of the sender within a host.";
        RECEIVE_OVERHEAD: Time = "loggops.local.o-recv",
            Same(&["loggops.local.o", "loggops.o-recv", "loggops.o"]), None, scope::SHARED_HOSTS,
            "o of the receiver within a host.";
        SEND_OVERHEAD_PER_BYTE: TimePerByte = "loggops.local.O-send",
            Same(&["loggops.local.O", "loggops.O-send", "loggops.O"]), None, scope::SHARED_HOSTS,
            "O of the sender within a host.";
        RECEIVE_OVERHEAD_PER_BYTE: TimePerByte = "loggops.local.O-recv",
            Same(&["loggops.local.O", "loggops.O-recv", "loggops.O"]), None, scope::SHARED_HOSTS,
            "O of the receiver within a host.";
    }
}
