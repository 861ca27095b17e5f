//! Simulated time.

/// A point in simulated time, or a span of it, in picoseconds.
///
/// The range is 213 days. [`Time::MAX`] stands for "never" and for "past the range".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of a simulation.
    pub const ZERO: Self = Self(0);
    /// Never; also what a sum past the range saturates to.
    pub const MAX: Self = Self(u64::MAX);

    /// A time of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// The number of picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// The sum, or `None` past the range.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(ps) => Some(Self(ps)),
            None => None,
        }
    }

    /// The sum, or [`Time::MAX`] past the range.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or zero where `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}
