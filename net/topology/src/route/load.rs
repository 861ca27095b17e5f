//! Routings that choose between the shortest way and a detour by load.
//!
//! UGAL (Singh, "Load-balanced routing in interconnection networks", 2005; Kim et al., ISCA 2008,
//! section 4): at the switch of the source the shortest way is taken if what is queued on it, times
//! a weight, is at most what is queued on the detour, times its weight, and an offset. UGAL-L looks
//! at the outputs of that switch. In dragonflies packets on shortest ways begin on lane 1 and
//! others on lane 0, and where both ways begin at one output their lanes are compared (the
//! selective discrimination of virtual channels of Kim et al.). UGAL-G also looks at those of the
//! next switch on either way, as far as they are [`Shared`]: Kim et al. take the links to other
//! groups, which balance the load.
//!
//! Progressive adaptive routing (Jiang, Kim and Dally, "Indirect adaptive routing on large scale
//! interconnection networks", ISCA 2009) compares the outputs again at each switch where a packet
//! may still leave its shortest way: in a dragonfly those of the source's group, elsewhere all but
//! the last.

use std::ops::Range;

use super::{
    Header, Routes,
    lanes::Lanes,
    next::{FOR_NOW, Next, Switches, Via, Ways},
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

/// The queues that switches tell each other of, by port; all switches number their ports alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The ports whose queues a switch tells of.
    pub of: Range<u16>,
    /// The ports to the switches that it tells.
    pub with: Range<u16>,
}

/// Two ways of a packet of which load decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternatives {
    /// The output port of the shortest way.
    pub minimal: u16,
    /// The output port of the detour.
    pub detour: u16,
    /// The lanes behind that port, where it is the same one and the lanes of the two ways tell
    /// their queues apart.
    pub lanes: Option<[u8; 2]>,
    /// The choices of the packet for the shortest way and the detour.
    pub choices: [u32; 2],
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
    /// The queues that switches have to tell each other of for the routing, if any.
    pub const fn shared(&self) -> Option<&Shared> {
        self.shared.as_ref()
    }

    /// Returns the ways between which load decides at a switch, where a packet comes in by a port
    /// and lane, `fresh` from a host or not; nothing if there is no choice. The packet goes on with
    /// the choice of the way that is taken.
    #[inline]
    pub fn alternatives(
        &self,
        switch: u32,
        input: (u16, u8),
        fresh: bool,
        header: &Header,
    ) -> Option<Alternatives> {
        let Bias { weights, offset } = self.bias?;
        let Next::Switches(table) = &self.next else { return None };
        let here = switch - self.hosts;
        let inner = (input.0, input.1.wrapping_sub(self.base(header.level)));
        if header.choice == 0 || !fresh && !table.may_leave(&self.lanes, here, inner, header) {
            return None;
        }
        let out = Header { choice: header.choice & !FOR_NOW, ..*header };
        let stays = if self.is_progressive() { header.choice | FOR_NOW } else { 0 };
        let hop = |choice| self.hop(switch, input.0, input.1, &Header { choice, ..*header });
        let weights = match weights {
            Weights::Factor(factor) => [1, factor.into()],
            Weights::Hops => self.crossings(here, &out)?,
        };
        let choices = [stays, out.choice];
        let [near, far] = choices.map(hop);
        let apart = matches!(self.lanes, Lanes::Globals { late: true, .. });
        let lanes = (apart && near.port == far.port).then_some([near.lane, far.lane]);
        let (minimal, detour, offset) = (near.port, far.port, offset.into());
        Some(Alternatives { minimal, detour, lanes, choices, weights, offset })
    }

    /// True if packets may leave their shortest ways behind the first switch.
    pub const fn is_progressive(&self) -> bool {
        match (&self.next, &self.lanes) {
            (_, Lanes::Globals { progressive, .. }) => *progressive,
            (Next::Switches(Switches { via: Via::Switch { phases, .. }, .. }), _) => phases[0] > 0,
            _ => false,
        }
    }

    /// True if the queues that are compared are those of what waits: for progressive routing, and
    /// in dragonflies where packets go by way of a group, and where ports are weighed.
    pub const fn counts_queues(&self) -> bool {
        let weighs = self.is_progressive() || self.weighs_ports();
        weighs || matches!(self.lanes, Lanes::Globals { late: true, .. })
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
