//! A host with several ranks, which share its network adapter.
//!
//! CPUs and the clocks of g and G stay the ranks' own. The ranks are worked off together in order
//! of time, because one may reach another by a message that does not leave the host: everybody
//! works what is due at an instant, messages are handed over, and that repeats until the instant is
//! quiet. That is what the executor does with ranks on hosts of their own when there is no
//! lookahead.

use kernel::{Event, Outbox, Probe};
use network::{Mail, Network, Nic};
use units::Time;

use crate::Record;
use crate::engine::{Engine, RankStep, WorkerState};
use crate::message::Message;
use crate::nic::Common;
use crate::queues::Queues;
use crate::rank::Rank;
use crate::source::Source;

/// A host and its ranks, by slot.
pub struct Host<S: Source> {
    pub common: Common,
    seats: Vec<Seat<S>>,
    started: bool,
}

/// A rank among others.
struct Seat<S: Source> {
    id: u32,
    rank: Rank<S::State>,
    queues: Option<Box<Queues>>,
    /// The time at which something happens there next.
    next: Time,
}

impl<S: Source> Host<S> {
    /// A host with these ranks.
    pub fn new<N: Network>(engine: &Engine<'_, S, N>, ranks: &[u32]) -> Self {
        let seat =
            |&id: &u32| Seat { id, rank: engine.new_rank(id), queues: None, next: Time::MAX };
        let common = Common { several: true, ..Common::default() };
        Self { common, seats: ranks.iter().map(seat).collect(), started: false }
    }

    /// Returns the message that releases the send of a rank's message that has left; see
    /// [`Rank::left`].
    pub fn left(&self, (slot, sequence): (u8, u32), at: Time) -> Option<Event<Message>> {
        let seat = self.seats.get(usize::from(slot))?;
        seat.rank.left(seat.id, (slot, sequence), at)
    }

    /// The ranks, with their numbers.
    pub fn ranks(&self) -> impl Iterator<Item = (u32, &Rank<S::State>)> {
        self.seats.iter().map(|seat| (seat.id, &seat.rank))
    }
}

/// A host whose ranks do something.
pub struct HostStep<'t, S: Source, N: Network, B> {
    pub engine: &'t Engine<'t, S, N>,
    pub host: &'t mut Host<S>,
    pub worker: &'t mut WorkerState<B>,
    pub nic: &'t mut Nic<N, Message>,
    pub out: &'t mut Outbox<Mail<Message, N::Signal>>,
}

impl<S: Source, N: Network, B: Probe<Record<N::Detail>>> HostStep<'_, S, N, B> {
    /// Handles everything before `until`, or before a rank has to wait for its turn; returns when
    /// the next thing happens.
    pub fn work(&mut self, until: Time) -> Time {
        if !self.host.started {
            self.host.started = true;
            for slot in 0..self.host.seats.len() {
                self.at(slot, |turn| {
                    turn.start();
                });
            }
        }
        loop {
            let at = self.host.seats.iter().map(|seat| seat.next).min().unwrap_or(Time::MAX);
            if at >= until {
                return at;
            }
            let after = at.saturating_add(Time::from_ps(1));
            for slot in 0..self.host.seats.len() {
                if self.host.seats.get(slot).is_some_and(|seat| seat.next == at) {
                    self.at(slot, |turn| {
                        turn.work(after);
                    });
                }
                if self.host.common.held {
                    // Those behind it come behind what it does then.
                    self.land();
                    return at;
                }
            }
            self.land();
        }
    }

    /// A message reaches a rank.
    pub fn arrives(&mut self, event: &Event<Message>) {
        self.at(event.message.slot.into(), |turn| turn.arrive(event));
    }

    /// Lets one rank do something.
    fn at(&mut self, slot: usize, act: impl FnOnce(&mut RankStep<'_, S, N, B>)) {
        let Self { engine, host, worker, nic, out } = self;
        let Host { common, seats, .. } = &mut **host;
        let Some(seat) = seats.get_mut(slot) else { return };
        let (id, rank, queues) = (seat.id, &mut seat.rank, seat.queues.take());
        let mut turn =
            RankStep { engine, id, rank, nic, common: Some(common), queues, worker, out };
        act(&mut turn);
        seat.queues = turn.queues;
        let next = seat.queues.as_mut().and_then(|queues| queues.next(&seat.rank.clocks));
        seat.next = next.map_or(Time::MAX, |(at, _)| at);
    }

    /// Hands over what ranks have sent each other.
    fn land(&mut self) {
        let mut arrived = std::mem::take(&mut self.worker.arrived);
        for event in arrived.drain(..) {
            self.arrives(&event);
        }
        self.worker.arrived = arrived;
    }
}
