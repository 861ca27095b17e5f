//! Tables of the Intel MPI Benchmarks: PingPong and Exchange; others are passed over.
//!
//! Source: the benchmarks' user guide. The time of PingPong is half a round trip; that of Exchange
//! is a whole step, of which the average over processes is taken.

use super::{Mistake, Reading, positive, size};
use crate::samples::{Operation, Sample};

pub fn read(text: &str) -> Result<Reading, Vec<Mistake>> {
    let (mut samples, mut mistakes) = (Vec::new(), Vec::new());
    let (mut table, mut passed) = (None, Vec::new());
    for (index, line) in text.lines().enumerate() {
        let line_number = index as u64 + 1;
        if let Some((_, name)) = line.split_once("Benchmarking ") {
            let name = name.split_whitespace().next().unwrap_or_default();
            // The operation, its column, and how much longer the operation is, in nanoseconds.
            table = match name {
                "PingPong" => Some((Operation::PingPong, 2, 2000.0)),
                "Exchange" => Some((Operation::Exchange, 4, 1000.0)),
                _ => {
                    passed.push(name.to_owned());
                    None
                }
            };
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        let first = fields.first().filter(|first| first.starts_with(|c: char| c.is_ascii_digit()));
        let (Some((operation, column, factor)), Some(first)) = (&table, first) else { continue };
        let time = size(line_number, first)
            .and_then(|bytes| Ok((bytes, positive(line_number, "a time", fields.get(*column))?)));
        match time {
            Ok((bytes, time)) => {
                samples.push(Sample::simple(operation.clone(), bytes, 0, time * factor));
            }
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if !mistakes.is_empty() {
        mistakes.truncate(super::SHOWN);
        return Err(mistakes);
    }
    let mut notes = vec![
        "PingPong gives G and L + 2 o, Exchange the cost of both directions at once; o, g and the \
         intervals over runs need samples of single operations"
            .to_owned(),
    ];
    if !passed.is_empty() {
        notes.push(format!("not used: {}", passed.join(", ")));
    }
    Ok(Reading { samples, notes })
}
