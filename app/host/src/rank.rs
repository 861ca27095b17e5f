//! The state of a rank.

use mpi::{Store, Tag};
use rustc_hash::FxHashMap;
use units::Time;

use crate::clocks::Clocks;
use crate::message::Kind;
use crate::path::Path;
use crate::queues::{Only, Queues};

/// A rank.
///
/// Ranks are many and most are idle between two windows, so what is rarely needed is boxed: a rank
/// of a simple program fills three cache lines.
pub struct Rank<S> {
    pub source: S,
    pub clocks: Clocks,
    pub waiting: Waiting,
    /// The receives and messages that are matched by search, once there are any.
    pub matching: Option<Box<Matching>>,
    /// Postings so far.
    pub batches: u32,
    /// Messages to other processes so far.
    pub sequence: u32,
    pub received_messages: u32,
    /// True if its next operation accesses what ranks share ([`crate::Probing::is_exclusive`]) and
    /// waits for those of others that come before it.
    pub turn: bool,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub busy: Time,
}

/// The things that wait at a rank from one window to the next.
pub enum Waiting {
    Nothing,
    One(Box<Only>),
    Many(Box<Queues>),
}

/// The receives and messages of a rank that wait for a partner.
#[derive(Default)]
pub struct Matching {
    /// Posted receives: their operations.
    pub posted: Store<u32>,
    /// Messages by abstract rendezvous that have arrived but not met their receive, over a direct
    /// network.
    pub urgent: u32,
    /// Messages sent that are steps of a protocol and not counted as messages of the program.
    pub controls: u32,
    /// The parts of [`Matching`] that few ranks need.
    rare: Option<Box<Rare>>,
}

/// The parts of [`Matching`] that few ranks need.
#[derive(Default)]
pub struct Rare {
    pub unexpected: Store<Unexpected>,
    /// Sends that wait for their receive.
    pub unreleased: Vec<Unreleased>,
    /// Sends whose message is on its way out of the host, which they wait for.
    pub departing: Vec<Unreleased>,
    /// Time between the end of a send's overhead and its release.
    pub blocked: Time,
    /// Under `rts-cts`, receives that have cleared a send and wait for its data.
    pub cleared: Vec<Cleared>,
    /// With several CPUs or interfaces: messages that have met their receive but wait to be
    /// received, by source and number.
    pub met: FxHashMap<(u32, u32), u32>,
    /// Messages that have been received but not met their receive.
    pub charged: FxHashMap<(u32, u32), (Time, Path)>,
}

impl Matching {
    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns the parts that few ranks need, if there are any.
    pub fn any_rare(&self) -> Option<&Rare> {
        self.rare.as_deref()
    }

    /// Takes out the message that a receive meets.
    pub fn take_unexpected(&mut self, source: u32, tag: Tag) -> Option<Unexpected> {
        self.rare.as_mut()?.unexpected.take(source, tag)
    }

    /// Returns the message that a receive would meet, and leaves it there.
    pub fn peek_unexpected(&mut self, source: u32, tag: Tag) -> Option<&Unexpected> {
        self.rare.as_mut()?.unexpected.peek(source, tag)
    }
}

/// A receive that has cleared a send to go on (rendezvous with request and clear-to-send).
#[derive(Clone, Copy, Debug)]
pub struct Cleared {
    /// The receive's operation.
    pub receive: u32,
    /// The rank of the send.
    pub sender: u32,
    /// The number of the request among that rank's messages.
    pub request: u32,
}

/// A message that has met no receive.
#[derive(Clone, Copy, Debug)]
pub struct Unexpected {
    pub kind: Kind,
    pub source: u32,
    pub sequence: u32,
    pub send: u32,
    pub size: u64,
    /// The time when it has been received.
    pub end: Time,
    pub path: Path,
}

/// A send that waits to be released ([`crate::completion`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Unreleased {
    pub send: u32,
    pub destination: u32,
    /// The number of its message among the rank's messages.
    pub sequence: u32,
    /// End of its overhead.
    pub since: Time,
    /// The chain of causes that led to that time.
    pub path: Path,
    /// Start of the activity that sent the message.
    pub cause: Time,
    /// The moment before which it is not done, even if it is released.
    pub earliest: Time,
}

impl<S> Rank<S> {
    #[inline(always)]
    pub fn new(source: S, clocks: Clocks) -> Self {
        Self {
            source,
            clocks,
            waiting: Waiting::Nothing,
            matching: None,
            batches: 0,
            sequence: 0,
            received_messages: 0,
            turn: false,
            sent_bytes: 0,
            received_bytes: 0,
            busy: Time::ZERO,
        }
    }

    /// Returns whether a message has arrived whose sender may be released without delay, or what
    /// happens next has to come in the order of all ranks.
    pub fn urgent(&self) -> bool {
        self.turn || self.matching.as_ref().is_some_and(|matching| matching.urgent > 0)
    }

    /// Messages of the program that it has sent.
    pub fn sent_messages(&self) -> u32 {
        self.sequence - self.matching.as_ref().map_or(0, |matching| matching.controls)
    }

    /// Returns the parts of its matching that few ranks need, if this rank has them.
    pub fn rare(&self) -> Option<&Rare> {
        self.matching.as_ref()?.any_rare()
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
