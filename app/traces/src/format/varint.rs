//! Numbers of variable length: seven bits a byte, the lowest first, the top bit set on all but the
//! last (LEB128). Signed numbers are folded first, so that small ones of either sign stay short.

/// Most bytes that a number takes.
pub const LONGEST: usize = 10;

/// Appends a number.
#[inline]
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a signed number.
#[inline]
pub fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, fold(number));
}

/// 0, -1, 1, -2, … as 0, 1, 2, 3, …
#[inline]
pub const fn fold(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// The inverse of [`fold`].
#[inline]
pub const fn unfold(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

/// Takes a number from the front; `None` if it does not end or has more than 64 bits.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    if *first < 0x80 {
        *bytes = rest;
        return Some(u64::from(*first));
    }
    take_long(bytes)
}

fn take_long(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (index, byte) in bytes.iter().take(LONGEST).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if index == LONGEST - 1 && bits > 1 {
            return None;
        }
        number |= bits << (7 * index);
        if byte & 0x80 == 0 {
            *bytes = bytes.get(index + 1..)?;
            return Some(number);
        }
    }
    None
}

/// Takes a signed number from the front.
#[inline]
pub fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    take(bytes).map(unfold)
}
