//! Messages of several packets: a packet's header is no change of protocol, and neither is what a
//! second packet takes of hosts, while a message that waits for its receiver is.
//!
//! Times are those of Ethernet with frames of 1448 B of contents and 90 B beside them (headers of
//! TCP, preamble, check sequence and gap), written here by themselves.

use calibrate::{Calibration, Operation, Options, Sample, fit};
use kernel::Random;

const OVERHEAD: f64 = 5000.0;

/// A network with a time per byte of a frame and a delay, in nanoseconds.
#[derive(Clone, Copy)]
struct Wire {
    per_byte: f64,
    delay: f64,
    /// The time that hosts take for all packets but the first, each way.
    further_packets: f64,
    /// Beyond this size a message waits for its receiver.
    limit: u64,
}

impl Wire {
    fn frames(&self, bytes: u64) -> f64 {
        self.per_byte * (bytes + 90 * bytes.div_ceil(1448)) as f64
    }

    /// The time of PRTT(n, d, s).
    fn time(&self, messages: u32, wait: f64, bytes: u64) -> f64 {
        let wire = self.frames(bytes);
        let asks = if bytes > self.limit { 2.0 * (self.delay + 2.0 * OVERHEAD) } else { 0.0 };
        let rest = if bytes > 1448 { self.further_packets } else { 0.0 };
        let once = 2.0 * OVERHEAD + self.delay + wire + rest + asks;
        let further = f64::max(OVERHEAD + wait, wire) + asks;
        2.0 * once + f64::from(messages - 1) * further
    }

    /// L is that of one byte.
    fn latency(&self) -> f64 {
        self.delay + self.frames(1)
    }

    /// G is that of full frames.
    fn gap_per_byte(&self) -> f64 {
        self.frames(1448) / 1448.0
    }
}

const SIZES: [u64; 15] =
    [1, 64, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768, 65_536];

fn fitted(wire: Wire, share: f64) -> Calibration {
    let random = Random::new(3, 17);
    let mut samples = Vec::new();
    for (size, bytes) in SIZES.into_iter().enumerate() {
        let clear = (2.0 * wire.frames(bytes).max(OVERHEAD)).round() + 1000.0;
        for (kind, (messages, delay)) in [(1, 0.0), (16, 0.0), (16, clear)].into_iter().enumerate()
        {
            for number in 0..40_u32 {
                let index = u64::from(number) * 2;
                let entity = (size * 3 + kind) as u32;
                let [one, other] = [0, 1].map(|half| random.unit(entity, index + half));
                let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos();
                let time = wire.time(messages, delay, bytes) * (1.0 + share * normal);
                let simple = Sample::simple(Operation::RoundTrip, bytes, number % 5, time);
                samples.push(Sample { messages, delay, run: number / 5, ..simple });
            }
        }
    }
    fit(&samples, &Options { replicates: 200 })
}

fn check(wire: Wire, limit: Option<f64>) {
    for share in [0.002, 0.005] {
        let found = fitted(wire, share);
        let of = |name: &str| {
            let reason = found.refused.get(name);
            found.parameters.get(name).unwrap_or_else(|| panic!("{name}: {reason:?}")).value
        };
        let (latency, per_byte) = (of("L") / wire.latency(), of("G") / wire.gap_per_byte());
        assert!((latency - 1.0).abs() < 0.05, "L {latency} {share}");
        assert!((per_byte - 1.0).abs() < 0.03, "G {per_byte} {share}");
        assert_eq!(found.parameters.get("S").map(|limit| limit.value), limit, "{share}");
    }
}

const GIGABIT: Wire =
    Wire { per_byte: 8.0, delay: 50_000.0, further_packets: 0.0, limit: u64::MAX };

#[test]
fn headers_are_no_change_of_protocol() {
    check(GIGABIT, None);
    check(Wire { per_byte: 80.0, delay: 200_000.0, ..GIGABIT }, None);
}

/// As much as a small message takes over a short cable.
#[test]
fn a_second_packet_is_no_change_of_protocol() {
    check(Wire { further_packets: 30_000.0, ..GIGABIT }, None);
    check(Wire { delay: 5000.0, further_packets: 15_000.0, ..GIGABIT }, None);
}

/// Beyond 16 KiB, and in a network whose messages of several packets cost hosts more.
#[test]
fn messages_that_wait_are_a_change_of_protocol() {
    check(Wire { limit: 16_384, ..GIGABIT }, Some(16_384.0));
    check(Wire { limit: 16_384, further_packets: 30_000.0, ..GIGABIT }, Some(16_384.0));
}
