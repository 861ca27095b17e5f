//! A token that goes around a ring of ranks.

use schedule::{Edge, Kind, Op, Program, Run};

/// A program: rank 0 sends a token to rank 1, each rank passes it on, and rank 0 gets it back.
///
/// Rank 0 has operation 0, the send, and operation 1, the receive. Every other rank has operation
/// 0, the receive, and operation 1, the send, which waits for it.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// The number of ranks, at least 2.
    pub ranks: u32,
    /// The size of the token in bytes.
    pub bytes: u64,
}

impl Program for Token {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn ops(&self, _: u32) -> u32 {
        2
    }

    fn op(&self, rank: u32, index: u32) -> Op {
        let next = (rank + 1) % self.ranks;
        let before = (rank + self.ranks - 1) % self.ranks;
        let sends = (rank == 0) == (index == 0);
        let (kind, peer) = if sends { (Kind::Send, next) } else { (Kind::Recv, before) };
        Op { kind, peer, tag: 0, size: self.bytes, cpu: 0, nic: 0 }
    }

    fn dependencies(&self, rank: u32, index: u32) -> u32 {
        u32::from(rank != 0 && index == 1)
    }

    fn dependents(&self, rank: u32, index: u32, edge: Edge, each: &mut impl FnMut(u32)) {
        if rank != 0 && index == 0 && edge == Edge::Done {
            each(1);
        }
    }

    fn roots(&self, rank: u32, each: &mut impl FnMut(Run)) {
        each(Run::one(0));
        // The two operations of rank 0 are of different kinds, so that they are two runs.
        if rank == 0 {
            each(Run::one(1));
        }
    }
}
