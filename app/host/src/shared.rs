//! A host with several ranks, which share its end of the network.
//!
//! CPUs and the clocks of g and G stay the ranks' own. The ranks are worked off together in order
//! of time, because one may reach another by a message that does not leave the host: everybody
//! works what is due at an instant, messages are handed over, and that repeats until the instant is
//! quiet. That is what the executor does with ranks on hosts of their own when there is no
//! lookahead.

use kernel::{Event, Next, Outbox, Probe};
use network::{Mail, Network};
use units::Time;

use crate::Record;
use crate::clocks::Clocks;
use crate::engine::{Crew, Engine, Turn};
use crate::message::Message;
use crate::port::{End, EndTurn, Ranks, work_with_port};
use crate::queues::Queues;
use crate::rank::Rank;
use crate::source::Source;

/// A host and its ranks, by slot.
pub struct Host<S: Source, N: Network> {
    pub end: End<N>,
    seats: Vec<Seat<S>>,
    started: bool,
}

/// A rank among others.
struct Seat<S: Source> {
    id: u32,
    rank: Rank<S::State>,
    queues: Option<Box<Queues>>,
    /// When something happens there next.
    next: Time,
}

impl<S: Source, N: Network> Host<S, N> {
    /// A host with these ranks.
    pub fn new(engine: &Engine<'_, S, N>, host: u32, ranks: &[u32]) -> Self {
        let seat = |&id: &u32| Seat {
            id,
            rank: Rank::new(
                engine.source.state(id),
                Clocks::new(engine.shape),
                engine.source.tags(),
            ),
            queues: None,
            next: Time::MAX,
        };
        let end = End::new(engine.network, host, true);
        Self { end, seats: ranks.iter().map(seat).collect(), started: false }
    }

    /// The ranks, with their numbers.
    pub fn ranks(&self) -> impl Iterator<Item = (u32, &Rank<S::State>)> {
        self.seats.iter().map(|seat| (seat.id, &seat.rank))
    }
}

/// A host at work in one window.
pub struct HostTurn<'t, S: Source, N: Network, B> {
    pub engine: &'t Engine<'t, S, N>,
    pub id: u32,
    pub host: &'t mut Host<S, N>,
    pub crew: &'t mut Crew<B>,
    pub out: &'t mut Outbox<Mail<Message, N::Signal>>,
}

impl<S: Source, N: Network, B: Probe<Record<N::Record>>> HostTurn<'_, S, N, B> {
    /// Handles everything that happens in a window.
    pub fn run(mut self, until: Time, inbox: &[Event<Mail<Message, N::Signal>>]) -> Next {
        if !self.host.started {
            self.host.started = true;
            for slot in 0..self.host.seats.len() {
                self.at(slot, |turn| {
                    turn.start();
                });
            }
        }
        let time = work_with_port(&mut self, until, inbox);
        Next { time, urgent: self.host.end.urgent() }
    }

    /// One rank does something.
    fn at(&mut self, slot: usize, act: impl FnOnce(&mut Turn<'_, S, N, B>)) {
        let Self { engine, host, crew, out, .. } = self;
        let Host { end, seats, .. } = &mut **host;
        let Some(seat) = seats.get_mut(slot) else { return };
        let (id, rank, queues) = (seat.id, &mut seat.rank, seat.queues.take());
        let mut turn = Turn { engine, id, rank, end, queues, crew, out };
        act(&mut turn);
        seat.queues = turn.queues;
        let next = seat.queues.as_mut().and_then(|queues| queues.next(&seat.rank.clocks));
        seat.next = next.map_or(Time::MAX, |(at, _)| at);
    }
}

impl<S: Source, N: Network, B: Probe<Record<N::Record>>> Ranks<S, N, B> for HostTurn<'_, S, N, B> {
    fn end(&mut self) -> EndTurn<'_, S, N, B> {
        let Self { engine, id, host, crew, out } = self;
        EndTurn { engine, host: *id, end: &mut host.end, crew, out }
    }

    fn work(&mut self, until: Time) -> Time {
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
                if self.host.end.holds() {
                    // Those behind it come behind what it does then.
                    self.land();
                    return at;
                }
            }
            self.land();
        }
    }

    fn land(&mut self) {
        let mut arrived = std::mem::take(&mut self.crew.arrived);
        for event in arrived.drain(..) {
            self.at(event.message.slot.into(), |turn| turn.arrive(&event));
        }
        self.crew.arrived = arrived;
        self.host.end.set_due(Time::ZERO);
    }
}
