//! Messages that travel around a ring or along a line.

use super::shape::{Shape, ahead, behind, next, recv, run, send};
use crate::{Op, Run};

/// A broadcast along the line of roles, in segments: a role passes each on after receiving it.
#[derive(Clone, Debug)]
pub struct PipelinedRing {
    ranks: u32,
    size: u64,
    segment: u64,
    segments: u64,
}

impl PipelinedRing {
    /// With `segment` ≥ 1 bytes each; the last segment is what remains.
    pub fn new(ranks: u32, size: u64, segment: u64) -> Self {
        Self { ranks, size, segment, segments: if ranks > 1 { size.div_ceil(segment) } else { 0 } }
    }

    /// Operations per segment: receive, send.
    #[inline]
    fn parts(&self, role: u32) -> u32 {
        u32::from(role > 0) + u32::from(role + 1 < self.ranks)
    }

    #[inline]
    fn is_receive(&self, role: u32, index: u32) -> bool {
        role > 0 && index.is_multiple_of(self.parts(role))
    }
}

impl Shape for PipelinedRing {
    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, role: u32) -> u32 {
        self.parts(role) * self.segments as u32
    }

    fn longest(&self) -> u64 {
        self.segments.saturating_mul(2)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let begin = u64::from(index / self.parts(role)) * self.segment;
        let size = self.segment.min(self.size - begin);
        if self.is_receive(role, index) { recv(role - 1, size) } else { send(role + 1, size) }
    }

    #[inline]
    fn dependencies(&self, role: u32, index: u32) -> u32 {
        u32::from(role > 0 && !self.is_receive(role, index))
    }

    #[inline]
    fn dependents(&self, role: u32, index: u32, each: &mut impl FnMut(u32)) {
        if role + 1 < self.ranks && self.is_receive(role, index) {
            each(index + 1);
        }
    }

    #[inline]
    fn roots(&self, role: u32, each: &mut impl FnMut(Run)) {
        run(0, self.parts(role), self.segments as u32, each);
    }

    #[inline]
    fn claim(&self, role: u32, memory: &mut u64, source: u32) -> Option<u32> {
        if source.checked_add(1) != Some(role) {
            return None;
        }
        next(memory, self.segments as u32).map(|segment| segment * self.parts(role))
    }
}

/// One message around the ring in each direction; role 0 starts both, the others pass them on.
#[derive(Clone, Debug)]
pub struct DoubleRing {
    pub ranks: u32,
    pub size: u64,
}

impl Shape for DoubleRing {
    fn has_one_size(&self) -> bool {
        true
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, _: u32) -> u32 {
        if self.ranks > 1 { 4 } else { 0 }
    }

    fn longest(&self) -> u64 {
        4
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let (n, d) = (self.ranks, self.size);
        match index {
            0 => send(ahead(role, 1, n), d),
            1 => recv(behind(role, 1, n), d),
            2 => send(behind(role, 1, n), d),
            _ => recv(ahead(role, 1, n), d),
        }
    }

    #[inline]
    fn dependencies(&self, role: u32, index: u32) -> u32 {
        u32::from(role > 0 && index.is_multiple_of(2))
    }

    #[inline]
    fn dependents(&self, role: u32, index: u32, each: &mut impl FnMut(u32)) {
        if role > 0 && index % 2 == 1 {
            each(index - 1);
        }
    }

    #[inline]
    fn roots(&self, role: u32, each: &mut impl FnMut(Run)) {
        if self.ranks > 1 {
            if role == 0 {
                run(0, 2, 2, each);
            }
            run(1, 2, 2, each);
        }
    }

    /// Between two roles both messages have the same source, and the memory counts them.
    #[inline]
    fn claim(&self, role: u32, memory: &mut u64, source: u32) -> Option<u32> {
        if self.ranks == 2 {
            return next(memory, 2).map(|i| 2 * i + 1);
        }
        if source == behind(role, 1, self.ranks) {
            Some(1)
        } else {
            (source == ahead(role, 1, self.ranks)).then_some(3)
        }
    }
}
