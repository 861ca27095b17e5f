//! Patterns in which role 0 talks to every other, one after the other.

use super::shape::{Shape, calc, recv, run, send};
use crate::{Op, Run};

/// Role 0 receives from all others, in their order.
#[derive(Clone, Debug)]
pub struct Gather {
    pub ranks: u32,
    pub size: u64,
}

/// Role 0 sends to all others, in their order.
#[derive(Clone, Debug)]
pub struct Scatter {
    pub ranks: u32,
    pub size: u64,
}

/// All report to role 0 by one byte each; when all have, it answers each by one byte.
#[derive(Clone, Debug)]
pub struct LinearBarrier {
    pub ranks: u32,
}

/// Operations of a role in a gather or scatter: one per message.
#[inline]
fn messages(role: u32, ranks: u32) -> u32 {
    if role == 0 { ranks - 1 } else { 1 }
}

impl Shape for Gather {
    fn has_one_size(&self) -> bool {
        true
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, role: u32) -> u32 {
        messages(role, self.ranks)
    }

    fn longest(&self) -> u64 {
        u64::from(self.ranks)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        if role == 0 { recv(index + 1, self.size) } else { send(0, self.size) }
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
        if role == 0 { source.checked_sub(1) } else { None }
    }
}

impl Shape for Scatter {
    fn has_one_size(&self) -> bool {
        true
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, role: u32) -> u32 {
        messages(role, self.ranks)
    }

    fn longest(&self) -> u64 {
        u64::from(self.ranks)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        if role == 0 { send(index + 1, self.size) } else { recv(0, self.size) }
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
        (role > 0 && source == 0).then_some(0)
    }
}

/// Role 0 has the computation that joins all reports, then for each other role i the receive at
/// 2i - 1 and the send at 2i. The others have a send and a receive.
impl Shape for LinearBarrier {
    fn has_one_size(&self) -> bool {
        true
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, role: u32) -> u32 {
        match role {
            _ if self.ranks == 1 => 0,
            0 => 2 * self.ranks - 1,
            _ => 2,
        }
    }

    fn longest(&self) -> u64 {
        2 * u64::from(self.ranks)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        match (role, index % 2) {
            (0, _) if index == 0 => calc(0),
            (0, 1) => recv(index.div_ceil(2), 1),
            (0, _) => send(index / 2, 1),
            (_, 0) => send(0, 1),
            _ => recv(0, 1),
        }
    }

    #[inline]
    fn dependencies(&self, role: u32, index: u32) -> u32 {
        match role {
            0 if index == 0 => self.ranks - 1,
            0 => u32::from(index.is_multiple_of(2)),
            _ => 0,
        }
    }

    #[inline]
    fn dependents(&self, role: u32, index: u32, each: &mut impl FnMut(u32)) {
        if role == 0 && index == 0 {
            (1..self.ranks).for_each(|i| each(2 * i));
        } else if role == 0 && index % 2 == 1 {
            each(0);
        }
    }

    #[inline]
    fn roots(&self, role: u32, each: &mut impl FnMut(Run)) {
        if role == 0 {
            run(1, 2, self.ranks - 1, each);
        } else {
            each(Run::one(0));
            each(Run::one(1));
        }
    }

    #[inline]
    fn claim(&self, role: u32, _: &mut u64, source: u32) -> Option<u32> {
        match (role, source) {
            (0, 0) => None,
            (0, source) => Some(2 * source - 1),
            (_, source) => (source == 0).then_some(1),
        }
    }
}
