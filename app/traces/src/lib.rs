//! Traces of MPI programs: what was called when, on every rank, and how that becomes a schedule.

pub mod definitions;
pub mod format;
pub mod record;
