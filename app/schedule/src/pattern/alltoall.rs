//! Every role sends to every other.

use super::Options;
use super::random::{below, draw};
use super::shape::{Shape, ahead, behind, recv, run, send};
use crate::{Op, Run};

/// In step k a role sends to the one k ahead and receives from the one k behind; nothing waits.
#[derive(Clone, Debug)]
pub struct LinearAlltoall {
    pub ranks: u32,
    pub sizes: Sizes,
}

/// Sizes of the messages of an all-to-all exchange.
#[derive(Clone, Debug)]
pub enum Sizes {
    /// All messages have this size.
    Same(u64),
    /// Drawn evenly from 1 to `most`, but `size` for everything that goes to `root`.
    Drawn { seed: u64, most: u64, root: u32, size: u64 },
}

impl Sizes {
    /// The sizes of `alltoallv`; nothing can be drawn from 1 to 0.
    pub fn drawn(options: &Options) -> Self {
        if options.size == 0 {
            return Self::Same(0);
        }
        Self::Drawn {
            seed: options.seed,
            most: (options.size / options.skew).max(1),
            root: options.root,
            size: options.size,
        }
    }

    #[inline]
    fn of(&self, source: u32, destination: u32) -> u64 {
        match *self {
            Self::Same(size) => size,
            Self::Drawn { root, size, .. } if destination == root => size,
            Self::Drawn { seed, most, .. } => {
                let random = draw(draw(seed, u64::from(source)), u64::from(destination));
                1 + below(random, most)
            }
        }
    }
}

impl Shape for LinearAlltoall {
    fn has_one_size(&self) -> bool {
        matches!(self.sizes, Sizes::Same(_))
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, _: u32) -> u32 {
        2 * (self.ranks - 1)
    }

    fn longest(&self) -> u64 {
        2 * u64::from(self.ranks)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let step = index / 2 + 1;
        if index.is_multiple_of(2) {
            let peer = ahead(role, step, self.ranks);
            send(peer, self.sizes.of(role, peer))
        } else {
            let peer = behind(role, step, self.ranks);
            recv(peer, self.sizes.of(peer, role))
        }
    }

    #[inline]
    fn dependencies(&self, _: u32, _: u32) -> u32 {
        0
    }

    #[inline]
    fn dependents(&self, _: u32, _: u32, _: &mut impl FnMut(u32)) {}

    #[inline]
    fn roots(&self, _: u32, each: &mut impl FnMut(Run)) {
        run(0, 2, self.ranks - 1, each);
        run(1, 2, self.ranks - 1, each);
    }

    #[inline]
    fn claim(&self, role: u32, _: &mut u64, source: u32) -> Option<u32> {
        let step = behind(role, source, self.ranks);
        (step > 0).then(|| 2 * step - 1)
    }
}

/// In step k roles r and r xor k exchange if the number of ranks is a power of two; else as in the
/// linear exchange. Both operations of a step wait for both of the step before.
#[derive(Clone, Debug)]
pub struct PairwiseAlltoall {
    pub ranks: u32,
    pub size: u64,
}

impl Shape for PairwiseAlltoall {
    fn has_one_size(&self) -> bool {
        true
    }

    #[inline]
    fn ops(&self, _: u32) -> u32 {
        2 * (self.ranks - 1)
    }

    fn longest(&self) -> u64 {
        2 * u64::from(self.ranks)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let (n, step) = (self.ranks, index / 2 + 1);
        match (n.is_power_of_two(), index % 2) {
            (true, 0) => send(role ^ step, self.size),
            (true, _) => recv(role ^ step, self.size),
            (false, 0) => send(ahead(role, step, n), self.size),
            (false, _) => recv(behind(role, step, n), self.size),
        }
    }

    #[inline]
    fn dependencies(&self, _: u32, index: u32) -> u32 {
        if index < 2 { 0 } else { 2 }
    }

    #[inline]
    fn dependents(&self, role: u32, index: u32, each: &mut impl FnMut(u32)) {
        let next = (index / 2 + 1) * 2;
        if next < self.ops(role) {
            each(next);
            each(next + 1);
        }
    }

    #[inline]
    fn roots(&self, _: u32, each: &mut impl FnMut(Run)) {
        if self.ranks > 1 {
            each(Run::one(0));
            each(Run::one(1));
        }
    }

    fn claims(&self) -> bool {
        false
    }

    fn claim(&self, _: u32, _: &mut u64, _: u32) -> Option<u32> {
        None
    }
}
