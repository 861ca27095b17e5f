//! The types of cells.

use std::{borrow::Cow, io::Write as _};

use host::Activity;
use units::Time;

use super::write::Line;

/// The text of a cell.
pub type Text = Cow<'static, str>;

/// The kind of values that a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number, not below zero, of at most 64 bits.
    Unsigned,
    /// A whole number of at most 64 bits with a sign.
    Signed,
    /// A decimal number.
    Decimal,
    /// `true` or `false`.
    Flag,
    /// A text.
    Text,
}

impl Kind {
    /// The name of the kind, for the book.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsigned | Self::Signed => "number",
            Self::Decimal => "decimal",
            Self::Flag => "true or false",
            Self::Text => "text",
        }
    }
}

/// A value that a cell can hold.
///
/// [`Cell::write`] appends the value to a line, without a separator; [`Cell::read`] takes the text
/// of a cell, without quotation marks, and gives the same value back. What it does not accept is
/// described by [`Cell::EXPECTED`].
pub trait Cell: Sized {
    /// The kind of values.
    const KIND: Kind;
    /// Is true if the cell may be empty.
    const OPTIONAL: bool = false;
    /// A description of the accepted values, for messages.
    const EXPECTED: &'static str;

    /// Appends the value to a line.
    fn write(&self, line: &mut Line);

    /// Reads the value, if the text is one.
    fn read(text: &str) -> Option<Self>;

    /// The value as one of its kind, for tables by columns; `None` if the cell is empty.
    fn value(&self) -> Option<Value<'_>>;
}

/// A value of a cell, as one of its [`Kind`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A whole number, not below zero.
    Unsigned(u64),
    /// A whole number with a sign.
    Signed(i64),
    /// A decimal number.
    Decimal(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A text.
    Text(&'a str),
}

/// Implements [`Cell`] for integers.
macro_rules! integers {
    ($($type:ty, $kind:ident, $expected:literal;)+) => {$(
        impl Cell for $type {
            const KIND: Kind = Kind::$kind;
            const EXPECTED: &'static str = $expected;

            #[inline]
            fn write(&self, line: &mut Line) {
                line.integer(*self);
            }

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            #[inline]
            fn value(&self) -> Option<Value<'_>> {
                Some(Value::$kind((*self).into()))
            }
        }
    )+};
}

integers! {
    u8, Unsigned, "a whole number up to 255";
    u16, Unsigned, "a whole number up to 65535";
    u32, Unsigned, "a whole number below 2^32";
    u64, Unsigned, "a whole number below 2^64";
    i64, Signed, "a whole number";
}

/// A time in picoseconds.
impl Cell for Time {
    const KIND: Kind = Kind::Unsigned;
    const EXPECTED: &'static str = "a time in picoseconds";

    #[inline]
    fn write(&self, line: &mut Line) {
        line.integer(self.ps());
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self::from_ps)
    }

    #[inline]
    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Unsigned(self.ps()))
    }
}

/// The names of activities.
const ACTIVITIES: [(&str, Activity); 3] =
    [("compute", Activity::Compute), ("send", Activity::Send), ("receive", Activity::Receive)];

impl Cell for Activity {
    const KIND: Kind = Kind::Text;
    const EXPECTED: &'static str = "`compute`, `send` or `receive`";

    fn write(&self, line: &mut Line) {
        if let Some(Value::Text(name)) = self.value() {
            line.text(name);
        }
    }

    fn read(text: &str) -> Option<Self> {
        ACTIVITIES.iter().find(|(name, _)| *name == text).map(|(_, activity)| *activity)
    }

    fn value(&self) -> Option<Value<'_>> {
        let name = ACTIVITIES.iter().find(|(_, activity)| activity == self);
        name.map(|(name, _)| Value::Text(name))
    }
}

/// A value that may be missing, which leaves the cell empty.
impl<T: Cell> Cell for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    const EXPECTED: &'static str = T::EXPECTED;

    #[inline]
    fn write(&self, line: &mut Line) {
        if let Some(value) = self {
            value.write(line);
        }
    }

    fn read(text: &str) -> Option<Self> {
        if text.is_empty() { Some(None) } else { T::read(text).map(Some) }
    }

    #[inline]
    fn value(&self) -> Option<Value<'_>> {
        self.as_ref()?.value()
    }
}

/// A decimal number with as many digits as it takes.
impl Cell for f64 {
    const KIND: Kind = Kind::Decimal;
    const EXPECTED: &'static str = "a decimal number";

    fn write(&self, line: &mut Line) {
        // Writing to memory cannot fail.
        let _ = write!(line.cell(), "{self}");
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number: &Self| number.is_finite())
    }

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Decimal(*self))
    }
}

/// A finite decimal number with a fixed number of digits behind the point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed<const DIGITS: usize>(pub f64);

impl<const DIGITS: usize> Fixed<DIGITS> {
    /// The number, unless it is infinite or none: the mean of nothing, the interval of one value.
    pub fn finite(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(number))
    }
}

impl<const DIGITS: usize> Cell for Fixed<DIGITS> {
    const KIND: Kind = Kind::Decimal;
    const EXPECTED: &'static str = f64::EXPECTED;

    fn write(&self, line: &mut Line) {
        // Writing to memory cannot fail.
        let _ = write!(line.cell(), "{:.DIGITS$}", self.0);
    }

    fn read(text: &str) -> Option<Self> {
        f64::read(text).map(Self)
    }

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Decimal(self.0))
    }
}

impl Cell for bool {
    const KIND: Kind = Kind::Flag;
    const EXPECTED: &'static str = "true or false";

    fn write(&self, line: &mut Line) {
        line.cell().extend_from_slice(if *self { b"true" } else { b"false" });
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Flag(*self))
    }
}

impl Cell for Text {
    const KIND: Kind = Kind::Text;
    const EXPECTED: &'static str = "a text";

    #[inline]
    fn write(&self, line: &mut Line) {
        line.text(self);
    }

    fn read(text: &str) -> Option<Self> {
        Some(Cow::Owned(text.to_owned()))
    }

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Text(self))
    }
}
