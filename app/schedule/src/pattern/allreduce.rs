//! Allreduce. The cost of combining the vectors is not modelled, as in Schedgen.
//!
//! Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
//! MPICH", 2005 (recursive doubling and halving, and the fold for other numbers than powers of
//! two); Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", 2009 (ring).

use super::shape::{Chain, Chained, ahead, behind, next, recv, send};
use crate::Op;

/// The way in which the roles of a power of two exchange.
#[derive(Clone, Copy, Debug)]
pub enum Algorithm {
    /// In round k, each role exchanges the whole vector with the role whose number differs in bit
    /// k.
    RecursiveDoubling,
    /// Reduce-scatter with bits 0, 1, … of the number, each round half of what the last one had
    /// (rounded down, so that it may come to 0), then allgather with the bits in reverse, each
    /// round twice as much. A send waits for the receive before it only, as in Schedgen; where
    /// ranks are far out of step, the second message between two ranks can overtake the first, and
    /// it differs in size unless p divides the vector's.
    Rabenseifner,
}

/// Exchanges by pairs.
///
/// With p the largest power of two up to n, the first n - p even roles give their whole vector to
/// the odd role after them first, stay out of the exchange among the p others, and get the result
/// from it last.
#[derive(Clone, Debug)]
pub struct Exchange {
    algorithm: Algorithm,
    size: u64,
    /// Bits of p.
    bits: u32,
    /// n - p.
    extra: u32,
}

/// A role's part in the exchange.
enum AllreduceRole {
    /// Stays out.
    Extra,
    /// Takes part under this number, and stands in for the role before it.
    Proxy(u32),
    /// Takes part under this number.
    Plain(u32),
}

impl Exchange {
    /// An exchange among `ranks` ≥ 1 roles.
    pub fn new(algorithm: Algorithm, ranks: u32, size: u64) -> Self {
        let bits = ranks.ilog2();
        Self { algorithm, size, bits, extra: ranks - (1 << bits) }
    }

    #[inline]
    fn part(&self, role: u32) -> AllreduceRole {
        if role >= 2 * self.extra {
            AllreduceRole::Plain(role - self.extra)
        } else if role.is_multiple_of(2) {
            AllreduceRole::Extra
        } else {
            AllreduceRole::Proxy(role / 2)
        }
    }

    /// The role that takes part under a number.
    #[inline]
    fn role(&self, number: u32) -> u32 {
        if number < self.extra { 2 * number + 1 } else { number + self.extra }
    }

    #[inline]
    fn rounds(&self) -> u32 {
        match self.algorithm {
            Algorithm::RecursiveDoubling => self.bits,
            Algorithm::Rabenseifner => 2 * self.bits,
        }
    }

    /// The bit in which partners differ, and the size.
    #[inline]
    fn round(&self, round: u32) -> (u32, u64) {
        match self.algorithm {
            Algorithm::RecursiveDoubling => (round, self.size),
            Algorithm::Rabenseifner if round < self.bits => (round, self.size >> (round + 1)),
            Algorithm::Rabenseifner => {
                let done = round - self.bits;
                (self.bits - 1 - done, (self.size >> self.bits) << done)
            }
        }
    }
}

impl Chained for Exchange {
    #[inline]
    fn chain(&self, role: u32) -> Chain {
        let rounds = self.rounds();
        let (ops, receives_first) = match self.part(role) {
            AllreduceRole::Extra => (2, false),
            AllreduceRole::Proxy(_) => (2 * rounds + 2, true),
            AllreduceRole::Plain(_) => (2 * rounds, false),
        };
        Chain { ops, receives_first }
    }

    fn longest(&self) -> u64 {
        u64::from(2 * self.rounds() + 2)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let (number, index) = match (self.part(role), index) {
            (AllreduceRole::Extra, 0) => return send(role + 1, self.size),
            (AllreduceRole::Extra, _) => return recv(role + 1, self.size),
            (AllreduceRole::Proxy(_), 0) => return recv(role - 1, self.size),
            (AllreduceRole::Proxy(_), i) if i > 2 * self.rounds() => {
                return send(role - 1, self.size);
            }
            (AllreduceRole::Proxy(number), i) => (number, i - 1),
            (AllreduceRole::Plain(number), i) => (number, i),
        };
        let (bit, size) = self.round(index / 2);
        let peer = self.role(number ^ (1 << bit));
        if index.is_multiple_of(2) { send(peer, size) } else { recv(peer, size) }
    }

    /// Partners of Rabenseifner's algorithm meet twice; the memory has a bit for each that was met
    /// once.
    #[inline]
    fn claim(&self, role: u32, memory: &mut u64, source: u32) -> Option<u32> {
        let (number, first) = match self.part(role) {
            AllreduceRole::Extra => return (source == role + 1).then_some(1),
            AllreduceRole::Proxy(_) if source + 1 == role => return Some(0),
            AllreduceRole::Proxy(number) => (number, 1),
            AllreduceRole::Plain(number) => (number, 0),
        };
        let (AllreduceRole::Proxy(other) | AllreduceRole::Plain(other)) = self.part(source) else {
            return None;
        };
        let difference = number ^ other;
        if !difference.is_power_of_two() {
            return None;
        }
        let bit = difference.trailing_zeros();
        let again = *memory & (1 << bit) != 0;
        let round = match self.algorithm {
            Algorithm::Rabenseifner if again => 2 * self.bits - 1 - bit,
            _ => bit,
        };
        *memory |= 1 << bit;
        Some(first + 2 * round + 1)
    }
}

/// Reduce-scatter and allgather around a ring: 2(n - 1) times a part of size / n bytes (rounded
/// down, as in Schedgen) to the next role, each after the receive before it.
#[derive(Clone, Debug)]
pub struct Ring {
    pub ranks: u32,
    pub size: u64,
}

impl Chained for Ring {
    fn has_one_size(&self) -> bool {
        true
    }

    #[inline]
    fn chain(&self, _: u32) -> Chain {
        Chain { ops: 4 * (self.ranks - 1), receives_first: false }
    }

    fn longest(&self) -> u64 {
        4 * u64::from(self.ranks)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let part = self.size / u64::from(self.ranks);
        if index.is_multiple_of(2) {
            send(ahead(role, 1, self.ranks), part)
        } else {
            recv(behind(role, 1, self.ranks), part)
        }
    }

    #[inline]
    fn claim(&self, role: u32, memory: &mut u64, source: u32) -> Option<u32> {
        if source != behind(role, 1, self.ranks) {
            return None;
        }
        next(memory, 2 * (self.ranks - 1)).map(|i| 2 * i + 1)
    }
}
