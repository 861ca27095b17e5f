//! How mail travels between workers, and how they agree on the next window.
//!
//! Everything a worker learns of the others passes through here, in one collective step per window.
//! Workers on other machines would need the same three things: messages, two minima, a flag.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use units::Time;

use crate::barrier::Barrier;
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

/// Mail for one block, as it travels.
pub enum Parcel<M> {
    Mail(u32, Mail<M>),
    Bytes(u32, Vec<u8>),
}

impl<M: Wire> Parcel<M> {
    pub fn pack(block: u32, mail: &mut Mail<M>, transport: Transport) -> Self {
        match transport {
            Transport::Shared => {
                let mut parcel = Mail::new();
                mail.move_to(&mut parcel);
                Self::Mail(block, parcel)
            }
            Transport::Serialised => {
                let mut bytes = Vec::new();
                for event in mail.iter() {
                    event.encode(&mut bytes);
                }
                Self::Bytes(block, bytes)
            }
        }
    }

    pub const fn block(&self) -> u32 {
        match self {
            Self::Mail(block, _) | Self::Bytes(block, _) => *block,
        }
    }

    pub fn unpack(self, into: &mut Mail<M>, spare: &mut Vec<Vec<Event<M>>>) {
        match self {
            Self::Mail(_, mut mail) => mail.move_to(into),
            Self::Bytes(_, bytes) => {
                let mut rest = bytes.as_slice();
                while let Some(event) = Event::decode(&mut rest) {
                    into.push(event, spare);
                }
                debug_assert!(rest.is_empty(), "an event that does not decode");
            }
        }
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

/// What a worker tells the others before a window.
#[derive(Clone, Copy)]
pub struct Notice {
    /// Its earliest event, mail under way included.
    pub earliest: Time,
    /// The earliest time at which it may cause a message without delay.
    pub urgent: Time,
    /// Its earliest mail, under way or not.
    pub mail: Time,
    /// Whether one of its processes may answer mail without delay.
    pub answers: bool,
    /// Whether the run must end.
    pub stop: bool,
}

impl Notice {
    pub const NONE: Self = Self {
        earliest: Time::MAX,
        urgent: Time::MAX,
        mail: Time::MAX,
        answers: false,
        stop: false,
    };

    pub fn join(self, other: Self) -> Self {
        Self {
            earliest: self.earliest.min(other.earliest),
            urgent: self.urgent.min(other.urgent),
            mail: self.mail.min(other.mail),
            answers: self.answers || other.answers,
            stop: self.stop || other.stop,
        }
    }
}

struct Board {
    earliest: AtomicU64,
    urgent: AtomicU64,
    mail: AtomicU64,
    answers: AtomicBool,
    stop: AtomicBool,
}

/// The meeting point of all workers. Two sets of everything, used in turn, make one barrier per
/// window enough.
pub struct Exchange<M> {
    workers: usize,
    boards: [Vec<Board>; 2],
    parcels: [Vec<Mutex<Vec<Parcel<M>>>>; 2],
    barrier: Barrier,
}

impl<M: Wire> Exchange<M> {
    pub fn new(workers: usize) -> Self {
        let board = || Board {
            earliest: AtomicU64::new(0),
            urgent: AtomicU64::new(0),
            mail: AtomicU64::new(0),
            answers: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        };
        let boards = || (0..workers).map(|_| board()).collect();
        let parcels = || (0..workers * workers).map(|_| Mutex::new(Vec::new())).collect();
        Self {
            workers,
            boards: [boards(), boards()],
            parcels: [parcels(), parcels()],
            barrier: Barrier::new(workers),
        }
    }

    /// Leaves parcels for worker `to`.
    pub fn post(&self, turn: usize, me: usize, to: usize, mut parcels: Vec<Parcel<M>>) {
        if let Some(slot) = self.parcels[turn % 2].get(me * self.workers + to) {
            slot.lock().unwrap_or_else(PoisonError::into_inner).append(&mut parcels);
        }
    }

    /// Waits until every worker has given its notice; all get the same answer.
    pub fn agree(&self, turn: usize, me: usize, mine: Notice) -> Notice {
        if self.workers == 1 {
            return mine;
        }
        let boards = &self.boards[turn % 2];
        if let Some(board) = boards.get(me) {
            board.earliest.store(mine.earliest.ps(), Ordering::Relaxed);
            board.urgent.store(mine.urgent.ps(), Ordering::Relaxed);
            board.mail.store(mine.mail.ps(), Ordering::Relaxed);
            board.answers.store(mine.answers, Ordering::Relaxed);
            board.stop.store(mine.stop, Ordering::Relaxed);
        }
        self.barrier.wait();
        boards.iter().fold(Notice::NONE, |all, board| {
            all.join(Notice {
                earliest: Time::from_ps(board.earliest.load(Ordering::Relaxed)),
                urgent: Time::from_ps(board.urgent.load(Ordering::Relaxed)),
                mail: Time::from_ps(board.mail.load(Ordering::Relaxed)),
                answers: board.answers.load(Ordering::Relaxed),
                stop: board.stop.load(Ordering::Relaxed),
            })
        })
    }

    /// Takes what the others have left for this worker before the last agreement.
    pub fn collect(&self, turn: usize, me: usize, mut each: impl FnMut(Parcel<M>)) {
        for from in 0..self.workers {
            if let Some(slot) = self.parcels[turn % 2].get(from * self.workers + me) {
                let parcels =
                    std::mem::take(&mut *slot.lock().unwrap_or_else(PoisonError::into_inner));
                parcels.into_iter().for_each(&mut each);
            }
        }
    }
}
