//! Slim flies on McKay-Miller-Širáň graphs of a prime power q.
//!
//! Source: Besta and Hoefler, "Slim fly: a cost effective low-diameter network topology", SC 2014,
//! section II-B. 2 q^2 switches (part, x, y) of network radix (3q - d)/2 with q = 4w + d, d = 1, 0
//! or -1, and of diameter 2. Coordinates are elements of the field of q elements ([`Field`]).

use super::{LIMIT, Plan, Shape, Size, Topology, product};
use crate::{Fault, Faults};

/// A slim fly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlimFly {
    /// The power of a prime it is made from.
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
        Field::new(self.q).map_or_else(Default::default, |field| self.generators_in(&field))
    }

    fn generators_in(&self, field: &Field) -> [Vec<u32>; 2] {
        let q = self.q;
        let w = q.div_ceil(4);
        let pick = |exponents: Vec<u32>| exponents.into_iter().map(|e| field.power(e)).collect();
        if q % 4 != 3 {
            return [0, 1].map(|odd| pick((0..q / 2).map(|i| 2 * i + odd).collect()));
        }
        [0, 1].map(|odd| {
            let first = (0..w).map(|i| 2 * i + odd);
            let second = (0..w).map(|i| 2 * w - 1 + 2 * i + odd);
            pick(first.chain(second).collect())
        })
    }

    fn check(&self) -> Result<Field, Fault> {
        let field = Field::new(self.q).filter(|_| self.q > 2).ok_or_else(|| {
            let message =
                format!("a slim fly needs a power of a prime from 3 to 997, found {}", self.q);
            Fault::new(message)
        })?;
        let ports = self.hosts.saturating_add(Self::radix(self.q));
        let total = product([self.switches(), ports], LIMIT);
        if self.hosts == 0 || ports > u16::MAX.into() || total.is_none() {
            return Err(Fault::new("a slim fly's hosts per switch start at 1; or it is too large"));
        }
        Ok(field)
    }

    /// The numbers of hosts, switches and links.
    pub(super) fn size(&self) -> Result<Size, Fault> {
        self.check()?;
        let (switches, radix) = (self.switches(), Self::radix(self.q));
        let hosts = switches * self.hosts;
        let links = u64::from(switches) * u64::from(radix) / 2;
        Ok(Size::new((hosts, 1), [(switches, self.hosts + radix)], u64::from(hosts) + links))
    }

    /// Hosts, switches and links.
    pub fn build(self) -> Result<Topology, Faults> {
        let field = self.check()?;
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
        for (part, set) in self.generators_in(&field).iter().enumerate() {
            for column in 0..q {
                let start = part as u32 * q * q + column * q;
                for a in 0..q {
                    for b in (a + 1..q).filter(|b| set.contains(&field.minus(*b, a))) {
                        join(&mut plan, start + a, start + b);
                    }
                }
            }
        }
        for x in 0..q {
            for y in 0..q {
                for m in 0..q {
                    let c = field.minus(y, field.times(m, x));
                    join(&mut plan, x * q + y, q * q + m * q + c);
                }
            }
        }
        plan.build(Shape::SlimFly(self))
    }
}

/// The field of q elements, a power of a prime p: polynomials over the integers modulo p, written
/// as the number whose digits to the base p are their coefficients.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    prime: u32,
    /// The powers of an element of which all but 0 are powers, from the 0th on.
    powers: Vec<u32>,
    /// The exponent of each element as a power of the generator.
    logarithms: Vec<u32>,
}

impl Field {
    /// The field of so many elements, at most 1000; `None` if there is none.
    pub fn new(q: u32) -> Option<Self> {
        let prime = (2..=q.min(1000)).find(|divisor| q.is_multiple_of(*divisor))?;
        let mut rest = q;
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
        if rest != 1 || q > 1000 {
            return None;
        }
        // x^k, k the degree, is some polynomial of lower degree; the first by which x has all
        // powers will do. For a prime, x is that number itself.
        let high = q / prime;
        (1..q).find_map(|tail| {
            let next = |e: &u32| Some(sum(prime, e % high * prime, tail, e / high));
            let powers: Vec<u32> =
                std::iter::successors(Some(1), next).take(q as usize - 1).collect();
            let mut logarithms = vec![u32::MAX; q as usize];
            for (power, element) in (0..).zip(&powers) {
                let seen = logarithms.get_mut(*element as usize)?;
                if *element == 0 || std::mem::replace(seen, power) != u32::MAX {
                    return None;
                }
            }
            Some(Self { prime, powers, logarithms })
        })
    }

    fn power(&self, exponent: u32) -> u32 {
        self.powers[exponent as usize % self.powers.len()]
    }

    pub fn times(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.power(self.logarithms[a as usize] + self.logarithms[b as usize])
    }

    /// a / b; 0 where b is 0.
    pub fn over(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        let all = self.powers.len() as u32;
        self.power(self.logarithms[a as usize] + all - self.logarithms[b as usize])
    }

    pub fn plus(&self, a: u32, b: u32) -> u32 {
        sum(self.prime, a, b, 1)
    }

    pub fn minus(&self, a: u32, b: u32) -> u32 {
        sum(self.prime, a, b, self.prime - 1)
    }
}

/// a + factor b, digit by digit modulo a prime.
fn sum(prime: u32, mut a: u32, mut b: u32, factor: u32) -> u32 {
    let (mut total, mut weight) = (0, 1);
    while a > 0 || b > 0 {
        total += (a % prime + factor * (b % prime)) % prime * weight;
        (a, b, weight) = (a / prime, b / prime, weight * prime);
    }
    total
}
