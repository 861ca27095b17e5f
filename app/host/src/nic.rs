//! The use that ranks make of the network adapter of their host, where the network is not direct.
//!
//! The network carries bytes. What a message is about is announced to the receiver when the message
//! is posted, and the harness brings the two together. Ranks know each other by their own numbers,
//! the network knows hosts, and the number of a message there holds the slot of its sender among
//! the ranks of the host.

use std::collections::VecDeque;

use kernel::{Event, Probe, Wire};
use network::{Delivery, Mail, Network, Site, Transfer, insert_by_time};
use units::{HostId, MessageId, Time};

use crate::Record;
use crate::endpoint::Watched;
use crate::engine::{Engine, RankStep};
use crate::message::Message;
use crate::places::Location;
use crate::rails::{self, HostRails, Ways};
use crate::rank::{Rank, Waiting};
use crate::source::Source;

/// The state that the ranks of a host have in common.
#[derive(Default)]
pub struct Common {
    /// Messages by abstract rendezvous from other hosts that have not met their receive, and ranks
    /// that wait for their turn ([`Source::is_exclusive`]).
    pub urgent: u32,
    /// True if a rank has to wait for its turn, and all that comes behind it.
    pub held: bool,
    /// True if there are several ranks.
    pub several: bool,
    /// Messages that are to reach the only rank, in order of time.
    pub arrivals: VecDeque<Event<Message>>,
    /// The choice among the host's rails, once it has sent something over them.
    pub rails: Option<Box<HostRails>>,
}

impl Common {
    /// Notes that a message has left, where hosts notice what rails take.
    pub fn left(&mut self, id: (u8, u32), at: Time) {
        if let Some(rails) = &mut self.rails {
            rails.left(id, at);
        }
    }

    /// Notes that a rank waits for its turn, or has it.
    pub fn turn(&mut self, waits: bool) {
        if waits {
            (self.urgent, self.held) = (self.urgent + 1, true);
        } else {
            self.urgent = self.urgent.saturating_sub(1);
        }
    }
}

/// The only rank of its host.
pub struct Alone<S: Source> {
    pub id: u32,
    pub rank: Rank<S::State>,
    pub common: Common,
}

/// The number by which the network knows a message of the rank in a slot of its host.
pub fn number(slot: u8, sequence: u32) -> MessageId {
    MessageId(u64::from(slot) << 32 | u64::from(sequence))
}

/// The slot of a rank, and the number of its message, of a number that the network knows.
pub fn of_number(id: MessageId) -> (u8, u32) {
    ((id.0 >> 32) as u8, id.0 as u32)
}

/// The message that the network delivers to a host, as it reaches the rank; `None` if nothing was
/// announced about it.
pub fn arrival<S: Source, N: Network>(
    engine: &Engine<'_, S, N>,
    host: HostId,
    delivery: Delivery<Message>,
) -> Option<Event<Message>> {
    let Delivery { at: time, source, id, announced } = delivery;
    let (entry, message) = announced?;
    let rail = if engine.rails().is_some() { rails::first(message.nic) } else { 0 };
    let transfer = Transfer { rail, ..Transfer::new(source, host, message.bytes()) };
    let idle = engine.network.uncontended(transfer);
    let path = message.path;
    let path = path.transit(time.saturating_sub(entry), &idle);
    let (slot, sequence) = of_number(id);
    let source = engine.rank(source.0, slot);
    let message = Message { path, ..message };
    Some(Event { time, source, sequence, destination: host.0, message })
}

impl<S: Source, N: Network, B: Probe<Record<N::Detail>>> RankStep<'_, S, N, B> {
    /// Sends a message that leaves the rank at a time that may lie ahead.
    pub fn post(
        &mut self,
        entry: Time,
        (destination, bytes): (u32, u64),
        sequence: u32,
        message: Message,
    ) {
        let engine = self.engine;
        let (here, there) = (engine.place(self.id), engine.place(destination));
        let (source, destination) = (self.id, there.host);
        let message = Message { slot: there.slot, ..message };
        if here.host == there.host {
            // It does not leave the host.
            let latency = engine.costs.local.latency;
            let path = message.path;
            let message = Message { path: path.latency(latency), ..message };
            let time = entry.saturating_add(latency);
            return self.hand_over(Event { time, source, sequence, destination, message });
        }
        let transfer = Transfer::new(HostId(here.host), HostId(destination), bytes);
        self.nic.post(entry, transfer, number(here.slot, sequence));
        let time = entry.saturating_add(engine.network.lookahead());
        let message = Mail::Announcement(message);
        self.out.send(Event { time, source, sequence, destination, message });
    }

    /// Returns the transfer of a message to a rank of another host.
    pub fn transfer(&self, destination: u32, bytes: u64) -> Transfer {
        let [here, there] = [self.id, destination].map(|rank| self.engine.place(rank).host);
        Transfer::new(HostId(here), HostId(there), bytes)
    }

    /// Sends a message whose send begins at `at` over the rails of its ways.
    pub fn post_over(
        &mut self,
        ways: &Ways,
        at: Time,
        (destination, bytes): (u32, u64),
        sequence: u32,
        message: Message,
    ) {
        let engine = self.engine;
        let Some(rails) = engine.rails() else { return };
        let here = engine.place(self.id);
        let (source, there) = (self.id, engine.place(destination));
        let transfer = self.transfer(destination, bytes);
        let mut first = None;
        let id = number(here.slot, sequence);
        if let Some(host) = self.common.as_mut().and_then(|common| common.rails.as_mut()) {
            host.sent((here.slot, sequence), ways);
        }
        for (entry, transfer, id) in rails.transfers(ways, at, transfer, id) {
            first.get_or_insert(entry);
            self.nic.post(entry, transfer, id);
        }
        let entry = first.unwrap_or(at);
        let path = message.path.overhead(entry.saturating_sub(at));
        let message = Message { slot: there.slot, nic: ways.taken(), path, ..message };
        let time = entry.saturating_add(engine.network.lookahead());
        let (destination, message) = (there.host, Mail::Announcement(message));
        self.out.send(Event { time, source, sequence, destination, message });
    }

    /// Hands a message to a rank of the same host.
    fn hand_over(&mut self, event: Event<Message>) {
        if event.time == Time::MAX {
            self.out.overflow();
        }
        if let Some(common) = &mut self.common {
            if common.several {
                return self.worker.arrived.push(event);
            }
            common.urgent += u32::from(event.message.urgent());
        }
        self.arrive(&event);
    }

    /// Releases the send of a rank at once.
    pub fn post_release(&mut self, to: u32, time: Time, sequence: u32, message: Message) {
        let (here, there) = (self.engine.place(self.id), self.engine.place(to));
        let (source, destination) = (self.id, there.host);
        let message = Message { slot: there.slot, ..message };
        let is_here = here.host == there.host;
        if let Some(common) = &mut self.common {
            if common.several && is_here {
                let event = Event { time, source, sequence, destination, message };
                return self.worker.arrived.push(event);
            }
            common.urgent = common.urgent.saturating_sub(1);
        }
        if is_here {
            return self.arrive(&Event { time, source, sequence, destination, message });
        }
        let message = Mail::Host(message);
        self.out.send(Event { time, source, sequence, destination, message });
    }

    /// Handles everything before `until` at a rank that is alone on its host, or up to an operation
    /// that has to wait for its turn; returns when the next thing happens.
    fn work_alone(&mut self, until: Time) -> Time {
        let mut first = self.take_arrival(until);
        let alone = self.next_arrival() >= until && self.is_idle();
        if !first.is_some_and(|event| alone && self.fast_path(&event, until)) {
            self.resume();
            while let Some(event) = first {
                let next = self.next_arrival();
                if !self.receive_first(&event, next, until) {
                    self.arrive(&event);
                }
                first = self.take_arrival(until);
            }
        }
        self.work(until).min(self.next_arrival())
    }

    /// The time at which the next message arrives.
    fn next_arrival(&self) -> Time {
        let first = self.common.as_ref().and_then(|common| common.arrivals.front());
        first.map_or(Time::MAX, |event| event.time)
    }

    /// Takes the next message, if it arrives before a time.
    fn take_arrival(&mut self, until: Time) -> Option<Event<Message>> {
        if self.next_arrival() >= until {
            return None;
        }
        self.common.as_mut()?.arrivals.pop_front()
    }

    /// Returns true if the rank waits for messages only.
    fn is_idle(&self) -> bool {
        matches!(self.rank.waiting, Waiting::Nothing)
            && self.queues.is_none()
            && self.rank.batches > 0
    }
}

impl<S: Source> Alone<S> {
    pub fn new<N: Network>(engine: &Engine<'_, S, N>, id: u32) -> Self {
        Self { id, rank: engine.new_rank(id), common: Common::default() }
    }

    /// Handles everything before `until`; see [`network::Endpoint::work`].
    pub fn work<N: Network, B: Probe<Record<N::Detail>>>(
        &mut self,
        engine: &Engine<'_, S, N>,
        site: &mut Site<'_, N, Watched<'_, S, N, B>>,
        until: Time,
    ) -> Time {
        let Self { id, rank, common } = self;
        let Site { worker, out, nic, .. } = site;
        let common = Some(common);
        let mut turn = RankStep { engine, id: *id, rank, nic, common, queues: None, worker, out };
        let next = turn.work_alone(until);
        turn.leave();
        next
    }

    /// Takes a message that arrives, now or later.
    pub fn arrives(&mut self, event: Event<Message>) {
        insert_by_time(&mut self.common.arrivals, event, |event| event.time);
    }
}

/// The transfer that an announcement is about.
pub fn announced<S: Source, N: Network>(
    engine: &Engine<'_, S, N>,
    common: &mut Common,
    event: &Event<Message>,
) -> (HostId, MessageId) {
    common.urgent += u32::from(event.message.urgent());
    let Location { host, slot } = engine.place(event.source);
    (HostId(host), number(slot, event.sequence))
}
