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
    /// When its last operation so far was done, and how that came about.
    pub last: Clock,
    pub sequence: u32,
    /// Whether it waits to be looked at.
    pub queued: bool,
}

/// A CPU of a rank.
#[derive(Default)]
pub struct Cpu {
    pub ready: BinaryHeap<Reverse<Ready>>,
    pub doing: Option<Doing>,
    pub clock: Clock,
}

/// An operation that may start.
pub struct Ready {
    /// When that was so, and its place in the program: the order in which operations start.
    pub order: (Time, u32),
    pub op: Op,
    pub path: Path,
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

/// What a CPU is at.
#[derive(Clone, Copy)]
pub struct Doing {
    pub activity: Activity,
    pub index: u32,
    pub op: Op,
    pub since: Time,
    pub posted: Time,
    /// Of a receive, its message.
    pub message: u32,
}

impl<S> Rank<S> {
    pub fn ready(&mut self, index: u32, op: Op, stamp: &Stamp) {
        add(&mut self.cpus, index, op, stamp);
    }
}

pub fn add(cpus: &mut [Cpu], index: u32, op: Op, stamp: &Stamp) {
    let cpu = &mut cpus[usize::from(op.cpu)];
    cpu.ready.push(Reverse(Ready { order: (stamp.time, index), op, path: stamp.path }));
}
