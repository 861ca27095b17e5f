//! The representation "external32" (MPI 4.1, section 14.5.2): big-endian, IEEE formats, C's `long`
//! of 4 bytes, and `long double` of 16.
//!
//! A `long double` of the x87 becomes an IEEE binary128 exactly; on the way back digits that it
//! does not have are cut off.

use super::Datatype;
use super::basic::{Basic, Class, Float};
use super::map::{Map, too_large};
use crate::error::Result;

/// Bytes of several of a datatype in this representation.
pub fn size(datatype: &Datatype, count: u64) -> Result<u64> {
    fn of(map: &Map) -> Option<u64> {
        match map {
            Map::Basic(basic) => Some(basic.external.into()),
            Map::Pieces { pieces, .. } => pieces.iter().try_fold(0_u64, |sum, piece| {
                sum.checked_add(of(&piece.map)?.checked_mul(piece.count)?)
            }),
        }
    }
    let bytes = of(datatype.map()).and_then(|bytes| bytes.checked_mul(count));
    bytes.filter(|&bytes| i64::try_from(bytes).is_ok()).ok_or_else(too_large)
}

/// Calls a function with the address of each basic element.
fn each(datatype: &Datatype, count: u64, mut visit: impl FnMut(isize, Basic) -> bool) {
    let mut base = 0;
    for _ in 0..count {
        if !datatype.map().each(base, &mut |offset, basic| visit(offset as isize, basic)) {
            return;
        }
        base = base.wrapping_add(datatype.extent());
    }
}

/// Converts data as far as there is room.
///
/// # Safety
/// The buffer has so many of the datatype.
pub unsafe fn pack(datatype: &Datatype, buffer: *const u8, count: u64, mut into: &mut [u8]) {
    each(datatype, count, |offset, basic| {
        let room = std::mem::take(&mut into);
        let Some((place, rest)) = room.split_at_mut_checked(basic.external.into()) else {
            return false;
        };
        into = rest;
        // SAFETY: the caller's.
        let native = unsafe {
            std::slice::from_raw_parts(buffer.wrapping_offset(offset), basic.size.into())
        };
        let (native, place) =
            (native.chunks(part(basic, basic.size)), place.chunks_mut(part(basic, basic.external)));
        native.zip(place).for_each(|(native, place)| to_external(basic.class, native, place));
        true
    });
}

/// Converts data as far as there is any.
///
/// # Safety
/// The buffer has room for so many of the datatype.
pub unsafe fn unpack(datatype: &Datatype, mut from: &[u8], buffer: *mut u8, count: u64) {
    each(datatype, count, |offset, basic| {
        let Some((data, rest)) = from.split_at_checked(basic.external.into()) else { return false };
        from = rest;
        // SAFETY: the caller's.
        let native = unsafe {
            std::slice::from_raw_parts_mut(buffer.wrapping_offset(offset), basic.size.into())
        };
        let (data, native) =
            (data.chunks(part(basic, basic.external)), native.chunks_mut(part(basic, basic.size)));
        data.zip(native).for_each(|(data, native)| from_external(basic.class, data, native));
        true
    });
}

/// Bytes of a number in so many bytes: a complex number is two.
fn part(basic: Basic, bytes: u8) -> usize {
    usize::from(if matches!(basic.class, Class::Complex(_)) { bytes / 2 } else { bytes })
}

const fn is_extended(class: Class) -> bool {
    matches!(class, Class::Float(Float::Extended) | Class::Complex(Float::Extended))
}

fn to_external(class: Class, native: &[u8], place: &mut [u8]) {
    if is_extended(class)
        && let Ok(bytes) = native.try_into()
    {
        place.copy_from_slice(&extended_to_quad(u128::from_le_bytes(bytes)).to_be_bytes());
        return;
    }
    // Of a wider number the low bytes.
    place.iter_mut().rev().zip(native).for_each(|(place, byte)| *place = *byte);
}

fn from_external(class: Class, data: &[u8], native: &mut [u8]) {
    if is_extended(class)
        && let Ok(bytes) = data.try_into()
    {
        native.copy_from_slice(&quad_to_extended(u128::from_be_bytes(bytes)).to_le_bytes());
        return;
    }
    let negative = class == Class::Signed && data.first().is_some_and(|byte| byte & 0x80 != 0);
    let high = if negative { 0xff } else { 0 };
    let bytes = data.iter().rev().copied().chain(std::iter::repeat(high));
    native.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
}

/// Sign and exponent have the same 16 bits in both; the x87 has the digit before the point as a bit
/// of its own, and then 63 digits; IEEE has 112.
fn extended_to_quad(extended: u128) -> u128 {
    let head = (extended >> 64) & 0xffff;
    let digits = extended & 0x7fff_ffff_ffff_ffff;
    head << 112 | digits << 49
}

fn quad_to_extended(quad: u128) -> u128 {
    let head = quad >> 112;
    let digits = (quad >> 49) & 0x7fff_ffff_ffff_ffff;
    let whole = u128::from(head & 0x7fff != 0);
    head << 64 | whole << 63 | digits
}
