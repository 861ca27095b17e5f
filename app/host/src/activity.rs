//! The activities of a rank: computation, sends, receives, and matching.

use kernel::{Event, Probe};
use loggops::Receive;
use network::{Mail, Network, Nowhere, Transfer};
use schedule::{Edge, Op};
use units::{HostId, MessageId, Time};

use crate::clocks::{Class, Side};
use crate::costs::{ClassCosts, HostCosts};
use crate::engine::RankStep;
use crate::message::{Kind, Message};
use crate::path::{Clock, Path, Stamp};
use crate::queues::{Arrived, Entry, Priority, Task, Work};
use crate::rails::Ways;
use crate::rank::{Cleared, Unexpected, Unreleased};
use crate::source::{Source, Starts};
use crate::{Activity, Error, Record, Rendezvous};

/// The effect of an activity on its CPU.
struct Charge {
    /// The chain of causes that led to its start.
    start: Path,
    /// The time from which the CPU is free again, and the chain of causes that leads there.
    end: Stamp,
}

/// A message of the program as its receiver knows it.
#[derive(Clone, Copy)]
struct Sent {
    /// The rank that sent it.
    source: u32,
    /// The operation that sent it.
    send: u32,
    /// Its number among the messages of that rank.
    sequence: u32,
    /// Bytes of the send.
    size: u64,
}

impl Sent {
    /// Returns the message that an event brings.
    #[inline(always)]
    const fn by(event: &Event<Message>) -> Self {
        let Message { send, size, .. } = event.message;
        Self { source: event.source, send, sequence: event.sequence, size }
    }
}

impl<'t, S: Source, N: Network, B: Probe<Record<N::Detail>>> RankStep<'t, S, N, B> {
    /// Returns whether messages to and from a rank stay on this host and do not enter the network.
    #[inline(always)]
    pub fn is_neighbour(&self, peer: u32) -> bool {
        !N::DIRECT && self.engine.place(peer).host == self.engine.place(self.id).host
    }

    /// Returns what a message of `size` bytes to or from a rank costs here.
    #[inline(always)]
    pub fn costs(&self, peer: u32, size: u64) -> &'t HostCosts {
        let costs = &self.engine.costs;
        if self.is_neighbour(peer) {
            return &costs.local.ends;
        }
        let class = |classes: &'t ClassCosts| classes.of([self.id, peer], size);
        self.engine.classes.as_ref().and_then(class).unwrap_or_else(|| costs.of(size))
    }

    pub fn compute(&mut self, (index, op): (u32, &Op), task: &Task, at: Time, cpu: u8) {
        if self.engine.source.is_alarm(&self.rank.source, index) {
            return self.reached_rarely(index, Edge::Done, &task.at);
        }
        let unit = self.engine.settings.time_unit.ps();
        let length = Time::from_ps(op.size.saturating_mul(unit));
        let end = at.saturating_add(length);
        let end = end.saturating_add(self.noise(at, end));
        let clocks = &mut self.rank.clocks;
        let start = if task.at.time == at { task.at.path } else { clocks.cpu(cpu).path };
        let path = start.compute(length);
        clocks.set_cpu(cpu, Clock { free: end, path });
        let done = Stamp { time: end, cause: at, path };
        self.occupied((cpu, Activity::Compute), (at, end), None, Some(index));
        if B::LISTENS {
            let rank = self.id;
            self.worker.probe.record(Record::Computed { rank, index, start: at, end });
        }
        self.worker.events += 1;
        if self.engine.source.starts() == Starts::All {
            self.started(index, at, start);
        }
        if let Some(receive) = self.engine.source.cancels(&self.rank.source, index) {
            self.withdraw(receive, &Stamp { time: at, cause: at, path: start });
        }
        self.reached_rarely(index, Edge::Done, &done);
    }

    /// A receive is withdrawn, if it still waits for a message.
    #[inline(never)]
    fn withdraw(&mut self, receive: u32, at: &Stamp) {
        if self.rank.matching().posted.remove(|posted| *posted == receive) > 0 {
            self.engine.source.cancelled(&mut self.rank.source, receive);
            self.reached_rarely(receive, Edge::Done, at);
        }
    }

    /// An operation has started.
    #[inline]
    fn started(&mut self, index: u32, at: Time, path: Path) {
        let source = &self.engine.source;
        if source.starts() != Starts::Nothing && source.wants_start(&self.rank.source, index) {
            self.reached_rarely(index, Edge::Started, &Stamp { time: at, cause: at, path });
        }
    }

    /// Charges a message of `size` bytes that leaves to CPU and interface.
    #[inline(always)]
    fn charge_send(
        &mut self,
        (costs, size): (&HostCosts, u64),
        task: &Task,
        at: Time,
        (cpu, nic): (u8, u8),
    ) -> Charge {
        let overhead = costs.sending(size);
        let noise = self.noise(at, at.saturating_add(costs.send_overhead));
        let bytes = costs.bandwidth(size);
        let clocks = &mut self.rank.clocks;
        let start = clocks.start((task.at.time, task.at.path), at, (cpu, nic), Side::Sending);
        let free = at.saturating_add(overhead).saturating_add(noise);
        let path = start.overhead(overhead);
        clocks.set_cpu(cpu, Clock { free, path });
        let end = Stamp { time: free, cause: at, path };
        let free = at.saturating_add(costs.gap).saturating_add(bytes);
        clocks.set_nic(nic, Side::Sending, Clock { free, path: start.bandwidth(bytes) });
        Charge { start, end }
    }

    /// Charges a message that is received; `by_nic` says that its interface has received it
    /// without the CPU.
    #[inline(always)]
    fn charge_receive(
        &mut self,
        (costs, size, by_nic): (&HostCosts, u64, bool),
        (arrival, path): (Time, Path),
        at: Time,
        (cpu, nic): (u8, u8),
    ) -> Charge {
        let per_byte = costs.receiving_rest(size);
        let bytes = if by_nic { Time::ZERO } else { costs.bandwidth(size) };
        let noise = self.noise(at, at.saturating_add(costs.receive_overhead));
        let clocks = &mut self.rank.clocks;
        let start = clocks.start((arrival, path), at, (cpu, nic), Side::Receiving);
        let started = at.saturating_add(costs.receive_overhead).saturating_add(noise);
        let free = started.saturating_add(per_byte.max(bytes));
        let met = start.overhead(costs.receive_overhead);
        let path = if bytes > per_byte { met.bandwidth(bytes) } else { met.overhead(per_byte) };
        clocks.set_cpu(cpu, Clock { free, path });
        let end = Stamp { time: free, cause: at, path };
        if !by_nic {
            let free = at.saturating_add(costs.gap).saturating_add(bytes);
            clocks.set_nic(nic, Side::Receiving, Clock { free, path: start.bandwidth(bytes) });
        }
        Charge { start, end }
    }

    /// Puts a message of `bytes` bytes into the network.
    #[inline(always)]
    fn inject(
        &mut self,
        (destination, ways): (u32, Option<Ways>),
        bytes: u64,
        at: Time,
        charge: &Charge,
        message: Message,
    ) {
        let engine = self.engine;
        let sequence = self.rank.next_sequence();
        if let Some(ways) = ways {
            let message = Message { cause: at, path: charge.start, ..message };
            return self.post_over(&ways, at, (destination, bytes), sequence, message);
        }
        let overhead = engine.costs.entry(self.costs(destination, bytes));
        let entry = at.saturating_add(overhead);
        let mut path = charge.start.overhead(overhead);
        if !N::DIRECT {
            let message = Message { cause: at, path, ..message };
            return self.post(entry, (destination, bytes), sequence, message);
        }
        let transfer = Transfer::new(HostId(self.id), HostId(destination), bytes);
        let number = MessageId(sequence.into());
        let interface = &mut self.nic.interface;
        let answer = engine.network.inject(interface, entry, transfer, number, &mut Nowhere);
        let time = answer.unwrap_or(Time::MAX);
        // Messages share nothing on a network without devices: all of it is latency.
        path = path.latency(time.saturating_sub(entry));
        let message = Mail::Host(Message { cause: at, path, ..message });
        let source = self.id;
        self.out.send(Event { time, source, sequence, destination, message });
    }

    pub fn send(&mut self, (index, op): (u32, &Op), task: &Task, at: Time, (cpu, nic): (u8, u8)) {
        let engine = self.engine;
        let eager = op.size <= engine.costs.eager_limit;
        let request = !eager && self.engine.settings.rendezvous == Rendezvous::RtsCts;
        // A request to send is a short message, whatever it announces.
        let bytes = if request { 0 } else { op.size };
        let ways = self.ways(op.peer, bytes, at);
        let costs = &self.costs_by(ways.as_ref(), op.peer, bytes);
        let charge = self.charge_send((costs, bytes), task, at, (cpu, nic));
        let kind = match (eager, request) {
            (true, _) => Kind::Eager,
            (_, true) => Kind::Request,
            _ => Kind::Rendezvous,
        };
        self.record_sent(op, task, at, engine.costs.entry(costs));
        let message = Message::outgoing(kind, index, op);
        let sequence = self.rank.sequence;
        let known = (!request).then_some((self.id, sequence));
        self.occupied((cpu, Activity::Send), (at, charge.end.time), known, Some(index));
        self.inject((op.peer, ways), bytes, at, &charge, message);
        self.worker.events += 1;
        self.rank.sent_bytes = self.rank.sent_bytes.saturating_add(op.size);
        self.started(index, at, charge.start);
        if !eager {
            let waiting = self.waiting((index, op), sequence, bytes, &charge);
            self.await_receive(waiting);
        } else if op.size > engine.buffered {
            let waiting = self.waiting((index, op), sequence, bytes, &charge);
            self.await_departure(waiting);
        } else if !self.engine.source.sent(&mut self.rank.source) {
            self.reached_rarely(index, Edge::Done, &charge.end);
        } else if charge.end.time == Time::MAX {
            self.out.overflow();
        }
    }

    /// A send of a message of `bytes` bytes that is not done at the end of its overhead.
    fn waiting(
        &self,
        (send, op): (u32, &Op),
        sequence: u32,
        bytes: u64,
        charge: &Charge,
    ) -> Unreleased {
        let (destination, Stamp { time: since, cause, path }) = (op.peer, charge.end);
        let earliest = if op.size > self.engine.buffered {
            let costs = self.costs(destination, bytes);
            let entry = cause.saturating_add(self.engine.costs.entry(costs));
            since.max(entry.saturating_add(costs.bandwidth(bytes)))
        } else {
            since
        };
        Unreleased { send, destination, sequence, since, path, cause, earliest }
    }

    /// A receive is posted: it costs nothing.
    pub fn post_receive(&mut self, (index, op): (u32, &Op), task: &Task) {
        let at = task.at.time;
        self.worker.events += 1;
        let source = &self.engine.source;
        if source.is_conditional(&self.rank.source, index) {
            let tag = source.matched_by(op.tag);
            let message = self.rank.matching().peek_unexpected(op.peer, tag);
            let send = message.map(|message| message.send);
            if !source.accepts(&mut self.rank.source, index, send) {
                return self.reached_rarely(index, Edge::Done, &task.at);
            }
        }
        self.started(index, at, task.at.path);
        let tag = source.matched_by(op.tag);
        let matching = self.rank.matching();
        let Some(message) = matching.take_unexpected(op.peer, tag) else {
            matching.posted.insert(op.peer, tag, index);
            return;
        };
        let identity = (message.source, message.sequence);
        let here = Stamp { cause: at, ..task.at };
        let mut received = Stamp { time: message.end, cause: at, path: message.path };
        if self.engine.shape.several() {
            if let Some((time, path)) = matching.rare().charged.remove(&identity) {
                received = Stamp { time, cause: at, path }
            } else {
                // It still waits to be received, and will then find that it has met its receive.
                matching.rare().met.insert(identity, index);
                return;
            }
        }
        let done = if received.time > at { received } else { here };
        let Unexpected { kind, source, sequence, send, size, .. } = message;
        let sent = Sent { source, send, sequence, size };
        if kind == Kind::Request {
            self.clear(index, sent, done);
            return;
        }
        if kind == Kind::Rendezvous {
            self.release(source, send, here);
        }
        self.matched(index, sent, at, &done);
    }

    /// Decides what a message that has just arrived is charged to.
    pub fn classify(&mut self, event: Event<Message>, at: Time) {
        let message = &event.message;
        let nic = if self.engine.rails().is_some() { 0 } else { message.nic };
        let mut unit = (message.cpu, nic);
        match message.kind {
            Kind::Release => return self.released(&event, at),
            _ if !self.engine.shape.several() => unit = (0, 0),
            Kind::Data => {
                let op = self.op(message.tag);
                unit = (op.cpu, op.nic);
            }
            Kind::Clear => {
                let op = self.op(message.send);
                unit = (op.cpu, op.nic);
            }
            Kind::Eager | Kind::Rendezvous | Kind::Request => {
                // Messages meet their receives as they arrive, whatever CPU is busy: else one could
                // overtake another that waits for its CPU.
                let identity = (event.source, event.sequence);
                if let Some(receive) = self.find(event.source, message.tag) {
                    let op = self.op(receive);
                    unit = (op.cpu, op.nic);
                    self.rank.matching().rare().met.insert(identity, receive);
                } else {
                    let unknown = Stamp { time: Time::MAX, ..Stamp::default() };
                    self.unexpected(&event, &unknown);
                }
            }
        }
        let (cpu, nic) = unit;
        let event = self.come_in(event, nic);
        self.queues().push(Class::Messages { cpu, nic }, || Entry::Message(Arrived(event)));
    }

    /// Charges a message to the interface, where that receives messages without the CPU. The CPU
    /// may go on with the message that is returned when its last byte is there.
    fn come_in(&mut self, mut event: Event<Message>, nic: u8) -> Event<Message> {
        if self.engine.costs.receive == Receive::Cpu || self.is_neighbour(event.source) {
            return event;
        }
        let size = event.message.bytes();
        let costs = self.costs(event.source, size);
        let bytes = costs.bandwidth(size);
        let clock = self.rank.clocks.incoming(nic);
        let path = event.message.path;
        let start = if clock.free > event.time { clock.path } else { path };
        let path = start.bandwidth(bytes);
        event.time = event.time.max(clock.free).saturating_add(bytes);
        event.message.path = path;
        *clock = Clock { free: event.time.saturating_add(costs.gap), path };
        event
    }

    /// Does the same as [`RankStep::receive`], for all but the place where most messages are
    /// received.
    #[inline(never)]
    pub fn receive_queued(&mut self, event: &Event<Message>, at: Time, unit: (u8, u8)) {
        self.receive(event, at, unit);
    }

    /// A message is received.
    #[inline(always)]
    pub fn receive(&mut self, event: &Event<Message>, at: Time, (cpu, nic): (u8, u8)) {
        let message = &event.message;
        let size = message.bytes();
        let costs = &self.costs_of_arrival(event, size);
        let arrival = (event.time, message.path);
        let by_nic = self.engine.costs.receive == Receive::Nic;
        let by_nic = by_nic && !self.is_neighbour(event.source);
        let charge = self.charge_receive((costs, size, by_nic), arrival, at, (cpu, nic));
        let known = self.identity(event);
        self.occupied((cpu, Activity::Receive), (at, charge.end.time), known, None);
        self.worker.events += 1;
        match message.kind {
            Kind::Clear => {
                let work = Work::Data { send: message.send, receive: message.tag };
                self.protocol(work, (cpu, nic), charge.end);
            }
            Kind::Data => self.data_received(event, &charge.end),
            _ => self.search(event, at, &charge),
        }
    }

    /// Looks for the receive of a message.
    #[inline(always)]
    fn search(&mut self, event: &Event<Message>, at: Time, charge: &Charge) {
        let (source, message) = (event.source, &event.message);
        if message.kind != Kind::Request {
            self.record_delivered(source, event.sequence, event.time);
        }
        let found = if self.engine.shape.several() {
            let identity = (source, event.sequence);
            let found = self.rank.matching().rare().met.remove(&identity);
            if found.is_none() {
                let end = (charge.end.time, charge.end.path);
                self.rank.matching().rare().charged.insert(identity, end);
                return;
            }
            found
        } else {
            self.find(source, message.tag)
        };
        let start = Stamp { time: at, cause: at, path: charge.start };
        let Some(receive) = found else {
            self.unexpected(event, &charge.end);
            return;
        };
        if message.kind == Kind::Request {
            self.clear(receive, Sent::by(event), charge.end);
            return;
        }
        if message.kind == Kind::Rendezvous {
            self.release(source, message.send, start);
        }
        self.matched(receive, Sent::by(event), at, &charge.end);
    }

    /// The receive of a message, taken from those that wait.
    #[inline(always)]
    fn find(&mut self, source: u32, tag: u32) -> Option<u32> {
        if !self.engine.source.claims() {
            let matched_by = self.engine.source.matched_by(tag);
            let posted = self.rank.matching().posted.take(source, matched_by);
            let served = || self.engine.source.receive_unposted(&mut self.rank.source, source, tag);
            return posted.or_else(served);
        }
        let claimed = self.engine.source.claim(&mut self.rank.source, self.id, source, tag);
        // It counts as started only now that it is known.
        self.worker.events += u64::from(claimed.is_some());
        claimed
    }

    /// Keeps a message for the receive that it will meet.
    fn unexpected(&mut self, event: &Event<Message>, end: &Stamp) {
        let Message { kind, send, size, tag, .. } = event.message;
        let (source, sequence) = (event.source, event.sequence);
        let (end, path) = (end.time, end.path);
        let unexpected = Unexpected { kind, source, sequence, send, size, end, path };
        let tag = self.engine.source.matched_by(tag);
        self.rank.matching().rare().unexpected.insert(source, tag, unexpected);
    }

    /// A receive has got its message.
    #[inline(always)]
    fn matched(&mut self, receive: u32, sent: Sent, at: Time, done: &Stamp) {
        let Sent { source, send, sequence, size } = sent;
        self.engine.source.matched(&mut self.rank.source, receive, (source, send), size);
        self.check_room(receive, (source, size), at);
        self.rank.received_messages = self.rank.received_messages.wrapping_add(1);
        self.rank.received_bytes = self.rank.received_bytes.saturating_add(size);
        if B::LISTENS {
            self.worker.probe.record(Record::Matched { source, sequence, at, receive });
        }
        self.reached(receive, Edge::Done, done);
    }

    /// Sees to it that a message fits its receive.
    #[inline]
    pub fn check_room(&mut self, receive: u32, (sender, size): (u32, u64), at: Time) {
        if self.engine.source.fits() {
            return;
        }
        let (rank, room) = (self.id, self.op(receive).size);
        if room < size {
            self.fail(at, Error::Truncated { rank, receive, sender, size, room });
        }
    }

    /// Tells the sender of a message by abstract rendezvous that it has met its receive.
    fn release(&mut self, source: u32, send: u32, at: Stamp) {
        let matching = self.rank.matching();
        matching.controls += 1;
        let (kind, time, cause, path) = (Kind::Release, at.time, at.time, at.path);
        let (cpu, nic, slot, tag, size) = (0, 0, 0, 0, 0);
        let message = Message { kind, cpu, nic, slot, send, tag, size, cause, path };
        let sequence = self.rank.next_sequence();
        if !N::DIRECT {
            return self.post_release(source, time, sequence, message);
        }
        let matching = self.rank.matching();
        matching.urgent = matching.urgent.saturating_sub(1);
        let (destination, message) = (source, Mail::Host(message));
        self.out.send(Event { time, source: self.id, sequence, destination, message });
    }

    /// Queues a step of the rendezvous protocol.
    fn protocol(&mut self, work: Work, (cpu, nic): (u8, u8), at: Stamp) {
        self.rank.batches = self.rank.batches.wrapping_add(1).max(1);
        let task = Task { at, batch: self.rank.batches, kind: Priority::Send, work };
        self.queues().push(Class::Sends { cpu, nic }, || Entry::Task(task));
    }

    /// A request to send has met its receive.
    fn clear(&mut self, receive: u32, request: Sent, at: Stamp) {
        let op = self.op(receive);
        let Sent { source: sender, send, sequence, .. } = request;
        let cleared = Cleared { receive, sender, request: sequence };
        self.rank.matching().rare().cleared.push(cleared);
        let work = Work::Clear { to: sender, send, receive };
        self.protocol(work, (op.cpu, op.nic), at);
    }

    pub fn send_clear(
        &mut self,
        to: u32,
        (send, receive): (u32, u32),
        task: &Task,
        at: Time,
        unit: (u8, u8),
    ) {
        let ways = self.ways(to, 0, at);
        let costs = &self.costs_by(ways.as_ref(), to, 0);
        let charge = self.charge_send((costs, 0), task, at, unit);
        self.occupied((unit.0, Activity::Send), (at, charge.end.time), None, Some(receive));
        self.rank.matching().controls += 1;
        let (kind, tag, size) = (Kind::Clear, receive, 0);
        let (cpu, nic, slot, cause, path) = (0, 0, 0, Time::ZERO, Path::default());
        let message = Message { kind, cpu, nic, slot, send, tag, size, cause, path };
        self.inject((to, ways), 0, at, &charge, message);
    }

    pub fn send_data(&mut self, send: u32, receive: u32, task: &Task, at: Time, unit: (u8, u8)) {
        let op = self.op(send);
        let ways = self.ways(op.peer, op.size, at);
        let costs = &self.costs_by(ways.as_ref(), op.peer, op.size);
        let charge = self.charge_send((costs, op.size), task, at, unit);
        let message = Message { tag: receive, ..Message::outgoing(Kind::Data, send, &op) };
        let sequence = self.rank.sequence;
        self.inject((op.peer, ways), op.size, at, &charge, message);
        if let Some(waiting) = self.take_unreleased(send) {
            let known = Some((self.id, waiting.sequence));
            self.occupied((unit.0, Activity::Send), (at, charge.end.time), known, Some(send));
            let blocked = at.saturating_sub(waiting.since);
            let matching = self.rank.matching();
            matching.controls += 1;
            let rare = matching.rare();
            rare.blocked = rare.blocked.saturating_add(blocked);
        }
        if op.size > self.engine.buffered {
            let waiting = self.waiting((send, &op), sequence, op.size, &charge);
            return self.await_departure(waiting);
        }
        self.reached_rarely(send, Edge::Done, &charge.end);
    }

    fn data_received(&mut self, event: &Event<Message>, end: &Stamp) {
        let receive = event.message.tag;
        let Some((_, sequence)) = self.identity(event) else { return };
        self.rank.matching().rare().cleared.retain(|cleared| cleared.receive != receive);
        self.record_delivered(event.source, sequence, event.time);
        self.matched(receive, Sent { sequence, ..Sent::by(event) }, end.cause, end);
    }

    /// The message whose payload an event brings: source and number. Data that follows a request
    /// counts as the message that was requested.
    fn identity(&self, event: &Event<Message>) -> Option<(u32, u32)> {
        match event.message.kind {
            Kind::Eager | Kind::Rendezvous => Some((event.source, event.sequence)),
            Kind::Data => {
                let mut cleared = self.rank.matching.as_ref()?.any_rare()?.cleared.iter();
                let cleared = cleared.find(|cleared| cleared.receive == event.message.tag)?;
                Some((event.source, cleared.request))
            }
            Kind::Release | Kind::Request | Kind::Clear => None,
        }
    }

    #[inline(always)]
    fn occupied(
        &mut self,
        (cpu, activity): (u8, Activity),
        (start, end): (Time, Time),
        message: Option<(u32, u32)>,
        operation: Option<u32>,
    ) {
        self.rank.busy = self.rank.busy.saturating_add(end.saturating_sub(start));
        if B::LISTENS {
            let (rank, probe) = (self.id, &mut self.worker.probe);
            probe.record(Record::Busy { rank, cpu, activity, start, end, message, operation });
        }
    }

    fn record_sent(&mut self, op: &Op, task: &Task, at: Time, entry: Time) {
        if B::LISTENS {
            let injected = at.saturating_add(entry);
            let (source, sequence) = (self.id, self.rank.sequence);
            let (destination, size, posted) = (op.peer, op.size, task.at.time);
            let tag = self.engine.source.shown_tag(op.tag);
            let record =
                Record::Sent { source, sequence, destination, tag, size, posted, injected };
            self.worker.probe.record(record);
        }
    }

    fn record_delivered(&mut self, source: u32, sequence: u32, at: Time) {
        if B::LISTENS {
            self.worker.probe.record(Record::Delivered { source, sequence, at });
        }
    }
}
