//! Threads that pass mail as bytes, as workers on several machines would.

use units::Time;

use super::lanes::Lanes;
use super::meeting::Meeting;
use super::{Bounds, Parcel, Route, Spare, Transport};
use crate::{Event, Wire};

/// Encodes every message, also those of a worker to itself, and decodes it at the receiver.
pub struct Bytes {
    meeting: Meeting,
    lanes: Lanes<Vec<u8>, Vec<u8>>,
}

impl Bytes {
    /// Returns the transport of so many threads.
    pub fn new(workers: usize) -> Self {
        Self { meeting: Meeting::new(workers), lanes: Lanes::new(workers) }
    }
}

impl<M: Wire> Transport<M> for Bytes {
    fn workers(&self) -> usize {
        self.meeting.workers()
    }

    fn post(&self, turn: usize, route: Route, parcels: &mut Vec<Parcel<M>>, spare: &mut Spare<M>) {
        let mut bytes = Vec::new();
        for mut parcel in parcels.drain(..) {
            parcel.encode(&mut bytes);
            parcel.events.clear();
            spare.push(parcel.events);
        }
        self.lanes.post(turn, route, &mut vec![bytes], &mut Vec::new());
    }

    fn agree(&self, turn: usize, lag: usize, me: usize, mine: Bounds) -> Bounds {
        self.meeting.agree(turn, lag, me, mine)
    }

    fn collect(
        &self,
        turn: usize,
        me: usize,
        spare: &mut Spare<M>,
        each: &mut dyn FnMut(Parcel<M>, &mut Spare<M>),
    ) {
        for from in (0..self.meeting.workers()).filter(|from| *from != me) {
            let route = Route { from, to: me };
            self.lanes.collect(turn, route, &mut Vec::new(), |bytes, _| {
                let mut rest = bytes.as_slice();
                while let Some(parcel) = Parcel::decode(&mut rest, spare) {
                    each(parcel, spare);
                }
                debug_assert!(rest.is_empty(), "a parcel that does not decode");
            });
        }
    }

    fn in_order(&self, turn: usize, me: usize) {
        self.meeting.in_order(turn, me);
    }

    fn loop_back(&self, chunk: &mut Vec<Event<M>>) {
        let mut bytes = Vec::new();
        chunk.drain(..).for_each(|event| event.encode(&mut bytes));
        let mut rest = bytes.as_slice();
        chunk.extend(std::iter::from_fn(|| Event::decode(&mut rest)));
        debug_assert!(rest.is_empty(), "an event that does not decode");
    }

    fn abandon(&self) {
        self.meeting.abandon();
    }
}

impl<M: Wire> Parcel<M> {
    /// Appends the parcel to `bytes`: its block, the number of its events, and the events.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.block.to_le_bytes());
        bytes.extend_from_slice(&(self.events.len() as u32).to_le_bytes());
        self.events.iter().for_each(|event| event.encode(bytes));
    }

    /// Reads a parcel from the front of `bytes` and advances it; its chunk comes from `spare` if
    /// there is one. Returns `None` if the bytes do not begin with a parcel.
    pub fn decode(bytes: &mut &[u8], spare: &mut Spare<M>) -> Option<Self> {
        let (block, rest) = bytes.split_first_chunk()?;
        let (count, mut rest) = rest.split_first_chunk()?;
        let (block, count) = (u32::from_le_bytes(*block), u32::from_le_bytes(*count));
        let mut events = spare.pop().unwrap_or_default();
        for _ in 0..count {
            events.push(Event::decode(&mut rest)?);
        }
        *bytes = rest;
        Some(Self { block, events })
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
