//! Bootstrap over runs and repetitions.
//!
//! What is drawn is a *unit*: all samples of one repetition of a run, of every cell. Neighbours in
//! time stay together that way, and what disturbs all cells of a repetition alike disturbs them in
//! the replicates as well. Where repetitions of a run depend on each other, or runs differ, the
//! unit is the run, or a block of repetitions if there are few runs. Source: Künsch, "The jackknife
//! and the bootstrap for general stationary observations", 1989; Davison and Hinkley, "Bootstrap
//! methods and their application", 1997, section 3.8 (nested samples).

use std::collections::BTreeMap;

use kernel::Random;

use crate::{
    cells::Cell,
    samples::Sample,
    statistics::{mean, student},
};

/// The purpose of the random numbers that draw units, and of those that shake medians.
const DRAW: u32 = 1;
const SHAKE: u32 = 2;

/// Runs are units only if there are so many of them.
const RUNS: usize = 6;

/// The units of a set of samples.
#[derive(Clone, Debug)]
pub struct Units {
    /// The unit of each sample.
    of: Vec<u32>,
    /// The number of units.
    pub count: usize,
}

/// Deviations of samples from their cells' medians, in units of the cells' noise, cut at three.
pub fn residuals(cells: &[Cell], samples: usize) -> Vec<f64> {
    let mut residuals = vec![0.0; samples];
    for cell in cells {
        let (middle, scale) = (cell.median(), cell.scale());
        for &(time, place) in cell.times.iter().filter(|_| scale > 0.0) {
            residuals[place] = ((time - middle) / scale).clamp(-3.0, 3.0);
        }
    }
    residuals
}

impl Units {
    /// Finds the units of samples.
    pub fn new(samples: &[Sample], cells: &[Cell]) -> Self {
        let residuals = residuals(cells, samples.len());
        let mut order: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
        for sample in samples {
            order.entry(sample.run).or_default().insert(sample.repetition, 0);
        }
        for repetitions in order.values_mut() {
            repetitions.values_mut().enumerate().for_each(|(place, slot)| *slot = place);
        }
        let longest = order.values().map(BTreeMap::len).max().unwrap_or(1);
        let correlated = longest > 1 && depends(samples, cells, &residuals);
        let block = if !correlated {
            1
        } else if order.len() >= RUNS {
            longest
        } else {
            longest.isqrt().max(2)
        };
        let mut numbers: BTreeMap<(u32, usize), u32> = BTreeMap::new();
        let unit = |sample: &Sample| {
            let place = order[&sample.run][&sample.repetition] / block;
            let next = numbers.len() as u32;
            *numbers.entry((sample.run, place)).or_insert(next)
        };
        let of = samples.iter().map(unit).collect();
        Self { of, count: numbers.len() }
    }

    /// Returns by how much a bootstrap interval has to be wider because units are few: bootstrap
    /// variances are too small by (n-1)/n, and their own uncertainty is Student's.
    pub fn widening(&self) -> f64 {
        let units = self.count.max(2) as f64;
        student(self.count.saturating_sub(1)) / 1.96 * (units / (units - 1.0)).sqrt()
    }

    /// Returns the medians of all cells in replicate `number`, each shaken by less than half a
    /// `step` of the clock. Replicates of sets of samples with other numbers are independent.
    pub fn replicate(&self, cells: &[Cell], set: u32, number: u32, step: f64) -> Vec<f64> {
        let seed = u64::from(set) << 32 | u64::from(number);
        let draw = Random::new(seed, DRAW);
        let shake = Random::new(seed, SHAKE);
        let mut times = vec![0_u32; self.count];
        for index in 0..self.count as u64 {
            times[draw.below(0, index, self.count as u64) as usize] += 1;
        }
        let median = |(index, cell): (usize, &Cell)| {
            let drawn = self.weighted_median(cell, &times).unwrap_or_else(|| cell.median());
            drawn + (shake.unit(0, index as u64) - 0.5) * step
        };
        cells.iter().enumerate().map(median).collect()
    }

    /// The median of a cell whose samples count as often as their units were drawn; nothing if none
    /// of them were.
    fn weighted_median(&self, cell: &Cell, drawn: &[u32]) -> Option<f64> {
        let weight = |place: usize| u64::from(drawn[self.of[place] as usize]);
        let total: u64 = cell.times.iter().map(|&(_, place)| weight(place)).sum();
        let (mut before, mut lower) = (0, None);
        for &(time, place) in &cell.times {
            before += weight(place);
            if let Some(lower) = lower.filter(|_| weight(place) > 0) {
                return Some(f64::midpoint(lower, time));
            }
            if before * 2 > total {
                return Some(time);
            }
            if before * 2 == total && total > 0 {
                lower = lower.or(Some(time));
            }
        }
        None
    }
}

/// Returns whether repetitions of a run resemble each other more than those of different runs, or
/// neighbours more than others.
fn depends(samples: &[Sample], cells: &[Cell], residuals: &[f64]) -> bool {
    let mut alone = Variation::default();
    for cell in cells {
        alone.add_group(cell.times.iter().map(|&(_, place)| {
            let sample = &samples[place];
            (sample.run, sample.repetition, residuals[place])
        }));
    }
    // Means over all cells show what disturbs them alike.
    let mut sums: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for (sample, residual) in samples.iter().zip(residuals) {
        sums.entry((sample.run, sample.repetition)).or_default().push(*residual);
    }
    let mut together = Variation::default();
    together.add_group(sums.iter().map(|(&(run, repetition), all)| (run, repetition, mean(all))));
    alone.depends() || together.depends()
}

/// Sums over groups of residuals, of which each is compared with those of its own run.
#[derive(Default)]
struct Variation {
    between: f64,
    between_degrees: f64,
    within: f64,
    within_degrees: f64,
    neighbours: f64,
    pairs: f64,
}

impl Variation {
    /// Adds residuals, each with its run and its repetition.
    fn add_group(&mut self, residuals: impl Iterator<Item = (u32, u32, f64)>) {
        let mut runs: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        for (run, repetition, residual) in residuals {
            runs.entry(run).or_default().push((repetition, residual));
        }
        let all: Vec<f64> = runs.values().flatten().map(|(_, residual)| *residual).collect();
        let middle = mean(&all);
        for run in runs.values_mut() {
            run.sort_by_key(|(repetition, _)| *repetition);
            let values: Vec<f64> = run.iter().map(|(_, residual)| *residual).collect();
            let own = mean(&values);
            self.between += values.len() as f64 * (own - middle).powi(2);
            self.within += values.iter().map(|value| (value - own).powi(2)).sum::<f64>();
            self.within_degrees += values.len() as f64 - 1.0;
            let products = values.windows(2).map(|pair| (pair[0] - middle) * (pair[1] - middle));
            self.neighbours += products.sum::<f64>();
            self.pairs += values.len() as f64 - 1.0;
        }
        self.between_degrees += runs.len() as f64 - 1.0;
    }

    /// Judges by the ratio of variances between and within runs, and by the correlation of
    /// neighbours: both about three deviations from what independence gives.
    fn depends(&self) -> bool {
        let spread = self.within / self.within_degrees;
        if self.within_degrees < 4.0 || spread <= 0.0 {
            return false;
        }
        let ratio = self.between / self.between_degrees.max(1.0) / spread;
        let usual = (2.0 / self.between_degrees.max(1.0) + 2.0 / self.within_degrees).sqrt();
        let total = (self.between + self.within) / (self.between_degrees + self.within_degrees);
        let correlation = self.neighbours / self.pairs / total;
        (self.between_degrees >= 1.0 && ratio > 1.0 + 3.5 * usual)
            || correlation * self.pairs.sqrt() > 3.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cells::cells, samples::Operation};

    fn sample(run: u32, repetition: u32, time: f64) -> Sample {
        Sample { run, ..Sample::simple(Operation::Send, 1, repetition, time) }
    }

    /// Noise that is a function of run and repetition without any pattern.
    fn noise(run: u32, repetition: u32) -> f64 {
        Random::new(7, 7).unit(run, u64::from(repetition))
    }

    #[test]
    fn independent_repetitions_are_units() {
        let samples: Vec<_> =
            (0..80).map(|i| sample(i / 10, i % 10, 100.0 + noise(i / 10, i % 10))).collect();
        let units = Units::new(&samples, &cells(&samples));
        assert_eq!(units.count, 80);
    }

    #[test]
    fn runs_that_differ_are_units() {
        let time = |i: u32| 100.0 + f64::from(i / 10 % 3) * 5.0 + noise(i / 10, i % 10);
        let samples: Vec<_> = (0..80).map(|i| sample(i / 10, i % 10, time(i))).collect();
        let units = Units::new(&samples, &cells(&samples));
        assert_eq!(units.count, 8);
        // Student's 2.365 of 7 degrees over 1.96, times the root of 8/7.
        assert!((units.widening() - 1.29).abs() < 0.01);
    }

    /// Of units 0, 1, 2 with the times 1, 2, 4: drawn twice, never and once, the median is 1;
    /// drawn once, once and never, it is between 1 and 2.
    #[test]
    fn medians_of_what_is_drawn() {
        let samples: Vec<_> = [1, 2, 4].map(|time| sample(0, time, f64::from(time))).to_vec();
        let cells = cells(&samples);
        let units = Units::new(&samples, &cells);
        let median = |drawn: &[u32]| units.weighted_median(&cells[0], drawn);
        assert_eq!(median(&[2, 0, 1]), Some(1.0));
        assert_eq!(median(&[1, 1, 0]), Some(1.5));
        assert_eq!(median(&[1, 0, 1]), Some(2.5));
        assert_eq!(median(&[0, 0, 0]), None);
    }
}
