//! The noise of cells' medians: replicates of all medians, and a deviation for each cell.

use crate::{
    cells::Cell,
    resample::Units,
    samples::Operation,
    statistics::{LeastSquares, deviation, scale},
};

/// Medians of all cells, as measured and in replicates.
#[derive(Clone, Debug)]
pub struct Medians {
    /// The medians, by cell.
    pub measured: Vec<f64>,
    /// The medians in each replicate, by cell.
    pub replicates: Vec<Vec<f64>>,
    /// The standard deviation of each median.
    pub deviations: Vec<f64>,
    /// True if cells have too few samples to show their noise, which is taken from how they scatter
    /// about lines.
    pub single: bool,
}

/// The least deviation, as a share of the time: what a floating-point number keeps.
const LEAST_SHARE: f64 = 1e-9;

/// A cell with so many samples shows its noise itself.
const FEW: usize = 3;

impl Medians {
    /// Draws `count` replicates of the set of samples with the number `set`; `step` is that of the
    /// clock, in nanoseconds.
    pub fn new(cells: &[Cell], units: &Units, set: u32, count: u32, step: f64) -> Self {
        let measured: Vec<f64> = cells.iter().map(Cell::median).collect();
        let mut replicates: Vec<Vec<f64>> =
            (0..count).map(|number| units.replicate(cells, set, number, step)).collect();
        let single = cells.iter().all(|cell| cell.times.len() < FEW);
        if single {
            // Single values show no noise but that they scatter about lines.
            let shares = scatter(cells, &measured);
            let random = kernel::Random::new(u64::from(set) << 32 | u64::from(count), 3);
            for (number, replicate) in replicates.iter_mut().enumerate() {
                for (place, time) in replicate.iter_mut().enumerate() {
                    let [one, other] =
                        [0, 1].map(|half| random.unit(number as u32, place as u64 * 2 + half));
                    let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos();
                    *time += normal * shares * measured[place];
                }
            }
        }
        let column_deviation = |place: usize| {
            let column: Vec<f64> = replicates.iter().map(|medians| medians[place]).collect();
            deviation(&column)
        };
        let raw: Vec<f64> = (0..cells.len()).map(column_deviation).collect();
        let deviations = smooth(cells, &measured, &raw, step);
        Self { measured, replicates, deviations, single }
    }
}

/// Smooths the deviations of medians, which few samples leave uncertain: that of one sample is a
/// power of the time, the same for all cells of a kind of operation.
fn smooth(cells: &[Cell], measured: &[f64], raw: &[f64], step: f64) -> Vec<f64> {
    let is_trip = |cell: &Cell| cell.key.operation == Operation::RoundTrip;
    let power = |trips: bool| {
        let mut problem = LeastSquares::<2>::default();
        let mut count = 0;
        for ((cell, time), raw) in cells.iter().zip(measured).zip(raw) {
            if is_trip(cell) == trips && *raw > 0.0 && *time > 0.0 {
                let single = raw * (cell.times.len() as f64).sqrt();
                problem.add(&[1.0, time.ln()], single.ln(), 1.0);
                count += 1;
            }
        }
        let [level, exponent] = problem.solve([true; 2]).filter(|_| count > 3)?;
        if (0.0..=1.5).contains(&exponent) {
            return Some((level, exponent));
        }
        // Noise that falls with the time is taken for constant.
        problem.solve([true, false]).map(|[level, _]| (level, 0.0))
    };
    let powers = [power(false), power(true)];
    let each = |((cell, time), raw): ((&Cell, &f64), &f64)| {
        let smooth = powers[usize::from(is_trip(cell))].map(|(level, exponent)| {
            (level + exponent * time.ln()).exp() / (cell.times.len() as f64).sqrt()
        });
        smooth.unwrap_or(*raw).max(0.3 * step).max(LEAST_SHARE * time)
    };
    cells.iter().zip(measured).zip(raw).map(each).collect()
}

/// Returns the scatter of single values about the lines between their neighbours, as a share.
fn scatter(cells: &[Cell], measured: &[f64]) -> f64 {
    let places: Vec<usize> = (0..cells.len()).collect();
    let shares: Vec<f64> = places
        .windows(3)
        .filter_map(|three| {
            let [a, b, c] = [three[0], three[1], three[2]].map(|place| &cells[place].key);
            let kind = |key: &crate::cells::Key| {
                (key.operation.clone(), key.messages, key.delay.to_bits())
            };
            if kind(a) != kind(b) || kind(b) != kind(c) {
                return None;
            }
            let part = (b.bytes - a.bytes) as f64 / (c.bytes - a.bytes) as f64;
            let [first, middle, last] = [three[0], three[1], three[2]].map(|place| measured[place]);
            let between = first + (last - first) * part;
            // The middle and the line between its neighbours both scatter.
            let sum = (1.0 + part * part + (1.0 - part) * (1.0 - part)).sqrt();
            Some((middle - between) / middle / sum)
        })
        .collect();
    if shares.is_empty() { 0.0 } else { scale(&shares) }
}
