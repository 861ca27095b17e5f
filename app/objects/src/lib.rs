//! The objects of MPI that need no communication: datatypes, groups, reduction operations, info
//! objects, error classes and codes, and the attributes that programs attach to objects.
//!
//! Everything here is plain data and functions on it: there is no state of a process, no message
//! and no call of a function of the program. Where an object stands for a function of the program,
//! it holds a trait object, which the library of MPI implements ([`op::UserReduction`],
//! [`attributes::KeyvalFunctions`]). Objects are reached by handles of the standard binary
//! interface ([`abi`]), which a [`table::Table`] gives out; the library keeps one of each kind for
//! each rank.
// Reductions, and the packing of datatypes, work on buffers of the program, of which only the
// caller knows how long they are.
#![allow(unsafe_code)]
// The standard's counts and offsets are signed, those of memory are not; what may be negative is
// checked where it comes in.
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]

pub mod abi;
pub mod attributes;
pub mod codes;
pub mod datatype;
pub mod error;
pub mod group;
pub mod info;
pub mod op;
mod status;
pub mod table;

pub use error::{Error, Result};
