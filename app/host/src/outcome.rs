//! The results of a run: totals per rank, the critical path, a deadlock, and records for probes.

use network::Never;
use schedule::Op;
use serde::{Deserialize, Serialize};
use units::Time;

use crate::path::Path;

/// Totals of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankTotals {
    /// The time when its last CPU became free for good and its last send was done.
    pub finish: Time,
    /// Time its CPUs were busy (computation, overheads, noise), summed over CPUs.
    pub busy: Time,
    /// Time its sends spent between the end of their overhead and their release: waiting for the
    /// receive, or until the message had left the host.
    pub blocked: Time,
    /// Messages sent.
    pub sent_messages: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Messages received (matched).
    pub received_messages: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Latency on the chain of causes that ends at the rank's finish.
    pub latency: Time,
    /// Time per byte on that chain.
    pub bandwidth: Time,
    /// Contention on that chain.
    pub contention: Time,
}

impl RankTotals {
    /// Returns the totals with the parts of the chain that ends at the rank's finish.
    pub(crate) const fn with_path(self, path: &Path) -> Self {
        Self {
            latency: Time::from_ps(path.latency),
            bandwidth: Time::from_ps(path.bandwidth),
            contention: Time::from_ps(path.contention),
            ..self
        }
    }
}

/// The time of the longest chain of causes, by what it was spent on. The parts add up to the
/// makespan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// The rank on which the path ends: the lowest of those that finish last.
    pub rank: u32,
    /// Computation.
    pub compute: Time,
    /// CPU overhead of messages: o and O.
    pub overhead: Time,
    /// Latency of the idle network: L, or the way of the first flit.
    pub latency: Time,
    /// Time per byte: G, and the serialisation of the idle network.
    pub bandwidth: Time,
    /// Time that messages spent in the network beyond what they take on the idle one.
    pub contention: Time,
    /// Everything else: waiting for the gap g between messages, and noise.
    pub waiting: Time,
}

/// An operation that can never finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingOp {
    /// The rank of the operation.
    pub rank: u32,
    /// The index of the operation in the rank's program.
    pub index: u32,
    /// True if it started (posted receive, unreleased send), false if it still waits for a
    /// dependency.
    pub started: bool,
}

/// A call in which a live rank waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedCall {
    /// The rank.
    pub rank: u32,
    /// The function that it is in, and where in the program that is, if it is known.
    pub call: String,
    /// Number of its operations that cannot finish, of which only the first ones are listed.
    pub operations: usize,
    /// The listed operations that are messages of the program.
    pub messages: Vec<PendingMessage>,
}

/// A message of a live program that cannot finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingMessage {
    /// The operation's index.
    pub index: u32,
    /// Kind, peer, tag and size as the program has them.
    pub op: Op,
    /// True if it is the send of a blocking call before the one that the rank is in: a rank runs on
    /// until it needs the simulator.
    pub earlier: bool,
}

/// Ranks that can never finish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deadlock {
    /// Simulated time of the last event.
    pub at: Time,
    /// Number of ranks that are stuck.
    pub ranks: u64,
    /// The stuck ranks' operations that started but cannot finish, or, for a rank with none of
    /// those, the first that waits; ordered by rank and index; at most a thousand.
    pub pending: Vec<PendingOp>,
    /// The calls in which live ranks wait.
    pub places: Vec<BlockedCall>,
    /// Ranks of which each waits for the next, the last for the first; empty if there is none.
    pub cycle: Vec<u32>,
}

/// The result of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Totals, by rank.
    pub ranks: Vec<RankTotals>,
    /// Number of events handled: operations started plus messages received.
    pub events: u64,
    /// Number of signals that the processes of the network sent each other, packets and credits; 0
    /// where messages alone travel.
    pub signals: u64,
    /// The critical path; meaningless in a deadlock.
    pub path: CriticalPath,
    /// Set if the program cannot finish.
    pub deadlock: Option<Deadlock>,
    /// Remarks for the summary, such as "zero lookahead: delta rounds".
    pub remarks: Vec<String>,
}

/// An activity that occupies a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Activity {
    /// Computation.
    Compute,
    /// Overhead of sending.
    Send,
    /// Overhead of receiving.
    Receive,
}

/// An event on a rank, for timelines and message tables. A message is known by its source rank and
/// its sequence number among that rank's sends, in the order in which they start. `D` is the type
/// of what the network's model tells beyond the neutral records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<D = Never> {
    /// A part of the network has something to tell: a host's interface, or a device, numbered
    /// behind the hosts.
    Network {
        /// The device's number.
        device: u32,
        /// The time.
        at: Time,
        /// The record.
        record: network::Record<D>,
    },
    /// A CPU was busy from `start` to `end`, noise included.
    Busy {
        /// The rank.
        rank: u32,
        /// The CPU.
        cpu: u8,
        /// With what.
        activity: Activity,
        /// The time of its start.
        start: Time,
        /// The time of its end.
        end: Time,
        /// The message: (source rank, sequence); `None` for computation.
        message: Option<(u32, u32)>,
        /// Index of the operation in the rank's program; `None` where it is not known yet, as of a
        /// message that has not met its receive. [`Record::Matched`] tells that.
        operation: Option<u32>,
    },
    /// A computation took place, noise included.
    Computed {
        /// The rank.
        rank: u32,
        /// Index of the operation in the rank's program.
        index: u32,
        /// The time of its start.
        start: Time,
        /// The time of its end.
        end: Time,
    },
    /// A send started.
    Sent {
        /// Source rank.
        source: u32,
        /// Number among the source's sends.
        sequence: u32,
        /// Destination rank.
        destination: u32,
        /// Tag.
        tag: u32,
        /// Bytes.
        size: u64,
        /// The time when its dependencies were met.
        posted: Time,
        /// The time when it entered the network.
        injected: Time,
    },
    /// A message arrived at the interface of its destination.
    Delivered {
        /// Source rank.
        source: u32,
        /// Number among the source's sends.
        sequence: u32,
        /// The time.
        at: Time,
    },
    /// A message met its receive.
    Matched {
        /// Source rank.
        source: u32,
        /// Number among the source's sends.
        sequence: u32,
        /// The time.
        at: Time,
        /// Index of the receive in the program of its rank.
        receive: u32,
    },
}
