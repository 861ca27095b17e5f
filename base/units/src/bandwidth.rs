//! Data rates.

use std::{fmt, str::FromStr};

use crate::{
    Error, TimePerByte,
    quantity::{Dimension, Unit},
};

/// A data rate, in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bandwidth(u64);

impl Bandwidth {
    /// Returns a rate of `bits` bits per second.
    pub const fn from_bits_per_second(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the number of bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Returns the time that one byte takes at this rate; `None` if the rate is zero.
    pub const fn time_per_byte(self) -> Option<TimePerByte> {
        TimePerByte::new(PS_PER_BYTE_AT_1_BPS, self.0)
    }
}

/// The time of one byte at one bit per second, 8 s, in picoseconds.
pub(crate) const PS_PER_BYTE_AT_1_BPS: u64 = 8_000_000_000_000;

pub(crate) static BANDWIDTH: Dimension = Dimension {
    quantity: "bandwidth",
    example: "100 Gb/s",
    usual: "b/s",
    known: "b/s, kb/s, Mb/s, Gb/s, Tb/s, B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s",
    units: &[
        Unit::new("b/s", 1, 0),
        Unit::read_only("B/s", 8),
        Unit::new("kb/s", 1_000, 3),
        Unit::new("Kib/s", 1 << 10, 0),
        Unit::read_only("kB/s", 8_000),
        Unit::read_only("KiB/s", 8 << 10),
        Unit::new("Mb/s", 1_000_000, 3),
        Unit::new("Mib/s", 1 << 20, 0),
        Unit::read_only("MB/s", 8_000_000),
        Unit::read_only("MiB/s", 8 << 20),
        Unit::new("Gb/s", 1_000_000_000, 3),
        Unit::new("Gib/s", 1 << 30, 0),
        Unit::read_only("GB/s", 8_000_000_000),
        Unit::read_only("GiB/s", 8 << 30),
        Unit::new("Tb/s", 1_000_000_000_000, 3),
        Unit::new("Tib/s", 1 << 40, 0),
        Unit::read_only("TB/s", 8_000_000_000_000),
        Unit::read_only("TiB/s", 8 << 40),
        Unit::new("Pb/s", 1_000_000_000_000_000, 3),
        Unit::new("Pib/s", 1 << 50, 0),
        Unit::read_only("PB/s", 8_000_000_000_000_000),
        Unit::read_only("PiB/s", 8 << 50),
        Unit::new("Eb/s", 1_000_000_000_000_000_000, 3),
        Unit::new("Eib/s", 1 << 60, 0),
        Unit::read_only("EB/s", 8_000_000_000_000_000_000),
        Unit::read_only("EiB/s", 8 << 60),
    ],
    resolution: "1 b/s",
    largest: "18446744073709551615 b/s",
};

impl FromStr for Bandwidth {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        BANDWIDTH.read(text).map(Self)
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        BANDWIDTH.print(self.0, f)
    }
}
