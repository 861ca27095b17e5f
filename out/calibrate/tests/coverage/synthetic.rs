//! Synthetic samples of known parameters.

use calibrate::{Operation, Sample};
use kernel::Random;

/// The kinds of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// No noise.
    Exact,
    /// Normal noise of 1 %.
    Clean,
    /// Log-normal noise.
    LogNormal,
    /// Normal noise; one sample in twenty takes up to five times as long, and one in twenty is
    /// early, so that the median stays.
    Spikes,
    /// Student's noise with two degrees of freedom.
    HeavyTail,
    /// Noise of which repetitions of a run keep 70 % from one to the next.
    Correlated,
    /// Clean noise, and a step of the time behind 16 KiB.
    Steps,
    /// A third of the samples takes 30 % longer.
    Modes,
    /// Times grow by 10 % from the first run to the last.
    Drift,
}

pub const FAMILIES: [Family; 6] = [
    Family::Clean,
    Family::LogNormal,
    Family::Spikes,
    Family::HeavyTail,
    Family::Correlated,
    Family::Steps,
];

/// Parameters of an interconnect, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    latency: f64,
    overhead: f64,
    gap: f64,
    per_byte: f64,
    overhead_per_byte: f64,
    /// S, if there is a step behind it.
    limit: Option<u64>,
}

impl Truth {
    /// Parameters without O and without a step.
    pub fn new(latency: f64, overhead: f64, gap: f64, per_byte: f64) -> Self {
        Self { latency, overhead, gap, per_byte, overhead_per_byte: 0.0, limit: None }
    }

    /// Parameters between those of fast and slow networks; g is from 0.7 to 3 times o.
    pub fn random(seed: u32, family: Family) -> Self {
        let random = Random::new(11, 5);
        let between =
            |index, low: f64, high: f64| low * (high / low).powf(random.unit(seed, index));
        let overhead = between(0, 300.0, 3000.0);
        let per_byte = between(1, 0.05, 5.0);
        Self {
            latency: between(2, 1000.0, 30_000.0),
            overhead,
            gap: overhead * between(3, 0.7, 3.0),
            per_byte,
            overhead_per_byte: per_byte * between(4, 0.05, 0.3),
            limit: (family == Family::Steps).then_some(16_384),
        }
    }

    pub fn parameters(&self) -> Vec<(&'static str, f64)> {
        let mut all = vec![
            ("L", self.latency),
            ("o", self.overhead),
            ("g", self.gap),
            ("G", self.per_byte),
            ("O", self.overhead_per_byte),
        ];
        all.extend(self.limit.map(|limit| ("S", limit as f64)));
        all
    }

    /// The time of PRTT(n, d, s).
    fn time(&self, n: u32, delay: f64, bytes: u64) -> f64 {
        let rest = (bytes - 1) as f64;
        let over = self.overhead + self.overhead_per_byte * rest;
        let once = 2.0 * (2.0 * over + self.latency + self.per_byte * rest);
        let further = f64::max(over + delay, self.gap + self.per_byte * rest);
        let step = if self.limit.is_some_and(|limit| bytes > limit) {
            f64::from(n) * 3.0 * self.latency
        } else {
            0.0
        };
        once + f64::from(n - 1) * further + step
    }
}

/// Two normal numbers from two uniform ones.
fn normal(random: Random, entity: u32, index: u64) -> f64 {
    let [one, other] = [0, 1].map(|half| random.unit(entity, index * 2 + half));
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

const RUNS: u32 = 8;
const REPETITIONS: u32 = 10;

/// Samples of round trips of 1 and of 16 messages over 16 sizes, with a delay at each.
pub fn set(truth: &Truth, family: Family, seed: u32) -> Vec<Sample> {
    let random = Random::new(u64::from(seed), 9);
    let sizes = (0..16).map(|step| 1 + step * 2048);
    let sizes: Vec<u64> = sizes.collect();
    let further = |bytes| truth.time(2, 0.0, bytes) - truth.time(1, 0.0, bytes);
    let longest = further(30_721);
    let delay = (2.0 * longest.max(truth.gap)).round();
    let cells =
        sizes.iter().flat_map(|&bytes| [(1, 0.0), (16, 0.0), (16, delay)].map(|k| (k, bytes)));
    let mut samples = Vec::new();
    for (cell, ((n, delay), bytes)) in cells.enumerate() {
        let truth = truth.time(n, delay, bytes);
        for run in 0..RUNS {
            let mut kept = normal(random, cell as u32, u64::from(run) + 1_000_000);
            for repetition in 0..REPETITIONS {
                let index = u64::from(run * REPETITIONS + repetition);
                let number = normal(random, cell as u32, index);
                let uniform = random.unit(cell as u32 + 1_000_000, index);
                kept = 0.7 * kept + 0.51_f64.sqrt() * number;
                let noise = noise(family, number, kept, uniform, f64::from(run) / 8.0);
                samples.push(Sample {
                    messages: n,
                    delay,
                    run,
                    ..Sample::simple(Operation::RoundTrip, bytes, repetition, truth * (1.0 + noise))
                });
            }
        }
    }
    samples
}

/// The noise as a share of the time, from a normal number, one that keeps 70 % of its predecessor,
/// a uniform one and the place of the run among all.
fn noise(family: Family, normal: f64, kept: f64, uniform: f64, place: f64) -> f64 {
    match family {
        Family::Exact => 0.0,
        Family::LogNormal => (0.05 * normal).exp() - 1.0,
        Family::Spikes if uniform < 0.05 => 4.0 * normal.abs(),
        Family::Spikes if uniform > 0.95 => -0.02 - 0.1 * (uniform - 0.95),
        // The quantile function of Student's distribution with two degrees of freedom; its left
        // tail is cut, since times are positive.
        Family::HeavyTail => {
            let from_middle = 2.0 * uniform - 1.0;
            let quantile = from_middle * (2.0 / (1.0 - from_middle * from_middle).max(1e-9)).sqrt();
            (0.01 * quantile).max(-0.5)
        }
        Family::Correlated => 0.01 * kept,
        Family::Modes if uniform < 1.0 / 3.0 => 0.3 + 0.01 * normal,
        Family::Clean | Family::Steps | Family::Spikes | Family::Modes => 0.01 * normal,
        Family::Drift => 0.01 * normal + 0.1 * place,
    }
}

/// Times of sends with one to four pieces over 48 sizes, with the sizes behind which pieces end and
/// the step of the sizes.
pub fn sends(seed: u32, pieces: usize) -> (Vec<Sample>, Vec<u64>, u64) {
    let (random, step) = (Random::new(u64::from(seed), 13), 1024);
    let breaks: Vec<u64> =
        (1..pieces as u64).map(|piece| piece * 48 / pieces as u64 * step).collect();
    let mut samples = Vec::new();
    for size in 0..48 {
        let bytes = size * step;
        let behind = breaks.iter().filter(|end| bytes > **end).count() as f64;
        let time = 1000.0 + 0.1 * bytes as f64 + behind * (1500.0 + 0.05 * bytes as f64);
        for repetition in 0..40 {
            let number = normal(random, size as u32, repetition);
            let noisy = time * (1.0 + 0.02 * number);
            let simple = Sample::simple(Operation::Send, bytes, repetition as u32 % 5, noisy);
            samples.push(Sample { run: repetition as u32 / 5, ..simple });
        }
    }
    (samples, breaks, step)
}
