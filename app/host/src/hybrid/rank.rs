//! A rank, and what its CPUs are at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schedule::Op;
use units::Time;

use super::mailbox::Mailbox;
use crate::path::{Clock, Path, Stamp};
use crate::{Activity, RankTotals};

/// A rank.
pub struct Rank<S> {
    pub source: S,
    pub cpus: Box<[Cpu]>,
    pub mailbox: Mailbox,
    pub totals: RankTotals,
    /// The time at which its last operation so far was done, with the chain of causes.
    pub last: Clock,
    pub sequence: u32,
    /// Postings so far.
    pub batches: u32,
    /// True if it is in the list of ranks to look at.
    pub queued: bool,
}

/// A CPU of a rank.
#[derive(Default)]
pub struct Cpu {
    pub ready: BinaryHeap<Reverse<Ready>>,
    pub doing: Option<Doing>,
    pub clock: Clock,
}

/// The order in which operations start: of those that could at one moment, what was caused first
/// comes first, as where hosts have models of their own ([`crate::queues::Order`]); then what was
/// posted first. It does not depend on the numbers of operations, which a live run gives in another
/// order than a schedule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    /// The time from which on it may start.
    pub at: Time,
    cause: Time,
    batch: u32,
    pub index: u32,
}

/// An operation that may start.
pub struct Ready {
    pub order: Order,
    pub op: Op,
    pub path: Path,
}

impl Ready {
    /// Returns the time from which on it may start, and how that came about.
    pub const fn stamp(&self) -> Stamp {
        Stamp { time: self.order.at, cause: self.order.cause, path: self.path }
    }
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}
impl Eq for Ready {}
impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ready {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

/// The activity of a CPU.
#[derive(Clone, Copy)]
pub struct Doing {
    pub activity: Activity,
    pub index: u32,
    pub op: Op,
    pub since: Time,
    /// The time that interruptions add to it.
    pub noise: Time,
    pub posted: Time,
    /// The message of a receive.
    pub message: u32,
}

impl<S> Rank<S> {
    pub fn ready(&mut self, index: u32, op: Op, stamp: &Stamp) {
        add(&mut self.cpus, self.batches, (index, op), stamp);
    }
}

/// Adds what was posted in a batch.
pub fn add(cpus: &mut [Cpu], batch: u32, (index, op): (u32, Op), stamp: &Stamp) {
    let order = Order { at: stamp.time, cause: stamp.cause, batch, index };
    cpus[usize::from(op.cpu)].ready.push(Reverse(Ready { order, op, path: stamp.path }));
}
