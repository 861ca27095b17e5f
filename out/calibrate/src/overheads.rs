//! Costs of single operations as lines over the size: the overheads of sends and receives.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    cells::{Cell, Key},
    noise::Medians,
    samples::Operation,
    segments::{Point, Segment, line, pieces, segments},
};

/// The cells of one operation over the size, with its pieces.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The places of the cells, by size.
    pub places: Vec<usize>,
    /// The times of a single message with their deviations, by size.
    pub points: Vec<Point>,
    /// The pieces, as ranges of points.
    pub pieces: Vec<Range<usize>>,
    /// The number of messages, and the waits that are within the time.
    messages: f64,
    waits: f64,
}

/// Returns the curves of all operations. Of parametrised round trips it is that of one message.
pub fn curves(cells: &[Cell], medians: &Medians) -> BTreeMap<Operation, Curve> {
    let mut groups: BTreeMap<Operation, BTreeMap<(u32, u64), Vec<usize>>> = BTreeMap::new();
    for (place, cell) in cells.iter().enumerate() {
        let Key { operation, messages, delay, .. } = &cell.key;
        if *operation == Operation::RoundTrip && (*messages, *delay) != (1, 0.0) {
            continue;
        }
        let group = groups.entry(operation.clone()).or_default();
        group.entry((*messages, delay.to_bits())).or_default().push(place);
    }
    let largest = |group: BTreeMap<(u32, u64), Vec<usize>>| {
        let all = group.into_iter().rev();
        all.max_by_key(|(_, places)| places.len())
    };
    let curves = groups.into_iter().filter_map(|(operation, group)| {
        let ((messages, delay), places) = largest(group)?;
        let waits = f64::from_bits(delay) * f64::from(messages);
        // A wait that is longer than some of the times is not within them.
        let within = places.iter().all(|&place| medians.measured[place] > waits);
        let waits = if within { waits } else { 0.0 };
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
        waits: f64,
    ) -> Self {
        let point = |&place: &usize| Point {
            bytes: cells[place].key.bytes as f64,
            time: (medians.measured[place] - waits) / messages,
            deviation: medians.deviations[place] / messages,
        };
        let points: Vec<Point> = places.iter().map(point).collect();
        let pieces = pieces(&points);
        Self { places, points, pieces, messages, waits }
    }

    /// Returns the lines of the pieces.
    pub fn segments(&self) -> Vec<Segment> {
        segments(&self.points, &self.pieces)
    }

    /// Returns the time of one byte and the slope of the line over sizes up to `limit`, for the
    /// medians of all cells in some replicate; nothing if there is no such size.
    pub fn start(&self, times: &[f64], limit: f64) -> Option<(f64, f64)> {
        let both = self.places.iter().zip(&self.points);
        let points: Vec<Point> = both
            .filter(|(_, point)| point.bytes <= limit)
            .map(|(&place, point)| Point {
                bytes: (point.bytes - 1.0).max(0.0),
                time: (times[place] - self.waits) / self.messages,
                ..*point
            })
            .collect();
        (!points.is_empty()).then(|| line(&points))
    }
}
