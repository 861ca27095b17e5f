//! The parametrised round trip of LogGP, as a problem of least squares.
//!
//! PRTT(1, 0, s) = 2 (A + B (s-1)), where A = `o_s` + L + `o_r`, and B is what a byte costs on its
//! whole way. Each further message adds max(`o_s` + O (s-1) + d, g + G (s-1)). A cell of several
//! messages lies on one of the two branches of the maximum; once it is known on which, all
//! equations are linear, and the place where d = 0 changes its branch is found by trying all.
//!
//! If messages beyond a size are of several packets, A, B, o and O are of messages of one packet,
//! which have a gap g + G (s-1) of their own. Of larger ones only further messages count, as the
//! difference of a train to a single round trip: the time of one includes what both hosts take for
//! a second packet, which trains overlap.
//!
//! Not modelled: a receiver that is slower than both, whose line then is taken for that of the gap;
//! messages above the eager limit. Source: Bierbaum's PRTT in chapter 3.2.2 of "Analysis and
//! optimization of the packet scheduler in Open MPI" (equation 3.2.2.3), with O after LogGOPS.

use std::ops::RangeInclusive;

use crate::statistics::LeastSquares;

/// The number of unknowns.
pub const UNKNOWNS: usize = 8;
/// The unknowns: A, B, o, O, g, G, and g and G of messages of one packet where there are others.
pub type Unknowns = [f64; UNKNOWNS];

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
    /// True if larger messages are of several packets, and this one of one.
    pub is_packet: bool,
    /// The cell of a single round trip whose time is taken off.
    pub single: Option<usize>,
}

/// A solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// The unknowns; those that the rows do not determine are 0.
    pub unknowns: Unknowns,
    /// True for each that the rows determine.
    pub known: [bool; UNKNOWNS],
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
    /// The number of those that are of one packet, if others are of several; or else 0.
    pub packets: usize,
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
        let mut equation = [0.0; UNKNOWNS];
        if self.single.is_none() {
            [equation[0], equation[1]] = [2.0, 2.0 * x];
        }
        let place = self.branch(flat);
        [equation[place], equation[place + 1]] = [n, n * x];
        equation
    }

    /// Returns the place of the unknowns of the row's branch.
    fn branch(&self, flat: usize) -> usize {
        match (self.is_flat(flat), self.is_packet) {
            (true, _) => 2,
            (false, false) => 4,
            (false, true) => 6,
        }
    }

    /// Returns what the unknowns have to explain.
    fn rest(&self, times: &[f64]) -> f64 {
        let single = self.single.map_or(0.0, |single| times[single]);
        times[self.cell] - single - self.further * self.delay
    }
}

impl Problem {
    /// Returns the best solution for the times of all cells, where the number of sizes on the
    /// branch of o is in `flat`.
    pub fn solve(&self, times: &[f64], flat: RangeInclusive<usize>) -> Option<Solution> {
        let price = PRICE * (self.rows.len().max(2) as f64).ln();
        let cost = |solution: &Solution| {
            let branches = [5, 7].iter().filter(|&&place| solution.known[place]).count();
            solution.squares + branches as f64 * price
        };
        let last = (*flat.end()).min(self.steps);
        (*flat.start()..=last)
            .filter(|flat| !self.has_lonely(*flat))
            .filter_map(|flat| self.with_flat(times, flat))
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// Returns whether a branch of the gap has a single size, which would be fitted whatever it is.
    fn has_lonely(&self, flat: usize) -> bool {
        let packets = self.packets;
        flat + 1 == self.steps || flat + 1 == packets
    }

    fn with_flat(&self, times: &[f64], flat: usize) -> Option<Solution> {
        let known = self.known(flat);
        let mut problem = LeastSquares::default();
        for row in &self.rows {
            problem.add(&row.equation(flat), row.rest(times), row.weight);
        }
        let unknowns = problem.solve(known)?;
        // The gap overtakes the overhead with growing sizes, or never.
        if known[5] && known[3] && unknowns[5] <= unknowns[3] {
            return None;
        }
        let residual = |row: &Row| {
            let equation = row.equation(flat);
            let predicted: f64 = equation.iter().zip(&unknowns).map(|(a, b)| a * b).sum();
            row.rest(times) - predicted
        };
        let squares = self.rows.iter().map(|row| row.weight * residual(row).powi(2)).sum();
        Some(Solution { unknowns, known, flat, squares })
    }

    /// Returns the unknowns that the rows determine if `flat` sizes are on the branch of o.
    fn known(&self, flat: usize) -> [bool; UNKNOWNS] {
        let sizes = |of: &dyn Fn(&Row) -> bool| {
            let mut sizes: Vec<f64> =
                self.rows.iter().filter(|row| of(row)).map(|row| row.bytes).collect();
            sizes.sort_by(f64::total_cmp);
            sizes.dedup();
            sizes.len()
        };
        let all = sizes(&|row| row.single.is_none());
        let several = |row: &Row| row.further > 0.0;
        let over = sizes(&|row| several(row) && row.is_flat(flat));
        let delayed = sizes(&Row::is_delayed);
        let [sloped, packets] =
            [4, 6].map(|place| sizes(&|row| several(row) && row.branch(flat) == place));
        // Without a delay, a line that rises is that of the gap.
        let rises = over > 1 && delayed > 0;
        let [sloped, packets] = [sloped > 1, packets > 1];
        [true, all > 1, over > 0, rises, sloped, sloped, packets, packets]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of six sizes with n = 1 and 16, and a delay at three sizes, for A 5000, B 0.5, o 900,
    /// O 0.01, g 600, G 0.4: the gap overtakes at s - 1 = 300 / 0.39 = 769.
    fn problem() -> (Problem, Vec<f64>) {
        let sizes = [0.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0];
        let mut problem = Problem { rows: Vec::new(), steps: sizes.len(), packets: 0 };
        let mut times = Vec::new();
        for (step, bytes) in sizes.into_iter().enumerate() {
            for (further, delay) in [(0.0, 0.0), (15.0, 0.0), (15.0, 20_000.0)] {
                let cell = times.len();
                let over = f64::max(900.0 + 0.01 * bytes + delay, 600.0 + 0.4 * bytes);
                times.push(2.0 * (5000.0 + 0.5 * bytes) + further * over);
                problem.rows.push(Row {
                    cell,
                    further,
                    delay,
                    bytes,
                    step,
                    weight: 1.0,
                    is_packet: false,
                    single: None,
                });
            }
        }
        (problem, times)
    }

    /// The unknowns that rows of one kind of packets determine.
    const KNOWN: [bool; UNKNOWNS] = [true, true, true, true, true, true, false, false];

    #[test]
    fn the_equations_give_their_parameters_back() {
        let (problem, times) = problem();
        let solution = problem.solve(&times, 0..=6).expect("a solution");
        assert_eq!((solution.flat, solution.known), (2, KNOWN));
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
        let small = Problem { rows, steps: 2, packets: 0 };
        let solution = small.solve(&times, 0..=2).expect("a solution");
        assert_eq!(solution.known, [true, true, true, true, false, false, false, false]);
        assert!((solution.unknowns[3] - 0.01).abs() < 1e-9);
    }
}
