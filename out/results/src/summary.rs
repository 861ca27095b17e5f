//! The reproducible figures of a run.

use host::{BlockedCall, Outcome, PendingOp};
use schedule::{Kind, Op};
use serde::Serialize;
use units::Time;

use crate::format::or_any;

/// The contents of `summary.json`. The same experiment gives the same summary, on any machine and
/// with any number of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The time when the last rank finished; `None` in a deadlock.
    pub makespan_ps: Option<u64>,
    /// Number of ranks.
    pub ranks: u64,
    /// Messages sent.
    pub messages: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Events handled: operations started plus messages received.
    pub events: u64,
    /// Signals between the processes of the network, packets and credits; 0 where messages alone
    /// travel.
    #[serde(skip_serializing_if = "none")]
    pub signals: u64,
    /// The parts of the time of the longest chain of causes; `None` in a deadlock.
    pub critical_path: Option<CriticalPathSummary>,
    /// Set if the program cannot finish.
    pub deadlock: Option<DeadlockSummary>,
    /// Further facts that the reader should know.
    pub remarks: Vec<String>,
    /// The settings that differ from their defaults, by full name.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub parameters: serde_json::Map<String, serde_json::Value>,
}

/// The critical path, in picoseconds. The parts add up to the makespan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CriticalPathSummary {
    /// The rank on which it ends.
    pub rank: u32,
    /// Computation.
    pub compute_ps: u64,
    /// CPU overhead of messages.
    pub overhead_ps: u64,
    /// Latency of the idle network.
    pub latency_ps: u64,
    /// Time per byte.
    pub bandwidth_ps: u64,
    /// Time that messages spent in the network beyond what they take on the idle one.
    pub contention_ps: u64,
    /// Everything else.
    pub waiting_ps: u64,
}

/// Ranks that can never finish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeadlockSummary {
    /// Simulated time of the last event.
    pub at_ps: u64,
    /// Number of ranks that are stuck.
    pub ranks: u64,
    /// The operations that they wait for, at most a thousand.
    pub pending: Vec<Pending>,
    /// Ranks of which each waits for the next and the last for the first; empty if there is no
    /// cycle.
    pub cycle: Vec<u32>,
    /// Cycles within ranks: operations that wait for each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_cycles: Vec<OwnCycle>,
}

/// Operations of one rank that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnCycle {
    /// The rank.
    pub rank: u32,
    /// Operations of which each waits for the next and the last for the first.
    pub operations: Vec<u32>,
    /// Number of operations of the rank that can never start.
    pub stuck: u64,
    /// Line of the first operation in the schedule's text, from 1, if it came from text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// An operation that can never finish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// Its rank.
    pub rank: u32,
    /// Its index in the rank's program.
    pub index: u32,
    /// `send`, `recv` or `calc`; `call` for what is no message of a live program.
    pub kind: &'static str,
    /// The other rank, -1 for any; `None` for computation.
    pub peer: Option<i64>,
    /// The tag, -1 for any; `None` for computation.
    pub tag: Option<i64>,
    /// Bytes of a message; length of a computation in the schedule's time unit.
    pub size: u64,
    /// Is true if it started, false if it still waits for operations before it.
    pub started: bool,
    /// Line in the schedule's text, from 1, if it came from text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The statement on that line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// For a live rank, which `text` then tells about: for how many operations it waits, of which
    /// the first are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// For a live rank: whether this is the send of a blocking call before that in `text`.
    #[serde(skip_serializing_if = "no")]
    pub earlier: bool,
}

impl Pending {
    /// Describes an operation for which a live rank waits.
    pub fn of_call(pending: &PendingOp, place: Option<&BlockedCall>) -> Self {
        let calc = Op { kind: Kind::Calc, peer: 0, tag: 0, size: 0, cpu: 0, nic: 0 };
        let message = place.iter().flat_map(|place| &place.messages);
        let message = message.copied().find(|message| message.index == pending.index);
        let about = Self::new(pending, &message.map_or(calc, |message| message.op));
        Self {
            kind: if message.is_some() { about.kind } else { "call" },
            earlier: message.is_some_and(|message| message.earlier),
            text: place.map(|place| place.call.clone()),
            operations: place.map(|place| place.operations as u64),
            ..about
        }
    }

    /// Describes a pending operation. Line and text of its statement can be added to the result.
    pub fn new(pending: &PendingOp, op: &Op) -> Self {
        let message = op.kind != Kind::Calc;
        Self {
            rank: pending.rank,
            index: pending.index,
            kind: match op.kind {
                Kind::Send => "send",
                Kind::Recv => "recv",
                Kind::Calc => "calc",
            },
            peer: message.then(|| or_any(op.peer)),
            tag: message.then(|| or_any(op.tag)),
            size: op.size,
            started: pending.started,
            line: None,
            text: None,
            operations: None,
            earlier: false,
        }
    }
}

impl Summary {
    /// Summarises an outcome. `describe` looks a pending operation up in the program, see
    /// [`Pending::new`]. Sums of messages and bytes stop at 2^64 - 1.
    pub fn new(outcome: &Outcome, describe: impl FnMut(&PendingOp) -> Pending) -> Self {
        let total = |part: fn(&host::RankTotals) -> u64| {
            outcome.ranks.iter().map(part).fold(0, u64::saturating_add)
        };
        let deadlock = outcome.deadlock.as_ref().map(|deadlock| DeadlockSummary {
            at_ps: deadlock.at.ps(),
            ranks: deadlock.ranks,
            pending: deadlock.pending.iter().map(describe).collect(),
            cycle: deadlock.cycle.clone(),
            own_cycles: Vec::new(),
        });
        let finish = outcome.ranks.iter().map(|totals| totals.finish).max();
        Self {
            makespan_ps: deadlock.is_none().then(|| finish.unwrap_or(Time::ZERO).ps()),
            ranks: outcome.ranks.len() as u64,
            messages: total(|rank| rank.sent_messages),
            bytes: total(|rank| rank.sent_bytes),
            events: outcome.events,
            signals: outcome.signals,
            critical_path: deadlock.is_none().then(|| (&outcome.path).into()),
            deadlock,
            remarks: outcome.remarks.clone(),
            parameters: serde_json::Map::new(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn no(is: &bool) -> bool {
    !*is
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn none(count: &u64) -> bool {
    *count == 0
}

impl From<&host::CriticalPath> for CriticalPathSummary {
    fn from(path: &host::CriticalPath) -> Self {
        Self {
            rank: path.rank,
            compute_ps: path.compute.ps(),
            overhead_ps: path.overhead.ps(),
            latency_ps: path.latency.ps(),
            bandwidth_ps: path.bandwidth.ps(),
            contention_ps: path.contention.ps(),
            waiting_ps: path.waiting.ps(),
        }
    }
}
