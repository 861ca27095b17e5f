//! How mail travels between workers, and how they agree on the next window.
//!
//! Everything a worker learns of the others passes through here, in one collective step per window.
//! Workers on other machines would need the same three things: messages, two minima, a flag.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use units::Time;

use crate::bell::Bell;
use crate::mail::Mail;
use crate::{Event, Wire};

/// How messages travel between workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// By reference, in shared memory.
    #[default]
    Shared,
    /// As bytes, also to the worker itself: what a transport between machines would do.
    Serialised,
}

/// Mail for one block, as it travels: a chunk of it.
pub struct Parcel<M> {
    pub block: u32,
    content: Content<M>,
}

enum Content<M> {
    Events(Vec<Event<M>>),
    Bytes(Vec<u8>),
}

impl<M: Wire> Parcel<M> {
    /// Moves the chunks of a block's mail into parcels.
    pub fn pack(block: u32, mail: &mut Mail<M>, transport: Transport, parcels: &mut Vec<Self>) {
        match transport {
            Transport::Shared => {
                let pack = |chunk| Self { block, content: Content::Events(chunk) };
                parcels.extend(mail.chunks().map(pack));
            }
            Transport::Serialised => {
                let mut bytes = Vec::new();
                for event in mail.iter() {
                    event.encode(&mut bytes);
                }
                parcels.push(Self { block, content: Content::Bytes(bytes) });
            }
        }
    }

    /// Moves the events into a block's mail. Returns sender and time of the first one that takes
    /// effect before `earliest`, if there is any.
    pub fn unpack(
        self,
        into: &mut Mail<M>,
        spare: &mut Vec<Vec<Event<M>>>,
        earliest: Time,
    ) -> Option<(u32, Time)> {
        let mut late = None;
        let mut check = |event: &Event<M>| {
            if event.time < earliest && late.is_none() {
                late = Some((event.source, event.time));
            }
        };
        match self.content {
            Content::Events(chunk) => {
                chunk.iter().for_each(check);
                into.append(chunk, spare);
            }
            Content::Bytes(bytes) => {
                let mut rest = bytes.as_slice();
                while let Some(event) = Event::decode(&mut rest) {
                    check(&event);
                    into.push(event, spare);
                }
                debug_assert!(rest.is_empty(), "an event that does not decode");
            }
        }
        late
    }
}

impl<M: Wire> Event<M> {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.time.ps().to_le_bytes());
        bytes.extend_from_slice(&self.source.to_le_bytes());
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.extend_from_slice(&self.destination.to_le_bytes());
        self.message.encode(bytes);
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (time, rest) = bytes.split_first_chunk()?;
        let (source, rest) = rest.split_first_chunk()?;
        let (sequence, rest) = rest.split_first_chunk()?;
        let (destination, rest) = rest.split_first_chunk()?;
        *bytes = rest;
        Some(Self {
            time: Time::from_ps(u64::from_le_bytes(*time)),
            source: u32::from_le_bytes(*source),
            sequence: u32::from_le_bytes(*sequence),
            destination: u32::from_le_bytes(*destination),
            message: M::decode(bytes)?,
        })
    }
}

/// The bounds of a worker's future, which it publishes before each window.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Its earliest event, mail under way included.
    pub earliest: Time,
    /// The earliest time at which it may cause a message without delay.
    pub urgent: Time,
    /// Its earliest mail, under way or not.
    pub mail: Time,
    /// Whether one of its processes may answer mail without delay.
    pub answers: bool,
    /// When the run ends.
    pub end: Time,
}

impl Bounds {
    pub const NONE: Self = Self {
        earliest: Time::MAX,
        urgent: Time::MAX,
        mail: Time::MAX,
        answers: false,
        end: Time::MAX,
    };

    /// The bounds before anybody has published any.
    pub const START: Self = Self { earliest: Time::ZERO, ..Self::NONE };

    pub fn join(self, other: Self) -> Self {
        Self {
            earliest: self.earliest.min(other.earliest),
            urgent: self.urgent.min(other.urgent),
            mail: self.mail.min(other.mail),
            answers: self.answers || other.answers,
            end: self.end.min(other.end),
        }
    }
}

/// The bounds that one worker has published last. Each has a cache line, and the one that is
/// fetched with it, to itself, so that a writer does not disturb the readers of another.
#[repr(align(128))]
struct PublishedBounds {
    /// The turn that these bounds are for, plus one; written last.
    turn: AtomicUsize,
    earliest: AtomicU64,
    urgent: AtomicU64,
    mail: AtomicU64,
    end: AtomicU64,
    answers: AtomicBool,
}

impl PublishedBounds {
    const fn new() -> Self {
        Self {
            turn: AtomicUsize::new(0),
            earliest: AtomicU64::new(0),
            urgent: AtomicU64::new(0),
            mail: AtomicU64::new(0),
            end: AtomicU64::new(0),
            answers: AtomicBool::new(false),
        }
    }

    fn publish(&self, turn: usize, bounds: Bounds) {
        self.earliest.store(bounds.earliest.ps(), Ordering::Relaxed);
        self.urgent.store(bounds.urgent.ps(), Ordering::Relaxed);
        self.mail.store(bounds.mail.ps(), Ordering::Relaxed);
        self.answers.store(bounds.answers, Ordering::Relaxed);
        self.end.store(bounds.end.ps(), Ordering::Relaxed);
        self.turn.store(turn + 1, Ordering::SeqCst);
    }

    fn has_published(&self, turn: usize) -> bool {
        self.turn.load(Ordering::SeqCst) == turn + 1
    }

    fn read(&self) -> Bounds {
        Bounds {
            earliest: Time::from_ps(self.earliest.load(Ordering::Relaxed)),
            urgent: Time::from_ps(self.urgent.load(Ordering::Relaxed)),
            mail: Time::from_ps(self.mail.load(Ordering::Relaxed)),
            answers: self.answers.load(Ordering::Relaxed),
            end: Time::from_ps(self.end.load(Ordering::Relaxed)),
        }
    }
}

/// From one worker to another.
#[repr(align(128))]
struct Lane<M> {
    parcels: Vec<Parcel<M>>,
    /// Chunks that the receiver gives back for those that it got: the sender need not make new
    /// ones.
    spare: Vec<Vec<Event<M>>>,
}

/// The number of sets of everything in an exchange, used in turn. With a lag of one, a worker that
/// publishes bounds for turn t has read those of all others for turn t - 2. Before they published
/// those, they had read everything of turn t - 4; later sets they may still be reading.
const SETS: usize = 4;

/// The place where workers publish their bounds and wait for those of others.
struct Meeting {
    published: [Vec<PublishedBounds>; SETS],
    bell: Bell,
}

impl Meeting {
    fn wait_for(&self, published: &PublishedBounds, turn: usize) {
        self.bell.wait(|| published.has_published(turn));
    }
}

/// A worker at work, known to its thread.
struct AtWork {
    meeting: Arc<Meeting>,
    me: usize,
    turn: Cell<usize>,
}

thread_local! {
    /// The worker that the thread is, if there are several.
    static AT_WORK: OnceCell<AtWork> = const { OnceCell::new() };
}

/// For a process that runs: returns when all that stand before it in the order of processes have
/// run in this window. If all who look at or change what processes have in common ask for it first,
/// they do so in one order, however many workers there are; with no order of the model's own
/// ([`crate::Model::order`]) or one that leaves these processes in the order of their numbers, it
/// is the order of one worker.
pub fn wait_for_those_before() {
    AT_WORK.with(|at_work| {
        let Some(AtWork { meeting, me, turn }) = at_work.get() else { return };
        // A worker that has published bounds for the next turn has run in this one.
        let next = turn.get() + 1;
        meeting.published[next % SETS]
            .iter()
            .take(*me)
            .for_each(|published| meeting.wait_for(published, next));
    });
}

/// The meeting point of all workers.
pub struct Exchange<M> {
    workers: usize,
    meeting: Arc<Meeting>,
    lanes: [Vec<Mutex<Lane<M>>>; SETS],
}

impl<M: Wire> Exchange<M> {
    pub fn new(workers: usize) -> Self {
        let published = || (0..workers).map(|_| PublishedBounds::new()).collect();
        let lane = || Lane { parcels: Vec::new(), spare: Vec::new() };
        let lanes = || (0..workers * workers).map(|_| Mutex::new(lane())).collect();
        Self {
            workers,
            meeting: Arc::new(Meeting {
                published: std::array::from_fn(|_| published()),
                bell: Bell::new(),
            }),
            lanes: std::array::from_fn(|_| lanes()),
        }
    }

    /// Leaves parcels for worker `to`, and takes what it has given back.
    pub fn post(
        &self,
        turn: usize,
        (me, to): (usize, usize),
        parcels: &mut Vec<Parcel<M>>,
        spare: &mut Vec<Vec<Event<M>>>,
    ) {
        if let Some(lane) = self.lanes[turn % SETS].get(me * self.workers + to) {
            let mut lane = lane.lock().unwrap_or_else(PoisonError::into_inner);
            lane.parcels.append(parcels);
            spare.append(&mut lane.spare);
        }
    }

    /// Publishes a worker's bounds and waits until every worker has published its own for the turn
    /// `lag` turns ago, 0 or 1. Returns the join of those, which is the same for all.
    pub fn agree(&self, turn: usize, lag: usize, me: usize, mine: Bounds) -> Bounds {
        if self.workers == 1 {
            return mine;
        }
        let Meeting { published, bell } = &*self.meeting;
        AT_WORK.with(|at_work| {
            let begin = || AtWork { meeting: self.meeting.clone(), me, turn: Cell::default() };
            at_work.get_or_init(begin).turn.set(turn);
        });
        published[turn % SETS][me].publish(turn, mine);
        bell.ring();
        let Some(turn) = turn.checked_sub(lag) else { return Bounds::START };
        published[turn % SETS].iter().fold(Bounds::NONE, |all, published| {
            self.meeting.wait_for(published, turn);
            all.join(published.read())
        })
    }

    /// Takes what the others left for this worker before they published their bounds for a turn:
    /// `each` gets a parcel and the worker's spare chunks.
    pub fn collect(
        &self,
        turn: usize,
        me: usize,
        spare: &mut Vec<Vec<Event<M>>>,
        mut each: impl FnMut(Parcel<M>, &mut Vec<Vec<Event<M>>>),
    ) {
        for from in 0..self.workers {
            let Some(lane) = self.lanes[turn % SETS].get(from * self.workers + me) else {
                continue;
            };
            let mut lane = lane.lock().unwrap_or_else(PoisonError::into_inner);
            let Lane { parcels, spare: back } = &mut *lane;
            let count = parcels.len();
            parcels.drain(..).for_each(|parcel| each(parcel, spare));
            back.extend(spare.drain(spare.len().saturating_sub(count)..));
        }
    }
}
