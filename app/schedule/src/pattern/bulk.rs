//! Messages in bulk between pairs of ranks.

use super::shape::{Shape, recv, run, send};
use crate::{Op, Run};

/// Each even role sends several messages to the next odd one at once, which sends as many back when
/// it has received the last. Of an odd number of roles, the last is left out. It is the benchmark
/// of A. Lichei, "Analysis and Optimization of the Packet Scheduler in Open MPI", Chemnitz 2006,
/// section 5.8.1.
#[derive(Clone, Copy, Debug)]
pub struct BulkReply {
    pub ranks: u32,
    pub size: u64,
    /// Messages in each direction.
    pub messages: u32,
}

impl BulkReply {
    /// Returns whether a role begins.
    const fn begins(role: u32) -> bool {
        role.is_multiple_of(2)
    }

    /// Returns whether a role takes part.
    const fn takes_part(self, role: u32) -> bool {
        role < self.ranks / 2 * 2
    }
}

impl Shape for BulkReply {
    fn has_one_size(&self) -> bool {
        true
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn ops(&self, role: u32) -> u32 {
        if self.takes_part(role) { 2 * self.messages } else { 0 }
    }

    fn longest(&self) -> u64 {
        2 * u64::from(self.messages)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let peer = role ^ 1;
        let sends = Self::begins(role) == (index < self.messages);
        if sends { send(peer, self.size) } else { recv(peer, self.size) }
    }

    #[inline]
    fn dependencies(&self, role: u32, index: u32) -> u32 {
        u32::from(!Self::begins(role) && index >= self.messages)
    }

    #[inline]
    fn dependents(&self, role: u32, index: u32, each: &mut impl FnMut(u32)) {
        if !Self::begins(role) && index + 1 == self.messages {
            (self.messages..2 * self.messages).for_each(each);
        }
    }

    #[inline]
    fn roots(&self, role: u32, each: &mut impl FnMut(Run)) {
        if self.takes_part(role) {
            run(0, 1, self.messages, each);
            if Self::begins(role) {
                run(self.messages, 1, self.messages, each);
            }
        }
    }

    #[inline]
    fn claim(&self, role: u32, memory: &mut u64, source: u32) -> Option<u32> {
        let next = u32::try_from(*memory).ok().filter(|next| *next < self.messages);
        let next = next.filter(|_| source == role ^ 1 && self.takes_part(role))?;
        *memory += 1;
        Some(if Self::begins(role) { self.messages + next } else { next })
    }
}
