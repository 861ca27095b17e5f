//! The contents of a trace besides calls.

use calls::Neighbours;
use rustc_hash::FxHashMap;

use crate::record::{SELF, WORLD};

/// Ranks of the world, in the order of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// All ranks of the world, in their own order: this many.
    All(u32),
    /// A list of ranks.
    Ranks(Vec<u32>),
}

impl Group {
    /// The number of ranks.
    pub fn len(&self) -> u32 {
        match self {
            Self::All(count) => *count,
            Self::Ranks(ranks) => ranks.len() as u32,
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The world's rank of a member.
    #[inline]
    pub fn rank(&self, index: u32) -> Option<u32> {
        match self {
            Self::All(count) => (index < *count).then_some(index),
            Self::Ranks(ranks) => ranks.get(index as usize).copied(),
        }
    }

    /// The place of a rank of the world.
    pub fn place(&self, rank: u32) -> Option<u32> {
        match self {
            Self::All(count) => (rank < *count).then_some(rank),
            Self::Ranks(ranks) => ranks.iter().position(|member| *member == rank).map(|p| p as u32),
        }
    }
}

/// A communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communicator {
    /// Its members; of an intercommunicator those of the local group.
    pub local: Group,
    /// The remote group of an intercommunicator.
    pub remote: Option<Group>,
    /// The place of this rank in the local group.
    pub me: u32,
}

impl Communicator {
    /// The group to which the peer of a message belongs.
    #[inline]
    pub fn peers(&self) -> &Group {
        self.remote.as_ref().unwrap_or(&self.local)
    }
}

/// The lag of a rank's clock behind that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The time when that was measured, in picoseconds since the rank's trace started.
    pub at: u64,
    /// Rank 0's clock minus the rank's own, in nanoseconds.
    pub nanoseconds: i64,
}

/// The moment at which a call of a simulated run looked at or changed what ranks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Picoseconds since it was entered.
    pub after: u64,
    /// The number of the call, from 1, among the calls of all ranks that took locks of a window or
    /// gave some back; 0 if it did neither.
    pub turn: u64,
}

/// Everything that the trace of a rank has defined so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Communicators by number.
    pub communicators: FxHashMap<i64, Communicator>,
    /// Neighbours, by communicator.
    pub neighbours: FxHashMap<i64, Neighbours>,
    /// Names of functions outside the table, by number.
    pub names: FxHashMap<u32, String>,
    /// Measurements of the clock, in the order of time.
    pub offsets: Vec<Offset>,
    /// Of the last call that was read, if it had one.
    pub moment: Option<Moment>,
}

impl Definitions {
    /// The definitions that every trace has: the world and the rank alone.
    pub fn new(rank: u32, ranks: u32) -> Self {
        let world = Communicator { local: Group::All(ranks), remote: None, me: rank };
        let alone = Communicator { local: Group::Ranks(vec![rank]), remote: None, me: 0 };
        let communicators = [(WORLD, world), (SELF, alone)].into_iter().collect();
        Self { communicators, ..Self::default() }
    }
}
