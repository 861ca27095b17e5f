// SAFETY, of all blocks here that say nothing else: what a call takes by address lives until it
// returns.

use std::ffi::{CStr, c_char, c_int};

use crate::abi::{self, Handle};
use crate::control::ranks;

unsafe extern "C" {
    fn heddle_Init(argc: *mut c_int, argv: *mut usize) -> c_int;
    fn heddle_Comm_set_errhandler(comm: Handle, handler: Handle) -> c_int;
    fn heddle_Comm_dup_with_info(comm: Handle, info: Handle, new: *mut Handle) -> c_int;
    fn heddle_Comm_get_info(comm: Handle, info: *mut Handle) -> c_int;
    fn heddle_Info_create(info: *mut Handle) -> c_int;
    fn heddle_Info_dup(info: Handle, new: *mut Handle) -> c_int;
    fn heddle_Info_free(info: *mut Handle) -> c_int;
    fn heddle_Info_set(info: Handle, key: *const c_char, value: *const c_char) -> c_int;
    fn heddle_Info_delete(info: Handle, key: *const c_char) -> c_int;
    fn heddle_Info_get(
        info: Handle,
        key: *const c_char,
        length: c_int,
        value: *mut c_char,
        flag: *mut c_int,
    ) -> c_int;
    fn heddle_Info_get_string(
        info: Handle,
        key: *const c_char,
        length: *mut c_int,
        value: *mut c_char,
        flag: *mut c_int,
    ) -> c_int;
    fn heddle_Info_get_nkeys(info: Handle, number: *mut c_int) -> c_int;
    fn heddle_Info_get_nthkey(info: Handle, n: c_int, key: *mut c_char) -> c_int;
}

fn program(body: impl Fn() + Sync) {
    ranks(1, |_| {
        unsafe {
            assert_eq!(heddle_Init(std::ptr::null_mut(), std::ptr::null_mut()), abi::SUCCESS);
            heddle_Comm_set_errhandler(abi::COMM_WORLD, abi::ERRORS_RETURN);
        }
        body();
    });
}

fn create() -> Handle {
    let mut info = 0;
    assert_eq!(unsafe { heddle_Info_create(&raw mut info) }, abi::SUCCESS);
    info
}

fn set(info: Handle, key: &CStr, value: &CStr) -> c_int {
    unsafe { heddle_Info_set(info, key.as_ptr(), value.as_ptr()) }
}

/// The value of a key as `MPI_Info_get_string` gives it with room for so many bytes, and the length
/// it says.
fn get(info: Handle, key: &CStr, room: c_int) -> Option<(String, c_int)> {
    let (mut text, mut length, mut flag) = ([0; 64], room, -1);
    let (key, place) = (key.as_ptr(), text.as_mut_ptr());
    let code = unsafe { heddle_Info_get_string(info, key, &raw mut length, place, &raw mut flag) };
    assert_eq!(code, abi::SUCCESS);
    // SAFETY: a text that ends with 0.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    (flag == 1).then(|| (text.to_str().unwrap().to_owned(), length))
}

#[test]
fn keys_keep_their_order_and_values_are_cut_to_the_room() {
    program(|| unsafe {
        let info = create();
        for (key, value) in [(c"one", c"1"), (c"two", c"zwei"), (c"three", c"3")] {
            assert_eq!(set(info, key, value), abi::SUCCESS);
        }
        assert_eq!(set(info, c"one", c"eins"), abi::SUCCESS);
        let (mut number, mut key) = (0, [0; 256]);
        assert_eq!(heddle_Info_get_nkeys(info, &raw mut number), abi::SUCCESS);
        assert_eq!(number, 3);
        let mut keys = Vec::new();
        for n in 0..3 {
            assert_eq!(heddle_Info_get_nthkey(info, n, key.as_mut_ptr()), abi::SUCCESS);
            keys.push(CStr::from_ptr(key.as_ptr()).to_owned());
        }
        assert_eq!(keys, [c"one".to_owned(), c"two".into(), c"three".into()]);
        assert_eq!(heddle_Info_get_nthkey(info, 3, key.as_mut_ptr()), abi::ERR_ARG);
        // The room counts the final zero, and so does what comes back.
        assert_eq!(get(info, c"two", 64), Some(("zwei".into(), 5)));
        assert_eq!(get(info, c"two", 3), Some(("zw".into(), 5)));
        assert_eq!(get(info, c"two", 0), Some((String::new(), 5)));
        assert_eq!(get(info, c"four", 64), None);
        // In the older function it does not.
        let (mut text, mut flag) = ([0; 8], 0);
        let code = heddle_Info_get(info, c"two".as_ptr(), 3, text.as_mut_ptr(), &raw mut flag);
        assert_eq!((code, flag, CStr::from_ptr(text.as_ptr())), (0, 1, c"zwe"));
    });
}

#[test]
fn copies_are_apart_and_errors_have_their_classes() {
    program(|| unsafe {
        let (mut info, mut copy) = (create(), 0);
        assert_eq!(set(info, c"key", c"value"), abi::SUCCESS);
        assert_eq!(heddle_Info_dup(info, &raw mut copy), abi::SUCCESS);
        assert_eq!(heddle_Info_delete(info, c"key".as_ptr()), abi::SUCCESS);
        assert_eq!(heddle_Info_delete(info, c"key".as_ptr()), abi::ERR_INFO_NOKEY);
        assert_eq!(get(copy, c"key", 64), Some(("value".into(), 6)));
        let long = [vec![b'k'; 256], vec![0]].concat();
        let long = CStr::from_bytes_with_nul(&long).unwrap();
        assert_eq!(set(info, long, c"value"), abi::ERR_INFO_KEY);
        assert_eq!(set(info, c"", c"value"), abi::ERR_INFO_KEY);
        assert_eq!(heddle_Info_set(info, c"key".as_ptr(), std::ptr::null()), abi::ERR_INFO_VALUE);
        let long = [vec![b'v'; 1024], vec![0]].concat();
        let long = CStr::from_bytes_with_nul(&long).unwrap();
        assert_eq!(set(info, c"key", long), abi::ERR_INFO_VALUE);
        assert_eq!(set(abi::INFO_NULL, c"key", c"value"), abi::ERR_INFO);
        let freed = info;
        assert_eq!(heddle_Info_free(&raw mut info), abi::SUCCESS);
        assert_eq!(info, abi::INFO_NULL);
        assert_eq!(set(freed, c"key", c"value"), abi::ERR_INFO);
        assert!(get(abi::INFO_ENV, c"command", 64).is_some());
        assert_eq!(get(abi::INFO_ENV, c"maxprocs", 64), Some(("1".into(), 2)));
    });
}

/// A communicator keeps the hints that the standard defines, and no others.
#[test]
fn hints_of_communicators() {
    program(|| unsafe {
        let (info, mut new, mut used) = (create(), 0, 0);
        set(info, c"mpi_assert_no_any_tag", c"true");
        set(info, c"colour", c"red");
        assert_eq!(heddle_Comm_dup_with_info(abi::COMM_WORLD, info, &raw mut new), abi::SUCCESS);
        assert_eq!(heddle_Comm_get_info(new, &raw mut used), abi::SUCCESS);
        assert_eq!(get(used, c"mpi_assert_no_any_tag", 64), Some(("true".into(), 5)));
        assert_eq!(get(used, c"colour", 64), None);
        // Beside them there is what holds for all (MPI 4.1, section 11.4.3).
        let kinds = Some(("mpi,system".into(), 11));
        assert_eq!(get(used, c"mpi_memory_alloc_kinds", 64), kinds);
        assert_eq!(get(abi::INFO_ENV, c"mpi_memory_alloc_kinds", 64), kinds);
    });
}
