//! The timeline: busy periods of CPUs as tiles, and one by one where that is wanted.
//!
//! A level of tiles has a row per group of ranks and a column per interval. Its column of bytes has
//! for each row the shares of computation, of sending and of receiving in all intervals, from 0 to
//! 255. Rows of the table come by rank, so that one row of each level is in memory at a time.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use host::Activity;
use results::{ActivityRow, Artifact, Reader};
use serde_json::{Value, json};

use crate::{
    Error, Window,
    blob::{Blobs, Column},
    links::Links,
    ranks::{GROUPS, Scale},
};

/// The rows and columns of each level, at most; the finer one where the page does not have all
/// events, and so has nothing else to show of the rest.
const LEVELS: [(u64, u64); 2] = [(128, 512), (512, 4096)];
/// The finer level where it does.
const COARSE: (u64, u64) = (512, 1024);
/// Up to this many busy periods, the page draws each and needs no tiles.
const FEW: u64 = 20_000;

/// The events that the page has one by one.
#[derive(Debug, Default)]
pub struct Chosen {
    /// True if it has all.
    pub all: bool,
    /// Stretches of time of which it has all.
    pub windows: Vec<Window>,
    /// Busy periods, by rank, CPU and start.
    pub slices: BTreeSet<(u32, u8, u64)>,
    /// Messages, by id.
    pub messages: BTreeSet<u64>,
    /// Time on the critical path, by line; in picoseconds.
    pub lines: BTreeMap<u32, u64>,
}

impl Chosen {
    /// True if something that lasts from `start` to `end` is in a window, or all is wanted.
    pub fn covers(&self, start: u64, end: u64) -> bool {
        let within = |(from, to): &Window| start <= to.ps() && end >= from.ps();
        self.all || self.windows.iter().any(within)
    }
}

/// A level of tiles that is being filled.
struct Level {
    rows: u64,
    columns: u64,
    row: u64,
    /// Busy time in each interval of the row, by activity.
    busy: [Vec<u64>; 3],
    out: Column,
}

impl Level {
    fn new(scale: &Scale, (rows, columns): (u64, u64)) -> Self {
        let columns = columns.min(scale.horizon.ps()).max(1);
        let busy = [(); 3].map(|()| vec![0; columns as usize]);
        Self { rows: scale.groups(rows), columns, row: 0, busy, out: Column::new() }
    }

    /// The start of an interval.
    fn start(&self, scale: &Scale, column: u64) -> u64 {
        (u128::from(column) * u128::from(scale.horizon.ps()) / u128::from(self.columns)) as u64
    }

    fn add(&mut self, scale: &Scale, row: &ActivityRow) {
        let group = scale.group(row.rank, self.rows);
        self.advance(scale, group);
        let (start, end) = (row.start.min(scale.horizon).ps(), row.end.min(scale.horizon).ps());
        let place = u128::from(start) * u128::from(self.columns);
        let mut column = (place / u128::from(scale.horizon.ps().max(1))) as u64;
        while column < self.columns {
            let (from, to) = (self.start(scale, column), self.start(scale, column + 1));
            if from >= end {
                break;
            }
            let part = end.min(to).saturating_sub(start.max(from));
            self.busy[row.activity as usize][column as usize] += part;
            column += 1;
        }
    }

    /// Writes rows until `row` is next.
    fn advance(&mut self, scale: &Scale, row: u64) {
        while self.row < row {
            let ranks = scale.first(self.row + 1, self.rows) - scale.first(self.row, self.rows);
            for activity in 0..3 {
                let share = |column: u64| {
                    let width = self.start(scale, column + 1) - self.start(scale, column);
                    let whole = u128::from(width) * u128::from(ranks.max(1));
                    let busy = u128::from(self.busy[activity][column as usize]);
                    (busy * 255).div_ceil(whole.max(1)).min(255) as u8
                };
                let shares: Vec<u8> = (0..self.columns).map(share).collect();
                self.out.bytes(&shares);
            }
            for busy in &mut self.busy {
                busy.fill(0);
            }
            self.row += 1;
        }
    }

    fn finish(mut self, scale: &Scale, blobs: &mut Blobs) -> Value {
        self.advance(scale, self.rows);
        json!({ "rows": self.rows, "columns": self.columns, "shares": blobs.add(self.out) })
    }
}

/// Busy periods one by one: a run for each CPU, whose periods follow each other.
struct Detail {
    run: Option<(u32, u8, u64)>,
    last_rank: u64,
    end: u64,
    count: u64,
    /// Rank, CPU and number of periods of each run.
    runs: [Column; 3],
    activity: Column,
    /// Start after the end of the one before, and length.
    times: [Column; 2],
    messages: Column,
}

impl Detail {
    fn new() -> Self {
        Self {
            run: None,
            last_rank: 0,
            end: 0,
            count: 0,
            runs: [(); 3].map(|()| Column::new()),
            activity: Column::new(),
            times: [(); 2].map(|()| Column::new()),
            messages: Column::new(),
        }
    }

    fn add(&mut self, row: &ActivityRow, links: &mut Links) {
        match &mut self.run {
            Some((rank, cpu, length)) if (*rank, *cpu) == (row.rank, row.cpu) => *length += 1,
            _ => {
                self.end_run();
                self.run = Some((row.rank, row.cpu, 1));
            }
        }
        self.activity.bytes(&[row.activity as u8]);
        self.times[0].difference(row.start.ps(), self.end);
        self.times[1].difference(row.end.ps(), row.start.ps());
        self.end = row.end.ps();
        self.messages.push(links.period(row));
        self.count += 1;
    }

    fn end_run(&mut self) {
        if let Some((rank, cpu, length)) = self.run.take() {
            self.runs[0].difference(u64::from(rank), self.last_rank);
            self.runs[1].push(u64::from(cpu));
            self.runs[2].push(length);
            self.last_rank = u64::from(rank);
        }
        self.end = 0;
    }

    fn finish(mut self, blobs: &mut Blobs) -> Value {
        self.end_run();
        let [ranks, cpus, lengths] = self.runs;
        let [starts, durations] = self.times;
        json!({
            "count": self.count,
            "ranks": blobs.add(ranks),
            "cpus": blobs.add(cpus),
            "lengths": blobs.add(lengths),
            "activity": blobs.add(self.activity),
            "starts": blobs.add(starts),
            "durations": blobs.add(durations),
            "messages": blobs.add(self.messages),
        })
    }
}

/// Reads the busy periods of a run and links them with their messages; null if the folder does not
/// have them.
pub fn read(
    folder: &Path,
    scale: &Scale,
    chosen: &Chosen,
    links: &mut Links,
    blobs: &mut Blobs,
) -> Result<Value, Error> {
    let path = Artifact::Activity.path(folder);
    if !path.is_file() {
        return Ok(Value::Null);
    }
    let finer = if chosen.all { COARSE } else { LEVELS[1] };
    let mut levels = [LEVELS[0], finer].map(|level| Level::new(scale, level));
    let (mut detail, mut total) = (Detail::new(), 0_u64);
    let groups = scale.groups(GROUPS);
    let mut sums = [(); 3].map(|()| vec![0_u64; groups as usize]);
    for row in Reader::<ActivityRow>::open(&path)? {
        let row = row?;
        scale.check(row.rank, folder, Artifact::Activity)?;
        total += 1;
        for level in &mut levels {
            level.add(scale, &row);
        }
        let sum = &mut sums[row.activity as usize][scale.group(row.rank, groups) as usize];
        *sum = sum.saturating_add(row.end.saturating_sub(row.start).ps());
        let start = row.start.ps();
        let on_path = || chosen.slices.contains(&(row.rank, row.cpu, start));
        if chosen.covers(start, row.end.ps()) || on_path() {
            detail.add(&row, links);
        }
    }
    let draws_all = detail.count == total && total <= FEW;
    let tiles: Vec<_> =
        levels.into_iter().filter(|_| !draws_all).map(|level| level.finish(scale, blobs)).collect();
    let [compute, send, receive] = sums;
    Ok(json!({
        "total": total,
        "levels": tiles,
        "detail": detail.finish(blobs),
        "compute_ps": compute,
        "send_ps": send,
        "receive_ps": receive,
    }))
}

const _: () = assert!(
    Activity::Compute as u8 == 0 && Activity::Send as u8 == 1 && Activity::Receive as u8 == 2
);
