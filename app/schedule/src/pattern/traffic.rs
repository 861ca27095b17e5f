//! Random traffic.

use super::random::{Permutation, draw};
use super::shape::{Shape, ahead, behind, recv, run, send};
use crate::{Op, Run};

/// Half of the roles send one message each to the other half, in random pairs; of an odd number one
/// is left out.
#[derive(Clone, Debug)]
pub struct Bisection {
    ranks: u32,
    size: u64,
    key: u64,
    order: Permutation,
}

impl Bisection {
    pub fn new(ranks: u32, size: u64, seed: u64) -> Self {
        Self { ranks, size, key: draw(seed, 0), order: Permutation::new(ranks) }
    }

    /// Place of a role in random order; those of the first half send half the ranks ahead.
    #[inline]
    fn place(&self, role: u32) -> u32 {
        self.order.forward(self.key, role)
    }
}

impl Shape for Bisection {
    fn has_one_size(&self) -> bool {
        true
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, role: u32) -> u32 {
        u32::from(self.place(role) < self.ranks / 2 * 2)
    }

    fn longest(&self) -> u64 {
        1
    }

    #[inline]
    fn op(&self, role: u32, _: u32) -> Op {
        let (place, half) = (self.place(role), self.ranks / 2);
        if place < half {
            send(self.order.backward(self.key, place + half), self.size)
        } else {
            recv(self.order.backward(self.key, place - half), self.size)
        }
    }

    #[inline]
    fn dependencies(&self, _: u32, _: u32) -> u32 {
        0
    }

    #[inline]
    fn dependents(&self, _: u32, _: u32, _: &mut impl FnMut(u32)) {}

    #[inline]
    fn roots(&self, role: u32, each: &mut impl FnMut(Run)) {
        run(0, 1, self.ops(role), each);
    }

    #[inline]
    fn claim(&self, role: u32, _: &mut u64, source: u32) -> Option<u32> {
        let half = self.ranks / 2;
        let from = self.place(source);
        (from < half && self.place(role) == from + half).then_some(0)
    }
}

/// In every step each role sends one message and receives one, to and from another role drawn anew;
/// both wait for the receive of the step before.
#[derive(Clone, Debug)]
pub struct Random {
    ranks: u32,
    size: u64,
    seed: u64,
    steps: u32,
    order: Permutation,
}

impl Random {
    pub fn new(ranks: u32, size: u64, seed: u64, steps: u32) -> Self {
        Self {
            ranks,
            size,
            seed,
            steps: if ranks > 1 { steps } else { 0 },
            order: Permutation::new(ranks),
        }
    }
}

impl Shape for Random {
    #[inline]
    fn ops(&self, _: u32) -> u32 {
        2 * self.steps
    }

    fn longest(&self) -> u64 {
        2 * u64::from(self.steps)
    }

    /// The roles of a step stand in a circle in random order, and each sends to the next.
    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let key = draw(self.seed, u64::from(index / 2));
        let place = self.order.forward(key, role);
        if index.is_multiple_of(2) {
            let peer = ahead(place, 1, self.ranks);
            send(self.order.backward(key, peer), self.size)
        } else {
            let peer = behind(place, 1, self.ranks);
            recv(self.order.backward(key, peer), self.size)
        }
    }

    #[inline]
    fn dependencies(&self, _: u32, index: u32) -> u32 {
        u32::from(index > 1)
    }

    #[inline]
    fn dependents(&self, role: u32, index: u32, each: &mut impl FnMut(u32)) {
        if index % 2 == 1 && index + 1 < self.ops(role) {
            each(index + 1);
            each(index + 2);
        }
    }

    #[inline]
    fn roots(&self, _: u32, each: &mut impl FnMut(Run)) {
        if self.steps > 0 {
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
