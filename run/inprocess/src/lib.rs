//! Ranks as coroutines in the process of an unmodified program.
//!
//! `heddle mpirun --in-process` starts the program with this library loaded first. It takes the place of `libheddle_mpi.so`, of
//! whose functions it has its own, and of the C library's `__libc_start_main`: instead of the program's `main`, the
//! simulator runs, which runs `main` once for each rank, on a stack of its own and with its own copy of the program's variables
//! ([`image`]).
//!
//! What ranks share: the heap (but each has what it allocates), open files, the working directory, the environment, and the variables of
//! shared libraries. A rank that is ended by a signal ends all of them.
#![allow(unsafe_code)]

/// As in the command. The program's own memory is that of the C library.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod image;
mod ranks;
mod signals;
mod start;

// Its functions, which the layers call, are exported from here.
use heddle_mpi as _;
