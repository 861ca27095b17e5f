//! Executors and event queues.

mod probe;

pub use probe::{Probe, Silent};
