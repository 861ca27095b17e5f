//! The constructors of datatypes, on checked arguments.

use std::ffi::c_int;
use std::rc::Rc;

use super::map::{Block, Bounds, Shape, too_large};
use super::{Contents, Datatype};
use crate::abi;
use crate::check;
use crate::error::Result;

#[must_use]
/// The arguments of a constructor, as they are kept for `MPI_Type_get_contents`.
pub struct Arguments(Contents);

impl Arguments {
    /// Of a constructor, with large counts or not.
    pub fn new(combiner: c_int, large: bool) -> Self {
        Self(Contents { combiner, large, ..Contents::default() })
    }

    /// Arguments that are `int` in both forms.
    pub fn integers(mut self, values: impl IntoIterator<Item = c_int>) -> Self {
        self.0.integers.extend(values);
        self
    }

    /// Arguments that are `int` or, in the large form, `MPI_Count`.
    pub fn numbers(mut self, values: &[i64]) -> Self {
        if self.0.large {
            self.0.counts.extend(values);
        } else {
            self.0.integers.extend(values.iter().map(|&value| value as c_int));
        }
        self
    }

    /// Arguments that are `MPI_Aint` or, in the large form, `MPI_Count`.
    pub fn addresses(mut self, values: &[i64]) -> Self {
        if self.0.large {
            self.0.counts.extend(values);
        } else {
            self.0.addresses.extend(values.iter().map(|&value| value as isize));
        }
        self
    }

    /// Datatypes.
    pub fn types(mut self, types: impl IntoIterator<Item = Rc<Datatype>>) -> Contents {
        self.0.types.extend(types);
        self.0
    }

    /// One datatype.
    pub fn of(self, old: &Rc<Datatype>) -> Contents {
        self.types([Rc::clone(old)])
    }
}

/// A product, if it is a 64-bit number.
pub fn product(one: i64, other: i64) -> Result<i64> {
    one.checked_mul(other).ok_or_else(too_large)
}

/// A number of blocks, as a constructor's argument.
pub fn count(value: i64) -> Result<u64> {
    check!(value >= 0, ERR_COUNT, "a count is negative: {value}");
    Ok(value as u64)
}

/// A block's length.
pub fn length(value: i64) -> Result<u64> {
    check!(value >= 0, ERR_COUNT, "a block's length is negative: {value}");
    Ok(value as u64)
}

/// `MPI_Type_contiguous`.
pub fn contiguous(contents: Contents, number: i64, old: &Datatype) -> Result<Datatype> {
    let block = Block::new(0, count(number)?, &old.shape);
    Ok(Datatype::new(Shape::of([block].into_iter())?, contents))
}

/// `MPI_Type_create_hvector`, and with a stride in bytes the other one.
pub fn vector(
    contents: Contents,
    number: i64,
    blocklength: i64,
    stride: i64,
    old: &Datatype,
) -> Result<Datatype> {
    let (count, length) = (count(number)?, length(blocklength)?);
    let block = Shape::of([Block::new(0, length, &old.shape)].into_iter())?;
    let blocks = Block { offset: 0, count, stride, of: &block };
    Ok(Datatype::new(Shape::of([blocks].into_iter())?, contents))
}

/// `MPI_Type_create_hindexed`, and with displacements in bytes the other ones.
pub fn indexed(
    contents: Contents,
    lengths: &[i64],
    offsets: &[i64],
    old: &Datatype,
) -> Result<Datatype> {
    lengths.iter().try_for_each(|&value| length(value).map(drop))?;
    let blocks = lengths.iter().zip(offsets);
    let blocks = blocks.map(|(&count, &offset)| Block::new(offset, count as u64, &old.shape));
    Ok(Datatype::new(Shape::of(blocks)?, contents))
}

/// `MPI_Type_create_struct`. What follows it in an array is aligned as in C.
pub fn structure(
    contents: Contents,
    lengths: &[i64],
    offsets: &[i64],
    types: &[Rc<Datatype>],
) -> Result<Datatype> {
    lengths.iter().try_for_each(|&value| length(value).map(drop))?;
    let blocks = lengths.iter().zip(offsets).zip(types);
    let blocks = blocks.map(|((&count, &offset), of)| Block::new(offset, count as u64, &of.shape));
    let mut shape = Shape::of(blocks)?;
    shape.bounds = shape.bounds.padded()?;
    Ok(Datatype::new(shape, contents))
}

/// `MPI_Type_create_resized`.
pub fn resized(contents: Contents, lb: i64, extent: i64, old: &Datatype) -> Result<Datatype> {
    let ub = lb.checked_add(extent).ok_or_else(too_large)?;
    let bounds = Bounds { lb, ub, lb_set: true, ub_set: true, ..old.shape.bounds };
    let shape = Shape { map: Rc::clone(&old.shape.map), bounds };
    Ok(Datatype { layout: old.layout.clone(), ..Datatype::new(shape, contents) })
}

/// `MPI_Type_dup`.
pub fn duplicate(old: &Rc<Datatype>) -> Datatype {
    old.duplicate(Arguments::new(abi::COMBINER_DUP, false).of(old))
}
