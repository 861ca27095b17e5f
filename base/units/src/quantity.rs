//! Reading and printing of a number with a unit, by exact arithmetic.

use std::fmt;

use crate::{Error, nearest};

/// A unit of some dimension.
pub(crate) struct Unit {
    /// Its symbol.
    pub name: &'static str,
    /// Its size in the dimension's smallest unit.
    pub factor: u64,
    /// The number of digits after the point with which it may be printed; `None` if it is only
    /// read.
    pub decimals: Option<u32>,
}

impl Unit {
    pub const fn new(name: &'static str, factor: u64, decimals: u32) -> Self {
        Self { name, factor, decimals: Some(decimals) }
    }

    pub const fn read_only(name: &'static str, factor: u64) -> Self {
        Self { name, factor, decimals: None }
    }
}

/// The rules for the texts of one kind of quantity.
pub(crate) struct Dimension {
    /// Its name in an error.
    pub quantity: &'static str,
    /// A correct text.
    pub example: &'static str,
    /// The unit that an error suggests for a bare number.
    pub usual: &'static str,
    /// The units that an error lists.
    pub known: &'static str,
    /// All units, ascending by factor.
    pub units: &'static [Unit],
    /// The smallest value above zero.
    pub resolution: &'static str,
    /// The largest value.
    pub largest: &'static str,
}

/// A number and the text of its unit, not yet looked up.
pub(crate) struct Text<'a> {
    pub number: Number,
    /// The text of the number, with its place.
    pub digits: Piece<'a>,
    /// The text after the number, with its place.
    pub unit: Piece<'a>,
}

/// A part of the text, without blanks around it.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub offset: usize,
    pub text: &'a str,
}

impl<'a> Piece<'a> {
    pub fn new(offset: usize, text: &'a str) -> Self {
        let blanks = text.len() - text.trim_start().len();
        Self { offset: offset + blanks, text: text.trim() }
    }

    /// Returns the part before byte `at` and the part from there on.
    pub fn split(self, at: usize) -> (Self, Self) {
        let (left, right) = self.text.split_at(at);
        (Self::new(self.offset, left), Self::new(self.offset + at, right))
    }
}

/// A decimal number as a fraction in lowest terms.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    pub numerator: u128,
    pub denominator: u128,
}

impl Dimension {
    /// Reads a whole quantity, in the smallest unit.
    pub fn read(&self, text: &str) -> Result<u64, Error> {
        let text = self.split(Piece::new(0, text))?;
        let factor = self.factor(text.unit)?;
        self.scale(&text, factor)
    }

    /// Splits the text of a quantity into number and unit, neither of them empty.
    pub fn split<'a>(&self, piece: Piece<'a>) -> Result<Text<'a>, Error> {
        if piece.text.is_empty() {
            return Err(Error::Empty { quantity: self.quantity, example: self.example });
        }
        let unit = |c: char| c.is_alphabetic() || c.is_whitespace() || c == '/';
        let (digits, unit) = piece.split(piece.text.find(unit).unwrap_or(piece.text.len()));
        let number = self.number(if digits.text.is_empty() { piece } else { digits })?;
        if unit.text.is_empty() {
            return Err(Error::NoUnit {
                offset: unit.offset,
                number: digits.text.to_owned(),
                unit: self.usual,
                quantity: self.quantity,
                known: self.known,
            });
        }
        Ok(Text { number, digits, unit })
    }

    /// Reads `12` or `1.5`: digits on both sides of the point.
    fn number(&self, piece: Piece) -> Result<Number, Error> {
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        let (whole, fraction) = piece.text.split_once('.').unwrap_or((piece.text, "0"));
        if !digits(whole) || !digits(fraction) {
            return Err(Error::NotANumber { offset: piece.offset, found: piece.text.to_owned() });
        }
        let append =
            |value: u128, digit: u8| value.checked_mul(10)?.checked_add(u128::from(digit - b'0'));
        let fraction = fraction.trim_end_matches('0');
        let whole = whole.bytes().try_fold(0, append);
        let whole = whole.ok_or_else(|| self.out_of_range(piece.offset))?;
        let numerator = fraction.bytes().try_fold(whole, append);
        let denominator = 10_u128.checked_pow(fraction.len() as u32);
        let (Some(numerator), Some(denominator)) = (numerator, denominator) else {
            return Err(self.too_fine(piece.offset));
        };
        let common = gcd(numerator, denominator);
        Ok(Number { numerator: numerator / common, denominator: denominator / common })
    }

    /// Returns the factor of a unit.
    pub fn factor(&self, unit: Piece) -> Result<u64, Error> {
        let name = unit.text.replacen(['\u{b5}', '\u{3bc}'], "u", 1);
        if let Some(unit) = self.units.iter().find(|known| known.name == name) {
            return Ok(unit.factor);
        }
        let names: Vec<&'static str> = self.units.iter().map(|unit| unit.name).collect();
        Err(self.unknown(unit, &names))
    }

    /// Returns the error for a unit that is none of `names`.
    pub fn unknown(&self, unit: Piece, names: &[&'static str]) -> Error {
        Error::UnknownUnit {
            offset: unit.offset,
            unit: unit.text.to_owned(),
            nearest: nearest(unit.text, names),
            quantity: self.quantity,
            known: self.known,
        }
    }

    /// Returns the number times `factor`, or the error if that is not whole or out of range.
    pub fn scale(&self, text: &Text, factor: u64) -> Result<u64, Error> {
        let Number { numerator, denominator } = text.number;
        let factor = u128::from(factor);
        if !factor.is_multiple_of(denominator) {
            return Err(self.too_fine(text.digits.offset));
        }
        numerator
            .checked_mul(factor / denominator)
            .and_then(|value| u64::try_from(value).ok())
            .ok_or_else(|| self.out_of_range(text.digits.offset))
    }

    pub fn out_of_range(&self, offset: usize) -> Error {
        Error::OutOfRange { offset, quantity: self.quantity, largest: self.largest }
    }

    pub fn too_fine(&self, offset: usize) -> Error {
        Error::TooFine { offset, quantity: self.quantity, resolution: self.resolution }
    }

    /// Prints `value` in the largest unit, not larger than the value, that shows it exactly with
    /// the digits allowed. The smallest unit always does.
    pub fn print(&self, value: u64, f: &mut fmt::Formatter) -> fmt::Result {
        let fits = |unit: &'static Unit| {
            let digits = decimals(u128::from(value % unit.factor), u128::from(unit.factor))?;
            (value >= unit.factor && digits.0 <= unit.decimals?).then_some((unit, digits))
        };
        match self.units.iter().rev().find_map(fits) {
            Some((unit, digits)) => {
                let whole = u128::from(value / unit.factor);
                f.pad(&format!("{} {}", Decimal(whole, digits), unit.name))
            }
            None => f.pad(&format!("0 {}", self.usual)),
        }
    }
}

/// Returns a fraction below 1 as decimals: their number, and their value as an integer. `None` if
/// the decimals do not end within 6 digits.
pub(crate) fn decimals(numerator: u128, denominator: u128) -> Option<(u32, u128)> {
    (0..=6).find_map(|count| {
        let scaled = numerator * 10_u128.pow(count);
        (scaled.is_multiple_of(denominator)).then(|| (count, scaled / denominator))
    })
}

/// A number by its whole part and its decimals.
pub(crate) struct Decimal(pub u128, pub (u32, u128));

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self(whole, (count, decimals)) = *self;
        match count as usize {
            0 => write!(f, "{whole}"),
            count => write!(f, "{whole}.{decimals:0count$}"),
        }
    }
}

/// Returns the greatest common divisor; the other number if one is zero.
pub(crate) const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
