//! Requests of a rank, and the calls behind those that start again.

use calls::Class;
use smallvec::SmallVec;

/// A request of the program.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The operations that it waits for.
    pub ops: SmallVec<[u32; 2]>,
    /// Started and not yet completed.
    pub active: bool,
    /// A receive whose source or tag is open: its communicator.
    pub open: Option<i64>,
    /// The call that starts again at `MPI_Start`.
    pub persistent: Option<Persistent>,
    /// True if it is a receive that the program asked to be cancelled.
    pub cancelled: bool,
    /// The window of an access; without operations, it is to the rank's own memory.
    pub window: Option<i64>,
}

/// A call that starts again and again.
#[derive(Clone, Debug)]
pub struct Persistent {
    pub class: Class,
    /// Its arguments.
    pub values: Box<[i64]>,
    /// The round that starts next, if it is a collective.
    pub round: Option<Round>,
}

/// A round of a persistent collective. Ranks make these in one order and may start them in any
/// (MPI 4.1, section 6.13).
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The number of the collective among the persistent ones of its communicator.
    pub made: i64,
    /// The number of the round.
    pub number: i64,
}
