//! The recorder: the source of the libraries that record MPI programs, and what is done with their
//! traces once a program has ended.
//!
//! The libraries themselves are C (`c/`); the wrappers of the MPI functions are generated from two
//! tables: the prototypes ([`prototypes`]) and the call table of the trace format, which says what
//! of each call is kept ([`wrappers`]).

pub mod launch;
pub mod libraries;
pub mod prototypes;
pub mod tail;
pub mod wrappers;
