//! Broadcast and reduction along trees. Role 0 is the root.

use super::shape::{Shape, recv, rounds, run, send};
use crate::{Op, Run};

/// A binomial tree: in round k every role v below 2^k sends to v + 2^k, after its own receive.
#[derive(Clone, Debug)]
pub struct BinomialBcast {
    pub ranks: u32,
    pub size: u64,
}

/// The tree of a broadcast upwards: a role sends to its parent after the receives from all its
/// children.
#[derive(Clone, Debug)]
pub struct BinomialReduce {
    pub ranks: u32,
    pub size: u64,
}

/// A binary tree in breadth-first order: the children of v are 2v + 1 and 2v + 2.
#[derive(Clone, Debug)]
pub struct BinaryBcast {
    pub ranks: u32,
    pub size: u64,
}

/// The round in which role v has its first child: one after it got its own message.
#[inline]
fn first_round(v: u32) -> u32 {
    u32::BITS - v.leading_zeros()
}

/// Number of children of v in the binomial tree.
#[inline]
fn children(v: u32, ranks: u32) -> u32 {
    rounds(ranks - v).saturating_sub(first_round(v))
}

/// The parent of v > 0 in the binomial tree: v without its highest bit.
#[inline]
fn parent(v: u32) -> u32 {
    v - (1 << (first_round(v) - 1))
}

/// The child number `index` of v in the binomial tree.
#[inline]
fn child(v: u32, index: u32) -> u32 {
    v + (1 << (first_round(v) + index))
}

/// Returns whether v has a parent, as the number of operations that the parent causes.
#[inline]
fn below_root(v: u32) -> u32 {
    u32::from(v > 0)
}

impl Shape for BinomialBcast {
    fn has_one_size(&self) -> bool {
        true
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, v: u32) -> u32 {
        below_root(v) + children(v, self.ranks)
    }

    fn longest(&self) -> u64 {
        u64::from(self.ops(0))
    }

    #[inline]
    fn op(&self, v: u32, index: u32) -> Op {
        match index.checked_sub(below_root(v)) {
            Some(index) => send(child(v, index), self.size),
            None => recv(parent(v), self.size),
        }
    }

    #[inline]
    fn dependencies(&self, v: u32, index: u32) -> u32 {
        u32::from(v > 0 && index > 0)
    }

    #[inline]
    fn dependents(&self, v: u32, index: u32, each: &mut impl FnMut(u32)) {
        if v > 0 && index == 0 {
            (1..self.ops(v)).for_each(each);
        }
    }

    #[inline]
    fn roots(&self, v: u32, each: &mut impl FnMut(Run)) {
        run(0, 1, if v > 0 { 1 } else { self.ops(v) }, each);
    }

    #[inline]
    fn claim(&self, v: u32, _: &mut u64, source: u32) -> Option<u32> {
        (v > 0 && source == parent(v)).then_some(0)
    }
}

impl Shape for BinomialReduce {
    fn has_one_size(&self) -> bool {
        true
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, v: u32) -> u32 {
        below_root(v) + children(v, self.ranks)
    }

    fn longest(&self) -> u64 {
        u64::from(self.ops(0))
    }

    #[inline]
    fn op(&self, v: u32, index: u32) -> Op {
        match index.checked_sub(below_root(v)) {
            Some(index) => recv(child(v, index), self.size),
            None => send(parent(v), self.size),
        }
    }

    #[inline]
    fn dependencies(&self, v: u32, index: u32) -> u32 {
        if v > 0 && index == 0 { children(v, self.ranks) } else { 0 }
    }

    #[inline]
    fn dependents(&self, v: u32, index: u32, each: &mut impl FnMut(u32)) {
        if v > 0 && index > 0 {
            each(0);
        }
    }

    #[inline]
    fn roots(&self, v: u32, each: &mut impl FnMut(Run)) {
        match children(v, self.ranks) {
            0 => run(0, 1, below_root(v), each),
            count => run(below_root(v), 1, count, each),
        }
    }

    #[inline]
    fn claim(&self, v: u32, _: &mut u64, source: u32) -> Option<u32> {
        let step = source.checked_sub(v)?;
        (step.is_power_of_two() && step > v)
            .then(|| below_root(v) + step.trailing_zeros() - first_round(v))
    }
}

impl BinaryBcast {
    #[inline]
    fn children(&self, v: u32) -> u32 {
        let first = 2 * u64::from(v) + 1;
        u64::from(self.ranks).saturating_sub(first).min(2) as u32
    }
}

impl Shape for BinaryBcast {
    fn has_one_size(&self) -> bool {
        true
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, v: u32) -> u32 {
        below_root(v) + self.children(v)
    }

    fn longest(&self) -> u64 {
        3
    }

    #[inline]
    fn op(&self, v: u32, index: u32) -> Op {
        match index.checked_sub(below_root(v)) {
            Some(index) => send(2 * v + 1 + index, self.size),
            None => recv((v - 1) / 2, self.size),
        }
    }

    #[inline]
    fn dependencies(&self, v: u32, index: u32) -> u32 {
        u32::from(v > 0 && index > 0)
    }

    #[inline]
    fn dependents(&self, v: u32, index: u32, each: &mut impl FnMut(u32)) {
        if v > 0 && index == 0 {
            (1..self.ops(v)).for_each(each);
        }
    }

    #[inline]
    fn roots(&self, v: u32, each: &mut impl FnMut(Run)) {
        run(0, 1, if v > 0 { 1 } else { self.ops(v) }, each);
    }

    #[inline]
    fn claim(&self, v: u32, _: &mut u64, source: u32) -> Option<u32> {
        (v > 0 && source == (v - 1) / 2).then_some(0)
    }
}
