//! Slim flies on McKay-Miller-Širáň graphs of a prime q.
//!
//! Source: Besta and Hoefler, "Slim fly: a cost effective low-diameter network topology", SC 2014, section
//! II-B. 2 q^2 switches (part, x, y) of network radix (3q - d)/2 with q = 4w + d, d = 1 or -1, and of
//! diameter 2. Powers of primes, which the construction allows too, are not offered.

use super::{LIMIT, Plan, Shape, Topology, product};
use crate::{Fault, Faults};

/// A slim fly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlimFly {
    /// The odd prime it is made from.
    pub q: u32,
    /// Hosts per switch.
    pub hosts: u32,
}

impl SlimFly {
    /// Number of switches.
    pub const fn switches(&self) -> u32 {
        2 * self.q * self.q
    }

    /// Links of a switch to others.
    pub const fn radix(q: u32) -> u32 {
        if q % 4 == 1 { (3 * q - 1) / 2 } else { (3 * q).div_ceil(2) }
    }

    /// The two generator sets: differences at which switches of one column are joined, per part.
    pub fn generators(&self) -> [Vec<u32>; 2] {
        let q = self.q;
        let root = (2..q).find(|&x| order(x, q) == q - 1).unwrap_or(1);
        let powers: Vec<u32> =
            std::iter::successors(Some(1), |x| Some(x * root % q)).take(q as usize).collect();
        let w = q.div_ceil(4);
        let pick = |exponents: Vec<u32>| exponents.iter().map(|&e| powers[e as usize]).collect();
        if q % 4 == 1 {
            return [0, 1].map(|odd| pick((0..(q - 1) / 2).map(|i| 2 * i + odd).collect()));
        }
        [0, 1].map(|odd| {
            let first = (0..w).map(|i| 2 * i + odd);
            let second = (0..w).map(|i| 2 * w - 1 + 2 * i + odd);
            pick(first.chain(second).map(|e| e % (q - 1)).collect())
        })
    }

    fn check(&self) -> Result<(), Fault> {
        let prime = self.q > 2
            && (2..self.q).take_while(|d| d * d <= self.q).all(|d| !self.q.is_multiple_of(d));
        if !prime || self.q > 1000 {
            let message = format!("a slim fly needs an odd prime q up to 997, found {}", self.q);
            return Err(Fault::new(message));
        }
        let ports = self.hosts.saturating_add(Self::radix(self.q));
        let total = product([self.switches(), ports], LIMIT);
        if self.hosts == 0 || ports > u16::MAX.into() || total.is_none() {
            return Err(Fault::new("a slim fly's hosts per switch start at 1; or it is too large"));
        }
        Ok(())
    }

    /// Hosts, switches and links.
    pub fn build(self) -> Result<Topology, Faults> {
        self.check()?;
        let (q, hosts) = (self.q, self.hosts);
        let mut plan = Plan::new(self.switches() * hosts, 1);
        for switch in 0..self.switches() {
            let name = format!("s{}.{}.{}", switch / (q * q), switch / q % q, switch % q);
            plan.switch(name, (hosts + Self::radix(q)) as u16);
        }
        for host in 0..self.switches() * hosts {
            plan.link((host, 0), (plan.at(host / hosts), host % hosts));
        }
        let mut next = vec![hosts; self.switches() as usize];
        let mut join = |plan: &mut Plan, a: u32, b: u32| {
            let [here, there] = [a, b].map(|switch| {
                next[switch as usize] += 1;
                (plan.at(switch), next[switch as usize] - 1)
            });
            plan.link(here, there);
        };
        for (part, set) in self.generators().iter().enumerate() {
            for column in 0..q {
                let start = part as u32 * q * q + column * q;
                for a in 0..q {
                    for b in (a + 1..q).filter(|b| set.contains(&(b - a))) {
                        join(&mut plan, start + a, start + b);
                    }
                }
            }
        }
        for x in 0..q {
            for y in 0..q {
                for m in 0..q {
                    let c = (y + q * q - m * x) % q;
                    join(&mut plan, x * q + y, q * q + m * q + c);
                }
            }
        }
        plan.build(Shape::SlimFly(self))
    }
}

/// The least power of `x` that is 1 modulo a prime.
fn order(x: u32, q: u32) -> u32 {
    let mut power = x % q;
    let mut order = 1;
    while power != 1 && order < q {
        power = power * x % q;
        order += 1;
    }
    order
}
