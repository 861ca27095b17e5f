//! Rates between time and bytes.

use std::{fmt, str::FromStr};

use crate::{
    Bandwidth, Bytes, Error, Time,
    bandwidth::{BANDWIDTH, PS_PER_BYTE_AT_1_BPS},
    bytes,
    quantity::{Decimal, Dimension, Piece, Text, decimals, gcd},
    time::TIME,
};

/// Time per byte as an exact fraction: `ps` picoseconds for every `bytes` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimePerByte {
    ps: u64,
    bytes: u64,
}

impl TimePerByte {
    /// A rate at which bytes take no time.
    pub const ZERO: Self = Self { ps: 0, bytes: 1 };

    /// Returns the rate of `ps` picoseconds for every `bytes` bytes; `None` if `bytes` is zero.
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

    /// Returns the fraction as (picoseconds, bytes), in lowest terms.
    pub const fn parts(self) -> (u64, u64) {
        (self.ps, self.bytes)
    }

    /// Returns the time that `bytes` bytes take, rounded once to the nearest picosecond (half up);
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

static TIME_PER_BYTE: Dimension = Dimension {
    quantity: "time per byte",
    example: "6 ns/B",
    usual: "ns/B",
    known: "a time per bytes such as ps/B, ns/B, us/KiB, or a bandwidth such as Gb/s",
    units: &[],
    resolution: "a fraction of two 64-bit numbers, in picoseconds per byte",
    largest: "18446744073709551615 ps/B",
};

impl FromStr for TimePerByte {
    type Err = Error;

    /// Reads a time per bytes (`6 ns/B`, `1 us/KiB`, `7 ps/3 B`) or a bandwidth (`100 Gb/s`).
    fn from_str(text: &str) -> Result<Self, Error> {
        let split = TIME_PER_BYTE.split(Piece::new(0, text))?;
        let Some(slash) = split.unit.text.find('/') else {
            return Err(TIME_PER_BYTE.unknown(split.unit, &["ps/B", "ns/B", "us/B"]));
        };
        let (time, bytes) = split.unit.split(slash);
        let (_, bytes) = bytes.split(1);
        if bytes.text == "s" {
            from_bandwidth(text, &split)
        } else {
            from_fraction(&split, time, bytes)
        }
    }
}

fn from_bandwidth(text: &str, split: &Text) -> Result<TimePerByte, Error> {
    let bits = BANDWIDTH.read(text)?;
    let rate = Bandwidth::from_bits_per_second(bits).time_per_byte();
    rate.ok_or_else(|| Error::Zero { offset: split.digits.offset, found: text.trim().to_owned() })
}

fn from_fraction(split: &Text, time: Piece, bytes: Piece) -> Result<TimePerByte, Error> {
    let ps = u128::from(TIME.factor(time)?);
    let per = if bytes.text.starts_with(|c: char| c.is_ascii_digit()) {
        bytes::read(bytes)?
    } else {
        bytes::factor(bytes)?
    };
    if per == 0 {
        return Err(Error::Zero { offset: bytes.offset, found: bytes.text.to_owned() });
    }
    let number = split.number;
    let per = u128::from(per);
    // Dividing crosswise first keeps the products as small as they can be.
    let (a, b) = (gcd(number.numerator, per), gcd(ps, number.denominator));
    let (ps, per) = (ps / b, per / a);
    let c = gcd(ps, per);
    let narrow = |x: u128, y: u128| x.checked_mul(y).and_then(|z| u64::try_from(z).ok());
    let offset = split.digits.offset;
    let ps = narrow(number.numerator / a, ps / c);
    let per = narrow(number.denominator / b, per / c);
    let ps = ps.ok_or_else(|| TIME_PER_BYTE.out_of_range(offset))?;
    per.and_then(|per| TimePerByte::new(ps, per)).ok_or_else(|| TIME_PER_BYTE.too_fine(offset))
}

impl fmt::Display for TimePerByte {
    /// Prints a time per byte where its decimals end soon, else a bandwidth where that is a whole
    /// number of bits per second, else a time per several bytes.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (ps, bytes) = (u128::from(self.ps), u128::from(self.bytes));
        if bytes == 1 {
            return f.pad(&format!("{}/B", Time::from_ps(self.ps)));
        }
        if let Some(digits) = decimals(ps % bytes, bytes) {
            return f.pad(&format!("{} ps/B", Decimal(ps / bytes, digits)));
        }
        let bits = u128::from(PS_PER_BYTE_AT_1_BPS) * bytes;
        if bits.is_multiple_of(ps)
            && let Ok(bits) = u64::try_from(bits / ps)
        {
            return Bandwidth::from_bits_per_second(bits).fmt(f);
        }
        f.pad(&format!("{}/{}", Time::from_ps(self.ps), Bytes::new(self.bytes)))
    }
}
