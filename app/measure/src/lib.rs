//! Measures an interconnect: what is measured in which order ([`plan`]), the programs that do so
//! over an MPI library or shared memory ([`programs`], whose source is in `c/`), over TCP sockets
//! ([`tcp`]), and what the system takes from a computing process ([`noise`]).
//!
//! The result is the text of a `samples.csv`. What follows from it is estimated elsewhere.
//!
//! Two ranks measure at a time, or disjoint pairs of more ([`pairs`]), and never so much that they
//! saturate a network: at most sixteen messages follow each other. Source of the parametrised round
//! trip: chapter 3 of "Analysis and optimization of the packet scheduler in Open MPI".

pub mod noise;
pub mod pairs;
pub mod plan;
pub mod programs;
pub mod session;
pub mod tcp;
