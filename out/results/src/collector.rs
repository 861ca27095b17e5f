//! Collects the events of messages and CPUs.
//!
//! Each worker collects into a [`Collector`] of its own; [`Collector::merge`] joins them. All order
//! comes from sorting, none from the workers.

use std::{io, path::Path};

use host::{Activity, Record};
use kernel::{Probe, TransportKind};
use serde::{Deserialize, Serialize};
use units::Time;

use crate::records::{Busy, MessageTable, Parted, Records, SliceTable};

/// The records that a collector keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// One row per message: 72 bytes while the run lasts, in memory or in files.
    pub messages: bool,
    /// One slice per busy period of a CPU of each rank below this one: 40 bytes in memory or in
    /// files.
    pub slices: u32,
    /// The operation of each slice, 16 bytes for each message in memory or in files.
    pub operations: bool,
    /// The time of each computation, 24 bytes in memory.
    pub computations: bool,
}

/// A probe that keeps the records of one worker.
#[derive(Debug, Default)]
pub struct Collector {
    wanted: Wanted,
    records: Records,
    computations: Vec<Computation>,
}

/// Records on their way to another process.
#[derive(Debug, Serialize, Deserialize)]
enum Part {
    Records(crate::records::Part),
    Computations(Vec<Computation>),
}

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

/// The records of all workers, joined. Messages and busy periods need not be in memory.
#[derive(Debug, Default)]
pub struct Tables {
    /// Messages by (injected, source, sequence).
    pub messages: MessageTable,
    /// Busy periods by (rank, CPU, start). The messages of the first 2^32 are named.
    pub slices: SliceTable,
    /// Computations by (rank, index).
    pub computations: Vec<Computation>,
    /// Loads of links, where the network tells of them.
    pub links: Vec<LinkLoad>,
}

impl Tables {
    /// Takes all into memory, as timelines need it.
    ///
    /// # Errors
    /// If the file cannot be read that keeps what memory does not hold.
    pub fn recorded(&self) -> io::Result<Recorded> {
        Ok(Recorded {
            messages: self.messages.read()?.collect::<io::Result<_>>()?,
            slices: self.slices.read()?.collect::<io::Result<_>>()?,
            links: self.links.clone(),
        })
    }
}

/// The records of all workers in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Messages by (injected, source, sequence); a message's id is its index.
    pub messages: Vec<Message>,
    /// Busy periods by (rank, CPU, start).
    pub slices: Vec<Slice>,
    /// Loads of links, where the network tells of them.
    pub links: Vec<LinkLoad>,
}

impl Collector {
    /// An empty collector. With a folder, records move to files there when they are many.
    pub fn new(wanted: Wanted, folder: Option<&Path>) -> Self {
        Self { wanted, records: Records::new(folder), computations: Vec::new() }
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
        let mut records: Option<Parted> = None;
        let next = || loop {
            if let Some(part) = records.as_mut().map(Parted::next_part).transpose()?.flatten() {
                return Ok(Some(Part::Records(part)));
            }
            let Some(worker) = rest.next() else { return io::Result::Ok(None) };
            records = Some(Parted::new(worker.records)?);
            if !worker.computations.is_empty() {
                return Ok(Some(Part::Computations(worker.computations)));
            }
        };
        transport.gather(next, |part| {
            let Some(collector) = kept.first_mut() else { return };
            match part {
                Part::Records(part) => collector.records.take(part),
                Part::Computations(mut computations) => {
                    collector.computations.append(&mut computations);
                }
            }
        })?;
        Ok(kept)
    }

    /// Joins the records of several workers. The result does not depend on how they were divided.
    ///
    /// # Errors
    /// If a file cannot be written or read that keeps what memory does not hold.
    pub fn merge(workers: Vec<Self>) -> io::Result<Tables> {
        let mut all = Self::default();
        for mut worker in workers {
            all.records.append(worker.records);
            all.computations.append(&mut worker.computations);
        }
        all.computations.sort_unstable();
        let (messages, slices) = all.records.join()?;
        Ok(Tables { messages, slices, computations: all.computations, links: Vec::new() })
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
                let operation = operation.filter(|_| self.wanted.operations);
                self.records.busy(&Busy { rank, cpu, activity, start, end, message, operation });
            }
            Record::Sent { source, sequence, destination, tag, size, posted, injected }
                if self.wanted.messages =>
            {
                self.records.sent(&Message {
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
                self.records.delivered((source, sequence), at);
            }
            Record::Computed { rank, index, start, end } if self.wanted.computations => {
                self.computations.push(Computation { rank, index, start, end });
            }
            Record::Matched { source, sequence, at, receive } => {
                if self.wanted.messages {
                    self.records.matched((source, sequence), at);
                }
                if self.wanted.operations {
                    self.records.received((source, sequence), receive);
                }
            }
            _ => {}
        }
    }
}
