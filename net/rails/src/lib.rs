//! The choice among several networks of a host, its rails, for each message that it sends.
//!
//! A host has one [`Scheduler`], whoever its messages go to: how busy a rail is does not depend on
//! whom it is used for. The scheduler is told when the overhead of a send begins, and answers which
//! rail the message takes, or, for a large one, how many of its bytes each takes.
//!
//! All arithmetic is in integers and nothing is ever allocated, so that a simulation and a real
//! message-passing library can use the same code: times are in 1/1024 ns since the start, times per
//! byte in 2^-20 ns.
//!
//! Source: seed 003, chapter 4, whose sections the policies name; they say where they differ.

mod parameters;
mod policy;
mod scheduler;
mod stripes;

pub use parameters::{Parameters, Ticks};
pub use policy::Policy;
pub use scheduler::{MOST_RAILS, Message, Part, Parts, Scheduler};
pub use stripes::Stripes;
