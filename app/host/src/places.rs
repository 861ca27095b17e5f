//! The ranks that share a host.

use crate::Error;

/// Most ranks of a host: their slots are numbered by a byte.
const SLOTS: usize = 256;

/// The hosts of ranks, by the numbers that the network gives them.
pub struct Places {
    of: Vec<Location>,
    /// The ranks of host h are those of `ranks` from `first[h]` on, before `first[h + 1]`, in
    /// ascending order.
    first: Vec<u32>,
    ranks: Vec<u32>,
}

/// The location of a rank: its host, and its slot among that host's ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    pub host: u32,
    pub slot: u8,
}

impl Location {
    /// A rank alone on the host of its own number.
    pub const fn alone(rank: u32) -> Self {
        Self { host: rank, slot: 0 }
    }
}

impl Places {
    /// Rank r is on host `hosts[r]` of `count`.
    pub fn new(hosts: &[u32], count: u32) -> Result<Self, Error> {
        let mut ranks_of = vec![Vec::new(); count as usize];
        let mut of = Vec::with_capacity(hosts.len());
        for (rank, &host) in (0..).zip(hosts) {
            let Some(ranks) = ranks_of.get_mut(host as usize) else {
                return Err(Error::NoHost { rank, host, hosts: count });
            };
            of.push(Location { host, slot: ranks.len() as u8 });
            ranks.push(rank);
        }
        if let Some((host, ranks)) = (0..).zip(&ranks_of).find(|(_, ranks)| ranks.len() > SLOTS) {
            return Err(Error::Crowded { host, ranks: ranks.len() as u32 });
        }
        let mut first = vec![0];
        let sums = ranks_of.iter().scan(0, |sum, ranks| {
            *sum += ranks.len() as u32;
            Some(*sum)
        });
        first.extend(sums);
        Ok(Self { of, first, ranks: ranks_of.concat() })
    }

    /// Returns the location of a rank.
    #[inline]
    pub fn place(&self, rank: u32) -> Location {
        self.of.get(rank as usize).copied().unwrap_or(Location::alone(rank))
    }

    /// The ranks of a host.
    #[inline]
    pub fn ranks(&self, host: u32) -> &[u32] {
        let at = |host: usize| self.first.get(host).map_or(0, |&first| first as usize);
        self.ranks.get(at(host as usize)..at(host as usize + 1)).unwrap_or_default()
    }
}
