//! The assignment of a pattern's roles to ranks.

use super::random::{Permutation, draw};

/// A bijection between ranks and roles.
#[derive(Clone, Copy, Debug)]
pub enum Roles {
    /// Every rank plays the role of its own number.
    Same,
    /// This rank and rank 0 have swapped.
    Swapped(u32),
    /// The roles are those for this root, and then ranks are permuted.
    Permuted {
        /// The rank that swaps with rank 0 first.
        root: u32,
        /// The permutation: computed, because a table for many ranks does not stay in a cache.
        permutation: Permutation,
        /// The permutation.
        key: u64,
    },
}

impl Roles {
    /// Roles in which role 0 is played by `root`.
    pub fn rooted(root: u32) -> Self {
        if root == 0 { Self::Same } else { Self::Swapped(root) }
    }

    /// The roles of [`Roles::rooted`], the part of rank r given to rank p(r) of a random
    /// permutation p of `count` ranks.
    pub fn permuted(root: u32, count: u32, seed: u64) -> Self {
        Self::Permuted { root, permutation: Permutation::new(count), key: draw(seed, 0) }
    }

    /// The role that a rank plays.
    #[inline(always)]
    pub fn role(&self, rank: u32) -> u32 {
        if matches!(self, Self::Same) { rank } else { self.other_role(rank) }
    }

    fn other_role(&self, rank: u32) -> u32 {
        match self {
            Self::Same => rank,
            Self::Swapped(root) => swap(rank, *root),
            Self::Permuted { root, permutation, key } => {
                swap(permutation.backward(*key, rank), *root)
            }
        }
    }

    /// The rank that plays a role.
    #[inline(always)]
    pub fn rank(&self, role: u32) -> u32 {
        if matches!(self, Self::Same) { role } else { self.other_rank(role) }
    }

    fn other_rank(&self, role: u32) -> u32 {
        match self {
            Self::Same => role,
            Self::Swapped(root) => swap(role, *root),
            Self::Permuted { root, permutation, key } => {
                permutation.forward(*key, swap(role, *root))
            }
        }
    }
}

#[inline]
fn swap(x: u32, root: u32) -> u32 {
    match x {
        0 => root,
        x if x == root => 0,
        x => x,
    }
}
