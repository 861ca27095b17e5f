//! Messages waiting for a block of processes.
//!
//! Mail is kept in small chunks that circulate between the blocks: a chunk that one block has read
//! is written again by the next, so that memory follows the number of messages in flight and a
//! scattered pattern still writes and reads memory in order.

use std::sync::Arc;

use units::Time;

use crate::{Error, Event, Wire, shares::Shares};

/// Events per chunk.
const CHUNK: usize = 64;

/// The mail of one block.
pub struct Mail<M> {
    chunks: Vec<Vec<Event<M>>>,
    /// The time of the earliest event that is not passive.
    pub earliest: Time,
    /// The time of the earliest urgent event.
    pub urgent: Time,
}

impl<M: Wire> Mail<M> {
    pub const fn new() -> Self {
        Self { chunks: Vec::new(), earliest: Time::MAX, urgent: Time::MAX }
    }

    #[inline(always)]
    pub fn push(&mut self, event: Event<M>, spare: &mut Vec<Vec<Event<M>>>) {
        self.note(&event);
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(event),
            _ => self.push_chunk(event, spare),
        }
    }

    #[inline(always)]
    fn note(&mut self, event: &Event<M>) {
        if !event.message.passive() {
            self.earliest = self.earliest.min(event.time);
        }
        if event.message.urgent() {
            self.urgent = self.urgent.min(event.time);
        }
    }

    #[cold]
    fn push_chunk(&mut self, event: Event<M>, spare: &mut Vec<Vec<Event<M>>>) {
        let mut chunk = spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
        chunk.push(event);
        self.chunks.push(chunk);
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Moves everything to `other`, which keeps what it has.
    pub fn move_to(&mut self, other: &mut Self) {
        // The last chunk of either side may be partly filled; a reader copes with that, a writer
        // goes on with the last one.
        if other.chunks.is_empty() {
            std::mem::swap(&mut self.chunks, &mut other.chunks);
        } else {
            other.chunks.append(&mut self.chunks);
        }
        other.earliest = other.earliest.min(self.earliest);
        other.urgent = other.urgent.min(self.urgent);
        self.clear_times();
    }

    /// Takes all chunks out.
    pub fn chunks(&mut self) -> impl Iterator<Item = Vec<Event<M>>> {
        self.clear_times();
        self.chunks.drain(..)
    }

    /// Returns all chunks. Whoever changes them leaves the times and kinds of their events alone.
    pub fn chunks_mut(&mut self) -> impl Iterator<Item = &mut Vec<Event<M>>> {
        self.chunks.iter_mut()
    }

    /// Adds a chunk. Few events move in with those of the last one, and their chunk becomes spare.
    pub fn append(&mut self, mut chunk: Vec<Event<M>>, spare: &mut Vec<Vec<Event<M>>>) {
        for event in &chunk {
            self.note(event);
        }
        match self.chunks.last_mut() {
            Some(last) if last.len() + chunk.len() <= CHUNK => {
                last.append(&mut chunk);
                spare.push(chunk);
            }
            _ => self.chunks.push(chunk),
        }
    }

    fn clear_times(&mut self) {
        self.earliest = Time::MAX;
        self.urgent = Time::MAX;
    }

    /// Returns the events in the order of their arrival at this block.
    pub fn iter(&self) -> impl Iterator<Item = &Event<M>> {
        self.chunks.iter().flatten()
    }

    /// Returns the event at a slot: slots are numbered `CHUNK` per chunk.
    #[inline]
    pub fn get(&self, slot: u32) -> Option<&Event<M>> {
        self.chunks.get(slot as usize / CHUNK)?.get(slot as usize % CHUNK)
    }

    /// Calls `each` with the slot of every event.
    #[inline]
    pub fn slots(&self, mut each: impl FnMut(u32, &Event<M>)) {
        for (index, chunk) in self.chunks.iter().enumerate() {
            for (offset, event) in chunk.iter().enumerate() {
                each((index * CHUNK + offset) as u32, event);
            }
        }
    }

    /// Returns an upper bound of the slots in use.
    pub fn slot_count(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    /// Empties the mail; its chunks become spare.
    pub fn recycle(&mut self, spare: &mut Vec<Vec<Event<M>>>) {
        for mut chunk in self.chunks.drain(..) {
            chunk.clear();
            spare.push(chunk);
        }
        self.clear_times();
    }
}

/// The messages that the processes of a worker send in a window, sorted by destination.
pub struct Outbox<M> {
    /// The mail by destination block.
    pub(crate) mail: Vec<Mail<M>>,
    /// The blocks for which there is mail.
    pub(crate) addressed: Vec<u32>,
    pub(crate) spare: Vec<Vec<Event<M>>>,
    pub(crate) shares: Arc<Shares>,
    /// Start of the current window.
    start: Time,
    /// The earliest time at which a message may take effect.
    earliest: Time,
    /// The first error, if there are several the least of them.
    pub(crate) error: Option<Error>,
}

impl<M: Wire> Outbox<M> {
    pub(crate) fn new(shares: Arc<Shares>) -> Self {
        let mail = (0..shares.blocks()).map(|_| Mail::new()).collect();
        Self {
            mail,
            addressed: Vec::new(),
            spare: Vec::new(),
            shares,
            start: Time::ZERO,
            earliest: Time::ZERO,
            error: None,
        }
    }

    /// Begins a window, or a part of it in which messages take effect at `earliest` or later.
    pub(crate) fn open(&mut self, start: Time, earliest: Time) {
        (self.start, self.earliest) = (start, earliest);
    }

    /// Sends a message. It must take effect at the end of the current window or later, or at the
    /// current instant if the sender has said that it is urgent or reacts to an urgent message. An
    /// earlier time ends the run with [`Error::Causality`], [`Time::MAX`] with
    /// [`Error::Overflow`].
    #[inline(always)]
    pub fn send(&mut self, event: Event<M>) {
        // One comparison for both ends: what is too early wraps round to a large difference.
        let (time, earliest) = (event.time.ps(), self.earliest.ps());
        if time.wrapping_sub(earliest) >= u64::MAX - earliest {
            return self.refuse(&event);
        }
        let block = self.shares.block_of(event.destination);
        if let Some(mail) = self.mail.get_mut(block as usize) {
            if mail.is_empty() {
                self.addressed.push(block);
            }
            mail.push(event, &mut self.spare);
        }
    }

    /// Ends the run because some clock of a process has left the range of simulated time.
    #[cold]
    pub fn overflow(&mut self) {
        self.fail(Error::Overflow { at: self.start });
    }

    /// Ends the run because `sender` gives up sending to another process at a time of the current
    /// window. Of several, the earliest is reported, whatever the number of workers.
    #[cold]
    pub fn give_up(&mut self, at: Time, sender: u32, receiver: u32) {
        self.fail(Error::Unreachable { at, sender, receiver });
    }

    #[cold]
    fn refuse(&mut self, event: &Event<M>) {
        if event.time == Time::MAX {
            return self.overflow();
        }
        let (sender, time, earliest) = (event.source, event.time, self.earliest);
        self.fail(Error::Causality { sender, time, earliest });
    }

    /// Ends the run after the current window.
    pub(crate) fn fail(&mut self, error: Error) {
        self.error = Some(self.error.map_or(error, |other| other.min(error)));
    }
}
