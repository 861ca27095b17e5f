//! The bus to memory, which takes flits out of a host's input buffer and now and then pauses.
//!
//! A bus without pauses takes one flit per pace. One with pauses ("PCI Express hiccups", the seed's
//! section 3.2.6) is *polled*. A flit that arrives while no poll is due sets one, a pace later. A
//! poll takes the first flit that waits and sets the next one, a pace later. A poll that finds
//! nothing, or falls into a pause, is lost. When a pause ends and no poll is due, there is one
//! `resume` later. What arrives at an instant comes after a poll, and before the end of a pause.
//!
//! So when a pause swallows a poll, what arrives in the rest of that pause decides when the next
//! one is. Polls are settled as soon as that is known: with a packet for all its flits, and from
//! one swallowed poll to the next for those that wait when nothing more arrives.

use std::collections::VecDeque;

use kernel::Random;
use units::HostId;

use crate::{parameters::FLIT, signal::Packet, train::Shape};

/// The distribution of the lengths of pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// All alike.
    Fixed,
    /// Uniform between zero and twice the mean.
    Uniform,
    /// Exponential, cut just below the period.
    Exponential,
}

/// Pauses of a bus: number k begins at `phase + k * period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hiccups {
    /// Picoseconds from the start of a pause to that of the next; 0 for none.
    pub period: u64,
    /// Mean length in picoseconds.
    pub pause: u64,
    /// Start of the first pause, in picoseconds.
    pub phase: u64,
    /// From the end of a pause to the poll that follows it, in picoseconds.
    pub resume: u64,
    /// The distribution of their lengths.
    pub spread: Spread,
}

impl Hiccups {
    /// No pauses.
    pub const NONE: Self = Self { period: 0, pause: 0, phase: 0, resume: 0, spread: Spread::Fixed };

    /// Returns true if flits that wait are taken in the end: the poll that follows a pause must not
    /// always be lost.
    pub(crate) const fn leave_time(&self) -> bool {
        let Self { period, pause, resume, .. } = *self;
        if period == 0 {
            return true;
        }
        let poll = pause.saturating_add(resume) % period;
        pause < period && (!matches!(self.spread, Spread::Fixed) || poll == 0 || poll >= pause)
    }

    /// Length of pause `k` at `host`.
    fn length(&self, random: Random, host: HostId, k: u64) -> u64 {
        let mean = self.pause as f64;
        #[allow(clippy::cast_sign_loss, reason = "no factor is negative")]
        let length = match self.spread {
            Spread::Fixed => self.pause,
            Spread::Uniform => (mean * 2.0 * random.unit(host.0, k)) as u64,
            Spread::Exponential => (-mean * random.unit(host.0, k).ln()) as u64,
        };
        length.min(self.period.saturating_sub(1))
    }
}

/// A piece of a train of consumed flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub start: u64,
    pub shape: Shape,
    pub flits: u8,
}

const NEVER: u64 = u64::MAX;

/// A packet of which flits wait or are still to arrive.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Packet,
    at: u64,
    taken: u32,
}

impl Held {
    fn arrival(&self, flit: u32) -> u64 {
        self.at + self.packet.shape.offset(flit)
    }

    /// The first of its flits that arrives at `time` or later.
    fn from(&self, time: u64) -> Option<u32> {
        let flits = self.packet.flits.into();
        let before = time.checked_sub(self.at + 1);
        let passed = before.map_or(0, |past| self.packet.shape.passed(flits, past));
        (passed < flits).then_some(passed)
    }
}

/// The bus of one port.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    /// Picoseconds per flit.
    pace: u32,
    hiccups: Hiccups,
    random: Random,
    host: HostId,
    /// The time at which the last flit that has arrived so far is gone, on a bus without pauses.
    free: u64,
    held: VecDeque<Held>,
    /// The time at which the next poll is due.
    poll: Option<u64>,
    /// The time at which the last one was lost, and the end of the pause if it fell into one.
    lost: (u64, u64),
    /// Up to when all arrivals are known.
    known: u64,
    /// The time at which to go on if nothing arrives before.
    pub wake: u64,
}

impl Sink {
    pub fn new(pace: u32, hiccups: Hiccups, random: Random, host: HostId) -> Self {
        let held = VecDeque::new();
        let (poll, lost) = (None, (0, 0));
        Self { pace, hiccups, random, host, free: 0, held, poll, lost, known: 0, wake: NEVER }
    }

    /// Returns true if flits wait.
    pub fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// The time that one flit of a packet takes: a short last one takes its part of a pace.
    fn service(&self, packet: &Packet, flit: u32) -> u64 {
        let pace = u64::from(self.pace);
        if flit + 1 < packet.flits.into() {
            return pace;
        }
        (pace * u64::from(packet.last) + u64::from(FLIT) / 2) / u64::from(FLIT)
    }

    /// A packet's flits arrive from `at` on. `gone` is told of packets' flits when it is known when
    /// they are taken, in pieces, and whether the last is among them.
    pub fn take(&mut self, at: u64, packet: &Packet, mut gone: impl FnMut(&Packet, Piece, bool)) {
        let flits = u32::from(packet.flits);
        if self.hiccups.period > 0 {
            self.held.push_back(Held { packet: *packet, at, taken: 0 });
            // The next packet begins after the last flit of this one.
            self.known = at + packet.shape.offset(flits - 1);
            self.settle(gone);
            return;
        }
        // A message of one short flit takes its part of a pace (seed, section 5.4).
        let service = if flits == 1 { self.service(packet, 0) } else { self.pace.into() };
        let start = self.free.max(at) + service;
        let shape = packet.shape.behind(flits, self.pace, start - at - service);
        self.free = start + shape.offset(flits - 1);
        gone(packet, Piece { start, shape, flits: packet.flits }, true);
    }

    /// Nothing else has arrived up to `now`.
    pub fn go_on(&mut self, now: u64, gone: impl FnMut(&Packet, Piece, bool)) {
        self.known = self.known.max(now);
        self.settle(gone);
    }

    /// All polls that are known by now.
    fn settle(&mut self, mut gone: impl FnMut(&Packet, Piece, bool)) {
        self.wake = NEVER;
        let mut piece: Option<Piece> = None;
        while let Some(&head) = self.held.front() {
            let there = head.arrival(head.taken);
            let Some(poll) = self.poll else {
                let (at, end) = self.lost;
                if there >= at {
                    self.poll = Some(self.first(there, self.service(&head.packet, head.taken)));
                    continue;
                }
                self.poll = match self.next_from(at) {
                    Some((arrival, service)) if arrival <= end => Some(arrival + service),
                    _ if end <= self.known => Some(end + self.hiccups.resume),
                    _ => {
                        self.wake = end;
                        break;
                    }
                };
                continue;
            };
            let swallowed = if there >= poll { Some(0) } else { self.pause_over(poll) };
            if let Some(end) = swallowed {
                (self.poll, self.lost) = (None, (poll, end));
                continue;
            }
            let packet = &head.packet;
            self.poll = Some(poll + self.service(packet, head.taken));
            let whole = head.taken + 1 == packet.flits.into();
            if !piece.as_mut().is_some_and(|piece| piece.add(poll)) {
                let next = Piece { start: poll, shape: Shape::even(0), flits: 1 };
                if let Some(piece) = piece.replace(next) {
                    gone(packet, piece, false);
                }
            }
            if whole {
                if let Some(piece) = piece.take() {
                    gone(packet, piece, true);
                }
                self.held.pop_front();
            } else if let Some(head) = self.held.front_mut() {
                head.taken += 1;
            }
        }
        if let (Some(piece), Some(head)) = (piece, self.held.front()) {
            gone(&head.packet, piece, false);
        }
    }

    /// The first poll after an idle time, for a flit that arrives at `at`.
    fn first(&self, at: u64, service: u64) -> u64 {
        let Hiccups { period, phase, resume, .. } = self.hiccups;
        let Some(past) = at.checked_sub(phase) else { return at + service };
        let k = past / period;
        for k in k.saturating_sub(1)..=k {
            let end = phase + k * period + self.hiccups.length(self.random, self.host, k);
            // The poll at the end of a pause, unless the one that was lost last was due then.
            if end < at && at < end + resume && self.lost.0 < end {
                return end + resume;
            }
        }
        at + service
    }

    /// Returns the end of the pause that swallows a poll; one at its very beginning comes before
    /// it.
    fn pause_over(&self, poll: u64) -> Option<u64> {
        let Hiccups { period, phase, .. } = self.hiccups;
        let k = poll.checked_sub(phase)? / period;
        let begin = phase + k * period;
        let end = begin + self.hiccups.length(self.random, self.host, k);
        (begin < poll && poll < end).then_some(end)
    }

    /// The first flit that is known to arrive at `time` or later: when, and what it takes.
    fn next_from(&self, time: u64) -> Option<(u64, u64)> {
        let mut found = None;
        for held in self.held.iter().rev() {
            let Some(flit) = held.from(time) else { break };
            found = Some((held.arrival(flit), self.service(&held.packet, flit)));
        }
        found
    }
}

impl Piece {
    /// Adds a flit that is taken at `at`, if it goes on at the piece's pace, which the second one
    /// sets.
    fn add(&mut self, at: u64) -> bool {
        let gap = at - self.start - self.shape.offset(u32::from(self.flits) - 1);
        if self.flits == 1 {
            self.shape = Shape::even(gap as u32);
        }
        let fits = u64::from(self.shape.gap) == gap;
        self.flits += u8::from(fits);
        fits
    }
}
