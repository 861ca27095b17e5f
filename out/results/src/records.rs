//! The tables of messages and of busy periods, which may be larger than memory.
//!
//! The records of one message come from two hosts and so from up to two workers. They are joined in
//! the order of (source, sequence), which all streams of records share; rows are then sorted as
//! they stand in their table. Sorting moves to files what memory does not hold.

use std::{
    io,
    iter::Peekable,
    path::{Path, PathBuf},
};

use host::Activity;
use serde::{Deserialize, Serialize};
use units::Time;

use crate::{
    Message, Slice,
    sort::{Rows, Sorted, Sorter, Words},
};

/// A message by its source rank and its number among the source's sends.
pub type Key = (u32, u32);

/// Stands for the key of a message where there is none.
const NO_MESSAGE: u64 = u64::MAX;
/// Stands for an operation of which nothing is known.
const UNKNOWN: u64 = u64::MAX;

/// Joins two numbers into one that is ordered as the pair is.
const fn pair(first: u32, second: u32) -> u64 {
    (first as u64) << 32 | second as u64
}

/// Takes apart what [`pair`] joined.
const fn split(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

/// A busy period of a CPU, as [`host::Record::Busy`] tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Busy {
    pub rank: u32,
    pub cpu: u8,
    pub activity: Activity,
    pub start: Time,
    pub end: Time,
    pub message: Option<Key>,
    pub operation: Option<u32>,
}

/// The records of messages and busy periods of one or several workers.
#[derive(Debug, Default)]
pub struct Records {
    /// Sends: key, destination and tag, size, posted, injected.
    sent: Vec<Sorter<5>>,
    /// Arrivals: key, time.
    delivered: Vec<Sorter<2>>,
    /// Matches: key, time.
    matched: Vec<Sorter<2>>,
    /// Receives of messages: key, operation.
    received: Vec<Sorter<2>>,
    /// Busy periods: key, place, start, end, operation.
    busy: Vec<Sorter<5>>,
    /// The folder of rows that memory does not hold.
    folder: Option<PathBuf>,
}

impl Records {
    /// Records of one worker. With a folder, they move to files there when there are many.
    pub fn new(folder: Option<&Path>) -> Self {
        Self {
            sent: vec![Sorter::new(folder)],
            delivered: vec![Sorter::new(folder)],
            matched: vec![Sorter::new(folder)],
            received: vec![Sorter::new(folder)],
            busy: vec![Sorter::new(folder)],
            folder: folder.map(Path::to_owned),
        }
    }

    /// Adds a send: a message without the times of its arrival and match.
    #[inline]
    pub fn sent(&mut self, message: &Message) {
        let Message { source, sequence, destination, tag, size, posted, injected, .. } = *message;
        let key = pair(source, sequence);
        let to = pair(destination, tag);
        push(&mut self.sent, [key, to, size, posted.ps(), injected.ps()]);
    }

    /// Adds an arrival.
    #[inline]
    pub fn delivered(&mut self, (source, sequence): Key, at: Time) {
        push(&mut self.delivered, [pair(source, sequence), at.ps()]);
    }

    /// Adds a match.
    #[inline]
    pub fn matched(&mut self, (source, sequence): Key, at: Time) {
        push(&mut self.matched, [pair(source, sequence), at.ps()]);
    }

    /// Adds the receive that a message has met.
    #[inline]
    pub fn received(&mut self, (source, sequence): Key, operation: u32) {
        push(&mut self.received, [pair(source, sequence), operation.into()]);
    }

    /// Adds a busy period.
    #[inline]
    pub fn busy(&mut self, busy: &Busy) {
        let key = busy.message.map_or(NO_MESSAGE, |(source, sequence)| pair(source, sequence));
        let place = pair(busy.rank, (busy.activity as u32) << 8 | u32::from(busy.cpu));
        let operation = busy.operation.map_or(UNKNOWN, u64::from);
        push(&mut self.busy, [key, place, busy.start.ps(), busy.end.ps(), operation]);
    }

    /// Adds the records of another worker.
    pub fn append(&mut self, mut other: Self) {
        self.sent.append(&mut other.sent);
        self.delivered.append(&mut other.delivered);
        self.matched.append(&mut other.matched);
        self.received.append(&mut other.received);
        self.busy.append(&mut other.busy);
        self.folder = self.folder.take().or(other.folder);
    }

    /// Adds records that [`Parted`] has given.
    pub fn take(&mut self, part: Part) {
        fn fill<const N: usize>(sorters: &mut [Sorter<N>], rows: Vec<Words<N>>) {
            for row in rows {
                push(sorters, row);
            }
        }
        match part {
            Part::Sent(rows) => fill(&mut self.sent, rows),
            Part::Delivered(rows) => fill(&mut self.delivered, rows),
            Part::Matched(rows) => fill(&mut self.matched, rows),
            Part::Received(rows) => fill(&mut self.received, rows),
            Part::Busy(rows) => fill(&mut self.busy, rows),
        }
    }

    /// Joins the records to rows of the two tables.
    pub fn join(self) -> io::Result<(MessageTable, SliceTable)> {
        let folder = self.folder.as_deref();
        let mut rows = Sorter::new(folder);
        let mut delivered = Lookup::new(self.delivered)?;
        let mut matched = Lookup::new(self.matched)?;
        for sent in Rows::new(self.sent)?.read()? {
            let [key, to, size, posted, injected] = sent?;
            let time =
                |marks: &mut Lookup| io::Result::Ok(marks.find(key)?.unwrap_or(Time::MAX.ps()));
            let (delivered, matched) = (time(&mut delivered)?, time(&mut matched)?);
            rows.push([injected, key, to, size, posted, delivered, matched]);
        }
        let messages = MessageTable { rows: Rows::new(vec![rows])? };
        let busy = Rows::new(self.busy)?;
        let slices = SliceTable::new(&busy, self.received, &messages, folder)?;
        Ok((messages, slices))
    }
}

/// Adds a record to the first sorter, that of this worker.
#[inline]
fn push<const N: usize>(sorters: &mut [Sorter<N>], record: Words<N>) {
    if let Some(sorter) = sorters.first_mut() {
        sorter.push(record);
    }
}

/// Some of the records of a worker, for another process.
#[derive(Debug, Serialize, Deserialize)]
pub enum Part {
    /// Sends.
    Sent(Vec<Words<5>>),
    /// Arrivals.
    Delivered(Vec<Words<2>>),
    /// Matches.
    Matched(Vec<Words<2>>),
    /// Receives.
    Received(Vec<Words<2>>),
    /// Busy periods.
    Busy(Vec<Words<5>>),
}

/// The most records of a part.
const PART: usize = 1 << 16;

/// The records of a worker in parts.
pub struct Parted {
    sent: Sorted<5>,
    delivered: Sorted<2>,
    matched: Sorted<2>,
    received: Sorted<2>,
    busy: Sorted<5>,
}

impl Parted {
    /// Takes records apart.
    pub fn new(records: Records) -> io::Result<Self> {
        Ok(Self {
            sent: Rows::new(records.sent)?.read()?,
            delivered: Rows::new(records.delivered)?.read()?,
            matched: Rows::new(records.matched)?.read()?,
            received: Rows::new(records.received)?.read()?,
            busy: Rows::new(records.busy)?.read()?,
        })
    }

    /// Returns the next part; `None` when there is none left.
    pub fn next_part(&mut self) -> io::Result<Option<Part>> {
        fn some<const N: usize>(
            rows: &mut Sorted<N>,
            part: fn(Vec<Words<N>>) -> Part,
        ) -> io::Result<Option<Part>> {
            let rows: Vec<_> = rows.take(PART).collect::<io::Result<_>>()?;
            Ok((!rows.is_empty()).then(|| part(rows)))
        }
        let pairs = [
            (&mut self.delivered, Part::Delivered as fn(_) -> _),
            (&mut self.matched, Part::Matched),
            (&mut self.received, Part::Received),
        ];
        for (rows, part) in pairs {
            if let Some(part) = some(rows, part)? {
                return Ok(Some(part));
            }
        }
        let sent = some(&mut self.sent, Part::Sent)?;
        sent.map_or_else(|| some(&mut self.busy, Part::Busy), |sent| Ok(Some(sent)))
    }
}

/// Values by ascending keys.
struct Lookup {
    rows: Peekable<Sorted<2>>,
    last: Option<Words<2>>,
}

impl Lookup {
    fn new(sorters: Vec<Sorter<2>>) -> io::Result<Self> {
        Ok(Self { rows: Rows::new(sorters)?.read()?.peekable(), last: None })
    }

    /// Returns the greatest value of a key, which is no less than those asked for before: a
    /// rendezvous may report several times.
    fn find(&mut self, key: u64) -> io::Result<Option<u64>> {
        let passed = |row: &io::Result<Words<2>>| row.as_ref().map_or(true, |[of, _]| *of <= key);
        while let Some(row) = self.rows.next_if(passed) {
            self.last = Some(row?);
        }
        Ok(self.last.filter(|[of, _]| *of == key).map(|[_, value]| value))
    }
}

/// Messages by (injected, source, sequence); a message's id is its place.
#[derive(Debug, Default)]
pub struct MessageTable {
    rows: Rows<7>,
}

impl MessageTable {
    /// Returns the messages in order.
    ///
    /// # Errors
    /// If the file cannot be read that keeps what memory does not hold.
    pub fn read(&self) -> io::Result<impl Iterator<Item = io::Result<Message>> + use<>> {
        let rows = self.rows.read()?;
        Ok(rows.map(|row| {
            let [injected, key, to, size, posted, delivered, matched] = row?;
            let ((source, sequence), (destination, tag)) = (split(key), split(to));
            let [posted, injected, delivered, matched] =
                [posted, injected, delivered, matched].map(Time::from_ps);
            Ok(Message {
                source,
                sequence,
                destination,
                tag,
                size,
                posted,
                injected,
                delivered,
                matched,
            })
        }))
    }
}

/// Busy periods by (rank, CPU, start).
#[derive(Debug, Default)]
pub struct SliceTable {
    rows: Rows<5>,
}

impl SliceTable {
    /// Gives busy periods the ids of their messages, and those of receives their operations.
    fn new(
        busy: &Rows<5>,
        received: Vec<Sorter<2>>,
        messages: &MessageTable,
        folder: Option<&Path>,
    ) -> io::Result<Self> {
        if busy.is_empty() {
            return Ok(Self::default());
        }
        let mut ids = Sorter::new(folder);
        for (id, row) in (0..).zip(messages.rows.read()?) {
            let [_, key, ..] = row?;
            ids.push([key, id]);
        }
        let (mut ids, mut received) = (Lookup::new(vec![ids])?, Lookup::new(received)?);
        let mut rows = Sorter::new(folder);
        for period in busy.read()? {
            let [key, place, start, end, operation] = period?;
            let (rank, rest) = split(place);
            let (activity, cpu) = (rest >> 8, rest & 0xff);
            let id = ids.find(key)?.and_then(|id| u32::try_from(id).ok());
            let is_receive = activity == Activity::Receive as u32;
            let operation = match operation {
                UNKNOWN if is_receive => received.find(key)?,
                UNKNOWN => None,
                operation => Some(operation),
            };
            // Nothing comes before the first.
            let [id, operation] = [id.map(u64::from), operation].map(|v| v.map_or(0, |v| v + 1));
            rows.push([pair(rank, cpu), start, end, u64::from(activity) << 40 | id, operation]);
        }
        Ok(Self { rows: Rows::new(vec![rows])? })
    }

    /// Returns the busy periods in order.
    ///
    /// # Errors
    /// If the file cannot be read that keeps what memory does not hold.
    pub fn read(&self) -> io::Result<impl Iterator<Item = io::Result<Slice>> + use<>> {
        let rows = self.rows.read()?;
        Ok(rows.map(|row| {
            let [place, start, end, of, operation] = row?;
            let (rank, cpu) = split(place);
            let known = |number: u64| number.checked_sub(1).map(|number| number as u32);
            Ok(Slice {
                rank,
                cpu: cpu as u8,
                start: Time::from_ps(start),
                end: Time::from_ps(end),
                activity: match of >> 40 {
                    0 => Activity::Compute,
                    1 => Activity::Send,
                    _ => Activity::Receive,
                },
                message: known(of & ((1 << 40) - 1)),
                operation: known(operation),
            })
        }))
    }
}

const _: () = assert!(
    Activity::Compute as u8 == 0 && Activity::Send as u8 == 1 && Activity::Receive as u8 == 2
);
