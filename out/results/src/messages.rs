//! The table of messages, which may be larger than memory.
//!
//! The records of one message come from two hosts and so from up to two workers. They are joined in
//! the order of (source, sequence), which two sorted streams of marks and one of sends share; rows
//! are then sorted by their injection. Both sorts move to files what memory does not hold.

use std::{io, iter::Peekable, path::Path};

use serde::{Deserialize, Serialize};
use units::Time;

use crate::{
    Message,
    sort::{Sorted, Sorter, Words, sorted},
    table::{MessageRow, TableOutput, Writer},
};

/// A message by its source rank and its number among the source's sends.
pub type Key = (u32, u32);

/// Joins two numbers into one that is ordered as the pair is.
const fn pair(first: u32, second: u32) -> u64 {
    (first as u64) << 32 | second as u64
}

/// Takes apart what [`pair`] joined.
const fn split(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

/// The records of messages of one or several workers.
#[derive(Debug, Default)]
pub struct Records {
    /// Sends: key, destination and tag, size, posted, injected.
    sent: Vec<Sorter<5>>,
    /// Arrivals: key, time.
    delivered: Vec<Sorter<2>>,
    /// Matches: key, time.
    matched: Vec<Sorter<2>>,
}

impl Records {
    /// Records of one worker. With a folder, they move to files there when there are many.
    pub fn new(folder: Option<&Path>) -> Self {
        fn sorter<const N: usize>(folder: Option<&Path>) -> Vec<Sorter<N>> {
            vec![folder.map_or_else(Sorter::default, Sorter::spilling)]
        }
        Self { sent: sorter(folder), delivered: sorter(folder), matched: sorter(folder) }
    }

    /// Adds a send: a message without the times of its arrival and match.
    #[inline]
    pub fn sent(&mut self, message: &Message) {
        let Message { source, sequence, destination, tag, size, posted, injected, .. } = *message;
        let key = pair(source, sequence);
        if let Some(sent) = self.sent.first_mut() {
            sent.push([key, pair(destination, tag), size, posted.ps(), injected.ps()]);
        }
    }

    /// Adds an arrival.
    #[inline]
    pub fn delivered(&mut self, (source, sequence): Key, at: Time) {
        if let Some(delivered) = self.delivered.first_mut() {
            delivered.push([pair(source, sequence), at.ps()]);
        }
    }

    /// Adds a match.
    #[inline]
    pub fn matched(&mut self, (source, sequence): Key, at: Time) {
        if let Some(matched) = self.matched.first_mut() {
            matched.push([pair(source, sequence), at.ps()]);
        }
    }

    /// Adds the records of another worker.
    pub fn append(&mut self, mut other: Self) {
        self.sent.append(&mut other.sent);
        self.delivered.append(&mut other.delivered);
        self.matched.append(&mut other.matched);
    }

    /// Adds records that [`Parted`] has given.
    pub fn take(&mut self, part: MessagePart) {
        fn fill<const N: usize>(sorter: &mut [Sorter<N>], rows: Vec<Words<N>>) {
            if let Some(sorter) = sorter.first_mut() {
                for row in rows {
                    sorter.push(row);
                }
            }
        }
        match part {
            MessagePart::Sent(rows) => fill(&mut self.sent, rows),
            MessagePart::Delivered(rows) => fill(&mut self.delivered, rows),
            MessagePart::Matched(rows) => fill(&mut self.matched, rows),
        }
    }

    /// Joins the records: messages by (source, sequence).
    pub fn join(self) -> io::Result<Joined> {
        Ok(Joined {
            sent: sorted(self.sent)?,
            delivered: sorted(self.delivered)?.peekable(),
            matched: sorted(self.matched)?.peekable(),
        })
    }
}

/// Some of the records of messages, for another process.
#[derive(Debug, Serialize, Deserialize)]
pub enum MessagePart {
    /// Sends.
    Sent(Vec<Words<5>>),
    /// Arrivals.
    Delivered(Vec<Words<2>>),
    /// Matches.
    Matched(Vec<Words<2>>),
}

/// The most records of a part.
const PART: usize = 1 << 16;

/// The records of messages in parts.
pub struct Parted {
    sent: Sorted<5>,
    delivered: Sorted<2>,
    matched: Sorted<2>,
}

impl Parted {
    /// Takes records apart.
    pub fn new(records: Records) -> io::Result<Self> {
        let Records { sent, delivered, matched } = records;
        let (sent, delivered) = (sorted(sent)?, sorted(delivered)?);
        Ok(Self { sent, delivered, matched: sorted(matched)? })
    }

    /// Returns the next part; `None` when there is none left.
    pub fn next_part(&mut self) -> io::Result<Option<MessagePart>> {
        fn some<const N: usize>(rows: &mut Sorted<N>) -> io::Result<Vec<Words<N>>> {
            rows.take(PART).collect()
        }
        let sent = some(&mut self.sent)?;
        if !sent.is_empty() {
            return Ok(Some(MessagePart::Sent(sent)));
        }
        let delivered = some(&mut self.delivered)?;
        if !delivered.is_empty() {
            return Ok(Some(MessagePart::Delivered(delivered)));
        }
        let matched = some(&mut self.matched)?;
        Ok((!matched.is_empty()).then_some(MessagePart::Matched(matched)))
    }
}

/// Messages by (source, sequence).
pub struct Joined {
    sent: Sorted<5>,
    delivered: Peekable<Sorted<2>>,
    matched: Peekable<Sorted<2>>,
}

impl Iterator for Joined {
    type Item = io::Result<Message>;

    fn next(&mut self) -> Option<Self::Item> {
        let sent = self.sent.next()?;
        Some(sent.and_then(|[key, to, size, posted, injected]| {
            let ((source, sequence), (destination, tag)) = (split(key), split(to));
            Ok(Message {
                source,
                sequence,
                destination,
                tag,
                size,
                posted: Time::from_ps(posted),
                injected: Time::from_ps(injected),
                delivered: last_mark(&mut self.delivered, key)?,
                matched: last_mark(&mut self.matched, key)?,
            })
        }))
    }
}

/// Consumes the marks up to those of `key` and returns the latest of those: a rendezvous may
/// report several.
fn last_mark(marks: &mut Peekable<Sorted<2>>, key: u64) -> io::Result<Time> {
    let mut last = Time::MAX;
    let passed = |mark: &io::Result<Words<2>>| mark.as_ref().map_or(true, |[of, _]| *of <= key);
    while let Some(mark) = marks.next_if(passed) {
        let [of, at] = mark?;
        if of == key {
            last = Time::from_ps(at);
        }
    }
    Ok(last)
}

/// The table of messages before it is written: rows by (injected, source, sequence).
#[derive(Debug)]
pub struct MessageTable {
    rows: Sorter<7>,
}

impl MessageTable {
    /// Joins the records of all workers. Rows move to a file in `folder` when there are many.
    pub(crate) fn new(records: Records, folder: &Path) -> io::Result<Self> {
        let mut rows = Sorter::spilling(folder);
        for message in records.join()? {
            let message = message?;
            rows.push([
                message.injected.ps(),
                pair(message.source, message.sequence),
                pair(message.destination, message.tag),
                message.size,
                message.posted.ps(),
                message.delivered.ps(),
                message.matched.ps(),
            ]);
        }
        Ok(Self { rows })
    }

    /// Writes `messages.csv`.
    pub fn write(self, out: &mut impl TableOutput) -> io::Result<()> {
        let mut table = Writer::new(out)?;
        for (id, row) in (0..).zip(sorted(vec![self.rows])?) {
            let [injected, key, to, size, posted, delivered, matched] = row?;
            let ((source, sequence), (destination, tag)) = (split(key), split(to));
            let [posted, injected, delivered, matched] =
                [posted, injected, delivered, matched].map(Time::from_ps);
            let message = Message {
                source,
                sequence,
                destination,
                tag,
                size,
                posted,
                injected,
                delivered,
                matched,
            };
            table.row(&MessageRow::new(id, &message))?;
        }
        table.finish()
    }
}
