//! Threads of one process, which pass mail by reference.

use super::lanes::Lanes;
use super::meeting::Meeting;
use super::{Bounds, Parcel, Route, Spare, Transport};
use crate::{Event, Wire};

/// Passes chunks of mail from thread to thread without copying them.
pub struct Threads<M> {
    meeting: Meeting,
    lanes: Lanes<Parcel<M>, Vec<Event<M>>>,
}

impl<M> Threads<M> {
    /// Returns the transport of so many threads.
    pub fn new(workers: usize) -> Self {
        Self { meeting: Meeting::new(workers), lanes: Lanes::new(workers) }
    }
}

impl<M: Wire> Transport<M> for Threads<M> {
    fn workers(&self) -> usize {
        self.meeting.workers()
    }

    fn post(&self, turn: usize, route: Route, parcels: &mut Vec<Parcel<M>>, spare: &mut Spare<M>) {
        self.lanes.post(turn, route, parcels, spare);
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
        for from in (0..self.workers()).filter(|from| *from != me) {
            self.lanes.collect(turn, Route { from, to: me }, spare, &mut *each);
        }
    }

    fn in_order(&self, turn: usize, me: usize) {
        self.meeting.in_order(turn, me);
    }

    fn abandon(&self) {
        self.meeting.abandon();
    }
}
