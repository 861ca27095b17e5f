//! Operations of a call and how they hang together with the calls before.
//!
//! The order of operations and dependencies is that of Schedgen's schedules: what a call posts
//! comes first, then the computation before it.

use schedule::{Edge, Kind, Op};

use super::align::Step;
use super::keys::Purpose;
use super::rank::{Compiler, Logged, NONE};
use super::request::Round;
use crate::options::{Mode, Window};
use calls::Sink;

/// The time at which a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// It returns when its messages are done.
    Blocking,
    /// At once; a request waits for its messages.
    Posted,
    /// It returns when all its messages are done, joined by a computation.
    Collective,
    /// It returns when earlier operations are done.
    Completion,
}

impl Compiler<'_> {
    /// Posts a send as part of the current call.
    pub fn send(&mut self, to: u32, communicator: i64, purpose: Purpose, bytes: u64) -> u32 {
        self.now.network += self.options.recorded_on.leaving(bytes);
        if self.options.connect > 0 && self.connected.insert(to) {
            self.now.extra += self.options.connect;
        }
        self.message(Kind::Send, to, communicator, purpose, bytes)
    }

    /// Posts a receive as part of the current call.
    pub fn receive(&mut self, from: u32, communicator: i64, purpose: Purpose, bytes: u64) -> u32 {
        self.now.network += self.options.recorded_on.draining(bytes);
        self.message(Kind::Recv, from, communicator, purpose, bytes)
    }

    /// An operation is blocking ([`schedule::Program::is_blocking`]).
    pub fn blocking(&mut self, op: u32) {
        if self.options.blocking && op != NONE {
            self.out.blocking.push(op);
        }
    }

    fn message(
        &mut self,
        kind: Kind,
        peer: u32,
        communicator: i64,
        purpose: Purpose,
        bytes: u64,
    ) -> u32 {
        let tag = self.tag(communicator, purpose);
        let cpu = self.now.thread.min(255) as u8;
        let op = if self.inside {
            self.out.draft.op(Op { kind, peer, tag, size: bytes, cpu, nic: 0 })
        } else {
            NONE
        };
        let may_be_met = self.answers.is_some() && matches!(purpose, Purpose::Tag(_));
        if may_be_met && kind == Kind::Recv {
            // The place of an answer, which comes before the next call.
            self.calc(0);
        }
        if may_be_met || self.options.window != Window::All {
            self.out.log.push(Logged { send: kind == Kind::Send, peer, tag, op });
        }
        op
    }

    /// Memory that a message uses. Addresses 0 and 1 stand for none.
    pub fn touch(&mut self, address: i64, bytes: u64) {
        let Some(pinning) = self.options.pinning else { return };
        if address == 0 || address == 1 {
            return;
        }
        let new = self.pinned.register(address.cast_unsigned(), bytes, pinning.limit);
        if new > 0 {
            self.now.extra += pinning.per_call + new * pinning.per_byte;
        }
    }

    /// Takes an operation out: nothing will ever match it.
    pub fn void(&mut self, op: u32) {
        if let Some(place) = self.out.log.iter().rposition(|logged| logged.op == op) {
            self.out.log.remove(place);
        }
        if let Some(op) = self.out.draft.get_mut(op) {
            *op = super::align::void(*op);
        }
    }

    /// Brings what was noted of an operation up to date.
    pub fn settle_log(&mut self, index: u32) {
        let Some(op) = self.out.draft.get(index) else { return };
        if let Some(logged) = self.out.log.iter_mut().rfind(|logged| logged.op == index) {
            (logged.peer, logged.tag) = (op.peer, op.tag);
        }
    }

    /// The tag of a message.
    pub fn tag(&mut self, communicator: i64, purpose: Purpose) -> u32 {
        self.keys.tag(communicator, purpose)
    }

    /// Puts the current call behind the one before it.
    pub fn frame(&mut self, shape: Shape) {
        let thread = self.now.thread;
        if self.now.starts.is_empty() && self.now.waits.is_empty() {
            return self.pause();
        }
        if !self.now.finds {
            (self.looks, self.times) = (0, 0);
        }
        let gap = self.gap();
        if let Some(chain) = self.threads.get_mut(thread) {
            chain.clock = self.now.leave;
        }
        if !self.inside {
            return;
        }
        // A receive whose message was probed only waits.
        let shape = match shape {
            Shape::Blocking if self.now.waits.is_empty() => shape,
            Shape::Blocking if self.now.starts.is_empty() => Shape::Completion,
            Shape::Blocking => Shape::Collective,
            shape => shape,
        };
        let behind = self.out.draft.len();
        let mode = self.options.mode;
        let took = (self.now.leave - self.now.enter).saturating_sub(self.now.network);
        let own = if mode == Mode::Gaps { 0 } else { took };
        let last = match shape {
            Shape::Completion => self.completion(gap, own),
            Shape::Collective => self.joined(gap, own),
            Shape::Blocking if mode == Mode::Aligned => self.joined(gap, own),
            Shape::Blocking | Shape::Posted => self.plain(shape, gap, own),
        };
        if mode == Mode::Aligned {
            let waits = shape != Shape::Posted;
            let calc = if waits { last.0 } else { NONE };
            let (enter, leave) = (self.now.enter, self.now.leave);
            let ops = (self.now.first, behind);
            let waits = self.now.waits.len() as u32;
            let step = Step { enter, leave, calc, ops, waits };
            self.out.steps.push(step, &self.now.waits, &mut self.now.inner);
        }
        if let Some(chain) = self.threads.get_mut(thread) {
            chain.last = Some(last);
        }
    }

    /// Puts what the current call has posted so far behind the call before it; the rest of the call
    /// takes its time.
    pub fn frame_part(&mut self, shape: Shape) {
        let leave = std::mem::replace(&mut self.now.leave, self.now.enter);
        self.frame(shape);
        self.now.leave = leave;
        self.now.starts.clear();
        self.now.ends.clear();
        self.now.waits.clear();
        self.now.first = self.out.draft.len();
    }

    /// The computation before a call, behind the last call.
    fn before(&mut self, gap: u64, starts: bool) -> u32 {
        let before = self.calc(gap);
        self.now.behind = self.mark(before);
        // Registration of buffers and set-up of connections come between.
        let extra = std::mem::take(&mut self.now.extra);
        let gate = if extra > 0 && self.options.mode == Mode::Gaps {
            let extra = self.calc(extra);
            self.out.draft.depend(extra, before, Edge::Done);
            extra
        } else {
            before
        };
        if starts {
            // What a call waits for comes before what it tells others: a fence after the answers.
            for (start, wait) in self
                .now
                .starts
                .iter()
                .flat_map(|start| self.now.waits.iter().map(move |wait| (*start, *wait)))
            {
                if start != wait {
                    self.out.draft.depend(start, wait, Edge::Done);
                    self.now.inner.push((start, wait));
                }
            }
            for start in &self.now.starts {
                self.out.draft.depend(*start, gate, Edge::Done);
            }
        }
        before
    }

    /// Puts what comes before the current call behind the last one.
    fn chain(&mut self) {
        let op = self.now.behind;
        let late = std::mem::take(&mut self.late);
        for before in late {
            self.out.draft.depend(op, before, Edge::Done);
        }
        let last = self.threads.get(self.now.thread).and_then(|chain| chain.last);
        if let Some((last, edge)) = last {
            self.out.draft.depend(op, last, edge);
        }
    }

    /// Point to point, as Schedgen does it; the time of the call, if it counts, comes before the
    /// message.
    fn plain(&mut self, shape: Shape, gap: u64, own: u64) -> (u32, Edge) {
        let start = self.now.starts.first().copied().unwrap_or(NONE);
        if self.now.finds {
            // The look has had the processor.
            self.now.behind = start;
            self.chain();
            return (start, Edge::Done);
        }
        let many = self.now.ends.len() > 1 && shape == Shape::Blocking;
        let join = many.then(|| self.calc(0));
        for end in join.iter().flat_map(|_| &self.now.ends) {
            self.out.draft.depend(join.unwrap_or(NONE), *end, Edge::Done);
        }
        let before = self.before(gap, true);
        let mut last = before;
        if self.options.mode != Mode::Gaps {
            let calc = self.calc(own);
            if self.options.mode == Mode::Durations {
                for start in &self.now.starts {
                    self.out.draft.depend(*start, calc, Edge::Done);
                }
            }
            self.out.draft.depend(calc, before, Edge::Done);
            last = calc;
        }
        self.chain();
        match shape {
            Shape::Blocking => (join.unwrap_or(start), Edge::Done),
            _ if self.options.mode == Mode::Aligned || self.now.starts.len() > 1 => {
                (last, Edge::Done)
            }
            _ => (start, Edge::Started),
        }
    }

    /// The computation so far, by itself; the rest of the call comes behind it.
    pub fn passes(&mut self) -> u32 {
        let gap = self.computed();
        self.ends(gap)
    }

    /// Returns what takes so long, by itself.
    pub fn ends(&mut self, time: u64) -> u32 {
        if !self.inside {
            return NONE;
        }
        self.by_itself(time);
        self.now.behind
    }

    /// Adds an operation of this length that begins when the computation before the call has
    /// passed: by itself, so that what comes meanwhile comes before it. The rest of the call comes
    /// behind it.
    pub fn moment(&mut self, gap: u64, cost: u64) {
        if !self.inside {
            return;
        }
        if gap > 0 {
            self.by_itself(gap);
            // Of what could begin now, what was caused while it computed comes first.
            self.by_itself(0);
        }
        self.by_itself(cost);
    }

    /// Does the same for an operation that takes no time.
    pub fn turn(&mut self) {
        let gap = self.computed();
        self.moment(gap, 0);
    }

    /// The computation before the call, which is taken.
    pub fn computed(&mut self) -> u64 {
        let gap = self.gap();
        if let Some(chain) = self.threads.get_mut(self.now.thread) {
            chain.clock = self.now.enter;
        }
        gap
    }

    /// Adds this much time behind the last call.
    fn by_itself(&mut self, time: u64) {
        self.now.behind = self.calc(time);
        self.chain();
        if let Some(chain) = self.threads.get_mut(self.now.thread) {
            chain.last = Some((self.now.behind, Edge::Done));
        }
    }

    /// Leaves the place of an answer to a message that was received before, if it may have one.
    pub fn answer_to(&mut self, receive: u32) {
        let Some(answers) = self.answers else { return };
        let number = self.out.probed;
        self.out.probed += 1;
        if answers.may_be(self.rank + self.copy() * self.ranks, number) {
            let before = self.passes();
            self.calc(0);
            self.out.answered.insert(receive, (before, number));
        }
    }

    /// Messages, then a computation that joins them.
    fn joined(&mut self, gap: u64, own: u64) -> (u32, Edge) {
        let join = self.calc(own);
        for end in self.now.ends.iter().chain(&self.now.waits) {
            self.out.draft.depend(join, *end, Edge::Done);
        }
        let before = self.before(gap, true);
        if self.now.ends.is_empty() {
            self.out.draft.depend(join, before, Edge::Done);
        }
        self.chain();
        (join, Edge::Done)
    }

    /// A computation behind earlier operations.
    fn completion(&mut self, gap: u64, own: u64) -> (u32, Edge) {
        let join = self.calc(own);
        for wait in &self.now.waits {
            self.out.draft.depend(join, *wait, Edge::Done);
        }
        let before = self.before(gap, true);
        self.out.draft.depend(join, before, Edge::Done);
        self.chain();
        (join, Edge::Done)
    }
}

/// The number of a collective in its communicator.
#[derive(Clone, Copy, Debug)]
pub enum CollectiveNumber {
    /// Among those that are called.
    Called(i64),
    /// A round of a persistent one.
    Started(Round),
}

/// Puts the messages of a collective among the operations of a rank.
pub struct Posting<'a, 'o> {
    pub compiler: &'a mut Compiler<'o>,
    pub communicator: i64,
    /// The number of the collective in its communicator.
    pub collective: CollectiveNumber,
    /// The number of the next message among those between two ranks.
    pub number: u32,
    /// The operations that come before all of it.
    pub before: &'a [u32],
    /// The schedule's ranks of the members, and behind them of the remote group.
    pub members: &'a dyn Fn(&Compiler, u32) -> u32,
}

impl Posting<'_, '_> {
    /// Further messages between two ranks have tags of their own.
    const fn purpose(&self) -> Purpose {
        match (self.collective, self.number) {
            (CollectiveNumber::Called(collective), 0) => Purpose::Collective(collective),
            (CollectiveNumber::Called(collective), step) => Purpose::Step(collective, step),
            (CollectiveNumber::Started(Round { made, number }), step) => {
                Purpose::Started(made, number, step)
            }
        }
    }

    fn post(&mut self, op: u32, after: &[u32]) -> u32 {
        let after = if after.is_empty() { self.before } else { after };
        let now = &mut self.compiler.now;
        if after.is_empty() {
            now.starts.push(op);
        }
        // What others wait for is no end.
        now.ends.retain(|end| !after.contains(end));
        now.ends.push(op);
        for before in after {
            now.inner.push((op, *before));
            self.compiler.out.draft.depend(op, *before, Edge::Done);
        }
        op
    }
}

impl Sink for Posting<'_, '_> {
    fn send(&mut self, to: u32, bytes: u64, after: &[u32]) -> u32 {
        let to = (self.members)(self.compiler, to);
        let op = self.compiler.send(to, self.communicator, self.purpose(), bytes);
        self.post(op, after)
    }

    fn receive(&mut self, from: u32, bytes: u64, after: &[u32]) -> u32 {
        let from = (self.members)(self.compiler, from);
        let op = self.compiler.receive(from, self.communicator, self.purpose(), bytes);
        self.post(op, after)
    }

    fn compute(&mut self, time: u64, after: &[u32]) -> u32 {
        let op = self.compiler.calc(time);
        self.post(op, after)
    }

    fn blocking(&mut self, op: u32) {
        self.compiler.blocking(op);
    }

    fn number(&mut self, number: u32) {
        self.number = number;
    }

    fn is_first(&mut self) -> bool {
        self.compiler.set_up.insert(self.communicator)
    }
}
