//! Simulated time.

use std::{fmt, str::FromStr};

use crate::{
    Error,
    quantity::{Dimension, Unit},
};

/// A point in simulated time, or a span of it, in picoseconds.
///
/// The range is 213 days. [`Time::MAX`] stands for "never" and for "past the range".
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Time(u64);

impl Time {
    /// The start of a simulation.
    pub const ZERO: Self = Self(0);
    /// Never; a sum past the range saturates to it, too.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a time of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the number of picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Returns the sum, or `None` past the range.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(ps) => Some(Self(ps)),
            None => None,
        }
    }

    /// Returns the sum, or [`Time::MAX`] past the range.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference, or zero where `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

pub(crate) static TIME: Dimension = Dimension {
    quantity: "time",
    example: "2500 ns",
    usual: "ns",
    known: "ps, ns, us, ms, s, min, h",
    units: &[
        Unit::new("ps", 1, 0),
        Unit::new("ns", 1_000, 3),
        Unit::new("us", 1_000_000, 3),
        Unit::new("ms", 1_000_000_000, 3),
        Unit::new("s", 1_000_000_000_000, 3),
        Unit::new("min", 60_000_000_000_000, 0),
        Unit::new("h", 3_600_000_000_000_000, 0),
    ],
    resolution: "1 ps",
    largest: "18446744.073709551615 s (213 days)",
};

impl FromStr for Time {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        TIME.read(text).map(Self)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        TIME.print(self.0, f)
    }
}
