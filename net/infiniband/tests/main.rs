//! Tests of the model of `InfiniBand`.

mod closed_forms;
mod common;
mod conformance;
mod congestion;
mod losses;
mod mistakes;
mod oracle;
mod probes;
mod seed;
