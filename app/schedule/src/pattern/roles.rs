//! Which rank plays which role of a pattern.

use super::random::{below, draw};

/// A bijection between ranks and roles.
#[derive(Clone, Debug)]
pub enum Roles {
    /// Every rank plays the role of its own number.
    Same,
    /// This rank and rank 0 have swapped.
    Swapped(u32),
    /// The two directions of any other bijection.
    Tables {
        /// The rank that plays a role.
        ranks: Vec<u32>,
        /// The role that a rank plays.
        roles: Vec<u32>,
    },
}

impl Roles {
    /// Roles in which role 0 is played by `root`.
    pub fn rooted(root: u32) -> Self {
        if root == 0 { Self::Same } else { Self::Swapped(root) }
    }

    /// Gives the part that rank r had to rank p(r) of a random permutation p. `None` if there is not
    /// enough memory.
    pub fn permuted(&self, count: u32, seed: u64) -> Option<Self> {
        let mut permutation = identity(count)?;
        for i in (1..count as usize).rev() {
            let j = below(draw(seed, i as u64), i as u64 + 1) as usize;
            permutation.swap(i, j);
        }
        let (mut ranks, mut roles) = (identity(count)?, identity(count)?);
        for (role, rank) in (0..count).zip(&mut ranks) {
            *rank = permutation[self.rank(role) as usize];
            roles[*rank as usize] = role;
        }
        Some(Self::Tables { ranks, roles })
    }

    /// The role that a rank plays.
    #[inline]
    pub fn role(&self, rank: u32) -> u32 {
        match self {
            Self::Same => rank,
            Self::Swapped(root) => swap(rank, *root),
            Self::Tables { roles, .. } => roles[rank as usize],
        }
    }

    /// The rank that plays a role.
    #[inline]
    pub fn rank(&self, role: u32) -> u32 {
        match self {
            Self::Same => role,
            Self::Swapped(root) => swap(role, *root),
            Self::Tables { ranks, .. } => ranks[role as usize],
        }
    }
}

fn swap(x: u32, root: u32) -> u32 {
    match x {
        0 => root,
        x if x == root => 0,
        x => x,
    }
}

fn identity(count: u32) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count as usize).ok()?;
    numbers.extend(0..count);
    Some(numbers)
}
