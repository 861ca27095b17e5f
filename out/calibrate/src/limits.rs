//! The sizes over which one set of equations holds: the eager limit S, and messages of one packet.
//!
//! The cost of a message over its size has steps of two kinds. Beyond S a message waits for its
//! receiver to answer, which costs each of several messages in a row about as long as a message
//! takes one way. Beyond a packet a message has another header, and both hosts have another packet
//! to handle; messages in a row overlap that, so that each costs the header's time at most.
//! So round trips of several messages tell the kinds apart.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    cells::Cell,
    noise::Medians,
    overheads::Curve,
    samples::Operation,
    segments::{Point, Segment, places_of_break},
};

/// The end of the sizes of one protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// S: there is a step behind this size, which may as well be between the two others.
    Step(u64, u64, u64),
    /// The slope changes behind this size, without a step.
    Bend(u64),
    /// There is no break up to this size.
    None(u64),
}

/// The kinds of messages by size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinds {
    /// The end of the sizes of one protocol.
    pub limit: Limit,
    /// The greatest size of messages of one packet, if there are greater ones of that protocol.
    pub packet: Option<u64>,
}

/// A step is at least this share of the time, and so many of its own deviations.
const STEP: f64 = 0.005;
const SURE: f64 = 4.0;

/// A step of a send has to be this share of its time: a send beyond S waits for the receiver. In
/// round trips that shows less, or not at all.
const SEND_STEP: f64 = 0.2;

/// A message that waits for its receiver costs at least this share of the time of a small message
/// one way. It waits for two latencies.
const WAIT: f64 = 0.2;

/// A message in a row takes at least this share of what a send takes that waits.
const HELD: f64 = 0.75;

/// The gap of further messages by size: [PRTT(n, 0, s) - PRTT(1, 0, s)]/(n-1).
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    points: Vec<Point>,
    /// Half of the shortest round trip, in nanoseconds.
    one_way: f64,
}

impl Gaps {
    /// Returns the gaps of the longest trains of each size.
    pub fn new(cells: &[Cell], medians: &Medians) -> Self {
        let mut singles: BTreeMap<u64, usize> = BTreeMap::new();
        let mut trains: BTreeMap<u64, usize> = BTreeMap::new();
        for (place, cell) in cells.iter().enumerate() {
            let key = &cell.key;
            if key.operation == Operation::RoundTrip && key.delay == 0.0 {
                let of = if key.messages == 1 { &mut singles } else { &mut trains };
                // Cells are in the order of n.
                of.insert(key.bytes, place);
            }
        }
        let point = |(&bytes, &train): (&u64, &usize)| {
            let single = *singles.get(&bytes)?;
            let further = f64::from(cells[train].key.messages - 1);
            let [time, deviation] =
                [&medians.measured, &medians.deviations].map(|of| [of[train], of[single]]);
            Some(Point {
                bytes: bytes as f64,
                time: (time[0] - time[1]) / further,
                deviation: deviation[0].hypot(deviation[1]) / further,
            })
        };
        let trips = singles.values().map(|&place| medians.measured[place]);
        Self {
            points: trains.iter().filter_map(point).collect(),
            one_way: trips.fold(f64::INFINITY, f64::min) / 2.0,
        }
    }

    /// Returns whether messages of more than `bytes`, which end a piece of a cost, wait for their
    /// receiver, as far as the two sizes on either side tell.
    fn wait_behind(&self, bytes: f64, following: f64) -> Option<bool> {
        let place = self.points.partition_point(|point| point.bytes <= bytes);
        let near = self.points.get(place.checked_sub(2)?..place + 2)?;
        let middle = f64::midpoint(bytes, following);
        let [before, after] = [&near[..2], &near[2..]].map(|pair| {
            let part = (middle - pair[0].bytes) / (pair[1].bytes - pair[0].bytes);
            pair[0].time + part * (pair[1].time - pair[0].time)
        });
        Some(after - before > WAIT * self.one_way)
    }

    /// Returns whether sends may wait for their receiver that take the first of two times, and the
    /// second behind a break. Then they wait for a latency at least, and one after another: what
    /// takes longer alone than in a row is something else.
    fn may_hold(&self, times: [f64; 2], bytes: f64) -> bool {
        let gap = self.points.iter().find(|point| point.bytes >= bytes);
        let rises = !self.one_way.is_finite() || times[1] - times[0] > WAIT * self.one_way;
        rises && gap.is_none_or(|gap| gap.time > HELD * times[1])
    }
}

/// A break between two pieces of a cost.
struct Break {
    /// The places of the pieces before and behind.
    pieces: [usize; 2],
    /// The greatest size before.
    bytes: u64,
    /// The step's share of the time, if it is no chance.
    step: f64,
    /// The times before and behind, at the middle between the sizes there.
    times: [f64; 2],
}

impl Kinds {
    /// Finds the greatest step of a round trip, or else of a send, behind which messages wait for
    /// their receiver.
    pub fn find(curves: &BTreeMap<Operation, Curve>, gaps: &Gaps) -> Self {
        let of = |operation| curves.get(operation);
        let trips = [Operation::RoundTrip, Operation::PingPong];
        let sends = [Operation::Send, Operation::Isend];
        let by_send = || {
            let mut limits = sends.iter().filter_map(of).map(|curve| of_send(curve, gaps));
            limits.find(|limit| matches!(limit, Limit::Step(..)))
        };
        let Some(curve) = trips.iter().find_map(of) else {
            let limit = match sends.iter().find_map(of) {
                Some(curve) => of_trip(curve, gaps),
                None => Limit::None(curves.values().map(Curve::largest).max().unwrap_or(0)),
            };
            return Self { limit, packet: None };
        };
        let limit = match of_trip(curve, gaps) {
            step @ Limit::Step(..) => step,
            // A send says nothing of sizes beyond those of round trips.
            other => by_send().filter(|limit| curve.largest() > limit.largest()).unwrap_or(other),
        };
        let ends = breaks(curve).into_iter().map(|found| found.bytes);
        let first = ends.min().filter(|&bytes| bytes < limit.largest());
        let is_packet =
            |&bytes: &u64| gaps.wait_behind(bytes as f64, following(curve, bytes)) == Some(false);
        Self { limit, packet: first.filter(is_packet) }
    }
}

fn of_trip(curve: &Curve, gaps: &Gaps) -> Limit {
    let may_wait = |found: &Break| {
        gaps.wait_behind(found.bytes as f64, following(curve, found.bytes)) != Some(false)
    };
    greatest(curve, may_wait, |step| step.abs() > STEP)
}

fn of_send(curve: &Curve, gaps: &Gaps) -> Limit {
    let may_wait = |found: &Break| gaps.may_hold(found.times, following(curve, found.bytes));
    greatest(curve, may_wait, |step| step > SEND_STEP)
}

/// Returns the breaks of a curve, with their steps.
fn breaks(curve: &Curve) -> Vec<Break> {
    let segments = curve.segments();
    let at = |segment: &Segment, bytes: f64| segment.base + segment.slope * bytes;
    let each = segments.windows(2).enumerate().map(|(index, pair)| {
        let middle = f64::midpoint(pair[0].to as f64, following(curve, pair[0].to));
        let (before, after) = (at(&pair[0], middle), at(&pair[1], middle));
        let step = after - before;
        // The end of a regression line of n points has the deviation of one point over the root of
        // n/4.
        let variance = |piece: &Range<usize>, point: usize| {
            curve.points[point].deviation.powi(2) * 4.0 / piece.len() as f64
        };
        let [first, second] = [&curve.pieces[index], &curve.pieces[index + 1]];
        let doubt = variance(first, first.end - 1) + variance(second, second.start);
        let sure = step.abs() > SURE * doubt.sqrt();
        let step = if sure { step / before.abs().max(1e-9) } else { 0.0 };
        Break { pieces: [index, index + 1], bytes: pair[0].to, step, times: [before, after] }
    });
    each.collect()
}

/// Finds the greatest step of a curve among those whose share of the time is wanted and behind
/// which messages may wait for their receiver.
#[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
fn greatest(
    curve: &Curve,
    may_wait: impl Fn(&Break) -> bool,
    is_wanted: impl Fn(f64) -> bool,
) -> Limit {
    let mut breaks = breaks(curve);
    breaks.retain(may_wait);
    let steps = breaks.iter().filter(|found| is_wanted(found.step));
    let bytes = |place: usize| curve.points[place].bytes as u64;
    match steps.max_by(|a, b| a.step.abs().total_cmp(&b.step.abs())) {
        Some(found) => {
            let [before, after] = found.pieces.map(|piece| &curve.pieces[piece]);
            let places = places_of_break(&curve.points, before, after);
            let high = bytes(places.end - 1).max(bytes(before.end) - 1);
            Limit::Step(found.bytes, bytes(places.start - 1), high)
        }
        None => {
            breaks.first().map_or(Limit::None(curve.largest()), |found| Limit::Bend(found.bytes))
        }
    }
}

impl Limit {
    /// Returns the greatest size for which the equations hold.
    pub const fn largest(&self) -> u64 {
        match self {
            Self::Step(size, ..) | Self::Bend(size) | Self::None(size) => *size,
        }
    }
}

/// Returns the first size of a curve behind another.
fn following(curve: &Curve, size: u64) -> f64 {
    let sizes = curve.points.iter().map(|point| point.bytes);
    sizes.into_iter().find(|bytes| *bytes > size as f64).unwrap_or(size as f64)
}
