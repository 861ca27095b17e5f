//! What a host remembers of a network that does not answer at the injection.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use units::Time;

use crate::{Network, Parcel};

/// What the network does not carry: when a message is posted, the host tells the receiver what it
/// is about, by a message of its own that takes the lookahead; the receiver keeps that until the
/// network delivers. And injections wait here until their time has come.
#[derive(Debug)]
pub struct Port<P> {
    posted: VecDeque<Posted>,
    announced: FxHashMap<(u32, u64), (Time, P)>,
    signals: u32,
}

#[derive(Clone, Copy, Debug)]
struct Posted {
    at: Time,
    parcel: Parcel,
    number: u64,
}

/// What is next at a host's end of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// An injection.
    Injection,
    /// Something of the interface's own.
    Interface,
}

/// Adds an item behind all those that are not later, which most often are all.
#[inline]
pub fn insert_by_time<T>(queue: &mut VecDeque<T>, item: T, time: impl Fn(&T) -> Time) {
    let at = time(&item);
    if queue.back().is_none_or(|last| time(last) <= at) {
        return queue.push_back(item);
    }
    let place = queue.partition_point(|other| time(other) <= at);
    queue.insert(place, item);
}

impl<P> Default for Port<P> {
    fn default() -> Self {
        Self { posted: VecDeque::new(), announced: FxHashMap::default(), signals: 0 }
    }
}

impl<P> Port<P> {
    /// A message is to enter at a time that has not come yet. Those of one time enter in the order
    /// in which they were posted.
    pub fn post(&mut self, at: Time, parcel: Parcel, number: u64) {
        insert_by_time(&mut self.posted, Posted { at, parcel, number }, |posted| posted.at);
    }

    /// When a posted message enters or the interface does something of its own, whichever comes
    /// first; at the same time, the message.
    #[inline]
    pub fn next<N: Network>(&self, network: &N, interface: &N::Interface) -> (Time, Due) {
        let own = network.next(interface);
        match self.posted.front() {
            Some(first) if first.at <= own => (first.at, Due::Injection),
            _ => (own, Due::Interface),
        }
    }

    /// The first posted message: when it enters, itself and its number.
    pub fn pop(&mut self) -> Option<(Time, Parcel, u64)> {
        self.posted.pop_front().map(|posted| (posted.at, posted.parcel, posted.number))
    }

    /// Keeps what is known of a message that entered, or will enter, at a time.
    pub fn announce(&mut self, source: u32, number: u64, entry: Time, payload: P) {
        self.announced.insert((source, number), (entry, payload));
    }

    /// What was announced of a message that is delivered: when it entered, and the rest.
    pub fn delivered(&mut self, source: u32, number: u64) -> Option<(Time, P)> {
        self.announced.remove(&(source, number))
    }

    /// How many signals have left the host.
    #[inline]
    pub fn signals(&mut self) -> &mut u32 {
        &mut self.signals
    }
}
