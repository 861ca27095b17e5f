//! The functions of MPI on datatypes, operations and statuses, as a program calls them. Expected
//! values follow from the standard's tables of what `MPI_Type_get_contents` gives, and from its
//! definitions.

use std::ffi::{c_char, c_int, c_void};

use crate::abi::{self, Handle, Status};
use crate::control::ranks;
use crate::layer::{Layer, VERSION, heddle_use_layer};

unsafe extern "C" {
    fn heddle_Init(argc: *mut c_int, argv: *mut usize) -> c_int;
    fn heddle_Comm_set_errhandler(comm: Handle, errhandler: Handle) -> c_int;
    fn heddle_Type_vector(
        count: c_int,
        length: c_int,
        stride: c_int,
        old: Handle,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Type_vector_c(
        count: i64,
        length: i64,
        stride: i64,
        old: Handle,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Type_indexed_c(
        count: i64,
        lengths: *const i64,
        displacements: *const i64,
        old: Handle,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Type_contiguous(count: c_int, old: Handle, new: *mut Handle) -> c_int;
    fn heddle_Type_commit(datatype: *mut Handle) -> c_int;
    fn heddle_Type_free(datatype: *mut Handle) -> c_int;
    fn heddle_Type_size(datatype: Handle, size: *mut c_int) -> c_int;
    fn heddle_Type_size_x(datatype: Handle, size: *mut i64) -> c_int;
    fn heddle_Type_get_envelope(
        datatype: Handle,
        integers: *mut c_int,
        addresses: *mut c_int,
        types: *mut c_int,
        combiner: *mut c_int,
    ) -> c_int;
    fn heddle_Type_get_envelope_c(
        datatype: Handle,
        integers: *mut i64,
        addresses: *mut i64,
        counts: *mut i64,
        types: *mut i64,
        combiner: *mut c_int,
    ) -> c_int;
    fn heddle_Type_get_contents(
        datatype: Handle,
        room_integers: c_int,
        room_addresses: c_int,
        room_types: c_int,
        integers: *mut c_int,
        addresses: *mut isize,
        types: *mut Handle,
    ) -> c_int;
    fn heddle_Type_create_f90_real(precision: c_int, range: c_int, new: *mut Handle) -> c_int;
    fn heddle_Type_get_value_index(value: Handle, index: Handle, new: *mut Handle) -> c_int;
    fn heddle_Pack(
        from: *const c_void,
        count: c_int,
        datatype: Handle,
        into: *mut c_void,
        size: c_int,
        position: *mut c_int,
        comm: Handle,
    ) -> c_int;
    fn heddle_Pack_external_size(
        representation: *const c_char,
        count: c_int,
        datatype: Handle,
        size: *mut isize,
    ) -> c_int;
    fn heddle_Get_count(status: *const Status, datatype: Handle, count: *mut c_int) -> c_int;
    fn heddle_Status_set_elements_x(status: *mut Status, datatype: Handle, count: i64) -> c_int;
    fn heddle_Get_elements_x(status: *const Status, datatype: Handle, count: *mut i64) -> c_int;
    fn heddle_Op_create(function: *const c_void, commutes: c_int, op: *mut Handle) -> c_int;
    fn heddle_Op_free(op: *mut Handle) -> c_int;
    fn heddle_Reduce_local(
        from: *const c_void,
        into: *mut c_void,
        count: c_int,
        datatype: Handle,
        op: Handle,
    ) -> c_int;
    fn heddle_Alloc_mem(size: isize, info: Handle, base: *mut *mut c_void) -> c_int;
    fn heddle_Free_mem(base: *mut c_void) -> c_int;
    fn heddle_Buffer_attach(buffer: *mut c_void, size: c_int) -> c_int;
    fn heddle_Buffer_detach(address: *mut *mut c_void, size: *mut c_int) -> c_int;
}

/// A program of one rank, to which errors are returned.
fn program(body: impl Fn() + Sync) {
    ranks(1, |_| {
        // SAFETY: no arguments are given.
        unsafe { heddle_Init(std::ptr::null_mut(), std::ptr::null_mut()) };
        for comm in [abi::COMM_WORLD, abi::COMM_SELF] {
            // SAFETY: both are predefined.
            unsafe { heddle_Comm_set_errhandler(comm, abi::ERRORS_RETURN) };
        }
        body();
    });
}

fn vector(count: c_int, length: c_int, stride: c_int, old: Handle) -> Handle {
    let mut new = abi::DATATYPE_NULL;
    // SAFETY: the result is a local variable.
    assert_eq!(
        unsafe { heddle_Type_vector(count, length, stride, old, &raw mut new) },
        abi::SUCCESS
    );
    new
}

#[test]
fn what_a_datatype_was_made_from() {
    program(|| {
        let inner = vector(2, 1, 3, abi::INT);
        let mut outer = vector(4, 5, 6, inner);
        let (mut integers, mut addresses, mut types, mut combiner) = (0, 0, 0, 0);
        let (mut numbers, mut handle) = ([0; 3], 0);
        // SAFETY: results are local variables, and as many as are said.
        unsafe {
            heddle_Type_get_envelope(
                outer,
                &raw mut integers,
                &raw mut addresses,
                &raw mut types,
                &raw mut combiner,
            );
            assert_eq!((integers, addresses, types, combiner), (3, 0, 1, abi::COMBINER_VECTOR));
            let room = |integers, numbers: &mut [c_int; 3], handle: &mut Handle| {
                let none = std::ptr::null_mut();
                heddle_Type_get_contents(outer, integers, 0, 1, numbers.as_mut_ptr(), none, handle)
            };
            assert_eq!(room(2, &mut numbers, &mut handle), abi::ERR_ARG);
            assert_eq!(room(3, &mut numbers, &mut handle), abi::SUCCESS);
            assert_eq!(numbers, [4, 5, 6]);
            // The inner one has a handle of its own, which outlives the outer one.
            assert_ne!(handle, inner);
            assert_eq!(heddle_Type_free(&raw mut outer), abi::SUCCESS);
            assert_eq!(outer, abi::DATATYPE_NULL);
            let mut size = 0;
            assert_eq!(heddle_Type_size(handle, &raw mut size), abi::SUCCESS);
            assert_eq!(size, 8);
            assert_eq!(heddle_Type_free(&raw mut handle), abi::SUCCESS);
            let mut predefined = abi::INT;
            assert_eq!(heddle_Type_free(&raw mut predefined), abi::ERR_TYPE);
        }
    });
}

// Made with large counts, a datatype is not described in small ones.
#[test]
fn large_counts() {
    program(|| {
        let mut of = 0;
        let mut got = [0; 4];
        let mut small = [0; 3];
        let (mut combiner, mut size, mut large) = (0, 0, 0);
        // SAFETY: results are local variables.
        unsafe {
            assert_eq!(heddle_Type_vector_c(1 << 32, 1, 2, abi::INT, &raw mut of), abi::SUCCESS);
            let [one, two, three, four] = &mut got;
            heddle_Type_get_envelope_c(of, one, two, three, four, &raw mut combiner);
            assert_eq!((got, combiner), ([0, 0, 3, 1], abi::COMBINER_VECTOR));
            let [one, two, three] = &mut small;
            let code = heddle_Type_get_envelope(of, one, two, three, &raw mut combiner);
            assert_eq!(code, abi::ERR_TYPE);
            heddle_Type_size(of, &raw mut size);
            heddle_Type_size_x(of, &raw mut large);
        }
        assert_eq!((size, large), (abi::UNDEFINED, 1 << 34));
    });
}

// A stride that leads to no other block and the displacement of an empty block are not in the type
// map: they may be anything.
#[test]
fn strides_that_lead_nowhere() {
    program(|| {
        let far = i64::MAX;
        let mut of = 0;
        // SAFETY: arrays and results are local variables.
        unsafe {
            for (count, length) in [(1, 1), (0, 1), (2, 0)] {
                let code = heddle_Type_vector_c(count, length, far, abi::INT, &raw mut of);
                assert_eq!(code, abi::SUCCESS, "{count} blocks of {length}");
            }
            let code = heddle_Type_vector_c(2, 1, far, abi::INT, &raw mut of);
            assert_eq!(code, abi::ERR_ARG);
            let indexed = |lengths: [i64; 2], new| {
                heddle_Type_indexed_c(2, lengths.as_ptr(), [far, 1].as_ptr(), abi::INT, new)
            };
            assert_eq!(indexed([0, 1], &raw mut of), abi::SUCCESS);
            assert_eq!(indexed([1, 1], &raw mut of), abi::ERR_ARG);
        }
    });
}

#[test]
fn datatypes_that_the_library_keeps() {
    program(|| {
        let (mut one, mut other, mut pair) = (0, 0, 0);
        // SAFETY: results are local variables.
        unsafe {
            assert_eq!(heddle_Type_create_f90_real(6, 30, &raw mut one), abi::SUCCESS);
            assert_eq!(heddle_Type_create_f90_real(6, 30, &raw mut other), abi::SUCCESS);
            assert_eq!(one, other);
            assert_eq!(heddle_Type_free(&raw mut other), abi::ERR_TYPE);
            heddle_Type_get_value_index(abi::DOUBLE, abi::INT, &raw mut pair);
            assert_eq!(pair, abi::DOUBLE_INT);
            heddle_Type_get_value_index(abi::INT, abi::FLOAT, &raw mut pair);
            assert_eq!(pair, abi::DATATYPE_NULL);
            heddle_Type_get_value_index(abi::FLOAT, abi::INT64_T, &raw mut pair);
            let mut size = 0;
            assert_eq!(heddle_Type_size(pair, &raw mut size), abi::SUCCESS);
            assert_eq!(size, 12);
        }
    });
}

#[test]
fn packing_is_checked() {
    program(|| {
        let mut of = vector(2, 1, 2, abi::INT);
        let from = [1, 2, 3];
        let mut into = [0; 3];
        let mut pack = |from: *const c_int, of, size| {
            let mut position = 4;
            // SAFETY: the buffers have 12 bytes.
            let code = unsafe {
                let into = into.as_mut_ptr().cast();
                heddle_Pack(from.cast(), 1, of, into, size, &raw mut position, abi::COMM_SELF)
            };
            (code, position)
        };
        assert_eq!(pack(from.as_ptr(), of, 12).0, abi::ERR_TYPE);
        // SAFETY: a local variable.
        unsafe { heddle_Type_commit(&raw mut of) };
        assert_eq!(pack(std::ptr::null(), of, 12).0, abi::ERR_BUFFER);
        assert_eq!(pack(from.as_ptr(), of, 11).0, abi::ERR_ARG);
        assert_eq!(pack(from.as_ptr(), of, 12), (abi::SUCCESS, 12));
        assert_eq!(into, [0, 1, 3]);
        let mut bytes = 0;
        // SAFETY: a string and a local variable.
        unsafe {
            let size = heddle_Pack_external_size;
            assert_eq!(size(c"native".as_ptr(), 1, of, &raw mut bytes), abi::ERR_ARG);
            assert_eq!(size(c"external32".as_ptr(), 5, of, &raw mut bytes), abi::SUCCESS);
        }
        assert_eq!(bytes, 40);
    });
}

// 20 bytes are 5 ints and no whole number of doubles; more than 2^31 bytes are no int.
#[test]
fn statuses() {
    program(|| {
        let mut status = Status::empty();
        status.set_bytes(20);
        let (mut count, mut elements) = (0, 0);
        // SAFETY: all are local variables.
        unsafe {
            heddle_Get_count(&raw const status, abi::INT, &raw mut count);
            assert_eq!(count, 5);
            heddle_Get_count(&raw const status, abi::DOUBLE, &raw mut count);
            assert_eq!(count, abi::UNDEFINED);
            heddle_Status_set_elements_x(&raw mut status, abi::SHORT, 3 << 31);
            heddle_Get_count(&raw const status, abi::SHORT, &raw mut count);
            assert_eq!(count, abi::UNDEFINED);
            heddle_Get_elements_x(&raw const status, abi::BYTE, &raw mut elements);
        }
        assert_eq!((elements, status.bytes()), (3 << 32, 3 << 32));
    });
}

/// Digits: ten times the left operand and the right one.
unsafe extern "C" fn digits(
    from: *mut c_int,
    into: *mut c_int,
    count: *mut c_int,
    of: *mut Handle,
) {
    // SAFETY: as the standard says of such functions.
    unsafe {
        assert_eq!(*of, abi::INT);
        for place in 0..*count as usize {
            *into.add(place) += 10 * *from.add(place);
        }
    }
}

/// A binding of another language: its functions take nothing but the operands of one element.
unsafe extern "C" fn call_simple(
    function: *const c_void,
    large: c_int,
    from: *mut c_void,
    into: *mut c_void,
    count: i64,
    datatype: Handle,
) {
    assert_eq!((large, count, datatype), (0, 2, abi::INT));
    // SAFETY: the tests hand in such a function with this layer.
    unsafe {
        let function = std::mem::transmute::<
            *const c_void,
            unsafe extern "C" fn(*mut c_void, *mut c_void),
        >(function);
        function(from, into);
    }
}

unsafe extern "C" fn first_only(from: *mut c_int, into: *mut c_int) {
    // SAFETY: there is one element at least.
    unsafe { *into = *from };
}

static SIMPLE: Layer = Layer {
    version: VERSION,
    name: c"simple".as_ptr(),
    reduce: Some(call_simple),
    copy_attribute: None,
    delete_attribute: None,
    handle_error: None,
    query: None,
    free: None,
    cancel: None,
    extent: None,
    convert: None,
    attributes: 0,
};

// The second operation is handed in through another layer, and is called through it later, when
// that is no more in use.
#[test]
fn operations_of_the_program() {
    program(|| {
        let (mut op, mut other) = (0, 0);
        let (from, mut into) = ([1, 2], [3, 4]);
        let reduce = |into: &mut [c_int; 2], op| {
            let into = into.as_mut_ptr().cast();
            // SAFETY: both have two elements.
            unsafe { heddle_Reduce_local(from.as_ptr().cast(), into, 2, abi::INT, op) }
        };
        // SAFETY: the functions are of the types that their layers call.
        unsafe {
            heddle_Op_create(digits as *const c_void, 0, &raw mut op);
            let before = heddle_use_layer(&raw const SIMPLE);
            heddle_Op_create(first_only as *const c_void, 0, &raw mut other);
            heddle_use_layer(before);
        }
        assert_eq!(reduce(&mut into, op), abi::SUCCESS);
        assert_eq!(into, [13, 24]);
        assert_eq!(reduce(&mut into, other), abi::SUCCESS);
        assert_eq!(into, [1, 24]);
        // SAFETY: local variables.
        unsafe {
            let freed = op;
            assert_eq!(heddle_Op_free(&raw mut op), abi::SUCCESS);
            assert_eq!((op, reduce(&mut into, freed)), (abi::OP_NULL, abi::ERR_OP));
            let mut sum = abi::SUM;
            assert_eq!(heddle_Op_free(&raw mut sum), abi::ERR_OP);
            let mut of = 0;
            heddle_Type_contiguous(1, abi::INT, &raw mut of);
            heddle_Type_commit(&raw mut of);
            let into = into.as_mut_ptr().cast();
            assert_eq!(
                heddle_Reduce_local(from.as_ptr().cast(), into, 1, of, abi::SUM),
                abi::ERR_OP
            );
        }
    });
}

// A message needs its bytes and 96 more, which is MPICH's MPI_BSEND_OVERHEAD: 488 + 96 + 1320 + 96
// = 2000.
#[test]
fn memory_and_buffers() {
    program(|| {
        let mut base = std::ptr::null_mut();
        let mut size = 0;
        // SAFETY: results are local variables; memory is freed as it was allocated, and not twice.
        unsafe {
            assert_eq!(heddle_Alloc_mem(-1, abi::INFO_NULL, &raw mut base), abi::ERR_ARG);
            assert_eq!(heddle_Alloc_mem(2000, abi::INFO_NULL, &raw mut base), abi::SUCCESS);
            assert_eq!(heddle_Buffer_attach(base, 2000), abi::SUCCESS);
            assert_eq!(heddle_Buffer_attach(base, 2000), abi::ERR_BUFFER);
            let buffer = crate::state::alongside(|mpi| mpi.memory.buffer(0, None));
            let buffer = buffer.expect("attached");
            assert!(buffer.reserve(488).is_ok());
            assert_eq!((buffer.size(), buffer.used()), (2000, 584));
            assert_eq!(buffer.reserve(1321).expect_err("too much").code, abi::ERR_BUFFER);
            buffer.release(488);
            let mut detached = std::ptr::null_mut();
            heddle_Buffer_detach(&raw mut detached, &raw mut size);
            assert_eq!((detached, size), (base, 2000));
            assert_eq!(heddle_Free_mem(base), abi::SUCCESS);
            assert_eq!(heddle_Free_mem(base), abi::ERR_BASE);
        }
    });
}
