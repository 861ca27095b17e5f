//! Batch means, confidence intervals, percentiles.
//!
//! Sources: Law, "Simulation Modeling and Analysis", chapter 9 (batch means, warm-up); Student's t
//! from the Cornish-Fisher expansion in Abramowitz and Stegun, formula 26.7.5.

use serde::{Deserialize, Serialize};

/// A mean and half the width of its confidence interval of 95 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width; infinite if there are fewer than two independent values.
    pub half_width: f64,
}

impl Estimate {
    /// Half the width as a part of the mean.
    pub fn relative(self) -> f64 {
        if self.mean == 0.0 { f64::INFINITY } else { (self.half_width / self.mean).abs() }
    }

    /// Returns the estimate from the means of consecutive batches: neighbours are joined until
    /// their correlation is below 0.3 or fewer than 16 are left, so that the rest can count as
    /// independent.
    pub fn from_batches(batches: &[f64]) -> Self {
        let mut batches = batches.to_vec();
        while batches.len() >= 16 && correlation(&batches) > 0.3 {
            // Of an odd number the first, which is nearest to the warm-up, is left out.
            let odd = batches.len() % 2;
            batches = batches[odd..].chunks(2).map(mean).collect();
        }
        let (mean, variance) = (mean(&batches), variance(&batches));
        let half_width = match batches.len() {
            0 | 1 => f64::INFINITY,
            count => student(count as u32 - 1) * (variance / count as f64).sqrt(),
        };
        Self { mean, half_width }
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The sample variance.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / values.len().saturating_sub(1).max(1) as f64
}

/// The correlation of neighbours; 0 if all values are equal.
fn correlation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let all: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let near: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if all == 0.0 { 0.0 } else { near / all }
}

/// Returns Student's t at 97.5 % for a number of degrees of freedom, within 0.003.
pub fn student(freedom: u32) -> f64 {
    const FEW: [f64; 6] = [f64::INFINITY, 12.706, 4.303, 3.182, 2.776, 2.571];
    FEW.get(freedom as usize).copied().unwrap_or_else(|| expansion(1.959_964, freedom))
}

/// Returns Student's t at 99 % for a number of degrees of freedom, within 0.005.
pub(crate) fn student_99(freedom: u32) -> f64 {
    const FEW: [f64; 7] = [f64::INFINITY, 31.821, 6.965, 4.541, 3.747, 3.365, 3.143];
    FEW.get(freedom as usize).copied().unwrap_or_else(|| expansion(2.326_348, freedom))
}

/// Returns the quantile of Student's distribution whose normal quantile is `z`.
fn expansion(z: f64, freedom: u32) -> f64 {
    let n = f64::from(freedom);
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    z + terms[0] / n + terms[1] / (n * n) + terms[2] / (n * n * n)
}

/// Counts of times by size, 32 classes per power of two: a percentile is exact to 1/32 and rounded
/// up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    counts: Vec<u64>,
    all: u64,
    least: u64,
    most: u64,
}

/// Classes per power of two, as a power of two.
const FINE: u32 = 5;

impl Histogram {
    fn class(value: u64) -> usize {
        let power = value.max(1).ilog2();
        if power < FINE {
            return value as usize;
        }
        let shift = power - FINE;
        // The classes of this power begin where those of the one below end.
        ((shift as usize) << FINE) + (value >> shift) as usize
    }

    /// The largest value of a class.
    fn top(class: usize) -> u64 {
        let fine = 1 << FINE;
        if class < 2 * fine {
            return class as u64;
        }
        let shift = class / fine - 1;
        (((class - shift * fine) as u64 + 1) << shift) - 1
    }

    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let class = Self::class(value);
        if class >= self.counts.len() {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.least = if self.all == 0 { value } else { self.least.min(value) };
        self.most = self.most.max(value);
        self.all += 1;
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        if other.all == 0 {
            return;
        }
        let length = self.counts.len().max(other.counts.len());
        self.counts.resize(length, 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.least = if self.all == 0 { other.least } else { self.least.min(other.least) };
        self.most = self.most.max(other.most);
        self.all += other.all;
    }

    /// The number of values.
    pub const fn count(&self) -> u64 {
        self.all
    }

    /// The smallest and the largest; 0 if there are none.
    pub const fn extremes(&self) -> (u64, u64) {
        (self.least, self.most)
    }

    /// The value that a share of all does not exceed.
    pub fn percentile(&self, share: f64) -> u64 {
        #[allow(clippy::cast_sign_loss, reason = "a share of a count")]
        let wanted = (share * self.all as f64).ceil() as u64;
        let mut below = 0;
        for (class, &count) in self.counts.iter().enumerate() {
            below += count;
            if below >= wanted && below > 0 {
                return Self::top(class).clamp(self.least, self.most);
            }
        }
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of Student's distribution, 97.5 %: 2.571, 2.228, 2.086, 2.042, 1.984 for 5, 10, 20,
    /// 30, 100.
    #[test]
    fn t_of_the_tables() {
        let table = [(1, 12.706), (4, 2.776), (5, 2.571), (10, 2.228), (20, 2.086), (30, 2.042)];
        for (freedom, t) in table.into_iter().chain([(100, 1.984)]) {
            assert!((student(freedom) - t).abs() < 0.003, "{freedom}: {}", student(freedom));
        }
    }

    /// Tables of Student's distribution, 99 %: 2.998, 2.896, 2.821, 2.528, 2.364 for 7, 8, 9, 20,
    /// 100.
    #[test]
    fn t_of_the_tables_at_99() {
        let table = [(1, 31.821), (7, 2.998), (8, 2.896), (9, 2.821), (20, 2.528), (100, 2.364)];
        for (freedom, t) in table {
            assert!((student_99(freedom) - t).abs() < 0.005, "{freedom}: {}", student_99(freedom));
        }
    }

    /// 1, 2, 3: mean 2, variance 1; t of 2 degrees is 4.303; 4.303 / sqrt(3) = 2.484.
    #[test]
    fn interval_of_three() {
        let estimate = Estimate::from_batches(&[1.0, 2.0, 3.0]);
        assert!((estimate.mean - 2.0).abs() < 1e-12);
        assert!((estimate.half_width - 2.4843).abs() < 1e-3, "{estimate:?}");
        assert!(Estimate::from_batches(&[1.0]).half_width.is_infinite());
    }

    /// Sixteen values that rise by 1 have a correlation of neighbours above 0.3; joined in pairs
    /// they are 0.5, 2.5, … 14.5, eight values of variance 24: 2.365 * sqrt(24 / 8) = 4.096.
    #[test]
    fn neighbours_are_joined() {
        let rising: Vec<f64> = (0..16).map(f64::from).collect();
        let estimate = Estimate::from_batches(&rising);
        assert!((estimate.mean - 7.5).abs() < 1e-12);
        assert!((estimate.half_width - 4.096).abs() < 0.01, "{estimate:?}");
    }

    /// Values 1 to 1000: the median is 500, in the class of 496 to 503 (512 > 500 >= 256: steps of
    /// 8), the 99th percentile 990, in the class 976 to 991 (steps of 16).
    #[test]
    fn percentiles() {
        let (mut odd, mut even) = (Histogram::default(), Histogram::default());
        for value in 1..=1000 {
            if value % 2 == 0 { even.add(value) } else { odd.add(value) }
        }
        odd.merge(&even);
        assert_eq!((odd.count(), odd.extremes()), (1000, (1, 1000)));
        assert_eq!((odd.percentile(0.5), odd.percentile(0.99)), (503, 991));
        assert_eq!((odd.percentile(0.0), odd.percentile(1.0)), (1, 1000));
        // Every value lies in a class that ends less than 1/32 above it.
        for value in [1_u64, 31, 32, 33, 63, 64, 1 << 40, u64::MAX >> 1] {
            let top = Histogram::top(Histogram::class(value));
            assert!(top >= value && top - value <= value / 32, "{value} {top}");
        }
    }
}
