//! The engine that runs ranks over flows, in the order of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use flow::{Load, Network, Routes};
use kernel::Probe;
use schedule::{Edge, Kind, Op};
use units::Time;

use super::mailbox::{Mailbox, Messages, Posted, Stage, room, successors};
use super::order::Order;
use super::protocol::{Protocol, Protocols};
use super::rank::{Cpu, Doing, Order as Start, Rank, Ready, add};
use crate::path::{Clock, Stamp};
use crate::source::{Operations as _, START, Source, Starts, Work};
use crate::{Activity, Error, Outcome, RankTotals, Record, Settings};

/// The bit that tells computations from messages among what the network knows by number.
const COMPUTES: u32 = 1 << 31;
/// In place of a CPU: an alarm.
const ALARM: u8 = u8::MAX;

/// A simulation.
pub struct Engine<'a, S: Source, R, W, B> {
    pub source: S,
    network: &'a mut Network<R, W>,
    protocols: &'a Protocols,
    pub settings: &'a Settings,
    hosts: &'a [u32],
    pub ranks: Vec<Rank<S::State>>,
    /// CPUs of a rank.
    cpus: u32,
    pub messages: Messages,
    /// Messages under way, if they arrive in their order.
    order: Option<Order>,
    /// The ends of what CPUs are busy with: time, number of the event, rank, CPU. Of
    /// an alarm, the operation stands for the number, and [`ALARM`] for the CPU.
    agenda: BinaryHeap<Reverse<(Time, u64, u32, u8)>>,
    numbers: u64,
    /// Ranks to look at now.
    active: VecDeque<u32>,
    /// Receives cost nothing: they need not be kept in order.
    free_receives: bool,
    pub now: Time,
    pub events: u64,
    pub reported: u64,
    pub probe: B,
}

/// Simulates a program over a network of flows; rank r is on its host `hosts[r]`. Of the settings
/// count the time unit, noise, the seed and the meter; it takes one thread.
///
/// # Errors
/// A message larger than its receive, hosts between which there is no route, an overflow of time, a
/// rank without a host.
pub fn simulate_flow<P: Work, R: Routes, W: Probe<Load>, B: Probe<Record>>(
    network: &mut Network<R, W>,
    hosts: &[u32],
    protocols: &Protocols,
    program: &P,
    settings: &Settings,
    probe: B,
) -> Result<(Outcome, B), Error> {
    let ranks = program.ranks();
    if hosts.len() != ranks as usize {
        return Err(Error::Placed { ranks, placed: hosts.len() as u32 });
    }
    let source = program.posting_all().unwrap_or_else(|| program.source());
    let cpus = program.cpus().max(1);
    let rank = |rank| Rank {
        source: source.state(rank),
        cpus: (0..cpus).map(|_| Cpu::default()).collect(),
        mailbox: Mailbox::default(),
        totals: RankTotals::default(),
        last: Clock::default(),
        sequence: 0,
        batches: 0,
        queued: false,
    };
    let mut engine = Engine {
        cpus,
        network,
        protocols,
        settings,
        hosts,
        ranks: (0..ranks).map(rank).collect(),
        source,
        messages: Messages::with_room(room(program)),
        order: protocols.in_order.then(Order::default),
        agenda: BinaryHeap::new(),
        numbers: 0,
        active: VecDeque::new(),
        free_receives: protocols.free_receives(),
        now: Time::ZERO,
        events: 0,
        reported: 0,
        probe,
    };
    engine.run()?;
    Ok(engine.finish())
}

impl<S: Source, R: Routes, W: Probe<Load>, B: Probe<Record>> Engine<'_, S, R, W, B> {
    fn run(&mut self) -> Result<(), Error> {
        for rank in 0..self.ranks.len() as u32 {
            let state = &mut self.ranks[rank as usize];
            let mut roots = Vec::new();
            self.source.start(&mut state.source, rank, |run, _| roots.push(run));
            for run in roots {
                for index in (0..run.count).map(|k| run.first + k * run.stride) {
                    let op = self.source.op(&state.source, rank, index);
                    state.ready(index, op, &START);
                }
            }
            self.look(rank)?;
        }
        let mut done = Vec::new();
        loop {
            while let Some(rank) = self.active.pop_front() {
                self.ranks[rank as usize].queued = false;
                self.look(rank)?;
            }
            let planned = self.agenda.peek().map(|Reverse((at, ..))| *at);
            let next = match (planned, self.network.next_event()) {
                (Some(planned), Some(flow)) => planned.min(flow),
                (Some(at), None) | (None, Some(at)) => at,
                (None, None) => return Ok(()),
            };
            if next == Time::MAX {
                return Err(Error::from(kernel::Error::Overflow { at: self.now }));
            }
            self.now = next;
            self.network.advance(next, &mut done);
            for number in done.drain(..) {
                if number & COMPUTES == 0 {
                    self.ends(number);
                } else {
                    let number = number & !COMPUTES;
                    self.done(number / self.cpus, (number % self.cpus) as u8)?;
                }
            }
            while let Some(Reverse((at, number, rank, cpu))) = self.agenda.peek().copied() {
                if at > next {
                    break;
                }
                self.agenda.pop();
                if cpu == ALARM {
                    let stamp = Stamp { time: at, cause: at, ..START };
                    self.reached(rank, (number as u32, Edge::Done), &stamp);
                    self.activate(rank);
                } else {
                    self.done(rank, cpu)?;
                }
            }
            self.report()?;
        }
    }

    fn activate(&mut self, rank: u32) {
        let state = &mut self.ranks[rank as usize];
        if !std::mem::replace(&mut state.queued, true) {
            self.active.push_back(rank);
        }
    }

    /// Lets the free CPUs of a rank do what they can.
    fn look(&mut self, rank: u32) -> Result<(), Error> {
        for cpu in 0..self.ranks[rank as usize].cpus.len() {
            loop {
                let state = &mut self.ranks[rank as usize];
                if state.cpus[cpu].doing.is_some() {
                    break;
                }
                if let Some(Reverse(ready)) = state.cpus[cpu].ready.pop() {
                    self.start(rank, cpu as u8, &ready)?;
                } else if let Some((index, message)) = self.due(rank, cpu as u8) {
                    self.receive(rank, cpu as u8, index, message)?;
                } else {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Starts an operation.
    fn start(&mut self, rank: u32, cpu: u8, ready: &Ready) -> Result<(), Error> {
        let &Ready { order: Start { at: posted, index, .. }, op, path } = ready;
        self.events += 1;
        if op.kind == Kind::Recv && !self.accepts(rank, index, &op) {
            self.reached(rank, (index, Edge::Done), &ready.stamp());
            return Ok(());
        }
        if self.source.is_alarm(&self.ranks[rank as usize].source, index) {
            self.agenda.push(Reverse((posted.max(self.now), index.into(), rank, ALARM)));
            return Ok(());
        }
        let clock = &mut self.ranks[rank as usize].cpus[usize::from(cpu)].clock;
        if posted >= clock.free {
            clock.path = path;
        }
        clock.free = self.now;
        let hears = match self.source.starts() {
            Starts::Nothing => false,
            Starts::Messages => op.kind != Kind::Calc,
            Starts::All => true,
        };
        if hears {
            let stamp = Stamp { time: self.now, cause: self.now, path: clock.path };
            self.reached(rank, (index, Edge::Started), &stamp);
        }
        let (since, noise) = (self.now, Time::ZERO);
        let doing = |activity| Doing { activity, index, op, since, noise, posted, message: 0 };
        match op.kind {
            Kind::Recv => self.post(rank, index, &op),
            Kind::Calc => {
                let unit = self.settings.time_unit.ps();
                let time = op.size.checked_mul(unit).map(Time::from_ps);
                let time = time.ok_or(Error::from(kernel::Error::Overflow { at: self.now }))?;
                self.occupy(rank, cpu, doing(Activity::Compute), time)
            }
            Kind::Send => {
                let protocol = self.protocol(rank);
                let detached = op.size < protocol.detached_below;
                let free = protocol.send.is_free() && protocol.isend.is_free();
                let cost = if free {
                    Time::ZERO
                } else if !self.is_blocking(rank, index) {
                    protocol.isend.cost(op.size)
                } else if detached {
                    protocol.send.cost(op.size)
                } else {
                    Time::ZERO
                };
                self.occupy(rank, cpu, doing(Activity::Send), cost)
            }
        }
    }

    fn protocol(&self, rank: u32) -> &Protocol {
        self.protocols.of(self.hosts[rank as usize])
    }

    /// Keeps a CPU busy for some time, and for what interruptions add to it.
    fn occupy(&mut self, rank: u32, cpu: u8, doing: Doing, time: Time) -> Result<(), Error> {
        let Settings { noise, seed, .. } = self.settings;
        let noise = noise.between(*seed, rank, self.now, self.now.saturating_add(time));
        let time = time.saturating_add(noise);
        let doing = Doing { noise, ..doing };
        self.ranks[rank as usize].cpus[usize::from(cpu)].doing = Some(doing);
        if time == Time::ZERO {
            return self.done(rank, cpu);
        }
        let host = self.hosts[rank as usize];
        let number = COMPUTES | (rank * self.cpus + u32::from(cpu));
        let computes =
            doing.activity == Activity::Compute && !self.source.is_sleep(rank, doing.index);
        if computes && self.network.compute(self.now, host, time, number) {
            return Ok(());
        }
        let end = self
            .now
            .checked_add(time)
            .ok_or(Error::from(kernel::Error::Overflow { at: self.now }))?;
        self.agenda.push(Reverse((end, self.numbers, rank, cpu)));
        self.numbers += 1;
        Ok(())
    }

    /// A CPU is done with what it was at.
    fn done(&mut self, rank: u32, cpu: u8) -> Result<(), Error> {
        let state = &mut self.ranks[rank as usize];
        let place = &mut state.cpus[usize::from(cpu)];
        let Some(doing) = place.doing.take() else { return Ok(()) };
        let Doing { activity, index, op, since, noise, posted, message } = doing;
        let took = self.now.saturating_sub(since);
        let worked = took.saturating_sub(noise);
        let clock = &mut place.clock;
        clock.free = self.now;
        clock.path = match activity {
            Activity::Compute => clock.path.compute(worked),
            Activity::Send | Activity::Receive => clock.path.overhead(worked),
        };
        let stamp = Stamp { time: self.now, cause: since, path: clock.path };
        state.totals.busy = state.totals.busy.saturating_add(took);
        let sequence = state.sequence;
        self.activate(rank);
        if B::LISTENS && (took > Time::ZERO || activity != Activity::Compute) {
            let known = self.messages.get(message).map(|known| (known.source, known.sequence));
            let message = match activity {
                Activity::Compute => None,
                Activity::Send => Some((rank, sequence)),
                Activity::Receive => known,
            };
            self.probe.record(Record::Busy {
                rank,
                cpu,
                activity,
                start: since,
                end: self.now,
                message,
                operation: Some(index),
            });
        }
        match activity {
            Activity::Compute => self.computed((rank, cpu), &doing, &stamp),
            Activity::Send => self.send(rank, index, &op, posted, &stamp),
            Activity::Receive => {
                self.messages.remove(message);
                self.close(rank, index, &stamp);
                Ok(())
            }
        }
    }

    /// A computation is over.
    fn computed(
        &mut self,
        (rank, cpu): (u32, u8),
        doing: &Doing,
        stamp: &Stamp,
    ) -> Result<(), Error> {
        let &Doing { index, op, since, .. } = doing;
        // A look that goes on keeps its state in its tag, as computations have none.
        let mut asks = op.tag != 0;
        if let Some((receive, message)) = self.tested((rank, cpu), index, &mut asks) {
            // It is over when nothing is left to be taken in. What is taken in may be answered
            // before.
            let size = self.messages.at(message).size;
            let cost = self.protocol(rank).receive.cost(size);
            let after = self
                .now
                .checked_add(cost)
                .ok_or(Error::from(kernel::Error::Overflow { at: self.now }))?;
            let stamp = Stamp { time: after, cause: after, ..*stamp };
            let rest = Op { size: 0, tag: asks.into(), ..op };
            self.ranks[rank as usize].ready(index, rest, &stamp);
            return self.receive(rank, cpu, receive, message);
        }
        if B::LISTENS {
            self.probe.record(Record::Computed { rank, index, start: since, end: self.now });
        }
        if let Some(receive) = self.source.cancels(&self.ranks[rank as usize].source, index) {
            self.withdraw(rank, receive, stamp);
        }
        self.reached(rank, (index, Edge::Done), stamp);
        Ok(())
    }

    /// Posts a message.
    fn send(
        &mut self,
        rank: u32,
        index: u32,
        op: &Op,
        posted: Time,
        stamp: &Stamp,
    ) -> Result<(), Error> {
        let state = &mut self.ranks[rank as usize];
        let sequence = state.sequence;
        state.sequence += 1;
        state.totals.sent_messages += 1;
        state.totals.sent_bytes += op.size;
        let (destination, tag, size) = (op.peer, op.tag, op.size);
        if B::LISTENS {
            let injected = self.now;
            let tag = self.source.shown_tag(tag);
            self.probe.record(Record::Sent {
                source: rank,
                sequence,
                destination,
                tag,
                size,
                posted,
                injected,
            });
        }
        let protocol = self.protocol(rank);
        let (detached, eager) = (size < protocol.detached_below, size < protocol.eager_below);
        let number = self.messages.add(Posted {
            source: rank,
            destination,
            send: index,
            receive: None,
            sequence,
            size,
            detached,
            stage: Stage::Waits,
            stamp: *stamp,
        });
        if detached {
            self.reached(rank, (index, Edge::Done), stamp);
        } else {
            self.open(rank, index);
        }
        let matched_by = self.source.matched_by(tag);
        let mailbox = &mut self.ranks[destination as usize].mailbox;
        if let Some((receive, room)) = mailbox.posted.take(rank, matched_by) {
            return self.matched(number, receive, room, None);
        }
        let state = &mut self.ranks[destination as usize];
        if let Some(receive) = self.source.receive_unposted(&mut state.source, rank, tag) {
            self.open(destination, receive);
            return self.matched(number, receive, u64::MAX, None);
        }
        state.mailbox.unexpected.insert(rank, matched_by, number);
        if eager { self.travel(number) } else { Ok(()) }
    }

    /// Posts a receive.
    fn post(&mut self, rank: u32, index: u32, op: &Op) -> Result<(), Error> {
        let path = self.ranks[rank as usize].cpus[usize::from(op.cpu)].clock.path;
        let stamp = Stamp { time: self.now, cause: self.now, path };
        self.open(rank, index);
        let tag = self.source.matched_by(op.tag);
        let mailbox = &mut self.ranks[rank as usize].mailbox;
        if let Some(number) = mailbox.unexpected.take(op.peer, tag) {
            return self.matched(number, index, op.size, Some(&stamp));
        }
        mailbox.posted.insert(op.peer, tag, (index, op.size));
        Ok(())
    }

    /// A receive is withdrawn, if it still waits for a message.
    fn withdraw(&mut self, rank: u32, receive: u32, stamp: &Stamp) {
        let state = &mut self.ranks[rank as usize];
        if state.mailbox.posted.remove(|(posted, _)| *posted == receive) > 0 {
            self.source.cancelled(&mut state.source, receive);
            self.close(rank, receive, stamp);
        }
    }

    /// A request is under way: a receive, or a send that is done when its message has arrived.
    fn open(&mut self, rank: u32, index: u32) {
        if self.free_receives {
            return;
        }
        let state = &mut self.ranks[rank as usize];
        let successors = successors(&self.source, &state.source, rank, index);
        let in_order = self.source.is_in_order(&state.source, rank, index);
        state.mailbox.open(index, successors, in_order);
    }

    /// A request is done.
    fn close(&mut self, rank: u32, index: u32, stamp: &Stamp) {
        if !self.free_receives {
            self.ranks[rank as usize].mailbox.close(index);
        }
        self.reached(rank, (index, Edge::Done), stamp);
    }

    /// A message meets its receive, which was posted just now if it has a stamp.
    fn matched(
        &mut self,
        number: u32,
        receive: u32,
        room: u64,
        posted: Option<&Stamp>,
    ) -> Result<(), Error> {
        let now = self.now;
        let message = self.messages.at(number);
        message.receive = Some(receive);
        let Posted { source, destination, send, sequence, size, stage, .. } = *message;
        let state = &mut self.ranks[destination as usize].source;
        self.source.matched(state, receive, (source, send), size);
        self.renew(destination);
        let message = self.messages.at(number);
        if size > room && !self.source.fits() {
            let (rank, sender) = (destination, source);
            return Err(Error::Truncated { rank, receive, sender, size, room });
        }
        if let Some(stamp) = posted.filter(|_| stage != Stage::Arrived || now > message.stamp.time)
        {
            message.stamp = message.stamp.join(*stamp);
        }
        if B::LISTENS {
            self.probe.record(Record::Matched { source, sequence, at: now, receive });
        }
        match stage {
            Stage::Waits => self.travel(number),
            Stage::Travels { .. } => Ok(()),
            Stage::Arrived => {
                self.received(number);
                Ok(())
            }
        }
    }

    /// A message starts to travel.
    fn travel(&mut self, number: u32) -> Result<(), Error> {
        let now = self.now;
        let message = self.messages.at(number);
        let from = self.hosts[message.source as usize];
        let to = self.hosts[message.destination as usize];
        let idle =
            self.network.send(now, (from, to), message.size, number).map_err(Error::Route)?;
        message.stage = Stage::travels(now, idle);
        let Posted { source, destination, send, detached, stamp, .. } = *message;
        if let Some(order) = &mut self.order {
            order.sets_out((source, destination), number);
        }
        if self.protocols.done_at_start && !detached {
            self.close(source, send, &stamp);
        }
        Ok(())
    }

    /// The flow of a message has ended.
    fn ends(&mut self, number: u32) {
        let Some(order) = &mut self.order else { return self.arrive(number) };
        let message = self.messages.at(number);
        for arrived in order.arrives((message.source, message.destination), number) {
            self.arrive(arrived);
        }
    }

    /// A message has arrived.
    fn arrive(&mut self, number: u32) {
        let now = self.now;
        self.events += 1;
        let message = self.messages.at(number);
        if let Stage::Travels { since, idle } = message.stage {
            let path = message.stamp.path.transit(now.saturating_sub(since), &idle);
            message.stamp = Stamp { time: now, cause: since, path };
        }
        message.stage = Stage::Arrived;
        let Posted { source, send, sequence, receive, detached, stamp, .. } = *message;
        if B::LISTENS {
            self.probe.record(Record::Delivered { source, sequence, at: now });
        }
        if !detached && !self.protocols.done_at_start {
            self.close(source, send, &stamp);
        }
        if receive.is_some() {
            self.received(number);
        }
    }

    /// A message has arrived and met its receive.
    fn received(&mut self, number: u32) {
        let Posted { destination, receive, size, detached, stamp, .. } = *self.messages.at(number);
        let Some(receive) = receive else { return };
        let costs = detached && self.protocol(destination).receive.cost(size) > Time::ZERO;
        let state = &mut self.ranks[destination as usize];
        state.totals.received_messages += 1;
        state.totals.received_bytes += size;
        if costs {
            state.mailbox.arrived(receive, number);
            self.activate(destination);
        } else {
            self.messages.remove(number);
            self.close(destination, receive, &stamp);
        }
    }

    /// The overhead of a receive begins.
    fn receive(&mut self, rank: u32, cpu: u8, index: u32, number: u32) -> Result<(), Error> {
        let Posted { size, stamp, .. } = *self.messages.at(number);
        let state = &mut self.ranks[rank as usize];
        if let Some(open) = state.mailbox.open.iter_mut().find(|open| open.index == index) {
            // It is under way.
            open.message = None;
        }
        let clock = &mut state.cpus[usize::from(cpu)].clock;
        if stamp.time >= clock.free {
            clock.path = stamp.path;
        }
        clock.free = self.now;
        let op = self.op(rank, index);
        let (activity, since, noise) = (Activity::Receive, self.now, Time::ZERO);
        let doing = Doing { activity, index, op, since, noise, posted: since, message: number };
        self.occupy(rank, cpu, doing, self.protocol(rank).receive.cost(size))
    }

    /// Tells the source what has started or is done.
    fn reached(&mut self, rank: u32, event: (u32, Edge), stamp: &Stamp) {
        let Rank { source, cpus, last, batches, .. } = &mut self.ranks[rank as usize];
        *batches = batches.wrapping_add(1);
        *last = Clock { free: self.now, path: stamp.path };
        self.source.reached(source, rank, event, stamp, |index, op, stamp| {
            add(cpus, *batches, (index, op), stamp);
        });
        self.renew(rank);
        self.activate(rank);
    }

    /// More may wait for a rank's requests than before.
    fn renew(&mut self, rank: u32) {
        if self.source.grows() && !self.free_receives {
            let Rank { source, mailbox, .. } = &mut self.ranks[rank as usize];
            mailbox.renew(|index| successors(&self.source, source, rank, index));
        }
    }
}
