//! Errors that end the program: each is made by this program once more, as a child.

// Functions of MPI take addresses.
#![allow(unsafe_code, missing_docs)]

use std::ffi::c_int;
use std::process::Command;

use heddle_mpi::abi::{self, Handle};

unsafe extern "C" {
    fn heddle_Init(argc: *mut c_int, argv: *mut usize) -> c_int;
    fn heddle_Finalize() -> c_int;
    fn heddle_Comm_remote_size(comm: Handle, size: *mut c_int) -> c_int;
    fn heddle_Comm_size(comm: Handle, size: *mut c_int) -> c_int;
    fn heddle_Abort(comm: Handle, code: c_int) -> c_int;
}

/// Exit code and error output of a test's child.
fn child(test: &str) -> (Option<i32>, String) {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env("HEDDLE_TEST_CHILD", "1")
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn is_child() -> bool {
    std::env::var_os("HEDDLE_TEST_CHILD").is_some()
}

fn init() {
    // SAFETY: null stands for no arguments.
    let code = unsafe { heddle_Init(std::ptr::null_mut(), std::ptr::null_mut()) };
    assert_eq!(code, abi::SUCCESS);
}

#[test]
fn an_error_names_rank_call_communicator_and_class() {
    if is_child() {
        init();
        let mut size = 0;
        // SAFETY: a place for the result.
        unsafe { heddle_Comm_remote_size(abi::COMM_WORLD, &raw mut size) };
    }
    let (code, said) = child("an_error_names_rank_call_communicator_and_class");
    assert_eq!(code, Some(abi::ERR_COMM));
    assert_eq!(
        said,
        "heddle: rank 0: MPI_Comm_remote_size on MPI_COMM_WORLD: MPI_COMM_WORLD has no remote group (MPI_ERR_COMM)\n"
    );
}

#[test]
fn calls_before_init_and_after_finalize() {
    if is_child() {
        let mut size = 0;
        if std::env::var_os("HEDDLE_TEST_AFTER").is_some() {
            init();
            // SAFETY: no arguments.
            assert_eq!(unsafe { heddle_Finalize() }, abi::SUCCESS);
        }
        // SAFETY: a place for the result.
        unsafe { heddle_Comm_size(abi::COMM_WORLD, &raw mut size) };
    }
    let test = "calls_before_init_and_after_finalize";
    let (code, said) = child(test);
    assert_eq!(code, Some(1));
    assert_eq!(said, "heddle: rank 0: MPI_Comm_size was called before MPI_Init\n");
    let after = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .envs([("HEDDLE_TEST_CHILD", "1"), ("HEDDLE_TEST_AFTER", "1")])
        .output()
        .unwrap();
    let said = String::from_utf8(after.stderr).unwrap();
    assert_eq!(said, "heddle: rank 0: MPI_Comm_size was called after MPI_Finalize\n");
}

#[test]
fn abort_ends_with_the_programs_code() {
    if is_child() {
        init();
        // SAFETY: no addresses.
        unsafe { heddle_Abort(abi::COMM_WORLD, 42) };
    }
    let (code, said) = child("abort_ends_with_the_programs_code");
    assert_eq!(code, Some(42));
    assert_eq!(said, "heddle: rank 0: MPI_Abort on MPI_COMM_WORLD with code 42\n");
}
