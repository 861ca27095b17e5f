//! Routings that choose between the shortest way and a detour by load, at the switch of the source.
//!
//! UGAL-L (Singh, "Load-balanced routing in interconnection networks", 2005; Kim et al., ISCA 2008,
//! section 4): the shortest way is taken if what is queued at its output there, times a weight, is
//! at most what is queued at that of the detour, times its weight, and an offset.

use super::{
    Header, Routes,
    next::{Next, Ways},
};

/// The comparison of the queues of a shortest way and a detour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bias {
    /// The weights of the queues.
    pub weights: Weights,
    /// Flits by which the queue of the shortest way may be longer.
    pub offset: u32,
}

/// The weights of the queues of a shortest way and a detour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// 1, and this number for the detour.
    Factor(u32),
    /// The numbers of links between switches on the two ways.
    Hops,
}

/// Two ways of a packet of which load decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternatives {
    /// The output port of the shortest way.
    pub minimal: u16,
    /// The output port of the detour.
    pub detour: u16,
    weights: [u64; 2],
    offset: u64,
}

impl Alternatives {
    /// Returns true if the shortest way is taken when so many flits are queued for the two ports.
    pub const fn prefers_minimal(&self, minimal: u64, detour: u64) -> bool {
        let [near, far] = self.weights;
        minimal.saturating_mul(near) <= detour.saturating_mul(far).saturating_add(self.offset)
    }
}

impl Routes {
    /// Returns the ways between which load decides at the switch where a packet comes from a host,
    /// by a port; nothing if there is no choice. Without its choice the packet takes the shortest
    /// one.
    pub fn alternatives(&self, switch: u32, port: u16, header: &Header) -> Option<Alternatives> {
        let Bias { weights, offset } = self.bias?;
        if header.choice == 0 {
            return None;
        }
        let base = self.base(header.level);
        let hop = |choice| self.hop(switch, port, base, &Header { choice, ..*header }).port;
        let weights = match weights {
            Weights::Factor(factor) => [1, factor.into()],
            Weights::Hops => self.crossings(switch - self.hosts, header)?,
        };
        let (minimal, detour) = (hop(0), hop(header.choice));
        Some(Alternatives { minimal, detour, weights, offset: offset.into() })
    }

    /// The links between switches on the shortest way in a `HyperX` and by way of the choice.
    fn crossings(&self, switch: u32, header: &Header) -> Option<[u64; 2]> {
        let Next::Switches(table) = &self.next else { return None };
        let Ways::Grid(grid) = &table.ways else { return None };
        let (home, via) = (table.homes.of(header.destination).0, header.choice - 1);
        let out = grid.crossings(switch, via) + grid.crossings(via, home);
        Some([grid.crossings(switch, home).into(), out.into()])
    }
}
