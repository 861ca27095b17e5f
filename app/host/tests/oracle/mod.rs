//! The engines against simulators that are as simple as the rules allow.

mod compat;
mod defaults;
mod found;
mod graph;
mod loggopsim;
mod programs;
mod rules;
mod shared;
mod ties;
