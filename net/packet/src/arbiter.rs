//! Arbiters: the rule by which one of several contenders is served.
//!
//! Source: Dally and Towles, "Principles and Practices of Interconnection Networks", 2004,
//! chapter 18.

use kernel::{Packed, Random, prefetch};
use units::DeviceId;

/// The rule of an arbiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The first contender from the one behind the last that was served.
    RoundRobin,
    /// The contender that was served least recently, as the matrix arbiter does; at the start that
    /// of the lowest number.
    Matrix,
    /// The contender whose packet came into the router first.
    Oldest,
    /// The contender whose message entered its host's interface first: as far as packets share
    /// links at all, all flows get the same (Abts and Weisser, "Age-based packet arbitration in
    /// large-radix k-ary n-cubes", SC 2007).
    Age,
    /// The contender of the lowest number, which may keep the others waiting for ever (fixed
    /// priority; section 18.3).
    Priority,
    /// A random contender.
    Random,
}

/// One of those that want to be served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    /// Its number.
    pub number: u32,
    /// The time at which its packet came, or since when its message is under way.
    pub since: u64,
}

/// The source of random draws at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    pub random: Random,
    pub device: DeviceId,
    pub now: u64,
}

impl Draw {
    /// A random number for a contender at an arbiter.
    fn number(&self, arbiter: usize, contender: u32) -> u64 {
        let place = (arbiter as u64) << 16 | u64::from(contender);
        self.random.number(self.device.0, self.now.rotate_left(32) ^ place)
    }
}

/// Arbiters of one kind, each with the same contenders.
#[derive(Clone, Debug)]
pub(crate) struct Arbiters {
    rule: Arbitration,
    contenders: u32,
    /// By arbiter, the contender at which the round robin begins.
    next: Packed<u32>,
    /// The services of matrix arbiters.
    matrix: Option<Box<Services>>,
}

/// The services of contenders by matrix arbiters.
#[derive(Clone, Debug)]
struct Services {
    /// By arbiter and contender, the service at which it was served last.
    last: Box<[u64]>,
    count: u64,
}

impl Arbiters {
    pub fn new(rule: Arbitration, arbiters: usize, contenders: usize) -> Self {
        let last = || vec![0; arbiters * contenders].into();
        let matrix = || Box::new(Services { last: last(), count: 0 });
        let turns = if rule == Arbitration::RoundRobin { arbiters } else { 0 };
        Self {
            rule,
            contenders: contenders as u32,
            next: vec![0; turns][..].into(),
            matrix: (rule == Arbitration::Matrix).then(matrix),
        }
    }

    /// Prefetches the first contenders.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&*self.next);
    }

    /// Returns the number of contenders of each.
    #[inline]
    pub const fn contenders(&self) -> usize {
        self.contenders as usize
    }

    /// Returns the rank of a contender at an arbiter, which chooses the one of the least rank.
    /// Ranks stay as they are until [`Arbiters::serve`].
    #[inline]
    pub fn rank(&self, arbiter: usize, contender: Contender, draw: &Draw) -> (u64, u32) {
        let Contender { number, since } = contender;
        let first = match self.rule {
            Arbitration::RoundRobin => u64::from(number < self.next[arbiter]),
            Arbitration::Matrix => {
                let place = arbiter * self.contenders as usize + number as usize;
                self.matrix.as_ref().map_or(0, |matrix| matrix.last[place])
            }
            Arbitration::Oldest | Arbitration::Age => since,
            Arbitration::Priority => 0,
            Arbitration::Random => draw.number(arbiter, number),
        };
        (first, number)
    }

    /// Notes that an arbiter has served a contender.
    #[inline]
    pub fn serve(&mut self, arbiter: usize, contender: u32) {
        match self.rule {
            Arbitration::RoundRobin => {
                let next = contender + 1;
                self.next[arbiter] = if next == self.contenders { 0 } else { next };
            }
            Arbitration::Matrix => {
                let place = arbiter * self.contenders as usize + contender as usize;
                if let Some(matrix) = &mut self.matrix {
                    matrix.count += 1;
                    matrix.last[place] = matrix.count;
                }
            }
            Arbitration::Oldest
            | Arbitration::Age
            | Arbitration::Priority
            | Arbitration::Random => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(rule: Arbitration, wanting: &[u32], times: u64) -> Vec<u32> {
        let mut arbiters = Arbiters::new(rule, 2, 4);
        let random = Random::new(1, 2);
        let serve = |now| {
            let draw = Draw { random, device: DeviceId(3), now };
            // The lower the number, the later its packet came.
            let contenders =
                wanting.iter().map(|&number| Contender { number, since: 100 - u64::from(number) });
            let rank = |&contender: &Contender| arbiters.rank(1, contender, &draw);
            let chosen = contenders.min_by_key(rank).unwrap().number;
            arbiters.serve(1, chosen);
            chosen
        };
        (0..times).map(serve).collect()
    }

    #[test]
    fn each_rule_in_its_order() {
        let cases = [
            (Arbitration::RoundRobin, [0, 2, 3, 0, 2, 3]),
            (Arbitration::Matrix, [0, 2, 3, 0, 2, 3]),
            (Arbitration::Oldest, [3, 3, 3, 3, 3, 3]),
            (Arbitration::Age, [3, 3, 3, 3, 3, 3]),
            (Arbitration::Priority, [0, 0, 0, 0, 0, 0]),
        ];
        for (rule, expected) in cases {
            assert_eq!(served(rule, &[0, 2, 3], 6), expected, "{rule:?}");
        }
    }

    /// Contender 1 was never served when it comes; the round robin stands behind 2 then.
    #[test]
    fn matrix_prefers_the_least_recently_served() {
        let draw = Draw { random: Random::new(1, 2), device: DeviceId(0), now: 0 };
        let both = |number| Contender { number, since: 0 };
        for (rule, expected) in [(Arbitration::Matrix, 1), (Arbitration::RoundRobin, 3)] {
            let mut arbiters = Arbiters::new(rule, 1, 4);
            for contender in [3, 2] {
                arbiters.serve(0, contender);
            }
            let ranks = [1, 3].map(|number| arbiters.rank(0, both(number), &draw));
            assert_eq!(ranks.iter().min().unwrap().1, expected, "{rule:?}");
        }
    }

    /// Of 3000 draws among three each has 1000, with a standard deviation of 26.
    #[test]
    fn random_is_even() {
        let served = served(Arbitration::Random, &[0, 1, 3], 3000);
        for contender in [0, 1, 3] {
            let count = served.iter().filter(|&&number| number == contender).count();
            assert!((870..=1130).contains(&count), "{contender}: {count}");
        }
    }
}
