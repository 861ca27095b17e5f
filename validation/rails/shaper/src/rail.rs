//! The description of a rail, as the command line has it.

use std::str::FromStr;

use units::{Bandwidth, Time};

/// The longest name of a network device in Linux, in bytes.
const LONGEST_NAME: usize = 15;

/// A rail: the name of its devices, its rate and its delay, both the same either way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rail {
    /// The name of the device in either namespace.
    pub name: String,
    /// The rate of the wire.
    pub rate: Bandwidth,
    /// The time from when a frame has left its queue to when it arrives.
    pub delay: Time,
}

/// The reason why a text describes no rail.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// `{0}` is not of the form NAME:RATE:DELAY, such as A:1Gb/s:50us
    #[error("`{0}` is not of the form NAME:RATE:DELAY, such as A:1Gb/s:50us")]
    Form(String),
    /// `{0}` cannot be the name of a device: 1 to 15 letters, digits, `-` and `_`, and not `lo`
    #[error(
        "`{0}` cannot be the name of a device: 1 to {LONGEST_NAME} letters, digits, `-` and `_`, \
         and neither `lo` nor `ctl`"
    )]
    Name(String),
    /// The rate or the delay is no quantity.
    #[error("{what} of `{rail}`: {error}")]
    Quantity {
        /// The word for the quantity.
        what: &'static str,
        /// The whole description.
        rail: String,
        /// The reason, with the known units.
        error: units::Error,
    },
    /// The rate is zero.
    #[error("the rate of `{0}` is zero; a running rail can be taken down")]
    Standstill(String),
}

impl FromStr for Rail {
    type Err = Mistake;

    fn from_str(text: &str) -> Result<Self, Mistake> {
        let mut parts = text.split(':');
        let (Some(name), Some(rate), Some(delay), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Mistake::Form(text.to_owned()));
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let fits = (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_plain);
        if !fits || name == "lo" || name == crate::CONTROL {
            return Err(Mistake::Name(name.to_owned()));
        }
        let quantity = |what, error| Mistake::Quantity { what, rail: text.to_owned(), error };
        let rate: Bandwidth = rate.parse().map_err(|error| quantity("rate", error))?;
        let delay = delay.parse().map_err(|error| quantity("delay", error))?;
        if rate.bits_per_second() == 0 {
            return Err(Mistake::Standstill(name.to_owned()));
        }
        Ok(Self { name: name.to_owned(), rate, delay })
    }
}
