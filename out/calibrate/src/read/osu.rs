//! Tables of the OSU micro-benchmarks: latency, bandwidth, and bandwidth with message rate.
//!
//! Source: the benchmarks' own descriptions. The latency is half a round trip. The bandwidth is
//! that of windows of messages, each window with one short answer.

use super::{Mistake, Reading, collected, positive, rows, size};
use crate::samples::{Operation, Sample};

/// The kinds of tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Latency,
    Bandwidth,
    Rate,
}

pub fn read(text: &str) -> Result<Reading, Vec<Mistake>> {
    let title = text.lines().find(|line| line.contains("OSU MPI")).unwrap_or_default();
    let (table, note) = if title.contains("Message Rate") {
        (Table::Rate, STREAM)
    } else if title.contains("MPI Latency Test") {
        (Table::Latency, TRIP)
    } else if title.contains("MPI Bandwidth Test") {
        (Table::Bandwidth, STREAM)
    } else {
        let line = text.lines().position(|line| line == title).unwrap_or(0) as u64 + 1;
        let mistake =
            Mistake::new(line, format!("`{}` says nothing of L, o, g or G", title.trim()));
        let help = "osu_latency, osu_bw and osu_mbw_mr are read";
        return Err(vec![mistake.help(help)]);
    };
    let pairs = pairs(text);
    let samples = collected(rows(text).map(|(line, fields)| {
        let bytes = size(line, fields.first().unwrap_or(&""))?;
        let (operation, time) = match table {
            // Microseconds, one way.
            Table::Latency => {
                let latency = positive(line, "a latency", fields.get(1))?;
                (Operation::PingPong, 2000.0 * latency)
            }
            // Millions of bytes per second.
            Table::Bandwidth => {
                let bandwidth = positive(line, "a bandwidth", fields.get(1))?;
                (Operation::Stream, bytes as f64 * 1000.0 / bandwidth)
            }
            // Messages per second, of all pairs.
            Table::Rate => {
                let rate = positive(line, "a message rate", fields.get(2))?;
                (Operation::Stream, pairs * 1e9 / rate)
            }
        };
        Ok(Sample::simple(operation, bytes, 0, time))
    }))?;
    Ok(Reading { samples, notes: vec![note.to_owned()] })
}

const TRIP: &str = "a table of latencies gives G and L + 2 o; o, g and the intervals over runs \
                    need samples of single operations";
const STREAM: &str =
    "a table of bandwidths gives G, and the longer of o and g; L and o do not show";

/// Returns the number of pairs that a table of message rates states.
fn pairs(text: &str) -> f64 {
    let after = text.split_once("pairs:").map(|(_, rest)| rest.trim_start());
    let digits = after.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    digits
        .and_then(|digits| digits.parse::<u32>().ok())
        .map_or(1.0, |pairs| f64::from(pairs.max(1)))
}
