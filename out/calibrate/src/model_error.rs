//! The error of the model: by how much the times of messages differ from those that the model gives
//! with the estimated parameters.
//!
//! Straight lines up to S and beyond it are not all that libraries do, and a model in which a
//! message costs its hosts o does not know what a message costs that another one meets. However
//! exact the parameters are, a prediction is not more exact than that. Three kinds of times tell:
//! single round trips over the size, messages that go both ways at the same time, and reductions of
//! up to 4 KiB on two ranks, which are an exchange and an addition. For each it is the root of
//! the mean square of the logarithm of measured over predicted time, without what the noise
//! explains, and that of all kinds holds, as a program may do each. Even where one kind is always
//! wrong to the same side and the others never, an interval of 95 % reaches that far.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};

use crate::{estimate::Calibration, segments::Point};

/// Fewer sizes tell no error of round trips and of other kinds.
const SIZES: [usize; 2] = [3, 2];

/// The most bytes of the reductions that count: libraries cut larger ones up.
const REDUCED: f64 = 4096.0;

/// A smaller error is none: times are read and written with few digits.
const LEAST: f64 = 0.005;

/// The purpose of the random numbers.
const FACTORS: u32 = 4;

/// The error, as the standard deviation of the logarithm of a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelError {
    /// The error for single round trips.
    pub round_trips: f64,
    /// The error for messages both ways at once, if they were timed.
    pub both_ways: Option<f64>,
    /// The error for reductions, if they were timed.
    pub reductions: Option<f64>,
}

impl ModelError {
    /// Compares the times of each operation with those of the model, of which `one_way` tells the
    /// time of a message one way. Nothing if too few sizes tell, or the model tells nothing.
    pub(crate) fn find(
        points: &BTreeMap<String, Vec<Point>>,
        one_way: impl Fn(f64) -> Option<f64>,
    ) -> Option<Self> {
        let of = |name: &str, ways: f64, most: f64, least: usize| {
            let misfit = |point: &Point| {
                let predicted = ways * one_way(point.bytes)?;
                let known = predicted > 0.0 && point.time > 0.0;
                known.then(|| ((point.time / predicted).ln(), point.deviation / point.time))
            };
            let wanted = points.get(name)?.iter().filter(|point| point.bytes <= most);
            error(&wanted.map(misfit).collect::<Option<Vec<_>>>()?, least)
        };
        let trips = |name: &&str| of(name, 2.0, f64::INFINITY, SIZES[0]);
        let round_trips = ["prtt", "pingpong"].iter().find_map(trips)?;
        // Tables of other programs have other exchanges, and no `prtt`.
        let own = points.contains_key("prtt");
        let other = |name, most| of(name, 1.0, most, SIZES[1]).filter(|_| own);
        let both_ways = other("exchange", f64::INFINITY);
        Some(Self { round_trips, both_ways, reductions: other("collective:allreduce", REDUCED) })
    }

    /// Returns it if it is large enough to be one.
    pub(crate) fn shown(self) -> Option<Self> {
        (self.value() >= LEAST).then_some(self)
    }

    /// Says it in a sentence without its end.
    pub(crate) fn text(&self) -> String {
        let percent = |error: f64| (error.exp_m1() * 100.0).round();
        let mut text = format!(
            "model error: with these values, the model misses the times of round trips by {} %",
            percent(self.round_trips)
        );
        let others = [("messages both ways", self.both_ways), ("an allreduce", self.reductions)];
        for (name, error) in others {
            if let Some(error) = error {
                let _ = write!(text, ", of {name} by {} %", percent(error));
            }
        }
        text + "; replicates include it"
    }

    /// Returns it as a JSON object.
    pub(crate) fn json(&self) -> Value {
        json!({
            "value": self.value(),
            "round_trips": self.round_trips,
            "both_ways": self.both_ways,
            "reductions": self.reductions,
        })
    }

    /// Returns the root of the mean square of all kinds.
    pub fn value(&self) -> f64 {
        let all = [Some(self.round_trips), self.both_ways, self.reductions];
        let squares: Vec<f64> = all.into_iter().flatten().map(|error| error.powi(2)).collect();
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
    }

    /// Returns the factor of all times in replicate `number`: log-normal, with the median 1.
    pub(crate) fn factor(&self, number: usize) -> f64 {
        (common_deviate(number) * self.value()).exp()
    }
}

/// Returns the standard normal deviate that all times of replicate `number` have in common: the
/// error of the model times it is the logarithm of their factor. Of the same number, it is the same
/// in all tables of replicates.
pub fn common_deviate(number: usize) -> f64 {
    let random = kernel::Random::new(0, FACTORS);
    let [one, other] = [0, 1].map(|half| random.unit(number as u32, half));
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

impl Calibration {
    /// Returns the time of a message one way by the values that a machine file has, in nanoseconds.
    pub(crate) fn one_way_of(&self, bytes: f64) -> Option<f64> {
        let of = |name: &str| self.parameters.get(name).map(|found| found.value);
        let rest = (bytes - 1.0).max(0.0);
        let overhead = |name: &str| of(name).or_else(|| of("o"));
        let overheads = overhead("o_send").zip(overhead("o_receive")).map(|(a, b)| a + b);
        if let Some(large) = self.large.as_ref().filter(|_| of("S").is_some_and(|s| bytes > s)) {
            return Some(large.latency.value + overheads? + large.per_byte.value * rest);
        }
        let base = match (of("L"), overheads) {
            (Some(latency), Some(overheads)) => latency + overheads,
            _ => self.one_way?.value,
        };
        let [wire, host] = ["G", "O"].map(|name| of(name).unwrap_or(0.0));
        // The receiver is busy with each byte for the longer of both.
        Some(base + rest * wire.max(host))
    }
}

/// Returns the error that misfits show, each with the deviation of its noise, if there are so many.
fn error(misfits: &[(f64, f64)], least: usize) -> Option<f64> {
    if misfits.len() < least {
        return None;
    }
    let count = misfits.len() as f64;
    let squares = misfits.iter().map(|(misfit, _)| misfit.powi(2)).sum::<f64>() / count;
    let noise = misfits.iter().map(|(_, noise)| noise.powi(2)).sum::<f64>() / count;
    // Noise alone exceeds its mean so much once in a thousand times.
    let chance = 1.0 + 3.1 * (2.0 / count).sqrt();
    Some(if squares > noise * chance { (squares - noise).sqrt() } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use crate::{Estimate, Operation, Options, Sample, fit};

    /// Exact round trips of 2 (3000 + 0.5 (s-1)) ns, and exchanges that take `factor` times as long
    /// as one way.
    fn samples(factor: f64) -> Vec<Sample> {
        let mut samples = Vec::new();
        for step in 0..8 {
            let bytes = 1 + step * 1000;
            let way = 3000.0 + 0.5 * (bytes - 1) as f64;
            for repetition in 0..20 {
                let mut add = |operation, time| {
                    samples.push(Sample::simple(operation, bytes, repetition, time));
                };
                add(Operation::RoundTrip, 2.0 * way);
                add(Operation::Send, 500.0);
                add(Operation::Exchange, factor * way);
            }
        }
        samples
    }

    #[test]
    fn what_the_model_explains_has_no_error() {
        let fitted = fit(&samples(1.0), &Options { replicates: 200 });
        assert_eq!(fitted.model_error, None);
    }

    /// The logarithm of 1.3 is 0.262, and round trips have no error. Replicates of L, which is
    /// exact, scatter by as much.
    #[test]
    fn exchanges_that_take_longer_are_an_error_of_the_model() {
        let fitted = fit(&samples(1.3), &Options { replicates: 2000 });
        let error = fitted.model_error.expect("an error");
        assert!((error.value() - 1.3_f64.ln() / 2_f64.sqrt()).abs() < 0.003, "{error:?}");
        assert!(error.round_trips < 0.001, "{error:?}");
        let place = fitted.columns.iter().position(|name| *name == "L").expect("L");
        let logs: Vec<f64> = fitted.replicates.iter().map(|row| row[place].ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let variance = squares / logs.len() as f64;
        assert!((mean - 2000.0_f64.ln()).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / error.value() - 1.0).abs() < 0.06, "{}", variance.sqrt());
        let Estimate { value, low, high } = fitted.parameters["L"];
        assert!(high - low < 0.5 * variance.sqrt() * value, "the interval is of L alone");
    }

    /// Like shared memory: up to 256 B messages are buffered, up to 4096 B copied, and larger ones
    /// fetched by the receiver. Messages in a row show a step behind 256 B, and none behind 4096 B.
    #[test]
    fn of_three_kinds_the_two_that_matter_are_parted() {
        let mut samples = Vec::new();
        for power in 0..20 {
            let bytes = 1 << power;
            let rest = (bytes - 1) as f64;
            let (way, gap) = match bytes {
                ..=256 => (310.0 + 0.5 * rest, 85.0 + 0.3 * rest),
                257..=4096 => (500.0 + 0.3 * rest, 650.0 + 0.28 * rest),
                _ => (1300.0 + 0.04 * rest, 1600.0 + 0.03 * rest),
            };
            for repetition in 0..20 {
                let time = 2.0 * way;
                let single = Sample::simple(Operation::RoundTrip, bytes, repetition, time);
                let time = time + 15.0 * gap;
                samples.extend([Sample { messages: 16, time, ..single.clone() }, single]);
                let time = if bytes > 256 { way } else { 60.0 };
                samples.push(Sample::simple(Operation::Send, bytes, repetition, time));
            }
        }
        let fitted = fit(&samples, &Options { replicates: 200 });
        assert!(fitted.diagnoses.iter().any(|found| found.name == "several-protocols"));
        assert!((fitted.parameters["S"].value - 4096.0).abs() < 1.0);
        assert!(fitted.model_error.expect("an error").round_trips < 0.15);
    }
}
