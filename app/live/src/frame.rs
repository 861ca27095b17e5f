//! What a rank says, as operations.
//!
//! The graph of a call is that which the compiler of traces makes of it in mode `Gaps` (`traces::compile`): the call's messages, behind
//! them the computation before it, which waits for the call before. So a run and the replay of its trace take the same time.

use host::Stamp;
use port::{Amount, Class, Command, Completion, Members, Memory, Poll, Shape, Ticket};
use rustc_hash::FxHashMap;
use schedule::{Edge, Kind, Op};
use smallvec::SmallVec;
use traces::collective::{self, Collective, Expand, Sink};
use traces::definitions::Neighbours;
use traces::format::table;

use crate::graph::Graph;
use crate::shared::{Costs, Envelope, Part, Shared};

pub type Ops = SmallVec<[u32; 4]>;

/// What is the same for all ranks.
pub struct Rules<'a> {
    pub shared: Shared,
    pub memory: Memory,
    pub expand: &'a dyn Expand,
    pub costs: Costs,
    /// Picoseconds here for a nanosecond of computation of the ranks.
    pub scale: f64,
}

/// A communicator as a rank knows it.
#[derive(Debug)]
struct Communicator {
    /// Where it is in the tags of messages.
    slot: u32,
    me: u32,
    local: Members,
    remote: Members,
    neighbours: Option<Neighbours>,
}

/// An operation of the program: a send, a receive, a collective.
#[derive(Debug, Default)]
struct Ticketed {
    ends: Ops,
    /// Ends that are not done.
    missing: u32,
    completion: Completion,
}

/// The call that is being described.
#[derive(Debug, Default)]
pub struct Call {
    pub starts: Ops,
    pub ends: Ops,
    waits: Ops,
    /// Whether a collective is part of it.
    is_collective: bool,
}

/// What a rank has said, and what has become of it.
#[derive(Debug)]
pub struct Rank {
    pub number: u32,
    pub graph: Graph,
    tickets: FxHashMap<Ticket, Ticketed>,
    next: Ticket,
    communicators: FxHashMap<u32, Communicator>,
    pub call: Call,
    /// What the next call waits for.
    chain: Option<(u32, Edge)>,
    /// Computation that has not become an operation, in picoseconds.
    computed: u64,
    /// Polls in a row.
    polls: u64,
    /// The function that it is in.
    pub inside: String,
    pub completions: Vec<Completion>,
    pub finished: bool,
}

/// What a rank wants before it runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Nothing: this number at most.
    Now(u64),
    /// That the last call is over.
    Reached,
    /// It does not run on.
    Never,
}

impl Rank {
    pub fn new(rank: u32, ranks: u32) -> Self {
        let group = |slot, first, count| Communicator {
            slot,
            me: rank - first,
            local: Members::Range { first, stride: 1, count },
            remote: Members::List(Vec::new()),
            neighbours: None,
        };
        Self {
            number: rank,
            graph: Graph::default(),
            tickets: FxHashMap::default(),
            next: 0,
            communicators: [(0, group(0, 0, ranks)), (1, group(1, rank, 1))].into_iter().collect(),
            call: Call::default(),
            chain: None,
            computed: 0,
            polls: 0,
            inside: String::new(),
            completions: Vec::new(),
            finished: false,
        }
    }

    /// Takes in what the rank says; tells what it wants. Fails with a reason if that cannot be.
    // Long because it lists the commands.
    pub fn take(&mut self, command: Command, rules: &Rules) -> Result<Want, String> {
        if !matches!(
            command,
            Command::Compute(_) | Command::Poll(_) | Command::In(_) | Command::Receive { .. }
        ) {
            self.polls = 0;
        }
        match command {
            Command::Compute(time) => {
                let scaled = (time as f64 * rules.scale).round();
                // A scale is not negative.
                #[expect(clippy::cast_sign_loss, reason = "see above")]
                let time = scaled as u64;
                self.computed = self.computed.saturating_add(time);
            }
            Command::Sleep(time) => self.computed = self.computed.saturating_add(time),
            Command::Send { .. } => self.send(&command, rules)?,
            Command::Remote { to, bytes, answer } => self.remote(to, bytes, answer, &rules.shared),
            Command::Receive { from, tag, room, at_once } => {
                let key = rules.shared.tag(self.slot(tag.context)?, tag.tag);
                let op = self.message(Kind::Recv, from, key, room);
                self.ticket(&[op]);
                if at_once {
                    self.graph.at_once(op);
                }
                self.call.starts.push(op);
                self.call.ends.push(op);
            }
            Command::Collective(part) => self.collective(part, rules)?,
            Command::Called(shape) => self.called(shape),
            Command::Wait { all, tickets } => {
                self.wait(all, &tickets);
                return Ok(Want::Reached);
            }
            Command::Poll(poll) => {
                self.poll(poll, &rules.costs);
                return Ok(Want::Reached);
            }
            Command::Cancel(ticket) => self.cancel(ticket),
            Command::Forget(ticket) => self.forget(ticket),
            Command::Communicator { .. } => self.communicator(command, rules)?,
            Command::Release(context) => {
                self.communicators.remove(&context);
                rules.shared.release(context);
            }
            Command::Context(key) => {
                return Ok(Want::Now(u64::from(rules.shared.context(key))));
            }
            Command::In(name) => self.inside = name,
            Command::Exit(_) => {
                self.before();
                self.graph.seal();
                self.finished = true;
                return Ok(Want::Never);
            }
        }
        Ok(Want::Now(u64::MAX))
    }

    pub fn slot(&self, context: u32) -> Result<u32, String> {
        let known = self.communicators.get(&context);
        known
            .map(|known| known.slot)
            .ok_or_else(|| "it uses a communicator that it has not told of".to_owned())
    }

    fn communicator(&mut self, command: Command, rules: &Rules) -> Result<(), String> {
        let Command::Communicator { context, me, local, remote, neighbours } = command else {
            return Ok(());
        };
        let places = |members: &Members| {
            let all = (0..members.len()).filter_map(|place| members.get(place));
            all.map(|rank| if rank == port::ANY { -2 } else { i64::from(rank) }).collect()
        };
        let neighbours = neighbours.map(|(sources, destinations)| Neighbours {
            sources: places(&sources),
            destinations: places(&destinations),
        });
        let members = local.len() + remote.len();
        let slot = rules.shared.slot(context, members).ok_or("it has too many communicators")?;
        self.communicators.insert(context, Communicator { slot, me, local, remote, neighbours });
        Ok(())
    }

    /// Whether the last call is over, and when that was.
    pub fn reached(&self) -> Option<Stamp> {
        let Some((op, edge)) = self.chain else { return Some(host::START) };
        self.graph.stamp(op, edge)
    }

    pub fn message(&mut self, kind: Kind, peer: u32, tag: u32, size: u64) -> u32 {
        let ticket = Some(self.next);
        self.graph.add(Op { kind, peer, tag, size, cpu: 0, nic: 0 }, ticket)
    }

    fn calc(&mut self, time: u64) -> u32 {
        let op = Op { kind: Kind::Calc, peer: 0, tag: 0, size: time, cpu: 0, nic: 0 };
        self.graph.add(op, None)
    }

    /// The next operation of the program has these ends.
    pub fn ticket(&mut self, ends: &[u32]) {
        let ticket = self.next;
        self.next += 1;
        for end in ends {
            self.graph.pin(*end);
        }
        let completion = Completion { ticket, ..Completion::default() };
        let known = Ticketed { ends: ends.into(), missing: ends.len() as u32, completion };
        if ends.is_empty() {
            self.completions.push(completion);
        }
        self.tickets.insert(ticket, known);
    }

    /// A part of an operation of the program is done.
    pub fn ended(&mut self, index: u32, at: &Stamp) {
        let Some(ticket) = self.graph.node(index).and_then(|node| node.ticket) else { return };
        let Some(known) = self.tickets.get_mut(&ticket) else { return };
        if !known.ends.contains(&index) {
            return;
        }
        known.missing = known.missing.saturating_sub(1);
        known.completion.time = known.completion.time.max(at.time.ps());
        if known.missing == 0 {
            self.completions.push(known.completion);
        }
    }

    /// A receive has met a message.
    pub fn met(&mut self, index: u32, source: u32, bytes: u64, envelope: Envelope) {
        let Some(ticket) = self.graph.node(index).and_then(|node| node.ticket) else { return };
        let Some(known) = self.tickets.get_mut(&ticket) else { return };
        let Envelope { tag, contents, .. } = envelope;
        known.completion = Completion { source, tag, bytes, contents, ..known.completion };
    }

    /// A receive was withdrawn, or found nothing.
    pub fn void(&mut self, index: u32) {
        let Some(ticket) = self.graph.node(index).and_then(|node| node.ticket) else { return };
        if let Some(known) = self.tickets.get_mut(&ticket) {
            known.completion.void = true;
        }
    }

    fn forget(&mut self, ticket: Ticket) {
        for end in self.tickets.remove(&ticket).into_iter().flat_map(|known| known.ends) {
            self.graph.unpin(end);
        }
    }

    /// The next call waits for this.
    fn hang(&mut self, op: u32, edge: Edge) {
        self.graph.pin(op);
        if let Some((old, _)) = self.chain.replace((op, edge)) {
            self.graph.unpin(old);
        }
    }

    /// The computation before a call, behind the last one.
    fn before(&mut self) -> u32 {
        let computed = std::mem::take(&mut self.computed);
        let before = self.calc(computed);
        if let Some((last, edge)) = self.chain {
            self.graph.depend(before, last, edge);
        }
        before
    }

    /// A call is described: its operations hang behind the last call.
    fn called(&mut self, shape: Shape) {
        let Call { starts, ends, waits, is_collective } = std::mem::take(&mut self.call);
        if starts.is_empty() && waits.is_empty() {
            return;
        }
        if let (Shape::Blocking, [start]) = (shape, starts.as_slice()) {
            self.graph.blocking(*start);
        }
        let several = is_collective || ends.len() > 1 || !waits.is_empty();
        let joined = shape == Shape::Blocking && several;
        let join = joined.then(|| self.calc(0));
        if let Some(join) = join {
            for end in ends.iter().chain(&waits) {
                self.graph.depend(join, *end, Edge::Done);
            }
        }
        let before = self.before();
        for start in &starts {
            for wait in waits.iter().filter(|wait| *wait != start) {
                self.graph.depend(*start, *wait, Edge::Done);
            }
            self.graph.depend(*start, before, Edge::Done);
        }
        if let Some(join) = join.filter(|_| ends.is_empty()) {
            self.graph.depend(join, before, Edge::Done);
        }
        let (last, edge) = match (join, shape, starts.as_slice()) {
            (Some(join), ..) => (join, Edge::Done),
            (None, Shape::Blocking, [start, ..]) => (*start, Edge::Done),
            (None, Shape::Posted, [start]) => (*start, Edge::Started),
            _ => (before, Edge::Done),
        };
        self.hang(last, edge);
        self.graph.seal();
    }

    /// A call that waits for earlier operations.
    fn wait(&mut self, all: bool, tickets: &[Ticket]) {
        let lists: Vec<Ops> = tickets
            .iter()
            .filter_map(|ticket| self.tickets.get(ticket))
            .map(|known| known.ends.clone())
            .collect();
        if all {
            self.call.waits = lists.into_iter().flatten().collect();
            if !self.call.waits.is_empty() {
                self.called(Shape::Blocking);
            }
            return;
        }
        let first = self.calc(0);
        self.graph.any(first);
        for ends in lists {
            let end = if let [end] = ends.as_slice() {
                *end
            } else {
                let all = self.calc(0);
                ends.iter().for_each(|end| self.graph.depend(all, *end, Edge::Done));
                all
            };
            if self.graph.node(end).is_some_and(|node| node.done.is_some()) {
                self.graph.met(first);
            }
            self.graph.depend(first, end, Edge::Done);
        }
        self.call.waits.push(first);
        self.called(Shape::Blocking);
    }

    fn poll(&mut self, poll: Poll, costs: &Costs) {
        let cost = match poll {
            Poll::Nothing => return,
            Poll::Test => costs.test,
            Poll::Probe => costs.probe,
            Poll::Time => costs.clock,
        };
        self.polls = self.polls.saturating_add(1);
        let times = if poll == Poll::Time { 1 } else { self.polls };
        self.computed = self.computed.saturating_add(cost.saturating_mul(times));
        let before = self.before();
        self.hang(before, Edge::Done);
        self.graph.seal();
    }

    /// A receive is withdrawn, at the time at which the rank has come to that.
    fn cancel(&mut self, ticket: Ticket) {
        let Some(end) = self.tickets.get(&ticket).and_then(|known| known.ends.first()).copied()
        else {
            return;
        };
        let before = self.before();
        self.graph.cancels(before, end);
        self.hang(before, Edge::Done);
        self.graph.seal();
    }

    /// A collective's messages.
    fn collective(&mut self, part: port::Collective, rules: &Rules) -> Result<(), String> {
        let port::Collective { class, context, number, contents, .. } = part;
        let ticket = self.next;
        self.call.is_collective = true;
        let communicators = std::mem::take(&mut self.communicators);
        let outcome = (|| {
            let known = communicators.get(&context).ok_or("the communicator is not known")?;
            // Both groups of an intercommunicator contribute to one list: the group of the lower ranks first.
            let members = known.local.len() + known.remote.len();
            let behind = known.remote.get(0).is_some_and(|other| known.local.get(0) > Some(other));
            let me = known.me + if behind { known.remote.len() } else { 0 };
            let root = part.root.filter(|_| known.remote.is_empty());
            let mine = Part { class, root, me, contents };
            let board = rules.shared.contribute((context, number), members, mine, &rules.memory)?;
            let what = Collective {
                class: translated(class),
                ranks: known.local.len(),
                me: known.me,
                remote: known.remote.len(),
                root: part.root,
                element: part.element,
                commutative: part.commutative,
                sends: amount(part.sends),
                receives: amount(part.receives),
                neighbours: known.neighbours.as_ref(),
            };
            let mut posting = Posting { rank: self, known, number, message: 0, ends: Ops::new() };
            rules.expand.expand(&what, &mut posting)?;
            let Posting { ends, .. } = posting;
            self.ticket(&ends);
            if let Some(known) = self.tickets.get_mut(&ticket) {
                known.completion.contents = board;
            }
            if let Some(done) = self.completions.iter_mut().find(|done| done.ticket == ticket) {
                done.contents = board;
            }
            Ok(())
        })();
        self.communicators = communicators;
        outcome
    }
}

fn amount(amount: Amount) -> collective::Amount {
    match amount {
        Amount::Each(bytes) => collective::Amount::Each(bytes),
        Amount::List(list) => collective::Amount::List(list),
    }
}

/// A collective by its name in traces.
const fn translated(class: Class) -> table::Class {
    use table::Class as C;
    match class {
        Class::Barrier => C::Barrier,
        Class::Bcast => C::Bcast,
        Class::Gather => C::Gather,
        Class::Gatherv => C::Gatherv,
        Class::Scatter => C::Scatter,
        Class::Scatterv => C::Scatterv,
        Class::Allgather => C::Allgather,
        Class::Allgatherv => C::Allgatherv,
        Class::Alltoall => C::Alltoall,
        Class::Alltoallv => C::Alltoallv,
        Class::Alltoallw => C::Alltoallw,
        Class::Reduce => C::Reduce,
        Class::Allreduce => C::Allreduce,
        Class::ReduceScatter => C::ReduceScatter,
        Class::ReduceScatterBlock => C::ReduceScatterBlock,
        Class::Scan => C::Scan,
        Class::Exscan => C::Exscan,
        Class::NeighborAllgather => C::NeighborAllgather,
        Class::NeighborAllgatherv => C::NeighborAllgatherv,
        Class::NeighborAlltoall => C::NeighborAlltoall,
        Class::NeighborAlltoallv => C::NeighborAlltoallv,
        Class::NeighborAlltoallw => C::NeighborAlltoallw,
        Class::Create => C::Create,
        Class::WinCreate => C::WinCreate,
        Class::WinFree => C::WinFree,
        Class::Fence => C::Fence,
    }
}

/// Puts the messages of a collective among the operations of a rank.
struct Posting<'a> {
    rank: &'a mut Rank,
    known: &'a Communicator,
    number: u64,
    message: u32,
    /// Operations that nothing else of the collective waits for.
    ends: Ops,
}

impl Posting<'_> {
    fn member(&self, place: u32) -> u32 {
        let local = self.known.local.len();
        let found = match place.checked_sub(local) {
            Some(place) => self.known.remote.get(place),
            None => self.known.local.get(place),
        };
        found.unwrap_or(0)
    }

    fn post(&mut self, op: u32, after: &[u32]) -> u32 {
        if after.is_empty() {
            self.rank.call.starts.push(op);
        }
        self.ends.retain(|end| !after.contains(end));
        self.ends.push(op);
        self.rank.call.ends.retain(|end| !after.contains(end));
        self.rank.call.ends.push(op);
        for before in after {
            self.rank.graph.depend(op, *before, Edge::Done);
        }
        op
    }

    fn message(&mut self, kind: Kind, place: u32, bytes: u64, after: &[u32]) -> u32 {
        let tag = Shared::tag_of_collective(self.known.slot, self.number, self.message);
        let op = self.rank.message(kind, self.member(place), tag, bytes);
        self.post(op, after)
    }
}

impl Sink for Posting<'_> {
    fn send(&mut self, to: u32, bytes: u64, after: &[u32]) -> u32 {
        self.message(Kind::Send, to, bytes, after)
    }

    fn receive(&mut self, from: u32, bytes: u64, after: &[u32]) -> u32 {
        self.message(Kind::Recv, from, bytes, after)
    }

    fn compute(&mut self, time: u64, after: &[u32]) -> u32 {
        let op = self.rank.calc(time);
        if let Some(node) = self.rank.graph.node_mut(op) {
            node.ticket = Some(self.rank.next);
        }
        self.post(op, after)
    }

    fn blocking(&mut self, op: u32) {
        self.rank.graph.blocking(op);
    }

    fn number(&mut self, number: u32) {
        self.message = number;
    }
}
