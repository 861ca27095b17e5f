use std::rc::Rc;

use super::representation::Representation;
use super::view::View;
use crate::abi;
use crate::argument::Out;
use crate::datatype::Datatype;
use crate::state::alongside;

unsafe extern "C" {
    fn heddle_Type_vector(count: i32, length: i32, stride: i32, old: usize, new: Out<usize>)
    -> i32;
    fn heddle_Type_contiguous(count: i32, old: usize, new: Out<usize>) -> i32;
    fn heddle_Init(argc: *mut i32, argv: *mut usize) -> i32;
}

fn datatype(handle: usize) -> Rc<Datatype> {
    alongside(|mpi| mpi.datatype(handle).unwrap())
}

/// Two blocks of two ints, four ints apart: bytes 0 to 8 and 16 to 24, extent 24.
fn vector() -> Rc<Datatype> {
    let mut made = 0;
    // SAFETY: the place lives until the calls return.
    unsafe {
        heddle_Init(std::ptr::null_mut(), std::ptr::null_mut());
        heddle_Type_vector(2, 2, 4, abi::INT, Out::new(&raw mut made));
    }
    datatype(made)
}

fn pieces(view: &View, skip: u64, bytes: u64) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let outcome = view.pieces(skip, bytes, |place, length| {
        found.push((place, length));
        true
    });
    outcome.unwrap();
    found
}

#[test]
fn a_view_shows_the_data_of_its_filetype_again_and_again() {
    let vector = vector();
    let view = View::new(100, datatype(abi::INT), vector, Representation::Native).unwrap();
    // The second block of the first tile, 116 to 124, touches the first block of the second, 124 to
    // 132.
    let all: u64 = pieces(&view, 0, 32).iter().map(|(_, length)| length).sum();
    assert_eq!(all, 32);
    assert_eq!(pieces(&view, 4, 8), [(104, 4), (116, 4)]);
    assert_eq!(view.place(12).unwrap(), 120);
    assert_eq!(view.place(16).unwrap(), 124);
}

#[test]
fn what_is_visible_before_the_end_of_a_file_is_counted() {
    let vector = vector();
    let view = View::new(100, datatype(abi::INT), vector, Representation::Native).unwrap();
    // Visible are 100..108, 116..132, 140..148, …
    for (end, bytes) in
        [(0, 0), (100, 0), (103, 3), (110, 8), (116, 8), (124, 16), (130, 22), (140, 24), (148, 32)]
    {
        assert_eq!(view.before(end), bytes, "before {end}");
    }
}

/// In "external32", a C long has 4 bytes (MPI 4.1, table 14.2), so places of longs halve.
#[test]
fn datatypes_shrink_with_their_elements() {
    vector();
    let mut made = 0;
    // SAFETY: as above.
    unsafe { heddle_Type_contiguous(3, abi::LONG, Out::new(&raw mut made)) };
    let (map, extent) = Representation::External.stored(&datatype(made)).unwrap();
    assert_eq!((map.size(), extent), (12, 12));
    let (map, extent) = Representation::Native.stored(&datatype(made)).unwrap();
    assert_eq!((map.size(), extent), (24, 24));
}

/// Places below 0 and places out of order are no filetype's (MPI 4.1, section 14.1.1).
#[test]
fn a_filetype_goes_forward() {
    vector();
    let mut made = 0;
    // SAFETY: as above.
    unsafe { heddle_Type_vector(2, 1, -2, abi::INT, Out::new(&raw mut made)) };
    let view = View::new(0, datatype(abi::INT), datatype(made), Representation::Native);
    assert_eq!(view.unwrap_err().code, abi::ERR_IO);
}

/// Blocks of two ints one int apart show the second int twice: a stream of ints 0, 1, 1, 2 for who
/// reads.
#[test]
fn blocks_that_overlap_are_known_as_such() {
    assert!(
        !View::new(0, datatype(abi::INT), vector(), Representation::Native).unwrap().overlaps()
    );
    let mut made = 0;
    // SAFETY: as above.
    unsafe { heddle_Type_vector(2, 2, 1, abi::INT, Out::new(&raw mut made)) };
    let view = View::new(0, datatype(abi::INT), datatype(made), Representation::Native).unwrap();
    assert!(view.overlaps());
    let all: Vec<u64> = (0..4).map(|element| view.place(4 * element).unwrap()).collect();
    assert_eq!(all, [0, 4, 4, 8]);
}
