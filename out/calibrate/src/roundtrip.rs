//! The parametrised round trip of LogGP, as a problem of least squares.
//!
//! PRTT(1, 0, s) = 2 (A + B (s-1)), where A = `o_s` + L + `o_r`, and B is what a byte costs on its
//! whole way. Each further message adds max(`o_s` + O (s-1) + d, g + G (s-1)). A cell of several
//! messages lies on one of the two branches of the maximum; once it is known on which, all
//! equations are linear, and the place where d = 0 changes its branch is found by trying all.
//!
//! Not modelled: a receiver that is slower than both, whose line then is taken for that of the gap;
//! messages above the eager limit. Source: Bierbaum's PRTT in chapter 3.2.2 of "Analysis and
//! optimization of the packet scheduler in Open MPI" (equation 3.2.2.3), with O after LogGOPS.

use std::ops::RangeInclusive;

use crate::statistics::LeastSquares;

/// The unknowns: A, B, o, O, g, G.
pub type Unknowns = [f64; 6];

/// A cell of round trips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The cell's place among all cells.
    pub cell: usize,
    /// n - 1.
    pub further: f64,
    /// d, in nanoseconds.
    pub delay: f64,
    /// s - 1, in bytes.
    pub bytes: f64,
    /// The rank of the size among those of rows with several messages and without a delay. Rows
    /// with a delay are on the branch of o.
    pub step: usize,
    /// The weight of the cell's time.
    pub weight: f64,
}

/// A solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// The unknowns; those that the rows do not determine are 0.
    pub unknowns: Unknowns,
    /// True for each that the rows determine.
    pub known: [bool; 6],
    /// So many of the smallest sizes are on the branch of o where there is no delay.
    pub flat: usize,
    /// The weighted sum of squared residuals.
    pub squares: f64,
}

/// The rows of a problem, and the number of steps of their sizes.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The rows.
    pub rows: Vec<Row>,
    /// The number of sizes of rows with several messages and without a delay.
    pub steps: usize,
}

/// The price of the branch of the gap, which has two more unknowns and a place.
const PRICE: f64 = 3.0;

impl Row {
    fn is_delayed(&self) -> bool {
        self.delay > 0.0
    }

    /// Returns whether the row is on the branch of o, if `flat` sizes without a delay are.
    fn is_flat(&self, flat: usize) -> bool {
        self.is_delayed() || self.step < flat
    }

    fn equation(&self, flat: usize) -> Unknowns {
        let (n, x) = (self.further, self.bytes);
        if self.is_flat(flat) {
            [2.0, 2.0 * x, n, n * x, 0.0, 0.0]
        } else {
            [2.0, 2.0 * x, 0.0, 0.0, n, n * x]
        }
    }
}

impl Problem {
    /// Returns the best solution for the times of all cells, where the number of sizes on the
    /// branch of o is in `flat`.
    pub fn solve(&self, times: &[f64], flat: RangeInclusive<usize>) -> Option<Solution> {
        let price = PRICE * (self.rows.len().max(2) as f64).ln();
        let cost =
            |solution: &Solution| solution.squares + if solution.known[5] { price } else { 0.0 };
        let last = (*flat.end()).min(self.steps);
        (*flat.start()..=last)
            // A single size on the branch of the gap would be fitted whatever it is.
            .filter(|flat| flat + 1 != self.steps)
            .filter_map(|flat| self.with_flat(times, flat))
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    fn with_flat(&self, times: &[f64], flat: usize) -> Option<Solution> {
        let known = self.known(flat);
        let mut problem = LeastSquares::default();
        for row in &self.rows {
            let rest = times[row.cell] - row.further * row.delay;
            problem.add(&row.equation(flat), rest, row.weight);
        }
        let unknowns = problem.solve(known)?;
        // The gap overtakes the overhead with growing sizes, or never.
        if known[5] && known[3] && unknowns[5] <= unknowns[3] {
            return None;
        }
        let residual = |row: &Row| {
            let equation = row.equation(flat);
            let predicted: f64 = equation.iter().zip(&unknowns).map(|(a, b)| a * b).sum();
            times[row.cell] - row.further * row.delay - predicted
        };
        let squares = self.rows.iter().map(|row| row.weight * residual(row).powi(2)).sum();
        Some(Solution { unknowns, known, flat, squares })
    }

    /// Returns the unknowns that the rows determine if `flat` sizes are on the branch of o.
    fn known(&self, flat: usize) -> [bool; 6] {
        let sizes = |of: &dyn Fn(&Row) -> bool| {
            let mut sizes: Vec<f64> =
                self.rows.iter().filter(|row| of(row)).map(|row| row.bytes).collect();
            sizes.sort_by(f64::total_cmp);
            sizes.dedup();
            sizes.len()
        };
        let all = sizes(&|_| true);
        let several = |row: &Row| row.further > 0.0;
        let over = sizes(&|row| several(row) && row.is_flat(flat));
        let delayed = sizes(&Row::is_delayed);
        let sloped = sizes(&|row| several(row) && !row.is_flat(flat));
        // Without a delay, a line that rises is that of the gap.
        let rises = over > 1 && delayed > 0;
        [true, all > 1, over > 0, rises, sloped > 1, sloped > 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of six sizes with n = 1 and 16, and a delay at three sizes, for A 5000, B 0.5, o 900,
    /// O 0.01, g 600, G 0.4: the gap overtakes at s - 1 = 300 / 0.39 = 769.
    fn problem() -> (Problem, Vec<f64>) {
        let sizes = [0.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0];
        let mut problem = Problem { rows: Vec::new(), steps: sizes.len() };
        let mut times = Vec::new();
        for (step, bytes) in sizes.into_iter().enumerate() {
            for (further, delay) in [(0.0, 0.0), (15.0, 0.0), (15.0, 20_000.0)] {
                let cell = times.len();
                let over = f64::max(900.0 + 0.01 * bytes + delay, 600.0 + 0.4 * bytes);
                times.push(2.0 * (5000.0 + 0.5 * bytes) + further * over);
                problem.rows.push(Row { cell, further, delay, bytes, step, weight: 1.0 });
            }
        }
        (problem, times)
    }

    #[test]
    fn the_equations_give_their_parameters_back() {
        let (problem, times) = problem();
        let solution = problem.solve(&times, 0..=6).expect("a solution");
        assert_eq!((solution.flat, solution.known), (2, [true; 6]));
        let expected = [5000.0, 0.5, 900.0, 0.01, 600.0, 0.4];
        for (found, expected) in solution.unknowns.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        }
        assert!(solution.squares < 1e-6);
    }

    /// Without rows beyond 500 bytes, nothing is on the branch of the gap.
    #[test]
    fn what_does_not_show_is_not_known() {
        let (problem, times) = problem();
        let rows = problem.rows.into_iter().filter(|row| row.bytes < 1000.0).collect();
        let small = Problem { rows, steps: 2 };
        let solution = small.solve(&times, 0..=2).expect("a solution");
        assert_eq!(solution.known, [true, true, true, true, false, false]);
        assert!((solution.unknowns[3] - 0.01).abs() < 1e-9);
    }
}
