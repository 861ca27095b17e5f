//! The default rules, as literally as they can be written down.
//!
//! One loop takes the earliest time at which anything can start anywhere, lets every rank start
//! what it can at that time, then hands over the messages that were sent, and repeats at the same
//! time until nothing is left. What waits at a rank is one list, searched from end to end for the
//! least (time, cause, kind, posting or source, number). Posted receives and unexpected messages
//! are lists that are searched from their heads.

// Long because the rules are to be read in one place.

use std::collections::BTreeMap;

use host::{Rendezvous, SendDone};
use loggops::{Costs, Inject, Parameters};
use schedule::{ANY, Edge, Kind, Op, Program};
use units::{Time, TimePerByte};

use crate::oracle::graph::{Node, unpack};

/// The settings of the simulator. Times are in picoseconds.
pub struct Rules<'a> {
    pub parameters: Parameters,
    pub rendezvous: Rendezvous,
    pub send_done: SendDone,
    pub time_unit: u64,
    /// Lengthening of an activity of a rank from one time to another.
    pub noise: &'a dyn Fn(usize, u64, u64) -> u64,
    /// True if a message is caused by its injection, not by the start of its send.
    pub caused_by_injection: bool,
}

/// The result of a run, by rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Result {
    pub finish: Vec<u64>,
    pub busy: Vec<u64>,
    pub blocked: Vec<u64>,
    /// Messages and bytes sent, messages and bytes received.
    pub traffic: Vec<[u64; 4]>,
    pub events: u64,
    /// Operations, as (rank, index), that started but did not end.
    pub started: Vec<(u32, u32)>,
    /// Operations that never started.
    pub waiting: Vec<(u32, u32)>,
    /// The first message that was larger than its receive: rank, receive, sender, sizes.
    pub truncated: Option<(u32, u32, u32, u64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Eager,
    Rendezvous,
    Release,
    Request,
    Clear,
    Data,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    sort: Sort,
    source: usize,
    sequence: u32,
    time: u64,
    cause: u64,
    /// The sender's operation, and of an answer to a request and the data that follows the
    /// receiver's.
    send: usize,
    receive: usize,
    op: Op,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Op(usize),
    Clear { to: usize, send: usize, receive: usize },
    Data { send: usize, receive: usize },
    Arrival(Message),
    Reception(Message),
}

/// Something that waits, for what it needs: CPU, sending side, receiving side.
#[derive(Clone, Copy, Debug)]
struct Entry {
    ready: u64,
    /// Cause, kind, posting or source, number.
    order: (u64, u8, u32, u32),
    needs: (Option<u8>, Option<u8>, Option<u8>),
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Waiting,
    Started,
    Done,
}

struct Host {
    nodes: Vec<Node>,
    status: Vec<Status>,
    /// By operation: the latest end and the latest cause of what it waited for.
    met: Vec<(u64, u64)>,
    entries: Vec<Entry>,
    cpu: Vec<u64>,
    sending: Vec<u64>,
    receiving: Vec<u64>,
    posted: Vec<usize>,
    /// Messages that met no receive, and when they were received, if they were.
    unexpected: Vec<(Message, Option<u64>)>,
    /// With several CPUs or interfaces: the receives that messages have met before being received,
    /// by source and number.
    early: BTreeMap<(usize, u32), usize>,
    /// Ends of the overheads of sends that wait for their receives.
    since: BTreeMap<usize, u64>,
    /// By such a send: when its last byte leaves the host, the start of what sent it, and its
    /// number.
    leaves: BTreeMap<usize, (u64, u64, u32)>,
    postings: u32,
    sequence: u32,
    busy: u64,
    blocked: u64,
    traffic: [u64; 4],
}

struct Simulator<'a> {
    rules: Rules<'a>,
    hosts: Vec<Host>,
    sent: Vec<(usize, Message)>,
    /// Last delivery between two hosts.
    delivered: BTreeMap<(usize, usize), u64>,
    events: u64,
    truncated: Option<(u32, u32, u32, u64, u64)>,
}

fn bytes(rate: TimePerByte, size: u64) -> u64 {
    let (ps, per) = rate.parts();
    let (ps, per) = (u128::from(ps), u128::from(per));
    ((2 * ps * u128::from(size.saturating_sub(1)) + per) / (2 * per)) as u64
}

fn equal(a: u32, b: u32) -> bool {
    a == b || a == ANY || b == ANY
}

/// Runs a program.
pub fn simulate(program: &impl Program, rules: Rules) -> Result {
    let host = |nodes: Vec<Node>| Host {
        status: vec![Status::Waiting; nodes.len()],
        met: vec![(0, 0); nodes.len()],
        entries: Vec::new(),
        cpu: vec![0; program.cpus() as usize],
        sending: vec![0; program.nics() as usize],
        receiving: vec![0; program.nics() as usize],
        posted: Vec::new(),
        unexpected: Vec::new(),
        early: BTreeMap::new(),
        since: BTreeMap::new(),
        leaves: BTreeMap::new(),
        postings: 1,
        sequence: 0,
        busy: 0,
        blocked: 0,
        traffic: [0; 4],
        nodes,
    };
    let hosts = unpack(program).into_iter().map(host).collect();
    let mut simulator = Simulator {
        rules,
        hosts,
        sent: Vec::new(),
        delivered: BTreeMap::new(),
        events: 0,
        truncated: None,
    };
    for host in &mut simulator.hosts {
        for index in 0..host.nodes.len() {
            if host.nodes[index].missing == 0 {
                host.post(index);
            }
        }
    }
    while let Some(now) = simulator.hosts.iter().filter_map(Host::next).min() {
        simulator.instant(now);
        if simulator.truncated.is_some() {
            break;
        }
    }
    simulator.result()
}

impl Host {
    /// From when an entry can start.
    fn start(&self, entry: &Entry) -> u64 {
        let (cpu, sending, receiving) = entry.needs;
        let free = [
            cpu.map(|cpu| self.cpu[usize::from(cpu)]),
            sending.map(|nic| self.sending[usize::from(nic)]),
            receiving.map(|nic| self.receiving[usize::from(nic)]),
        ];
        free.into_iter().flatten().fold(entry.ready, u64::max)
    }

    fn next(&self) -> Option<u64> {
        self.entries.iter().map(|entry| self.start(entry)).min()
    }

    /// Takes out the first of what can start at a time.
    fn take(&mut self, now: u64) -> Option<What> {
        let able = (0..self.entries.len()).filter(|&i| self.start(&self.entries[i]) == now);
        let first = able.min_by_key(|&i| self.entries[i].order)?;
        Some(self.entries.remove(first).what)
    }

    /// An operation waits for nothing more but its resources.
    fn post(&mut self, index: usize) {
        let op = self.nodes[index].op;
        let (ready, cause) = self.met[index];
        let (kind, needs) = match op.kind {
            Kind::Send => (0, (Some(op.cpu), Some(op.nic), None)),
            Kind::Recv => (1, (None, None, None)),
            Kind::Calc => (2, (Some(op.cpu), None, None)),
        };
        let order = (cause, kind, self.postings, index as u32);
        self.entries.push(Entry { ready, order, needs, what: What::Op(index) });
    }

    /// An operation has started, or it will be done at a time.
    fn reached(&mut self, index: usize, edge: Edge, time: u64, cause: u64) {
        self.status[index] = if edge == Edge::Done { Status::Done } else { Status::Started };
        self.postings += 1;
        let node = &self.nodes[index];
        let waiting = if edge == Edge::Done { node.done.clone() } else { node.started.clone() };
        for next in waiting {
            let next = next as usize;
            let met = &mut self.met[next];
            *met = (met.0.max(time), met.1.max(cause));
            self.nodes[next].missing -= 1;
            if self.nodes[next].missing == 0 {
                self.post(next);
            }
        }
    }

    /// A step of the rendezvous protocol.
    fn step(&mut self, what: What, (cpu, nic): (u8, u8), (ready, cause): (u64, u64), send: usize) {
        self.postings += 1;
        let order = (cause, 0, self.postings, send as u32);
        self.entries.push(Entry { ready, order, needs: (Some(cpu), Some(nic), None), what });
    }

    fn several(&self) -> bool {
        self.cpu.len() > 1 || self.sending.len() > 1
    }

    /// The position of the first posted receive that a message matches.
    fn receive_for(&self, message: &Message) -> Option<usize> {
        self.posted.iter().position(|&index| {
            let op = self.nodes[index].op;
            equal(op.peer, message.source as u32) && equal(op.tag, message.op.tag)
        })
    }
}

impl Simulator<'_> {
    fn instant(&mut self, now: u64) {
        loop {
            for host in 0..self.hosts.len() {
                while let Some(what) = self.hosts[host].take(now) {
                    self.perform(host, what, now);
                }
            }
            let mut again = false;
            for (destination, message) in std::mem::take(&mut self.sent) {
                again |= message.time == now;
                let (ready, needs) = (message.time, (None, None, None));
                let order = (message.cause, 3, message.source as u32, message.sequence);
                let entry = Entry { ready, order, needs, what: What::Arrival(message) };
                self.hosts[destination].entries.push(entry);
            }
            if !again || self.truncated.is_some() {
                return;
            }
        }
    }

    fn perform(&mut self, host: usize, what: What, now: u64) {
        match what {
            What::Arrival(message) => self.arrive(host, message, now),
            What::Reception(message) => self.receive(host, &message, now),
            What::Clear { to, send, receive } => {
                let op = self.hosts[host].nodes[receive].op;
                self.charge_send(host, 0, op, now);
                self.send_message(host, to, 0, now, (Sort::Clear, send, receive, op));
            }
            What::Data { send, receive } => self.send_data(host, send, receive, now),
            What::Op(index) => {
                self.events += 1;
                match self.hosts[host].nodes[index].op.kind {
                    Kind::Send => self.send(host, index, now),
                    Kind::Recv => self.post_receive(host, index, now),
                    Kind::Calc => self.compute(host, index, now),
                }
            }
        }
    }

    fn costs(&self, size: u64) -> Costs {
        let parameters = &self.rules.parameters;
        if size > parameters.eager_limit { parameters.large } else { parameters.small }
    }

    fn compute(&mut self, host: usize, index: usize, now: u64) {
        let op = self.hosts[host].nodes[index].op;
        let end = now + op.size * self.rules.time_unit;
        let end = end + (self.rules.noise)(host, now, end);
        let state = &mut self.hosts[host];
        state.cpu[usize::from(op.cpu)] = end;
        state.busy += end - now;
        state.reached(index, Edge::Started, now, now);
        state.reached(index, Edge::Done, end, now);
    }

    /// Occupies CPU and interface for a message that leaves; tells when the CPU is free again.
    fn charge_send(&mut self, host: usize, size: u64, op: Op, now: u64) -> u64 {
        let costs = self.costs(size);
        let o = costs.send_overhead.ps();
        let noise = (self.rules.noise)(host, now, now + o);
        let end = now + o + noise + bytes(costs.send_overhead_per_byte, size);
        let state = &mut self.hosts[host];
        state.cpu[usize::from(op.cpu)] = end;
        let gap = costs.gap.ps() + bytes(costs.gap_per_byte, size);
        state.sending[usize::from(op.nic)] = now + gap;
        state.busy += end - now;
        end
    }

    fn send_message(
        &mut self,
        source: usize,
        destination: usize,
        size: u64,
        now: u64,
        (sort, send, receive, op): (Sort, usize, usize, Op),
    ) {
        let costs = self.costs(size);
        let injected = self.injected(size, now);
        // Messages between two hosts keep their order.
        let last = self.delivered.entry((source, destination)).or_default();
        let time = (injected + costs.latency.ps()).max(*last);
        *last = time;
        let cause = if self.rules.caused_by_injection { injected } else { now };
        self.put(
            destination,
            Message { sort, source, sequence: 0, time, cause, send, receive, op },
        );
    }

    fn injected(&self, size: u64, now: u64) -> u64 {
        match self.rules.parameters.inject {
            Inject::Start => now,
            Inject::End => now + self.costs(size).send_overhead.ps(),
        }
    }

    /// Returns whether a send of so many bytes is done when they have left.
    fn has_to_leave(&self, size: u64) -> bool {
        match self.rules.send_done {
            SendDone::Overhead => false,
            SendDone::Left { buffer } => size > buffer || size > self.rules.parameters.eager_limit,
        }
    }

    /// A message that has just been sent by an activity from `now` to `end`: notes when it leaves.
    fn leave(&mut self, host: usize, send: usize, size: u64, now: u64, end: u64) -> u64 {
        let left = self.injected(size, now) + bytes(self.costs(size).gap_per_byte, size);
        let state = &mut self.hosts[host];
        state.leaves.insert(send, (left.max(end), now, state.sequence - 1));
        state.since.insert(send, end);
        left.max(end)
    }

    /// A host tells itself at a time that a send is done.
    fn release_own(&mut self, host: usize, send: usize, time: u64) {
        let state = &mut self.hosts[host];
        let (_, cause, sequence) = state.leaves[&send];
        let op = state.nodes[send].op;
        let (sort, source, receive) = (Sort::Release, host, 0);
        let release = Message { sort, source, sequence, time, cause, send, receive, op };
        let order = (cause, 3, u32::MAX, sequence);
        let (needs, what) = ((None, None, None), What::Arrival(release));
        state.entries.push(Entry { ready: time, order, needs, what });
    }

    fn put(&mut self, destination: usize, message: Message) {
        let sequence = &mut self.hosts[message.source].sequence;
        self.sent.push((destination, Message { sequence: *sequence, ..message }));
        *sequence += 1;
    }

    fn send(&mut self, host: usize, index: usize, now: u64) {
        let op = self.hosts[host].nodes[index].op;
        let eager = op.size <= self.rules.parameters.eager_limit;
        let (sort, size) = match self.rules.rendezvous {
            _ if eager => (Sort::Eager, op.size),
            Rendezvous::Abstract => (Sort::Rendezvous, op.size),
            Rendezvous::RtsCts => (Sort::Request, 0),
        };
        let end = self.charge_send(host, size, op, now);
        self.send_message(host, op.peer as usize, size, now, (sort, index, 0, op));
        let (has_to_leave, sent) = (self.has_to_leave(op.size), sort != Sort::Request);
        let left = (has_to_leave && sent).then(|| self.leave(host, index, size, now, end));
        let state = &mut self.hosts[host];
        state.traffic[0] += 1;
        state.traffic[1] += op.size;
        state.reached(index, Edge::Started, now, now);
        match left {
            Some(left) if eager => self.release_own(host, index, left),
            None if eager => state.reached(index, Edge::Done, end, now),
            _ => _ = state.since.insert(index, end),
        }
    }

    fn send_data(&mut self, host: usize, send: usize, receive: usize, now: u64) {
        let op = self.hosts[host].nodes[send].op;
        let end = self.charge_send(host, op.size, op, now);
        self.send_message(host, op.peer as usize, op.size, now, (Sort::Data, send, receive, op));
        let state = &mut self.hosts[host];
        state.blocked += now - state.since[&send];
        if self.has_to_leave(op.size) {
            let left = self.leave(host, send, op.size, now, end);
            return self.release_own(host, send, left);
        }
        self.hosts[host].reached(send, Edge::Done, end, now);
    }

    fn post_receive(&mut self, host: usize, index: usize, now: u64) {
        let state = &mut self.hosts[host];
        let op = state.nodes[index].op;
        state.reached(index, Edge::Started, now, now);
        let found = state.unexpected.iter().position(|(message, _)| {
            equal(op.peer, message.source as u32) && equal(op.tag, message.op.tag)
        });
        let Some(position) = found else {
            state.posted.push(index);
            return;
        };
        let (message, end) = state.unexpected.remove(position);
        let Some(end) = end else {
            state.early.insert((message.source, message.sequence), index);
            return;
        };
        match message.sort {
            Sort::Request => return self.clear(host, index, &message, (end.max(now), now)),
            Sort::Rendezvous => self.release(host, &message, now),
            _ => {}
        }
        self.matched(host, index, &message, (end.max(now), now));
    }

    /// A message is at the interface: decides which CPU and interface it needs.
    fn arrive(&mut self, host: usize, message: Message, now: u64) {
        let state = &mut self.hosts[host];
        let unit = match message.sort {
            Sort::Release => return self.released(host, &message, now),
            Sort::Data => state.nodes[message.receive].op,
            Sort::Clear => state.nodes[message.send].op,
            // With several CPUs or interfaces messages meet their receives as they arrive.
            Sort::Eager | Sort::Rendezvous | Sort::Request if state.several() => {
                if let Some(position) = state.receive_for(&message) {
                    let receive = state.posted.remove(position);
                    state.early.insert((message.source, message.sequence), receive);
                    state.nodes[receive].op
                } else {
                    state.unexpected.push((message, None));
                    message.op
                }
            }
            Sort::Eager | Sort::Rendezvous | Sort::Request => message.op,
        };
        let needs = (Some(unit.cpu), None, Some(unit.nic));
        let order = (message.cause, 3, message.source as u32, message.sequence);
        // The message goes on with the indices that it is charged to.
        let charged = Op { cpu: unit.cpu, nic: unit.nic, ..message.op };
        let what = What::Reception(Message { op: charged, ..message });
        state.entries.push(Entry { ready: now, order, needs, what });
    }

    fn receive(&mut self, host: usize, message: &Message, now: u64) {
        self.events += 1;
        let Message { sort, op, send, receive, .. } = *message;
        let control = matches!(sort, Sort::Request | Sort::Clear);
        let size = if control { 0 } else { op.size };
        let costs = self.costs(size);
        let o = costs.receive_overhead.ps();
        let noise = (self.rules.noise)(host, now, now + o);
        let per_byte = bytes(costs.receive_overhead_per_byte, size);
        let gap_bytes = bytes(costs.gap_per_byte, size);
        let end = now + o + noise + per_byte.max(gap_bytes);
        let state = &mut self.hosts[host];
        state.cpu[usize::from(op.cpu)] = end;
        state.receiving[usize::from(op.nic)] = now + costs.gap.ps() + gap_bytes;
        state.busy += end - now;
        match sort {
            Sort::Clear => {
                let unit = (op.cpu, op.nic);
                state.step(What::Data { send, receive }, unit, (end, now), send);
            }
            Sort::Data => self.matched(host, receive, message, (end, now)),
            _ => {
                let receive = if state.several() {
                    let identity = (message.source, message.sequence);
                    let Some(receive) = state.early.remove(&identity) else {
                        let same = |(other, _): &&mut (Message, Option<u64>)| {
                            (other.source, other.sequence) == identity
                        };
                        let waiting = state.unexpected.iter_mut().find(same);
                        waiting.expect("it arrived").1 = Some(end);
                        return;
                    };
                    receive
                } else {
                    let Some(position) = state.receive_for(message) else {
                        state.unexpected.push((*message, Some(end)));
                        return;
                    };
                    state.posted.remove(position)
                };
                match sort {
                    Sort::Request => return self.clear(host, receive, message, (end, now)),
                    Sort::Rendezvous => self.release(host, message, now),
                    _ => {}
                }
                self.matched(host, receive, message, (end, now));
            }
        }
    }

    fn matched(&mut self, host: usize, receive: usize, message: &Message, at: (u64, u64)) {
        let state = &mut self.hosts[host];
        let (room, size) = (state.nodes[receive].op.size, message.op.size);
        if room < size && self.truncated.is_none() {
            let (rank, sender) = (host as u32, message.source as u32);
            self.truncated = Some((rank, receive as u32, sender, size, room));
        }
        state.traffic[2] += 1;
        state.traffic[3] += size;
        state.reached(receive, Edge::Done, at.0, at.1);
    }

    /// Lets the sender of a rendezvous message go on at this moment.
    fn release(&mut self, host: usize, message: &Message, now: u64) {
        let release =
            Message { sort: Sort::Release, source: host, time: now, cause: now, ..*message };
        self.put(message.source, release);
    }

    fn released(&mut self, host: usize, message: &Message, now: u64) {
        let send = message.send;
        let state = &mut self.hosts[host];
        let since = state.since[&send];
        let left = state.leaves.get(&send).map_or(since, |(left, ..)| *left);
        let done = left.max(now);
        let cpu = &mut state.cpu[usize::from(state.nodes[send].op.cpu)];
        if done > now && done > *cpu {
            // The CPU is used until then, but not before.
            return self.release_own(host, send, done);
        }
        state.blocked += done - since;
        *cpu = done.max(*cpu);
        state.reached(send, Edge::Done, done, message.cause);
    }

    /// A request has met its receive: the sender may send.
    fn clear(&mut self, host: usize, receive: usize, message: &Message, at: (u64, u64)) {
        let state = &mut self.hosts[host];
        let op = state.nodes[receive].op;
        let (to, send) = (message.source, message.send);
        state.step(What::Clear { to, send, receive }, (op.cpu, op.nic), at, send);
    }

    fn result(self) -> Result {
        let with = |status: Status| {
            let hosts = (0u32..).zip(&self.hosts);
            let of_host = |(rank, host): (u32, &Host)| {
                let all = (0u32..).zip(host.status.clone());
                all.filter(move |(_, s)| *s == status).map(move |(op, _)| (rank, op))
            };
            hosts.flat_map(of_host).collect()
        };
        let each = |of: fn(&Host) -> u64| self.hosts.iter().map(of).collect();
        Result {
            finish: each(|host| host.cpu.iter().copied().max().unwrap_or(0)),
            busy: each(|host| host.busy),
            blocked: each(|host| host.blocked),
            traffic: self.hosts.iter().map(|host| host.traffic).collect(),
            events: self.events,
            started: with(Status::Started),
            waiting: with(Status::Waiting),
            truncated: self.truncated,
        }
    }
}

/// A time in picoseconds.
pub const fn ps(ps: u64) -> Time {
    Time::from_ps(ps)
}
