//! MPI 4.1, with the names of the 5.0 binary interface, over a simulated network.
//!
//! A program's own library of MPI: it moves the program's data for real and asks the simulator,
//! through [`rank_ipc`], when things happen. Everything here is in terms of the standard binary
//! interface ([`abi`]); its functions are exported as `heddle_NAME` (for `MPI_NAME`), with the
//! standard's C prototypes. The libraries that programs load (`libmpi_abi.so.1`, `libmpich.so.12`,
//! `libmpi.so.40`) are layers over these, generated in C.
//!
//! One function stands in one place: its module is that of the chapter of the standard it belongs
//! to. What a function is called with is checked there; errors go through the error handler of the
//! object they are about ([`call`]).
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)]
// The standard's counts and offsets are signed, those of memory are not; what may be negative is
// checked where it comes in.
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]

pub mod argument;
pub mod attributes;
pub mod call;
pub mod codes;
pub mod collective;
pub mod comm;
#[cfg_attr(test, path = "control/threads.rs")]
pub mod control;
pub mod datatype;
pub mod environment;
pub mod errhandler;
pub mod error;
pub mod extra;
pub mod file;
pub mod group;
pub mod handle;
pub mod info;
pub mod layer;
pub mod memory;
pub mod op;
pub mod p2p;
pub mod partitioned;
mod place;
pub mod request;
pub mod session;
pub mod simulator;
pub mod singleton;
pub mod state;
pub mod status;
pub mod thread_members;
pub mod thread_states;
pub mod threads;
pub mod tools;
pub mod topology;
pub mod window;
mod zero_copy;

pub use error::{Error, Result};
pub use objects::{abi, table};
pub use state::mpi;
