//! The mistakes in the text of a quantity.

/// The reason why a text is not a quantity. The offsets count bytes of the text that was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is empty or blank.
    #[error("there is no {quantity} here: write it as \"{example}\"")]
    Empty {
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// A correct text.
        example: &'static str,
    },
    /// The text does not begin with a number.
    #[error("expected a number such as 12 or 1.5, found \"{found}\"")]
    NotANumber {
        /// The place where the number should be.
        offset: usize,
        /// The text that stands there.
        found: String,
    },
    /// The number has no unit.
    #[error("a bare number has no unit: write \"{number} {unit}\" (units of {quantity}: {known})")]
    NoUnit {
        /// The place where the unit should be.
        offset: usize,
        /// The number.
        number: String,
        /// A usual unit.
        unit: &'static str,
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// The units to choose from.
        known: &'static str,
    },
    /// The unit is not known.
    #[error("unknown unit \"{unit}\"{} (units of {quantity}: {known})", did_you_mean(*.nearest))]
    UnknownUnit {
        /// The place of the unit.
        offset: usize,
        /// The unit.
        unit: String,
        /// The known unit that looks most like it.
        nearest: Option<&'static str>,
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// The units to choose from.
        known: &'static str,
    },
    /// The unit counts bits where bytes are meant.
    #[error("\"{unit}\" counts bits: write \"{bytes}\" for bytes")]
    Bits {
        /// The place of the unit.
        offset: usize,
        /// The unit.
        unit: String,
        /// The unit with a capital B.
        bytes: String,
    },
    /// The value is larger than the type holds.
    #[error("out of range: the largest {quantity} is {largest}")]
    OutOfRange {
        /// The place of the number.
        offset: usize,
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// The largest value.
        largest: &'static str,
    },
    /// The value is not a multiple of the smallest unit.
    #[error("below the resolution: a {quantity} is a whole multiple of {resolution}")]
    TooFine {
        /// The place of the number.
        offset: usize,
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// The smallest value above zero.
        resolution: &'static str,
    },
    /// A time per byte would divide by zero.
    #[error("\"{found}\" is zero and gives no time per byte")]
    Zero {
        /// The place of the zero.
        offset: usize,
        /// The quantity that is zero.
        found: String,
    },
}

impl Error {
    /// Returns the place of the mistake, in bytes from the start of the text.
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
