//! The lists by which programs choose members of a group.

use std::ffi::c_int;

use super::Group;
use crate::abi;
use crate::check;
use crate::error::{Error, Result};

/// First rank, last rank, distance.
pub type Range = [c_int; 3];

/// The ranks of a list; each must be there and stand in the list once.
pub fn ranks(group: &Group, list: &[c_int]) -> Result<Vec<u32>> {
    distinct(group, list.iter().copied(), abi::ERR_RANK)
}

/// The ranks that ranges name; each must be there and be named once.
pub fn members(group: &Group, ranges: &[Range]) -> Result<Vec<u32>> {
    let size = group.size() as c_int;
    for [first, last, stride] in ranges {
        check!(*stride != 0, ERR_ARG, "a range of ranks has stride 0");
        check!(
            (0..size).contains(first),
            ERR_ARG,
            "a range begins with rank {first}, the group has {size}"
        );
        check!(
            (*stride > 0) == (last >= first) || last == first,
            ERR_ARG,
            "a range from {first} to {last} has stride {stride}"
        );
    }
    let named = ranges.iter().flat_map(|&[first, last, stride]| {
        let steps = (i64::from(last) - i64::from(first)) / i64::from(stride);
        (0..=steps).map(move |step| (i64::from(first) + step * i64::from(stride)) as c_int)
    });
    distinct(group, named, abi::ERR_ARG)
}

/// Checks ranks and that none comes twice.
fn distinct(group: &Group, list: impl Iterator<Item = c_int>, class: c_int) -> Result<Vec<u32>> {
    let size = group.size();
    let mut seen = vec![false; size as usize];
    let mut ranks = Vec::new();
    for rank in list {
        let place = usize::try_from(rank).ok().and_then(|place| seen.get_mut(place));
        match place {
            None => {
                return Err(Error::new(class, format!("rank {rank} in a group of {size}")));
            }
            Some(true) => return Err(Error::new(class, format!("rank {rank} is named twice"))),
            Some(place) => *place = true,
        }
        ranks.push(rank as u32);
    }
    Ok(ranks)
}
