//! A literal imitation of LogGOPSim (2023-12).
//!
//! One global order of events by (time, number of first insertion). An event that finds its CPU or
//! interface busy is put back with the time at which they become free, its number unchanged. So
//! among everything that waits at a host the lowest number goes first, and it suffices to keep the
//! first of each host in the global heap.
//!
//! Its peculiarities are kept: a message occupies the CPU and interface with the *sender's*
//! indices; an operation set free starts when its CPU is free, not when the operation before it
//! ends; a receive that finds its message releases a rendezvous sender by the *receive's* size;
//! sizes of messages and receives are never compared; (s-1) wraps for s = 0. All arithmetic is on
//! 64-bit words, in nanoseconds if every parameter is a whole number of them, else picoseconds. It
//! wraps below zero; where something waits for a clock that was set so, or time overflows, the
//! result is an error. That shortcut needs clocks that only go forward. A message of no bytes can
//! set one back (g < G, or o below the larger, or the lesser, of O and G); then every event is in
//! the heap itself.
//!
//! Not kept: the unstable order of operations of one kind that become ready together, and a second
//! release of an eager sender by a receive larger than S.

mod parameters;
mod waiting;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use kernel::{Event, Probe, Ready, Silent};
use schedule::{Edge, Kind as Operation, Op, Program, Run};
use units::Time;

use parameters::{Parameters, has_empty_messages};
use waiting::Waiting;

use crate::clocks::{Class, Clocks, Shape, Side};
use crate::deadlock::Stuck;
use crate::message::{Kind, Message};
use crate::path::{Clock, Path, Stamp};
use crate::queues::{Arrived, Entry, Order, Priority, Queues};
use crate::queues::{Task, Work};
use crate::rank::{Matching, Unexpected, Unreleased};
use crate::simulate::critical_path;
use crate::source::{Claims, Operations, Progress, Scheduled};
use crate::{Activity, Error, Outcome, RankTotals, Record, Settings};

/// Half of the range of a word: times below zero are larger.
const HALF: u64 = 1 << 63;

/// A host.
struct Host {
    source: Progress,
    clocks: Clocks,
    queues: Box<Queues>,
    matching: Matching,
    /// The entry that stands for it in the global heap.
    first: Option<(Time, Order)>,
    sequence: u32,
    totals: RankTotals,
}

struct Simulation<'a, P, B> {
    parameters: Parameters,
    settings: &'a Settings,
    source: Scheduled<'a, P>,
    hosts: Vec<Host>,
    heap: BinaryHeap<Reverse<(Time, Order, u32)>>,
    /// The list of all events, if clocks may go back.
    literal: Option<BinaryHeap<Reverse<Waiting>>>,
    /// Number of the next event to be inserted.
    number: u64,
    /// Operations that the current event has set free: host, index, operation.
    freed: Vec<(u32, u32, Op)>,
    /// The first send of no bytes that led to a time below zero: rank and index.
    below_zero: Option<(u32, u32)>,
    /// A sum has left the range of a word at its upper end.
    overflow: bool,
    probe: B,
}

/// Simulates a program exactly as `LogGOPSim` does, on one thread; `settings.threads`,
/// `settings.transport` and `settings.rendezvous` do not apply.
///
/// # Errors
/// Parameters that LogGOPSim does not have, or an overflow.
pub fn simulate_loggopsim<P: Program, B: Probe<Record>>(
    program: &P,
    settings: &Settings,
    probe: B,
) -> Result<(Outcome, B), Error> {
    let (mut outcome, probe) = simulate(Scheduled::new(program), program, settings, probe)?;
    if outcome.deadlock.is_some() && program.claims() {
        // Claimed receives leave no trace; posted ones can be named.
        let source = Scheduled::posting_all(program);
        outcome.deadlock = simulate(source, program, settings, Silent)?.0.deadlock;
    }
    Ok((outcome, probe))
}

fn simulate<P: Program, B: Probe<Record>>(
    source: Scheduled<'_, P>,
    program: &P,
    settings: &Settings,
    probe: B,
) -> Result<(Outcome, B), Error> {
    let shape = Shape::new(program.cpus(), program.nics());
    let hosts = (0..program.ranks()).map(|rank| Host {
        source: source.state(rank),
        clocks: Clocks::new(shape),
        queues: Box::new(Queues::new(shape)),
        matching: Matching::default(),
        first: None,
        sequence: 0,
        totals: RankTotals::default(),
    });
    let parameters = Parameters::new(settings)?;
    let backwards = parameters.may_go_back() && has_empty_messages(program);
    let mut simulation = Simulation {
        parameters,
        settings,
        hosts: hosts.collect(),
        source,
        heap: BinaryHeap::new(),
        literal: backwards.then(BinaryHeap::new),
        number: 0,
        freed: Vec::new(),
        below_zero: None,
        overflow: false,
        probe,
    };
    simulation.start(program);
    simulation.run()?;
    let below_zero = simulation.below_zero;
    let result = simulation.finish(program);
    match (below_zero, &result) {
        // Where nothing waits for the clock that was set there, LogGOPSim's result is good.
        (Some((rank, send)), Err(_) | Ok((Outcome { deadlock: Some(_), .. }, _))) => {
            Err(Error::BelowZero { rank, send })
        }
        _ => result,
    }
}

impl<P: Program, B: Probe<Record>> Simulation<'_, P, B> {
    /// Inserts the operations without dependencies: hosts ascending, at each sends, receives,
    /// computation, of each kind in the order of the program.
    fn start(&mut self, program: &P) {
        for rank in 0..program.ranks() {
            let mut runs: Vec<(Operation, Op, Run)> = Vec::new();
            program.roots(rank, &mut |run| {
                let op = program.op(rank, run.first);
                runs.push((op.kind, op, run));
            });
            runs.sort_by_key(|entry| (entry.0, entry.2.first));
            for same in runs.chunk_by(|a, b| a.0 == b.0) {
                if let [(_, op, run)] = same {
                    self.insert(rank, op, *run, Stamp::default());
                    continue;
                }
                let members = |run: &Run| {
                    let (first, stride) = (run.first, run.stride);
                    (0..run.count).map(move |k| first + k * stride)
                };
                let mut singles: Vec<u32> =
                    same.iter().flat_map(|(.., run)| members(run)).collect();
                singles.sort_unstable();
                for index in singles {
                    let op = program.op(rank, index);
                    self.insert(rank, &op, Run::one(index), Stamp::default());
                }
            }
            self.reorder(rank);
        }
    }

    /// Inserts events for operations of one class.
    fn insert(&mut self, rank: u32, op: &Op, run: Run, at: Stamp) {
        let cause = Time::from_ps(self.number);
        self.number += u64::from(run.count);
        let (class, kind) = match op.kind {
            Operation::Send => (Class::Sends { cpu: op.cpu, nic: op.nic }, Priority::Send),
            Operation::Recv if self.source.claims() => return,
            Operation::Recv => (Class::Receives, Priority::Receive),
            Operation::Calc => (Class::Compute { cpu: op.cpu }, Priority::Compute),
        };
        let work = if run.count == 1 { Work::One(run.first, *op) } else { Work::Ops(run) };
        let task = Task { at: Stamp { cause, ..at }, batch: 0, kind, work };
        self.push(rank, class, Entry::Task(task));
    }

    fn push(&mut self, rank: u32, class: Class, entry: Entry) {
        let Some(literal) = &mut self.literal else {
            self.hosts[rank as usize].queues.push(class, || entry);
            return;
        };
        let mut entry = Some(entry);
        // One event for each operation.
        while let Some(mut event) = entry.take() {
            if let Entry::Task(task) = &mut event
                && let Some(first) = task.split()
            {
                // The numbers of a run are consecutive.
                task.at.cause = task.at.cause.saturating_add(Time::from_ps(1));
                entry = Some(event);
                event = Entry::Task(first);
            }
            let (time, order) = (event.ready(), event.order());
            literal.push(Reverse(Waiting { time, order, rank, class, entry: event }));
        }
    }

    /// Puts the first event of a host into the heap, if it is another than before.
    fn reorder(&mut self, rank: u32) {
        if self.literal.is_some() {
            return;
        }
        let host = &mut self.hosts[rank as usize];
        let first = host.queues.next_in_order(&host.clocks);
        if first != host.first {
            host.first = first;
            if let Some((time, order)) = first {
                self.heap.push(Reverse((time, order, rank)));
            }
        }
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut events = 0u64;
        while let Some((rank, entry, at)) = self.pop() {
            self.overflow |= at >= HALF && self.below_zero.is_some();
            if self.overflow {
                return Ok(());
            }
            match entry {
                Entry::Message(Arrived(event)) => self.message(rank, &event, at),
                Entry::Task(task) => self.perform(rank, &task, at),
            }
            self.release_freed();
            self.reorder(rank);
            events += 1;
            if events.is_multiple_of(4_096)
                && let Some(progress) = &self.settings.progress
            {
                progress.advance(4_096, 0, Time::from_ps(at.saturating_mul(self.parameters.tick)));
                progress.goes_on()?;
            }
        }
        Ok(())
    }

    /// The next event that finds its CPU and interface free: where, what, when.
    fn pop(&mut self) -> Option<(u32, Entry, u64)> {
        if let Some(literal) = &mut self.literal {
            loop {
                let Reverse(mut event) = literal.pop()?;
                let free = self.hosts[event.rank as usize].clocks.free(event.class);
                if free <= event.time {
                    return Some((event.rank, event.entry, event.time.ps()));
                }
                event.time = free;
                literal.push(Reverse(event));
            }
        }
        loop {
            let Reverse((time, order, rank)) = self.heap.pop()?;
            let host = &mut self.hosts[rank as usize];
            if host.first != Some((time, order)) {
                continue;
            }
            host.first = None;
            host.queues.next(&host.clocks)?;
            return Some((rank, host.queues.pop(&host.clocks)?, time.ps()));
        }
    }

    fn perform(&mut self, rank: u32, task: &Task, at: u64) {
        let (index, op) = match task.work {
            Work::One(index, op) => (index, op),
            Work::Ops(run) => {
                (run.first, self.source.op(&self.hosts[rank as usize].source, rank, run.first))
            }
            // The steps of a protocol that LogGOPSim does not have.
            Work::Clear { .. } | Work::Data { .. } => return,
        };
        match op.kind {
            Operation::Send => self.send(rank, index, &op, &task.at, at),
            Operation::Recv => self.receive(rank, index, &op, &task.at, at),
            Operation::Calc => self.compute(rank, index, &op, &task.at, at),
        }
    }

    /// Inserts what has become free: hosts ascending, by kind, else in the order of becoming free.
    fn release_freed(&mut self) {
        if self.freed.is_empty() {
            return;
        }
        let mut freed = std::mem::take(&mut self.freed);
        freed.sort_by_key(|(rank, _, op)| (*rank, op.kind));
        for (rank, index, op) in freed.drain(..) {
            let clocks = &self.hosts[rank as usize].clocks;
            let mut clock = clocks.cpu(op.cpu);
            if op.kind == Operation::Send {
                let nic = clocks.nic(op.nic, Side::Sending);
                if nic.free > clock.free {
                    clock = nic;
                }
            }
            let at = Stamp { time: clock.free, cause: Time::ZERO, path: clock.path };
            self.insert(rank, &op, Run::one(index), at);
            self.reorder(rank);
        }
        self.freed = freed;
    }

    fn reached(&mut self, rank: u32, index: u32, edge: Edge) {
        let (source, freed) = (&self.source, &mut self.freed);
        let state = &mut self.hosts[rank as usize].source;
        source.reached(state, rank, (index, edge), &Stamp::default(), |next, op, _| {
            freed.push((rank, next, op));
        });
    }

    fn noise(&self, rank: u32, from: u64, length: u64) -> u64 {
        let (settings, tick) = (self.settings, self.parameters.tick);
        let ps = |ticks: u64| Time::from_ps(ticks.saturating_mul(tick));
        let to = ps(from.saturating_add(length));
        settings.noise.between(settings.seed, rank, ps(from), to).ps() / tick
    }

    fn compute(&mut self, rank: u32, index: u32, op: &Op, ready: &Stamp, at: u64) {
        let length = op.size.saturating_mul(self.parameters.unit);
        let end = at.saturating_add(length).saturating_add(self.noise(rank, at, length));
        if end == u64::MAX {
            self.overflow = true;
        }
        let clocks = &mut self.hosts[rank as usize].clocks;
        let start = if ready.time.ps() == at { ready.path } else { clocks.cpu(op.cpu).path };
        let clock = Clock { free: Time::from_ps(end), path: start.compute(Time::from_ps(length)) };
        clocks.set_cpu(op.cpu, clock);
        self.occupied((rank, op.cpu), Activity::Compute, (at, end), None, Some(index));
        if B::LISTENS {
            let (start, end) = (self.time(at), self.time(end));
            self.probe.record(Record::Computed { rank, index, start, end });
        }
        self.reached(rank, index, Edge::Started);
        self.reached(rank, index, Edge::Done);
    }

    fn send(&mut self, rank: u32, index: u32, op: &Op, ready: &Stamp, at: u64) {
        let parameters = &self.parameters;
        let (latency, overhead) = (parameters.latency, parameters.overhead);
        let rest = op.size.wrapping_sub(1);
        let per_byte = rest.wrapping_mul(parameters.overhead_per_byte);
        let bytes = rest.wrapping_mul(parameters.gap_per_byte);
        let gap = at.wrapping_add(parameters.gap).wrapping_add(bytes);
        let eager = op.size <= parameters.eager_limit;
        let end = at.wrapping_add(overhead).wrapping_add(per_byte);
        let end = end.wrapping_add(self.noise(rank, at, overhead));
        self.check((rank, index), op.size, at, (end, gap));
        let host = &mut self.hosts[rank as usize];
        let unit = (op.cpu, op.nic);
        let now = Time::from_ps(at);
        let start = host.clocks.start((ready.time, ready.path), now, unit, Side::Sending);
        let path = charged(start, overhead, per_byte, 0);
        host.clocks.set_cpu(op.cpu, Clock { free: Time::from_ps(end), path });
        let path = charged(start, 0, 0, bytes);
        host.clocks.set_nic(op.nic, Side::Sending, Clock { free: Time::from_ps(gap), path });
        let sequence = host.sequence;
        host.sequence = sequence.wrapping_add(1);
        host.totals.sent_messages += 1;
        host.totals.sent_bytes = host.totals.sent_bytes.saturating_add(op.size);
        self.record_sent(rank, sequence, op, (ready.time.ps(), at.wrapping_add(overhead)));
        let message = Some((rank, sequence));
        self.occupied((rank, op.cpu), Activity::Send, (at, end), message, Some(index));
        self.reached(rank, index, Edge::Started);
        let arrival = at.wrapping_add(overhead).wrapping_add(latency);
        let cause = Time::from_ps(self.number);
        self.number += 1;
        let path = charged(start, overhead, 0, 0).latency(Time::from_ps(latency));
        let (Op { cpu, nic, tag, size, .. }, kind) = (*op, Kind::Eager);
        let message = Message { kind, cpu, nic, slot: 0, send: index, tag, size, cause, path };
        let (time, destination) = (Time::from_ps(arrival), op.peer);
        let event = Event { time, source: rank, sequence, destination, message };
        if (destination as usize) < self.hosts.len() {
            self.push(destination, Class::Messages { cpu, nic }, Entry::Message(Arrived(event)));
            self.reorder(destination);
        }
        if eager {
            self.reached(rank, index, Edge::Done);
        } else {
            let since = Time::from_ps(end);
            let send = index;
            let waiting = Unreleased { send, destination, sequence, since, ..Default::default() };
            self.hosts[rank as usize].matching.rare().unreleased.push(waiting);
        }
    }

    /// Notes that a sum of a message's costs has left the range of a word. `end` and `gap` are the
    /// sums with O and G that begin at `at`; `send` is the rank and index of the send.
    #[inline]
    fn check(&mut self, send: (u32, u32), size: u64, at: u64, (end, gap): (u64, u64)) {
        if size.wrapping_sub(1) >= self.parameters.most_bytes || at.max(end).max(gap) >= HALF {
            self.check_exactly(send, size, at, (end, gap));
        }
    }

    #[cold]
    fn check_exactly(&mut self, send: (u32, u32), size: u64, at: u64, (end, gap): (u64, u64)) {
        if size == 0 {
            if at < HALF && end.max(gap) >= HALF {
                self.below_zero.get_or_insert(send);
            }
            return;
        }
        let Parameters { latency, overhead, gap, gap_per_byte, overhead_per_byte, .. } =
            self.parameters;
        let latest = (size - 1)
            .checked_mul(gap_per_byte.max(overhead_per_byte))
            .and_then(|bytes| bytes.checked_add(gap.max(overhead.saturating_add(latency))))
            .and_then(|costs| at.checked_add(costs));
        if latest.is_none() || end < at {
            self.overflow = true;
        }
    }

    fn message(&mut self, rank: u32, event: &Event<Message>, at: u64) {
        let parameters = &self.parameters;
        let Message { cpu, nic, send, tag, size, path, .. } = event.message;
        let overhead = parameters.overhead;
        let rest = size.wrapping_sub(1);
        let per_byte = rest.wrapping_mul(parameters.overhead_per_byte);
        let bytes = rest.wrapping_mul(parameters.gap_per_byte);
        let gap = at.wrapping_add(parameters.gap).wrapping_add(bytes);
        let rendezvous = size > parameters.eager_limit;
        let end = at.wrapping_add(overhead).wrapping_add(self.noise(rank, at, overhead));
        let end = end.wrapping_add(per_byte.max(bytes));
        self.check((event.source, send), size, at, (end, gap));
        let host = &mut self.hosts[rank as usize];
        let start =
            host.clocks.start((event.time, path), Time::from_ps(at), (cpu, nic), Side::Receiving);
        let more = if bytes > per_byte { (0, bytes) } else { (per_byte, 0) };
        let path = charged(start, overhead, more.0, more.1);
        host.clocks.set_cpu(cpu, Clock { free: Time::from_ps(end), path });
        let side = Clock { free: Time::from_ps(gap), path: charged(start, 0, 0, bytes) };
        host.clocks.set_nic(nic, Side::Receiving, side);
        let (source, sequence) = (event.source, event.sequence);
        let found = if self.source.claims() {
            self.source.claim(&mut host.source, rank, source, tag)
        } else {
            host.matching.posted.take(source, tag)
        };
        if found.is_none() {
            let (kind, end) = (Kind::Eager, Time::from_ps(end));
            let unexpected = Unexpected { kind, source, sequence, send, size, end, path };
            host.matching.rare().unexpected.insert(source, tag, unexpected);
        }
        let message = Some((source, sequence));
        self.occupied((rank, cpu), Activity::Receive, (at, end), message, found);
        if B::LISTENS {
            let at = self.time(event.time.ps());
            self.probe.record(Record::Delivered { source, sequence, at });
        }
        if let Some(receive) = found {
            if rendezvous {
                self.release(source, send, (cpu, nic), at, start);
            }
            self.matched(rank, receive, (source, sequence, size), at);
        }
    }

    fn receive(&mut self, rank: u32, index: u32, op: &Op, ready: &Stamp, at: u64) {
        self.reached(rank, index, Edge::Started);
        let host = &mut self.hosts[rank as usize];
        let Some(message) = host.matching.take_unexpected(op.peer, op.tag.into()) else {
            host.matching.posted.insert(op.peer, op.tag, index);
            return;
        };
        let sent = (message.source, message.sequence, message.size);
        self.matched(rank, index, sent, at);
        if op.size > self.parameters.eager_limit {
            self.release(message.source, message.send, (op.cpu, op.nic), at, ready.path);
        }
    }

    fn matched(&mut self, rank: u32, receive: u32, sent: (u32, u32, u64), at: u64) {
        let (source, sequence, size) = sent;
        let totals = &mut self.hosts[rank as usize].totals;
        totals.received_messages += 1;
        totals.received_bytes = totals.received_bytes.saturating_add(size);
        if B::LISTENS {
            let at = self.time(at);
            self.probe.record(Record::Matched { source, sequence, at, receive });
        }
        self.reached(rank, receive, Edge::Done);
    }

    /// Lets the sender of a message by rendezvous go on.
    fn release(&mut self, rank: u32, send: u32, (cpu, nic): (u8, u8), at: u64, path: Path) {
        let tick = self.parameters.tick;
        let host = &mut self.hosts[rank as usize];
        let now = Clock { free: Time::from_ps(at), path };
        if host.clocks.cpu(cpu).free < now.free {
            host.clocks.set_cpu(cpu, now);
        }
        if host.clocks.nic(nic, Side::Sending).free < now.free {
            host.clocks.set_nic(nic, Side::Sending, now);
        }
        let unreleased = &mut host.matching.rare().unreleased;
        if let Some(position) = unreleased.iter().position(|waiting| waiting.send == send) {
            let waiting = unreleased.swap_remove(position);
            let blocked = at.saturating_sub(waiting.since.ps()).saturating_mul(tick);
            host.totals.blocked = host.totals.blocked.saturating_add(Time::from_ps(blocked));
            self.reached(rank, send, Edge::Done);
        }
        self.reorder(rank);
    }

    fn time(&self, ticks: u64) -> Time {
        Time::from_ps(ticks.saturating_mul(self.parameters.tick))
    }

    fn occupied(
        &mut self,
        (rank, cpu): (u32, u8),
        activity: Activity,
        (start, end): (u64, u64),
        message: Option<(u32, u32)>,
        operation: Option<u32>,
    ) {
        let (start, end) = (self.time(start), self.time(end));
        let busy = &mut self.hosts[rank as usize].totals.busy;
        *busy = busy.saturating_add(end.saturating_sub(start));
        if B::LISTENS {
            let record = Record::Busy { rank, cpu, activity, start, end, message, operation };
            self.probe.record(record);
        }
    }

    fn record_sent(&mut self, source: u32, sequence: u32, op: &Op, times: (u64, u64)) {
        if B::LISTENS {
            let (posted, injected) = (self.time(times.0), self.time(times.1));
            let (destination, tag, size) = (op.peer, op.tag, op.size);
            let record =
                Record::Sent { source, sequence, destination, tag, size, posted, injected };
            self.probe.record(record);
        }
    }

    fn finish(self, program: &P) -> Result<(Outcome, B), Error> {
        if self.overflow {
            return Err(kernel::Error::Overflow { at: Time::MAX }.into());
        }
        let tick = self.parameters.tick;
        let scale = |time: Time| time.ps().checked_mul(tick).map(Time::from_ps);
        let mut outcome = Outcome { events: self.number, ..Outcome::default() };
        let (mut last, mut ends_on, mut unreceived) = (Clock::default(), 0, 0u64);
        let mut stuck = Stuck::default();
        for (rank, host) in (0..).zip(&self.hosts) {
            let end = host.clocks.last_cpu();
            let finish = scale(end.free).ok_or(kernel::Error::Overflow { at: Time::MAX })?;
            if end.free > last.free {
                (last, ends_on) = (end, rank);
            }
            unreceived += host.matching.any_rare().map_or(0, |rare| rare.unexpected.len() as u64);
            if self.source.unfinished(&host.source, rank) {
                stuck.add(&self.source, &host.source, rank, Some(&host.matching));
            }
            let totals = RankTotals { finish, ..host.totals };
            outcome.ranks.push(totals.with_path(&end.path.scaled(tick)));
        }
        let path = last.path.scaled(tick);
        let free = scale(last.free).unwrap_or(Time::MAX);
        outcome.path = critical_path(ends_on, Clock { free, path });
        outcome.deadlock = stuck.describe(program.ranks(), free);
        outcome
            .remarks
            .push("compat = \"loggopsim\": sequential, with LogGOPSim's rules".to_owned());
        if program.ranks() > 0 && unreceived > 0 {
            outcome.remarks.push(format!("messages that were never received: {unreceived}"));
        }
        Ok((outcome, self.probe))
    }
}

/// A path, longer by what a message costs. The differences below zero that come from s = 0 shorten
/// the overhead.
const fn charged(mut path: Path, overhead: u64, per_byte: u64, bytes: u64) -> Path {
    let mut less = 0;
    path.overhead = path.overhead.wrapping_add(overhead);
    if per_byte.cast_signed() < 0 {
        less += per_byte.wrapping_neg();
    } else {
        path.overhead = path.overhead.wrapping_add(per_byte);
    }
    if bytes.cast_signed() < 0 {
        less += bytes.wrapping_neg();
    } else {
        path.bandwidth = path.bandwidth.wrapping_add(bytes);
    }
    path.overhead = path.overhead.saturating_sub(less);
    path
}
