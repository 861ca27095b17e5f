//! The table `[protocol]`: how hosts agree on a message.

use super::*;

table! {
    RENDEZVOUS: Word(words::RENDEZVOUS) = "protocol.rendezvous",
        Unset("`abstract`; `rts-cts` where the network has switches"),
        None, scope::BEYOND_LOGGOPSIM,
        "How a message of more than S bytes waits for its receive.";
}
