//! The kind of numbers that a datatype consists of (MPI 4.1, section 3.3.1), by which a receive
//! into other numbers than were sent is noticed. Bytes, and data of several kinds, may be anything.

use super::Datatype;
use super::basic::{Basic, Class};
use super::map::Map;

/// The kind of a message's elements, as a number; 0 if it may be anything.
pub type Kind = u64;

/// It has elements of several kinds.
const MIXED: Kind = u64::MAX;
const INTEGER: Kind = 1 << 8;
/// The bit of kinds of numbers with a fraction; the lowest byte of a kind is the size of a number.
pub const FRACTION: Kind = 2 << 8;

fn of_basic(basic: Basic) -> Kind {
    let size = u64::from(basic.size);
    match basic.class {
        Class::Byte | Class::Packed | Class::Character => 0,
        // Two numbers.
        Class::Complex(_) => FRACTION | (size / 2),
        Class::Float(_) => FRACTION | size,
        Class::Signed | Class::Unsigned | Class::Logical => {
            if size == 1 {
                0
            } else {
                INTEGER | size
            }
        }
    }
}

fn of_map(map: &Map) -> Kind {
    match map {
        Map::Basic(basic) => of_basic(*basic),
        Map::Pieces { pieces, .. } => {
            let mut kinds = pieces.iter().map(|piece| of_map(&piece.map));
            let first = kinds.next().unwrap_or(0);
            if kinds.all(|kind| kind == first) { first } else { MIXED }
        }
    }
}

/// The kind of a datatype's elements.
pub(super) fn of(datatype: &Datatype) -> Kind {
    match of_map(datatype.map()) {
        MIXED => 0,
        kind => kind,
    }
}
