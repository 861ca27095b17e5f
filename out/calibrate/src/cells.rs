//! Samples grouped into cells: all samples of one operation, n, d and size.

use std::collections::BTreeMap;

use crate::{
    samples::{Operation, Sample},
    statistics::{median, scale},
};

/// The operation and the settings that the samples of a cell have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The operation.
    pub operation: Operation,
    /// n: the number of messages.
    pub messages: u32,
    /// d: the busy wait between two messages, in nanoseconds.
    pub delay: f64,
    /// The size of each message.
    pub bytes: u64,
}

/// The samples of one key.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Their operation and settings.
    pub key: Key,
    /// The times, ascending, each with the place of its sample.
    pub times: Vec<(f64, usize)>,
}

/// Operation, n, the bits of d, and size.
type Group<'a> = (&'a Operation, u32, u64, u64);

/// Groups samples by what they measure, in the order of operation, n, d and size.
pub fn cells(samples: &[Sample]) -> Vec<Cell> {
    let mut groups: BTreeMap<Group<'_>, Vec<(f64, usize)>> = BTreeMap::new();
    for (place, sample) in samples.iter().enumerate() {
        // Delays are not negative, so that their bits have their order.
        let key = (&sample.operation, sample.messages, sample.delay.to_bits(), sample.bytes);
        groups.entry(key).or_default().push((sample.time, place));
    }
    let cell = |((operation, messages, delay, bytes), mut times): (_, Vec<(f64, usize)>)| {
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (operation, delay) = (Operation::clone(operation), f64::from_bits(delay));
        Cell { key: Key { operation, messages, delay, bytes }, times }
    };
    groups.into_iter().map(cell).collect()
}

impl Cell {
    /// Returns the times alone, ascending.
    pub fn values(&self) -> Vec<f64> {
        self.times.iter().map(|(time, _)| *time).collect()
    }

    /// Returns the median time.
    pub fn median(&self) -> f64 {
        median(&self.values())
    }

    /// Returns the scale of the noise: the deviation of a normal distribution with the same median
    /// absolute deviation.
    pub fn scale(&self) -> f64 {
        scale(&self.values())
    }
}

/// Returns the step in which times were taken down, in nanoseconds: the largest of 1, 2 and 5 times
/// a power of ten of which nearly all times are multiples.
pub fn resolution(samples: &[Sample]) -> f64 {
    let steps =
        (-4..=5).rev().flat_map(|power| [5.0, 2.0, 1.0].map(|factor| factor * 10_f64.powi(power)));
    let multiples = |step: &f64| {
        let whole = |time: f64| {
            let steps = time / step;
            (steps - steps.round()).abs() < (1e-10 * steps).max(1e-7)
        };
        samples.iter().filter(|sample| whole(sample.time)).count() * 100 >= samples.len() * 98
    };
    steps.into_iter().find(multiples).unwrap_or(1e-5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_kind_are_a_cell() {
        let sample = |bytes, time| Sample::simple(Operation::Send, bytes, 0, time);
        let cells = cells(&[sample(8, 30.0), sample(1, 5.0), sample(8, 10.0), sample(8, 20.0)]);
        assert_eq!(cells.iter().map(|cell| cell.key.bytes).collect::<Vec<_>>(), [1, 8]);
        assert_eq!(cells[1].times, [(10.0, 2), (20.0, 3), (30.0, 0)]);
        assert!((cells[1].scale() - 14.826).abs() < 1e-9);
    }

    #[test]
    fn resolution_of_times() {
        let of = |times: &[f64]| {
            let simple = |&time: &f64| Sample::simple(Operation::Send, 1, 0, time);
            resolution(&times.iter().map(simple).collect::<Vec<_>>())
        };
        assert!((of(&[1510.0, 1590.0]) - 10.0).abs() < 1e-9);
        assert!((of(&[1510.0, 1591.0]) - 1.0).abs() < 1e-9);
        assert!((of(&[1520.0, 1580.0]) - 20.0).abs() < 1e-9);
        assert!((of(&[1510.23, 1591.0]) - 0.01).abs() < 1e-9);
        assert!((of(&[1_510.123_456_789, 1591.0]) - 1e-5).abs() < 1e-12);
    }
}
