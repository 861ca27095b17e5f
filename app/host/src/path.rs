//! Times at which something may start, and the chains of causes that lead to them.

use network::Uncontended;
use serde::{Deserialize, Serialize};
use units::Time;

/// The time of a chain of causes, by what it was spent on. The rest, up to the time at its end, was
/// spent waiting for a gap, or in noise. The parts never add up to more than that time, so their
/// sums do not overflow before it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// Picoseconds of computation.
    pub compute: u64,
    /// Picoseconds of overheads o and O.
    pub overhead: u64,
    /// Picoseconds of latency: L, and that of an idle network.
    pub latency: u64,
    /// Picoseconds of time per byte: G, and the serialisation of an idle network.
    pub bandwidth: u64,
    /// Picoseconds that transits took beyond those on an idle network.
    pub contention: u64,
}

impl Path {
    /// Returns the chain, longer by this much computation.
    #[must_use]
    pub const fn compute(mut self, time: Time) -> Self {
        self.compute = self.compute.wrapping_add(time.ps());
        self
    }

    /// Returns the chain, longer by this much overhead.
    #[must_use]
    pub const fn overhead(mut self, time: Time) -> Self {
        self.overhead = self.overhead.wrapping_add(time.ps());
        self
    }

    /// Returns the chain, longer by this much latency.
    #[must_use]
    pub const fn latency(mut self, time: Time) -> Self {
        self.latency = self.latency.wrapping_add(time.ps());
        self
    }

    /// Returns the chain, longer by this much time per byte.
    #[must_use]
    pub const fn bandwidth(mut self, time: Time) -> Self {
        self.bandwidth = self.bandwidth.wrapping_add(time.ps());
        self
    }

    /// Returns the chain with all times multiplied.
    #[must_use]
    pub const fn scaled(self, factor: u64) -> Self {
        Self {
            compute: self.compute.wrapping_mul(factor),
            overhead: self.overhead.wrapping_mul(factor),
            latency: self.latency.wrapping_mul(factor),
            bandwidth: self.bandwidth.wrapping_mul(factor),
            contention: self.contention.wrapping_mul(factor),
        }
    }

    /// Returns the chain, longer by a transit that took this long, split into latency and
    /// serialisation as on an idle network, and contention, which is the rest.
    #[must_use]
    #[inline]
    pub fn transit(mut self, took: Time, idle: &Uncontended) -> Self {
        let transit = idle.transit.min(took);
        let latency = idle.latency.min(transit);
        self = self.latency(latency).bandwidth(transit.saturating_sub(latency));
        self.contention = self.contention.wrapping_add(took.saturating_sub(transit).ps());
        self
    }
}

/// A time at which something may start, with what caused it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The time.
    pub time: Time,
    /// The time of the cause: the start of what led to it.
    pub cause: Time,
    /// The chain of causes that led to it.
    pub path: Path,
}

impl Stamp {
    /// Returns the stamp at which both have come.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let cause = self.cause.max(other.cause);
        let last = if other.time > self.time { other } else { self };
        Self { cause, ..last }
    }
}

/// A resource that is used by one thing at a time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Clock {
    /// The time from which it is free.
    pub free: Time,
    /// The chain of causes that led to that time.
    pub path: Path,
}
