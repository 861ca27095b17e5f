//! Messages: by size, by pair of ranks, and one by one where that is wanted.

use std::{collections::HashMap, path::Path};

use results::{Artifact, MessageRow, Reader};
use serde_json::{Value, json};
use units::Time;

use crate::{
    Error,
    activity::Chosen,
    blob::{Blobs, Column, folded},
    links::Links,
    ranks::{GROUPS, Scale},
};

/// Sizes are counted by their number of binary digits.
const SIZES: usize = 65;

/// Messages of similar size.
#[derive(Clone, Copy, Default)]
struct Bin {
    messages: u64,
    bytes: u64,
    arrived: u64,
    transit: u128,
    longest: u64,
}

/// The names of the columns of messages, in their order.
const COLUMNS: [&str; 10] = [
    "ids",
    "sources",
    "destinations",
    "tags",
    "sizes",
    "known",
    "injected",
    "posted",
    "delivered",
    "matched",
];

/// Messages one by one. Their times are differences from those of their busy periods.
fn detail(links: &Links, blobs: &mut Blobs) -> Value {
    let mut columns = [(); COLUMNS.len()].map(|()| Column::new());
    let [ids, sources, destinations, tags, sizes, known, injected, posted, delivered, matched] =
        &mut columns;
    let (mut count, mut last, mut last_entry) = (0_u64, [0; 4], 0);
    // By source, when its last message was posted.
    let mut last_posted: HashMap<u32, u64> = HashMap::new();
    for (row, sent, received) in links.messages() {
        let source = u64::from(row.source);
        let now = [row.id, source, row.tag.cast_unsigned(), row.size];
        let differing = [&mut *ids, &mut *sources, &mut *tags, &mut *sizes];
        for ((column, now), last) in differing.into_iter().zip(now).zip(&mut last) {
            column.difference(now, *last);
            *last = now;
        }
        destinations.difference(u64::from(row.destination), source);
        let times = [row.posted, row.injected, row.delivered, row.matched];
        let bits = times.iter().enumerate().map(|(bit, time)| u8::from(time.is_some()) << bit);
        known.bytes(&[bits.sum()]);
        let write = |column: &mut Column, time: Option<Time>, near: u64| {
            let time = time.map_or(near, Time::ps);
            column.difference(time, near);
            time
        };
        let entry = write(injected, row.injected, sent.map_or(last_entry, |sent| sent.end));
        last_entry = entry;
        let near = sent.map_or(entry, |sent| sent.start);
        let post = row.posted.map_or(near, Time::ps);
        let with = last_posted.insert(row.source, post);
        // 1 stands for the time of the source's message before.
        match folded(post, near) {
            0 => posted.push(0),
            _ if with == Some(post) => posted.push(1),
            step => posted.push(step.wrapping_add(1)),
        }
        let arrival = write(delivered, row.delivered, entry);
        write(matched, row.matched, received.unwrap_or(arrival));
        count += 1;
    }
    let columns = COLUMNS.into_iter().zip(columns);
    let named = columns.map(|(name, column)| (name.to_owned(), blobs.add(column)));
    let mut detail: serde_json::Map<_, _> = named.collect();
    detail.insert("count".to_owned(), json!(count));
    Value::Object(detail)
}

/// Bytes and messages by pair of ranks, or of groups of ranks.
struct Matrix {
    groups: u64,
    bytes: Vec<u64>,
    messages: Vec<u64>,
}

impl Matrix {
    fn new(scale: &Scale) -> Self {
        let groups = scale.groups(GROUPS);
        let cells = (groups * groups) as usize;
        Self { groups, bytes: vec![0; cells], messages: vec![0; cells] }
    }

    fn add(&mut self, scale: &Scale, row: &MessageRow) {
        let [from, to] = [row.source, row.destination].map(|rank| scale.group(rank, self.groups));
        let cell = (from * self.groups + to) as usize;
        self.bytes[cell] = self.bytes[cell].saturating_add(row.size);
        self.messages[cell] += 1;
    }

    fn finish(&self, blobs: &mut Blobs) -> Value {
        let column = |numbers: &[u64]| {
            let mut column = Column::new();
            for &number in numbers {
                column.push(number);
            }
            column
        };
        json!({
            "groups": self.groups,
            "bytes": blobs.add(column(&self.bytes)),
            "messages": blobs.add(column(&self.messages)),
        })
    }
}

/// The messages of a run.
#[derive(Default)]
pub struct Messages {
    /// Those that the page has one by one.
    pub links: Links,
    /// Total, sizes and matrix; `None` if the folder does not have them.
    found: Option<(u64, Vec<Value>, Matrix)>,
}

impl Messages {
    /// The part of the document; null if the folder does not have messages.
    pub fn finish(&self, blobs: &mut Blobs) -> Value {
        let Some((total, sizes, matrix)) = &self.found else { return Value::Null };
        json!({
            "total": total,
            "sizes": sizes,
            "matrix": matrix.finish(blobs),
            "detail": detail(&self.links, blobs),
        })
    }
}

/// Reads the messages of a run.
pub fn read(folder: &Path, scale: &Scale, chosen: &Chosen) -> Result<Messages, Error> {
    let path = Artifact::Messages.path(folder);
    if !path.is_file() {
        return Ok(Messages::default());
    }
    let mut bins = [Bin::default(); SIZES];
    let (mut matrix, mut rows, mut total) = (Matrix::new(scale), Vec::new(), 0_u64);
    for row in Reader::<MessageRow>::open(&path)? {
        let row = row?;
        for rank in [row.source, row.destination] {
            scale.check(rank, folder, Artifact::Messages)?;
        }
        total += 1;
        let bin = &mut bins[(u64::BITS - row.size.leading_zeros()) as usize];
        bin.messages += 1;
        bin.bytes = bin.bytes.saturating_add(row.size);
        if let (Some(injected), Some(delivered)) = (row.injected, row.delivered) {
            let transit = delivered.saturating_sub(injected).ps();
            bin.arrived += 1;
            bin.transit += u128::from(transit);
            bin.longest = bin.longest.max(transit);
        }
        matrix.add(scale, &row);
        let start = row.injected.or(row.posted).unwrap_or_default().ps();
        let end = row.matched.or(row.delivered).unwrap_or(Time::MAX).ps();
        if chosen.covers(start, end) || chosen.messages.contains(&row.id) {
            rows.push(row);
        }
    }
    let used = bins.iter().enumerate().filter(|(_, bin)| bin.messages > 0);
    let sizes: Vec<_> = used
        .map(|(digits, bin)| {
            // A number of so many binary digits is at least this.
            let least = digits.checked_sub(1).map_or(0, |digits| 1_u64 << digits);
            let mean = bin.transit.checked_div(u128::from(bin.arrived));
            json!({
                "least": least,
                "messages": bin.messages,
                "bytes": bin.bytes,
                "mean_transit_ps": mean.map(|mean| mean as u64),
                "longest_transit_ps": bin.longest,
            })
        })
        .collect();
    Ok(Messages { links: Links::new(rows), found: Some((total, sizes, matrix)) })
}
