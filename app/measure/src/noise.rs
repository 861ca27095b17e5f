//! The time that the system takes from a computing process, by a fixed quantum of work.
//!
//! A process repeats the same short computation and looks at the clock in between. A quantum that
//! takes longer was interrupted for the rest of its time. Interruptions shorter than a quarter of a
//! quantum are not seen. Source: Sottile and Minnich, "Analysis of microbenchmarks for performance
//! tuning of clusters", 2004 (fixed work quanta).

use std::{
    fmt::Write as _,
    hint::black_box,
    time::{Duration, Instant},
};

/// The length of a quantum, in nanoseconds.
const QUANTUM: f64 = 2000.0;
/// A quantum that is longer by this share was interrupted.
const SHARE: f64 = 0.25;
/// More interruptions than this are not kept.
const MOST: usize = 1 << 22;

/// The interruptions of a process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    /// The start and the length of each, in nanoseconds.
    pub interruptions: Vec<(u64, u64)>,
    /// The time that was watched, in nanoseconds.
    pub watched: u64,
    /// The length of a quantum, in nanoseconds.
    pub quantum: f64,
}

/// Computes: so many steps of a linear congruential generator, each of which needs the last.
fn work(steps: u64) -> u64 {
    (0..steps).fold(black_box(1), |state: u64, _| {
        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
    })
}

/// Watches for a time.
pub fn watch(length: Duration) -> Noise {
    let steps = calibrated();
    let start = Instant::now();
    let mut ends = Vec::new();
    let mut noise = Noise { quantum: QUANTUM, ..Noise::default() };
    // The least time of a quantum is known from the first thousand; it may become less.
    let mut least = u64::MAX;
    let (mut before, mut quanta) = (0, 0_u64);
    while before < nanoseconds(length) && ends.len() < MOST {
        black_box(work(steps));
        let now = nanoseconds(start.elapsed());
        let took = now - before;
        least = least.min(took);
        quanta += 1;
        if quanta > 1000 && took as f64 > (1.0 + SHARE) * least as f64 {
            ends.push((now, took));
        }
        before = now;
    }
    noise.watched = before;
    noise.quantum = least as f64;
    let interrupted =
        ends.into_iter().filter(|(_, took)| *took as f64 > (1.0 + SHARE) * least as f64);
    noise.interruptions =
        interrupted.map(|(end, took)| (end - (took - least), took - least)).collect();
    noise
}

/// Finds how many steps make a quantum, by the fastest of some tries.
#[expect(clippy::cast_sign_loss, reason = "times are positive")]
fn calibrated() -> u64 {
    let each = (0..200).map(|_| {
        let start = Instant::now();
        black_box(work(1000));
        start.elapsed().as_nanos() as f64 / 1000.0
    });
    let each = each.fold(f64::INFINITY, f64::min).max(0.01);
    (QUANTUM / each).max(1.0) as u64
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Noise {
    /// Returns the share of the time that was taken.
    pub fn share(&self) -> f64 {
        let taken: u64 = self.interruptions.iter().map(|(_, length)| length).sum();
        taken as f64 / self.watched.max(1) as f64
    }

    /// Returns the trace: a line for each interruption, its start and its length in nanoseconds.
    pub fn trace(&self) -> String {
        self.interruptions.iter().fold(String::new(), |mut text, (start, length)| {
            let _ = writeln!(text, "{start} {length}");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interruptions follow each other and are within the time that was watched.
    #[test]
    fn interruptions_are_in_order() {
        let noise = watch(Duration::from_millis(100));
        assert!(noise.watched >= 100_000_000 && noise.share() < 1.0);
        assert!(noise.quantum > 100.0 && noise.quantum < 1e6, "{}", noise.quantum);
        let mut before = 0;
        for (start, length) in &noise.interruptions {
            assert!(*start >= before && *length > 0);
            before = start + length;
        }
        assert!(before <= noise.watched);
        assert_eq!(noise.trace().lines().count(), noise.interruptions.len());
    }
}
