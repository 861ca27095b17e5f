//! The CSV files of SimGrid's platform calibration: a line for each call, with its name, its size
//! in bytes, its start and its duration in seconds, and no header.
//!
//! In a file of ping-pongs each send is followed by a receive with the same start, which is the
//! rest of the round trip. A receive by itself had its message there already. Source: the examples
//! of the calibration program.

use super::{Mistake, Reading, collected, positive, size};
use crate::samples::{Operation, Sample};

/// A line.
struct Call {
    name: Operation,
    bytes: u64,
    start: f64,
    time: f64,
}

pub fn read(text: &str) -> Result<Reading, Vec<Mistake>> {
    let lines = text.lines().enumerate().map(|(index, line)| (index as u64 + 1, line.trim()));
    let mut passed: Vec<&str> = Vec::new();
    let lines: Vec<(u64, Vec<&str>)> = lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| (number, line.split(',').map(str::trim).collect()))
        .filter(|(_, fields): &(u64, Vec<&str>)| {
            let other = ["MPI_Wtime", "MPI_Iprobe", "MPI_Test"];
            let is_other = fields.first().is_some_and(|name| other.contains(name));
            passed.extend(fields.first().filter(|name| is_other && !passed.contains(name)));
            !is_other
        })
        .collect();
    let calls = collected(lines.iter().map(|(line, fields)| call(*line, fields)))?;
    let mut samples = Vec::new();
    let mut rest = calls.iter().enumerate().peekable();
    while let Some((repetition, call)) = rest.next() {
        let mut add = |operation: &Operation, time: f64| {
            let simple = Sample::simple(operation.clone(), call.bytes, repetition as u32, time);
            samples.push(Sample { at: Some(call.start), ..simple });
        };
        let answer = rest.peek().is_some_and(|(_, next)| {
            let same = (next.start - call.start).abs() < 0.5 && next.bytes == call.bytes;
            same && call.name == Operation::Send && next.name == Operation::Receive
        });
        add(&call.name, call.time);
        if answer && let Some((_, answer)) = rest.next() {
            add(&Operation::PingPong, call.time + answer.time);
        }
    }
    let mut notes = vec![
        "the calls give o of both sides, and ping-pongs give L and G; g does not show".to_owned(),
    ];
    if !passed.is_empty() {
        notes.push(format!("not used: {}", passed.join(", ")));
    }
    Ok(Reading { samples, notes })
}

fn call(line: u64, fields: &[&str]) -> Result<Call, Mistake> {
    let name = match fields.first().copied().unwrap_or_default() {
        "MPI_Send" => Operation::Send,
        "MPI_Isend" => Operation::Isend,
        "MPI_Recv" => Operation::Receive,
        other => {
            let mistake = Mistake::new(line, format!("unknown call `{other}`"));
            return Err(mistake.help("MPI_Send, MPI_Isend and MPI_Recv are read"));
        }
    };
    let start = fields.get(2).and_then(|text| text.parse::<f64>().ok());
    let start = start.filter(|start| start.is_finite());
    let start =
        start.ok_or_else(|| Mistake::new(line, "expected the start of the call, in seconds"))?;
    Ok(Call {
        name,
        bytes: size(line, fields.get(1).unwrap_or(&""))?,
        start: start * 1e9,
        time: positive(line, "the duration of the call, in seconds", fields.get(3))? * 1e9,
    })
}
