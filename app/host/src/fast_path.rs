//! The fast path: the commonest step of all, written in a straight line. An eager message reaches a
//! rank that waits for nothing else, meets its receive, and sets at most one operation free, an
//! eager send that starts in the same window. The rules are those of [`crate::activity`]; a rank
//! that needs more than that takes the long way. A run that is recorded takes it always, and the
//! tests compare the two.

use kernel::{Event, Probe};
use network::{Mail, Network, Nowhere, Transfer};
use schedule::{Edge, Follow, Kind as Operation, Op};
use units::{HostId, MessageId, Time};

use crate::Record;
use crate::clocks::{Class, Side};
use crate::costs::Costs;
use crate::engine::RankStep;
use crate::message::{Kind, Message};
use crate::path::{Clock, Stamp};
use crate::queues::{Burst, Task, Work};
use crate::source::Source;

/// The classes of the only CPU and interface.
const RECEIVING: Class = Class::Messages { cpu: 0, nic: 0 };
const SENDING: Class = Class::Sends { cpu: 0, nic: 0 };

/// The costs of a message of one size at the hosts, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charges {
    size: u64,
    /// At the receiver's CPU: o, and what the bytes after the first add, as overhead or bandwidth.
    receive_overhead: Time,
    rest_overhead: Time,
    rest_bandwidth: Time,
    /// G for the bytes after the first, and with g: how long the interfaces are busy.
    bandwidth: Time,
    interface: Time,
    /// At the sender's CPU: o + (s-1)O; and what of it passes before the message enters the
    /// network.
    send_overhead: Time,
    entry: Time,
}

impl Charges {
    /// Adds up the costs of messages of `size` bytes.
    pub fn new(all: &Costs, size: u64) -> Self {
        let costs = all.of(size);
        let (overhead, bandwidth) = (costs.receiving_rest(size), costs.bandwidth(size));
        let (rest_overhead, rest_bandwidth) =
            if bandwidth > overhead { (Time::ZERO, bandwidth) } else { (overhead, Time::ZERO) };
        Self {
            size,
            receive_overhead: costs.receive_overhead,
            rest_overhead,
            rest_bandwidth,
            bandwidth,
            interface: costs.gap.saturating_add(bandwidth),
            send_overhead: costs.sending(size),
            entry: all.entry(costs),
        }
    }
}

impl<S: Source, N: Network, B: Probe<Record<N::Detail>>> RankStep<'_, S, N, B> {
    /// Handles the only thing that can happen next, a message. Returns false if it is not as simple
    /// as the module says; then nothing has changed.
    #[inline(always)]
    pub fn fast_path(&mut self, event: &Event<Message>, until: Time) -> bool {
        let at = event.time.max(self.rank.clocks.free(RECEIVING));
        if !self.engine.straight || at >= until {
            return false;
        }
        let Some((index, follow, done)) = self.accept(event, at) else { return false };
        if let Follow::One(next, op) = follow
            && self.engine.plain
            && op.kind == Operation::Send
        {
            // The CPU has just received, so that only the interface can be busy longer.
            let at = done.time.max(self.rank.clocks.free(SENDING));
            if at < until && op.size <= self.engine.plain_limit {
                self.ended();
                self.dispatch((next, &op), &done, at);
                return true;
            }
        }
        self.set_free(index, follow, &done);
        true
    }

    /// A message that nothing else can come before is received as it arrives: whatever waits can
    /// start only later, and so can the next arrival. Else nothing has changed.
    #[inline]
    pub fn receive_first(&mut self, event: &Event<Message>, next: Time, until: Time) -> bool {
        let at = event.time.max(self.rank.clocks.free(RECEIVING));
        let simple = self.engine.straight && event.message.kind == Kind::Eager;
        let clocks = &self.rank.clocks;
        let waiting = self.queues.as_mut().and_then(|queues| queues.next(clocks));
        let first = simple && at < until.min(next) && waiting.is_none_or(|(time, _)| at < time);
        if first {
            self.receive_plain(event, at);
        }
        first
    }

    /// A message is received that has waited for its turn.
    pub fn receive_plain(&mut self, event: &Event<Message>, at: Time) {
        if let Some((index, follow, done)) = self.accept(event, at) {
            self.set_free(index, follow, &done);
        } else {
            self.receive_queued(event, at, (0, 0));
        }
    }

    /// Like sends start one after the other, until something else comes first. Gives when the next
    /// thing happens, or earlier; `None` if the first is not as simple as that, and then nothing
    /// has changed.
    pub fn send_all(&mut self, burst: &Burst, until: Time) -> Option<Time> {
        if burst.class != SENDING {
            return None;
        }
        let Burst { since, run, other, .. } = burst;
        let limit = self.engine.plain_limit;
        let (mut sent, mut next) = (0, Time::ZERO);
        while sent < run.count {
            let at = since.time.max(self.rank.clocks.free(SENDING));
            let earlier = other.is_some_and(|(class, ready, behind)| {
                let other = ready.max(self.rank.clocks.free(class));
                other < at || other == at && !behind
            });
            if at >= until || earlier {
                next = if earlier { next } else { at };
                break;
            }
            let index = run.first + sent * run.stride;
            let op = self.op(index);
            if op.size > limit || self.is_neighbour(op.peer) {
                break;
            }
            self.dispatch((index, &op), since, at);
            sent += 1;
        }
        if sent > 0 {
            self.queues().started(sent);
        }
        (sent > 0).then_some(next)
    }

    /// The only task that waits is done, if it is an eager send of one message. Else nothing has
    /// changed.
    pub fn send_one(&mut self, task: &Task, at: Time) -> bool {
        let Some((index, op)) = self.plain_send(task) else { return false };
        self.queues().take_only();
        self.dispatch((index, &op), &task.at, at);
        true
    }

    /// A task that was taken out of its queue is done, if it is an eager send of one message. Else
    /// nothing has changed.
    pub fn send_taken(&mut self, task: &Task, at: Time) -> bool {
        let Some((index, op)) = self.plain_send(task) else { return false };
        self.dispatch((index, &op), &task.at, at);
        true
    }

    /// Returns the operation of a task that is an eager send of one message to another host.
    #[inline(always)]
    fn plain_send(&self, task: &Task) -> Option<(u32, Op)> {
        let Work::One(index, op) = task.work else { return None };
        let limit = self.engine.plain_limit;
        let is_plain = op.kind == Operation::Send && op.size <= limit;
        (is_plain && !self.is_neighbour(op.peer)).then_some((index, op))
    }

    /// Receives a message, if it is eager and its receive is there: the receive, what its end sets
    /// free, and when. Else nothing has changed.
    #[inline(always)]
    fn accept(&mut self, event: &Event<Message>, at: Time) -> Option<(u32, Follow, Stamp)> {
        let message = &event.message;
        if message.kind != Kind::Eager || self.is_neighbour(event.source) {
            return None;
        }
        let (index, follow) = self.meet(event, at)?;
        let sent = (event.source, message.send);
        self.engine.source.matched(&mut self.rank.source, index, sent, message.size);
        self.worker.events += 1;
        let charges = self.charges(message.size);
        let arrival = (event.time, message.path);
        let start = self.rank.clocks.start(arrival, at, (0, 0), Side::Receiving);
        let rest = charges.rest_overhead.saturating_add(charges.rest_bandwidth);
        let time = at.saturating_add(charges.receive_overhead).saturating_add(rest);
        let overhead = charges.receive_overhead.saturating_add(charges.rest_overhead);
        let path = start.overhead(overhead).bandwidth(charges.rest_bandwidth);
        let rank = &mut *self.rank;
        rank.clocks.set_cpu(0, Clock { free: time, path });
        let free = at.saturating_add(charges.interface);
        let nic = Clock { free, path: start.bandwidth(charges.bandwidth) };
        rank.clocks.set_nic(0, Side::Receiving, nic);
        rank.busy = rank.busy.saturating_add(time.saturating_sub(at));
        rank.received_messages = rank.received_messages.wrapping_add(1);
        rank.received_bytes = rank.received_bytes.saturating_add(message.size);
        Some((index, follow, Stamp { time, cause: at, path }))
    }

    /// A receive is done.
    #[inline(always)]
    fn set_free(&mut self, index: u32, follow: Follow, done: &Stamp) {
        if follow == Follow::Nothing && done.time < Time::MAX {
            self.ended();
        } else {
            self.reached_rarely(index, Edge::Done, done);
        }
    }

    /// An operation is done, and what that sets free is known.
    #[inline(always)]
    fn ended(&mut self) {
        self.engine.source.ended(&mut self.rank.source);
        self.rank.batches = self.rank.batches.wrapping_add(1).max(1);
    }

    /// The receive of a message, and what its end sets free.
    #[inline(always)]
    fn meet(&mut self, event: &Event<Message>, at: Time) -> Option<(u32, Follow)> {
        let (source, tag) = (event.source, event.message.tag);
        let state = &mut self.rank.source;
        if self.engine.source.claims() {
            let answer = self.engine.source.answer(state, source, tag);
            // It counts as started only now that it is known.
            self.worker.events += u64::from(answer.is_some());
            return answer;
        }
        let matching = self.rank.matching.as_mut()?;
        let index = matching.posted.take(source, self.engine.source.matched_by(tag))?;
        self.check_room(index, (source, event.message.size), at);
        Some((index, self.engine.source.follow(&self.rank.source, self.id, index)))
    }

    /// An eager send that could start from `since` on starts; nothing waits for its end.
    #[inline(always)]
    fn dispatch(&mut self, (index, op): (u32, &Op), since: &Stamp, at: Time) {
        self.engine.source.ended(&mut self.rank.source);
        self.worker.events += 1;
        let charges = self.charges(op.size);
        let own = (since.time, since.path);
        let start = self.rank.clocks.start(own, at, (0, 0), Side::Sending);
        let free = at.saturating_add(charges.send_overhead);
        if free == Time::MAX {
            self.out.overflow();
        }
        let rank = &mut *self.rank;
        rank.clocks.set_cpu(0, Clock { free, path: start.overhead(charges.send_overhead) });
        rank.busy = rank.busy.saturating_add(free.saturating_sub(at));
        rank.sent_bytes = rank.sent_bytes.saturating_add(op.size);
        let free = at.saturating_add(charges.interface);
        let nic = Clock { free, path: start.bandwidth(charges.bandwidth) };
        rank.clocks.set_nic(0, Side::Sending, nic);
        let entry = at.saturating_add(charges.entry);
        let transfer = Transfer::new(HostId(self.id), HostId(op.peer), op.size);
        let sequence = rank.next_sequence();
        let (kind, cpu, nic, slot, tag, size) = (Kind::Eager, 0, 0, 0, op.tag, op.size);
        let path = start.overhead(charges.entry);
        let message = Message { kind, cpu, nic, slot, send: index, tag, size, cause: at, path };
        if !N::DIRECT {
            return self.post(entry, (op.peer, op.size), sequence, message);
        }
        let interface = &mut self.nic.interface;
        let number = MessageId(sequence.into());
        let answer = self.engine.network.inject(interface, entry, transfer, number, &mut Nowhere);
        let time = answer.unwrap_or(Time::MAX);
        let path = path.latency(time.saturating_sub(entry));
        let message = Mail::Host(Message { path, ..message });
        let (source, destination) = (self.id, op.peer);
        self.out.send(Event { time, source, sequence, destination, message });
    }

    #[inline(always)]
    fn charges(&mut self, size: u64) -> Charges {
        match &self.worker.charges {
            Some(charges) if charges.size == size => *charges,
            _ => self.new_charges(size),
        }
    }

    #[cold]
    fn new_charges(&mut self, size: u64) -> Charges {
        let charges = Charges::new(&self.engine.costs, size);
        *self.worker.charges.insert(charges)
    }
}
