// SAFETY, of all blocks here that say nothing else: what a call takes by address lives until it
// returns.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};

use crate::abi::{self, Handle};
use crate::control::ranks;

unsafe extern "C" {
    fn heddle_Init(argc: *mut c_int, argv: *mut usize) -> c_int;
    fn heddle_Comm_create_errhandler(function: *const c_void, handler: *mut Handle) -> c_int;
    fn heddle_Comm_set_errhandler(comm: Handle, handler: Handle) -> c_int;
    fn heddle_Comm_get_errhandler(comm: Handle, handler: *mut Handle) -> c_int;
    fn heddle_Comm_call_errhandler(comm: Handle, code: c_int) -> c_int;
    fn heddle_Errhandler_free(handler: *mut Handle) -> c_int;
    fn heddle_File_get_errhandler(file: Handle, handler: *mut Handle) -> c_int;
    fn heddle_Comm_dup(comm: Handle, new: *mut Handle) -> c_int;
    fn heddle_Comm_size(comm: Handle, size: *mut c_int) -> c_int;
    fn heddle_Group_size(group: Handle, size: *mut c_int) -> c_int;
    fn heddle_Comm_remote_size(comm: Handle, size: *mut c_int) -> c_int;
    fn heddle_Add_error_class(class: *mut c_int) -> c_int;
    fn heddle_Add_error_code(class: c_int, code: *mut c_int) -> c_int;
    fn heddle_Add_error_string(code: c_int, text: *const c_char) -> c_int;
    fn heddle_Error_class(code: c_int, class: *mut c_int) -> c_int;
    fn heddle_Error_string(code: c_int, text: *mut c_char, length: *mut c_int) -> c_int;
    fn heddle_Remove_error_class(class: c_int) -> c_int;
    fn heddle_Remove_error_string(code: c_int) -> c_int;
    fn heddle_Remove_error_code(code: c_int) -> c_int;
}

thread_local! {
    static HEARD: Cell<(Handle, c_int)> = const { Cell::new((0, 0)) };
}

unsafe extern "C" fn hear(comm: *mut Handle, code: *mut c_int) {
    // SAFETY: the library passes both.
    HEARD.set(unsafe { (*comm, *code) });
}

fn program(body: impl Fn() + Sync) {
    ranks(1, |_| {
        let code = unsafe { heddle_Init(std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(code, abi::SUCCESS);
        body();
    });
}

fn handler() -> Handle {
    let mut handler = 0;
    let function: unsafe extern "C" fn(*mut Handle, *mut c_int) = hear;
    let code =
        unsafe { heddle_Comm_create_errhandler(function as *const c_void, &raw mut handler) };
    assert_eq!(code, abi::SUCCESS);
    handler
}

#[test]
#[cfg_attr(miri, ignore = "handlers are variadic, which no function of stable Rust is")]
fn errors_go_to_the_handler_of_what_they_are_about() {
    program(|| unsafe {
        let (mut size, mut new) = (0, 0);
        let mut own = handler();
        heddle_Comm_set_errhandler(abi::COMM_WORLD, own);
        assert_eq!(heddle_Comm_dup(abi::COMM_WORLD, &raw mut new), abi::SUCCESS);
        // The copy has its original's handler, which lives though its handle is given back.
        assert_eq!(heddle_Errhandler_free(&raw mut own), abi::SUCCESS);
        assert_eq!(own, abi::ERRHANDLER_NULL);
        assert_eq!(heddle_Comm_remote_size(new, &raw mut size), abi::ERR_COMM);
        assert_eq!(HEARD.take(), (new, abi::ERR_COMM));
        // An error about no communicator goes to the world's handler, as that of MPI_COMM_SELF
        // is the default.
        assert_eq!(heddle_Group_size(abi::GROUP_NULL, &raw mut size), abi::ERR_GROUP);
        assert_eq!(HEARD.take(), (abi::COMM_WORLD, abi::ERR_GROUP));
        assert_eq!(heddle_Comm_size(abi::COMM_NULL, &raw mut size), abi::ERR_COMM);
        assert_eq!(HEARD.take(), (abi::COMM_WORLD, abi::ERR_COMM));
        assert_eq!(heddle_Comm_call_errhandler(new, abi::ERR_TAG), abi::SUCCESS);
        assert_eq!(HEARD.take(), (new, abi::ERR_TAG));
        heddle_Comm_set_errhandler(abi::COMM_SELF, abi::ERRORS_RETURN);
        assert_eq!(heddle_Group_size(abi::GROUP_NULL, &raw mut size), abi::ERR_GROUP);
        assert_eq!(HEARD.take(), (0, 0));
    });
}

#[test]
#[cfg_attr(miri, ignore = "handlers are variadic, which no function of stable Rust is")]
fn handles_count() {
    program(|| unsafe {
        let own = handler();
        heddle_Comm_set_errhandler(abi::COMM_SELF, own);
        let (mut one, mut two) = (own, 0);
        assert_eq!(heddle_Comm_get_errhandler(abi::COMM_SELF, &raw mut two), abi::SUCCESS);
        assert_eq!(two, own, "the same object has the same handle");
        assert_eq!(heddle_Errhandler_free(&raw mut one), abi::SUCCESS);
        assert_eq!(heddle_Comm_set_errhandler(abi::COMM_WORLD, two), abi::SUCCESS);
        assert_eq!(heddle_Errhandler_free(&raw mut two), abi::SUCCESS);
        let mut gone = own;
        assert_eq!(heddle_Errhandler_free(&raw mut gone), abi::ERR_ARG);
        assert_eq!(heddle_Comm_get_errhandler(abi::COMM_SELF, &raw mut two), abi::SUCCESS);
        assert_eq!(heddle_Errhandler_free(&raw mut two), abi::SUCCESS);
        // The default of files, unlike that of communicators, returns.
        assert_eq!(heddle_File_get_errhandler(abi::FILE_NULL, &raw mut two), abi::SUCCESS);
        assert_eq!(two, abi::ERRORS_RETURN);
    });
}

#[test]
fn classes_and_codes_of_the_program() {
    program(|| unsafe {
        heddle_Comm_set_errhandler(abi::COMM_WORLD, abi::ERRORS_RETURN);
        let (mut class, mut code, mut found) = (0, 0, 0);
        assert_eq!(heddle_Add_error_class(&raw mut class), abi::SUCCESS);
        assert_eq!(heddle_Add_error_code(class, &raw mut code), abi::SUCCESS);
        assert!(class > abi::ERR_LASTCODE && code > class);
        assert_eq!(heddle_Error_class(code, &raw mut found), abi::SUCCESS);
        assert_eq!(found, class);
        assert_eq!(heddle_Add_error_code(code, &raw mut found), abi::ERR_ARG, "a code is no class");
        let mut text = [0; 512];
        assert_eq!(heddle_Add_error_string(code, c"my text".as_ptr()), abi::SUCCESS);
        assert_eq!(heddle_Error_string(code, text.as_mut_ptr(), &raw mut found), abi::SUCCESS);
        assert_eq!((found, std::ffi::CStr::from_ptr(text.as_ptr())), (7, c"my text"));
        // A code without text has an empty one.
        assert_eq!(heddle_Error_string(class, text.as_mut_ptr(), &raw mut found), abi::SUCCESS);
        assert_eq!((found, text[0]), (0, 0));
        assert_eq!(heddle_Remove_error_class(class), abi::ERR_ARG, "it still has a code");
        assert_eq!(heddle_Remove_error_code(code), abi::ERR_ARG, "it still has a text");
        assert_eq!(heddle_Remove_error_string(code), abi::SUCCESS);
        assert_eq!(heddle_Remove_error_code(code), abi::SUCCESS);
        assert_eq!(heddle_Remove_error_class(class), abi::SUCCESS);
        assert_eq!(heddle_Error_class(class, &raw mut found), abi::ERR_ARG);
    });
}
