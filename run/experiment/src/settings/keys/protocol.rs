//! The table `[protocol]`: how hosts agree on a message.

use super::*;

table! {
    RENDEZVOUS: Word(words::RENDEZVOUS) = "protocol.rendezvous",
        Unset("`abstract`; `rts-cts` where the network has switches"),
        None, scope::PROTOCOL,
        "How a message of more than S bytes waits for its receive.";
    SEND_DONE: Word(words::SEND_DONE) = "protocol.send-done",
        Unset("`left`; `overhead` over `loggops`"), None, scope::SENDS,
        "When a send is done whose message has entered the network.";
    SEND_BUFFER: Bytes = "protocol.send-buffer",
        Unset("S; over flows `flow.detached-below` less one"), None, scope::BUFFERS,
        "The largest message that a host copies when it sends it, so that the send is done at the \
         end of its overhead under `left`, too. Messages of more than S bytes are never copied. \
         Over flows, this is another way to say `flow.detached-below`.";
}
