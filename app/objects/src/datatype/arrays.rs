//! Datatypes for parts of arrays (MPI 4.1, sections 5.1.3 and 5.1.4).

use std::ffi::c_int;

use super::build::product;
use super::map::{Block, Bounds, Shape, too_large};
use super::{Contents, Datatype};
use crate::abi;
use crate::check;
use crate::error::{Error, Result};

/// One dimension of an array, and what a process has of it: blocks of elements at equal distances,
/// of which the last may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Elements of all.
    pub size: i64,
    /// The first element.
    pub start: i64,
    /// Elements of a block.
    pub block: i64,
    /// Whole blocks.
    pub whole: i64,
    /// From one block to the next.
    pub period: i64,
    /// Elements of the last block that is not whole.
    pub rest: i64,
}

impl Dimension {
    /// A part without gaps.
    pub fn slice(size: i64, start: i64, length: i64) -> Self {
        Self { size, start, block: length, whole: 1, period: 0, rest: 0 }
    }

    /// A process's share of a dimension (`DISTRIBUTE_NONE` and so on, with its argument), where
    /// `place` of `places` is its.
    pub fn share(size: i64, how: c_int, argument: i64, places: i64, place: i64) -> Result<Self> {
        let block = match (how, argument) {
            (abi::DISTRIBUTE_NONE, _) => {
                check!(places == 1, ERR_ARG, "a dimension of several processes is not distributed");
                return Ok(Self::slice(size, 0, size));
            }
            (abi::DISTRIBUTE_BLOCK, DEFAULT) => {
                size.checked_add(places - 1).ok_or_else(too_large)? / places
            }
            (abi::DISTRIBUTE_CYCLIC, DEFAULT) => 1,
            (abi::DISTRIBUTE_BLOCK | abi::DISTRIBUTE_CYCLIC, given) => given,
            _ => {
                return Err(Error::new(
                    abi::ERR_ARG,
                    format!("{how} is no way to distribute a dimension"),
                ));
            }
        };
        check!(block > 0, ERR_ARG, "blocks of {block} elements cannot be distributed");
        let period = product(block, places)?;
        let start = product(block, place)?;
        if how == abi::DISTRIBUTE_BLOCK {
            check!(
                period >= size,
                ERR_ARG,
                "{places} blocks of {block} elements do not hold {size}"
            );
            let length = (size - start).clamp(0, block);
            return Ok(Self::slice(size, if length == 0 { 0 } else { start }, length));
        }
        let behind = (size - start).max(0);
        let (whole, over) = (behind / period, behind % period);
        let (whole, rest) = if over >= block { (whole + 1, 0) } else { (whole, over) };
        Ok(Self { size, start, block, whole, period, rest })
    }
}

const DEFAULT: i64 = abi::DISTRIBUTE_DFLT_DARG as i64;

/// The part of an array that a process has, as a datatype with the bounds of the whole array.
pub fn part(
    contents: Contents,
    order: c_int,
    dimensions: &[Dimension],
    old: &Datatype,
) -> Result<Datatype> {
    let mut dimensions = dimensions.to_vec();
    match order {
        abi::ORDER_C => dimensions.reverse(),
        abi::ORDER_FORTRAN => {}
        _ => return Err(Error::new(abi::ERR_ARG, format!("{order} is no order of an array"))),
    }
    // From here on the first dimension is the one whose neighbours are adjacent in memory.
    let (mut shape, mut stride) = (old.shape.clone(), old.extent());
    for Dimension { size, start, block, whole, period, rest } in dimensions {
        let some = |count: i64| {
            let elements = Block { offset: 0, count: count as u64, stride, of: &shape };
            Shape::of([elements].into_iter())
        };
        let (one, last) = (some(block)?, some(rest)?);
        let (offset, period) = (product(start, stride)?, product(period, stride)?);
        let behind = product(whole, period)?.checked_add(offset).ok_or_else(too_large)?;
        let blocks = Block { offset, count: whole as u64, stride: period, of: &one };
        shape = Shape::of(
            [blocks, Block { offset: behind, count: 1, stride: 0, of: &last }].into_iter(),
        )?;
        stride = product(stride, size)?;
    }
    shape.bounds = Bounds { lb: 0, ub: stride, lb_set: true, ub_set: true, ..shape.bounds };
    Ok(Datatype::new(shape, contents))
}

/// The place in a grid of processes, in each dimension, of a rank; the last dimension's runs
/// fastest, whatever the array's order.
pub fn grid_place(rank: i64, sizes: &[i64]) -> Vec<i64> {
    let mut rest = rank;
    let mut place = Vec::new();
    for &size in sizes.iter().rev() {
        place.push(rest % size);
        rest /= size;
    }
    place.reverse();
    place
}
