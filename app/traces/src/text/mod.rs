//! Traces in text form.

pub mod allprof;
mod allprof_writer;
mod convert;
mod findings;
pub mod independent;
mod independent_writer;
pub(crate) mod lines;

pub use findings::Findings;

pub use allprof_writer::AllprofWriter;
pub use convert::convert;
pub use independent_writer::IndependentWriter;
