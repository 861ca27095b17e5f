//! L and G of messages of more than S bytes, from single round trips.
//!
//! Their overheads are taken to be those of small messages: what waits for the receiver's answer is
//! in L.

use std::collections::BTreeMap;

use crate::{
    estimate::{Calibration, Estimate, clipped, interval},
    overheads::Curve,
    plan::Derived,
    samples::Operation,
};

/// The least number of sizes beyond S that tell a line.
const SIZES: usize = 3;

/// L and G of large messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Large {
    /// L, in nanoseconds.
    pub latency: Estimate,
    /// G, in nanoseconds per byte.
    pub per_byte: Estimate,
    /// The number of sizes beyond S.
    pub sizes: usize,
    /// L and G in each replicate.
    pub(crate) replicates: Vec<[f64; 2]>,
}

impl Large {
    /// The columns of replicates.
    pub(crate) const COLUMNS: [&str; 2] = ["large.L", "large.G"];

    /// Estimates them for the medians of all cells, as `measured` and in the `times` of replicates,
    /// whose parameters are in `all`; intervals are wider than the bootstrap's by `factor`. Nothing
    /// if S, the overheads or too few sizes beyond S are known.
    pub(crate) fn find(
        fitted: &Calibration,
        curves: &BTreeMap<Operation, Curve>,
        measured: &[f64],
        times: &[&[f64]],
        factor: f64,
        all: &[Derived],
    ) -> Option<Self> {
        let limit = fitted.parameters.get("S")?.value;
        let known = |name: &str| fitted.parameters.contains_key(name);
        let place = |own: usize, name: &str| {
            if known(name) { Some(own) } else { known("o").then_some(Derived::OVERHEAD) }
        };
        let ends = [place(2, "o_send")?, place(3, "o_receive")?];
        let trips = [Operation::RoundTrip, Operation::PingPong];
        let curve = trips.iter().find_map(|operation| curves.get(operation))?;
        let of = |times: &[f64], overheads: f64| {
            let [base, slope] = one_way(curve, times, limit)?;
            Some([(base - overheads).max(0.0), slope])
        };
        let [send, receive] = ["o_send", "o_receive"]
            .map(|name| fitted.parameters.get(name).or_else(|| fitted.parameters.get("o")));
        let [latency, per_byte] = of(measured, send?.value + receive?.value)?;
        let of_replicate = |(times, replicate): (&&[f64], &Derived)| {
            of(times, ends.iter().map(|&place| replicate.values[place].max(0.0)).sum())
        };
        let replicates: Vec<[f64; 2]> = times.iter().zip(all).filter_map(of_replicate).collect();
        let column = |place: usize| replicates.iter().map(|values| values[place]).collect();
        Some(Self {
            latency: clipped(interval(latency, column(0), factor)?),
            per_byte: clipped(interval(per_byte, column(1), factor)?),
            sizes: curve.points.iter().filter(|point| point.bytes > limit).count(),
            replicates,
        })
    }
}

/// Returns the time one way of a message of one byte and that of each further byte, by the round
/// trips of more than `limit` bytes; nothing if they are of too few sizes.
pub(crate) fn one_way(curve: &Curve, times: &[f64], limit: f64) -> Option<[f64; 2]> {
    let (base, slope) = curve.rest(times, limit, SIZES)?;
    Some([base / 2.0, (slope / 2.0).max(0.0)])
}
