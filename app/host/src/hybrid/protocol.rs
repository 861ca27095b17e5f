//! The rules by which MPI moves a message over a network of flows.

use std::collections::BTreeMap;

use units::Time;

/// A cost that depends on the size of a message: a line for each range of sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pieces(Vec<Piece>);

/// A cost of `base + per_byte · size` for sizes larger than `above`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Bytes above which it holds.
    pub above: u64,
    /// Seconds.
    pub base: f64,
    /// Seconds per byte.
    pub per_byte: f64,
}

impl Pieces {
    /// The pieces in any order. The first also holds for what is not larger than its size, as
    /// SimGrid 3.32 has it.
    pub fn new(mut pieces: Vec<Piece>) -> Self {
        pieces.sort_by_key(|piece| piece.above);
        Self(pieces)
    }

    /// The cost of a message of `size` bytes.
    pub fn cost(&self, size: u64) -> Time {
        let behind = self.0.partition_point(|piece| piece.above < size);
        let piece = self.0.get(behind.saturating_sub(1));
        piece.map_or(Time::ZERO, |piece| seconds(piece.base + piece.per_byte * size as f64))
    }

    /// Returns whether no size costs anything.
    pub fn is_free(&self) -> bool {
        self.0.iter().all(|piece| piece.base <= 0.0 && piece.per_byte <= 0.0)
    }
}

/// A time in seconds, rounded to picoseconds; what is negative is none.
#[expect(
    clippy::cast_sign_loss,
    reason = "what is negative becomes zero, what is too large the largest"
)]
pub fn seconds(time: f64) -> Time {
    Time::from_ps((time * 1e12).round() as u64)
}

/// The modes in which SMPI sends a message, by its size, and what its processor has to do for it.
///
/// A message smaller than `eager_below` starts to travel when it is sent; another one when its
/// receive is posted as well. A send smaller than `detached_below` is done at once, the message
/// being in a buffer of the sender's; a larger one (rendezvous) when the message has arrived.
/// Source: seed 002, section IV.B; SimGrid's options `smpi/async-small-thresh`,
/// `smpi/send-is-detached-thresh`.
#[derive(Clone, Debug, PartialEq)]
pub struct Protocol {
    /// The cost of a blocking send before the message is posted, if it is detached.
    pub send: Pieces,
    /// The cost of a non-blocking send.
    pub isend: Pieces,
    /// The cost of a receive when the message is there, if its send was detached.
    pub receive: Pieces,
    /// Bytes below which a message is eager.
    pub eager_below: u64,
    /// Bytes below which a send is detached.
    pub detached_below: u64,
}

impl Default for Protocol {
    fn default() -> Self {
        Self {
            send: Pieces::default(),
            isend: Pieces::default(),
            receive: Pieces::default(),
            eager_below: 0,
            detached_below: 65_536,
        }
    }
}

/// The protocols of hosts: most often one for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Protocols {
    /// The protocol of hosts for which nothing else is set.
    pub usual: Protocol,
    /// The protocols of other hosts.
    pub others: BTreeMap<u32, Protocol>,
    /// True if messages of a rank to another arrive in the order in which they set out, as over a
    /// connection. SMPI lets them overtake each other.
    pub in_order: bool,
    /// True if a send that is not detached is done when its message starts to travel. By SMPI's
    /// rule it is done when the message has arrived; the flow ends at both hosts at once, so that
    /// is also when its last byte has left.
    pub done_at_start: bool,
}

impl Protocols {
    /// The protocol of a host.
    pub fn of(&self, host: u32) -> &Protocol {
        self.others.get(&host).unwrap_or(&self.usual)
    }

    /// Returns whether no receive costs anything anywhere.
    pub fn free_receives(&self) -> bool {
        self.usual.receive.is_free() && self.others.values().all(|other| other.receive.is_free())
    }
}
