//! One direction of a rail: a FIFO queue, a wire and a delay, in times that the caller passes.

use std::collections::VecDeque;

use units::{Bandwidth, Time};

/// The bytes of Ethernet around a frame as a TAP device has it, without check sequence: preamble
/// and delimiter 8, check sequence 4, gap 12 (IEEE 802.3).
pub const FRAMING: u64 = 24;

/// The least bytes of a frame without its check sequence; shorter ones are filled up on the wire
/// (IEEE 802.3).
pub const MINIMUM: u64 = 60;

/// The fate of a frame that is offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It waits, and arrives at this time unless the link changes.
    Arrives(Time),
    /// It did not fit into the queue.
    Dropped,
    /// The link is down.
    Lost,
}

/// A frame that has not arrived.
#[derive(Debug)]
struct Frame<F> {
    content: F,
    /// Its length without [`FRAMING`], in bytes.
    length: u64,
    /// The time when its last bit leaves the queue.
    leaves: Time,
}

/// A link that carries frames with contents `F`.
///
/// A frame stays in the queue until its last bit has left it, so that the frame on the wire counts.
/// The queue's capacity is in bytes of frames without [`FRAMING`].
#[derive(Debug)]
pub struct Link<F> {
    rate: Bandwidth,
    delay: Time,
    capacity: u64,
    is_up: bool,
    /// Frames in the order of their arrival; the first [`Self::left`] have left the queue.
    frames: VecDeque<Frame<F>>,
    left: usize,
    /// Bytes of the frames that have not left the queue.
    queued: u64,
    /// The time when the last frame leaves the queue.
    free: Time,
}

impl<F> Link<F> {
    /// Returns an idle link with a queue of `capacity` bytes.
    pub fn new(rate: Bandwidth, delay: Time, capacity: u64) -> Self {
        Self {
            rate,
            delay,
            capacity,
            is_up: true,
            frames: VecDeque::new(),
            left: 0,
            queued: 0,
            free: Time::ZERO,
        }
    }

    /// Offers a frame of `length` bytes at the time `now`, which is no earlier than in the call
    /// before. The caller keeps `content` of a frame that is not taken.
    pub fn offer(&mut self, now: Time, length: u64, content: F) -> (Offer, Option<F>) {
        if !self.is_up {
            return (Offer::Lost, Some(content));
        }
        self.let_go(now);
        if self.queued + length > self.capacity {
            return (Offer::Dropped, Some(content));
        }
        let leaves = self.free.max(now).saturating_add(wire_time(self.rate, length));
        self.queued += length;
        self.free = leaves;
        self.frames.push_back(Frame { content, length, leaves });
        (Offer::Arrives(leaves.saturating_add(self.delay)), None)
    }

    /// Returns when the next frame arrives.
    pub fn next_arrival(&self) -> Option<Time> {
        self.frames.front().map(|frame| frame.leaves.saturating_add(self.delay))
    }

    /// Returns when the last of the frames arrives that are under way.
    pub fn last_arrival(&self) -> Option<Time> {
        self.frames.back().map(|frame| frame.leaves.saturating_add(self.delay))
    }

    /// Takes the next frame if it has arrived at `now`, with the time at which it did.
    pub fn take(&mut self, now: Time) -> Option<(Time, F)> {
        let due = self.next_arrival().filter(|&due| due <= now)?;
        self.let_go(now);
        self.left -= 1;
        self.frames.pop_front().map(|frame| (due, frame.content))
    }

    /// Changes the rate. The rest of the frame on the wire takes the new rate, too.
    pub fn set_rate(&mut self, now: Time, rate: Bandwidth) {
        self.let_go(now);
        let mut free = now;
        for (place, frame) in self.frames.range_mut(self.left..).enumerate() {
            // The first is on the wire: a frame begins when it comes or when the one before ends.
            let time = if place == 0 {
                scaled(frame.leaves.saturating_sub(now), self.rate, rate)
            } else {
                wire_time(rate, frame.length)
            };
            free = free.saturating_add(time);
            frame.leaves = free;
        }
        self.free = free;
        self.rate = rate;
    }

    /// Takes the link down, which loses all that has not left the queue, and returns how many
    /// frames that were. What has left arrives.
    pub fn take_down(&mut self, now: Time) -> usize {
        self.let_go(now);
        let lost = self.frames.len() - self.left;
        self.frames.truncate(self.left);
        self.queued = 0;
        self.free = now;
        self.is_up = false;
        lost
    }

    /// Brings the link up again.
    pub fn bring_up(&mut self) {
        self.is_up = true;
    }

    /// Takes the bytes of frames that have left the queue out of it.
    fn let_go(&mut self, now: Time) {
        while let Some(frame) = self.frames.get(self.left).filter(|frame| frame.leaves <= now) {
            self.queued -= frame.length;
            self.left += 1;
        }
    }
}

/// Returns how long a frame of `length` bytes takes the wire.
fn wire_time(rate: Bandwidth, length: u64) -> Time {
    rate.time_per_byte().map_or(Time::MAX, |time| time.cost(length.max(MINIMUM) + FRAMING))
}

/// Returns how long at the rate `new` it takes to send what takes `time` at the rate `old`.
fn scaled(time: Time, old: Bandwidth, new: Bandwidth) -> Time {
    let bits = u128::from(time.ps()) * u128::from(old.bits_per_second());
    let time = bits.checked_div(u128::from(new.bits_per_second()));
    time.and_then(|ps| u64::try_from(ps).ok()).map_or(Time::MAX, Time::from_ps)
}
