//! The receiving side of reliable connections; the sending side and the rules are in
//! [`super::send`].

use rustc_hash::FxHashMap;
use units::HostId;

use crate::{
    losses::Psn,
    signal::{Kind, Packet},
};

/// The receiving side of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Expected {
    /// The number of the packet that comes next.
    next: u64,
    /// True if it is missing and a NAK has reported that.
    is_reported: bool,
}

/// The receiving sides of all connections of a host, by source and service level.
#[derive(Clone, Debug, Default)]
pub(super) struct Receivers(FxHashMap<(HostId, u8), Expected>);

impl Receivers {
    /// Receives a data packet that is not damaged. Returns true if it is the one that comes next,
    /// and the answer to it, which names the packet that comes next now.
    pub fn receive(&mut self, packet: &Packet) -> (bool, Option<(Kind, Psn)>) {
        let expected = self.0.entry((packet.source, packet.level)).or_default();
        let number = packet.stamp.psn().near(expected.next);
        let is_next = number == expected.next;
        let mut answer = packet.asks().then_some(Kind::Acknowledgement);
        if is_next {
            *expected = Expected { next: number + 1, is_reported: false };
        } else if number > expected.next {
            answer =
                (!std::mem::replace(&mut expected.is_reported, true)).then_some(Kind::Negative);
        }
        (is_next, answer.map(|kind| (kind, Psn::of(expected.next))))
    }
}
