//! Traces in text form.

pub mod allprof;
mod findings;
pub mod independent;
mod lines;

pub use findings::Findings;
