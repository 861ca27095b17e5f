//! Tables of a machine file beside `[loggops]`: the costs of large messages, and what the model of
//! flows takes.

use std::fmt::Write as _;

use crate::{
    estimate::Calibration,
    large::Large,
    segments::{Point, Segment, line},
};

/// The bytes of a message's envelope, which the tables of factors count.
const ENVELOPE: f64 = 16.0;

/// Returns the time of a size by the pieces of a cost; 0 without pieces.
fn at(pieces: Option<&Vec<Segment>>, bytes: f64) -> f64 {
    let Some(pieces) = pieces else { return 0.0 };
    let found = pieces.iter().find(|piece| bytes <= piece.to as f64).or_else(|| pieces.last());
    found.map_or(0.0, |piece| (piece.base + piece.slope * bytes).max(0.0))
}

impl Calibration {
    /// Returns half of each round trip of one message, by size: the time one way.
    fn one_ways(&self) -> Vec<Point> {
        let trips = ["prtt", "pingpong"].iter().find_map(|name| self.points.get(*name));
        let half = |point: &Point| Point {
            time: point.time / 2.0,
            deviation: point.deviation / 2.0,
            ..*point
        };
        trips.into_iter().flatten().map(half).collect()
    }

    /// Returns the table of large messages, such as `loggops.large`: L and G of messages of more
    /// than S bytes, whose overheads are taken to be those of small ones. Empty if they are not
    /// known.
    pub(crate) fn large(&self, table: &str) -> String {
        let Some(Large { latency, per_byte, sizes, .. }) = &self.large else {
            return String::new();
        };
        let mut text = format!(
            "\n# From round trips of {sizes} sizes beyond S.\n[{table}]\nL = \"{:.3} ns\"\n\
             G = \"{:.6} ns/B\"\n",
            latency.value, per_byte.value
        );
        // No host is busy with a byte for longer than the message takes.
        if let Some(byte) = self.parameters.get("O").filter(|byte| byte.value > per_byte.value) {
            let least = byte.value.min(per_byte.value);
            let _ = writeln!(text, "O = \"{least:.6} ns/B\"");
        }
        text
    }

    /// Returns the table `[flow]`: overheads by size, and the factors of latency and bandwidth
    /// relative to a link that a comment describes. Empty if none of this was measured. `remark` is
    /// lines of comment at its head.
    pub(crate) fn flow(&self, remark: &str) -> String {
        let kinds = [("os", "send"), ("ois", "isend"), ("or", "recv")];
        let mut lines = String::new();
        for (key, operation) in kinds {
            let Some(pieces) = self.segments.get(operation) else { continue };
            let pieces: Vec<String> = pieces.iter().map(piece).collect();
            let _ = writeln!(lines, "{key} = \"{}\"", pieces.join(";"));
        }
        if lines.is_empty() {
            return lines;
        }
        if let Some(limit) = self.detached {
            let _ = writeln!(lines, "detached-below = \"{} B\"", limit + 1);
        }
        format!("\n[flow]\n{remark}{}{lines}", self.factors())
    }

    /// Returns the keys of the factors, behind a comment that names the link. Its latency is that
    /// of the smallest messages, its bandwidth that of the largest.
    fn factors(&self) -> String {
        let ways = self.one_ways();
        let trips = ["prtt", "pingpong"].iter().find_map(|name| self.segments.get(*name));
        let detached = self.detached.map_or(f64::INFINITY, |limit| limit as f64);
        let of = |operation: &str, bytes| at(self.segments.get(operation), bytes);
        let network = |piece: &Segment| {
            // Of a piece on both sides of S, the part up to S is taken.
            let (from, to) = (piece.from as f64, piece.to as f64);
            let to = if from < detached { to.min(detached) } else { to };
            let inside =
                |point: &&Point| point.bytes <= to && (point.bytes > from || piece.from == 0);
            let points = ways.iter().filter(inside).map(|point| {
                let is_detached = point.bytes <= detached;
                let costs = of("send", point.bytes) + of("recv", point.bytes);
                let time = point.time - if is_detached { costs } else { 0.0 };
                Point { bytes: point.bytes + ENVELOPE, time, ..*point }
            });
            let points: Vec<Point> = points.collect();
            let (latency, per_byte) = line(&points);
            (points.len() > 1 && latency > 0.0 && per_byte > 0.0)
                .then_some((piece.from, latency, per_byte))
        };
        let pieces: Vec<_> = trips.into_iter().flatten().filter_map(network).collect();
        let (Some(&(_, latency, _)), Some(&(_, _, per_byte))) = (pieces.first(), pieces.last())
        else {
            return String::new();
        };
        let table = |factor: &dyn Fn(&(u64, f64, f64)) -> f64| {
            let entries = pieces.iter().enumerate().map(|(index, piece)| {
                let from = if index == 0 { 0.0 } else { piece.0 as f64 + ENVELOPE };
                format!("{from:.0}B:{:.6}", factor(piece))
            });
            entries.collect::<Vec<_>>().join(";")
        };
        format!(
            "# Factors for a route with a latency of {latency:.3} ns and a bandwidth of {:.6} \
             GB/s.\nlatency-factors = \"{}\"\nbandwidth-factors = \"{}\"\n",
            1.0 / per_byte,
            table(&|piece| piece.1 / latency),
            table(&|piece| per_byte / piece.2),
        )
    }

    /// Returns by how much longer a message takes per byte if another goes the other way at the
    /// same time, from 1 (nothing is shared) to 2.
    pub fn limiter(&self) -> Option<f64> {
        let of = |name: &str| self.points.get(name).filter(|points| points.len() > 2);
        let (both, trips) = (line(of("exchange")?).1, line(of("prtt")?).1 / 2.0);
        let factor = both / trips;
        (trips > 0.0 && factor.is_finite()).then(|| factor.clamp(1.0, 2.0))
    }
}

/// Returns a piece as the model of flows reads it. That has no bases and slopes below zero: there
/// it is the line through zero, or the level one, that is nearest over the piece's sizes.
fn piece(segment: &Segment) -> String {
    let Segment { from, base, slope, to } = *segment;
    let (first, last) = (from as f64, to as f64);
    let (base, slope) = if base < 0.0 {
        let [squares, cubes] = [2, 3].map(|power| last.powi(power) - first.powi(power));
        (0.0, (slope + 1.5 * base * squares / cubes.max(1.0)).max(0.0))
    } else if slope < 0.0 {
        ((base + slope * (first + last) / 2.0).max(0.0), 0.0)
    } else {
        (base, slope)
    };
    format!("{from}B:{base:.3}ns:{slope:.6}ns/B")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Estimate, Operation, Options, Sample, fit};

    /// Exact samples of L = 5 us, o = 1 us on both sides, G = 0.5 ns/B up to S = 16 KiB, and of
    /// 8 us and 0.25 ns/B beyond.
    fn fitted() -> Calibration {
        let mut samples = Vec::new();
        for step in 0..24 {
            let bytes = 1 + step * 2048;
            let rest = (bytes - 1) as f64;
            let large = bytes > 16_385;
            let network = if large { 8000.0 + 0.25 * rest } else { 5000.0 + 0.5 * rest };
            let trip = 2.0 * (2000.0 + network);
            for repetition in 0..4 {
                let mut add = |operation, time| {
                    samples.push(Sample::simple(operation, bytes, repetition, time));
                };
                add(Operation::RoundTrip, trip);
                add(Operation::Send, if large { 1000.0 + network } else { 1000.0 });
                add(Operation::Receive, 1000.0);
                add(Operation::Exchange, 2000.0 + 1.5 * network);
            }
        }
        fit(&samples, &Options { replicates: 100 })
    }

    fn value(text: &str, key: &str) -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{key}: {text}"))
    }

    #[test]
    fn large_messages_have_costs_of_their_own() {
        let fitted = fitted();
        assert!(matches!(fitted.parameters.get("S"), Some(Estimate { value: 16_385.0, .. })));
        let large = fitted.large("loggops.large");
        assert!((value(&large, "L") - 8000.0).abs() < 5.0, "{large}");
        assert!((value(&large, "G") - 0.25).abs() < 0.001, "{large}");
    }

    /// The link has 5 us less 17 B at 0.5 ns/B, since factors count the envelope and G begins at
    /// the second byte, and 4 GB/s. Beyond S sends are not detached, and the overheads stay in.
    #[test]
    fn factors_are_relative_to_a_link() {
        let flow = fitted().flow("");
        let table = |key: &str| -> Vec<(f64, f64)> {
            let line = flow.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
            let entries = line.unwrap_or_else(|| panic!("{flow}")).trim_end_matches('"').split(';');
            let number = |text: &str| text.parse().expect("a number");
            entries
                .map(|entry| entry.split_once("B:").expect("an entry"))
                .map(|(from, factor)| (number(from), number(factor)))
                .collect()
        };
        let latency = 5000.0 - 17.0 * 0.5;
        let beyond = 8000.0 + 2000.0 - 17.0 * 0.25;
        for (found, expected) in [
            (table("latency-factors"), [(0.0, 1.0), (16_401.0, beyond / latency)]),
            (table("bandwidth-factors"), [(0.0, 0.5), (16_401.0, 1.0)]),
        ] {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found.0 - expected.0).abs() < 0.5, "{flow}");
                assert!((found.1 - expected.1).abs() < 0.001, "{flow}");
            }
        }
        assert!(flow.contains("\ndetached-below = \"16386 B\"\n"), "{flow}");
    }

    /// Both directions at once take half as long again per byte.
    /// Over 1000 to 2000 B the line -500 ns + 1 ns/B is nearest to 1 - 500 1.5 (2^2 - 1)/(2^3 - 1)
    /// ns/B, in thousands of bytes: 0.678571; a line that falls is level at its middle.
    #[test]
    fn pieces_are_not_below_zero() {
        let of = |base, slope| piece(&Segment { from: 1000, to: 2000, base, slope });
        assert_eq!(of(-500.0, 1.0), "1000B:0.000ns:0.678571ns/B");
        assert_eq!(of(500.0, -0.1), "1000B:350.000ns:0.000000ns/B");
        assert_eq!(of(500.0, 1.0), "1000B:500.000ns:1.000000ns/B");
    }

    #[test]
    fn the_limiter_factor() {
        let limiter = fitted().limiter().expect("a factor");
        assert!((1.4..1.6).contains(&limiter), "{limiter}");
    }
}
