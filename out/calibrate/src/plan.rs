//! The equations that a set of samples gives, and what follows from their solution.

use std::collections::BTreeMap;

use crate::{
    cells::{Cell, Key},
    diagnose::Diagnosis,
    estimate::Estimate,
    limits::Kinds,
    noise::Medians,
    overheads::Curve,
    roundtrip::{Problem, Row, Solution},
    samples::Operation,
    segments::line,
};

/// A delay has to exceed the gap by this share.
const CLEAR: f64 = 0.25;

/// So many deviations may be chance.
const CHANCE: f64 = 4.0;

/// The parameters that follow from the medians of all cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derived {
    /// L, o, o of the sender, o of the receiver, g, G and O; NaN for those that do not follow.
    pub values: [f64; Derived::COUNT],
    /// L and both overheads: half a round trip of one byte.
    pub one_way: f64,
    /// The solution of the equations of round trips.
    pub solution: Option<Solution>,
    /// True if o of the sender is at most this, and nothing tells how much of it is latency.
    pub at_most: bool,
    /// The number of equations beyond that of the unknowns.
    degrees: usize,
}

impl Derived {
    /// The number of parameters.
    pub const COUNT: usize = 7;
    /// The place of o.
    pub const OVERHEAD: usize = 1;
    /// The place of g.
    pub const GAP: usize = 4;
    /// The purpose of the random numbers that share a time among the sender's overhead and L.
    pub const PARTS: u32 = 5;

    /// Returns for each parameter whether it follows.
    pub fn known(&self) -> [bool; Self::COUNT] {
        self.values.map(f64::is_finite)
    }

    /// Returns the same with `part` of what o of the sender may at most be, and the rest in L.
    pub fn with_part(mut self, part: f64) -> Self {
        if self.at_most {
            let sides = if self.values[3].is_nan() { 2.0 } else { 1.0 };
            let moved = self.values[2] * (1.0 - part) * sides;
            self.values[0] += moved;
            self.values[1] -= moved / 2.0;
            self.values[2] *= part;
        }
        self
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
    /// The greatest size of messages that tell what one byte costs hosts.
    small: f64,
    /// The time that a byte costs the receiver.
    receiver_per_byte: Option<f64>,
    /// True if all delays disturb the overhead, so that only what messages cost without a delay
    /// bounds it.
    bounded: bool,
    /// True if round trips with a delay tell o.
    pub delayed: bool,
    /// True if they do so at several sizes, and so tell O. What else rises may be the gap.
    rises: bool,
    /// The diagnosis of delays that are not clear of the gap.
    pub near: Option<Diagnosis>,
    /// The diagnosis of delays that add to what they are to measure.
    pub disturbed: Option<Diagnosis>,
    /// The number of sizes of round trips.
    pub sizes: usize,
}

impl Plan {
    /// Returns true if there are round trips of several messages without a delay.
    pub const fn has_trains(&self) -> bool {
        self.problem.steps > 0
    }

    /// Chooses the equations for sizes up to a limit.
    pub fn new(
        cells: &[Cell],
        medians: &Medians,
        curves: &BTreeMap<Operation, Curve>,
        kinds: &Kinds,
    ) -> Self {
        let limit = kinds.limit;
        let trips =
            curves.get(&Operation::RoundTrip).map_or(Operation::PingPong, |_| Operation::RoundTrip);
        let within = |key: &Key| key.operation == trips && key.bytes <= limit.largest();
        let places: Vec<usize> = (0..cells.len()).filter(|&at| within(&cells[at].key)).collect();
        let delays = Usable::new(&places, cells, medians);
        let usable = &delays.places;
        let sizes = |wanted: &dyn Fn(&Key) -> bool| {
            let all = usable.iter().map(|&place| &cells[place].key).filter(|key| wanted(key));
            let mut sizes: Vec<u64> = all.map(|key| key.bytes.max(1)).collect();
            sizes.sort_unstable();
            sizes.dedup();
            sizes
        };
        let steps = sizes(&|key| key.messages > 1 && key.delay == 0.0);
        let rows = equations(usable, cells, medians, kinds.packet, &steps);
        let packets = kinds.packet.map_or(0, |packet| steps.partition_point(|s| *s <= packet));
        let first = |of: &[Operation]| of.iter().find_map(|operation| curves.get(operation));
        let (receiver, limit) =
            (first(&[Operation::ReceiveBusy, Operation::Receive]), limit.largest() as f64);
        let receiver_line = receiver.and_then(|curve| curve.start(&medians.measured, limit));
        Self {
            bounded: delays.disturbed > 0 && !rows.iter().any(|row| row.delay > 0.0),
            delayed: delays.disturbed > 0 || rows.iter().any(|row| row.delay > 0.0),
            rises: sizes(&|key| {
                let is_small = kinds.packet.is_none_or(|packet| key.bytes <= packet);
                key.messages > 1 && key.delay > 0.0 && is_small
            })
            .len()
                > 1,
            sizes: sizes(&|_| true).len(),
            problem: Problem { rows, steps: steps.len(), packets },
            sender: first(&[Operation::Send, Operation::Isend]).cloned(),
            receiver_per_byte: receiver_line.map(|(_, slope)| slope),
            receiver: receiver.cloned(),
            stream: first(&[Operation::Stream]).cloned(),
            limit,
            small: kinds.packet.map_or(limit, |packet| packet as f64),
            near: delays.near(),
            disturbed: delays.disturbed(),
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
        // Without a delay no overhead shows beside the gap.
        let flat = if self.bounded && self.small < self.limit { 0..=0 } else { flat };
        let solution = self.has_trips().then(|| self.problem.solve(times, flat)).flatten();
        let value = |place: usize| {
            solution.filter(|found| found.known[place]).map_or(f64::NAN, |s| s.unknowns[place])
        };
        let start = |curve: &Option<Curve>, limit: f64| {
            curve.as_ref().and_then(|curve| curve.start(times, limit))
        };
        let sender = start(&self.sender, self.small);
        let (send, per_byte) = if self.delayed {
            let known =
                |places: &[usize]| places.iter().map(|&place| value(place)).find(|v| !v.is_nan());
            // The overhead of messages whose delay disturbs it is part of the gap.
            let shown: &[usize] = if self.disturbed.is_some() { &[2, 6, 4] } else { &[2] };
            (known(shown).unwrap_or(f64::NAN), if self.rises { value(3) } else { f64::NAN })
        } else {
            sender.unwrap_or((f64::NAN, f64::NAN))
        };
        let receive = start(&self.receiver, self.small).map_or(f64::NAN, |(time, _)| time);
        let of_both = |send: f64| if receive.is_nan() { 2.0 * send } else { send + receive };
        // Where both overheads are longer than a message takes, the delays that tell that of the
        // sender may have added to it, and a call alone tells it better.
        let alone = sender.map(|(time, _)| time).filter(|time| *time < send);
        let alone = alone.filter(|_| of_both(send) > value(0));
        let send = alone.unwrap_or(send);
        let both = of_both(send);
        // Together they are no longer than that in any case.
        let share = (value(0) / both).clamp(0.0, 1.0);
        let share = if share.is_nan() { 1.0 } else { share };
        let streamed = || start(&self.stream, self.limit).map_or(f64::NAN, |(_, slope)| slope);
        let byte = [value(5), value(1)].into_iter().find(|byte| !byte.is_nan());
        let known = solution.map_or(0, |s| s.known.iter().filter(|known| **known).count());
        Derived {
            values: [
                value(0) - both,
                both / 2.0 * share,
                send * share,
                receive * share,
                [value(6), value(4)].into_iter().find(|gap| !gap.is_nan()).unwrap_or(f64::NAN),
                byte.unwrap_or_else(streamed),
                per_byte,
            ],
            one_way: value(0),
            at_most: self.bounded && alone.is_none() && !send.is_nan(),
            solution,
            degrees: self.problem.rows.len().saturating_sub(known),
        }
    }
}

/// Returns the equations of round trips whose sizes of trains are `steps`.
fn equations(
    usable: &[usize],
    cells: &[Cell],
    medians: &Medians,
    packet: Option<u64>,
    steps: &[u64],
) -> Vec<Row> {
    let single_of = |bytes: u64| {
        let is_single = |key: &Key| (key.messages, key.bytes) == (1, bytes);
        usable.iter().copied().find(|&place| is_single(&cells[place].key))
    };
    let row = |&cell: &usize| {
        let key = &cells[cell].key;
        let is_larger = packet.is_some_and(|packet| key.bytes > packet);
        let single = if is_larger { Some(single_of(key.bytes)?) } else { None };
        let doubt = single.map_or(0.0, |single| medians.deviations[single]);
        // The time of a single message of several packets is in those of trains only, and the
        // overhead is that of one packet.
        let counts = !is_larger || key.messages > 1 && key.delay == 0.0;
        counts.then(|| Row {
            cell,
            further: f64::from(key.messages - 1),
            delay: if key.messages > 1 { key.delay } else { 0.0 },
            bytes: (key.bytes.max(1) - 1) as f64,
            step: steps.partition_point(|size| *size < key.bytes.max(1)),
            weight: medians.deviations[cell].hypot(doubt).powi(-2),
            is_packet: packet.is_some() && !is_larger,
            single,
        })
    };
    usable.iter().filter_map(row).collect()
}

/// The cells of round trips that tell their branch.
struct Usable {
    places: Vec<usize>,
    /// Cells with a delay near the gap.
    near: usize,
    /// Cells with a delay behind which a message costs more than messages without a delay.
    disturbed: usize,
    /// The other cells with a delay.
    clear: usize,
}

impl Usable {
    /// Chooses those without a delay, and those whose delay is clear of the gap and does not itself
    /// add to what a message costs.
    fn new(places: &[usize], cells: &[Cell], medians: &Medians) -> Self {
        let curve = |of: &[f64], wanted: &dyn Fn(&Key) -> bool| -> Vec<(f64, f64)> {
            let wanted = places.iter().filter(|&&place| wanted(&cells[place].key));
            wanted.map(|&place| (cells[place].key.bytes as f64, of[place])).collect()
        };
        let single = curve(&medians.measured, &|key| key.messages == 1);
        let mut found = Self { places: Vec::new(), near: 0, disturbed: 0, clear: 0 };
        for &place in places {
            let key = &cells[place].key;
            if key.messages == 1 || key.delay == 0.0 {
                found.places.push(place);
                continue;
            }
            let bytes = key.bytes as f64;
            let is_train = |other: &Key| other.messages == key.messages && other.delay == 0.0;
            let of_trains = |of: &[f64]| interpolated(&curve(of, &is_train), bytes);
            let further = |time: f64| {
                Some((time - interpolated(&single, bytes)?) / f64::from(key.messages - 1))
            };
            let gap = of_trains(&medians.measured).and_then(further);
            let spent = further(medians.measured[place]);
            let doubt =
                medians.deviations[place].hypot(of_trains(&medians.deviations).unwrap_or(0.0));
            let chance = CHANCE * doubt / f64::from(key.messages - 1);
            match gap.zip(spent) {
                Some((gap, spent)) if spent < (1.0 + CLEAR) * gap => {
                    found.near += usize::from(key.delay > (1.0 - CLEAR) * gap);
                }
                Some((gap, spent)) if spent - key.delay > (1.0 + CLEAR) * gap + chance => {
                    found.disturbed += 1;
                }
                _ => {
                    found.clear += 1;
                    found.places.push(place);
                }
            }
        }
        found
    }

    fn near(&self) -> Option<Diagnosis> {
        let text = format!(
            "{} cells have a delay within {:.0} % of the gap, where it disturbs what it measures; \
             {} others tell the overhead",
            self.near,
            CLEAR * 100.0,
            self.clear
        );
        (self.near > 0).then_some(Diagnosis { name: "delay-near-gap", text })
    }

    fn disturbed(&self) -> Option<Diagnosis> {
        let others = match self.clear {
            0 => "no other tells the overhead: that of the sender is at most what such a message \
                  costs, and what it is less, L is more"
                .to_owned(),
            clear => {
                format!("{clear} others tell the overhead, and what messages without a delay cost")
            }
        };
        let text = format!(
            "in {} cells a message after a delay costs more than {:.0} % of what it does without \
             one, where the overhead is part of it; {others}",
            self.disturbed,
            (1.0 + CLEAR) * 100.0,
        );
        (self.disturbed > 0).then_some(Diagnosis { name: "delay-disturbs", text })
    }
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
