//! Where operations come from.

use kernel::Probe;
use mpi::Tags;
use schedule::{Edge, Follow, Op, Program, Run};
use units::Time;

use crate::path::Stamp;
use crate::{Error, Message, Outcome, Record, Settings};

/// What supplies a rank's operations. Whatever it is, it hears of starts and ends and answers with
/// operations that may start from some moment on; nothing below assumes that it knows more than
/// that in advance.
pub trait Source: Sync {
    /// What it keeps for each rank.
    type State: Send;

    /// The state of a rank before anything has happened.
    fn state(&self, rank: u32) -> Self::State;

    /// Whether a rank is likely to do anything: 1, or 0.
    fn weight(&self, rank: u32) -> u32 {
        let _ = rank;
        1
    }

    /// An operation that was posted.
    fn op(&self, state: &Self::State, rank: u32, index: u32) -> Op;

    /// Calls `post` with everything that may start at time zero, and the first operation of each
    /// run.
    fn start(&self, state: &mut Self::State, rank: u32, post: impl FnMut(Run, Op));

    /// An operation has started or will be done at a moment; calls `post` with what may start now.
    fn reached(
        &self,
        state: &mut Self::State,
        rank: u32,
        event: (u32, Edge),
        at: &Stamp,
        post: impl FnMut(u32, Op, &Stamp),
    );

    /// What the end of an operation sets free, in short.
    fn follow(&self, state: &Self::State, rank: u32, index: u32) -> Follow;

    /// For how much an operation that has not started still waits.
    fn missing(&self, state: &Self::State, rank: u32, index: u32) -> u32;

    /// [`Source::claim`], and [`Source::follow`] of the answer.
    fn answer(&self, state: &mut Self::State, source: u32, tag: u32) -> Option<(u32, Follow)>;

    /// An operation is done, and what that sets free is known already.
    fn ended(&self, state: &mut Self::State);

    /// Something will happen at the rank soon.
    fn soon(&self, state: &Self::State, rank: u32, stage: usize);

    /// Whether starts of operations need to be told.
    fn wants_starts(&self) -> bool;

    /// Whether, if so, that of an operation does.
    fn wants_start(&self, state: &Self::State, index: u32) -> bool {
        let _ = (state, index);
        true
    }

    /// Whether, if so, those of computation do.
    fn wants_starts_of_computation(&self) -> bool {
        true
    }

    /// Whether ends of sends need to be told.
    fn wants_sends(&self) -> bool;

    /// A send is done and nothing waits for that; otherwise [`Source::reached`] is to be told.
    fn sent(&self, state: &mut Self::State) -> bool;

    /// Whether receives are never posted but claimed (see [`Program::claims`]).
    fn claims(&self) -> bool;

    /// Whether no receive can be smaller than its message.
    fn fits(&self) -> bool;

    /// The receive that the next message from `source` matches.
    fn claim(&self, state: &mut Self::State, rank: u32, source: u32, tag: u32) -> Option<u32>;

    /// Whether operations of the rank are left.
    fn unfinished(&self, state: &Self::State, rank: u32) -> bool;

    /// The first operation that can never start because it waits, through others, for itself.
    fn first_blocked(&self, state: &Self::State, rank: u32) -> Option<u32>;

    /// What tags mean.
    fn tags(&self) -> Tags {
        Tags::PLAIN
    }

    /// A receive meets a message: that of a send of another rank, of so many bytes.
    fn matched(&self, state: &mut Self::State, receive: u32, send: (u32, u32), bytes: u64) {
        let _ = (state, receive, send, bytes);
    }

    /// A message of another rank has come, with a tag, and will meet its receive soon.
    fn coming(&self, sender: u32, tag: u32) {
        let _ = (sender, tag);
    }

    /// No receive is there for a message: one that is made for it, if the rank takes it without
    /// being asked to.
    fn serve(&self, state: &mut Self::State, sender: u32, tag: u32) -> Option<u32> {
        let _ = (state, sender, tag);
        None
    }

    /// Whether a receive asks first which message is there for it ([`Source::takes`]).
    fn asks(&self, state: &Self::State, receive: u32) -> bool {
        let _ = (state, receive);
        false
    }

    /// A receive that is posted now would take the message of a send, or none is there; whether it
    /// does, or waits for one. If not, it is done, as if it had not been posted.
    fn takes(&self, state: &mut Self::State, receive: u32, send: Option<u32>) -> bool {
        let _ = (state, receive, send);
        true
    }

    /// The receive that is withdrawn when a computation starts.
    fn cancels(&self, state: &Self::State, index: u32) -> Option<u32> {
        let _ = (state, index);
        None
    }

    /// A receive was withdrawn, and will be told to be done.
    fn cancelled(&self, state: &mut Self::State, receive: u32) {
        let _ = (state, receive);
    }

    /// Whether a send is a blocking one.
    fn is_blocking(&self, state: &Self::State, rank: u32, index: u32) -> bool;

    /// Whether a computation is sleep, which uses no core.
    fn is_sleep(&self, rank: u32, index: u32) -> bool {
        let _ = (rank, index);
        false
    }

    /// Whether the receives that are waited for with this one are waited for one after the other.
    fn is_in_order(&self, state: &Self::State, rank: u32, index: u32) -> bool;

    /// Whether more operations may come to wait for one that has been posted.
    fn grows(&self) -> bool {
        false
    }

    /// Whether ranks of several threads may ask for those on hosts with lower numbers to run before
    /// them.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Whether a receive that no operation waits for, as far as is known, is to be taken in.
    fn wants(&self, state: &Self::State, index: u32) -> bool {
        let _ = (state, index);
        true
    }

    /// Whether a rank looks at or changes what all share when a computation is done: of such
    /// computations, none is carried out before one of another rank that begins earlier.
    fn is_turn(&self, state: &Self::State, index: u32) -> bool {
        let _ = (state, index);
        false
    }

    /// Whether a computation is a look for what may have come (`MPI_Test`, `MPI_Iprobe`).
    fn is_look(&self, state: &Self::State, rank: u32, index: u32) -> bool {
        let _ = (state, rank, index);
        false
    }

    /// The next receive that such a look takes in, of those whose message `is_there`.
    fn tested(
        &self,
        state: &Self::State,
        index: u32,
        is_there: &dyn Fn(u32) -> bool,
    ) -> Option<u32> {
        let _ = (state, index, is_there);
        None
    }

    /// Whether the first of those that an operation waits for is enough.
    fn is_any(&self, state: &Self::State, index: u32) -> bool {
        let _ = (state, index);
        false
    }

    /// Calls `each` with every operation that waits for the end of another, as far as is known.
    fn dependents(&self, state: &Self::State, rank: u32, index: u32, each: &mut dyn FnMut(u32));

    /// Where a rank that is not finished waits, in words, if it can tell.
    fn waits_in(&self, state: &Self::State) -> Option<String> {
        let _ = state;
        None
    }

    /// The message of a live program that an operation is, if it is one.
    fn message(&self, state: &Self::State, index: u32) -> Option<Message> {
        let _ = (state, index);
        None
    }
}

/// Something that hosts can work off: how many ranks it has, and where their operations come from.
pub trait Work: Sync {
    /// Where they come from.
    type Source<'s>: Source
    where
        Self: 's;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Number of CPUs per rank.
    fn cpus(&self) -> u32 {
        1
    }

    /// Number of network interfaces per rank.
    fn nics(&self) -> u32 {
        1
    }

    /// How many operations it has in all, if that is known.
    fn operations(&self) -> Option<u64> {
        None
    }

    /// Simulates it exactly as `LogGOPSim` does, if it can be; see [`crate::simulate_loggopsim`].
    fn by_loggopsim<B: Probe<Record>>(
        &self,
        settings: &Settings,
        probe: B,
    ) -> Option<Result<(Outcome, B), Error>> {
        let _ = (settings, probe);
        None
    }

    /// The source of a run.
    fn source(&self) -> Self::Source<'_>;

    /// The same with every receive posted, if that would tell more of a deadlock.
    fn posting_all(&self) -> Option<Self::Source<'_>> {
        None
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

/// A static program as a source, and what it says of itself, asked once.
#[allow(clippy::struct_excessive_bools)]
pub struct Scheduled<'a, P> {
    program: &'a P,
    /// Whether the program's claims are used; if not, all receives are posted.
    claims: bool,
    starts: bool,
    sends: bool,
    fits: bool,
}

impl<'a, P: Program> Scheduled<'a, P> {
    pub fn new(program: &'a P) -> Self {
        let (starts, sends) = (program.has_start_edges(), program.has_send_edges());
        Self { program, claims: program.claims(), starts, sends, fits: program.has_one_size() }
    }

    /// The same, with every receive posted, so that those left over can be named.
    pub fn posting_all(program: &'a P) -> Self {
        Self { claims: false, ..Self::new(program) }
    }
}

/// What a static program keeps for a rank: memory grows with what is in flight.
#[derive(Debug, Default)]
pub struct Progress {
    memory: u64,
    /// What the program calls the rank.
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

impl<P: Program> Source for Scheduled<'_, P> {
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

    #[inline]
    fn follow(&self, state: &Progress, _: u32, index: u32) -> Follow {
        self.program.follow(state.role, index)
    }

    fn missing(&self, state: &Progress, rank: u32, index: u32) -> u32 {
        let join = state.joins.iter().rfind(|join| join.index == index);
        join.map_or_else(|| self.program.dependencies(rank, index), |join| join.missing)
    }

    #[inline]
    fn answer(&self, state: &mut Progress, source: u32, tag: u32) -> Option<(u32, Follow)> {
        self.program.answer(state.role, &mut state.memory, source, tag)
    }

    #[inline]
    fn ended(&self, state: &mut Progress) {
        state.done += 1;
    }

    /// Programs are mostly worked off in the order in which they stand.
    #[inline]
    fn soon(&self, state: &Progress, rank: u32, stage: usize) {
        self.program.soon(rank, state.done, stage);
    }

    #[inline]
    fn wants_starts(&self) -> bool {
        self.starts
    }

    #[inline]
    fn wants_sends(&self) -> bool {
        self.sends
    }

    #[inline]
    fn sent(&self, state: &mut Progress) -> bool {
        state.done += u32::from(!self.sends);
        !self.sends
    }

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

    fn unfinished(&self, state: &Progress, rank: u32) -> bool {
        state.done < self.program.ops(rank)
    }

    /// If the program does not know, whether what follows waits for it and nothing else.
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

    fn is_sleep(&self, rank: u32, index: u32) -> bool {
        self.program.is_sleep(rank, index)
    }

    fn is_look(&self, _: &Progress, rank: u32, index: u32) -> bool {
        self.program.is_look(rank, index)
    }

    fn is_in_order(&self, _: &Progress, rank: u32, index: u32) -> bool {
        self.program.is_blocking(rank, index) == Some(true)
    }

    fn dependents(&self, _: &Progress, rank: u32, index: u32, each: &mut dyn FnMut(u32)) {
        self.program.dependents(rank, index, Edge::Done, &mut |next| each(next));
    }

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

/// The moment at which a program starts.
pub const START: Stamp = Stamp {
    time: Time::ZERO,
    cause: Time::ZERO,
    path: crate::path::Path { compute: 0, overhead: 0, latency: 0, bandwidth: 0 },
};
