//! `MPI_Dims_create`: a number of ranks as a product of lengths that are as equal as possible.

use std::ffi::c_int;

use crate::abi;
use crate::check;
use crate::error::{Error, Result};

/// Fills in the lengths that are 0, in falling order, so that the product of all is `nodes`, which
/// is above 0, and the difference between the largest and the smallest is as small as can be.
pub(super) fn fill(nodes: c_int, dims: &mut [c_int]) -> Result {
    let mut given: i64 = 1;
    for &length in dims.iter() {
        check!(length >= 0, ERR_DIMS, "a dimension of length {length}");
        given = given.saturating_mul(i64::from(length.max(1)));
    }
    let free = dims.iter().filter(|&&length| length == 0).count();
    let rest = i64::from(nodes) / given;
    if i64::from(nodes) % given != 0 || (free == 0 && rest != 1) {
        return Err(Error::new(
            abi::ERR_DIMS,
            format!("{nodes} ranks do not fill a grid of which {given} are given"),
        ));
    }
    let divisors = divisors(rest);
    let mut search = Search { divisors: &divisors, chosen: Vec::new(), best: None };
    search.factors(rest, free);
    let lengths = search.best.unwrap_or_default().lengths;
    let places = dims.iter_mut().filter(|length| **length == 0);
    for (place, length) in places.zip(lengths) {
        *place = length as c_int;
    }
    Ok(())
}

/// All divisors, in rising order.
fn divisors(number: i64) -> Vec<i64> {
    let small: Vec<i64> = (1..=number)
        .take_while(|divisor| divisor * divisor <= number)
        .filter(|divisor| number % divisor == 0)
        .collect();
    let large =
        small.iter().rev().map(|divisor| number / divisor).filter(|large| large * large > number);
    small.iter().copied().chain(large).collect()
}

/// The search for factors that are as equal as possible.
struct Search<'a> {
    divisors: &'a [i64],
    /// The largest factors, in falling order.
    chosen: Vec<i64>,
    best: Option<Best>,
}

#[derive(Default)]
struct Best {
    lengths: Vec<i64>,
    /// Between the largest and the smallest.
    difference: i64,
}

impl Search<'_> {
    /// Tries all that can complete the factors chosen with `count` more, whose product is `number`.
    fn factors(&mut self, number: i64, count: usize) {
        let limit = self.chosen.last().copied().unwrap_or(number);
        if count <= 1 {
            if count == 1 && number <= limit {
                self.chosen.push(number);
                self.compare();
                self.chosen.pop();
            }
            return;
        }
        let divisors = self.divisors;
        for &divisor in divisors.iter().take_while(|&&divisor| divisor <= limit) {
            // The largest of the rest comes first, so those after it cannot make up for one that is
            // too small.
            let reach = i128::from(divisor).checked_pow(count as u32).unwrap_or(i128::MAX);
            if number % divisor != 0 || reach < i128::from(number) {
                continue;
            }
            let first = self.chosen.first().copied().unwrap_or(divisor);
            if self
                .best
                .as_ref()
                .is_some_and(|best| first - root(number / divisor, count - 1) > best.difference)
            {
                // Larger ones leave less for the smallest.
                break;
            }
            self.chosen.push(divisor);
            self.factors(number / divisor, count - 1);
            self.chosen.pop();
        }
    }

    /// Keeps the factors chosen if they are better; of equals, those with the larger smallest one.
    fn compare(&mut self) {
        let (Some(first), Some(last)) = (self.chosen.first(), self.chosen.last()) else { return };
        let difference = first - last;
        let better = self.best.as_ref().is_none_or(|best| {
            let smallest = best.lengths.last().copied().unwrap_or(0);
            (difference, -last) < (best.difference, -smallest)
        });
        if better {
            self.best = Some(Best { lengths: self.chosen.clone(), difference });
        }
    }
}

/// At least the largest number whose power is not above `number`.
fn root(number: i64, power: usize) -> i64 {
    (number as f64).powf(1.0 / power as f64) as i64 + 1
}

#[cfg(test)]
mod tests {
    use super::fill;

    /// From the standard's table for `MPI_Dims_create`, and products that can be checked by eye.
    #[test]
    #[cfg_attr(miri, ignore = "factors large numbers, which takes Miri long")]
    fn lengths_are_as_equal_as_possible() {
        let filled = |nodes, dims: &[i32]| {
            let mut dims = dims.to_vec();
            fill(nodes, &mut dims).map(|()| dims).map_err(|error| error.code)
        };
        assert_eq!(filled(6, &[0, 0]), Ok(vec![3, 2]));
        assert_eq!(filled(7, &[0, 0]), Ok(vec![7, 1]));
        assert_eq!(filled(6, &[0, 3, 0]), Ok(vec![2, 3, 1]));
        assert_eq!(filled(7, &[0, 3, 0]), Err(crate::abi::ERR_DIMS));
        assert_eq!(filled(16, &[0, 0, 0]), Ok(vec![4, 2, 2]));
        assert_eq!(filled(12, &[0, 0, 0]), Ok(vec![3, 2, 2]));
        // 11 - 6 = 5; that of 11 9 8 5 would be 6.
        assert_eq!(filled(3960, &[0, 0, 0, 0]), Ok(vec![11, 10, 6, 6]));
        // Many divisors.
        assert_eq!(filled(735_134_400, &[0; 2]), Ok(vec![27_200, 27_027]));
        assert_eq!(filled(1 << 30, &[0; 6]), Ok(vec![32; 6]));
        assert_eq!(filled(1, &[0, 0]), Ok(vec![1, 1]));
        assert_eq!(filled(2_147_483_647, &[0, 0]), Ok(vec![2_147_483_647, 1]));
        assert_eq!(filled(4, &[2, 2]), Ok(vec![2, 2]));
        assert_eq!(filled(5, &[2, 2]), Err(crate::abi::ERR_DIMS));
    }
}
