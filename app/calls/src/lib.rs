//! The vocabulary of MPI calls: what a function of MPI does, and what a collective is.
//!
//! Everything that speaks of calls takes its words from here: live ranks (`rank-ipc`, `live`,
//! `libmpi`), traces and their compiler (`traces`, `recorder`), and the algorithms of collectives
//! (`collectives`).
//!
//! - [`Collective`] lists the collective operations; [`Class`] lists all kinds of calls.
//! - [`Table`] is the table of functions: number, name, class and arguments of each.
//! - [`CollectiveCall`] describes a collective as one of its ranks sees it; an [`Expand`] turns it
//!   into messages, which it posts to a [`Sink`].
//! - [`polling`] states what calls cost that a program repeats while it waits.
//!
//! Not here: algorithms of collectives (`collectives`), formats of traces (`traces`), matching of
//! messages (`mpi`).

mod class;
mod collective;
mod expand;
pub mod polling;
mod table;

pub use class::Class;
pub use collective::{Amount, Collective, CollectiveCall, Neighbours};
pub use expand::{Expand, Sink};
pub use table::{CSV, Call, Field, How, Table, UNLISTED};
