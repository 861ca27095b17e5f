//! Tests of synthetic traffic.

mod adversarial;
mod arrivals;
mod booksim;
mod booksim_topologies;
mod bound;
mod common;
mod congestion;
mod networks;
mod patterns;
mod saturation;
#[path = "common/scenarios.rs"]
mod scenarios;
