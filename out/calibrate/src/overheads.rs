//! Costs of single operations as lines over the size: the overheads of sends and receives.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    cells::{Cell, Key},
    noise::Medians,
    samples::Operation,
    segments::{Point, Segment, line, pieces, segments},
};

/// A line over a wide range of sizes counts each point as if its time were doubtful by this share.
const SHARE: f64 = 0.01;

/// The cells of one operation over the size, with its pieces.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The places of the cells, by size.
    pub places: Vec<usize>,
    /// The times of a single message with their deviations, by size.
    pub points: Vec<Point>,
    /// The pieces, as ranges of points.
    pub pieces: Vec<Range<usize>>,
    /// The number of messages.
    messages: f64,
    /// The waits that are within the times, by size.
    waits: Vec<f64>,
}

/// Returns the curves of all operations. Of parametrised round trips it is that of one message.
pub fn curves(cells: &[Cell], medians: &Medians) -> BTreeMap<Operation, Curve> {
    let mut groups: BTreeMap<Operation, BTreeMap<u32, BTreeMap<u64, usize>>> = BTreeMap::new();
    for (place, cell) in cells.iter().enumerate() {
        let Key { operation, messages, delay, bytes } = &cell.key;
        if *operation == Operation::RoundTrip && (*messages, *delay) != (1, 0.0) {
            continue;
        }
        // Of several waits for a size, the shortest is taken: cells are in their order.
        let group = groups.entry(operation.clone()).or_default().entry(*messages).or_default();
        group.entry(*bytes).or_insert(place);
    }
    let curves = groups.into_iter().filter_map(|(operation, group)| {
        let all = group.into_iter().rev();
        let (messages, places) = all.max_by_key(|(_, places)| places.len())?;
        let places: Vec<usize> = places.into_values().collect();
        let wait = |&place: &usize| cells[place].key.delay * f64::from(messages);
        let mut waits: Vec<f64> = places.iter().map(wait).collect();
        // A wait that is longer than some of the times is not within them.
        let mut both = places.iter().zip(&waits);
        if !both.all(|(&place, wait)| medians.measured[place] > *wait) {
            waits.fill(0.0);
        }
        Some((operation, Curve::new(cells, medians, places, f64::from(messages), waits)))
    });
    curves.collect()
}

impl Curve {
    fn new(
        cells: &[Cell],
        medians: &Medians,
        places: Vec<usize>,
        messages: f64,
        waits: Vec<f64>,
    ) -> Self {
        let point = |(&place, wait): (&usize, &f64)| Point {
            bytes: cells[place].key.bytes as f64,
            time: (medians.measured[place] - wait) / messages,
            deviation: medians.deviations[place] / messages,
        };
        let points: Vec<Point> = places.iter().zip(&waits).map(point).collect();
        let pieces = pieces(&points);
        Self { places, points, pieces, messages, waits }
    }

    /// Returns the greatest size; 0 if there is none.
    #[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
    pub fn largest(&self) -> u64 {
        self.points.last().map_or(0, |point| point.bytes as u64)
    }

    /// Returns the sizes, in ascending order.
    #[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
    pub fn sizes(&self) -> impl Iterator<Item = u64> {
        self.points.iter().map(|point| point.bytes as u64)
    }

    /// Returns the lines of the pieces.
    pub fn segments(&self) -> Vec<Segment> {
        segments(&self.points, &self.pieces)
    }

    /// Returns the time of one byte and the slope of the line over sizes up to `limit`, for the
    /// medians of all cells in some replicate; nothing if there is no such size.
    pub fn start(&self, times: &[f64], limit: f64) -> Option<(f64, f64)> {
        let points = self.chosen(times, |bytes| bytes <= limit);
        (!points.is_empty()).then(|| line(&points))
    }

    /// Returns the same of sizes beyond `limit`, of which there are to be `least` at least. Such a
    /// line is over a wide range of sizes, so that all of them count by their share of the time,
    /// even where noise is less.
    pub fn rest(&self, times: &[f64], limit: f64, least: usize) -> Option<(f64, f64)> {
        let mut points = self.chosen(times, |bytes| bytes > limit);
        for point in &mut points {
            point.deviation = point.deviation.hypot(SHARE * point.time);
        }
        (points.len() >= least).then(|| line(&points))
    }

    /// Returns the points of some sizes, whose size is one byte less.
    fn chosen(&self, times: &[f64], counts: impl Fn(f64) -> bool) -> Vec<Point> {
        let all = self.places.iter().zip(&self.points).zip(&self.waits);
        all.filter(|((_, point), _)| counts(point.bytes))
            .map(|((&place, point), wait)| Point {
                bytes: (point.bytes - 1.0).max(0.0),
                time: (times[place] - wait) / self.messages,
                ..*point
            })
            .collect()
    }
}
