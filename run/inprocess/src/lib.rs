//! Ranks as coroutines in the process of an unmodified program.
//!
//! `heddle mpirun --in-process` starts the program with this library loaded first. It takes the
//! place of `libheddle_mpi.so`, of whose functions it has its own, and of the C library's
//! `__libc_start_main`: instead of the program's `main`, the simulator runs, which runs `main` once
//! for each rank, on a stack of its own and with its own copy of the program's variables
//! ([`image`]).
//!
//! A rank that asks for threads that call MPI has threads of the system's ([`own_threads`]).
//!
//! Ranks share the heap (but each has what it allocates), open files, the working directory, the
//! environment, and the variables of the system's libraries ([`objects`]). A rank that is ended by
//! a signal ends all of them.
#![allow(unsafe_code)]

/// The allocator that the command has, too. The program's own memory is that of the C library.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::ffi::{CStr, c_void};

mod buffers;
mod code;
mod cores;
mod criticals;
mod descriptors;
mod floats;
mod handlers;
mod image;
mod keys;
mod large;
mod leave;
mod masks;
mod objects;
mod openmp;
mod own_threads;
mod pristine;
mod random;
mod ranks;
mod signals;
mod stacks;
mod start;
mod stops;
mod threads;
mod traps;

// Its functions, which the layers call, are exported from here.
use heddle_mpi as _;

/// The address of a name in the program and its libraries.
fn symbol<F: Copy>(name: &CStr) -> Option<F> {
    find(libc::RTLD_DEFAULT, name)
}

/// The next definition of a function behind this library's.
fn next<F: Copy>(name: &CStr) -> Option<F> {
    find(libc::RTLD_NEXT, name)
}

fn find<F: Copy>(where_from: *mut c_void, name: &CStr) -> Option<F> {
    // SAFETY: the name is a string.
    let found = unsafe { libc::dlsym(where_from, name.as_ptr()) };
    // SAFETY: the caller asks for the type that what is found has, a pointer.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}
