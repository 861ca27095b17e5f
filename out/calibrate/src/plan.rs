//! The equations that a set of samples gives, and what follows from their solution.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    cells::{Cell, Key},
    diagnose::Diagnosis,
    estimate::Estimate,
    noise::Medians,
    overheads::Curve,
    roundtrip::{Problem, Row, Solution},
    samples::Operation,
    segments::{Segment, line, places_of_break},
};

/// The sizes over which one set of equations holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// S: there is a step behind this size, which may as well be between the two others.
    Step(u64, u64, u64),
    /// The slope changes behind this size, without a step.
    Bend(u64),
    /// There is no break up to this size.
    None(u64),
}

/// A delay has to exceed the gap by this share.
const CLEAR: f64 = 0.25;

/// A step is at least this share of the time, and so many of its own deviations.
const STEP: f64 = 0.005;
const SURE: f64 = 4.0;

/// A step of a send has to be this share of its time: a send beyond S waits for the receiver. In
/// round trips that shows less, or not at all.
const SEND_STEP: f64 = 0.2;

impl Limit {
    /// Finds the greatest step of a round trip, or else of a send.
    pub fn find(curves: &BTreeMap<Operation, Curve>) -> Self {
        let of = |operation| curves.get(operation);
        let trips = [Operation::RoundTrip, Operation::PingPong];
        let sends = [Operation::Send, Operation::Isend];
        let in_trip = trips.iter().find_map(of).map(|curve| (Self::of_curve(curve), curve));
        let by_send = || {
            let mut limits = sends.iter().filter_map(of).map(Self::of_send);
            limits.find(|limit| matches!(limit, Self::Step(..)))
        };
        match in_trip {
            Some((step @ Self::Step(..), _)) => step,
            Some((other, curve)) => {
                // A send says nothing of sizes beyond those of round trips.
                let inside = |limit: &Self| curve.largest() > limit.largest();
                by_send().filter(inside).unwrap_or(other)
            }
            None => match sends.iter().find_map(of) {
                Some(curve) => Self::of_curve(curve),
                None => Self::None(curves.values().map(Curve::largest).max().unwrap_or(0)),
            },
        }
    }

    fn of_curve(curve: &Curve) -> Self {
        Self::greatest(curve, |step| step.abs() > STEP)
    }

    fn of_send(curve: &Curve) -> Self {
        Self::greatest(curve, |step| step > SEND_STEP)
    }

    /// Finds the greatest step of a curve among those whose share of the time is wanted.
    #[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
    fn greatest(curve: &Curve, is_wanted: impl Fn(f64) -> bool) -> Self {
        let segments = curve.segments();
        let at = |segment: &Segment, bytes: f64| segment.base + segment.slope * bytes;
        let steps = segments.windows(2).enumerate().filter_map(|(index, pair)| {
            let middle = f64::midpoint(pair[0].to as f64, following(curve, pair[0].to));
            let (before, after) = (at(&pair[0], middle), at(&pair[1], middle));
            let step = after - before;
            // The end of a regression line of n points has the deviation of one point over the root
            // of n/4.
            let variance = |piece: &Range<usize>, point: usize| {
                curve.points[point].deviation.powi(2) * 4.0 / piece.len() as f64
            };
            let [first, second] = [&curve.pieces[index], &curve.pieces[index + 1]];
            let doubt = variance(first, first.end - 1) + variance(second, second.start);
            let sure = step.abs() > SURE * doubt.sqrt();
            let step = if sure { step / before.abs().max(1e-9) } else { 0.0 };
            is_wanted(step).then_some((step.abs(), index))
        });
        let bytes = |place: usize| curve.points[place].bytes as u64;
        match steps.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((_, index)) => {
                let [before, after] = [index, index + 1].map(|piece| &curve.pieces[piece]);
                let places = places_of_break(&curve.points, before, after);
                let high = bytes(places.end - 1).max(bytes(before.end) - 1);
                Self::Step(segments[index].to, bytes(places.start - 1), high)
            }
            None if segments.len() > 1 => Self::Bend(segments[0].to),
            None => Self::None(curve.largest()),
        }
    }

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

/// The parameters that follow from the medians of all cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derived {
    /// L, o, o of the sender, o of the receiver, g, G and O; NaN for those that do not follow.
    pub values: [f64; Derived::COUNT],
    /// L and both overheads: half a round trip of one byte.
    pub one_way: f64,
    /// The solution of the equations of round trips.
    pub solution: Option<Solution>,
    /// The number of equations beyond that of the unknowns.
    degrees: usize,
}

impl Derived {
    /// The number of parameters.
    pub const COUNT: usize = 7;
    /// The place of g.
    pub const GAP: usize = 4;

    /// Returns for each parameter whether it follows.
    pub fn known(&self) -> [bool; Self::COUNT] {
        self.values.map(f64::is_finite)
    }

    /// Returns by how much residuals exceed what the noise explains, if they clearly do.
    pub fn misfit(&self) -> f64 {
        let squares = self.solution.map_or(0.0, |solution| solution.squares);
        let ratio = squares / self.degrees.max(1) as f64;
        if self.degrees > 3 && ratio > 2.0 { ratio.sqrt() } else { 1.0 }
    }
}

/// The equations.
#[derive(Debug)]
pub struct Plan {
    problem: Problem,
    sender: Option<Curve>,
    receiver: Option<Curve>,
    stream: Option<Curve>,
    limit: f64,
    /// The time that a byte costs the receiver.
    receiver_per_byte: Option<f64>,
    /// True if round trips with a delay tell o.
    pub delayed: bool,
    /// True if they do so at several sizes, and so tell O. What else rises may be the gap.
    rises: bool,
    /// The diagnosis of delays that are not clear of the gap.
    pub near: Option<Diagnosis>,
    /// The number of sizes of round trips.
    pub sizes: usize,
    /// True if there are round trips of several messages without a delay.
    pub trains: bool,
}

impl Plan {
    /// Chooses the equations for sizes up to a limit.
    pub fn new(
        cells: &[Cell],
        medians: &Medians,
        curves: &BTreeMap<Operation, Curve>,
        limit: &Limit,
    ) -> Self {
        let trips =
            curves.get(&Operation::RoundTrip).map_or(Operation::PingPong, |_| Operation::RoundTrip);
        let within = |key: &Key| key.operation == trips && key.bytes <= limit.largest();
        let places: Vec<usize> = (0..cells.len()).filter(|&at| within(&cells[at].key)).collect();
        let (usable, near) = usable(&places, cells, medians);
        let sizes = |wanted: &dyn Fn(&Key) -> bool| {
            let all = usable.iter().map(|&place| &cells[place].key).filter(|key| wanted(key));
            let mut sizes: Vec<u64> = all.map(|key| key.bytes.max(1)).collect();
            sizes.sort_unstable();
            sizes.dedup();
            sizes
        };
        let steps = sizes(&|key| key.messages > 1 && key.delay == 0.0);
        let row = |&cell: &usize| {
            let key = &cells[cell].key;
            Row {
                cell,
                further: f64::from(key.messages - 1),
                delay: if key.messages > 1 { key.delay } else { 0.0 },
                bytes: (key.bytes.max(1) - 1) as f64,
                step: steps.partition_point(|size| *size < key.bytes.max(1)),
                weight: medians.deviations[cell].powi(-2),
            }
        };
        let rows: Vec<Row> = usable.iter().map(row).collect();
        let first = |of: &[Operation]| of.iter().find_map(|operation| curves.get(operation));
        let (receiver, limit) =
            (first(&[Operation::ReceiveBusy, Operation::Receive]), limit.largest() as f64);
        let receiver_line = receiver.and_then(|curve| curve.start(&medians.measured, limit));
        Self {
            delayed: rows.iter().any(|row| row.delay > 0.0),
            rises: sizes(&|key| key.messages > 1 && key.delay > 0.0).len() > 1,
            sizes: sizes(&|_| true).len(),
            trains: !steps.is_empty(),
            problem: Problem { rows, steps: steps.len() },
            sender: first(&[Operation::Send, Operation::Isend]).cloned(),
            receiver_per_byte: receiver_line.map(|(_, slope)| slope),
            receiver: receiver.cloned(),
            stream: first(&[Operation::Stream]).cloned(),
            limit,
            near,
        }
    }

    /// Returns whether there are round trips.
    pub const fn has_trips(&self) -> bool {
        self.sizes > 0
    }

    /// Returns whether sends were timed. Sets that have nothing but round trips are taken to follow
    /// the equations of LogGP, in which a receiver never is slower than the gap.
    pub const fn has_sends(&self) -> bool {
        self.sender.is_some()
    }

    /// Returns the time of a message of one byte in a stream, for the medians that were measured.
    pub fn streamed(&self) -> Option<f64> {
        Some(line(&self.stream.as_ref()?.points).0)
    }

    /// Returns why the receiver, and not the gap, may be what holds messages up: a byte costs it as
    /// long as the gap's line says, and its overhead is not shorter than where that line begins.
    pub fn receiver_limits(&self, estimates: &BTreeMap<&'static str, Estimate>) -> Option<String> {
        let (gap, byte) = (estimates.get("g")?, estimates.get("G")?);
        let receive = estimates.get("o_receive")?;
        let limits = self.receiver_per_byte? > 0.5 * byte.value && receive.high >= gap.low;
        limits.then(|| {
            "the receiver is busy with each byte for as long as the gap, and its overhead hides g"
                .to_owned()
        })
    }

    /// Derives the parameters from the medians of all cells; those of a replicate are near those of
    /// the `measured` medians.
    pub fn derive(&self, times: &[f64], measured: Option<&Derived>) -> Derived {
        let steps = self.problem.steps;
        let flat = match measured.and_then(|measured| measured.solution) {
            Some(Solution { known, flat, .. }) if known[5] => {
                flat.saturating_sub(2)..=(flat + 2).min(steps.saturating_sub(2))
            }
            Some(_) => steps..=steps,
            None => 0..=steps,
        };
        let solution = self.has_trips().then(|| self.problem.solve(times, flat)).flatten();
        let value = |place: usize| {
            solution.filter(|found| found.known[place]).map_or(f64::NAN, |s| s.unknowns[place])
        };
        let start =
            |curve: &Option<Curve>| curve.as_ref().and_then(|curve| curve.start(times, self.limit));
        let sender = start(&self.sender);
        let (send, per_byte) = if self.delayed {
            (value(2), if self.rises { value(3) } else { f64::NAN })
        } else {
            sender.unwrap_or((f64::NAN, f64::NAN))
        };
        let receive = start(&self.receiver).map_or(f64::NAN, |(time, _)| time);
        let both = if receive.is_nan() { 2.0 * send } else { send + receive };
        let streamed = || start(&self.stream).map_or(f64::NAN, |(_, slope)| slope);
        let byte = [value(5), value(1)].into_iter().find(|byte| !byte.is_nan());
        let known = solution.map_or(0, |s| s.known.iter().filter(|known| **known).count());
        Derived {
            values: [
                value(0) - both,
                both / 2.0,
                send,
                receive,
                value(4),
                byte.unwrap_or_else(streamed),
                per_byte,
            ],
            one_way: value(0),
            solution,
            degrees: self.problem.rows.len().saturating_sub(known),
        }
    }
}

/// Returns the cells of round trips that tell their branch: those without a delay, and those whose
/// delay is clear of the gap; and a diagnosis if there are others near it.
fn usable(places: &[usize], cells: &[Cell], medians: &Medians) -> (Vec<usize>, Option<Diagnosis>) {
    let curve = |wanted: &dyn Fn(&Key) -> bool| -> Vec<(f64, f64)> {
        let of = places.iter().filter(|&&place| wanted(&cells[place].key));
        of.map(|&place| (cells[place].key.bytes as f64, medians.measured[place])).collect()
    };
    let single = curve(&|key| key.messages == 1);
    let further = |key: &Key, time: f64| {
        let alone = interpolated(&single, key.bytes as f64)?;
        Some((time - alone) / f64::from(key.messages - 1))
    };
    let (mut usable, mut near, mut clear) = (Vec::new(), 0, 0);
    for &place in places {
        let key = &cells[place].key;
        if key.messages == 1 || key.delay == 0.0 {
            usable.push(place);
            continue;
        }
        let train = curve(&|other| other.messages == key.messages && other.delay == 0.0);
        let gap = interpolated(&train, key.bytes as f64).and_then(|time| further(key, time));
        let spent = further(key, medians.measured[place]);
        match gap.zip(spent) {
            Some((gap, spent)) if spent < (1.0 + CLEAR) * gap => {
                near += usize::from(key.delay > (1.0 - CLEAR) * gap);
            }
            _ => {
                clear += 1;
                usable.push(place);
            }
        }
    }
    let text = format!(
        "{near} cells have a delay within {:.0} % of the gap, where it disturbs what it measures; \
         {clear} others tell the overhead",
        CLEAR * 100.0
    );
    (usable, (near > 0).then_some(Diagnosis { name: "delay-near-gap", text }))
}

/// Returns the value at a place between points, or of the nearest one outside of them.
fn interpolated(points: &[(f64, f64)], at: f64) -> Option<f64> {
    let after = points.partition_point(|point| point.0 < at);
    match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
        (Some(below), Some(above)) => {
            let part = (at - below.0) / (above.0 - below.0);
            Some(below.1 + (above.1 - below.1) * part)
        }
        (Some(only), None) => Some(only.1),
        (None, found) => found.map(|only| only.1),
    }
}
