//! Moments, and the chains of causes that lead to them.

use units::Time;

/// Where the time of a chain of causes went. What is missing to the moment at its end was spent
/// waiting for a gap, or in noise. The parts never add up to more than that moment, so their sums
/// do not overflow before it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// In computation, in picoseconds, like the others.
    pub compute: u64,
    /// In overheads o and O.
    pub overhead: u64,
    /// In latency L.
    pub latency: u64,
    /// In time per byte G.
    pub bandwidth: u64,
}

impl Path {
    /// The chain, longer by so much computation.
    #[must_use]
    pub const fn compute(mut self, time: Time) -> Self {
        self.compute = self.compute.wrapping_add(time.ps());
        self
    }

    /// The chain, longer by so much overhead.
    #[must_use]
    pub const fn overhead(mut self, time: Time) -> Self {
        self.overhead = self.overhead.wrapping_add(time.ps());
        self
    }

    /// The chain, longer by so much latency.
    #[must_use]
    pub const fn latency(mut self, time: Time) -> Self {
        self.latency = self.latency.wrapping_add(time.ps());
        self
    }

    /// The chain, longer by so much time per byte.
    #[must_use]
    pub const fn bandwidth(mut self, time: Time) -> Self {
        self.bandwidth = self.bandwidth.wrapping_add(time.ps());
        self
    }
}

/// A moment at which something may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The time.
    pub time: Time,
    /// The time when that was caused: the start of what led to it.
    pub cause: Time,
    /// How it came about.
    pub path: Path,
}

impl Stamp {
    /// The moment at which both have come.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let cause = self.cause.max(other.cause);
        let last = if other.time > self.time { other } else { self };
        Self { cause, ..last }
    }
}

/// A resource that is used by one thing at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// From when it is free.
    pub free: Time,
    /// How that came about.
    pub path: Path,
}
