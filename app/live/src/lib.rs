//! Live ranks: real programs whose messages travel through a simulated network.
//!
//! A rank is held by a [`Runner`] (a process of its own, or a coroutine). It says what it does
//! ([`rank_ipc::Command`]); here that becomes a graph of operations, the same graph that the
//! compiler of traces makes of the calls (`rank.rs`), which hosts work off like any other
//! program ([`host::Source`]). When an operation that the rank waits for is done, the rank runs on.
//!
//! Not here: what MPI's calls mean, which is the business of the library in the rank.

mod call_log;
mod communicators;
mod computation;
mod descendants;
mod ending;
mod envelope;
mod expansion;
mod graph;
mod identity;
mod look;
mod output;
mod probes;
mod processes;
mod rank;
mod remote;
mod runner;
mod shared;
mod shared_core;
mod source;
mod spawn;
mod starter;
mod tags;

pub use call_log::{Call, Calls};
pub use computation::{Computation, Regions};
pub use descendants::{adopt, stop};
pub use ending::exited;
pub use processes::{Launch, Printing, Processes, Room};
pub use rank_ipc::hosts::Hosts;
pub use runner::{Ended, Lost, MakeRunner, Runner};
pub use shared::Costs;
pub use source::{Live, Waiting};
