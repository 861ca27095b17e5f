//! Noise of the operating system: interruptions that lengthen whatever a CPU does meanwhile.
//!
//! As in `LogGOPSim`, an activity that would run from t to u is lengthened once, by the length of
//! all interruptions between t and u; what falls into the extension is not added again.

use kernel::Random;
use units::Time;

/// The source of interruptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Noise {
    /// No interruptions.
    #[default]
    None,
    /// A recorded trace, repeated for ever. It lasts until the end of its last interruption.
    Trace {
        /// Interruptions as (start, duration), ascending and disjoint.
        events: Vec<(Time, Time)>,
        /// True if all ranks see the same interruptions at the same time; otherwise each rank
        /// starts at a random offset, drawn from the seed.
        coscheduled: bool,
    },
    /// One interruption in each slot of length `interval`, whole, at a random position in it.
    Random {
        /// Length of a slot.
        interval: Time,
        /// Distribution of the interruption's length; it lasts at most as long as the slot.
        duration: Duration,
        /// True if all ranks see the same interruptions at the same time.
        coscheduled: bool,
    },
}

/// A distribution of durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duration {
    /// Always the same.
    Fixed(Time),
    /// Uniform between the two, inclusive.
    Uniform(Time, Time),
    /// Exponential with this mean.
    Exponential(Time),
}

/// Purposes of random streams.
const OFFSET: u32 = 0x6f66_6673;
const PLACE: u32 = 0x706c_6163;
const LENGTH: u32 = 0x6c65_6e67;

impl Noise {
    /// Returns by how much the interruptions lengthen what a rank does from `from` to `to`.
    #[inline]
    pub(crate) fn between(&self, seed: u64, rank: u32, from: Time, to: Time) -> Time {
        match self {
            Self::None => Time::ZERO,
            Self::Trace { events, coscheduled } => {
                let entity = if *coscheduled { u32::MAX } else { rank };
                trace(events, seed, entity, from, to)
            }
            Self::Random { interval, duration, coscheduled } => {
                let entity = if *coscheduled { u32::MAX } else { rank };
                slots(*interval, *duration, seed, entity, from, to)
            }
        }
    }
}

fn overlap(a: (u64, u64), b: (u64, u64)) -> u64 {
    a.1.min(b.1).saturating_sub(a.0.max(b.0))
}

fn trace(events: &[(Time, Time)], seed: u64, entity: u32, from: Time, to: Time) -> Time {
    let Some(last) = events.last() else { return Time::ZERO };
    let period = last.0.saturating_add(last.1).ps();
    if period == 0 {
        return Time::ZERO;
    }
    let offset = Random::new(seed, OFFSET).below(entity, 0, period);
    let per_period: u64 = events.iter().fold(0, |sum, event| sum.saturating_add(event.1.ps()));
    let (from, to) = (from.ps().saturating_add(offset), to.ps().saturating_add(offset));
    // Interruptions from the start of the first repetition until t, subtracted from each other.
    let until = |t: u64| {
        let phase = t % period;
        let reached = events.partition_point(|event| event.0.ps() < phase);
        let inside = events[..reached].iter().fold(0u64, |sum, event| {
            let end = event.0.ps().saturating_add(event.1.ps());
            sum + overlap((event.0.ps(), end), (0, phase))
        });
        (t / period).saturating_mul(per_period).saturating_add(inside)
    };
    Time::from_ps(until(to).saturating_sub(until(from)))
}

fn slots(interval: Time, duration: Duration, seed: u64, entity: u32, from: Time, to: Time) -> Time {
    let length = interval.ps();
    if length == 0 || to <= from {
        return Time::ZERO;
    }
    let mut sum = 0u64;
    for slot in from.ps() / length..=(to.ps() - 1) / length {
        let start = slot * length;
        let lasts = draw(duration, Random::new(seed, LENGTH), entity, slot).min(length);
        let places = (length - lasts).saturating_add(1);
        let place = start.saturating_add(Random::new(seed, PLACE).below(entity, slot, places));
        let end = place.saturating_add(lasts);
        sum = sum.saturating_add(overlap((place, end), (from.ps(), to.ps())));
    }
    Time::from_ps(sum)
}

#[allow(clippy::cast_sign_loss)] // a logarithm of at most 1, negated
fn draw(duration: Duration, random: Random, entity: u32, index: u64) -> u64 {
    match duration {
        Duration::Fixed(time) => time.ps(),
        Duration::Uniform(low, high) => {
            let span = high.ps().saturating_sub(low.ps()).saturating_add(1);
            low.ps().saturating_add(random.below(entity, index, span))
        }
        Duration::Exponential(mean) => (-random.unit(entity, index).ln() * mean.ps() as f64) as u64,
    }
}
