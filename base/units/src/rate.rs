//! Rates between time and bytes.

use crate::Time;

/// Time per byte as an exact fraction: `ps` picoseconds for every `bytes` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimePerByte {
    ps: u64,
    bytes: u64,
}

impl TimePerByte {
    /// No time at all.
    pub const ZERO: Self = Self { ps: 0, bytes: 1 };

    /// `ps` picoseconds for every `bytes` bytes, in lowest terms; `None` if `bytes` is zero.
    pub const fn new(ps: u64, bytes: u64) -> Option<Self> {
        if bytes == 0 {
            return None;
        }
        let (mut a, mut b) = (ps, bytes);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Some(Self { ps: ps / a, bytes: bytes / a })
    }

    /// The fraction as (picoseconds, bytes), in lowest terms.
    pub const fn parts(self) -> (u64, u64) {
        (self.ps, self.bytes)
    }

    /// The time that `bytes` bytes take, rounded once to the nearest picosecond (half up);
    /// [`Time::MAX`] past the range.
    #[inline]
    pub fn cost(self, bytes: u64) -> Time {
        if self.bytes == 1 {
            return Time::from_ps(self.ps.saturating_mul(bytes));
        }
        let (ps, per) = (u128::from(self.ps), u128::from(self.bytes));
        let rounded = (ps * u128::from(bytes) + per / 2) / per;
        Time::from_ps(u64::try_from(rounded).unwrap_or(u64::MAX))
    }
}
