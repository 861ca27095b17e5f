//! Link rates by their InfiniBand names.

use std::{fmt, str::FromStr};

use units::Bandwidth;

use crate::Fault;

/// Signalling generation of a lane. Rates and encodings: InfiniBand Architecture Specification,
/// volume 2 (SDR to NDR), and the InfiniBand Trade Association's roadmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speed {
    /// 2.5 Gb/s, 8b/10b.
    Sdr,
    /// 5 Gb/s, 8b/10b.
    Ddr,
    /// 10 Gb/s, 8b/10b.
    Qdr,
    /// 10.3125 Gb/s, 64b/66b.
    Fdr10,
    /// 14.0625 Gb/s, 64b/66b.
    Fdr,
    /// 25.78125 Gb/s, 64b/66b.
    Edr,
    /// 50 Gb/s of data.
    Hdr,
    /// 100 Gb/s of data.
    Ndr,
    /// 200 Gb/s of data.
    Xdr,
}

const SPEEDS: [(&str, Speed, u64); 9] = [
    ("SDR", Speed::Sdr, 2_000_000_000),
    ("DDR", Speed::Ddr, 4_000_000_000),
    ("QDR", Speed::Qdr, 8_000_000_000),
    ("FDR10", Speed::Fdr10, 10_000_000_000),
    ("FDR", Speed::Fdr, 13_636_363_636),
    ("EDR", Speed::Edr, 25_000_000_000),
    ("HDR", Speed::Hdr, 50_000_000_000),
    ("NDR", Speed::Ndr, 100_000_000_000),
    ("XDR", Speed::Xdr, 200_000_000_000),
];
const WIDTHS: [u8; 5] = [1, 2, 4, 8, 12];

/// The rate of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rate {
    /// A number of lanes of a generation, written `4xDDR`.
    Lanes(u8, Speed),
    /// Data per time, after encoding.
    Data(Bandwidth),
}

impl Rate {
    /// Data per time, after encoding.
    pub fn bandwidth(self) -> Bandwidth {
        match self {
            Self::Data(bandwidth) => bandwidth,
            Self::Lanes(lanes, speed) => {
                let bits = SPEEDS.iter().find(|entry| entry.1 == speed).map_or(0, |entry| entry.2);
                Bandwidth::from_bits_per_second(u64::from(lanes) * bits)
            }
        }
    }
}

impl FromStr for Rate {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        if let Ok(bandwidth) = text.parse::<Bandwidth>() {
            return match bandwidth.bits_per_second() {
                0 => Err(Fault::new("a link's rate cannot be zero")),
                _ => Ok(Self::Data(bandwidth)),
            };
        }
        let unknown = || {
            Fault::new(format!(
                "there is no rate `{text}`; expected 1x, 2x, 4x, 8x or 12x of SDR, DDR, QDR, \
                 FDR10, FDR, EDR, HDR, NDR or XDR, such as `4xDDR`, or a bandwidth, such as `100 \
                 Gb/s`"
            ))
        };
        let (width, name) = text.trim().split_once(['x', 'X']).ok_or_else(unknown)?;
        let name = name.trim();
        let width = width.trim().parse().ok().filter(|width| WIDTHS.contains(width));
        let speed = SPEEDS.iter().find(|entry| entry.0.eq_ignore_ascii_case(name));
        match (width, speed) {
            (Some(width), Some(speed)) => Ok(Self::Lanes(width, speed.1)),
            (_, None) => Err(unknown().near(name, &SPEEDS.map(|entry| entry.0))),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Data(bandwidth) => bandwidth.fmt(f),
            Self::Lanes(lanes, speed) => {
                let name = SPEEDS.iter().find(|entry| entry.1 == *speed).map_or("", |e| e.0);
                write!(f, "{lanes}x{name}")
            }
        }
    }
}
