//! The form of the tables of algorithms.

use crate::{call::Call, layout::Blocks, layout::Nodes, plan::Plan};

/// Writes one rank's part of an algorithm.
pub type Build = fn(&Call, &mut Plan);

/// The meaning of an algorithm's name.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// An algorithm.
    Run(Build),
    /// The algorithm that has this other name.
    Same(&'static str),
    /// The algorithm that this library's selection table says.
    Select(&'static str),
    /// Whichever is best: the caller tries [`crate::candidates`].
    Automatic,
}

/// A demand of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The number of ranks is a power of two.
    PowerOfTwo,
    /// The number of ranks is even.
    Even,
    /// There are two ranks.
    TwoRanks,
    /// The number of ranks is x x z for an x from the cube root up to a third of it.
    Cube,
    /// The operation commutes.
    Commutative,
    /// There are at least as many elements as ranks.
    ElementPerRank,
    /// There are at least as many elements as the largest power of two up to the number of ranks.
    ElementPerPower,
    /// All blocks have the same length.
    EqualBlocks,
    /// The ranks of each node are consecutive.
    BlockedNodes,
    /// The ranks of each node are consecutive, and all nodes have equally many.
    FullNodes,
}

impl Need {
    /// Returns whether a call meets it.
    pub fn is_met(self, call: &Call) -> bool {
        let ranks = call.ranks;
        match self {
            Self::PowerOfTwo => ranks.is_power_of_two(),
            Self::Even => ranks.is_multiple_of(2),
            Self::TwoRanks => ranks == 2,
            Self::Cube => crate::allgather::grid3(ranks).iter().product::<u32>() == ranks,
            Self::Commutative => call.commutative,
            Self::ElementPerRank => call.count() >= u64::from(ranks),
            Self::ElementPerPower => call.count() >= 1 << ranks.ilog2(),
            Self::EqualBlocks => match call.blocks {
                Blocks::Same(_) => true,
                blocks => (1..ranks).all(|block| blocks.len(block) == blocks.len(0)),
            },
            Self::BlockedNodes => call.nodes.is_blocked(),
            Self::FullNodes => match call.nodes {
                Nodes::Consecutive(size) => ranks.is_multiple_of(*size),
                nodes @ Nodes::Of(_) => nodes.is_blocked() && is_full(nodes, ranks),
            },
        }
    }

    /// The demand in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::PowerOfTwo => "a power of two of ranks",
            Self::Even => "an even number of ranks",
            Self::TwoRanks => "two ranks",
            Self::Cube => {
                "a square factor of the number of ranks between its cube root and a third"
            }
            Self::Commutative => "an operation that commutes",
            Self::ElementPerRank => "an element per rank",
            Self::ElementPerPower => "an element per rank of the largest power of two",
            Self::EqualBlocks => "blocks of one length",
            Self::BlockedNodes => "consecutive ranks on each node",
            Self::FullNodes => "equally many consecutive ranks on each node",
        }
    }
}

fn is_full(nodes: &Nodes, ranks: u32) -> bool {
    let most = nodes.most(ranks);
    nodes.ends(ranks).iter().zip(1..).all(|(&end, node)| end == node * most)
}

/// A name of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// Its meaning.
    pub way: Way,
    /// Its demands, each with the algorithm that is taken in its place if it is not met.
    pub needs: &'static [(Need, &'static str)],
    /// The algorithm in a few words.
    pub doc: &'static str,
}

impl Entry {
    /// A name without demands.
    pub const fn new(name: &'static str, way: Way, doc: &'static str) -> Self {
        Self { name, way, needs: &[], doc }
    }

    /// Returns the entry with these demands.
    #[must_use]
    pub const fn needs(self, needs: &'static [(Need, &'static str)]) -> Self {
        Self { needs, ..self }
    }
}
