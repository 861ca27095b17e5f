//! Collects the events of messages and CPUs.
//!
//! Each worker collects into a [`Collector`] of its own; [`Collector::merge`] joins them. All order
//! comes from sorting, none from the workers.

use std::{io, path::Path};

use host::{Activity, Record};
use kernel::{Probe, TransportKind};
use serde::{Deserialize, Serialize};
use units::Time;

use crate::messages::{Key, MessagePart, MessageTable, Parted, Records};

/// The records that a collector keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// One row per message: 72 bytes in memory while the run lasts, unless they move to files.
    pub messages: bool,
    /// One slice per busy period of a CPU of each rank below this one, 40 bytes in memory.
    pub slices: u32,
    /// The operation of each slice, 12 bytes in memory for each message.
    pub operations: bool,
    /// The time of each computation, 24 bytes in memory.
    pub computations: bool,
}

/// A probe that keeps the records of one worker.
#[derive(Debug, Default)]
pub struct Collector {
    wanted: Wanted,
    messages: Records,
    /// Is true if messages become a table at once and are not kept in memory.
    streams: bool,
    busy: Vec<Busy>,
    /// The receives of messages.
    receives: Vec<(Key, u32)>,
    computations: Vec<Computation>,
}

/// Records on their way to another process.
#[derive(Debug, Serialize, Deserialize)]
enum Part {
    Messages(MessagePart),
    Rest(Vec<Busy>, Vec<(Key, u32)>, Vec<Computation>),
}

/// A busy period, as [`Record::Busy`] tells of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Busy {
    rank: u32,
    cpu: u8,
    activity: Activity,
    start: Time,
    end: Time,
    message: Option<Key>,
    /// The operation, or [`UNKNOWN`].
    operation: u32,
}

/// In the place of an operation of which nothing is known.
const UNKNOWN: u32 = u32::MAX;

/// The life of a message. A time that never came is [`Time::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Source rank.
    pub source: u32,
    /// Number among the source's sends.
    pub sequence: u32,
    /// Destination rank.
    pub destination: u32,
    /// Tag.
    pub tag: u32,
    /// Bytes.
    pub size: u64,
    /// Time at which the send's dependencies were met.
    pub posted: Time,
    /// Time at which it entered the network.
    pub injected: Time,
    /// Time at which it arrived at the destination's interface.
    pub delivered: Time,
    /// Time at which it met its receive.
    pub matched: Time,
}

/// One busy period of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slice {
    /// The rank.
    pub rank: u32,
    /// The CPU.
    pub cpu: u8,
    /// Start.
    pub start: Time,
    /// End.
    pub end: Time,
    /// Kind of activity.
    pub activity: Activity,
    /// The message, as an index of [`Recorded::messages`]. `None` for computation, for control
    /// messages of a rendezvous that the engine does not assign to one, and where messages were not
    /// collected.
    pub message: Option<u32>,
    /// Index of the operation in the rank's program. `None` for messages that no receive of the
    /// program has met, and where operations were not collected.
    pub operation: Option<u32>,
}

/// The start and end of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Computation {
    /// The rank.
    pub rank: u32,
    /// Index of the operation in the rank's program.
    pub index: u32,
    /// Start.
    pub start: Time,
    /// End.
    pub end: Time,
}

/// The load of a link of the network over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkLoad {
    /// Its name.
    pub name: String,
    /// Bytes per second that it can carry.
    pub bandwidth: u64,
    /// Bytes per second that it carries from each of these times on, in order.
    pub loads: Vec<(Time, u64)>,
}

impl LinkLoad {
    /// A load as part of the bandwidth.
    pub fn share(&self, load: u64) -> f64 {
        load as f64 / self.bandwidth.max(1) as f64
    }
}

/// The records of all workers, joined. Room for 2^32 messages, which would take 240 GB; further
/// ones are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Messages by (injected, source, sequence); a message's id is its index.
    pub messages: Vec<Message>,
    /// Busy periods by (rank, CPU, start).
    pub slices: Vec<Slice>,
    /// Computations by (rank, index).
    pub computations: Vec<Computation>,
    /// Loads of links, where the network tells of them.
    pub links: Vec<LinkLoad>,
}

impl Collector {
    /// An empty collector that keeps everything in memory, as timelines need it.
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, messages: Records::new(None), ..Self::default() }
    }

    /// An empty collector whose messages move to files in `folder` when there are many. They become
    /// a table, and nothing else.
    pub fn streaming(wanted: Wanted, folder: &Path) -> Self {
        Self { wanted, messages: Records::new(Some(folder)), streams: true, ..Self::default() }
    }

    /// Hands the records of workers that run in other processes of the system to the first of them,
    /// whose collectors then hold all. Those of the others are empty after that.
    ///
    /// # Errors
    /// If records that have moved to files cannot be read.
    pub fn gather(workers: Vec<Self>, transport: TransportKind) -> io::Result<Vec<Self>> {
        let Some(peers) = transport.peers() else { return Ok(workers) };
        let first = peers.me() == 0;
        let (mut kept, leaving) = if first { (workers, Vec::new()) } else { (Vec::new(), workers) };
        let mut rest = leaving.into_iter();
        let mut messages: Option<Parted> = None;
        let mut others: Option<Part> = None;
        let next = || loop {
            if let Some(part) = others.take() {
                return Ok(Some(part));
            }
            if let Some(part) = messages.as_mut().map(Parted::next_part).transpose()?.flatten() {
                return Ok(Some(Part::Messages(part)));
            }
            let Some(worker) = rest.next() else { return io::Result::Ok(None) };
            others = Some(Part::Rest(worker.busy, worker.receives, worker.computations));
            messages = Some(Parted::new(worker.messages)?);
        };
        transport.gather(next, |part| {
            let Some(collector) = kept.first_mut() else { return };
            match part {
                Part::Messages(part) => collector.messages.take(part),
                Part::Rest(mut busy, mut receives, mut computations) => {
                    collector.busy.append(&mut busy);
                    collector.receives.append(&mut receives);
                    collector.computations.append(&mut computations);
                }
            }
        })?;
        Ok(kept)
    }

    /// Joins the records of several workers, which are all of one kind. The result does not depend
    /// on how they were divided. `folder` is where streaming collectors keep rows that memory does
    /// not hold; of others there is no table.
    pub fn merge(
        workers: Vec<Self>,
        folder: Option<&Path>,
    ) -> io::Result<(Recorded, Option<MessageTable>)> {
        let mut all = Self::default();
        for mut worker in workers {
            all.messages.append(worker.messages);
            all.streams |= worker.streams;
            all.busy.append(&mut worker.busy);
            all.receives.append(&mut worker.receives);
            all.computations.append(&mut worker.computations);
        }
        all.computations.sort_unstable();
        let (table, by_key) = match folder.filter(|_| all.streams) {
            Some(folder) => (Some(MessageTable::new(all.messages, folder)?), Vec::new()),
            None => (None, all.messages.join()?.collect::<io::Result<Vec<_>>>()?),
        };
        let order = by_injection(&by_key);
        let recorded = Recorded {
            slices: resolve(all.busy, all.receives, &by_key, &order),
            computations: all.computations,
            links: Vec::new(),
            messages: order.iter().filter_map(|&row| by_key.get(row as usize).copied()).collect(),
        };
        Ok((recorded, table))
    }
}

impl<R: Copy + Send> Probe<Record<R>> for Collector {
    const LISTENS: bool = true;

    #[inline]
    fn record(&mut self, record: Record<R>) {
        match record {
            Record::Busy { rank, cpu, activity, start, end, message, operation }
                if rank < self.wanted.slices =>
            {
                let operation = operation.filter(|_| self.wanted.operations).unwrap_or(UNKNOWN);
                self.busy.push(Busy { rank, cpu, activity, start, end, message, operation });
            }
            Record::Sent { source, sequence, destination, tag, size, posted, injected }
                if self.wanted.messages =>
            {
                self.messages.sent(&Message {
                    source,
                    sequence,
                    destination,
                    tag,
                    size,
                    posted,
                    injected,
                    delivered: Time::MAX,
                    matched: Time::MAX,
                });
            }
            Record::Delivered { source, sequence, at } if self.wanted.messages => {
                self.messages.delivered((source, sequence), at);
            }
            Record::Computed { rank, index, start, end } if self.wanted.computations => {
                self.computations.push(Computation { rank, index, start, end });
            }
            Record::Matched { source, sequence, at, receive } => {
                if self.wanted.messages {
                    self.messages.matched((source, sequence), at);
                }
                if self.wanted.operations {
                    self.receives.push(((source, sequence), receive));
                }
            }
            _ => {}
        }
    }
}

/// Row numbers in the order of the messages' ids. `rows` is sorted by (source, sequence).
fn by_injection(rows: &[Message]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..=u32::MAX).take(rows.len()).collect();
    order.sort_by_key(|&row| rows.get(row as usize).map(|message| message.injected));
    order
}

/// The slices in order, with their messages' ids in place of (source, sequence).
fn resolve(
    busy: Vec<Busy>,
    mut receives: Vec<(Key, u32)>,
    rows: &[Message],
    order: &[u32],
) -> Vec<Slice> {
    receives.sort_unstable();
    let receive_of = |key: Key| -> Option<u32> {
        let found = receives.binary_search_by_key(&key, |receive| receive.0).ok()?;
        receives.get(found).map(|receive| receive.1)
    };
    let operation_of = |slice: &Busy| match slice.operation {
        UNKNOWN if slice.activity == Activity::Receive => slice.message.and_then(receive_of),
        UNKNOWN => None,
        operation => Some(operation),
    };
    let mut ids = vec![0; order.len()];
    for (id, &row) in (0..).zip(order) {
        if let Some(slot) = ids.get_mut(row as usize) {
            *slot = id;
        }
    }
    let sources = source_ranges(rows);
    let id_of = |(source, sequence): Key| -> Option<u32> {
        let first = *sources.get(source as usize)?;
        let past = *sources.get(source as usize + 1)?;
        let found = rows
            .get(first..past)?
            .binary_search_by_key(&sequence, |message| message.sequence)
            .ok()?;
        ids.get(first + found).copied()
    };
    let mut slices: Vec<Slice> = busy
        .into_iter()
        .map(|slice| Slice {
            rank: slice.rank,
            cpu: slice.cpu,
            start: slice.start,
            end: slice.end,
            activity: slice.activity,
            operation: operation_of(&slice),
            message: slice.message.and_then(id_of),
        })
        .collect();
    slices.sort_unstable();
    slices
}

/// The beginning of each source's rows, with the end of the last one's behind them.
fn source_ranges(rows: &[Message]) -> Vec<usize> {
    let mut first = Vec::new();
    for (row, message) in rows.iter().enumerate() {
        if first.len() <= message.source as usize {
            first.resize(message.source as usize + 1, row);
        }
    }
    first.push(rows.len());
    first
}
