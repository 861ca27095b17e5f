//! Collecting what happened to messages and CPUs.
//!
//! Each worker collects into vectors of its own. The records of one message come from two hosts and
//! so from up to two workers; [`Collector::merge`] joins them by (source, sequence). All order
//! comes from sorting, none from the workers.

use host::{Activity, Record};
use kernel::Probe;
use units::Time;

/// What to collect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// One row per message, 72 bytes in memory while the run lasts.
    pub messages: bool,
    /// One slice per busy period of a CPU of each rank below this one, 40 bytes in memory.
    pub slices: u32,
    /// When each computation took place, 24 bytes in memory.
    pub computations: bool,
}

/// A probe that keeps the records of one worker.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    wanted: Wanted,
    sent: Vec<Sent>,
    delivered: Vec<Mark>,
    matched: Vec<Mark>,
    busy: Vec<Busy>,
    computations: Vec<Computation>,
}

/// A message by its source rank and its number among the source's sends.
type Key = (u32, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sent {
    key: Key,
    destination: u32,
    tag: u32,
    size: u64,
    posted: Time,
    injected: Time,
}

/// A time in the life of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    key: Key,
    at: Time,
}

/// As [`Record::Busy`].
#[derive(Clone, Copy, Debug)]
struct Busy {
    rank: u32,
    cpu: u8,
    activity: Activity,
    start: Time,
    end: Time,
    message: Option<Key>,
}

/// What happened to one message. A time that never came is [`Time::MAX`].
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
    /// When the send's dependencies were met.
    pub posted: Time,
    /// When it entered the network.
    pub injected: Time,
    /// When it arrived at the destination's interface.
    pub delivered: Time,
    /// When it met its receive.
    pub matched: Time,
}

/// One busy period of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slice {
    /// The rank.
    pub rank: u32,
    /// The CPU.
    pub cpu: u8,
    /// From when.
    pub start: Time,
    /// Until when.
    pub end: Time,
    /// With what.
    pub activity: Activity,
    /// The message, as an index of [`Recorded::messages`]. `None` for computation, for control
    /// messages of a rendezvous that the engine does not assign to one, and where messages were not
    /// collected.
    pub message: Option<u32>,
}

/// When a computation took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Computation {
    /// The rank.
    pub rank: u32,
    /// Index of the operation in the rank's program.
    pub index: u32,
    /// From when.
    pub start: Time,
    /// Until when.
    pub end: Time,
}

/// What a link of the network carries over time.
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
    /// An empty collector.
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Joins the records of several workers. The result does not depend on how they were divided.
    pub fn merge(workers: Vec<Self>) -> Recorded {
        let mut all = Self::default();
        for mut worker in workers {
            all.sent.append(&mut worker.sent);
            all.delivered.append(&mut worker.delivered);
            all.matched.append(&mut worker.matched);
            all.busy.append(&mut worker.busy);
            all.computations.append(&mut worker.computations);
        }
        all.computations.sort_unstable();
        let by_key = join(all.sent, all.delivered, all.matched);
        let order = by_injection(&by_key);
        Recorded {
            slices: resolve(all.busy, &by_key, &order),
            computations: all.computations,
            links: Vec::new(),
            messages: order.iter().filter_map(|&row| by_key.get(row as usize).copied()).collect(),
        }
    }
}

impl<R: Copy + Send> Probe<Record<R>> for Collector {
    const LISTENS: bool = true;

    #[inline]
    fn record(&mut self, record: Record<R>) {
        match record {
            Record::Busy { rank, cpu, activity, start, end, message }
                if rank < self.wanted.slices =>
            {
                self.busy.push(Busy { rank, cpu, activity, start, end, message });
            }
            Record::Sent { source, sequence, destination, tag, size, posted, injected }
                if self.wanted.messages =>
            {
                self.sent.push(Sent {
                    key: (source, sequence),
                    destination,
                    tag,
                    size,
                    posted,
                    injected,
                });
            }
            Record::Delivered { source, sequence, at } if self.wanted.messages => {
                self.delivered.push(Mark { key: (source, sequence), at });
            }
            Record::Computed { rank, index, start, end } if self.wanted.computations => {
                self.computations.push(Computation { rank, index, start, end });
            }
            Record::Matched { source, sequence, at } if self.wanted.messages => {
                self.matched.push(Mark { key: (source, sequence), at });
            }
            _ => {}
        }
    }
}

/// One row per message, by (source, sequence).
fn join(mut sent: Vec<Sent>, mut delivered: Vec<Mark>, mut matched: Vec<Mark>) -> Vec<Message> {
    sent.sort_unstable();
    delivered.sort_unstable();
    matched.sort_unstable();
    let mut delivered = delivered.into_iter().peekable();
    let mut matched = matched.into_iter().peekable();
    sent.into_iter()
        .map(|message| Message {
            source: message.key.0,
            sequence: message.key.1,
            destination: message.destination,
            tag: message.tag,
            size: message.size,
            posted: message.posted,
            injected: message.injected,
            delivered: last_mark(&mut delivered, message.key),
            matched: last_mark(&mut matched, message.key),
        })
        .collect()
}

/// Consumes the marks up to those of `key` and answers the latest of those.
fn last_mark(marks: &mut std::iter::Peekable<impl Iterator<Item = Mark>>, key: Key) -> Time {
    let mut last = Time::MAX;
    while let Some(mark) = marks.next_if(|mark| mark.key <= key) {
        if mark.key == key {
            last = mark.at;
        }
    }
    last
}

/// Row numbers in the order of the messages' ids. `rows` is sorted by (source, sequence).
fn by_injection(rows: &[Message]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..=u32::MAX).take(rows.len()).collect();
    order.sort_by_key(|&row| rows.get(row as usize).map(|message| message.injected));
    order
}

/// The slices in order, with their messages' ids in place of (source, sequence).
fn resolve(busy: Vec<Busy>, rows: &[Message], order: &[u32]) -> Vec<Slice> {
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
            message: slice.message.and_then(id_of),
        })
        .collect();
    slices.sort_unstable();
    slices
}

/// Where each source's rows begin, with the end of the last one's behind them.
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
