//! The operation graph of a parallel program (GOAL) and where it comes from: text and binary files,
//! and patterns that are known by rule.

pub mod goal;
pub mod pattern;
mod program;

pub use program::{ANY, Edge, Follow, Kind, Op, Program, Run};
