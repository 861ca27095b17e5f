//! Static programs as sources.

use kernel::Probe;
use schedule::{Edge, Follow, Op, Program, Run};

use super::{Claims, Explains, Operations, Probing, Starts, Waits, Work};
use crate::path::Stamp;
use crate::{Error, Outcome, Record, Settings};

/// A static program as a source, with the answers that it gives about itself, asked once.
#[allow(clippy::struct_excessive_bools)]
pub struct Scheduled<'a, P> {
    program: &'a P,
    /// True if the program's claims are used; if not, all receives are posted.
    claims: bool,
    starts: Starts,
    sends: bool,
    fits: bool,
}

impl<'a, P: Program> Scheduled<'a, P> {
    pub fn new(program: &'a P) -> Self {
        let starts = if program.has_start_edges() { Starts::All } else { Starts::Nothing };
        let sends = program.has_send_edges();
        Self { program, claims: program.claims(), starts, sends, fits: program.has_one_size() }
    }

    /// Makes a source that posts every receive, so that those left over can be named.
    pub fn posting_all(program: &'a P) -> Self {
        Self { claims: false, ..Self::new(program) }
    }
}

/// The state of a rank of a static program. Memory grows with what is in flight.
#[derive(Debug, Default)]
pub struct Progress {
    memory: u64,
    /// The program's own number for the rank.
    role: u32,
    done: u32,
    /// Operations of which some dependencies are met.
    joins: Vec<Join>,
}

#[derive(Debug)]
struct Join {
    index: u32,
    missing: u32,
    at: Stamp,
}

impl Progress {
    /// A dependency of an operation with several is met; returns the moment at which it may start
    /// if that was the last.
    fn meet(&mut self, index: u32, dependencies: u32, at: &Stamp) -> Option<Stamp> {
        // Usually one or two operations wait at a time; the newest is the likeliest.
        let joins = &mut self.joins;
        let Some(position) = joins.iter().rposition(|join| join.index == index) else {
            joins.push(Join { index, missing: dependencies - 1, at: *at });
            return None;
        };
        let join = &mut joins[position];
        join.at = join.at.join(*at);
        join.missing -= 1;
        if join.missing > 0 {
            return None;
        }
        Some(joins.swap_remove(position).at)
    }
}

impl<P: Program> Operations for Scheduled<'_, P> {
    type State = Progress;

    fn state(&self, rank: u32) -> Progress {
        Progress { role: self.program.role(rank), ..Progress::default() }
    }

    #[inline]
    fn op(&self, _: &Progress, rank: u32, index: u32) -> Op {
        self.program.op(rank, index)
    }

    fn start(&self, _: &mut Progress, rank: u32, mut post: impl FnMut(Run, Op)) {
        self.program.roots(rank, &mut |run| post(run, self.program.op(rank, run.first)));
    }

    #[inline]
    fn reached(
        &self,
        state: &mut Progress,
        _: u32,
        (index, edge): (u32, Edge),
        at: &Stamp,
        mut post: impl FnMut(u32, Op, &Stamp),
    ) {
        state.done += u32::from(edge == Edge::Done);
        let program = self.program;
        program.successors(
            state.role,
            index,
            edge,
            &mut |next, dependencies, op| match dependencies {
                0 | 1 => post(next, op, at),
                several => {
                    if let Some(at) = state.meet(next, several, at) {
                        post(next, op, &at);
                    }
                }
            },
        );
    }

    fn unfinished(&self, state: &Progress, rank: u32) -> bool {
        state.done < self.program.ops(rank)
    }

    #[inline]
    fn starts(&self) -> Starts {
        self.starts
    }

    #[inline]
    fn wants_sends(&self) -> bool {
        self.sends
    }

    /// Programs are mostly worked off in the order in which they stand.
    #[inline]
    fn prefetch(&self, state: &Progress, rank: u32, stage: usize) {
        self.program.prefetch(rank, state.done, stage);
    }
}

impl<P: Program> Claims for Scheduled<'_, P> {
    #[inline]
    fn claims(&self) -> bool {
        self.claims
    }

    #[inline]
    fn fits(&self) -> bool {
        self.fits
    }

    #[inline]
    fn claim(&self, state: &mut Progress, _: u32, source: u32, tag: u32) -> Option<u32> {
        self.program.claim(state.role, &mut state.memory, source, tag)
    }

    #[inline]
    fn answer(&self, state: &mut Progress, source: u32, tag: u32) -> Option<(u32, Follow)> {
        self.program.answer(state.role, &mut state.memory, source, tag)
    }

    #[inline]
    fn follow(&self, state: &Progress, _: u32, index: u32) -> Follow {
        self.program.follow(state.role, index)
    }

    #[inline]
    fn ended(&self, state: &mut Progress) {
        state.done += 1;
    }

    #[inline]
    fn sent(&self, state: &mut Progress) -> bool {
        state.done += u32::from(!self.sends);
        !self.sends
    }
}

impl<P: Program> Probing for Scheduled<'_, P> {}

impl<P: Program> Waits for Scheduled<'_, P> {
    /// Falls back, where the program does not know, on whether what follows waits for it and for
    /// nothing else.
    fn is_blocking(&self, state: &Progress, rank: u32, index: u32) -> bool {
        if let Some(known) = self.program.is_blocking(rank, index) {
            return known;
        }
        let (mut any, mut only) = (false, true);
        if self.program.has_send_edges() {
            self.program.successors(state.role, index, Edge::Done, &mut |_, dependencies, _| {
                (any, only) = (true, only && dependencies == 1);
            });
        }
        any && only
    }

    fn is_in_order(&self, _: &Progress, rank: u32, index: u32) -> bool {
        self.program.is_blocking(rank, index) == Some(true)
    }

    fn dependents(&self, _: &Progress, rank: u32, index: u32, each: &mut dyn FnMut(u32)) {
        self.program.dependents(rank, index, Edge::Done, &mut |next| each(next));
    }

    fn missing(&self, state: &Progress, rank: u32, index: u32) -> u32 {
        let join = state.joins.iter().rfind(|join| join.index == index);
        join.map_or_else(|| self.program.dependencies(rank, index), |join| join.missing)
    }

    fn is_look(&self, _: &Progress, rank: u32, index: u32) -> bool {
        self.program.is_look(rank, index)
    }

    fn is_sleep(&self, rank: u32, index: u32) -> bool {
        self.program.is_sleep(rank, index)
    }
}

impl<P: Program> Explains for Scheduled<'_, P> {
    fn first_blocked(&self, _: &Progress, rank: u32) -> Option<u32> {
        let program = self.program;
        let count = program.ops(rank);
        let mut missing: Vec<u32> = (0..count).map(|op| program.dependencies(rank, op)).collect();
        let mut free: Vec<u32> = (0..count).filter(|&op| missing[op as usize] == 0).collect();
        while let Some(op) = free.pop() {
            for edge in [Edge::Started, Edge::Done] {
                program.dependents(rank, op, edge, &mut |dependent| {
                    let missing = &mut missing[dependent as usize];
                    *missing = missing.saturating_sub(1);
                    if *missing == 0 {
                        free.push(dependent);
                    }
                });
            }
        }
        missing.iter().position(|&missing| missing > 0).map(|op| op as u32)
    }
}

impl<P: Program> Work for P {
    type Source<'s>
        = Scheduled<'s, P>
    where
        Self: 's;

    fn ranks(&self) -> u32 {
        Program::ranks(self)
    }

    fn cpus(&self) -> u32 {
        Program::cpus(self)
    }

    fn nics(&self) -> u32 {
        Program::nics(self)
    }

    fn operations(&self) -> Option<u64> {
        Some((0..Program::ranks(self)).map(|rank| u64::from(self.ops(rank))).sum())
    }

    fn by_loggopsim<B: Probe<Record>>(
        &self,
        settings: &Settings,
        probe: B,
    ) -> Option<Result<(Outcome, B), Error>> {
        Some(crate::simulate_loggopsim(self, settings, probe))
    }

    fn source(&self) -> Scheduled<'_, P> {
        Scheduled::new(self)
    }

    fn posting_all(&self) -> Option<Scheduled<'_, P>> {
        self.claims().then(|| Scheduled::posting_all(self))
    }
}
