//! The part of compilation that needs the messages of all ranks: for whom a call waited, and which
//! messages a window cuts.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use schedule::goal::Draft;
use schedule::{ANY, Kind, Op};

use super::rank::{NONE, Ranked};
use super::run::Run;
use super::{Error, parallel};
use crate::options::Recorded;

/// The number of calls of a rank that are compiled before its recorded run is followed as far.
const SLICE: u64 = 1 << 10;
/// A rank that has sent so many messages which nobody has received yet lets others go first.
const AHEAD: u64 = 1 << 14;

/// A call in the recorded run.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub enter: u64,
    pub leave: u64,
    /// The computation that stands for the call's own time, if it waited for anything.
    pub calc: u32,
    /// The operations that it posted: first, and behind the last.
    pub ops: (u32, u32),
    /// The number of earlier operations that it waited for.
    pub waits: u32,
}

/// The calls of a rank that are still to be followed.
#[derive(Debug, Default)]
pub struct Steps {
    list: VecDeque<Step>,
    /// The operations that they wait for, one call after the other.
    waits: VecDeque<u32>,
    /// Dependencies among the operations of each: later, earlier; in the order of the later.
    inner: VecDeque<(u32, u32)>,
}

impl Steps {
    pub fn push(&mut self, step: Step, waits: &[u32], inner: &mut [(u32, u32)]) {
        inner.sort_by_key(|(after, _)| *after);
        self.waits.extend(waits);
        self.inner.extend(inner.iter());
        self.list.push_back(step);
    }

    /// The operations that these calls know: among them the first of all.
    pub fn first(&self) -> impl Iterator<Item = u32> {
        let own = self.list.front().map(|step| step.ops.0);
        self.waits.iter().copied().chain(own)
    }
}

/// Messages from one rank to another with one tag.
#[derive(Default)]
struct Channel {
    key: (u32, u32, u32),
    /// The time when each was sent, from message `first` on; [`TAKEN`] for those that were
    /// received.
    sent: VecDeque<u64>,
    first: u32,
    /// The number of receives that were posted.
    posted: u32,
    /// The rank that waits for the next message.
    waiting: Option<usize>,
}

/// Stands for the time of a message that was received.
const TAKEN: u64 = u64::MAX;

impl Channel {
    /// Returns when a message was sent. It is asked once.
    fn take(&mut self, index: u32) -> Option<u64> {
        let slot = self.sent.get_mut(index.wrapping_sub(self.first) as usize)?;
        let sent = std::mem::replace(slot, TAKEN);
        while self.sent.front() == Some(&TAKEN) {
            self.sent.pop_front();
            self.first += 1;
        }
        Some(sent)
    }

    /// Returns whether nothing is under way.
    fn is_idle(&self) -> bool {
        self.sent.is_empty() && self.first == self.posted
    }
}

/// The time at which an operation was done in the recorded run, as far as its own rank knows; a
/// receive also waits for a message.
#[derive(Clone, Copy)]
struct Done {
    time: u64,
    channel: u32,
    index: u32,
}

impl Done {
    const NOTHING: Self = Self { time: 0, channel: NONE, index: 0 };
}

/// The point up to which a rank's recorded run has been followed.
#[derive(Default)]
struct Progress {
    /// The next operation of the step, and the earliest time at which it can have started.
    op: u32,
    start: u64,
    /// True if all operations of the step before this one are done; and the time when those that
    /// were waited for were.
    own: u32,
    end: u64,
    /// The states of operations, from `first` on.
    done: VecDeque<Done>,
    first: u32,
    /// The number of one-sided operations that are known.
    remotes: usize,
    /// True if all that was compiled was followed.
    dry: bool,
    /// The operation whose message is missing.
    blocked: Option<u32>,
    late: u64,
    blind: u64,
    forced: u64,
}

impl Progress {
    fn done(&mut self, op: u32) -> Option<&mut Done> {
        self.done.get_mut(op.wrapping_sub(self.first) as usize)
    }

    /// Forgets the operations that are closed.
    fn forget(&mut self, closed: u32) {
        let count = closed.saturating_sub(self.first);
        self.done.drain(..(count as usize).min(self.done.len()));
        self.first += count;
    }
}

/// Follows the recorded run message by message. The order in which ranks are looked at does not
/// matter: times come from maxima and sums of times that are known.
struct Timeline<'a> {
    recorded_on: &'a dyn Recorded,
    /// Tags on which nothing is under way are used again: collectives have a tag each.
    channels: Vec<Channel>,
    idle: Vec<u32>,
    numbers: FxHashMap<(u32, u32, u32), u32>,
    /// The tags of answers, by the tag of the one-sided operation.
    answers: FxHashMap<u32, u32>,
    /// The number of messages of each rank of the schedule that nobody has received.
    ahead: Vec<u64>,
    ready: VecDeque<usize>,
}

impl Timeline<'_> {
    fn channel(&mut self, from: u32, to: u32, tag: u32) -> u32 {
        let key = (from, to, tag);
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.idle.pop().unwrap_or_else(|| {
            self.channels.push(Channel::default());
            self.channels.len() as u32 - 1
        });
        if let Some(channel) = self.channels.get_mut(number as usize) {
            channel.key = key;
        }
        self.numbers.insert(key, number);
        number
    }

    /// Returns when an operation was done; the channel, if its message is missing.
    fn when(&mut self, progress: &mut Progress, draft: &Draft, op: u32) -> Result<u64, u32> {
        let Some(done) = progress.done(op) else { return Ok(0) };
        let number = done.channel;
        let Some(channel) = self.channels.get_mut(number as usize) else { return Ok(done.time) };
        let sent = channel.take(done.index).ok_or(number)?;
        let bytes = draft.get(op).map_or(0, |op| op.size);
        done.time = done.time.max(sent + self.recorded_on.transit(bytes));
        done.channel = NONE;
        if let Some(ahead) = self.ahead.get_mut(channel.key.0 as usize) {
            *ahead = ahead.saturating_sub(1);
        }
        if channel.is_idle() {
            self.numbers.remove(&channel.key);
            (channel.posted, channel.first) = (0, 0);
            self.idle.push(number);
        }
        Ok(done.time)
    }

    /// Follows a rank until it waits for a message that was not sent yet; gives that channel and
    /// operation.
    fn follow(&mut self, rank: &mut Ranked, progress: &mut Progress) -> Result<(), (u32, u32)> {
        let Ranked { steps, draft, place, decided, .. } = rank;
        while let Some(step) = steps.list.front().filter(|step| step.ops.1 <= *decided).copied() {
            progress.op = progress.op.max(step.ops.0);
            progress.own = progress.own.max(step.ops.0);
            while progress.op < step.ops.1 {
                let op = progress.op;
                while let Some((_, before)) = steps.inner.front().filter(|(after, _)| *after <= op)
                {
                    let time = self.when(progress, draft, *before);
                    progress.start = progress.start.max(time.map_err(|at| (at, *before))?);
                    steps.inner.pop_front();
                }
                let start = std::mem::take(&mut progress.start).max(step.enter);
                self.post(draft, op, start, *place, progress);
                progress.op += 1;
            }
            if step.calc == NONE {
                steps.waits.drain(..step.waits as usize);
            } else {
                self.wait(steps, draft, step, progress)?;
            }
            progress.end = 0;
            steps.list.pop_front();
        }
        Ok(())
    }

    /// Finds out when all was done that a step waited for.
    fn wait(
        &mut self,
        steps: &mut Steps,
        draft: &mut Draft,
        step: Step,
        progress: &mut Progress,
    ) -> Result<(), (u32, u32)> {
        while progress.own < step.ops.1 {
            let op = progress.own;
            let time = self.when(progress, draft, op).map_err(|channel| (channel, op))?;
            progress.end = progress.end.max(time);
            progress.own += 1;
        }
        while let Some(left) =
            steps.list.front_mut().map(|step| &mut step.waits).filter(|n| **n > 0)
            && let Some(op) = steps.waits.front().copied()
        {
            let time = self.when(progress, draft, op).map_err(|channel| (channel, op))?;
            progress.end = progress.end.max(time);
            steps.waits.pop_front();
            *left -= 1;
        }
        let end = progress.end.max(step.enter);
        progress.late += u64::from(end > step.leave);
        if let Some(calc) = draft.get_mut(step.calc) {
            calc.size = step.leave.saturating_sub(end);
        }
        Ok(())
    }

    fn post(&mut self, draft: &Draft, index: u32, start: u64, me: u32, progress: &mut Progress) {
        let Some(op) = draft.get(index) else { return };
        let mut done = Done { time: start, ..Done::NOTHING };
        match op.kind {
            Kind::Send => {
                if let Some(tag) = self.answers.get(&op.tag).copied() {
                    // The target answers as soon as it hears of it, whatever its program does.
                    self.sent((op.peer, me, tag), start + self.recorded_on.transit(op.size));
                } else {
                    self.sent((me, op.peer, op.tag), start);
                }
                done.time += self.recorded_on.leaving(op.size);
            }
            Kind::Recv if op.peer == ANY || op.tag == ANY => progress.blind += 1,
            Kind::Recv => {
                done.channel = self.channel(op.peer, me, op.tag);
                if let Some(channel) = self.channels.get_mut(done.channel as usize) {
                    done.index = channel.posted;
                    channel.posted += 1;
                }
            }
            Kind::Calc => {}
        }
        let place = index.wrapping_sub(progress.first) as usize;
        if progress.done.len() <= place {
            progress.done.resize(place + 1, Done::NOTHING);
        }
        if let Some(slot) = progress.done.get_mut(place) {
            *slot = done;
        }
    }

    fn sent(&mut self, (from, to, tag): (u32, u32, u32), at: u64) {
        let number = self.channel(from, to, tag);
        if let Some(channel) = self.channels.get_mut(number as usize) {
            channel.sent.push_back(at);
            self.ready.extend(channel.waiting.take());
        }
        if let Some(ahead) = self.ahead.get_mut(from as usize) {
            *ahead += 1;
        }
    }

    /// Follows the ranks that are ready, and those that these make ready.
    fn follow_all(&mut self, runs: &mut [Run], all: &mut [Progress]) {
        while let Some(index) = self.ready.pop_front() {
            let (Some(run), Some(progress)) = (runs.get_mut(index), all.get_mut(index)) else {
                continue;
            };
            let rank = run.made();
            let new = rank.remote.get(progress.remotes..).unwrap_or_default();
            self.answers.extend(new.iter().map(|remote| (remote.tag, remote.answer)));
            progress.remotes = rank.remote.len();
            progress.forget(rank.draft.closed());
            progress.blocked = None;
            match self.follow(rank, progress) {
                Ok(()) => progress.dry = true,
                Err((channel, op)) => {
                    progress.blocked = Some(op);
                    if let Some(channel) = self.channels.get_mut(channel as usize) {
                        channel.waiting = Some(index);
                    }
                }
            }
        }
    }

    /// Compiles more calls of the ranks that have been followed to their end; false if there are
    /// none. Those far ahead of others wait, so that what is under way stays little.
    fn compile(
        &mut self,
        runs: &mut [Run],
        all: &mut [Progress],
        threads: usize,
    ) -> Result<bool, Error> {
        let mut dry: Vec<_> = (0..).zip(runs.iter_mut()).zip(all).collect();
        dry.retain(|((_, run), progress)| progress.dry && run.goes_on());
        let ahead = |run: &mut Run| self.ahead.get(run.made().place as usize).copied().unwrap_or(0);
        let least = dry.iter_mut().map(|((_, run), _)| ahead(run)).min();
        let Some(least) = least else { return Ok(false) };
        dry.retain_mut(|((_, run), _)| ahead(run) <= least.max(AHEAD));
        let go = dry.into_iter().map(|((index, run), progress)| {
            progress.dry = false;
            self.ready.push_back(index);
            run
        });
        let compiled = parallel(go.collect(), threads, |run| run.advance(SLICE));
        compiled.into_iter().collect::<Result<(), _>>()?;
        Ok(true)
    }
}

/// Sets the own time of each call that waited: from the moment at which all it waited for had
/// happened. Compiles what is still to be compiled, as far as the recorded run has been followed.
/// Gives how many calls returned before that moment, and warnings.
pub fn align(
    runs: &mut [Run],
    recorded_on: &dyn Recorded,
    threads: usize,
) -> Result<(u64, Vec<String>), Error> {
    let mut timeline = Timeline {
        recorded_on,
        channels: Vec::new(),
        idle: Vec::new(),
        numbers: FxHashMap::default(),
        answers: FxHashMap::default(),
        ahead: vec![0; runs.len()],
        ready: (0..runs.len()).collect(),
    };
    let mut all: Vec<_> = runs.iter().map(|_| Progress::default()).collect();
    loop {
        timeline.follow_all(runs, &mut all);
        if timeline.compile(runs, &mut all, threads)? {
            continue;
        }
        // A message that never comes (the trace of its sender is cut): nothing is known of the
        // wait.
        let stuck = all.iter_mut().enumerate().find_map(|(index, progress)| {
            let op = progress.blocked.take()?;
            progress.forced += 1;
            progress.done(op)?.channel = NONE;
            Some(index)
        });
        match stuck {
            Some(index) => timeline.ready.push_back(index),
            None => break,
        }
    }
    let total = |what: fn(&Progress) -> u64| all.iter().map(what).sum::<u64>();
    let found = [
        (
            total(|progress| progress.late),
            "calls returned before what they waited for had happened; clocks that run apart look \
             like that",
        ),
        (
            total(|progress| progress.blind),
            "receives have an open source or tag; how long they waited is not known",
        ),
        (
            total(|progress| progress.forced),
            "messages were waited for that no trace shows the sending of",
        ),
    ];
    let said = found.into_iter().filter(|(count, _)| *count > 0);
    let said = said.map(|(count, what)| format!("{count} {what}")).collect();
    Ok((total(|progress| progress.late), said))
}

/// The ends of messages: rank and operation.
type Ends = Vec<(usize, u32)>;

/// The sends and the receives of all messages of a pair with one tag, in the order of their
/// posting.
pub fn pairs(runs: &mut [Run]) -> impl Iterator<Item = [Ends; 2]> + use<> {
    let mut ends: FxHashMap<(u32, u32, u32), [Ends; 2]> = FxHashMap::default();
    for (index, rank) in runs.iter_mut().map(Run::made).enumerate() {
        for logged in std::mem::take(&mut rank.log) {
            let (from, to) =
                if logged.send { (rank.place, logged.peer) } else { (logged.peer, rank.place) };
            let [sends, receives] = ends.entry((from, to, logged.tag)).or_default();
            (if logged.send { sends } else { receives }).push((index, logged.op));
        }
    }
    ends.into_values()
}

/// Takes out the messages of which only one end lies in the window.
pub fn balance(runs: &mut [Run]) -> Vec<String> {
    let mut cut = 0;
    for [sends, receives] in pairs(runs) {
        for ((sender, send), (receiver, receive)) in sends.into_iter().zip(receives) {
            let (rank, op) = match (send, receive) {
                (NONE, NONE) => continue,
                (NONE, receive) => (receiver, receive),
                (send, NONE) => (sender, send),
                _ => continue,
            };
            let rank = runs.get_mut(rank).map(Run::made);
            if let Some(op) = rank.and_then(|rank| rank.draft.get_mut(op)) {
                *op = void(*op);
                cut += 1;
            }
        }
    }
    let warning = format!("{cut} messages have only one end within the window; they are left out");
    (cut > 0).then_some(warning).into_iter().collect()
}

/// This number stands for no operation.
pub const fn void(op: Op) -> Op {
    Op { kind: Kind::Calc, peer: 0, tag: 0, size: 0, cpu: op.cpu, nic: 0 }
}
