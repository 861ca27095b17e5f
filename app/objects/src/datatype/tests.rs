//! Numbers are derived by hand from the standard's definitions of type maps and bounds.

use std::rc::Rc;

use super::arrays::{Dimension, grid_place, part};
use super::build::{contiguous, indexed, resized, structure, vector};
use super::layout::Layout;
use super::{Contents, Datatype, copy, external};
use crate::abi::{self, Handle};

fn named(handle: Handle) -> Rc<Datatype> {
    Rc::new(Datatype::named(handle).expect("a predefined datatype"))
}

fn none() -> Contents {
    Contents::default()
}

/// Size, lower bound, extent, true lower bound, true extent.
fn bounds(of: &Datatype) -> (u64, i64, i64, i64, i64) {
    (of.size(), of.lb(), of.extent(), of.true_lb(), of.true_extent())
}

/// The offsets of all bytes in the order of packing, by packing a buffer that holds its own
/// offsets.
fn packed_offsets(of: &Datatype, count: u64) -> Vec<u8> {
    let memory = (0..=255).collect::<Vec<u8>>();
    let mut packed = vec![0; (of.size() * count) as usize];
    // SAFETY: the tests' datatypes stay within 256 bytes.
    unsafe { of.pack(memory.as_ptr(), count, &mut packed) };
    packed
}

/// All bytes of words that begin at some offsets.
fn words(offsets: &[u8], size: u8) -> Vec<u8> {
    offsets.iter().flat_map(|&offset| offset..offset + size).collect()
}

// Sizes of gcc on x86-64; pairs are structures, so that {double, int} has 12 bytes of data in 16.
#[test]
fn predefined_datatypes() {
    let cases = [
        (abi::INT, 4, 4),
        (abi::LONG, 8, 8),
        (abi::LONG_DOUBLE, 16, 16),
        (abi::C_LONG_DOUBLE_COMPLEX, 32, 32),
        (abi::SHORT_INT, 6, 8),
        (abi::DOUBLE_INT, 12, 16),
        (abi::LONG_INT, 12, 16),
        (abi::FLOAT_INT, 8, 8),
        (abi::LONG_DOUBLE_INT, 20, 32),
        (abi::TWO_DOUBLE_PRECISION, 16, 16),
        (abi::INTEGER16, 16, 16),
        (abi::REAL2, 2, 2),
        (abi::WCHAR, 4, 4),
    ];
    for (handle, size, extent) in cases {
        let of = named(handle);
        assert_eq!((of.size(), of.extent()), (size, extent), "{handle:#x}");
    }
    assert!(Datatype::named(0x204).is_none());
}

#[test]
fn every_predefined_datatype_is_found() {
    let all = (0x201..0x2f2).filter(|&handle| Datatype::named(handle).is_some());
    // The header of the standard's interface defines 71 different numbers, one of which is
    // MPI_DATATYPE_NULL; and the two of MPI-1.
    assert_eq!(all.count(), 70 + 2);
}

// 3 blocks of 2 ints, 16 bytes apart: the last ends at 2*16 + 8.
#[test]
fn a_vector() {
    let int = named(abi::INT);
    let of = vector(none(), 3, 2, 16, &int).expect("a vector");
    assert_eq!(bounds(&of), (24, 0, 40, 0, 40));
    assert_eq!(packed_offsets(&of, 1), words(&[0, 4, 16, 20, 32, 36], 4));
    assert_eq!(of.map().elements(), 6);
    // The second begins at 40.
    assert_eq!(packed_offsets(&of, 2)[24..32], words(&[40, 44], 4));
}

// A negative stride: blocks at 0, -8, -16; the buffer's address is not where the data begins.
#[test]
fn a_vector_backwards() {
    let int = named(abi::INT);
    let of = vector(none(), 3, 1, -8, &int).expect("a vector");
    assert_eq!(bounds(&of), (12, -16, 20, -16, 20));
}

#[test]
fn contiguous_runs_are_one() {
    let int = named(abi::INT);
    let of = Rc::new(contiguous(none(), 5, &int).expect("ints"));
    let more = vector(none(), 4, 2, 40, &of).expect("no gaps");
    assert_eq!(**more.layout(), Layout::Run { offset: 0, bytes: 160 });
    assert!(more.is_contiguous());
    assert_eq!(more.run(3), Some((0, 480)));
    let padded = named(abi::DOUBLE_INT);
    assert!(!padded.is_contiguous());
    assert_eq!(padded.run(1), Some((0, 12)));
    assert_eq!(padded.run(2), None);
}

// Blocks of the same length at equal distances become a repetition, others a list.
#[test]
fn an_indexed_datatype() {
    let int = named(abi::INT);
    let even = indexed(none(), &[1, 1, 1], &[4, 16, 28], &int).expect("indexed");
    assert!(matches!(**even.layout(), Layout::Repeat { offset: 4, count: 3, stride: 12, .. }));
    // A block of no elements does not move the bounds; the blocks at 8 and 12 are one run.
    let of = indexed(none(), &[1, 1, 0, 2], &[8, 12, 900, 40], &int).expect("indexed");
    assert_eq!(bounds(&of), (16, 8, 40, 8, 40));
    assert_eq!(packed_offsets(&of, 1), words(&[8, 12, 40, 44], 4));
}

// struct { double; char } is 9 bytes of data in 16; with the char first, the extent is that of the
// elements, padded.
#[test]
fn a_structure_is_padded() {
    let types = [named(abi::DOUBLE), named(abi::CHAR)];
    let of = structure(none(), &[1, 1], &[0, 8], &types).expect("a structure");
    assert_eq!(bounds(&of), (9, 0, 16, 0, 9));
    // From 4 to 17: 13 bytes, padded to 16.
    let of = structure(none(), &[1, 1], &[4, 16], &types).expect("a structure");
    assert_eq!(bounds(&of), (9, 4, 16, 4, 13));
}

// The standard's example of markers: resized int with lb -3 and extent 9, twice: bounds -3 and 15.
#[test]
fn bounds_that_were_set() {
    let int = named(abi::INT);
    let one = Rc::new(resized(none(), -3, 9, &int).expect("resized"));
    assert_eq!(bounds(&one), (4, -3, 9, 0, 4));
    let two = contiguous(none(), 2, &one).expect("two");
    assert_eq!(bounds(&two), (8, -3, 18, 0, 13));
    // A structure of it and a double at 24: the upper bound that was set holds, 6.
    let both = structure(none(), &[1, 1], &[0, 24], &[one, named(abi::DOUBLE)]).expect("both");
    assert_eq!(bounds(&both), (12, -3, 9, 0, 32));
    // MPI-1's way to say the same.
    let types = [named(super::basic::LB), int, named(super::basic::UB)];
    let old = structure(none(), &[1, 1, 1], &[-3, 0, 6], &types).expect("a structure");
    assert_eq!(bounds(&old), (4, -3, 9, 0, 4));
}

// Rows 1 and 2, columns 2 to 4 of a 4 by 6 array of bytes; in Fortran's order the first index runs
// fastest.
#[test]
fn a_part_of_an_array() {
    let byte = named(abi::BYTE);
    let of = [Dimension::slice(4, 1, 2), Dimension::slice(6, 2, 3)];
    let c = part(none(), abi::ORDER_C, &of, &byte).expect("a part");
    assert_eq!(bounds(&c), (6, 0, 24, 8, 9));
    assert_eq!(packed_offsets(&c, 1), [8, 9, 10, 14, 15, 16]);
    assert_eq!(packed_offsets(&c, 2)[6..], [32, 33, 34, 38, 39, 40]);
    let fortran = part(none(), abi::ORDER_FORTRAN, &of, &byte).expect("a part");
    assert_eq!(packed_offsets(&fortran, 1), [9, 10, 13, 14, 17, 18]);
    assert!(part(none(), 3, &of, &byte).is_err());
}

// 10 elements, cyclic in blocks of 2 over 3 places: 0 has 0 1 6 7, 1 has 2 3 8 9, 2 has 4 5. With
// 9, the last of 1 is alone.
#[test]
fn a_cyclic_distribution() {
    let byte = named(abi::BYTE);
    let share = |size, place| Dimension::share(size, abi::DISTRIBUTE_CYCLIC, 2, 3, place);
    let of = |size, place| {
        let dimension = share(size, place).expect("a share");
        packed_offsets(&part(none(), abi::ORDER_C, &[dimension], &byte).expect("a part"), 1)
    };
    assert_eq!(of(10, 0), [0, 1, 6, 7]);
    assert_eq!(of(10, 1), [2, 3, 8, 9]);
    assert_eq!(of(10, 2), [4, 5]);
    assert_eq!(of(9, 1), [2, 3, 8]);
    assert_eq!(of(3, 2), [0_u8; 0]);
}

// 10 elements in blocks over 4 places: 3, 3, 3, 1. Blocks of 2 would not hold them.
#[test]
fn a_block_distribution() {
    let default = i64::from(abi::DISTRIBUTE_DFLT_DARG);
    let share = |argument, place| Dimension::share(10, abi::DISTRIBUTE_BLOCK, argument, 4, place);
    assert_eq!(share(default, 0), Ok(Dimension::slice(10, 0, 3)));
    assert_eq!(share(default, 3), Ok(Dimension::slice(10, 9, 1)));
    assert_eq!(share(5, 3), Ok(Dimension::slice(10, 0, 0)));
    assert_eq!(share(2, 0).expect_err("too small").code, abi::ERR_ARG);
    assert_eq!(share(0, 0).expect_err("nothing").code, abi::ERR_ARG);
    assert!(Dimension::share(10, abi::DISTRIBUTE_NONE, default, 4, 0).is_err());
    // Rank 5 of a grid of 2 by 3: the last dimension runs fastest.
    assert_eq!(grid_place(5, &[2, 3]), [1, 2]);
}

// A message that ends within the second element of the second block.
#[test]
fn a_short_message() {
    let int = named(abi::INT);
    let of = vector(none(), 2, 2, 12, &int).expect("a vector");
    let mut memory = [0_u8; 40];
    let message = (1..=27).collect::<Vec<u8>>();
    // SAFETY: two of the datatype span 40 bytes.
    assert_eq!(unsafe { of.unpack(&message, memory.as_mut_ptr(), 2) }, 27);
    assert_eq!(memory[..8], message[..8]);
    assert_eq!(memory[12..20], message[8..16]);
    assert_eq!(memory[20..28], message[16..24]);
    assert_eq!(memory[32..36], [25, 26, 27, 0]);
    assert_eq!(
        (of.elements_in(24), of.elements_in(27), of.elements_in(28)),
        (Some(6), None, Some(7))
    );
    // In parts, at places that are no boundaries, it gives the same.
    let mut again = [0_u8; 40];
    for (start, end) in [(0, 5), (5, 13), (13, 27)] {
        // SAFETY: as above.
        unsafe { of.unpack_part(&message[start..end], again.as_mut_ptr(), 2, start as u64) };
    }
    assert_eq!(memory, again);
    let mut parts = vec![0; 27];
    let (one, two) = parts.split_at_mut(11);
    // SAFETY: as above.
    unsafe {
        of.pack_part(memory.as_ptr(), 2, 0, one);
        of.pack_part(memory.as_ptr(), 2, 11, two);
    }
    assert_eq!(parts, message);
}

// {char, 3 doubles}: 4 elements; 9 bytes are 2 of them, and 5 elements are 25 bytes and one more.
#[test]
fn elements_of_different_sizes() {
    let types = [named(abi::CHAR), named(abi::DOUBLE)];
    let of = structure(none(), &[1, 3], &[0, 8], &types).expect("a structure");
    assert_eq!(
        (of.elements_in(9), of.elements_in(10), of.elements_in(26)),
        (Some(2), None, Some(5))
    );
    assert_eq!((of.bytes_of(2), of.bytes_of(4), of.bytes_of(5)), (9, 25, 26));
    assert_eq!(of.map().uniform(), None);
}

#[test]
fn copying_between_datatypes() {
    let int = named(abi::INT);
    let every_other = vector(none(), 3, 1, 8, &int).expect("a vector");
    let from = [1, 2, 3, 4, 5];
    let (mut into, mut spread) = ([0; 3], [0; 5]);
    // SAFETY: the datatypes span 20 and 12 bytes.
    unsafe {
        copy((from.as_ptr().cast(), 1, &every_other), (into.as_mut_ptr().cast(), 3, &int));
        copy((into.as_ptr().cast(), 3, &int), (spread.as_mut_ptr().cast(), 1, &every_other));
    }
    assert_eq!(into, [1, 3, 5]);
    assert_eq!(spread, [1, 0, 3, 0, 5]);
}

// Large counts cost nothing: 2^33 blocks of 4 bytes with gaps.
#[test]
fn large_counts() {
    let int = named(abi::INT);
    let of = Rc::new(vector(none(), 1 << 33, 1, 8, &int).expect("a vector"));
    assert_eq!((of.size(), of.extent()), (1 << 35, (1 << 36) - 4));
    assert_eq!(contiguous(none(), 1 << 33, &of).expect_err("too large").code, abi::ERR_ARG);
    assert_eq!(contiguous(none(), -1, &of).expect_err("negative").code, abi::ERR_COUNT);
}

// Blocks without data are nowhere, so that no place is too far for them.
#[test]
fn empty_blocks() {
    let int = named(abi::INT);
    let of = vector(none(), 3, 0, i64::MAX, &int).expect("a vector of empty blocks");
    assert_eq!(bounds(&of), (0, 0, 0, 0, 0));
    let of = vector(none(), 1, 1, i64::MAX, &int).expect("a vector of one block");
    assert_eq!(bounds(&of), (4, 0, 4, 0, 4));
    let of = indexed(none(), &[0, 1], &[i64::MAX, 8], &int).expect("an indexed datatype");
    assert_eq!(bounds(&of), (4, 8, 4, 8, 4));
}

// Big-endian; a long has 4 bytes, 1.5 as long double is 0x3fff 0x8000... in IEEE binary128.
#[test]
fn external32() {
    let types =
        [named(abi::INT), named(abi::LONG), named(abi::LONG_DOUBLE), named(abi::C_FLOAT_COMPLEX)];
    let of = structure(none(), &[1; 4], &[0, 8, 16, 32], &types).expect("a structure");
    assert_eq!(external::size(&of, 2), Ok(2 * (4 + 4 + 16 + 8)));
    let mut memory = [0_u8; 40];
    memory[..4].copy_from_slice(&0x0102_0304_i32.to_le_bytes());
    memory[8..16].copy_from_slice(&(-2_i64).to_le_bytes());
    memory[16..32].copy_from_slice(&0x3fff_c000_0000_0000_0000_u128.to_le_bytes());
    memory[32..36].copy_from_slice(&1_f32.to_le_bytes());
    memory[36..40].copy_from_slice(&2_f32.to_le_bytes());
    let mut packed = [0_u8; 32];
    // SAFETY: the datatype spans 40 bytes.
    unsafe { external::pack(&of, memory.as_ptr(), 1, &mut packed) };
    assert_eq!(packed[..8], [1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(packed[8..12], [0x3f, 0xff, 0x80, 0]);
    assert_eq!(packed[24..], [0x3f, 0x80, 0, 0, 0x40, 0, 0, 0]);
    let mut back = [0_u8; 40];
    // SAFETY: as above.
    unsafe { external::unpack(&of, &packed, back.as_mut_ptr(), 1) };
    assert_eq!(back, memory);
}
