//! Live ranks as a source of operations.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};

use calls::Expand;
use host::{Claims, Explains, Operations, PendingMessage, Probing, Stamp, Starts, Waits, Work};
use rank_ipc::arena::Full;
use rank_ipc::hosts::Hosts;
use rank_ipc::{Command, Decoder, Reply, SIMULATORS_TURN};
use schedule::{Edge, Op, Run};

use crate::call_log::{CallLog, Calls, Kept};
use crate::computation::Computation;
use crate::envelope::Envelope;
use crate::graph::{ANY, AT_ONCE, BLOCKING, Graph, PINNED};
use crate::rank::{Rank, Rules, Want};
use crate::shared::{Costs, Shared};
use crate::spawn::Dormant;
use crate::tags::{BIRTH, REQUEST, Tags};
use crate::{Ended, Runner};

/// Live ranks, as a program for [`host::simulate_over`] and [`host::simulate_flow`].
pub struct Live<'a, H: ?Sized> {
    pub(crate) runner: &'a H,
    rules: Rules<'a>,
    /// The number of ranks that the program begins with.
    first: u32,
    /// The ranks that these may start.
    pub(crate) dormant: Dormant,
    /// The number of ranks that were asked where they are.
    asked: AtomicU32,
    /// The number of ranks that ended without having used MPI.
    strangers: AtomicU32,
}

/// Of so many ranks that cannot go on it is found out where in the program they are: that takes
/// each some milliseconds.
const ASKED: u32 = 64;

/// A rank that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub rank: u32,
    /// The function of MPI that it is in.
    pub inside: String,
}

impl<H: ?Sized> std::fmt::Debug for Live<'_, H> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Live").field("ranks", &self.first).finish_non_exhaustive()
    }
}

/// The state that is kept for a rank.
pub struct State {
    rank: Box<Rank>,
    /// It waits for its last call to be over.
    waits: bool,
}

thread_local! {
    /// The words that ranks say and hear, one rank at a time.
    static WORDS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl<'a, H: Runner + ?Sized> Live<'a, H> {
    /// A program of `first` ranks, which may start `more`. `expand` chooses the algorithms of
    /// collectives.
    pub fn new(
        runner: &'a H,
        (first, more): (u32, u32),
        expand: &'a dyn Expand,
        costs: Costs,
        computation: Computation,
    ) -> Self {
        let memory = *runner.memory();
        let ranks = first + more;
        let shared = Shared::new(memory, ranks);
        let rules = Rules { shared, memory, expand, costs, computation, calls: None };
        let (asked, strangers) = (AtomicU32::new(0), AtomicU32::new(0));
        Self { runner, rules, first, dormant: Dormant::new(first..ranks), asked, strangers }
    }

    /// Keeps the calls of ranks. To be said before they run.
    pub fn keep_calls(&mut self) {
        self.rules.calls = Some(Kept::new(self.dormant.end()));
        self.rules.memory.tell_calls();
    }

    /// Returns the calls that were kept, by rank, once the simulation is over.
    pub fn calls(&self) -> Vec<Calls> {
        self.rules.calls.as_ref().map(Kept::take).unwrap_or_default()
    }

    /// Tells the ranks which hosts they are on, before they run.
    pub fn place_on(&self, hosts: &Hosts) -> Result<(), Full> {
        self.rules.shared.publish(hosts, &self.rules.memory)
    }

    /// The place in the program where a rank waits, which the rank is asked for.
    fn place(&self, &Rank { number: rank, now, .. }: &Rank) -> Option<String> {
        if self.ended().is_some() || self.asked.fetch_add(1, Ordering::Relaxed) >= ASKED {
            return None;
        }
        let channel = self.rules.memory.channel(rank)?;
        let mut words = Vec::new();
        Reply { asks_place: true, ..Reply::default() }.encode(&mut words, []);
        channel.write(SIMULATORS_TURN, &words);
        self.runner.resume(rank, now).ok()?;
        words.clear();
        channel.read(SIMULATORS_TURN, &mut words);
        match Decoder::new(&words).next()? {
            Command::In(place) => Some(place),
            _ => None,
        }
    }

    /// The number of ranks that there were in all: the program's first, and those behind them up to
    /// the last that was started.
    pub fn lived(&self) -> u32 {
        self.dormant.lived()
    }

    /// The number of ranks that ended well without having used MPI.
    pub fn strangers(&self) -> u32 {
        self.strangers.load(Ordering::Relaxed)
    }

    /// Computation that was kept: nanoseconds of the processor, by rank and region.
    pub fn computation(&self) -> Vec<Vec<u64>> {
        self.rules.computation.kept()
    }

    /// The end of the program, if it was before its time.
    pub fn ended(&self) -> Option<Ended> {
        self.rules.shared.ended()
    }

    /// The rank runs from a moment on, until it waits.
    fn run(&self, state: &mut State, at: &Stamp) {
        self.runner.prefetch(state.rank.number, true);
        state.rank.graph.prefetch_room();
        self.rules.shared.prefetch_envelopes(state.rank.number);
        state.rank.expansion.iter().for_each(|expansion| expansion.prefetch());
        let mut now = at.time.ps();
        let mut value = std::mem::take(&mut state.rank.birth);
        state.waits = false;
        while self.rules.shared.ended().is_none() {
            match self.turn(state, now, value) {
                Ok(Want::Now(number)) => value = number,
                Ok(Want::Never) => return self.release(state, now),
                Ok(Want::Reached) => {
                    let Some(stamp) = state.rank.reached() else {
                        state.waits = true;
                        return;
                    };
                    now = now.max(stamp.time.ps());
                }
                Err(ended) => {
                    self.rules.shared.end(Ended { rank: state.rank.number, time: now, ..ended });
                }
            }
        }
    }

    /// One turn of a rank: it hears what has become of its operations, and says what it does next.
    fn turn(&self, state: &mut State, now: u64, value: u64) -> Result<Want, Ended> {
        let failed = |how: String| Ended { rank: 0, time: 0, how: Some(how), code: 1 };
        let mut words = WORDS.take();
        let rank = &mut state.rank;
        rank.now = now;
        self.reply(rank, &mut words, now, value, None)?;
        let channel = self
            .rules
            .memory
            .channel(rank.number)
            .ok_or_else(|| failed("it has no channel".to_owned()))?;
        words.clear();
        loop {
            if let Err(lost) = self.runner.resume(rank.number, now) {
                if lost.code == 0 {
                    self.strangers.fetch_add(u32::from(!lost.used), Ordering::Relaxed);
                    return rank.take(&mut Command::Exit, &self.rules).map_err(failed);
                }
                return Err(lost.into());
            }
            if !channel.read(SIMULATORS_TURN, &mut words) {
                break;
            }
        }
        rank.expansion.iter().for_each(|expansion| expansion.prefetch_peers());
        let mut want = Want::Now(u64::MAX);
        let mut commands = Decoder::new(&words);
        loop {
            // It stays where it was read: parts that were written one by one are waited for where
            // more of them are copied at once.
            let mut next = commands.next();
            let Some(command) = &mut next else { break };
            if let Command::Abort(code) = *command {
                return Err(Ended { rank: 0, time: 0, how: None, code });
            }
            want = if let Command::Start(what) = command {
                let started = self.spawn(rank.number, what);
                Want::Now(self.rules.shared.answer(&started, &self.rules.memory))
            } else {
                rank.take(command, &self.rules).map_err(failed)?
            };
        }
        if !commands.is_empty() {
            return Err(failed("it says what is no command".to_owned()));
        }
        WORDS.set(words);
        Ok(want)
    }

    /// Writes what a rank is to hear. What does not fit, it hears in turns of their own.
    fn reply(
        &self,
        rank: &mut Rank,
        words: &mut Vec<u64>,
        now: u64,
        value: u64,
        end: Option<i32>,
    ) -> Result<(), Ended> {
        let Some(channel) = self.rules.memory.channel(rank.number) else { return Ok(()) };
        words.clear();
        Reply { now, value, end, asks_place: false }.encode(words, rank.completions());
        rank.completed.clear();
        let mut rest = words.as_slice();
        loop {
            rest = channel.write(SIMULATORS_TURN, rest);
            if rest.is_empty() {
                return Ok(());
            }
            self.runner.resume(rank.number, now)?;
        }
    }

    /// The rank has said goodbye: it runs on without the simulator.
    fn release(&self, state: &mut State, now: u64) {
        let rank = &mut state.rank;
        if self.reply(rank, &mut Vec::new(), now, 0, None).is_ok() {
            self.runner.release(rank.number, now);
        }
    }
}

impl<H: Runner + ?Sized> Work for Live<'_, H> {
    type Source<'s>
        = &'s Self
    where
        Self: 's;

    fn ranks(&self) -> u32 {
        self.dormant.end()
    }

    fn source(&self) -> &Self {
        self
    }
}

impl<H: Runner + ?Sized> Operations for &Live<'_, H> {
    type State = State;

    fn state(&self, rank: u32) -> State {
        let mut state = Box::new(Rank::new(rank, self.first));
        let kept = self.rules.calls.clone();
        state.log = kept.map(|kept| Box::new(CallLog::new(rank, kept)));
        State { rank: state, waits: false }
    }

    fn weight(&self, rank: u32) -> u32 {
        u32::from(rank < self.first)
    }

    fn op(&self, state: &State, _: u32, index: u32) -> Op {
        let nothing = Op { kind: schedule::Kind::Calc, peer: 0, tag: 0, size: 0, cpu: 0, nic: 0 };
        state.rank.graph.op(index).unwrap_or(nothing)
    }

    fn start(&self, state: &mut State, _: u32, mut post: impl FnMut(Run, Op)) {
        if !state.rank.dormant {
            self.run(state, &host::START);
        }
        state.rank.graph.post(|index, op, _| post(Run::one(index), op));
    }

    fn reached(
        &self,
        state: &mut State,
        _: u32,
        (index, edge): (u32, Edge),
        at: &Stamp,
        post: impl FnMut(u32, Op, &Stamp),
    ) {
        state.rank.heard((index, edge), at);
        if state.waits && state.rank.hangs_on(index) && state.rank.reached().is_some() {
            self.run(state, at);
        }
        state.rank.graph.post(post);
    }

    fn unfinished(&self, state: &State, _: u32) -> bool {
        !state.rank.finished && !state.rank.dormant
    }

    /// Calls begin with computation, and nothing waits for its start.
    fn starts(&self) -> Starts {
        Starts::Messages
    }

    fn wants_start(&self, state: &State, index: u32) -> bool {
        state.rank.hangs_on(index) || state.rank.graph.is_waited_to_start(index)
    }

    fn wants_sends(&self) -> bool {
        true
    }

    fn matched_by(&self, number: u32) -> mpi::Tag {
        self.rules.shared.tags.matched_by(number)
    }

    fn shown_tag(&self, number: u32) -> u32 {
        self.rules.shared.tags.shown(number)
    }

    fn is_alarm(&self, state: &State, index: u32) -> bool {
        state.rank.graph.is_alarm(index)
    }

    fn prefetch(&self, state: &State, rank: u32, stage: usize) {
        state.rank.prefetch(stage);
        if state.waits && stage == 0 {
            self.runner.prefetch(rank, false);
        }
    }
}

impl<H: Runner + ?Sized> Claims for &Live<'_, H> {
    /// Always true: a rank itself finds out that a message is too large.
    fn fits(&self) -> bool {
        true
    }
}

impl<H: Runner + ?Sized> Probing for &Live<'_, H> {
    fn is_conditional(&self, state: &State, receive: u32) -> bool {
        state.rank.graph.is(receive, AT_ONCE)
    }

    fn accepts(&self, state: &mut State, receive: u32, send: Option<u32>) -> bool {
        state.rank.accepts(receive, send)
    }

    fn matched(&self, state: &mut State, receive: u32, (sender, send): (u32, u32), bytes: u64) {
        let tag = state.rank.graph.op(receive).map(|op| op.tag);
        if tag.is_some_and(Tags::is_of_collective) {
            return;
        }
        if let Some(envelope) = self.rules.shared.receive(sender, send) {
            if tag == Some(BIRTH)
                && let Envelope::Message { contents, .. } = envelope
            {
                state.rank.birth = contents;
            }
            state.rank.met(receive, sender, bytes, envelope);
            state.rank.met_or_found(receive, (sender, send), envelope.answer());
        }
    }

    fn prefetch_sender(&self, sender: u32, tag: u32) {
        if !Tags::is_of_collective(tag) {
            self.rules.shared.prefetch_envelopes(sender);
        }
    }

    fn receive_unposted(&self, state: &mut State, sender: u32, tag: u32) -> Option<u32> {
        match tag {
            REQUEST => Some(state.rank.serve(sender, REQUEST)),
            BIRTH if state.rank.dormant => {
                state.waits = true;
                Some(state.rank.born(sender, &self.rules.costs))
            }
            _ => None,
        }
    }

    fn cancels(&self, state: &State, index: u32) -> Option<u32> {
        state.rank.graph.cancels(index)
    }

    fn cancelled(&self, state: &mut State, receive: u32) {
        state.rank.void(receive);
    }

    fn is_exclusive(&self, state: &State, index: u32) -> bool {
        state.rank.turn == Some(index)
    }

    /// See [`rank_ipc::Command::Order`].
    fn keeps_order(&self) -> bool {
        true
    }

    fn grows(&self) -> bool {
        true
    }
}

impl<H: Runner + ?Sized> Waits for &Live<'_, H> {
    fn is_blocking(&self, state: &State, _: u32, index: u32) -> bool {
        state.rank.graph.is(index, BLOCKING)
    }

    fn is_in_order(&self, state: &State, rank: u32, index: u32) -> bool {
        self.is_blocking(state, rank, index)
    }

    fn dependents(&self, state: &State, _: u32, index: u32, each: &mut dyn FnMut(u32)) {
        state.rank.graph.after(index).for_each(each);
    }

    fn missing(&self, state: &State, _: u32, index: u32) -> u32 {
        state.rank.graph.missing(index)
    }

    fn is_any(&self, state: &State, index: u32) -> bool {
        state.rank.graph.is(index, ANY)
    }

    fn wants(&self, state: &State, index: u32) -> bool {
        state.rank.wants(index)
    }

    fn is_look(&self, state: &State, _: u32, index: u32) -> bool {
        state.rank.is_look(index)
    }

    fn tested(&self, state: &State, index: u32, is_there: &dyn Fn(u32) -> bool) -> Option<u32> {
        state.rank.tested(index, is_there)
    }
}

impl<H: Runner + ?Sized> Explains for &Live<'_, H> {
    fn waits_in(&self, state: &State) -> Option<String> {
        let rank = &*state.rank;
        (!rank.finished).then(|| self.place(rank).unwrap_or_else(|| rank.inside.clone()))
    }

    fn message(&self, state: &State, index: u32) -> Option<PendingMessage> {
        let op = state.rank.graph.op(index).filter(|op| op.kind != schedule::Kind::Calc)?;
        let tag = self.rules.shared.tags.of_program(op.tag)?;
        let is_send = op.kind == schedule::Kind::Send;
        let was_left = |graph: &Graph| graph.is(index, BLOCKING) && !graph.is(index, PINNED);
        let earlier = is_send && was_left(&state.rank.graph) && !state.rank.hangs_on(index);
        Some(PendingMessage { index, op: Op { tag, ..op }, earlier })
    }
}
