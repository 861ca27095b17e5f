//! Small statistics: medians, scales, quantiles, least squares.

/// Ratio of the standard deviation of a normal distribution to its median absolute deviation.
const NORMAL: f64 = 1.4826;

/// Returns the median; NaN if there are no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// Returns a quantile of sorted values, linear between neighbours; NaN if there are none.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = part.clamp(0.0, 1.0) * last as f64;
    #[allow(clippy::cast_sign_loss, reason = "places are positive")]
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// Returns the standard deviation that a normal distribution with the same median absolute
/// deviation has.
pub fn scale(values: &[f64]) -> f64 {
    let middle = median(values);
    let away: Vec<_> = values.iter().map(|value| (value - middle).abs()).collect();
    NORMAL * median(&away)
}

/// Returns the mean; NaN if there are no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the standard deviation of a sample; 0 if there are fewer than two values.
pub fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    if values.len() < 2 { 0.0 } else { (squares / (values.len() - 1) as f64).sqrt() }
}

/// Returns the quantile of 97.5 % of Student's distribution with so many degrees of freedom.
pub fn student(degrees: usize) -> f64 {
    const FEW: [f64; 7] = [12.706, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447];
    FEW.get(degrees).copied().unwrap_or_else(|| expanded(1.959_964, degrees))
}

/// Returns the quantile of 99.5 % of Student's distribution.
pub fn student_one_percent(degrees: usize) -> f64 {
    const FEW: [f64; 7] = [63.657, 63.657, 9.925, 5.841, 4.604, 4.032, 3.707];
    FEW.get(degrees).copied().unwrap_or_else(|| expanded(2.575_829, degrees))
}

/// The expansion of Cornish and Fisher of Student's quantiles about the normal one, `z`; within
/// 2 % from 7 degrees of freedom on.
fn expanded(z: f64, degrees: usize) -> f64 {
    let n = degrees as f64;
    let (z3, z5) = (z.powi(3), z.powi(5));
    z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
}

/// A weighted least-squares problem of few unknowns, as its normal equations.
#[derive(Clone, Debug)]
pub struct LeastSquares<const N: usize> {
    matrix: [[f64; N]; N],
    right: [f64; N],
}

impl<const N: usize> Default for LeastSquares<N> {
    fn default() -> Self {
        Self { matrix: [[0.0; N]; N], right: [0.0; N] }
    }
}

impl<const N: usize> LeastSquares<N> {
    /// Adds an equation: the sum of `row` times the unknowns is `value`.
    pub fn add(&mut self, row: &[f64; N], value: f64, weight: f64) {
        for (i, &a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            self.right[i] += weight * a * value;
            for (cell, &b) in self.matrix[i].iter_mut().zip(row) {
                *cell += weight * a * b;
            }
        }
    }

    /// Returns the unknowns that are `wanted`, where the others are 0, or nothing if the equations
    /// do not determine them.
    pub fn solve(&self, wanted: [bool; N]) -> Option<[f64; N]> {
        let scales: [f64; N] = std::array::from_fn(|i| self.matrix[i][i].sqrt());
        if (0..N).any(|i| wanted[i] && scales[i] <= 0.0) {
            return None;
        }
        let mut rows: Vec<[f64; N]> = (0..N).map(|i| self.scaled(i, &scales, wanted)).collect();
        let mut right: [f64; N] =
            std::array::from_fn(|i| if wanted[i] { self.right[i] / scales[i] } else { 0.0 });
        for i in 0..N {
            // The matrix is positive definite, so its pivots need no order. The columns are of
            // length one: a pivot near zero is a column that depends on those before it.
            if rows[i][i] < 1e-9 {
                return None;
            }
            for j in i + 1..N {
                let factor = rows[j][i] / rows[i][i];
                let pivot = rows[i];
                rows[j].iter_mut().zip(&pivot).for_each(|(cell, above)| *cell -= factor * above);
                right[j] -= factor * right[i];
            }
        }
        let mut solution = [0.0; N];
        for i in (0..N).rev() {
            let known: f64 = (i + 1..N).map(|j| rows[i][j] * solution[j]).sum();
            solution[i] = (right[i] - known) / rows[i][i];
        }
        Some(std::array::from_fn(|i| if wanted[i] { solution[i] / scales[i] } else { 0.0 }))
    }

    fn scaled(&self, i: usize, scales: &[f64; N], wanted: [bool; N]) -> [f64; N] {
        std::array::from_fn(|j| {
            if wanted[i] && wanted[j] {
                self.matrix[i][j] / scales[i] / scales[j]
            } else {
                f64::from(u8::from(i == j))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0])), (2.0, 2.5));
        assert!((quantile(&[0.0, 10.0], 0.25) - 2.5).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }

    /// Student's table: 2.776 for 4, 2.365 for 7, 1.990 for 79 degrees of freedom, and so on.
    #[test]
    fn quantiles_of_student() {
        for (degrees, value) in [(1, 12.706), (2, 4.303), (4, 2.776), (7, 2.365), (79, 1.990)] {
            assert!((student(degrees) / value - 1.0).abs() < 0.01, "{degrees}");
        }
        for (degrees, value) in [(3, 5.841), (7, 3.499), (79, 2.640)] {
            assert!((student_one_percent(degrees) / value - 1.0).abs() < 0.02, "{degrees}");
        }
    }

    /// y = 3 + 2 x, weighted, and an unknown that nothing says anything about.
    #[test]
    fn least_squares_of_a_line() {
        let mut problem = LeastSquares::<3>::default();
        for (x, weight) in [(1.0, 1.0), (2.0, 5.0), (4.0, 2.0)] {
            problem.add(&[1.0, x, 0.0], 3.0 + 2.0 * x, weight);
        }
        let [a, b, c] = problem.solve([true, true, false]).expect("a line");
        assert!((a - 3.0).abs() < 1e-9 && (b - 2.0).abs() < 1e-9 && c == 0.0);
        assert_eq!(problem.solve([true; 3]), None);
    }
}
