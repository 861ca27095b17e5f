//! Messages of a rank, and receives whose overhead is due.

use mpi::Store;
use network::Uncontended;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use units::Time;

use crate::path::Stamp;
use crate::source::{Source, Work};

/// A message that is posted, from its send to its receive.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    pub source: u32,
    pub destination: u32,
    /// Operation of the send.
    pub send: u32,
    /// Operation of the receive, once it is matched.
    pub receive: Option<u32>,
    /// Number among the source's sends.
    pub sequence: u32,
    pub size: u64,
    pub detached: bool,
    /// The stage of its way: it waits, is under way, or has arrived.
    pub stage: Stage,
    /// The stamp of its posting; once it has arrived, that of its arrival.
    pub stamp: Stamp,
}

/// The stage of a posted message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The message waits for its receive.
    Waits,
    /// The message is under way; `idle` is its time if no other message shares its links.
    Travels { since: Time, idle: Uncontended },
    /// The message has arrived.
    Arrived,
}

impl Stage {
    /// Returns the state of a message that sets out and takes this on an idle network.
    pub fn travels(since: Time, flow::Idle { latency, serialisation }: flow::Idle) -> Self {
        let transit = latency.saturating_add(serialisation);
        Self::Travels { since, idle: Uncontended { latency, transit, ..Uncontended::default() } }
    }
}

/// Messages by number; numbers are used again.
#[derive(Debug, Default)]
pub struct Messages {
    all: Vec<Posted>,
    free: Vec<u32>,
}

impl Messages {
    pub fn with_room(count: usize) -> Self {
        Self { all: Vec::with_capacity(count), free: Vec::new() }
    }

    pub fn add(&mut self, message: Posted) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = message;
            return number;
        }
        self.all.push(message);
        self.all.len() as u32 - 1
    }

    pub fn at(&mut self, number: u32) -> &mut Posted {
        &mut self.all[number as usize]
    }

    pub fn get(&self, number: u32) -> Option<&Posted> {
        self.all.get(number as usize)
    }

    pub fn remove(&mut self, number: u32) -> Posted {
        self.free.push(number);
        self.all[number as usize]
    }
}

/// The receives and messages of a rank that wait for a partner.
#[derive(Debug, Default)]
pub struct Mailbox {
    /// Posted receives: operation and room in bytes.
    pub posted: Store<(u32, u64)>,
    /// Messages without a receive, by number.
    pub unexpected: Store<u32>,
    /// Requests that are not done, in the order of their posting, if overheads of receives depend
    /// on that.
    pub open: Vec<Open>,
    /// By operation, the number of open requests that it waits for.
    waited: FxHashMap<u32, u32>,
    /// Number of messages of receives that have arrived.
    arrivals: u64,
}

/// A receive, or a send that is no detached one, that is not done.
#[derive(Debug)]
pub struct Open {
    pub index: u32,
    /// The operations that wait for it.
    pub successors: Box<[u32]>,
    /// True if it is waited for in the order of posting, among those with the same successors.
    pub in_order: bool,
    /// The message of a receive, once it has arrived.
    pub message: Option<u32>,
    /// Its number among the arrivals of the rank.
    arrival: u64,
}

impl Mailbox {
    /// Asks anew what waits for each request.
    pub fn renew(&mut self, successors: impl Fn(u32) -> Box<[u32]>) {
        self.waited.clear();
        for open in &mut self.open {
            open.successors = successors(open.index);
            for successor in &open.successors {
                *self.waited.entry(*successor).or_default() += 1;
            }
        }
    }

    /// A request is posted.
    pub fn open(&mut self, index: u32, successors: Box<[u32]>, in_order: bool) {
        for successor in &successors {
            *self.waited.entry(*successor).or_default() += 1;
        }
        self.open.push(Open { index, successors, in_order, message: None, arrival: 0 });
    }

    /// A request is done.
    pub fn close(&mut self, index: u32) {
        let Some(place) = self.open.iter().position(|open| open.index == index) else { return };
        for successor in self.open.remove(place).successors {
            let count = self.waited.entry(successor).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.waited.remove(&successor);
            }
        }
    }

    /// The message of a receive has arrived.
    pub fn arrived(&mut self, index: u32, message: u32) {
        self.arrivals += 1;
        if let Some(open) = self.open.iter_mut().find(|open| open.index == index) {
            (open.message, open.arrival) = (Some(message), self.arrivals);
        }
    }

    /// The message of a receive that is not done, if it has arrived.
    pub fn message(&self, index: u32) -> Option<u32> {
        self.open.iter().find(|open| open.index == index)?.message
    }

    /// The receive whose overhead is due first. One is due if its message has arrived, and the rank
    /// has come to an operation that waits for nothing but open requests, this one among them, or
    /// for any of several. Of those for which the same waits, the first posted comes first:
    /// `MPI_Waitall` takes what is there; others wait for one after the other. Of those that have
    /// nothing to do with each other, as the requests of several ranks, the first whose message has
    /// arrived. `missing` tells for how much an operation waits, `is_any` whether any of that is
    /// enough, `wanted` of a receive for which none does whether it is due.
    pub fn due(
        &self,
        missing: impl Fn(u32) -> u32,
        is_any: impl Fn(u32) -> bool,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(u32, u32)> {
        // One that waited for the first of several waits no more.
        let waits = |successor: &u32| missing(*successor) > 0;
        let reached = |successor: &u32| {
            let open = self.waited.get(successor).copied();
            open == Some(missing(*successor)) || is_any(*successor) && waits(successor)
        };
        // An operation that waits for it now; a live run does not know yet what will wait later.
        let waiting = |open: &Open| open.successors.iter().copied().find(reached);
        let alike = |one: &Open, other: &Open| match (waiting(one), waiting(other)) {
            (None, None) => one.successors == other.successors,
            (one, other) => one == other,
        };
        let due = self.open.iter().enumerate().filter_map(|(place, open)| {
            let message = open.message?;
            let before = |early: &Open| early.in_order && alike(early, open);
            if open.in_order && self.open[..place].iter().any(before) {
                return None;
            }
            let due = open.successors.iter().any(reached)
                || !open.successors.iter().any(waits) && wanted(open.index);
            due.then_some((open, message))
        });
        // Of each group, the first arrival, and who was posted first.
        let mut groups: SmallVec<[(u64, &Open, u32); 4]> = SmallVec::new();
        for (open, message) in due {
            match groups.iter_mut().find(|(_, first, _)| alike(first, open)) {
                Some((arrival, ..)) => *arrival = open.arrival.min(*arrival),
                None => groups.push((open.arrival, open, message)),
            }
        }
        let first = groups.into_iter().min_by_key(|(arrival, ..)| *arrival);
        first.map(|(_, open, message)| (open.index, message))
    }
}

/// Returns the operations that wait for the end of an operation.
pub fn successors<S: Source>(source: &S, state: &S::State, rank: u32, index: u32) -> Box<[u32]> {
    let mut successors = Vec::new();
    source.dependents(state, rank, index, &mut |next| successors.push(next));
    successors.into()
}

/// Returns the number of messages to make room for at first: growing would copy them, and pages
/// that are not used cost nothing.
pub fn room(program: &impl Work) -> usize {
    (program.operations().unwrap_or(0) / 2).min(1 << 20) as usize
}
