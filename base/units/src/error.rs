//! What can be wrong with the text of a quantity.

/// Why a text is not a quantity. The offsets count bytes of the text that was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is empty or blank.
    #[error("there is no {quantity} here: write it as \"{example}\"")]
    Empty {
        /// What was expected.
        quantity: &'static str,
        /// How to write it.
        example: &'static str,
    },
    /// The text does not begin with a number.
    #[error("expected a number such as 12 or 1.5, found \"{found}\"")]
    NotANumber {
        /// Where the number should be.
        offset: usize,
        /// What stands there.
        found: String,
    },
    /// The number has no unit.
    #[error("a bare number has no unit: write \"{number} {unit}\" (units of {quantity}: {known})")]
    NoUnit {
        /// Where the unit should be.
        offset: usize,
        /// The number.
        number: String,
        /// A usual unit.
        unit: &'static str,
        /// What was expected.
        quantity: &'static str,
        /// The units to choose from.
        known: &'static str,
    },
    /// The unit is not known.
    #[error("unknown unit \"{unit}\"{} (units of {quantity}: {known})", did_you_mean(*.nearest))]
    UnknownUnit {
        /// Where the unit stands.
        offset: usize,
        /// The unit.
        unit: String,
        /// The known unit that looks most like it.
        nearest: Option<&'static str>,
        /// What was expected.
        quantity: &'static str,
        /// The units to choose from.
        known: &'static str,
    },
    /// The unit counts bits where bytes are meant.
    #[error("\"{unit}\" counts bits: write \"{bytes}\" for bytes")]
    Bits {
        /// Where the unit stands.
        offset: usize,
        /// The unit.
        unit: String,
        /// The same with a capital B.
        bytes: String,
    },
    /// The value is larger than the type holds.
    #[error("out of range: the largest {quantity} is {largest}")]
    OutOfRange {
        /// Where the number stands.
        offset: usize,
        /// What was expected.
        quantity: &'static str,
        /// The largest value.
        largest: &'static str,
    },
    /// The value is not a multiple of the smallest unit.
    #[error("below the resolution: a {quantity} is a whole multiple of {resolution}")]
    TooFine {
        /// Where the number stands.
        offset: usize,
        /// What was expected.
        quantity: &'static str,
        /// The smallest value above zero.
        resolution: &'static str,
    },
    /// A time per byte would divide by zero.
    #[error("\"{found}\" is zero and gives no time per byte")]
    Zero {
        /// Where the zero stands.
        offset: usize,
        /// The quantity that is zero.
        found: String,
    },
}

impl Error {
    /// Where in the text the mistake is, in bytes from its start.
    pub const fn offset(&self) -> usize {
        match self {
            Self::Empty { .. } => 0,
            Self::NotANumber { offset, .. }
            | Self::NoUnit { offset, .. }
            | Self::UnknownUnit { offset, .. }
            | Self::Bits { offset, .. }
            | Self::OutOfRange { offset, .. }
            | Self::TooFine { offset, .. }
            | Self::Zero { offset, .. } => *offset,
        }
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |word| format!(", did you mean \"{word}\"?"))
}
