// SAFETY, of all blocks here that say nothing else: what a call takes by address lives until it
// returns.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};

use crate::abi::{self, Handle};
use crate::control::ranks;

type Copy =
    extern "C" fn(Handle, c_int, *mut c_void, *mut c_void, *mut *mut c_void, *mut c_int) -> c_int;
type Delete = extern "C" fn(Handle, c_int, *mut c_void, *mut c_void) -> c_int;

unsafe extern "C" {
    fn heddle_Init(argc: *mut c_int, argv: *mut usize) -> c_int;
    fn heddle_Finalize() -> c_int;
    fn heddle_Comm_set_errhandler(comm: Handle, errhandler: Handle) -> c_int;
    fn heddle_Comm_create_keyval(
        copy: *const c_void,
        delete: *const c_void,
        keyval: *mut c_int,
        extra: *mut c_void,
    ) -> c_int;
    fn heddle_Comm_free_keyval(keyval: *mut c_int) -> c_int;
    fn heddle_Comm_set_attr(comm: Handle, keyval: c_int, value: *mut c_void) -> c_int;
    fn heddle_Comm_get_attr(
        comm: Handle,
        keyval: c_int,
        value: *mut *mut c_void,
        flag: *mut c_int,
    ) -> c_int;
    fn heddle_Comm_delete_attr(comm: Handle, keyval: c_int) -> c_int;
    fn heddle_Comm_dup(comm: Handle, new: *mut Handle) -> c_int;
    fn heddle_Comm_free(comm: *mut Handle) -> c_int;
}

thread_local! {
    /// The calls of the program's functions, with their arguments: keyval, value, extra state.
    static CALLS: RefCell<Vec<(&'static str, c_int, usize, usize)>> =
        const { RefCell::new(Vec::new()) };
}

extern "C" fn copy(
    _: Handle,
    keyval: c_int,
    extra: *mut c_void,
    value: *mut c_void,
    new: *mut *mut c_void,
    flag: *mut c_int,
) -> c_int {
    CALLS.with_borrow_mut(|calls| calls.push(("copy", keyval, value as usize, extra as usize)));
    // SAFETY: the library passes places.
    unsafe {
        *new = (value as usize + 1) as *mut c_void;
        *flag = 1;
    }
    abi::SUCCESS
}

/// Refuses while the value is 99.
extern "C" fn delete(_: Handle, keyval: c_int, value: *mut c_void, extra: *mut c_void) -> c_int {
    CALLS.with_borrow_mut(|calls| calls.push(("delete", keyval, value as usize, extra as usize)));
    if value as usize == 99 { abi::ERR_OTHER } else { abi::SUCCESS }
}

fn keyval(copy: *const c_void, extra: usize) -> c_int {
    let mut keyval = 0;
    let delete = delete as Delete as *const c_void;
    let code =
        unsafe { heddle_Comm_create_keyval(copy, delete, &raw mut keyval, extra as *mut c_void) };
    assert_eq!(code, abi::SUCCESS);
    keyval
}

fn set(comm: Handle, keyval: c_int, value: usize) -> c_int {
    unsafe { heddle_Comm_set_attr(comm, keyval, value as *mut c_void) }
}

fn get(comm: Handle, keyval: c_int) -> Result<Option<usize>, c_int> {
    let (mut value, mut flag) = (std::ptr::null_mut(), -1);
    match unsafe { heddle_Comm_get_attr(comm, keyval, &raw mut value, &raw mut flag) } {
        abi::SUCCESS => Ok((flag == 1).then_some(value as usize)),
        code => Err(code),
    }
}

fn calls() -> Vec<(&'static str, c_int, usize, usize)> {
    CALLS.take()
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

#[test]
fn copied_by_the_program_and_deleted_in_reverse_order() {
    program(|| {
        let with_copy = keyval(copy as Copy as *const c_void, 7);
        let mut dropped = keyval(abi::NULL_FN as *const c_void, 8);
        let same = keyval(abi::DUP_FN as *const c_void, 9);
        let world = abi::COMM_WORLD;
        for (keyval, value) in [(with_copy, 10), (dropped, 20), (same, 30)] {
            assert_eq!(set(world, keyval, value), abi::SUCCESS);
        }
        let mut new = 0;
        assert_eq!(unsafe { heddle_Comm_dup(world, &raw mut new) }, abi::SUCCESS);
        assert_eq!(calls(), [("copy", with_copy, 10, 7)]);
        assert_eq!(get(new, with_copy), Ok(Some(11)));
        assert_eq!(get(new, dropped), Ok(None));
        assert_eq!(get(new, same), Ok(Some(30)));
        // A new value: the old one is deleted first.
        assert_eq!(set(new, same, 31), abi::SUCCESS);
        assert_eq!(calls(), [("delete", same, 30, 9)]);
        // A freed keyval's attribute is still deleted with its communicator.
        let (number, mut freed) = (same, same);
        assert_eq!(unsafe { heddle_Comm_free_keyval(&raw mut freed) }, abi::SUCCESS);
        assert_eq!(freed, abi::KEYVAL_INVALID);
        assert_eq!(unsafe { heddle_Comm_free(&raw mut new) }, abi::SUCCESS);
        assert_eq!(calls(), [("delete", number, 31, 9), ("delete", with_copy, 11, 7)]);
        assert_eq!(unsafe { heddle_Comm_delete_attr(world, dropped) }, abi::SUCCESS);
        assert_eq!(calls(), [("delete", dropped, 20, 8)]);
        assert_eq!(unsafe { heddle_Comm_free_keyval(&raw mut dropped) }, abi::SUCCESS);
        assert_eq!(get(world, number), Ok(Some(30)), "still there, though its keyval was freed");
    });
}

#[test]
fn a_refused_deletion_leaves_everything_as_it_was() {
    program(|| {
        let keyval = keyval(abi::NULL_FN as *const c_void, 0);
        let mut new = 0;
        assert_eq!(unsafe { heddle_Comm_dup(abi::COMM_WORLD, &raw mut new) }, abi::SUCCESS);
        unsafe { heddle_Comm_set_errhandler(new, abi::ERRORS_RETURN) };
        assert_eq!(set(new, keyval, 99), abi::SUCCESS);
        assert_eq!(set(new, keyval, 1), abi::ERR_OTHER);
        assert_eq!(unsafe { heddle_Comm_delete_attr(new, keyval) }, abi::ERR_OTHER);
        assert_eq!(unsafe { heddle_Comm_free(&raw mut new) }, abi::ERR_OTHER);
        assert_eq!(get(new, keyval), Ok(Some(99)));
    });
}

#[test]
fn predefined_attributes_and_wrong_keyvals() {
    program(|| {
        let value = |keyval| {
            // SAFETY: predefined attributes are addresses of integers.
            get(abi::COMM_WORLD, keyval).unwrap().map(|place| unsafe { *(place as *const c_int) })
        };
        assert_eq!(value(abi::TAG_UB), Some(2_147_483_647));
        assert_eq!(value(abi::WTIME_IS_GLOBAL), Some(1));
        assert_eq!(value(abi::UNIVERSE_SIZE), Some(1));
        assert_eq!(value(abi::LASTUSEDCODE), Some(abi::ERR_LASTCODE));
        assert_eq!(get(abi::COMM_WORLD, abi::WIN_BASE), Err(abi::ERR_KEYVAL));
        assert_eq!(get(abi::COMM_WORLD, abi::KEYVAL_INVALID), Err(abi::ERR_KEYVAL));
        assert_eq!(get(abi::COMM_WORLD, 0x7777), Err(abi::ERR_KEYVAL));
        assert_eq!(set(abi::COMM_WORLD, abi::TAG_UB, 5), abi::ERR_KEYVAL);
        assert_eq!(get(abi::COMM_NULL, abi::TAG_UB), Err(abi::ERR_COMM));
    });
}

/// `MPI_Finalize` deletes the attributes of `MPI_COMM_SELF` before anything else, the latest first.
#[test]
fn finalize_deletes_the_attributes_of_self() {
    program(|| {
        let (one, two) = (keyval(std::ptr::null(), 1), keyval(std::ptr::null(), 2));
        assert_eq!(set(abi::COMM_SELF, one, 10), abi::SUCCESS);
        assert_eq!(set(abi::COMM_SELF, two, 20), abi::SUCCESS);
        assert_eq!(unsafe { heddle_Finalize() }, abi::SUCCESS);
        assert_eq!(calls(), [("delete", two, 20, 2), ("delete", one, 10, 1)]);
    });
}
