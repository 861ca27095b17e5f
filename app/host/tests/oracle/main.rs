//! The engines against simulators that are as simple as the rules allow.

#![allow(missing_docs)]

mod compat;
mod graph;
mod loggopsim;
mod programs;
