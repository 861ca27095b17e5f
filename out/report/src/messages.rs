//! Messages: by size, by pair of ranks, and one by one where that is wanted.

use std::path::Path;

use results::{Artifact, MessageRow, Reader};
use serde_json::{Value, json};
use units::Time;

use crate::{
    Error,
    activity::Chosen,
    blob::{Blobs, Column},
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

/// Messages one by one.
struct Detail {
    count: u64,
    last: [u64; 5],
    columns: [Column; 10],
}

/// The names of the columns of [`Detail`], in their order.
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

impl Detail {
    fn new() -> Self {
        Self { count: 0, last: [0; 5], columns: [(); 10].map(|()| Column::new()) }
    }

    fn add(&mut self, row: &MessageRow) {
        let [ids, sources, destinations, tags, sizes, known, injected, posted, delivered, matched] =
            &mut self.columns;
        let source = u64::from(row.source);
        let now = [row.id, source, row.tag.cast_unsigned(), row.size];
        for ((column, now), last) in
            [ids, sources, tags, sizes].into_iter().zip(now).zip(&mut self.last)
        {
            column.difference(now, *last);
            *last = now;
        }
        destinations.difference(u64::from(row.destination), source);
        let times = [row.posted, row.injected, row.delivered, row.matched];
        let bits = times.iter().enumerate().map(|(bit, time)| u8::from(time.is_some()) << bit);
        known.bytes(&[bits.sum()]);
        let entry = row.injected.map_or(self.last[4], Time::ps);
        injected.difference(entry, self.last[4]);
        self.last[4] = entry;
        posted.difference(entry, row.posted.map_or(entry, Time::ps));
        let arrival = row.delivered.map_or(entry, Time::ps);
        delivered.difference(arrival, entry);
        matched.difference(row.matched.map_or(arrival, Time::ps), arrival);
        self.count += 1;
    }

    fn finish(self, blobs: &mut Blobs) -> Value {
        let columns = COLUMNS.into_iter().zip(self.columns);
        let named = columns.map(|(name, column)| (name.to_owned(), blobs.add(column)));
        let mut detail: serde_json::Map<_, _> = named.collect();
        detail.insert("count".to_owned(), json!(self.count));
        Value::Object(detail)
    }
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

/// Reads the messages of a run; null if the folder does not have them.
pub fn read(
    folder: &Path,
    scale: &Scale,
    chosen: &Chosen,
    blobs: &mut Blobs,
) -> Result<Value, Error> {
    let path = Artifact::Messages.path(folder);
    if !path.is_file() {
        return Ok(Value::Null);
    }
    let mut bins = [Bin::default(); SIZES];
    let (mut matrix, mut detail) = (Matrix::new(scale), Detail::new());
    let mut total = 0_u64;
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
            detail.add(&row);
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
    Ok(json!({
        "total": total,
        "sizes": sizes,
        "matrix": matrix.finish(blobs),
        "detail": detail.finish(blobs),
    }))
}
