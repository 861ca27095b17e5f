//! A network on which messages after a delay cost more, since somebody has to wake up for them:
//! then the sender's overhead is only known to be at most what messages in a row cost.

use calibrate::{Calibration, Estimate, Operation, Options, Sample, fit};
use kernel::Random;

/// The overheads, the gap of a small message, which hides that of the sender, what waking up costs,
/// and L, in nanoseconds; G is 8 ns/B.
const SEND: f64 = 3000.0;
const RECEIVE: f64 = 2000.0;
const GAP: f64 = 5000.0;
const WAKING: f64 = 9000.0;
const LATENCY: f64 = 50_000.0;

const REPLICATES: u32 = 1000;

/// Round trips and receives with a deviation of 0.5 % of their times.
fn fitted() -> Calibration {
    let random = Random::new(5, 17);
    let mut samples = Vec::new();
    for (size, bytes) in [1_u64, 250, 500, 1000, 2000, 4000].into_iter().enumerate() {
        let gap = GAP + 8.0 * (bytes - 1) as f64;
        let trip = 2.0 * (SEND + LATENCY + RECEIVE + 8.0 * (bytes - 1) as f64);
        let delay = 2.0 * gap;
        let kinds = [
            (Operation::RoundTrip, 1, 0.0, trip),
            (Operation::RoundTrip, 16, 0.0, trip + 15.0 * gap),
            (Operation::RoundTrip, 16, delay, trip + 15.0 * (SEND + WAKING + gap + delay)),
            (Operation::Receive, 1, 0.0, RECEIVE),
        ];
        for (kind, (operation, messages, delay, time)) in kinds.into_iter().enumerate() {
            for number in 0..40_u32 {
                let entity = (size * 4 + kind) as u32;
                let [one, other] =
                    [0, 1].map(|half| random.unit(entity, u64::from(number) * 2 + half));
                let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos();
                let time = time * (1.0 + 0.005 * normal);
                let simple = Sample::simple(operation.clone(), bytes, number % 5, time);
                samples.push(Sample { messages, delay, run: number / 5, ..simple });
            }
        }
    }
    fit(&samples, &Options { replicates: REPLICATES })
}

#[test]
fn overhead_and_latency_reach_as_far_as_they_may() {
    let found = fitted();
    assert!(found.diagnoses.iter().any(|it| it.name == "delay-disturbs"), "{:?}", found.diagnoses);
    let of = |name: &str| found.parameters[name];
    let Estimate { value, low, high } = of("o_send");
    assert!(
        (value - GAP).abs() < 200.0 && low == 0.0 && high < GAP + 500.0,
        "{value} {low} {high}"
    );
    let Estimate { value, low, high } = of("L");
    let least = LATENCY + SEND - GAP;
    assert!((value - least).abs() < 500.0, "{value}");
    assert!(least - 2000.0 < low && low < least, "{low}");
    assert!(LATENCY + SEND < high && high < LATENCY + SEND + 2000.0, "{high}");
}

/// A time one way is known however its parts are shared, and they are shared in all ways.
#[test]
fn replicates_share_the_time_among_overhead_and_latency() {
    let found = fitted();
    let place = |name: &str| found.columns.iter().position(|it| *it == name).expect("a column");
    let [send, receive, latency] = ["o_send", "o_receive", "L"].map(place);
    assert_eq!(found.replicates.len(), REPLICATES as usize);
    let mut below = 0;
    for row in &found.replicates {
        let sum = row[send] + row[receive] + row[latency];
        assert!((sum / (SEND + LATENCY + RECEIVE) - 1.0).abs() < 0.01, "{sum}");
        below += u32::from(row[send] < GAP / 4.0);
    }
    // A quarter, and four deviations of the number of so many draws.
    let deviation = (f64::from(REPLICATES) * 0.25 * 0.75).sqrt();
    let expected = f64::from(REPLICATES) / 4.0;
    assert!((f64::from(below) - expected).abs() < 4.0 * deviation, "{below}");
}
