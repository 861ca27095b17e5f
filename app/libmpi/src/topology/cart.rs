//! Grids, whose dimensions may be rings. Ranks run along the last dimension first.

use std::ffi::c_int;

use crate::abi;
use crate::check;
use crate::error::Result;

/// A grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Length and whether it is a ring, of each dimension.
    sides: Vec<(c_int, bool)>,
}

impl Grid {
    /// A grid of lengths that are not negative.
    pub(super) fn new(dims: &[c_int], periods: &[c_int]) -> Result<Self> {
        for length in dims {
            check!(*length > 0, ERR_DIMS, "a dimension of length {length}");
        }
        let sides = dims.iter().zip(periods).map(|(&length, &ring)| (length, ring != 0)).collect();
        Ok(Self { sides })
    }

    /// Number of places, as much as fits.
    pub(super) fn size(&self) -> u64 {
        self.sides.iter().fold(1, |size: u64, &(length, _)| size.saturating_mul(length as u64))
    }

    /// Number of dimensions.
    pub(super) fn dimensions(&self) -> usize {
        self.sides.len()
    }

    /// Length and whether it is a ring, of each dimension.
    pub(super) fn sides(&self) -> &[(c_int, bool)] {
        &self.sides
    }

    /// The place of a rank.
    pub(super) fn coordinates(&self, rank: c_int) -> Vec<c_int> {
        let mut rest = rank;
        let mut coordinates: Vec<c_int> = self
            .sides
            .iter()
            .rev()
            .map(|&(length, _)| {
                let coordinate = rest % length;
                rest /= length;
                coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// The rank at a place. Beyond the end of a ring it goes on from the beginning; elsewhere there
    /// is nobody.
    pub(super) fn rank(&self, coordinates: &[c_int]) -> Option<c_int> {
        self.sides.iter().zip(coordinates).try_fold(0, |rank, (&(length, ring), &coordinate)| {
            let within = if ring { coordinate.rem_euclid(length) } else { coordinate };
            (0..length).contains(&within).then(|| rank * length + within)
        })
    }

    /// The rank `steps` away along a dimension, or `PROC_NULL`.
    fn away(&self, rank: c_int, dimension: usize, steps: i64) -> c_int {
        let mut coordinates = self.coordinates(rank);
        let (Some(coordinate), Some(&(length, ring))) =
            (coordinates.get_mut(dimension), self.sides.get(dimension))
        else {
            return abi::PROC_NULL;
        };
        // Any number of times around a ring; elsewhere, a step beyond all numbers is beyond the
        // edge as well.
        let place = i64::from(*coordinate) + steps;
        let place = if ring { place.rem_euclid(i64::from(length)) } else { place };
        *coordinate = c_int::try_from(place).unwrap_or(-1);
        self.rank(&coordinates).unwrap_or(abi::PROC_NULL)
    }

    /// Whom a rank receives from and sends to when everybody sends `steps` along a dimension.
    pub(super) fn shift(&self, rank: c_int, dimension: usize, steps: c_int) -> (c_int, c_int) {
        let steps = i64::from(steps);
        (self.away(rank, dimension, -steps), self.away(rank, dimension, steps))
    }

    /// Before and behind, in each dimension.
    pub(super) fn neighbours(&self, rank: c_int) -> Vec<c_int> {
        (0..self.dimensions())
            .flat_map(|dimension| {
                let (before, behind) = self.shift(rank, dimension, 1);
                [before, behind]
            })
            .collect()
    }

    /// The part of the grid that has the dimensions kept: its grid, which part a rank is in, and
    /// the rank there.
    pub(super) fn part(&self, rank: c_int, kept: &[bool]) -> (Self, c_int, c_int) {
        let mut part = Self { sides: Vec::new() };
        let (mut which, mut within) = (0, 0);
        for ((&side, coordinate), &keep) in self.sides.iter().zip(self.coordinates(rank)).zip(kept)
        {
            if keep {
                part.sides.push(side);
                within = within * side.0 + coordinate;
            } else {
                which = which * side.0 + coordinate;
            }
        }
        (part, which, within)
    }
}
