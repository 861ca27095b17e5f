//! The channel between a live rank and the simulator.
//!
//! A rank runs, writes what it did as [`Command`]s, and gives the turn to the simulator when it has
//! to know something: that an operation is done, or what time it is. The simulator answers with
//! [`Completion`]s of the rank's operations and the simulated time. The two never run at once, so
//! that the rank's [`Channel`] of shared memory needs no lock besides the word that says whose turn
//! it is.
//!
//! The contents of messages lie in blocks of memory that all ranks can read ([`arena`]): the sender
//! fills one, the receiver empties it.
//!
//! Not here: what a message means to MPI (`libmpi`), and when anything happens (`live`, `host`).
#![allow(unsafe_code)]

pub mod arena;
mod channel;
mod client;
mod command;
pub mod fold;
pub mod hosts;
mod memory;
mod numbered;
mod parent;
mod pinning;
mod places;
mod samples;
pub mod start;
mod words;

pub use arena::Arena;
pub use calls::{Amount, Collective};
pub use channel::{Channel, Completion, MpiUse, RANKS_TURN, Reply, SIMULATORS_TURN, WORDS};
pub use client::{Client, SimulatorGone, Suspend, Writer};
pub use command::{CollectiveStart, Command, Members, Poll, Shape, Tag, Taken};
pub use memory::{ENVIRONMENT, Layout, Lost, Memory, NAMES, share};
pub use numbered::Numbered;
pub use parent::{End, end_with_parent};
pub use pinning::Pinning;
pub use places::{Locate, Place};
pub use samples::{Rule, Samples};
pub use words::{Decoder, Encoder};

/// This number stands for any source, or any tag.
pub const ANY: u32 = u32::MAX;

/// The tag of the message that makes a rank of a process that was started for it: it tells the
/// process who it is.
pub const BIRTH: u32 = 1 << 31;

/// The number of an operation: sends, receives, remote accesses and collectives of a rank are
/// counted from 0, modulo 2^32, in the order of their commands.
pub type Ticket = u32;

/// An offset in the memory of all ranks, in bytes from its start. 0 stands for none.
pub type Offset = u64;
