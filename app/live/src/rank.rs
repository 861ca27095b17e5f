//! The operations of a rank, made of what it says.
//!
//! The graph of a call is that which the compiler of traces makes of it in mode `Gaps`
//! (`traces::compile`): the call's messages, behind them the computation before it, which waits for
//! the call before. So a run and the replay of its trace take the same time. Only where the call is
//! one message, which is what ranks do most, message and computation are kept as one.

use std::num::NonZeroU32;

use calls::Expand;
use calls::polling::BUSY;
use host::Stamp;
use rank_ipc::{Command, Completion, Memory, Numbered, Offset, Shape, Ticket};
use rustc_hash::FxHashMap;
use schedule::{Edge, Kind, Op};
use smallvec::SmallVec;
use units::Time;

use crate::call_log::{CallLog, Kept};
use crate::communicators::Communicator;
use crate::computation::{Computation, Computed};
use crate::envelope::Envelope;
use crate::expansion::Expansion;
use crate::graph::{ALARM, ANY, AT_ONCE, BLOCKING, END, Graph, LEFT};
use crate::look::Look;
use crate::probes::Probe;
use crate::shared::{Costs, Shared};
use crate::tags::BIRTH;

pub type Ops = SmallVec<[u32; 4]>;

/// The number of operations of the program that are prefetched, as those of which something will be
/// heard next.
const SOON: u32 = 8;

/// The state and the settings that all ranks have in common.
pub struct Rules<'a> {
    pub shared: Shared,
    pub memory: Memory,
    pub expand: &'a dyn Expand,
    pub costs: Costs,
    pub computation: Computation,
    /// The calls of ranks, if somebody wants to know them.
    pub calls: Option<Kept>,
}

/// The operations with which one of the program is done: most often one.
#[derive(Debug)]
pub enum Ends {
    One(u32),
    Others(Box<Ops>),
}

impl Ends {
    fn new(ends: &[u32]) -> Self {
        if let &[end] = ends { Self::One(end) } else { Self::Others(Box::new(ends.into())) }
    }
}

impl std::ops::Deref for Ends {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Self::One(end) => std::slice::from_ref(end),
            Self::Others(ends) => ends,
        }
    }
}

/// An operation of the program: a send, a receive, a collective.
#[derive(Debug)]
pub struct Ticketed {
    pub ends: Ends,
    /// Ends that are not done.
    missing: u32,
    /// Of a collective, what its messages are told by.
    pub collective: Option<NonZeroU32>,
    pub completion: Completion,
}

/// The call that is being described.
#[derive(Debug, Default)]
pub struct Call {
    pub starts: Ops,
    pub ends: Ops,
    waits: Ops,
    /// A collective is part of it.
    pub is_collective: bool,
}

impl Call {
    /// If it is one operation: that, and what it was is forgotten.
    fn take_one(&mut self) -> Option<u32> {
        let &[start] = self.starts.as_slice() else { return None };
        if self.is_collective || self.ends.len() > 1 || !self.waits.is_empty() {
            return None;
        }
        self.starts.clear();
        self.ends.clear();
        Some(start)
    }
}

/// A start or an end of an operation.
#[derive(Clone, Copy, Debug)]
struct Link {
    op: u32,
    edge: Edge,
    /// The time when that was.
    reached: Option<Stamp>,
}

/// The operations of a rank and their outcome. The fields that each message needs come first, so
/// that they can be prefetched.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Rank {
    pub graph: Graph,
    /// The operation that the next call waits for.
    chain: Option<Link>,
    /// Tickets whose completions it has yet to hear of, unless it forgets them before.
    pub completed: Vec<u32>,
    pub tickets: Numbered<Ticketed>,
    pub number: u32,
    /// Its last look at what ranks share.
    pub turn: Option<u32>,
    /// The number of ranks that the program began with, which are those of the world.
    pub ranks: u32,
    pub finished: bool,
    /// It has no process yet that takes part.
    pub dormant: bool,
    /// The communicators that it has told of, if it has of any.
    pub communicators: Option<Box<FxHashMap<u64, Communicator>>>,
    /// The last collective, as messages.
    pub expansion: Option<Box<Expansion>>,
    pub call: Call,
    /// Messages that were found and not received.
    pub probes: Vec<Probe>,
    pub computed: Computed,
    /// Its last look for what may have come.
    pub look: Option<Box<Look>>,
    /// Polls in a row.
    pub polls: u64,
    /// Looks at the clock in a row, between which it computed next to nothing.
    pub looks: u64,
    /// The time when it last began to run, in picoseconds.
    pub now: u64,
    /// The function that it is in.
    pub inside: String,
    /// Its calls, if somebody wants to know them.
    pub log: Option<Box<CallLog>>,
    /// The place of the message that made it a rank.
    pub birth: Offset,
}

/// The condition under which a rank runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Nothing: this number at most.
    Now(u64),
    /// The last call is over.
    Reached,
    /// It does not run on.
    Never,
}

impl Rank {
    /// A rank of the first `ranks`, or one that is started by others.
    pub fn new(rank: u32, ranks: u32) -> Self {
        Self {
            number: rank,
            graph: Graph::default(),
            tickets: Numbered::default(),
            communicators: None,
            ranks,
            expansion: None,
            call: Call::default(),
            probes: Vec::new(),
            look: None,
            turn: None,
            chain: None,
            computed: Computed::default(),
            polls: 0,
            looks: 0,
            now: 0,
            inside: String::new(),
            log: None,
            completed: Vec::new(),
            dormant: rank >= ranks,
            birth: 0,
            finished: false,
        }
    }

    /// Takes in what the rank says; tells what it wants. Fails with a reason if that cannot be.
    // Long because it lists the commands.
    pub fn take(&mut self, command: &mut Command, rules: &Rules) -> Result<Want, String> {
        if self.gets_on(command) {
            (self.polls, self.looks) = (0, 0);
        }
        match command {
            &mut Command::Compute(time) => {
                if time > BUSY / 1000 {
                    self.looks = 0;
                }
                self.computed.measured(time);
            }
            &mut Command::Sleep(time) => {
                if time > BUSY {
                    self.looks = 0;
                }
                self.computed.fixed(time);
            }
            Command::Send { .. } => self.send(command, rules)?,
            &mut Command::Remote { to, bytes, answer } => {
                self.remote(to, bytes, answer, &rules.shared);
            }
            Command::Receive { .. } => self.receive(command, rules)?,
            Command::Collective(part) => self.collective(part, rules)?,
            &mut Command::Called(shape) => self.called(shape, rules)?,
            Command::Wait { all, tickets } => {
                self.wait(*all, tickets, rules)?;
                return Ok(Want::Reached);
            }
            Command::Test { taken, tickets } => {
                self.test(*taken, std::mem::take(tickets), rules)?;
                return Ok(Want::Reached);
            }
            Command::Poll(poll) => {
                self.poll(*poll, rules)?;
                return Ok(Want::Reached);
            }
            Command::Cancel(ticket) => self.cancel(*ticket, rules)?,
            Command::Withdraw(ticket) => {
                return Ok(Want::Now(u64::from(self.withdraw(*ticket, &rules.shared))));
            }
            Command::Precedes(one, other) => {
                return Ok(Want::Now(u64::from(self.precedes(*one, *other))));
            }
            Command::Leave(ticket) => {
                let known = self.tickets.get(*ticket);
                for end in known.iter().flat_map(|known| known.ends.iter()) {
                    self.graph.mark(*end, LEFT);
                }
            }
            Command::Forget(ticket) => self.forget(*ticket, rules)?,
            Command::Communicator { .. } => self.communicator(command, rules),
            Command::Release(context, members) => {
                self.release(*context);
                rules.shared.release(*context, *members);
            }
            // These are the business of whoever holds the ranks.
            Command::Start(_) | Command::Abort(_) => {}
            Command::Sample { block, rule } => {
                return Ok(Want::Now(rules.shared.enough(*block, *rule)));
            }
            Command::Computed => {
                let computed = self.computed.take(&rules.computation, self.number, false)?;
                self.computed.fixed(computed);
                return Ok(Want::Now(self.now.saturating_add(computed)));
            }
            Command::Order => {
                kernel::wait_for_those_before();
                return Ok(Want::Now(0));
            }
            &mut Command::Alarm(at) => self.alarm(at),
            Command::Sampled { block, nanoseconds } => rules.shared.sampled(*block, *nanoseconds),
            Command::In(name) => {
                self.inside = std::mem::take(name);
                if let Some(log) = &mut self.log {
                    log.begin(&self.inside);
                }
            }
            Command::Place(name) => self.log.iter_mut().for_each(|log| log.place(name)),
            &mut Command::At(number) => self.log.iter_mut().for_each(|log| log.at(number)),
            Command::Exit => {
                self.before(rules, true)?;
                self.log.iter_mut().for_each(|log| log.finish());
                self.computed.finish(&rules.computation, self.number)?;
                self.graph.seal();
                self.finished = true;
                return Ok(Want::Never);
            }
        }
        Ok(Want::Now(u64::MAX))
    }

    /// Prefetches the state of the rank, which is about to run.
    pub fn prefetch(&self, stage: usize) {
        if stage == 0 {
            kernel::prefetch(self);
        } else {
            self.graph.prefetch();
            self.tickets.oldest(SOON).for_each(kernel::prefetch);
        }
    }

    /// The time when the last call was over; `None` if it is not.
    pub fn reached(&self) -> Option<Stamp> {
        self.chain.map_or(Some(host::START), |link| link.reached)
    }

    pub fn message(&mut self, kind: Kind, peer: u32, tag: u32, size: u64) -> u32 {
        let ticket = Some(self.tickets.next());
        self.graph.add(Op { kind, peer, tag, size, cpu: 0, nic: 0 }, ticket)
    }

    pub fn calc(&mut self, time: u64) -> u32 {
        let op = Op { kind: Kind::Calc, peer: 0, tag: 0, size: time, cpu: 0, nic: 0 };
        self.graph.add(op, None)
    }

    /// The next operation of the program is done at a moment, in picoseconds.
    fn alarm(&mut self, at: u64) {
        let op = Op { kind: Kind::Calc, peer: 0, tag: 0, size: 0, cpu: 0, nic: 0 };
        let alarm = self.graph.add(op, Some(self.tickets.next()));
        self.graph.mark(alarm, ALARM);
        self.graph.since(alarm, &Stamp { time: Time::from_ps(at), ..host::START });
        self.ticket(&[alarm]);
    }

    /// The next operation of the program has these ends.
    pub fn ticket(&mut self, ends: &[u32]) {
        let ticket = self.tickets.next();
        for end in ends {
            self.graph.pin(*end);
            self.graph.mark(*end, END);
        }
        let completion = Completion { ticket, ..Completion::default() };
        let missing = ends.len() as u32;
        let ended = Ends::new(ends);
        self.tickets.push(Ticketed { ends: ended, missing, collective: None, completion });
        if ends.is_empty() {
            self.completed.push(ticket);
        }
    }

    /// An operation has started or is done.
    pub fn heard(&mut self, (index, edge): (u32, Edge), at: &Stamp) {
        if edge == Edge::Done && self.graph.computed(index, at) {
            return;
        }
        if let Some(link) = &mut self.chain
            && link.op == index
            && (link.edge == edge || edge == Edge::Done)
        {
            link.reached.get_or_insert(*at);
        }
        let Some(ticket) = self.graph.reached(index, edge, at) else { return };
        let Some(known) = self.tickets.get_mut(ticket) else { return };
        known.missing = known.missing.saturating_sub(1);
        known.completion.time = known.completion.time.max(at.time.ps());
        if known.missing == 0 {
            self.completed.push(ticket);
        }
    }

    /// The completions that the rank has yet to hear of.
    pub fn completions(&self) -> impl Iterator<Item = &Completion> {
        let known = self.completed.iter().filter_map(|ticket| self.tickets.get(*ticket));
        known.map(|known| &known.completion)
    }

    /// True if the next call waits for this.
    pub fn hangs_on(&self, index: u32) -> bool {
        self.chain.is_some_and(|link| link.op == index)
    }

    fn ticketed(&mut self, index: u32) -> Option<&mut Ticketed> {
        self.tickets.get_mut(self.graph.ticket(index)?)
    }

    /// A receive has met a message.
    pub fn met(&mut self, index: u32, source: u32, bytes: u64, envelope: Envelope) {
        let Some(known) = self.ticketed(index) else { return };
        let Envelope::Message { tag, contents, .. } = envelope else { return };
        known.completion = Completion { source, tag, bytes, contents, ..known.completion };
    }

    /// The message has been sent that makes this a rank: it begins with the end of the receive that
    /// is given.
    pub fn born(&mut self, sender: u32, costs: &Costs) -> u32 {
        self.dormant = false;
        self.computed.fixed(costs.start);
        let receive = self.serve(sender, BIRTH);
        self.hang(receive, Edge::Done);
        receive
    }

    /// A receive was withdrawn, or found nothing.
    pub fn void(&mut self, index: u32) {
        if let Some(known) = self.ticketed(index) {
            known.completion.void = true;
        }
    }

    fn forget(&mut self, ticket: Ticket, rules: &Rules) -> Result<(), String> {
        let Some(known) = self.tickets.get(ticket) else { return Ok(()) };
        for end in known.ends.iter() {
            self.graph.unpin(*end);
        }
        if let Some(collective) = known.collective {
            rules.shared.over(collective.get() - 1);
        }
        self.tickets.drop(ticket);
        self.taken(ticket, rules)
    }

    /// The next call waits for this.
    pub fn hang(&mut self, op: u32, edge: Edge) {
        // What has a time of its own; a receive at once follows a look.
        if self.log.is_some() && self.graph.op(op).is_some_and(|op| op.kind == Kind::Calc) {
            self.note(op, false);
        }
        self.chain = Some(Link { op, edge, reached: None });
    }

    /// The computation before a call, behind the last one; it may end a region of computation.
    pub fn before(&mut self, rules: &Rules, ends: bool) -> Result<u32, String> {
        let computed = self.computed.take(&rules.computation, self.number, ends)?;
        let before = self.calc(computed);
        self.follow_chain(before);
        self.note(before, true);
        Ok(before)
    }

    /// An operation belongs to the present call, or is the computation before that.
    pub fn note(&mut self, op: u32, computes: bool) {
        if let Some(log) = &mut self.log {
            log.add(op, computes);
        }
    }

    /// An operation waits for the last call.
    pub fn follow_chain(&mut self, index: u32) {
        match self.chain {
            Some(Link { reached: Some(stamp), .. }) => self.graph.since(index, &stamp),
            Some(Link { op, edge, .. }) => self.graph.depend(index, op, edge),
            None => {}
        }
    }

    /// A call is described: its operations hang behind the last call.
    fn called(&mut self, shape: Shape, rules: &Rules) -> Result<(), String> {
        if let Some(start) = self.call.take_one() {
            return self.called_one(start, shape, rules);
        }
        let Call { starts, ends, waits, is_collective } = std::mem::take(&mut self.call);
        if starts.is_empty() && waits.is_empty() {
            return Ok(());
        }
        (self.polls, self.looks) = (0, 0);
        // Of a collective, its algorithm says which are.
        if let (Shape::Blocking, [start], false) = (shape, starts.as_slice(), is_collective) {
            self.graph.mark(*start, BLOCKING);
        }
        let several = is_collective || ends.len() > 1 || !waits.is_empty();
        let joined = shape == Shape::Blocking && several;
        let join = joined.then(|| self.calc(0));
        if let Some(join) = join {
            for end in ends.iter().chain(&waits) {
                self.graph.depend(join, *end, Edge::Done);
            }
        }
        let before = self.before(rules, true)?;
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
        Ok(())
    }

    /// A call of one operation: the computation before it is kept with that.
    fn called_one(&mut self, start: u32, shape: Shape, rules: &Rules) -> Result<(), String> {
        let computed = self.computed.take(&rules.computation, self.number, true)?;
        let at_once = self.graph.is(start, AT_ONCE);
        // The look before what is received at once has had the processor.
        if computed > 0 || !at_once {
            self.graph.compute_before(start, computed);
            self.note(start, true);
        }
        if !at_once {
            (self.polls, self.looks) = (0, 0);
        }
        self.follow_chain(start);
        if shape == Shape::Blocking {
            self.graph.mark(start, BLOCKING);
            self.hang(start, Edge::Done);
        } else {
            self.hang(start, Edge::Started);
        }
        self.graph.seal();
        Ok(())
    }

    /// A call that waits for earlier operations.
    fn wait(&mut self, all: bool, tickets: &[Ticket], rules: &Rules) -> Result<(), String> {
        let known = tickets.iter().filter_map(|ticket| self.tickets.get(*ticket));
        if all {
            self.call.waits = known.flat_map(|known| known.ends.iter().copied()).collect();
            return self.called(Shape::Blocking, rules);
        }
        let lists: Vec<Ops> = known.map(|known| Ops::from(&*known.ends)).collect();
        let is_over = |ends: &&Ops| ends.iter().all(|end| self.graph.is_done(*end));
        if let Some(ends) = lists.iter().find(is_over) {
            self.call.waits = ends.clone();
            return self.called(Shape::Blocking, rules);
        }
        // The processor has no part in finding out which is first.
        let first = self.calc(0);
        self.graph.mark(first, ANY | AT_ONCE);
        for ends in lists {
            let end = if let [end] = ends.as_slice() {
                *end
            } else {
                let all = self.calc(0);
                self.graph.mark(all, AT_ONCE);
                ends.iter().for_each(|end| self.graph.depend(all, *end, Edge::Done));
                all
            };
            self.graph.depend(first, end, Edge::Done);
        }
        self.call.waits.push(first);
        self.called(Shape::Blocking, rules)
    }
}
