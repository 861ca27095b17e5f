//! Executors and event queues: everything that decides what happens when.
//!
//! A [`Model`] supplies processes and a lookahead; [`execute`] runs them window by window on one
//! worker or several. The result depends on neither the number of workers nor on how messages
//! travel between them.

mod bell;
mod block;
mod calendar;
mod error;
mod event;
mod exchange;
mod executor;

mod mail;
mod memory;
mod probe;
mod queue;
mod random;
mod shares;

pub use error::Error;
pub use event::{AHEAD, Event, Model, Next, Wire};
pub use exchange::{Transport, wait_for_those_before};
pub use executor::{Config, Finished, execute};
pub use mail::Outbox;
pub use memory::{prefetch, with_room};
pub use probe::{Probe, Silent};
pub use queue::{Ready, ReadyQueue};
pub use random::Random;
