//! Cuts vectors in blocks, and ranks in groups.

use crate::plan::Region;

/// A vector in consecutive blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// All blocks have this length.
    Same(u64),
    /// A vector of `len` elements in `count` blocks; the first `len % count` of them are one
    /// longer.
    Split {
        /// Elements in all.
        len: u64,
        /// Number of blocks.
        count: u32,
    },
    /// A vector of `len` elements in `count` blocks of `len / count` elements; the last one has the
    /// rest as well.
    Rest {
        /// Elements in all.
        len: u64,
        /// Number of blocks.
        count: u32,
    },
    /// A vector of `len` elements in blocks of `size`; the last ones may be shorter, or empty.
    Cut {
        /// Elements in all.
        len: u64,
        /// Elements of a block.
        size: u64,
    },
    /// Block i ends at the i-th number.
    Ends(Vec<u64>),
}

impl Blocks {
    /// Blocks of these lengths.
    pub fn of(counts: &[u64]) -> Self {
        let ends = counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        Self::Ends(ends.collect())
    }

    /// Returns where a block starts.
    pub fn start(&self, block: u32) -> u64 {
        let index = u64::from(block);
        match self {
            Self::Same(len) => index * len,
            Self::Split { len, count } => {
                let (size, more) = (len / u64::from(*count), len % u64::from(*count));
                index * size + index.min(more)
            }
            Self::Rest { len, count } if block >= *count => *len,
            Self::Rest { len, count } => index * (len / u64::from(*count)),
            Self::Cut { len, size } => (index * size).min(*len),
            Self::Ends(ends) => {
                let before = (block as usize).checked_sub(1);
                before.map_or(0, |i| ends.get(i).or(ends.last()).copied().unwrap_or(0))
            }
        }
    }

    /// Number of elements of a block.
    pub fn len(&self, block: u32) -> u64 {
        self.start(block + 1) - self.start(block)
    }

    /// Every so many blocks as one: the first group ends before block `ends[0]`, and so on.
    #[must_use]
    pub fn grouped(&self, ends: impl IntoIterator<Item = u32>) -> Self {
        Self::Ends(ends.into_iter().map(|end| self.start(end)).collect())
    }

    /// Part of a region that holds the whole vector: blocks `first` to `end - 1`.
    pub fn span(&self, whole: Region, first: u32, end: u32) -> Region {
        let start = self.start(first);
        whole.part(start, self.start(end).saturating_sub(start))
    }

    /// Part of a region that holds the whole vector: one block.
    pub fn of_region(&self, whole: Region, block: u32) -> Region {
        self.span(whole, block, block + 1)
    }
}

/// Ranks in a certain order; an algorithm numbers them from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// `first`, `first + stride`, …
    Stride {
        /// Rank of member 0.
        first: u32,
        /// Distance of neighbours.
        stride: u32,
        /// Number of members.
        size: u32,
    },
    /// Makes a group of these ranks.
    List(Vec<u32>),
}

impl Group {
    /// Makes the group of all ranks.
    pub const fn all(ranks: u32) -> Self {
        Self::Stride { first: 0, stride: 1, size: ranks }
    }

    /// Number of members.
    pub fn size(&self) -> u32 {
        match self {
            Self::Stride { size, .. } => *size,
            Self::List(ranks) => ranks.len() as u32,
        }
    }

    /// The rank of a member.
    pub fn rank(&self, member: u32) -> u32 {
        match self {
            Self::Stride { first, stride, .. } => first + stride * member,
            Self::List(ranks) => ranks.get(member as usize).copied().unwrap_or(0),
        }
    }

    /// The member that a rank is.
    pub fn member(&self, rank: u32) -> Option<u32> {
        match self {
            Self::Stride { first, stride, size } => {
                let distance = rank.checked_sub(*first)?;
                let member = distance / stride;
                (distance.is_multiple_of(*stride) && member < *size).then_some(member)
            }
            Self::List(ranks) => ranks.iter().position(|&other| other == rank).map(|i| i as u32),
        }
    }
}

/// The nodes of ranks: which ranks share one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// Each node has this many consecutive ranks, at least one; the last node may have fewer.
    Consecutive(u32),
    /// The node of each rank.
    Of(Vec<u32>),
}

impl Nodes {
    /// The ranks of a rank's node in ascending order; the first is the node's leader.
    pub fn local(&self, rank: u32, ranks: u32) -> Group {
        match self {
            Self::Consecutive(size) => {
                let first = rank - rank % size;
                Group::Stride { first, stride: 1, size: (*size).min(ranks - first) }
            }
            Self::Of(nodes) => {
                let mine = nodes.get(rank as usize);
                let same = (0..).zip(nodes).filter(|(_, node)| Some(*node) == mine);
                Group::List(same.map(|(rank, _)| rank).collect())
            }
        }
    }

    /// The leaders of all nodes in ascending order.
    pub fn leaders(&self, ranks: u32) -> Group {
        match self {
            Self::Consecutive(size) => {
                Group::Stride { first: 0, stride: *size, size: ranks.div_ceil(*size) }
            }
            Self::Of(nodes) => {
                let mut seen = rustc_hash::FxHashSet::default();
                let first = (0..).zip(nodes).filter(|(_, node)| seen.insert(**node));
                Group::List(first.map(|(rank, _)| rank).collect())
            }
        }
    }

    /// Returns whether the ranks of each node are consecutive.
    pub fn is_blocked(&self) -> bool {
        match self {
            Self::Consecutive(_) => true,
            Self::Of(nodes) => {
                let mut seen = rustc_hash::FxHashSet::default();
                nodes.chunk_by(|a, b| a == b).all(|run| seen.insert(run.first()))
            }
        }
    }

    /// Ranks of the fullest node.
    pub fn most(&self, ranks: u32) -> u32 {
        match self {
            Self::Consecutive(size) => (*size).min(ranks),
            Self::Of(nodes) => {
                let mut counts = rustc_hash::FxHashMap::default();
                let count = nodes.iter().map(|node| {
                    let count = counts.entry(node).or_insert(0);
                    *count += 1;
                    *count
                });
                count.max().unwrap_or(1)
            }
        }
    }

    /// Node by node, where its ranks end, if they are consecutive.
    pub fn ends(&self, ranks: u32) -> Vec<u32> {
        let leaders = self.leaders(ranks);
        (1..=leaders.size())
            .map(|node| if node == leaders.size() { ranks } else { leaders.rank(node) })
            .collect()
    }
}
