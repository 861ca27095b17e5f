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
    GAP_PER_BYTE: TimePerByte = "loggops.G", Value("6 ns/B"), None, scope::HOSTS,
        "G: time per byte after the first, on the network interface and the receiver's CPU. Where \
         the network has switches, bytes take their time there, and this is 0 unless it is set.";
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
            Same(&["loggops.G"]), None, scope::BEYOND_LOGGOPSIM,
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
