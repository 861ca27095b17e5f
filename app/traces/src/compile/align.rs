//! What needs the messages of all ranks: for whom a call waited, and which messages a window cuts.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use schedule::goal::Draft;
use schedule::{ANY, Kind, Op};

use super::rank::{NONE, Ranked};
use crate::options::Recorded;

/// A call in the recorded run.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub enter: u64,
    pub leave: u64,
    /// The computation that stands for the call's own time, if it waited for anything.
    pub calc: u32,
    /// The operations that it posted: first, and behind the last.
    pub ops: (u32, u32),
}

/// The calls of a rank.
#[derive(Debug, Default)]
pub struct Steps {
    list: Vec<Step>,
    /// Per step, where its part of the lists below ends.
    ends: Vec<(u32, u32)>,
    waits: Vec<u32>,
    inner: Vec<(u32, u32)>,
}

impl Steps {
    pub fn push(&mut self, step: Step, waits: &[u32], inner: &[(u32, u32)]) {
        self.waits.extend_from_slice(waits);
        self.inner.extend_from_slice(inner);
        self.list.push(step);
        self.ends.push((self.waits.len() as u32, self.inner.len() as u32));
    }

    fn lists(&self, step: usize) -> (&[u32], &[(u32, u32)]) {
        let end = self.ends.get(step).copied().unwrap_or_default();
        let start = step.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let start = start.unwrap_or_default();
        (
            self.waits.get(start.0 as usize..end.0 as usize).unwrap_or_default(),
            self.inner.get(start.1 as usize..end.1 as usize).unwrap_or_default(),
        )
    }
}

/// Messages from one rank to another with one tag.
#[derive(Default)]
struct Channel {
    key: (u32, u32, u32),
    /// When each was sent.
    sent: Vec<u64>,
    /// How many receives were posted, and how many of them have their message.
    posted: u32,
    met: u32,
    /// The rank that waits for the next message.
    waiting: Option<usize>,
}

/// When an operation was done in the recorded run, as far as its own rank knows; a receive also waits for a message.
#[derive(Clone, Copy)]
struct Done {
    time: u64,
    channel: u32,
    index: u32,
}

/// How far a rank's recorded run has been followed.
#[derive(Default)]
struct Progress {
    step: usize,
    /// The next operation of the step.
    op: u32,
    done: Vec<Done>,
    /// The operation whose message is missing.
    blocked: Option<u32>,
    late: u64,
    blind: u64,
    forced: u64,
}

/// Follows the recorded run message by message. The order in which ranks are looked at does not matter:
/// times come from maxima and sums of times that are known.
struct Timeline<'a> {
    recorded_on: &'a dyn Recorded,
    /// Those on which nothing is under way are used again: collectives have a tag each.
    channels: Vec<Channel>,
    idle: Vec<u32>,
    numbers: FxHashMap<(u32, u32, u32), u32>,
    /// By the tag of a one-sided operation that of its answer.
    answers: FxHashMap<u32, u32>,
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

    /// When an operation was done; the channel, if its message is missing.
    fn when(&mut self, progress: &mut Progress, draft: &Draft, op: u32) -> Result<u64, u32> {
        let Some(done) = progress.done.get_mut(op as usize) else { return Ok(0) };
        let number = done.channel;
        let Some(channel) = self.channels.get_mut(number as usize) else { return Ok(done.time) };
        let sent = channel.sent.get(done.index as usize).ok_or(number)?;
        let bytes = draft.get(op).map_or(0, |op| op.size);
        done.time = done.time.max(sent + self.recorded_on.transit(bytes));
        done.channel = NONE;
        channel.met += 1;
        if channel.met == channel.posted && channel.met as usize == channel.sent.len() {
            self.numbers.remove(&channel.key);
            channel.sent.clear();
            (channel.posted, channel.met) = (0, 0);
            self.idle.push(number);
        }
        Ok(done.time)
    }

    /// Follows a rank until it waits for a message that was not sent yet; gives that channel and operation.
    fn follow(&mut self, rank: &mut Ranked, progress: &mut Progress) -> Result<(), (u32, u32)> {
        let Ranked { steps, draft, place, .. } = rank;
        while let Some(step) = steps.list.get(progress.step).copied() {
            let (waits, inner) = steps.lists(progress.step);
            progress.op = progress.op.max(step.ops.0);
            while progress.op < step.ops.1 {
                let op = progress.op;
                let mut start = step.enter;
                for (_, before) in inner.iter().filter(|(after, _)| *after == op) {
                    let time = self.when(progress, draft, *before);
                    start = start.max(time.map_err(|channel| (channel, *before))?);
                }
                self.post(draft, op, start, *place, progress);
                progress.op += 1;
            }
            if step.calc != NONE {
                let mut end = step.enter;
                for op in (step.ops.0..step.ops.1).chain(waits.iter().copied()) {
                    let time = self.when(progress, draft, op);
                    end = end.max(time.map_err(|channel| (channel, op))?);
                }
                progress.late += u64::from(end > step.leave);
                if let Some(calc) = draft.get_mut(step.calc) {
                    calc.size = step.leave.saturating_sub(end);
                }
            }
            progress.step += 1;
        }
        Ok(())
    }

    fn post(&mut self, draft: &Draft, index: u32, start: u64, me: u32, progress: &mut Progress) {
        let Some(op) = draft.get(index) else { return };
        let mut done = Done { time: start, channel: NONE, index: 0 };
        match op.kind {
            Kind::Send => {
                let number = self.channel(me, op.peer, op.tag);
                if let Some(channel) = self.channels.get_mut(number as usize) {
                    channel.sent.push(start);
                    self.ready.extend(channel.waiting.take());
                }
                if let Some(tag) = self.answers.get(&op.tag).copied() {
                    // The target answers as soon as it hears of it, whatever its program does.
                    let number = self.channel(op.peer, me, tag);
                    if let Some(channel) = self.channels.get_mut(number as usize) {
                        channel.sent.push(start + self.recorded_on.transit(op.size));
                    }
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
        let nothing = Done { time: 0, channel: NONE, index: 0 };
        if progress.done.len() <= index as usize {
            progress.done.resize(index as usize + 1, nothing);
        }
        if let Some(slot) = progress.done.get_mut(index as usize) {
            *slot = done;
        }
    }
}

/// Sets the own time of each call that waited: from the moment at which all it waited for had happened. Gives how
/// many calls returned before that, and warnings.
pub fn align(ranked: &mut [Ranked], recorded_on: &dyn Recorded) -> (u64, Vec<String>) {
    let remotes = ranked.iter().flat_map(|rank| &rank.remote);
    let mut timeline = Timeline {
        recorded_on,
        channels: Vec::new(),
        idle: Vec::new(),
        numbers: FxHashMap::default(),
        answers: remotes.map(|remote| (remote.tag, remote.answer)).collect(),
        ready: (0..ranked.len()).collect(),
    };
    let mut all: Vec<_> = ranked.iter().map(|_| Progress::default()).collect();
    loop {
        while let Some(index) = timeline.ready.pop_front() {
            let (Some(rank), Some(progress)) = (ranked.get_mut(index), all.get_mut(index)) else {
                continue;
            };
            progress.blocked = None;
            if let Err((channel, op)) = timeline.follow(rank, progress) {
                progress.blocked = Some(op);
                if let Some(channel) = timeline.channels.get_mut(channel as usize) {
                    channel.waiting = Some(index);
                }
            }
        }
        // A message that never comes (the trace of its sender is cut): nothing is known of the wait.
        let stuck = all.iter_mut().enumerate().find_map(|(index, progress)| {
            let op = progress.blocked.take()?;
            progress.forced += 1;
            progress.done.get_mut(op as usize)?.channel = NONE;
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
            "calls returned before what they waited for had happened; clocks that run apart look like that",
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
    (total(|progress| progress.late), said)
}

/// The ends of messages: rank and operation.
type Ends = Vec<(usize, u32)>;

/// Takes out the messages of which only one end lies in the window.
pub fn balance(ranked: &mut [Ranked]) -> Vec<String> {
    let mut ends: FxHashMap<(u32, u32, u32), [Ends; 2]> = FxHashMap::default();
    for (index, rank) in ranked.iter_mut().enumerate() {
        for logged in std::mem::take(&mut rank.log) {
            let (from, to) =
                if logged.send { (rank.place, logged.peer) } else { (logged.peer, rank.place) };
            let [sends, receives] = ends.entry((from, to, logged.tag)).or_default();
            (if logged.send { sends } else { receives }).push((index, logged.op));
        }
    }
    let mut cut = 0;
    for [sends, receives] in ends.into_values() {
        for ((sender, send), (receiver, receive)) in sends.into_iter().zip(receives) {
            let (rank, op) = match (send, receive) {
                (NONE, NONE) => continue,
                (NONE, receive) => (receiver, receive),
                (send, NONE) => (sender, send),
                _ => continue,
            };
            if let Some(op) = ranked.get_mut(rank).and_then(|rank| rank.draft.get_mut(op)) {
                *op = void(*op);
                cut += 1;
            }
        }
    }
    let warning = format!("{cut} messages have only one end within the window; they are left out");
    (cut > 0).then_some(warning).into_iter().collect()
}

/// Nothing, in place of an operation.
pub const fn void(op: Op) -> Op {
    Op { kind: Kind::Calc, peer: 0, tag: 0, size: 0, cpu: op.cpu, nic: 0 }
}
