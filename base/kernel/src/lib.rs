//! Executors and event queues: everything that decides what happens when.
//!
//! A [`Model`] supplies processes and a lookahead; [`execute`] runs them window by window on one
//! worker or several. The result depends on neither the number of workers nor on how messages
//! travel between them.

mod agenda;
mod bell;
mod block;
mod calendar;
mod error;
mod event;
mod executor;
mod mail;
mod memory;
mod packed;
mod probe;
mod queue;
mod random;
mod shares;
mod sync;
mod transport;
mod worker;

pub use error::Error;
pub use event::{AHEAD, Event, Model, Next, Wire};
pub use executor::{Config, Finished, TransportKind, execute, execute_over};
pub use mail::Outbox;
pub use memory::{prefetch, prefetch_lines, with_room};
pub use packed::Packed;
pub use probe::{Probe, Silent};
pub use queue::{Ready, ReadyQueue};
pub use random::Random;
pub use transport::{
    Bounds, Bytes, Channels, Parcel, Peers, Processes, Route, Spare, Threads, Transport,
    wait_for_those_before,
};
