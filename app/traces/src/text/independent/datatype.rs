//! SMPI's datatypes by the numbers that its traces use.

/// Bytes of each datatype, in the order of the numbers. They begin with double, int, char, short,
/// long, float and byte.
///
/// Source: measured with SimGrid 3.32's replayer, by how long a message of 100 000 of each takes.
const SIZES: [i64; 60] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, //
    8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8, 16, 16, 8, 8, 8, 16, 16, 4, 4, //
    8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8, 8,
];
/// The first datatypes by their numbers in the list of liballprof; all others have 0 there.
const LISTED: [i64; 7] = [10, 1, 13, 4, 3, 8, 13];
/// The number that SMPI writes for a datatype that the program made. Its replayer takes that for a
/// datatype without data.
const DERIVED: i64 = -1;
/// The default after `init`.
pub const BYTE: i64 = 6;
/// The default after `init` with an argument.
pub const DOUBLE: i64 = 0;

/// Returns number in liballprof's list, size and extent of a datatype.
pub fn find(id: i64) -> Result<[i64; 3], String> {
    if id == DERIVED {
        return Ok([0, 0, 0]);
    }
    let place = usize::try_from(id).ok();
    let size = place.and_then(|place| SIZES.get(place)).copied();
    let size =
        size.ok_or_else(|| format!("datatype {id}; they are -1 and 0 to {}", SIZES.len() - 1))?;
    let listed = place.and_then(|place| LISTED.get(place)).copied().unwrap_or(0);
    Ok([listed, size, size])
}
