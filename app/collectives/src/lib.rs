//! Collective operations of MPI and the algorithms that carry them out.
//!
//! An algorithm is written once, as the program of one rank, and gives a [`Plan`]: sends, receives,
//! copies and reductions of regions of buffers, and what each of them requires. A plan can be
//! turned into a schedule ([`Collective`](schedule::Program) of the module [`program`]), or be
//! carried out on real buffers. What a rank's plan costs in memory is what the rank does, not what
//! all do.
//!
//! Not modelled: what an algorithm costs its library besides messages and reductions (packing,
//! set-up of communicators); shared memory, which two-level algorithms use within nodes, is
//! messages here.
//!
//! Names are those of SimGrid's SMPI, and mean what SMPI 3.32 does under them; where an MPI
//! library's own algorithm is another one, it has a name of its own.
//! `validation/simgrid/compare.py` compares.

mod algorithms;
mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod call;
mod gather;
mod halving;
mod layout;
mod names;
pub mod neighbor;
mod plan;
pub mod program;
mod reduce;
mod reduce_scatter;
mod scan;
mod schedgen;
mod selection;
mod set_up;
mod table;
mod tree;

pub use algorithms::Algorithms;
pub use call::{Call, Choices, NO_CHOICES};
pub use calls::Collective;
pub use layout::{Blocks, Nodes};
pub use names::{
    ALIASES, Error, WITH_ALGORITHMS, algorithms, candidates, find, library, named, plan, resolve,
};
pub use plan::{Action, Buffer, Handle, Plan, Region};
pub use schedgen::Schedgen;
pub use selection::{LIBRARIES, Library};
pub use set_up::{NUMBER, needs_nodes, set_up};
pub use table::{Entry, Need, Way};
