//! LogGOPSim, as literally as its published rules can be written down.
//!
//! One heap holds every event, ordered by (time, insertion counter). An event that finds its CPU or
//! interface occupied goes back into the heap with its old counter. Posted receives and unexpected
//! messages are lists that are searched from their heads. All arithmetic is that of wrapping 64-bit
//! integers in nanoseconds. Nothing here is fast, and nothing is shared with what it checks.
//!
//! Two details that show only in odd programs: a match by rendezvous first releases the sender and
//! then ends the receive, and a sender that is released although it was done counts down its
//! dependents' dependencies again.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use schedule::{ANY, Kind, Program};

use crate::oracle::graph::{Node, unpack};

/// The parameters, in nanoseconds (per byte) and bytes.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    pub latency: u64,
    pub overhead: u64,
    pub gap: u64,
    pub gap_per_byte: u64,
    pub overhead_per_byte: u64,
    pub eager_limit: u64,
}

/// Lengthening of an activity of a rank from one time to another.
pub type Noise<'a> = &'a dyn Fn(usize, u64, u64) -> u64;

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a finding of its own")]
pub struct Result {
    /// The times at which the last CPU of each rank is free, in nanoseconds.
    pub finish: Vec<u64>,
    /// Insertions of new events.
    pub events: u64,
    /// Operations, as (rank, index), that started but did not end.
    pub started: Vec<(u32, u32)>,
    /// Operations that never started.
    pub waiting: Vec<(u32, u32)>,
    /// True if a receive larger than S released the sender of an eager message, which was done
    /// already, and so counted down the dependencies of its dependents a second time.
    pub released_twice: bool,
    /// True if a rank released itself from a rendezvous.
    pub released_itself: bool,
    /// True if a sum with (s-1)O or (s-1)G lies below zero before it wraps.
    pub below_zero: bool,
    /// True if something happens in the upper half of the range of times.
    pub beyond: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Op,
    Message,
}

/// An event: (time, counter), and what it is about. A message keeps its sender's operation.
type Event = Reverse<(u64, u64, What, usize, usize)>;

/// An entry of the queue of posted receives or of that of unexpected messages.
#[derive(Clone, Copy, Debug)]
struct Entry {
    source: u32,
    tag: u32,
    /// Index of the receive, or of the send at its source.
    index: usize,
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
    executable: Vec<usize>,
    nexto: Vec<u64>,
    nextgs: Vec<u64>,
    nextgr: Vec<u64>,
    posted: Vec<Entry>,
    unexpected: Vec<Entry>,
}

impl Host {
    fn release(&mut self, waiting: &[u32]) {
        for &next in waiting {
            let node = &mut self.nodes[next as usize];
            node.missing = node.missing.wrapping_sub(1);
            if node.missing == 0 {
                self.executable.push(next as usize);
            }
        }
    }

    fn started(&mut self, index: usize) {
        self.status[index] = Status::Started;
        let waiting = self.nodes[index].started.clone();
        self.release(&waiting);
    }

    fn done(&mut self, index: usize) {
        self.status[index] = Status::Done;
        let waiting = self.nodes[index].done.clone();
        self.release(&waiting);
    }
}

#[allow(clippy::struct_excessive_bools, reason = "each is a finding of its own")]
struct Simulator<'a> {
    parameters: Parameters,
    noise: Noise<'a>,
    hosts: Vec<Host>,
    heap: BinaryHeap<Event>,
    counter: u64,
    /// Hosts whose operations may have become executable.
    affected: BTreeSet<usize>,
    released_twice: bool,
    released_itself: bool,
    below_zero: bool,
    beyond: bool,
}

/// True if a sum of a moment and costs lies below zero, where a cost of the upper half of the range
/// of words stands for one below zero.
fn is_below_zero(costs: [u64; 4]) -> bool {
    costs.iter().skip(1).map(|cost| i128::from(cost.cast_signed())).sum::<i128>()
        < -i128::from(costs[0])
}

fn add(a: u64, b: u64) -> u64 {
    a.wrapping_add(b)
}

fn equal(a: u32, b: u32) -> bool {
    a == b || a == ANY || b == ANY
}

fn take(queue: &mut Vec<Entry>, source: u32, tag: u32) -> Option<usize> {
    let matches = |entry: &Entry| equal(entry.source, source) && equal(entry.tag, tag);
    let position = queue.iter().position(matches)?;
    Some(queue.remove(position).index)
}

/// Runs a program.
pub fn simulate(program: &impl Program, parameters: Parameters, noise: Noise) -> Result {
    let host = |nodes: Vec<Node>| Host {
        status: vec![Status::Waiting; nodes.len()],
        executable: (0..nodes.len()).filter(|&index| nodes[index].missing == 0).collect(),
        nodes,
        nexto: vec![0; program.cpus() as usize],
        nextgs: vec![0; program.nics() as usize],
        nextgr: vec![0; program.nics() as usize],
        posted: Vec::new(),
        unexpected: Vec::new(),
    };
    let hosts: Vec<Host> = unpack(program).into_iter().map(host).collect();
    let mut simulator = Simulator {
        parameters,
        noise,
        affected: (0..hosts.len()).collect(),
        hosts,
        heap: BinaryHeap::new(),
        counter: 0,
        released_twice: false,
        released_itself: false,
        below_zero: false,
        beyond: false,
    };
    simulator.insert_freed();
    while let Some(Reverse((time, counter, what, host, index))) = simulator.heap.pop() {
        let blocked = match what {
            What::Op => simulator.operation(time, host, index),
            What::Message => simulator.message(time, host, index),
        };
        simulator.beyond |= blocked.is_none() && time >= 1 << 63;
        if let Some(later) = blocked {
            simulator.heap.push(Reverse((later, counter, what, host, index)));
        }
        simulator.insert_freed();
    }
    simulator.result()
}

impl Simulator<'_> {
    fn insert(&mut self, time: u64, what: What, host: usize, index: usize) {
        self.heap.push(Reverse((time, self.counter, what, host, index)));
        self.counter += 1;
    }

    fn insert_freed(&mut self) {
        for host in std::mem::take(&mut self.affected) {
            let state = &mut self.hosts[host];
            let mut freed = std::mem::take(&mut state.executable);
            freed.sort_by_key(|&index| match state.nodes[index].op.kind {
                Kind::Send => 1,
                Kind::Recv => 2,
                Kind::Calc => 3,
            });
            for index in freed {
                let state = &self.hosts[host];
                let op = state.nodes[index].op;
                let cpu = state.nexto[usize::from(op.cpu)];
                let time = match op.kind {
                    Kind::Send => cpu.max(state.nextgs[usize::from(op.nic)]),
                    Kind::Recv | Kind::Calc => cpu,
                };
                self.insert(time, What::Op, host, index);
            }
        }
    }

    /// An operation is popped; tells until when it has to wait.
    fn operation(&mut self, time: u64, host: usize, index: usize) -> Option<u64> {
        match self.hosts[host].nodes[index].op.kind {
            Kind::Calc => self.calc(time, host, index),
            Kind::Send => self.send(time, host, index),
            Kind::Recv => {
                self.receive(time, host, index);
                None
            }
        }
    }

    fn calc(&mut self, time: u64, host: usize, index: usize) -> Option<u64> {
        let state = &mut self.hosts[host];
        let op = state.nodes[index].op;
        let cpu = &mut state.nexto[usize::from(op.cpu)];
        if *cpu > time {
            return Some(*cpu);
        }
        let end = add(time, op.size);
        *cpu = add(end, (self.noise)(host, time, end));
        state.started(index);
        state.done(index);
        self.affected.insert(host);
        None
    }

    fn send(&mut self, time: u64, host: usize, index: usize) -> Option<u64> {
        let p = self.parameters;
        let state = &mut self.hosts[host];
        let op = state.nodes[index].op;
        let (cpu, nic) = (usize::from(op.cpu), usize::from(op.nic));
        let free = state.nexto[cpu].max(state.nextgs[nic]);
        if free > time {
            return Some(free);
        }
        let rest = op.size.wrapping_sub(1);
        let noise = (self.noise)(host, time, add(time, p.overhead));
        let bytes = rest.wrapping_mul(p.overhead_per_byte);
        state.nexto[cpu] = add(add(add(time, p.overhead), bytes), noise);
        let gap = rest.wrapping_mul(p.gap_per_byte);
        state.nextgs[nic] = add(add(time, p.gap), gap);
        self.below_zero |=
            is_below_zero([time, p.overhead, bytes, noise]) || is_below_zero([time, p.gap, gap, 0]);
        state.started(index);
        if op.size <= p.eager_limit {
            state.done(index);
        }
        self.affected.insert(host);
        self.insert(add(add(time, p.overhead), p.latency), What::Message, host, index);
        None
    }

    /// A message is popped at its receiver. `source` and `index` are those of its send.
    fn message(&mut self, time: u64, source: usize, index: usize) -> Option<u64> {
        let p = self.parameters;
        let op = self.hosts[source].nodes[index].op;
        let (cpu, nic) = (usize::from(op.cpu), usize::from(op.nic));
        let host = op.peer as usize;
        let state = &mut self.hosts[host];
        let free = state.nexto[cpu].max(state.nextgr[nic]);
        if free > time {
            return Some(free);
        }
        let rest = op.size.wrapping_sub(1);
        let noise = (self.noise)(host, time, add(time, p.overhead));
        let per_byte = rest.wrapping_mul(p.overhead_per_byte);
        let bytes = rest.wrapping_mul(p.gap_per_byte);
        state.nexto[cpu] = add(add(add(time, p.overhead), noise), per_byte.max(bytes));
        state.nextgr[nic] = add(add(time, p.gap), bytes);
        self.below_zero |= is_below_zero([time, p.overhead, per_byte.max(bytes), noise])
            || is_below_zero([time, p.gap, bytes, 0]);
        if let Some(receive) = take(&mut state.posted, source as u32, op.tag) {
            if op.size > p.eager_limit {
                self.released_itself |= source == host;
                self.release_sender(time, source, index, (cpu, nic));
            }
            self.hosts[host].done(receive);
            self.affected.insert(host);
        } else {
            state.unexpected.push(Entry { source: source as u32, tag: op.tag, index });
        }
        None
    }

    fn receive(&mut self, time: u64, host: usize, index: usize) {
        let state = &mut self.hosts[host];
        let op = state.nodes[index].op;
        state.started(index);
        self.affected.insert(host);
        let unexpected = &mut state.unexpected;
        let matches = |entry: &Entry| equal(entry.source, op.peer) && equal(entry.tag, op.tag);
        let Some(position) = unexpected.iter().position(matches) else {
            state.posted.push(Entry { source: op.peer, tag: op.tag, index });
            return;
        };
        let entry = unexpected.remove(position);
        if op.size > self.parameters.eager_limit {
            let resources = (usize::from(op.cpu), usize::from(op.nic));
            self.released_itself |= entry.source as usize == host;
            self.release_sender(time, entry.source as usize, entry.index, resources);
        }
        self.hosts[host].done(index);
    }

    fn release_sender(&mut self, time: u64, source: usize, index: usize, at: (usize, usize)) {
        let sender = &mut self.hosts[source];
        sender.nexto[at.0] = sender.nexto[at.0].max(time);
        sender.nextgs[at.1] = sender.nextgs[at.1].max(time);
        self.released_twice |= sender.status[index] == Status::Done;
        sender.done(index);
        self.affected.insert(source);
    }

    fn result(self) -> Result {
        let with = |status: Status| {
            let of_host = |(rank, host): (usize, &Host)| {
                let all = host.status.iter().enumerate();
                let those =
                    all.filter(|(_, s)| **s == status).map(|(op, _)| (rank as u32, op as u32));
                those.collect::<Vec<_>>()
            };
            self.hosts.iter().enumerate().flat_map(of_host).collect()
        };
        let finish = |host: &Host| host.nexto.iter().copied().max().unwrap_or(0);
        Result {
            finish: self.hosts.iter().map(finish).collect(),
            events: self.counter,
            started: with(Status::Started),
            waiting: with(Status::Waiting),
            released_twice: self.released_twice,
            released_itself: self.released_itself,
            below_zero: self.below_zero,
            beyond: self.beyond,
        }
    }
}
