//! One simulation over several processes of a job, on one machine or several.
//!
//! A launcher such as `mpirun` starts the command several times. [`Launch::found`] tells from the
//! environment that it did; [`Launch::join`] loads a small library that is compiled for the job's
//! MPI library and gives the other processes, as [`kernel::Peers`]. The command itself links to no
//! MPI library.

mod job;
mod launch;

pub use job::{Error, Job};
pub use launch::{Launch, Library};

/// The source of the small library, in C.
pub const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c/processes.c");
