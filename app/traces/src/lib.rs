//! Traces of MPI programs: what was called when, on every rank, and how that becomes a schedule.

pub mod collective;
mod compile;
pub mod definitions;
pub mod format;
pub mod library;
pub mod options;
pub mod pinning;
pub mod record;
pub mod source;
pub mod text;

pub use compile::{BUSY, Compiled, Error, LOOKS_APART, Mark, compile, look_at_clock};
