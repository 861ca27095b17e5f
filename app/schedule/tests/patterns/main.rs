//! Tests of the communication patterns.

mod claims;
mod counts;
mod graph;
mod lists;
mod options;
mod roles;
mod structure;
