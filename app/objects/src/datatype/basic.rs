//! Basic elements and the predefined datatypes made of them, on a 64-bit Linux machine with a
//! Fortran whose default `INTEGER`, `REAL` and `LOGICAL` have 4 bytes.
//!
//! Sources: MPI 4.1, sections 3.2.2 (named types), 6.9.2 (classes for reductions), 14.5.2 (sizes in
//! "external32").

use crate::abi::{self, Handle};

/// The class of numbers that a basic element belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Bits.
    Byte,
    /// Data of several datatypes.
    Packed,
    /// A character.
    Character,
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A number with a fraction.
    Float(Float),
    /// Two of those.
    Complex(Float),
    /// A truth value.
    Logical,
}

/// Formats of numbers with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    /// IEEE binary16.
    Half,
    /// IEEE binary32.
    Single,
    /// IEEE binary64.
    Double,
    /// The 80 bits of the x87, in 16 bytes: C's `long double` on x86-64.
    Extended,
    /// IEEE binary128.
    Quad,
}

/// A basic element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basic {
    /// The class of its values.
    pub class: Class,
    /// Bytes in memory.
    pub size: u8,
    /// Its address is a multiple of so many bytes, within structures.
    pub align: u8,
    /// Bytes in the representation "external32".
    pub external: u8,
}

impl Basic {
    const fn new(class: Class, size: u8) -> Self {
        let align = if matches!(class, Class::Complex(_)) { size / 2 } else { size };
        Self { class, size, align, external: size }
    }

    const fn external(self, bytes: u8) -> Self {
        Self { external: bytes, ..self }
    }
}

/// The datatype that sets the lower bound of a structure, `MPI_LB` of MPI-1, which other binary
/// interfaces still have.
pub const LB: Handle = 0x2f0;
/// `MPI_UB` of MPI-1.
pub const UB: Handle = 0x2f1;

/// A predefined datatype.
#[derive(Clone, Copy, Debug)]
pub enum Predefined {
    /// One basic element.
    One(Basic),
    /// A value and an index.
    Pair(Basic, Basic),
    /// A mark of the lower bound.
    LowerBound,
    /// A mark of the upper bound.
    UpperBound,
}

const fn signed(size: u8) -> Predefined {
    Predefined::One(Basic::new(Class::Signed, size))
}

const fn unsigned(size: u8) -> Predefined {
    Predefined::One(Basic::new(Class::Unsigned, size))
}

const fn logical(size: u8) -> Predefined {
    Predefined::One(Basic::new(Class::Logical, size))
}

const fn character(size: u8, external: u8) -> Predefined {
    Predefined::One(Basic::new(Class::Character, size).external(external))
}

const fn float(format: Float) -> Predefined {
    Predefined::One(number(format))
}

const fn number(format: Float) -> Basic {
    let size = match format {
        Float::Half => 2,
        Float::Single => 4,
        Float::Double => 8,
        Float::Extended | Float::Quad => 16,
    };
    Basic::new(Class::Float(format), size)
}

const fn complex(format: Float) -> Predefined {
    Predefined::One(Basic::new(Class::Complex(format), 2 * number(format).size))
}

const BYTE: Predefined = Predefined::One(Basic::new(Class::Byte, 1));
const PACKED: Predefined = Predefined::One(Basic::new(Class::Packed, 1));
const SHORT: Basic = Basic::new(Class::Signed, 2);
const INT: Basic = Basic::new(Class::Signed, 4);
// "external32" is of a time when a C long had 4 bytes.
const LONG: Basic = Basic::new(Class::Signed, 8).external(4);

const fn with_int(value: Basic) -> Predefined {
    Predefined::Pair(value, INT)
}

/// All predefined datatypes, in the order of their handles, with their names.
#[rustfmt::skip]
static PREDEFINED: &[(Handle, &str, Predefined)] = &[
    (abi::AINT, "MPI_AINT", signed(8)),
    (abi::COUNT, "MPI_COUNT", signed(8)),
    (abi::OFFSET, "MPI_OFFSET", signed(8)),
    (abi::PACKED, "MPI_PACKED", PACKED),
    (abi::SHORT, "MPI_SHORT", Predefined::One(SHORT)),
    (abi::INT, "MPI_INT", Predefined::One(INT)),
    (abi::LONG, "MPI_LONG", Predefined::One(LONG)),
    (abi::LONG_LONG, "MPI_LONG_LONG_INT", signed(8)),
    (abi::UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", unsigned(2)),
    (abi::UNSIGNED, "MPI_UNSIGNED", unsigned(4)),
    (
        abi::UNSIGNED_LONG, "MPI_UNSIGNED_LONG",
        Predefined::One(Basic::new(Class::Unsigned, 8).external(4))
    ),
    (abi::UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", unsigned(8)),
    (abi::FLOAT, "MPI_FLOAT", float(Float::Single)),
    (abi::C_FLOAT_COMPLEX, "MPI_C_COMPLEX", complex(Float::Single)),
    (abi::CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", complex(Float::Single)),
    (abi::DOUBLE, "MPI_DOUBLE", float(Float::Double)),
    (abi::C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", complex(Float::Double)),
    (abi::CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", complex(Float::Double)),
    (abi::LOGICAL, "MPI_LOGICAL", logical(4)),
    (abi::INTEGER, "MPI_INTEGER", signed(4)),
    (abi::REAL, "MPI_REAL", float(Float::Single)),
    (abi::COMPLEX, "MPI_COMPLEX", complex(Float::Single)),
    (abi::DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", float(Float::Double)),
    (abi::DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", complex(Float::Double)),
    (abi::CHARACTER, "MPI_CHARACTER", character(1, 1)),
    (abi::LONG_DOUBLE, "MPI_LONG_DOUBLE", float(Float::Extended)),
    (abi::C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", complex(Float::Extended)),
    (abi::CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", complex(Float::Extended)),
    (abi::FLOAT_INT, "MPI_FLOAT_INT", with_int(number(Float::Single))),
    (abi::DOUBLE_INT, "MPI_DOUBLE_INT", with_int(number(Float::Double))),
    (abi::LONG_INT, "MPI_LONG_INT", with_int(LONG)),
    (abi::TWO_INT, "MPI_2INT", with_int(INT)),
    (abi::SHORT_INT, "MPI_SHORT_INT", with_int(SHORT)),
    (abi::LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", with_int(number(Float::Extended))),
    (abi::TWO_REAL, "MPI_2REAL", Predefined::Pair(number(Float::Single), number(Float::Single))),
    (
        abi::TWO_DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION",
        Predefined::Pair(number(Float::Double), number(Float::Double))
    ),
    (abi::TWO_INTEGER, "MPI_2INTEGER", with_int(INT)),
    (abi::C_BOOL, "MPI_C_BOOL", logical(1)),
    (abi::CXX_BOOL, "MPI_CXX_BOOL", logical(1)),
    (abi::WCHAR, "MPI_WCHAR", character(4, 2)),
    (abi::INT8_T, "MPI_INT8_T", signed(1)),
    (abi::UINT8_T, "MPI_UINT8_T", unsigned(1)),
    (abi::CHAR, "MPI_CHAR", character(1, 1)),
    (abi::SIGNED_CHAR, "MPI_SIGNED_CHAR", signed(1)),
    (abi::UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", unsigned(1)),
    (abi::BYTE, "MPI_BYTE", BYTE),
    (abi::INT16_T, "MPI_INT16_T", signed(2)),
    (abi::UINT16_T, "MPI_UINT16_T", unsigned(2)),
    (abi::INT32_T, "MPI_INT32_T", signed(4)),
    (abi::UINT32_T, "MPI_UINT32_T", unsigned(4)),
    (abi::INT64_T, "MPI_INT64_T", signed(8)),
    (abi::UINT64_T, "MPI_UINT64_T", unsigned(8)),
    (abi::LOGICAL1, "MPI_LOGICAL1", logical(1)),
    (abi::INTEGER1, "MPI_INTEGER1", signed(1)),
    (abi::LOGICAL2, "MPI_LOGICAL2", logical(2)),
    (abi::INTEGER2, "MPI_INTEGER2", signed(2)),
    (abi::REAL2, "MPI_REAL2", float(Float::Half)),
    (abi::LOGICAL4, "MPI_LOGICAL4", logical(4)),
    (abi::INTEGER4, "MPI_INTEGER4", signed(4)),
    (abi::REAL4, "MPI_REAL4", float(Float::Single)),
    (abi::COMPLEX4, "MPI_COMPLEX4", complex(Float::Half)),
    (abi::LOGICAL8, "MPI_LOGICAL8", logical(8)),
    (abi::INTEGER8, "MPI_INTEGER8", signed(8)),
    (abi::REAL8, "MPI_REAL8", float(Float::Double)),
    (abi::COMPLEX8, "MPI_COMPLEX8", complex(Float::Single)),
    (abi::LOGICAL16, "MPI_LOGICAL16", logical(16)),
    (abi::INTEGER16, "MPI_INTEGER16", signed(16)),
    (abi::REAL16, "MPI_REAL16", float(Float::Quad)),
    (abi::COMPLEX16, "MPI_COMPLEX16", complex(Float::Double)),
    (abi::COMPLEX32, "MPI_COMPLEX32", complex(Float::Quad)),
    (LB, "MPI_LB", Predefined::LowerBound),
    (UB, "MPI_UB", Predefined::UpperBound),
];

/// The predefined datatype of a handle, and its name.
pub fn predefined(handle: Handle) -> Option<(&'static str, Predefined)> {
    let place = PREDEFINED.binary_search_by_key(&handle, |entry| entry.0).ok()?;
    PREDEFINED.get(place).map(|&(_, name, kind)| (name, kind))
}

/// The predefined pair of a value and an index, which are predefined datatypes themselves.
pub fn pair(value: Handle, index: Handle) -> Option<Handle> {
    let pairs = [
        (abi::FLOAT, abi::INT, abi::FLOAT_INT),
        (abi::DOUBLE, abi::INT, abi::DOUBLE_INT),
        (abi::LONG, abi::INT, abi::LONG_INT),
        (abi::INT, abi::INT, abi::TWO_INT),
        (abi::SHORT, abi::INT, abi::SHORT_INT),
        (abi::LONG_DOUBLE, abi::INT, abi::LONG_DOUBLE_INT),
        (abi::REAL, abi::REAL, abi::TWO_REAL),
        (abi::DOUBLE_PRECISION, abi::DOUBLE_PRECISION, abi::TWO_DOUBLE_PRECISION),
        (abi::INTEGER, abi::INTEGER, abi::TWO_INTEGER),
    ];
    pairs.iter().find(|entry| (entry.0, entry.1) == (value, index)).map(|entry| entry.2)
}
