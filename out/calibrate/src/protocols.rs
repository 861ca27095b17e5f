//! The choice of S where messages are of more kinds than two.
//!
//! Libraries send small messages in one way, larger ones in another, and often in a third or fourth
//! in between. The model has two. Where the S that a step shows leaves a large error of the model,
//! the size is taken that leaves the least.

use std::collections::BTreeMap;

use crate::{
    cells::Cell,
    diagnose::Diagnosis,
    large::one_way,
    limits::{Kinds, Limit},
    model_error::ModelError,
    noise::Medians,
    overheads::Curve,
    plan::Plan,
    samples::Operation,
    segments::Point,
};

/// Another S is looked for if the lines of both kinds miss the times of round trips by so much, or
/// by more if messages are of one packet or of several: that step is in no parameter.
const LARGE: f64 = 0.1;
const LARGE_OF_PACKETS: f64 = 0.25;

/// It has to leave this share of the error at most.
const BETTER: f64 = 0.75;

/// Sizes whose error is within this share of the least may as well be S.
const AS_GOOD: f64 = 1.1;

/// A line needs so many sizes on either side of S.
const SIZES: usize = 3;

/// Returns `found`, or the kinds of messages that leave the least error of the model and a
/// diagnosis that says so.
pub fn choose(
    found: Kinds,
    cells: &[Cell],
    medians: &Medians,
    curves: &BTreeMap<Operation, Curve>,
    points: &BTreeMap<String, Vec<Point>>,
) -> (Kinds, Option<Diagnosis>) {
    let Some(curve) = curves.get(&Operation::RoundTrip) else { return (found, None) };
    let error = |kinds: &Kinds, slope_of_gap: bool| {
        let plan = Plan::new(cells, medians, curves, kinds);
        let derived = plan.derive(&medians.measured, None);
        let limit = match kinds.limit {
            Limit::Step(limit, ..) => limit as f64,
            Limit::Bend(_) | Limit::None(_) => f64::INFINITY,
        };
        let large = one_way(curve, &medians.measured, limit);
        let [base, slope, ..] = derived.solution?.unknowns;
        // G, as the model takes it; O, which may say more, is often refused.
        let gap = Some(derived.values[5]).filter(|gap| slope_of_gap && gap.is_finite());
        let small = [base, gap.unwrap_or(slope)];
        let of = |bytes: f64| {
            let rest = (bytes - 1.0).max(0.0);
            let [base, slope] = large.filter(|_| bytes > limit).unwrap_or(small);
            base.is_finite().then_some(base + slope * rest)
        };
        ModelError::find(points, of).map(|error| error.round_trips)
    };
    let has_packets = found.packet.is_some();
    let most = if has_packets { LARGE_OF_PACKETS } else { LARGE };
    if error(&found, has_packets).is_none_or(|error| error < most) {
        return (found, None);
    }
    let Some(now) = error(&found, true) else { return (found, None) };
    let sizes: Vec<u64> = curve.sizes().collect();
    let ends = SIZES - 1..sizes.len().saturating_sub(SIZES);
    let at = |place: usize| Kinds {
        limit: Limit::Step(sizes[place], sizes[place], sizes[place]),
        packet: None,
    };
    let errors: Vec<(usize, f64)> =
        ends.filter_map(|place| Some((place, error(&at(place), true)?))).collect();
    let least = errors.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((place, least)) = least.filter(|(_, least)| *least < BETTER * now) else {
        return (found, None);
    };
    let as_good = || errors.iter().filter(|(_, error)| *error < AS_GOOD * least);
    let ends = [as_good().next(), as_good().next_back()].map(|end| end.map_or(place, |end| end.0));
    let [low, high] = ends.map(|end| sizes[end]);
    let text = format!(
        "messages are of more kinds than two; S is the size with which the model misses the times \
         of round trips least, by {:.0} % and not by {:.0} %",
        least.exp_m1() * 100.0,
        now.exp_m1() * 100.0
    );
    let kinds = Kinds { limit: Limit::Step(sizes[place], low, high), packet: None };
    (kinds, Some(Diagnosis { name: "several-protocols", text }))
}
