//! Datatypes by precision, range, size or parts (MPI 4.1, sections 5.1.11 and 19.1.9).
//!
//! Precisions and ranges are those of gfortran's kinds. What these functions give belongs to the
//! library: the same arguments give the same handle, and the program does not free it.

use std::ffi::c_int;

use super::basic::{self, Basic, Class, Predefined};
use super::build::Arguments;
use super::map::Shape;
use super::{Contents, Element, pair};
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::error::{Error, Result};
use crate::{check, mpi, mpi_functions};

/// Decimal digits and range of Fortran's real numbers, with the datatypes of such numbers and of
/// complex ones.
const REALS: [(c_int, c_int, Handle, Handle); 4] = [
    (6, 37, abi::REAL, abi::COMPLEX),
    (15, 307, abi::DOUBLE_PRECISION, abi::DOUBLE_COMPLEX),
    (18, 4931, abi::LONG_DOUBLE, abi::C_LONG_DOUBLE_COMPLEX),
    (33, 4931, abi::REAL16, abi::COMPLEX32),
];

/// Range of Fortran's integers.
const INTEGERS: [(c_int, Handle); 5] = [
    (2, abi::INTEGER1),
    (4, abi::INTEGER2),
    (9, abi::INTEGER4),
    (18, abi::INTEGER8),
    (38, abi::INTEGER16),
];

mpi_functions! {
    fn Type_create_f90_real(precision: c_int, range: c_int, new: Out<Handle>) {
        let contents =
            Arguments::new(abi::COMBINER_F90_REAL, false).integers([precision, range]).types([]);
        new.set(of_basic(contents, real(precision, range)?.2)?)
    }

    fn Type_create_f90_complex(precision: c_int, range: c_int, new: Out<Handle>) {
        let contents =
            Arguments::new(abi::COMBINER_F90_COMPLEX, false).integers([precision, range]).types([]);
        new.set(of_basic(contents, real(precision, range)?.3)?)
    }

    fn Type_create_f90_integer(range: c_int, new: Out<Handle>) {
        let contents = Arguments::new(abi::COMBINER_F90_INTEGER, false).integers([range]).types([]);
        let kind = INTEGERS.iter().find(|kind| kind.0 >= range).ok_or_else(|| none("integer"))?;
        new.set(of_basic(contents, kind.1)?)
    }

    fn Type_match_size(class: c_int, size: c_int, datatype: Out<Handle>) {
        let candidates: &[Handle] = match class {
            abi::TYPECLASS_REAL => &[abi::REAL2, abi::REAL4, abi::REAL8, abi::REAL16],
            abi::TYPECLASS_INTEGER => &[
                abi::INTEGER1, abi::INTEGER2, abi::INTEGER4, abi::INTEGER8, abi::INTEGER16
            ],
            abi::TYPECLASS_COMPLEX => &[
                abi::COMPLEX4, abi::COMPLEX8, abi::COMPLEX16, abi::COMPLEX32
            ],
            _ => return Err(Error::new(abi::ERR_ARG, format!("{class} is no class of datatypes"))),
        };
        let fits = |handle: &&Handle| basic_of(**handle).is_some_and(
            |basic| c_int::from(basic.size) == size
        );
        let found = candidates.iter().find(fits);
        let absent =
            || Error::new(abi::ERR_ARG, format!("no datatype of that class has {size} bytes"));
        datatype.set(*found.ok_or_else(absent)?)
    }

    fn Type_get_value_index(value: Handle, index: Handle, new: Out<Handle>) {
        check!(
            value != abi::DATATYPE_NULL && index != abi::DATATYPE_NULL, ERR_TYPE,
            "a pair needs two datatypes"
        );
        if let Some(known) = basic::pair(value, index) {
            return new.set(known);
        }
        let (value, index) = (mpi().datatype(value)?, mpi().datatype(index)?);
        let elements = (value.element(), index.element());
        let (Some(Element::One(first)), Some(Element::One(second))) = elements else {
            return new.set(abi::DATATYPE_NULL);
        };
        let ordered = matches!(first.class, Class::Signed | Class::Unsigned | Class::Float(_));
        if !ordered || !matches!(second.class, Class::Signed | Class::Unsigned) {
            return new.set(abi::DATATYPE_NULL);
        }
        let (shape, element) = pair(first, second)?;
        let contents = Arguments::new(abi::COMBINER_VALUE_INDEX, false).types([value, index]);
        new.set(mpi().types.permanent(contents, shape, element))
    }
}

fn none(what: &str) -> Error {
    Error::new(abi::ERR_OTHER, format!("Fortran has no {what} of that precision and range"))
}

/// The first kind of real numbers that is precise and wide enough.
fn real(precision: c_int, range: c_int) -> Result<(c_int, c_int, Handle, Handle)> {
    let any = precision == abi::UNDEFINED && range == abi::UNDEFINED;
    check!(!any, ERR_ARG, "neither precision nor range is given");
    let enough = |kind: &&(c_int, c_int, Handle, Handle)| kind.0 >= precision && kind.1 >= range;
    REALS.iter().find(enough).copied().ok_or_else(|| none("real"))
}

fn basic_of(handle: Handle) -> Option<Basic> {
    match basic::predefined(handle)?.1 {
        Predefined::One(basic) => Some(basic),
        _ => None,
    }
}

fn of_basic(contents: Contents, handle: Handle) -> Result<Handle> {
    let basic = basic_of(handle).ok_or_else(|| none("number"))?;
    Ok(mpi().types.permanent(contents, Shape::basic(basic), Some(Element::One(basic))))
}
