//! Parameters of the model `PLogP`: L, and the gap and the overheads as functions of the size.
//!
//! A message of m bytes is there L + g(m) after its send began, and another may follow it g(m)
//! after it; os(m) and or(m) keep the processors busy. L is that of the smallest size measured:
//! half of its round trip without g. Valid where g(m) is not below the overheads, as the model has
//! it.
//!
//! Source: Kielmann, Bal and Verstoep, "Fast measurement of LogP parameters for message passing
//! platforms", IPDPS workshops 2000. There g(m) of large sizes follows from round trips; here every
//! g(m) comes from trains of messages, and os(m), where no send was timed, from trains with waits.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Map, Value, json};

use crate::{
    cells::{Cell, cells, resolution},
    diagnose::{self, Diagnosis},
    estimate::{Estimate, Options, clipped, interval_of},
    noise::Medians,
    resample::Units,
    samples::{Operation, Sample},
};

/// The parameters of one size, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Size {
    /// The size of a message, in bytes.
    pub bytes: u64,
    /// g(m).
    pub gap: Option<Estimate>,
    /// os(m).
    pub send: Option<Estimate>,
    /// or(m).
    pub receive: Option<Estimate>,
}

/// All that samples say in the terms of `PLogP`.
#[derive(Clone, Debug, Default)]
pub struct Plogp {
    /// L, in nanoseconds.
    pub latency: Option<Estimate>,
    /// The parameters by size.
    pub sizes: Vec<Size>,
    /// The parameters that the samples do not determine, with the reasons.
    pub refused: BTreeMap<&'static str, String>,
    /// The properties of the samples that make parameters doubtful.
    pub diagnoses: Vec<Diagnosis>,
    /// The number of samples.
    pub samples: usize,
}

/// A wait tells an overhead where it exceeds the gap by this factor.
const CLEAR: f64 = 1.25;

/// The cells of round trips of a size.
#[derive(Clone, Copy, Debug, Default)]
struct Trains {
    /// One message.
    one: Option<usize>,
    /// Most messages in a row, and their number.
    row: Option<(usize, f64)>,
    /// The row of those with the longest wait between them, their number and the wait.
    waiting: Option<(usize, f64, f64)>,
}

/// Estimates what samples determine.
pub fn fit_plogp(samples: &[Sample], options: &Options) -> Plogp {
    let (kept, modes) = diagnose::lower_modes(samples);
    let cells = cells(&kept);
    let units = Units::new(&kept, &cells);
    let medians = Medians::new(&cells, &units, 0, options.replicates, resolution(samples));
    let estimate = |of: &dyn Fn(&[f64]) -> Option<f64>| {
        let value = of(&medians.measured)?;
        let all = medians.replicates.iter().filter_map(|times| of(times)).collect();
        interval_of(value, all, units.widening()).map(clipped)
    };
    let trains = trains(&cells);
    let calls = |operations: &[Operation]| {
        let found = operations.iter().map(|operation| calls(&cells, operation));
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    };
    let (sends, receives) =
        (calls(&[Operation::Send]), calls(&[Operation::ReceiveBusy, Operation::Receive]));
    let all: std::collections::BTreeSet<u64> =
        trains.keys().chain(sends.keys()).chain(receives.keys()).copied().collect();
    let size = |bytes: u64| {
        let train = trains.get(&bytes).copied().unwrap_or_default();
        let call = |calls: &BTreeMap<u64, Call>| {
            calls.get(&bytes).copied().and_then(|call| estimate(&|times| Some(call.of(times))))
        };
        let send = call(&sends).or_else(|| estimate(&|times| train.overhead(times)));
        let gap = estimate(&|times| train.gap(times));
        Size { bytes, gap, send, receive: call(&receives) }
    };
    let smallest = trains.values().find(|train| train.one.is_some() && train.row.is_some());
    let latency = smallest
        .and_then(|train| estimate(&|times| Some(times[train.one?] / 2.0 - train.gap(times)?)));
    let mut found = Plogp {
        latency,
        sizes: all.into_iter().map(size).collect(),
        diagnoses: modes.into_iter().chain(diagnose::asymmetry(samples)).collect(),
        samples: samples.len(),
        ..Plogp::default()
    };
    found.refuse();
    found
}

/// A cell of calls: its place, the number of calls, and the wait that is within their time.
#[derive(Clone, Copy, Debug)]
struct Call {
    place: usize,
    messages: f64,
    wait: f64,
}

impl Call {
    fn of(self, times: &[f64]) -> f64 {
        times[self.place] / self.messages - self.wait
    }
}

/// Returns the cells of an operation by size.
fn calls(cells: &[Cell], operation: &Operation) -> BTreeMap<u64, Call> {
    let own = cells.iter().enumerate().filter(|(_, cell)| cell.key.operation == *operation);
    let mut found = BTreeMap::new();
    for (place, cell) in own {
        let messages = f64::from(cell.key.messages);
        let wait = cell.key.delay;
        // Waits before receives of messages that are there are not within their times.
        let within = *operation == Operation::ReceiveBusy && cell.median() > wait * messages;
        let wait = if within { wait } else { 0.0 };
        found.entry(cell.key.bytes).or_insert(Call { place, messages, wait });
    }
    found
}

/// Returns the cells of round trips by size.
fn trains(cells: &[Cell]) -> BTreeMap<u64, Trains> {
    let mut found: BTreeMap<u64, Trains> = BTreeMap::new();
    let own = cells.iter().enumerate().filter(|(_, it)| it.key.operation == Operation::RoundTrip);
    // Cells come in the order of n and d: the last one of a kind has most messages.
    for (place, cell) in own {
        let (messages, wait) = (f64::from(cell.key.messages), cell.key.delay);
        let train = found.entry(cell.key.bytes).or_default();
        match (cell.key.messages, wait > 0.0) {
            (1, false) => train.one = Some(place),
            (1, true) => {}
            (_, false) => train.row = Some((place, messages)),
            (_, true) => train.waiting = Some((place, messages, wait)),
        }
    }
    found
}

impl Trains {
    /// Returns g(m) from the times of all cells.
    fn gap(&self, times: &[f64]) -> Option<f64> {
        let (row, messages) = self.row?;
        Some((times[row] - times[self.one?]) / (messages - 1.0))
    }

    /// Returns os(m) from a train with waits that are clear of the gap.
    fn overhead(&self, times: &[f64]) -> Option<f64> {
        let (waiting, messages, wait) = self.waiting?;
        let each = (times[waiting] - times[self.one?]) / (messages - 1.0);
        (wait > CLEAR * self.gap(times)?).then_some(each - wait)
    }
}

impl Plogp {
    /// Notes what no size has.
    fn refuse(&mut self) {
        let none = |of: fn(&Size) -> Option<Estimate>| self.sizes.iter().all(|it| of(it).is_none());
        let reasons = [
            ("g", none(|size| size.gap), "there are no trains of messages beside single ones"),
            ("os", none(|size| size.send), "there are no sends, nor trains with long waits"),
            ("or", none(|size| size.receive), "there are no receives"),
            ("L", self.latency.is_none(), "it needs a round trip and g of the same size"),
        ];
        let missing = reasons.into_iter().filter(|(_, is_missing, _)| *is_missing);
        self.refused = missing.map(|(name, _, reason)| (name, reason.to_owned())).collect();
    }

    /// Returns whether nothing was determined.
    pub fn is_empty(&self) -> bool {
        self.refused.len() == 4
    }

    /// Returns the parameters as a JSON object.
    pub fn json(&self) -> Value {
        let time = |found: &Estimate| {
            let Estimate { value, low, high } = found;
            json!({ "value": value, "low": low, "high": high, "unit": "ns" })
        };
        let size = |Size { bytes, gap, send, receive }: &Size| {
            let mut found = Map::new();
            found.insert("bytes".to_owned(), json!(bytes));
            for (name, estimate) in [("g", gap), ("os", send), ("or", receive)] {
                found.extend(estimate.as_ref().map(|it| (name.to_owned(), time(it))));
            }
            Value::Object(found)
        };
        let diagnoses: Vec<&str> = self.diagnoses.iter().map(|found| found.name).collect();
        let mut found = json!({
            "model": "plogp",
            "sizes": self.sizes.iter().map(size).collect::<Vec<_>>(),
            "refused": self.refused,
            "diagnoses": diagnoses,
            "samples": self.samples,
        });
        if let Some(latency) = &self.latency {
            found["L"] = time(latency);
        }
        found
    }

    /// Returns the parameters as a table for people: each with half the width of its interval.
    pub fn table(&self) -> String {
        let mut text = String::new();
        if let Some(Estimate { value, low, high }) = self.latency {
            let _ = writeln!(text, "L {value:.1} ns ({low:.1} to {high:.1})\n");
        }
        let _ = writeln!(text, "{:>10}{:>24}{:>24}{:>24}", "bytes", "g, ns", "os, ns", "or, ns");
        for Size { bytes, gap, send, receive } in &self.sizes {
            let _ = write!(text, "{bytes:>10}");
            for estimate in [gap, send, receive] {
                let shown = estimate.map_or_else(
                    || "-".to_owned(),
                    |Estimate { value, low, high }| {
                        format!("{value:.1} +- {:.1}", (high - low) / 2.0)
                    },
                );
                let _ = write!(text, "{shown:>24}");
            }
            text += "\n";
        }
        for (name, reason) in &self.refused {
            let _ = writeln!(text, "{name} is not determined: {reason}");
        }
        for diagnosis in &self.diagnoses {
            let _ = writeln!(text, "{}: {}", diagnosis.name, diagnosis.text);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network with os = 1 us, g = 2 us + 1 ns/B, or = 1.5 us and L = 10 us in the terms of
    /// PLogP: a round trip takes 2 (L + g), each further message g or os + d. Times are later by at
    /// most 0.04 %.
    fn samples() -> Vec<Sample> {
        let mut samples = Vec::new();
        for bytes in [1_u64, 1001, 4001] {
            let gap = 2000.0 + bytes as f64;
            let trip = 2.0 * (10_000.0 + gap);
            for repetition in 0..12 {
                let late = 1.0 + 1e-4 * f64::from(repetition * 7 % 5);
                let mut add = |operation, messages, delay, time: f64| {
                    samples.push(Sample {
                        messages,
                        delay,
                        run: repetition / 4,
                        ..Sample::simple(operation, bytes, repetition % 4, time * late)
                    });
                };
                add(Operation::RoundTrip, 1, 0.0, trip);
                add(Operation::RoundTrip, 16, 0.0, trip + 15.0 * gap);
                add(Operation::RoundTrip, 16, 20_000.0, trip + 15.0 * 21_000.0);
                add(Operation::ReceiveBusy, 1, 50_000.0, 51_500.0);
            }
        }
        samples
    }

    #[test]
    fn parameters_by_size() {
        let found = fit_plogp(&samples(), &Options { replicates: 200 });
        assert!(found.refused.is_empty(), "{:?}", found.refused);
        let near = |estimate: Option<Estimate>, truth: f64, most: f64| {
            let found = estimate.expect("a value");
            assert!((found.value - truth).abs() < most, "{truth}: {found:?}");
        };
        near(found.latency, 10_000.0, 20.0);
        for size in &found.sizes {
            near(size.gap, 2000.0 + size.bytes as f64, 10.0);
            // The wait is twenty times as long as what is left of it.
            near(size.send, 1000.0, 20.0);
            near(size.receive, 1500.0, 30.0);
        }
        assert_eq!(found.json()["sizes"][1]["bytes"], 1001);
        assert!(found.table().lines().count() >= 6, "{}", found.table());
    }

    #[test]
    fn what_no_sample_tells_is_refused() {
        let trips: Vec<Sample> = samples()
            .into_iter()
            .filter(|it| it.operation == Operation::RoundTrip && it.messages == 1)
            .collect();
        let found = fit_plogp(&trips, &Options { replicates: 100 });
        assert!(found.is_empty() && found.latency.is_none());
        let names: Vec<&str> = found.refused.keys().copied().collect();
        assert_eq!(names, ["L", "g", "or", "os"]);
    }
}
