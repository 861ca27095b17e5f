//! Piecewise linear costs: break points by an information criterion, exact over all partitions.
//!
//! Each piece is a straight line of its own; neighbours need not meet. A further piece has to lower
//! the sum of squared residuals, in units of the known noise, by more than [`PENALTY`] for each of
//! its three parameters (two of the line, one place). Source of the search: optimal partitioning,
//! Jackson et al., "An algorithm for optimal partitioning of data on an interval", 2005.

use std::ops::Range;

use crate::statistics::LeastSquares;

/// A size, a time and the standard deviation of that time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The size, in bytes.
    pub bytes: f64,
    /// The time, in nanoseconds.
    pub time: f64,
    /// Its standard deviation, in nanoseconds.
    pub deviation: f64,
}

/// A straight line over the sizes above `from`, up to `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Sizes above this one, in bytes; the first piece also has the size 0.
    pub from: u64,
    /// The greatest size, in bytes.
    pub to: u64,
    /// The time of no bytes, in nanoseconds.
    pub base: f64,
    /// The time per byte, in nanoseconds.
    pub slope: f64,
}

/// The share of [`Point::time`] below which a deviation counts for nothing: sums of squares lose
/// digits.
const LEAST_SHARE: f64 = 1e-6;

/// The price of a parameter, times the logarithm of the number of points.
const PENALTY: f64 = 1.5;

/// More points than this are thinned before break points are sought.
const MOST: usize = 1024;

/// Returns the pieces, as ranges of points, which ascend by size. A piece has at least two points.
pub fn pieces(points: &[Point]) -> Vec<Range<usize>> {
    let step = points.len().div_ceil(MOST).max(1);
    if step > 1 {
        let thin: Vec<_> = points.iter().copied().step_by(step).collect();
        let scaled = |range: Range<usize>| range.start * step..(range.end * step).min(points.len());
        return pieces(&thin).into_iter().map(scaled).collect();
    }
    let count = points.len();
    let price = 3.0 * PENALTY * (count.max(2) as f64).ln();
    // The least cost of the points before each place, and the start of the last piece there.
    let mut best = vec![(f64::INFINITY, 0); count + 1];
    best[0].0 = -price;
    for start in 0..count {
        let before = best[start].0 + price;
        let mut line = Line::default();
        for (place, point) in points.iter().enumerate().skip(start) {
            line.add(point);
            let whole = place > start || count == 1;
            if whole && before + line.cost() < best[place + 1].0 {
                best[place + 1] = (before + line.cost(), start);
            }
        }
    }
    let (mut ranges, mut end) = (Vec::new(), count);
    while end > 0 {
        let start = best[end].1;
        ranges.push(start..end);
        end = start;
    }
    ranges.reverse();
    ranges
}

/// Returns the lines of the pieces.
pub fn segments(points: &[Point], pieces: &[Range<usize>]) -> Vec<Segment> {
    let line = |(index, range): (usize, &Range<usize>)| {
        let from = if index == 0 { 0 } else { bytes(&points[range.start - 1]) };
        let (base, slope) = line(&points[range.clone()]);
        Segment { from, to: bytes(&points[range.end - 1]), base, slope }
    };
    pieces.iter().enumerate().map(line).collect()
}

/// Returns the range of places at which the pieces on both sides of a break can be parted without
/// raising the cost much: by less than the square of three deviations.
pub fn places_of_break(
    points: &[Point],
    before: &Range<usize>,
    after: &Range<usize>,
) -> Range<usize> {
    let cost = |range: Range<usize>| {
        let mut line = Line::default();
        points[range].iter().for_each(|point| line.add(point));
        line.cost()
    };
    let at = |place: usize| cost(before.start..place) + cost(place..after.end);
    let least = at(before.end);
    let near = |place: &usize| at(*place) < least + 9.0;
    let first = (before.start + 2..before.end).rev().take_while(near).last();
    let last = (before.end + 1..(after.end - 1).max(before.end + 1)).take_while(near).last();
    first.unwrap_or(before.end)..last.unwrap_or(before.end) + 1
}

/// Returns base and slope of the line through points; a line through one point is level.
pub fn line(points: &[Point]) -> (f64, f64) {
    let mut problem = LeastSquares::<2>::default();
    for point in points {
        problem.add(&[1.0, point.bytes], point.time, weight(point));
    }
    let solution = problem.solve([true; 2]).or_else(|| problem.solve([true, false]));
    solution.map_or((f64::NAN, 0.0), |[base, slope]| (base, slope))
}

#[allow(clippy::cast_sign_loss, reason = "sizes are positive")]
const fn bytes(point: &Point) -> u64 {
    point.bytes as u64
}

fn weight(point: &Point) -> f64 {
    point.deviation.max(LEAST_SHARE * point.time.abs()).max(1e-9).powi(-2)
}

/// A regression line that grows by a point at a time, about the means, so that digits are kept.
#[derive(Default)]
struct Line {
    weight: f64,
    mean: [f64; 2],
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Line {
    fn add(&mut self, point: &Point) {
        let weight = weight(point);
        self.weight += weight;
        let [dx, dy] = [point.bytes - self.mean[0], point.time - self.mean[1]];
        self.mean[0] += dx * weight / self.weight;
        self.mean[1] += dy * weight / self.weight;
        let [ex, ey] = [point.bytes - self.mean[0], point.time - self.mean[1]];
        self.xx += weight * dx * ex;
        self.xy += weight * dx * ey;
        self.yy += weight * dy * ey;
    }

    /// The weighted sum of squared residuals.
    fn cost(&self) -> f64 {
        let explained = if self.xx > 0.0 { self.xy * self.xy / self.xx } else { 0.0 };
        (self.yy - explained).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(of: impl Fn(f64) -> f64) -> Vec<Point> {
        let sizes = (0..24).map(|step| f64::from(step * 1024));
        sizes.map(|bytes| Point { bytes, time: of(bytes), deviation: 1.0 }).collect()
    }

    #[test]
    fn a_line_is_one_piece() {
        let points = points(|bytes| 500.0 + 0.25 * bytes);
        let found = pieces(&points);
        assert!(found.len() == 1 && found[0] == (0..24), "{found:?}");
        let found = segments(&points, &found);
        assert_eq!((found[0].from, found[0].to), (0, 23 * 1024));
        assert!((found[0].base - 500.0).abs() < 1e-6 && (found[0].slope - 0.25).abs() < 1e-9);
    }

    /// A step behind 8 KiB, and another slope behind 16 KiB, where both lines meet.
    #[test]
    fn steps_and_bends_are_breaks() {
        let points = points(|bytes| {
            let step = if bytes > 8192.0 { 300.0 } else { 0.0 };
            500.0 + 0.25 * bytes + step + (bytes - 16384.0).max(0.0)
        });
        let found = pieces(&points);
        assert_eq!(found[0], 0..9);
        assert!(found.len() == 3 && (16..=17).contains(&found[1].end), "{found:?}");
        let lines = segments(&points, &found);
        assert_eq!(lines[1].from, 8192);
        assert!((lines[2].slope - 1.25).abs() < 1e-9);
        assert_eq!(places_of_break(&points, &found[0], &found[1]), 9..10);
    }
}
