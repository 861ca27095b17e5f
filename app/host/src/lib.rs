//! Hosts: ranks, their CPUs and network interfaces, and what they do in time.
//!
//! [`simulate`] runs a program by the rules of LogGOPS on any number of threads;
//! [`simulate_loggopsim`] imitates the simulator `LogGOPSim`, defects included, on one;
//! [`simulate_flow`] runs it over a network of flows by the rules of SMPI.
//!
//! Modelled: CPU overheads (o, O), gaps (g, G) of interfaces with a sending and a receiving side,
//! eager messages and rendezvous, matching with wildcards, noise. Not modelled here: the network
//! (that is the [`network::Network`]'s), memory, and contention within a host beyond its CPUs and
//! interfaces.

mod activity;
mod clocks;
mod completion;
mod costs;
mod deadlock;
mod endpoint;
mod engine;
mod fast_path;
mod harvest;
mod hybrid;
mod loggopsim;
mod message;
mod nic;
mod noise;
mod notices;
mod outcome;
mod path;
mod places;
mod queues;
pub mod rails;
mod rank;
mod settings;
mod shared;
mod simulate;
mod source;

pub use completion::SendDone;
pub use costs::{Costs, HostCosts, LocalCosts};
pub use hybrid::{Piece, Pieces, Protocol, Protocols, seconds, simulate_flow};
pub use kernel::TransportKind;
pub use loggopsim::simulate_loggopsim;
pub use noise::{Duration, Noise};
pub use outcome::{
    Activity, BlockedCall, CriticalPath, Deadlock, Outcome, PendingMessage, PendingOp, RankTotals,
    Record,
};
pub use path::{Path, Stamp};
pub use settings::{Meter, Rendezvous, Settings};
pub use simulate::{Error, simulate, simulate_over};
pub use source::{
    AnyWork, Claims, Explains, Operations, Probing, START, Source, Starts, TwoWayRing, Waits, Work,
};
