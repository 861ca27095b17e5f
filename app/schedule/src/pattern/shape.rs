//! The shape of a pattern, in terms of roles.

use crate::{Follow, Kind, Op, Run};

/// A pattern among roles 0..n. The methods are those of [`Program`](crate::Program), with roles in
/// place of ranks; all dependencies are of the sort `requires`, and all tags are 0.
pub trait Shape {
    /// Number of operations of a role.
    fn ops(&self, role: u32) -> u32;

    /// An upper bound of [`Shape::ops`] over all roles. A pattern is built only if it fits `u32`;
    /// no other method is called before.
    fn longest(&self) -> u64;

    /// Returns an operation; its peer is a role.
    fn op(&self, role: u32, index: u32) -> Op;

    /// Number of operations that one waits for.
    fn dependencies(&self, role: u32, index: u32) -> u32;

    /// The operations that wait for one.
    fn dependents(&self, role: u32, index: u32, each: &mut impl FnMut(u32));

    /// Returns whether all messages have the same size.
    fn has_one_size(&self) -> bool {
        false
    }

    /// Returns whether any operation waits for a send.
    fn has_send_edges(&self) -> bool {
        true
    }

    /// Returns what the end of an operation sets free, with a role for a peer.
    #[inline]
    fn follow(&self, role: u32, index: u32) -> Follow {
        let mut next = None;
        let mut others = false;
        self.dependents(role, index, &mut |dependent| {
            others |= next.replace(dependent).is_some();
        });
        match next {
            None => Follow::Nothing,
            Some(next) if !others && self.dependencies(role, next) == 1 => {
                Follow::One(next, Shape::op(self, role, next))
            }
            Some(_) => Follow::Several,
        }
    }

    /// The operations that wait for none.
    fn roots(&self, role: u32, each: &mut impl FnMut(Run));

    /// Returns whether [`Shape::claim`] answers.
    fn claims(&self) -> bool {
        true
    }

    /// The receive of the next message from `source`, which is a role. It is asked once for each
    /// message that the pattern sends; where a source sends one message only, nothing is
    /// remembered.
    fn claim(&self, role: u32, memory: &mut u64, source: u32) -> Option<u32>;
}

/// A role's operations when sends and receives take turns, each send waits for the receive just
/// before it, and receives wait for nothing.
#[derive(Clone, Copy)]
pub struct Chain {
    /// Number of operations.
    pub ops: u32,
    /// True if the first one is a receive.
    pub receives_first: bool,
}

impl Chain {
    #[inline]
    pub fn is_receive(self, index: u32) -> bool {
        index.is_multiple_of(2) == self.receives_first
    }

    #[inline]
    fn roots(self, each: &mut impl FnMut(Run)) {
        let first = u32::from(!self.receives_first);
        if first == 1 && self.ops > 0 {
            each(Run::one(0));
        }
        run(first, 2, (self.ops + 1 - first) / 2, each);
    }
}

/// A pattern in which the operations of every role form a [`Chain`].
pub trait Chained {
    /// Returns whether all messages have the same size.
    fn has_one_size(&self) -> bool {
        false
    }

    fn chain(&self, role: u32) -> Chain;
    fn longest(&self) -> u64;
    fn op(&self, role: u32, index: u32) -> Op;
    fn claim(&self, role: u32, memory: &mut u64, source: u32) -> Option<u32>;
}

impl<T: Chained> Shape for T {
    #[inline]
    fn ops(&self, role: u32) -> u32 {
        self.chain(role).ops
    }

    fn longest(&self) -> u64 {
        Chained::longest(self)
    }

    fn has_one_size(&self) -> bool {
        Chained::has_one_size(self)
    }

    fn has_send_edges(&self) -> bool {
        false
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        Chained::op(self, role, index)
    }

    #[inline]
    fn dependencies(&self, role: u32, index: u32) -> u32 {
        u32::from(index > 0 && !self.chain(role).is_receive(index))
    }

    #[inline]
    fn dependents(&self, role: u32, index: u32, each: &mut impl FnMut(u32)) {
        let chain = self.chain(role);
        if chain.is_receive(index) && index + 1 < chain.ops {
            each(index + 1);
        }
    }

    #[inline(always)]
    fn follow(&self, role: u32, index: u32) -> Follow {
        let chain = self.chain(role);
        if chain.is_receive(index) && index + 1 < chain.ops {
            Follow::One(index + 1, Chained::op(self, role, index + 1))
        } else {
            Follow::Nothing
        }
    }

    #[inline]
    fn roots(&self, role: u32, each: &mut impl FnMut(Run)) {
        self.chain(role).roots(each);
    }

    #[inline]
    fn claim(&self, role: u32, memory: &mut u64, source: u32) -> Option<u32> {
        Chained::claim(self, role, memory, source)
    }
}

/// Calls `each` with the run unless it is empty.
#[inline]
pub fn run(first: u32, stride: u32, count: u32, each: &mut impl FnMut(Run)) {
    if count > 0 {
        each(Run { first, stride, count });
    }
}

#[inline]
pub fn send(peer: u32, size: u64) -> Op {
    op(Kind::Send, peer, size)
}

#[inline]
pub fn recv(peer: u32, size: u64) -> Op {
    op(Kind::Recv, peer, size)
}

#[inline]
pub fn calc(size: u64) -> Op {
    op(Kind::Calc, 0, size)
}

fn op(kind: Kind, peer: u32, size: u64) -> Op {
    Op { kind, peer, tag: 0, size, cpu: 0, nic: 0 }
}

/// The number of k with 2^k < n: the logarithm to base 2, rounded up.
#[inline]
pub fn rounds(n: u32) -> u32 {
    u32::BITS - n.saturating_sub(1).leading_zeros()
}

/// (role + distance) mod n, for distances up to n.
#[inline]
pub fn ahead(role: u32, distance: u32, n: u32) -> u32 {
    let left = n - distance;
    if role >= left { role - left } else { role + distance }
}

/// (role - distance) mod n, for distances up to n.
#[inline]
pub fn behind(role: u32, distance: u32, n: u32) -> u32 {
    if role >= distance { role - distance } else { role + (n - distance) }
}

/// Takes the next number from a counter kept in a rank's memory; `None` from `count` on.
#[inline]
pub fn next(memory: &mut u64, count: u32) -> Option<u32> {
    let number = u32::try_from(*memory).ok().filter(|&i| i < count)?;
    *memory += 1;
    Some(number)
}
