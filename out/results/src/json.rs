//! Summaries as JSON.

use std::io::{self, Write};

use host::RankTotals;
use serde::{Serialize, Serializer};

use crate::{Performance, Summary};

/// Writes a value as indented JSON with a line end: `summary.json` and `performance.json`.
pub fn write_pretty(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Writes summary and performance as one flat JSON object on one line; with `per_rank`, also the
/// array `finish_ps` of the ranks' finish times.
pub fn write_json(
    out: &mut impl Write,
    summary: &Summary,
    performance: &Performance,
    per_rank: Option<&[RankTotals]>,
) -> io::Result<()> {
    let all = All { summary, performance, finish_ps: per_rank.map(FinishTimes) };
    serde_json::to_writer(&mut *out, &all)?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct All<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(flatten)]
    performance: &'a Performance,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_ps: Option<FinishTimes<'a>>,
}

struct FinishTimes<'a>(&'a [RankTotals]);

impl Serialize for FinishTimes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|rank| rank.finish.ps()))
    }
}
