//! `MPI_Dims_create`: a number of ranks as a product of lengths that are as equal as possible.

use std::ffi::c_int;

use crate::abi;
use crate::check;
use crate::error::{Error, Result};

/// Fills in the lengths that are 0, so that the product of all is `nodes`, in falling order: the largest is as small as it can
/// be, then the next.
pub(super) fn fill(nodes: c_int, dims: &mut [c_int]) -> Result {
    check!(nodes > 0, ERR_DIMS, "{nodes} ranks");
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
    let mut lengths = Vec::new();
    let found = factors(rest, free, rest, &divisors, &mut lengths);
    debug_assert!(found, "the number itself and ones are a product");
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

/// Appends `count` factors of a number in falling order, the first at most `limit` and as small as possible. False, and
/// nothing appended, if there are none.
fn factors(number: i64, count: usize, limit: i64, divisors: &[i64], found: &mut Vec<i64>) -> bool {
    if count == 0 {
        return number == 1;
    }
    for &divisor in divisors {
        if divisor > limit {
            break;
        }
        // The first is the largest, so the others cannot make up for one that is too small.
        let reach = i128::from(divisor).checked_pow(count as u32).unwrap_or(i128::MAX);
        if number % divisor != 0 || reach < i128::from(number) {
            continue;
        }
        found.push(divisor);
        if factors(number / divisor, count - 1, divisor, divisors, found) {
            return true;
        }
        found.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::fill;

    /// From the standard's table for `MPI_Dims_create`, and products that can be checked by eye.
    #[test]
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
        assert_eq!(filled(1 << 30, &[0; 6]), Ok(vec![32; 6]));
        assert_eq!(filled(1, &[0, 0]), Ok(vec![1, 1]));
        assert_eq!(filled(2_147_483_647, &[0, 0]), Ok(vec![2_147_483_647, 1]));
        assert_eq!(filled(4, &[2, 2]), Ok(vec![2, 2]));
        assert_eq!(filled(5, &[2, 2]), Err(crate::abi::ERR_DIMS));
    }
}
