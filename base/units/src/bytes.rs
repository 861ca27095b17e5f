//! Amounts of data.

use std::{fmt, str::FromStr};

use crate::{
    Error,
    quantity::{Dimension, Piece, Unit},
};

/// An amount of data, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Returns an amount of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Decimal prefixes as in the International System of Units, binary ones as in IEC 80000-13.
pub(crate) static BYTES: Dimension = Dimension {
    quantity: "size",
    example: "64 KiB",
    usual: "B",
    known: "B, kB, MB, GB, TB, PB, EB, KiB, MiB, GiB, TiB, PiB, EiB",
    units: &[
        Unit::new("B", 1, 0),
        Unit::new("kB", 1_000, 1),
        Unit::new("KiB", 1 << 10, 1),
        Unit::new("MB", 1_000_000, 1),
        Unit::new("MiB", 1 << 20, 1),
        Unit::new("GB", 1_000_000_000, 1),
        Unit::new("GiB", 1 << 30, 1),
        Unit::new("TB", 1_000_000_000_000, 1),
        Unit::new("TiB", 1 << 40, 1),
        Unit::new("PB", 1_000_000_000_000_000, 1),
        Unit::new("PiB", 1 << 50, 1),
        Unit::new("EB", 1_000_000_000_000_000_000, 1),
        Unit::new("EiB", 1 << 60, 1),
    ],
    resolution: "1 B",
    largest: "18446744073709551615 B",
};

/// Returns the factor of a unit of bytes; a unit of bits has an error of its own.
pub(crate) fn factor(unit: Piece) -> Result<u64, Error> {
    BYTES.factor(unit).map_err(|error| {
        let bytes = unit.text.strip_suffix('b').map(|prefix| format!("{prefix}B"));
        match bytes.filter(|name| BYTES.units.iter().any(|unit| unit.name == name)) {
            Some(bytes) => Error::Bits { offset: unit.offset, unit: unit.text.to_owned(), bytes },
            None => error,
        }
    })
}

impl FromStr for Bytes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        read(Piece::new(0, text)).map(Self)
    }
}

/// Reads a whole number of bytes.
pub(crate) fn read(piece: Piece) -> Result<u64, Error> {
    let text = BYTES.split(piece)?;
    BYTES.scale(&text, factor(text.unit)?)
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        BYTES.print(self.0, f)
    }
}
