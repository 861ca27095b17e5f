//! The binary interfaces of MPI libraries, as thin layers over our own.
//!
//! A program made for MPICH, for Open MPI or for the standard interface of MPI 5.0 finds its
//! library under the name it asks for. That library is a layer, in C, over the functions
//! `heddle_NAME` of `libheddle_mpi.so`, which speak the standard interface: handles, constants,
//! statuses and sentinels are translated on the way in and out. What the functions are, and what
//! must be translated, stands in two tables, `functions.csv` and `constants.csv` ([`table`],
//! [`constants`]); the C source is generated from them ([`wrappers`], [`values`]) and joined with a
//! part written by hand (folder `c`).
//!
//! Sources: the headers of MPICH 4.0 and Open MPI 4.1; MPI: A Message-Passing Interface Standard,
//! 5.0, chapter 20 and annex A.

pub mod arguments;
pub mod check;
pub mod constants;
mod elf;
pub mod fortran;
pub mod header;
pub mod in_process;
pub mod interface;
pub mod libraries;
pub mod module_functions;
pub mod modules;
pub mod scripts;
pub mod table;
pub mod thread_locals;
pub mod values;
pub mod wrappers;
