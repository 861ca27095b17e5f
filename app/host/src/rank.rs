//! The state of a rank.

use mpi::Store;
use rustc_hash::FxHashMap;
use units::Time;

use crate::message::Kind;
use crate::path::Path;
use crate::queues::{Class, Clocks, Entry, Queues};

/// A rank: at present a host has exactly one.
///
/// Ranks are many and most are idle between two windows, so what is rarely needed is boxed: a rank
/// of a simple program fills three cache lines.
pub struct Rank<S, I> {
    pub source: S,
    pub interface: I,
    pub clocks: Clocks,
    pub waiting: Waiting,
    /// What is matched by search, once there is any.
    pub matching: Option<Box<Matching>>,
    /// Postings so far.
    pub batches: u32,
    /// Messages to other processes so far.
    pub sequence: u32,
    pub received_messages: u32,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub busy: Time,
}

/// What waits from one window to the next.
pub enum Waiting {
    Nothing,
    One(Box<(Class, Entry)>),
    Many(Box<Queues>),
}

/// What waits for a partner.
#[derive(Default)]
pub struct Matching {
    pub posted: Store<Posted>,
    pub unexpected: Store<Unexpected>,
    /// Sends that wait for their receive.
    pub unreleased: Vec<Unreleased>,
    /// What few ranks need.
    rare: Option<Box<Rare>>,
    /// Messages by abstract rendezvous that have arrived but not met their receive.
    pub urgent: u32,
    /// Messages sent that are steps of a protocol and not counted as messages of the program.
    pub controls: u32,
    /// Time between the end of a send's overhead and its release.
    pub blocked: Time,
}

/// What few ranks need: for several CPUs or interfaces messages by source and number, for `rts-cts`
/// receives.
#[derive(Default)]
pub struct Rare {
    /// Receives that have cleared a send and wait for its data: receive, sender, number of the
    /// request.
    pub cleared: Vec<(u32, u32, u32)>,
    /// Messages that have met their receive but wait to be received.
    pub met: FxHashMap<(u32, u32), Posted>,
    /// Messages that have been received but not met their receive.
    pub charged: FxHashMap<(u32, u32), (Time, Path)>,
}

impl Matching {
    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Receives that have cleared a send.
    pub fn cleared(&self) -> &[(u32, u32, u32)] {
        self.rare.as_ref().map_or(&[], |rare| &rare.cleared)
    }
}

/// A posted receive.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    /// The operation.
    pub index: u32,
    /// Its size in bytes, if that is less than 4 GiB, else `u32::MAX`: enough to see without another
    /// look at the operation that a message fits.
    pub room: u32,
}

impl Posted {
    pub fn new(index: u32, size: u64) -> Self {
        Self { index, room: u32::try_from(size).unwrap_or(u32::MAX) }
    }
}

/// A message that has met no receive.
#[derive(Clone, Copy, Debug)]
pub struct Unexpected {
    pub kind: Kind,
    pub source: u32,
    pub sequence: u32,
    pub send: u32,
    pub size: u64,
    /// When it has been received, and how that came about.
    pub end: Time,
    pub path: Path,
}

/// A send that waits for its receive.
#[derive(Clone, Copy, Debug)]
pub struct Unreleased {
    pub send: u32,
    pub destination: u32,
    /// Its number among the rank's messages.
    pub sequence: u32,
    /// End of its overhead.
    pub since: Time,
    /// How that came about.
    pub path: Path,
}

impl<S, I> Rank<S, I> {
    pub fn new(source: S, interface: I, clocks: Clocks) -> Self {
        Self {
            source,
            interface,
            clocks,
            waiting: Waiting::Nothing,
            matching: None,
            batches: 0,
            sequence: 0,
            received_messages: 0,
            sent_bytes: 0,
            received_bytes: 0,
            busy: Time::ZERO,
        }
    }

    /// Whether a message has arrived whose sender may be released without delay.
    pub fn urgent(&self) -> bool {
        self.matching.as_ref().is_some_and(|matching| matching.urgent > 0)
    }

    /// Messages of the program that it has sent.
    pub fn sent_messages(&self) -> u32 {
        self.sequence - self.matching.as_ref().map_or(0, |matching| matching.controls)
    }

    pub fn matching(&mut self) -> &mut Matching {
        self.matching.get_or_insert_default()
    }

    /// The number of the next message.
    pub fn next_sequence(&mut self) -> u32 {
        let sequence = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
        sequence
    }
}
