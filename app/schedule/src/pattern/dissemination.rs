//! Dissemination, with one or several messages per round.
//!
//! Source: Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988;
//! Hoefler et al., "Fast barrier synchronization for InfiniBand", 2006 (n-way); Bruck et al.,
//! "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997.

use super::shape::{Chain, Chained, Shape, ahead, behind, calc, recv, rounds, run, send};
use crate::{Op, Run};

/// In round k every role sends to the one 2^k ahead, after the receive of round k - 1.
#[derive(Clone, Debug)]
pub struct Dissemination {
    pub ranks: u32,
    pub size: u64,
    /// True if this is Bruck's all-to-all: a message carries a block of this size for each distance
    /// below the number of ranks that has bit k, and not one such block.
    pub is_alltoall: bool,
}

impl Dissemination {
    /// Bytes of a message of round k.
    #[inline]
    fn bytes(&self, round: u32) -> u64 {
        let blocks = if self.is_alltoall { with_bit(round, self.ranks) } else { 1 };
        self.size.saturating_mul(u64::from(blocks))
    }
}

/// The number of numbers below n that have this bit.
fn with_bit(bit: u32, n: u32) -> u32 {
    let (n, half) = (u64::from(n), 1 << bit);
    (n / (2 * half) * half + (n % (2 * half)).saturating_sub(half)) as u32
}

impl Chained for Dissemination {
    fn has_one_size(&self) -> bool {
        !self.is_alltoall
    }

    #[inline]
    fn chain(&self, _: u32) -> Chain {
        Chain { ops: 2 * rounds(self.ranks), receives_first: false }
    }

    fn longest(&self) -> u64 {
        u64::from(self.chain(0).ops)
    }

    #[inline(always)]
    fn op(&self, role: u32, index: u32) -> Op {
        let (distance, bytes) = (1 << (index / 2), self.bytes(index / 2));
        if index.is_multiple_of(2) {
            send(ahead(role, distance, self.ranks), bytes)
        } else {
            recv(behind(role, distance, self.ranks), bytes)
        }
    }

    #[inline]
    fn claim(&self, role: u32, _: &mut u64, source: u32) -> Option<u32> {
        let distance = behind(role, source, self.ranks);
        distance.is_power_of_two().then(|| 2 * distance.trailing_zeros() + 1)
    }
}

/// In round k every role sends to those 1, 2, … w times (w + 1)^k ahead. From the second round on,
/// w computations of the message's size combine what the last round brought, before the sends.
#[derive(Clone, Debug)]
pub struct Nway {
    ranks: u32,
    size: u64,
    ways: u32,
    rounds: u32,
    /// True if no two messages have the same source and destination.
    distinct: bool,
}

/// The part of a round that an operation belongs to, and its number there.
enum RoundStep {
    Send(u32),
    Calc(u32),
    Recv(u32),
}

impl Nway {
    pub fn new(ranks: u32, size: u64, ways: u32) -> Self {
        let base = u64::from(ways) + 1;
        let (mut rounds, mut reach, mut farthest) = (0, 1, 0);
        while reach < u64::from(ranks) {
            farthest = reach * u64::from(ways);
            reach *= base;
            rounds += 1;
        }
        Self { ranks, size, ways, rounds, distinct: farthest < u64::from(ranks) }
    }

    /// Round and part. The first round lacks the computations; counted as if the w places before it
    /// belonged to it, all rounds have 3w places and the first begins with w empty ones.
    #[inline]
    fn locate(&self, index: u32) -> (u32, RoundStep) {
        let w = self.ways;
        let (round, place) = ((index + w) / (3 * w), (index + w) % (3 * w));
        let part = match place / w {
            2 => RoundStep::Recv(place - 2 * w),
            1 if round > 0 => RoundStep::Calc(place - w),
            1 => RoundStep::Send(place - w),
            _ => RoundStep::Send(place),
        };
        (round, part)
    }

    /// Index of the first send of a round after the first.
    #[inline]
    fn sends(&self, round: u32) -> u32 {
        3 * self.ways * round - self.ways
    }

    /// Index of the first computation of a round after the first.
    #[inline]
    fn calcs(&self, round: u32) -> u32 {
        3 * self.ways * round
    }

    /// Index of the first receive of a round.
    #[inline]
    fn recvs(&self, round: u32) -> u32 {
        3 * self.ways * round + self.ways
    }

    #[inline]
    fn distance(&self, round: u32, way: u32) -> u32 {
        let step = (u64::from(self.ways) + 1).pow(round);
        ((u64::from(way) + 1) * step % u64::from(self.ranks)) as u32
    }
}

impl Shape for Nway {
    fn has_one_size(&self) -> bool {
        true
    }

    #[inline]
    fn ops(&self, _: u32) -> u32 {
        (3 * self.rounds * self.ways).saturating_sub(self.ways)
    }

    fn longest(&self) -> u64 {
        3 * u64::from(self.rounds) * u64::from(self.ways)
    }

    #[inline]
    fn op(&self, role: u32, index: u32) -> Op {
        let (n, d) = (self.ranks, self.size);
        match self.locate(index) {
            (round, RoundStep::Send(way)) => send(ahead(role, self.distance(round, way), n), d),
            (_, RoundStep::Calc(_)) => calc(d),
            (round, RoundStep::Recv(way)) => recv(behind(role, self.distance(round, way), n), d),
        }
    }

    #[inline]
    fn dependencies(&self, _: u32, index: u32) -> u32 {
        let last = self.ways - 1;
        match self.locate(index) {
            (0, _) | (_, RoundStep::Recv(_)) => 0,
            (_, RoundStep::Send(way)) => 1 + u32::from(way == last),
            (_, RoundStep::Calc(number)) => 2 - u32::from(number == last),
        }
    }

    /// The computations 0 to w - 2 are a chain that begins with receive 0 and takes in receive i at
    /// computation i - 1; the last send waits for its end. The computation w - 1 waits for receive
    /// 0 only, and every send for that computation. (As in Schedgen.)
    #[inline]
    fn dependents(&self, _: u32, index: u32, each: &mut impl FnMut(u32)) {
        let last = self.ways - 1;
        match self.locate(index) {
            (round, RoundStep::Recv(way)) if round + 1 < self.rounds => {
                let calcs = self.calcs(round + 1);
                each(calcs + way.saturating_sub(1));
                if way == 0 && last == 0 {
                    each(self.sends(round + 1));
                } else if way == 0 {
                    each(calcs + last);
                }
            }
            (round, RoundStep::Calc(number)) if number == last => {
                (0..self.ways).for_each(|way| each(self.sends(round) + way));
            }
            (round, RoundStep::Calc(number)) if number + 1 == last => {
                each(self.sends(round) + last);
            }
            (_, RoundStep::Calc(_)) => each(index + 1),
            _ => {}
        }
    }

    #[inline]
    fn roots(&self, _: u32, each: &mut impl FnMut(Run)) {
        if self.rounds > 0 {
            run(0, 1, self.ways, each);
        }
        (0..self.rounds).for_each(|round| run(self.recvs(round), 1, self.ways, each));
    }

    fn claims(&self) -> bool {
        self.distinct
    }

    #[inline]
    fn claim(&self, role: u32, _: &mut u64, source: u32) -> Option<u32> {
        let base = u64::from(self.ways) + 1;
        let mut distance = u64::from(behind(role, source, self.ranks));
        let mut round = 0;
        while distance > 0 && distance.is_multiple_of(base) {
            distance /= base;
            round += 1;
        }
        let way = (distance as u32).checked_sub(1)?;
        (way < self.ways && round < self.rounds).then(|| self.recvs(round) + way)
    }
}
