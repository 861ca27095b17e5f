//! One rank's calls to operations.

use std::collections::BTreeMap;
use std::io;

use rustc_hash::{FxHashMap, FxHashSet};
use schedule::goal::{Draft, Spill};
use schedule::{Edge, Kind, Op};

use super::align::Steps;
use super::keys::{Keys, Numbers};
use super::locks::{Grants, Held};
use super::onesided::Exposure;
use super::request::Request;
use super::synchronous::{Answers, Synchronous};
use super::unlisted::Verdict;
use super::{Clock, Mark, post};
use crate::definitions::Communicator;
use crate::options::{Mode, Options, Window};
use crate::pinning::Pinned;
use crate::record::{PROC_NULL, Record};
use crate::source::Stream;
use calls::{Class, How};

/// The most errors of a rank that are shown.
const SHOWN: usize = 20;
/// The number of `MPI_Finalize`.
const FINALIZE: u32 = 18;
/// The most threads of a rank: their numbers count from 0.
const THREADS: u32 = 1 << 16;
/// About so many operations stay open.
const OPEN: usize = 1 << 11;
/// An operation that lies outside of the window.
pub const NONE: u32 = u32::MAX;

/// A rank that was compiled.
#[derive(Debug)]
pub struct Ranked {
    /// The rank in the trace.
    pub rank: u32,
    /// In the schedule.
    pub place: u32,
    pub draft: Draft,
    /// The steps of the recorded run that nobody has followed yet, in mode `Aligned`.
    pub steps: Steps,
    /// The operations before this one are not changed by later calls.
    pub decided: u32,
    /// All messages in the order of their posting, if a window is cut or synchronous sends are
    /// answered.
    pub log: Vec<Logged>,
    /// Sends that are to be answered.
    pub synchronous: Vec<Synchronous>,
    pub remote: Vec<Remote>,
    /// The locks of windows that it held, of a simulated run.
    pub held: Vec<Held>,
    /// Messages that were probed and then received.
    pub probed: u32,
    /// By receive of a probe, the operation before the place of an answer to its sender, and its
    /// number among those.
    pub answered: FxHashMap<u32, (u32, u32)>,
    pub marks: Vec<Mark>,
    /// Sends that are blocking calls, if that was asked for.
    pub blocking: Vec<u32>,
    /// Computations that are sleep, if that was asked for too.
    pub sleeps: Vec<u32>,
    /// Computations that are looks of a simulated run for what has come.
    pub looks: Vec<u32>,
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
    /// Counts of what is worth a warning.
    pub counts: BTreeMap<&'static str, u64>,
    pub calls: u64,
    /// Collectives of the world, and when the last call began, in picoseconds.
    pub world: u64,
    pub last_call: u64,
}

/// A message end.
#[derive(Clone, Copy, Debug)]
pub struct Logged {
    pub send: bool,
    pub peer: u32,
    pub tag: u32,
    pub op: u32,
}

/// The part of a one-sided operation at its target.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// In the schedule.
    pub target: u32,
    pub bytes: u64,
    pub answer_bytes: u64,
    pub tag: u32,
    pub answer: u32,
}

/// The last call of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chain {
    pub last: Option<(u32, Edge)>,
    /// The time when its last call that matters returned.
    pub clock: u64,
    /// Computation that no operation stands for yet.
    pub carry: u64,
    /// Sleep, likewise.
    pub slept: u64,
}

/// A message that was probed and not yet received.
#[derive(Clone, Copy, Debug)]
pub struct Probed {
    pub communicator: i64,
    pub source: i64,
    pub tag: i64,
    pub op: u32,
    /// The number of the message in hand, if it was `MPI_Mprobe`.
    pub message: i64,
}

/// Compiles a rank.
pub struct Compiler<'a> {
    pub options: &'a Options<'a>,
    pub clock: Clock,
    spill: &'a Spill,
    pub keys: Keys<'a>,
    pub rank: u32,
    copy: u32,
    pub ranks: u32,
    pub out: Ranked,
    pub threads: Vec<Chain>,
    pub requests: FxHashMap<i64, Request>,
    pub probed: Vec<Probed>,
    /// Collectives so far, by communicator.
    pub collectives: FxHashMap<i64, i64>,
    /// The persistent ones that were made, by communicator.
    pub persistent: FxHashMap<i64, i64>,
    /// Communicators whose nodes were set up.
    pub set_up: FxHashSet<i64>,
    pub windows: FxHashMap<i64, Exposure>,
    pub pinned: Pinned,
    pub connected: FxHashSet<u32>,
    pub region: Option<i64>,
    pub factor: f64,
    /// True if calls are compiled or only followed.
    pub inside: bool,
    pub finalized: bool,
    /// Tests and probes in a row of a simulated run.
    pub looks: u64,
    /// Of a trace that tells no times, the request that was looked at last, and how often in a row.
    pub tested: (Option<i64>, u64),
    /// Looks at the clock in a row of a simulated run.
    pub times: u64,
    /// The number of one-sided operations so far.
    pub accesses: u32,
    /// Operations of requests whose completion the trace does not tell: the next call waits for
    /// them.
    pub late: Vec<u32>,
    /// Arrays of requests, and how many of each calls have completed without saying which.
    pub blind: Vec<(Vec<i64>, usize)>,
    /// Operations of requests that were freed: the end of the rank waits for them.
    pub freed: Vec<u32>,
    /// Operations of messages in the program's buffer.
    pub buffered: Vec<u32>,
    /// The number of open operations that is a reason to close some; no number is, if the messages
    /// of other ranks can still change all of them.
    full: usize,
    /// True if synchronous sends are answered.
    pub answers: Option<&'a Answers>,
    /// The ranks that tell others that a lock is there, when they are known.
    pub grants: Option<&'a Grants>,
    /// The verdicts on functions outside the table.
    pub unlisted: FxHashMap<u32, Verdict>,
    pub now: Current,
}

/// The operations that the current call has posted.
#[derive(Debug, Default)]
pub struct Current {
    pub call: u32,
    pub thread: usize,
    pub line: u32,
    pub enter: u64,
    pub leave: u64,
    /// Operations that start with the call.
    pub starts: Vec<u32>,
    /// Operations that must be done for it to return, or for its request.
    pub ends: Vec<u32>,
    /// Earlier operations for which it waits.
    pub waits: Vec<u32>,
    /// Dependencies among its own operations: later, earlier.
    pub inner: Vec<(u32, u32)>,
    /// First operation.
    pub first: u32,
    /// The sleep or computation before it.
    pub behind: u32,
    /// The time that the recorded network took of it.
    pub network: u64,
    /// Registration of buffers and set-up of connections.
    pub extra: u64,
    /// The request that it starts.
    pub request: i64,
    /// True if it finds a message, which gets the rank on when it is received.
    pub finds: bool,
    /// The window of an access, or of the end of one to the rank's own memory.
    pub window: Option<i64>,
}

/// The common time of a rank's own time.
pub fn common(points: &[(u64, i128)], at: u64) -> i128 {
    let behind = points.partition_point(|(own, _)| *own <= at);
    let at_ = i128::from(at);
    match (behind.checked_sub(1).and_then(|index| points.get(index)), points.get(behind)) {
        (Some((own, all)), Some((own2, all2))) => {
            all + (at_ - i128::from(*own)) * (all2 - all) / i128::from(own2 - own)
        }
        (Some((own, all)), None) | (None, Some((own, all))) => all + at_ - i128::from(*own),
        (None, None) => at_,
    }
}

/// The things that the compilers of all ranks share.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    pub options: &'a Options<'a>,
    pub numbers: &'a Numbers,
    pub spill: &'a Spill,
    /// Ranks of the trace.
    pub ranks: u32,
    pub known: Known<'a>,
}

/// The results of compiling the traces before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The places of answers, if synchronous sends are answered.
    pub answers: Option<&'a Answers>,
    /// The ranks that others waited for at locks, if any did.
    pub grants: Option<&'a Grants>,
}

impl<'a> Compiler<'a> {
    // Long because it lists the fields.
    pub fn new(shared: Shared<'a>, rank: u32, copy: u32, clock: Clock) -> Self {
        let Shared { options, numbers, spill, ranks, known: Known { answers, grants } } = shared;
        let own = rank + copy * ranks;
        let place = options.map.get(own as usize).copied().unwrap_or(own);
        let out = Ranked {
            rank,
            place,
            draft: Draft::default(),
            steps: Steps::default(),
            decided: 0,
            log: Vec::new(),
            synchronous: Vec::new(),
            remote: Vec::new(),
            held: Vec::new(),
            probed: 0,
            answered: FxHashMap::default(),
            marks: Vec::new(),
            blocking: Vec::new(),
            sleeps: Vec::new(),
            looks: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            counts: BTreeMap::new(),
            calls: 0,
            world: 0,
            last_call: 0,
        };
        Self {
            options,
            clock,
            spill,
            keys: Keys::new(numbers),
            rank,
            copy,
            ranks,
            out,
            threads: vec![Chain::default()],
            requests: FxHashMap::default(),
            probed: Vec::new(),
            collectives: FxHashMap::default(),
            persistent: FxHashMap::default(),
            set_up: FxHashSet::default(),
            windows: FxHashMap::default(),
            pinned: Pinned::default(),
            connected: FxHashSet::default(),
            region: None,
            factor: options.scale.factor(rank, None),
            inside: !matches!(options.window, Window::Collectives(1.., _) | Window::Times(1.., _)),
            finalized: false,
            looks: 0,
            tested: (None, 1),
            times: 0,
            accesses: 0,
            late: Vec::new(),
            blind: Vec::new(),
            freed: Vec::new(),
            buffered: Vec::new(),
            full: if options.window == Window::All && answers.is_none() {
                OPEN
            } else {
                usize::MAX
            },
            answers,
            grants,
            unlisted: FxHashMap::default(),
            now: Current::default(),
        }
    }

    /// Compiles the next call of the rank. Fails if closed operations cannot be written to their
    /// file.
    pub fn next(&mut self, record: &mut Record, stream: &Stream) -> io::Result<()> {
        self.out.calls += 1;
        if let Some(points) = &self.clock {
            // Before the first rank leaves MPI_Init there is nothing.
            let bring = |at| u64::try_from(common(points, at)).unwrap_or(0);
            (record.enter, record.leave) = (bring(record.enter), bring(record.leave));
        }
        if self.out.draft.open() > self.full {
            self.close()?;
        }
        if let Err(message) = self.call(record, stream) {
            self.fail(record, stream, &message);
        }
        Ok(())
    }

    /// Ends the rank: there are no more calls.
    pub fn end(&mut self, stream: &Stream) {
        if !self.finalized {
            self.finish();
        }
        self.out.decided = u32::MAX;
        let (errors, warnings) = stream.findings();
        self.out.errors.splice(..0, errors);
        // One copy is enough to say it.
        if self.copy == 0 {
            self.out.warnings.extend(warnings);
        }
    }

    /// Notes which operations no later call can change: those before all whose requests are not
    /// completed yet. One of these may still get the source that it matched, or be cancelled.
    pub fn decide(&mut self) {
        let requests = self.requests.values().filter(|request| request.active);
        let open = requests.flat_map(|request| request.ops.iter().copied()).min();
        self.out.decided = open.unwrap_or(u32::MAX).min(self.out.draft.len());
    }

    fn fail(&mut self, record: &Record, stream: &Stream, message: &str) {
        if self.copy > 0 || self.out.errors.len() >= SHOWN {
            return;
        }
        let (name, file) = (stream.name(record.id), stream.path().display());
        let place = stream.place();
        self.out
            .errors
            .push(format!("error: {file}: {place}: {name} on rank {}: {message}\n", self.rank));
    }

    /// Notes that something happened.
    pub fn count(&mut self, what: &'static str) {
        *self.out.counts.entry(what).or_default() += 1;
    }

    fn call(&mut self, record: &Record, stream: &Stream) -> Result<(), String> {
        self.between(record, stream)?;
        if record.thread >= THREADS {
            let message = format!("thread {}: a rank has at most {THREADS}", record.thread);
            return Err(message);
        }
        let Some(call) = record.call() else { return self.follow_unlisted(record, stream) };
        let may_follow = matches!(call.class, Class::Local | Class::Region | Class::Abort);
        if self.finalized && !may_follow {
            return Err("it comes behind MPI_Finalize".to_owned());
        }
        if self.needs_no_operations(call.class, record, stream) {
            return Ok(());
        }
        self.out.last_call = record.enter;
        if let Window::Times(from, to) = self.options.window {
            let since = record.enter;
            self.enter_window((from..to).contains(&since), record.enter);
        }
        self.begin(record);
        self.now.line = stream.line();
        // Looks are looks if there is something to look for.
        if !call.class.is_look() {
            self.look(call.class, stream);
        }
        let result = if call.class == Class::Finalize {
            self.finalized = true;
            self.finish();
            Ok(())
        } else {
            post::compile(self, call, record, stream)
        };
        self.window(record);
        result.map_err(|message| {
            let blocking = if call.how == How::Blocking { "" } else { " (request)" };
            format!("{message}{blocking}")
        })
    }

    /// Opens and closes the window at collectives of the world.
    pub fn window(&mut self, record: &Record) {
        if let Window::Collectives(from, to) = self.options.window {
            let done = self.collectives.get(&crate::record::WORLD).copied().unwrap_or(0);
            let done = done.cast_unsigned();
            self.out.world = done;
            self.enter_window((from..to).contains(&done), record.leave);
        }
    }

    fn enter_window(&mut self, inside: bool, at: u64) {
        if inside && !self.inside {
            for chain in &mut self.threads {
                *chain = Chain { clock: at, ..Chain::default() };
            }
        }
        self.inside = inside;
    }

    /// Closes the operations on which no later call can depend and of which the recorded run is
    /// known.
    #[cold]
    fn close(&mut self) -> io::Result<()> {
        let chains = self.threads.iter().filter_map(|chain| chain.last).map(|(op, _)| op);
        let requests = self.requests.values().filter(|request| request.active);
        let requests = requests.flat_map(|request| request.ops.iter().copied());
        let probed = self.probed.iter().map(|probed| probed.op);
        let answers = self.windows.values().flat_map(Exposure::answers);
        let others = self.late.iter().chain(&self.freed).chain(&self.buffered).copied();
        let needed = chains.chain(requests).chain(probed).chain(answers).chain(others);
        let needed = needed.chain(self.out.steps.first());
        let draft = &mut self.out.draft;
        let first = needed.min().unwrap_or(u32::MAX).min(draft.len());
        draft.close(first, self.spill)?;
        self.full = 2 * draft.open() + OPEN;
        Ok(())
    }

    /// Looks at the next call.
    pub fn begin(&mut self, record: &Record) {
        let thread = record.thread as usize;
        if thread >= self.threads.len() {
            let first = self.threads.first().copied().unwrap_or_default();
            self.threads.resize(thread + 1, first);
        }
        let now = &mut self.now;
        (now.call, now.thread) = (record.id, thread);
        (now.enter, now.leave) = (record.enter, record.leave);
        (now.finds, now.window) = (false, None);
        now.starts.clear();
        now.ends.clear();
        now.waits.clear();
        now.inner.clear();
        now.first = self.out.draft.len();
        (now.network, now.extra) = (0, 0);
    }

    /// Computation since the thread's last call.
    pub fn gap(&mut self) -> u64 {
        let (thread, enter) = (self.now.thread, self.now.enter);
        let Some(chain) = self.threads.get_mut(thread) else { return 0 };
        let carry = std::mem::take(&mut chain.carry);
        let (gap, negative) = (enter.saturating_sub(chain.clock), enter < chain.clock);
        if negative && self.inside {
            self.count("a call begins before the one before it has returned");
        }
        carry.saturating_add(self.scaled(gap))
    }

    #[expect(clippy::float_cmp, reason = "1 means: leave it alone")]
    #[expect(clippy::cast_sign_loss, reason = "factors are not negative")]
    fn scaled(&self, time: u64) -> u64 {
        if self.factor == 1.0 { time } else { (time as f64 * self.factor).round() as u64 }
    }

    /// A call that posts nothing: its time, but for the modes that count it, is gone.
    pub fn pause(&mut self) {
        let gap = self.gap();
        let took = self.now.leave - self.now.enter;
        let took = if self.options.mode == Mode::Gaps { 0 } else { took };
        if let Some(chain) = self.threads.get_mut(self.now.thread) {
            chain.carry = gap + took;
            chain.clock = self.now.leave;
        }
    }

    /// Ends the rank: what still runs is waited for, and the last computation done.
    fn finish(&mut self) {
        let mut open: Vec<_> =
            self.requests.drain().filter(|(_, request)| request.active).collect();
        open.sort_unstable_by_key(|(id, _)| *id);
        self.now.waits.extend(open.into_iter().flat_map(|(_, request)| request.ops));
        self.now.waits.append(&mut self.freed);
        self.now.waits.append(&mut self.buffered);
        self.now.waits.append(&mut self.late);
        if !self.finalized {
            self.now.first = self.out.draft.len();
            self.now.enter = self.threads.first().map_or(0, |chain| chain.clock);
        }
        let gap = self.gap();
        if !self.inside {
            return;
        }
        let calc = self.calc(gap);
        self.now.call = FINALIZE;
        let first = self.mark(calc);
        let waits = std::mem::take(&mut self.now.waits);
        if !waits.is_empty() {
            // What is waited for does not hold up the computation before.
            let end = self.calc(0);
            self.out.draft.depend(end, calc, Edge::Done);
            for wait in waits {
                self.out.draft.depend(end, wait, Edge::Done);
            }
        }
        let chains: Vec<_> = self.threads.iter().filter_map(|chain| chain.last).collect();
        for (last, edge) in chains {
            self.out.draft.depend(first, last, edge);
        }
    }

    /// Notes that the current call begins behind a computation, and puts the sleep before that.
    /// Gives what of these comes first.
    pub fn mark(&mut self, before: u32) -> u32 {
        let first = self.sleep(before);
        if self.options.marks {
            let Current { call, thread, first: posted, line, .. } = self.now;
            self.out.marks.push(Mark { call, thread: thread as u32, first, before, posted, line });
        }
        first
    }

    /// Adds a computation of the current thread.
    pub fn calc(&mut self, time: u64) -> u32 {
        if !self.inside {
            return NONE;
        }
        let cpu = self.now.thread.min(255) as u8;
        self.out.draft.op(Op { kind: Kind::Calc, peer: 0, tag: 0, size: time, cpu, nic: 0 })
    }

    /// The schedule's rank of a rank of the world, in this copy.
    pub fn place(&self, rank: u32) -> u32 {
        let own = rank + self.copy * self.ranks;
        self.options.map.get(own as usize).copied().unwrap_or(own)
    }

    /// The schedule's rank of a rank counted over all copies.
    pub fn place_of_all(&self, rank: u32) -> u32 {
        self.options.map.get(rank as usize).copied().unwrap_or(rank)
    }

    pub const fn copy(&self) -> u32 {
        self.copy
    }

    /// A communicator of the trace.
    #[expect(clippy::unused_self, reason = "it reads as a question to the compiler")]
    pub fn communicator<'s>(
        &self,
        stream: &'s Stream,
        id: i64,
    ) -> Result<&'s Communicator, String> {
        let known = stream.definitions().communicators.get(&id);
        known.ok_or_else(|| format!("communicator {id} was not defined before"))
    }

    /// The schedule's rank of a peer in a communicator; `None` for no process.
    pub fn peer(&self, communicator: &Communicator, rank: i64) -> Result<Option<u32>, String> {
        if rank == PROC_NULL {
            return Ok(None);
        }
        let found = u32::try_from(rank).ok().and_then(|rank| communicator.peers().rank(rank));
        found.map(|rank| Some(self.place(rank))).ok_or_else(|| {
            let ranks = communicator.peers().len();
            format!("rank {rank}, but the communicator has {ranks} ranks")
        })
    }
}
