//! Traces of MPI programs: what was called when, on every rank, and how that becomes a schedule.

mod compile;
pub mod definitions;
pub mod format;
pub mod options;
pub mod pinning;
pub mod record;
pub mod source;
pub mod text;

pub use compile::{Compiled, Error, Mark, compile};
