//! Rail-optimised clusters: every host has one port per rail, and the hosts of a unit share one
//! switch per rail.
//!
//! Source: NVIDIA, "DGX SuperPOD reference architecture" (rail-optimised compute fabric). Rail
//! switch r of unit u has a port per host of the unit and one up to each spine; without spines
//! there is one unit.

use super::{LIMIT, Plan, Shape, Size, Topology, product};
use crate::{Fault, Faults};

/// A rail-optimised cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rails {
    /// Ports of a host.
    pub rails: u32,
    /// Hosts of a unit.
    pub hosts: u32,
    /// Number of units.
    pub units: u32,
    /// Number of spine switches.
    pub spines: u32,
}

impl Rails {
    fn check(&self) -> Result<(), Fault> {
        let Self { rails, hosts, units, spines } = *self;
        if [rails, hosts, units].contains(&0) {
            return Err(Fault::new("rails, hosts per unit and units start at 1"));
        }
        if units > 1 && spines == 0 {
            return Err(Fault::new(
                "units are joined by spines: with more than one, spines start at 1",
            ));
        }
        let leaves = product([rails, units], u16::MAX.into());
        let most = u32::from(u16::MAX);
        let total = product([rails, units, hosts.saturating_add(spines)], LIMIT);
        if leaves.is_none() || total.is_none() || hosts.saturating_add(spines) > most {
            return Err(Fault::new("this cluster is too large"));
        }
        Ok(())
    }

    /// The numbers of hosts, switches and links, one per port of a rail switch.
    pub(super) fn size(&self) -> Result<Size, Fault> {
        self.check()?;
        let Self { rails, hosts, units, spines } = *self;
        let leaves = rails * units;
        let switches = [(leaves, hosts + spines), (spines, leaves)];
        let links = u64::from(leaves) * u64::from(hosts + spines);
        Ok(Size::new((hosts * units, rails), switches, links))
    }

    /// Hosts, switches and links.
    pub fn build(self) -> Result<Topology, Faults> {
        self.check()?;
        let Self { rails, hosts, units, spines } = self;
        let mut plan = Plan::new(hosts * units, rails as u16);
        for leaf in 0..rails * units {
            plan.switch(format!("rail{}.{}", leaf % rails, leaf / rails), (hosts + spines) as u16);
        }
        for spine in 0..spines {
            plan.switch(format!("spine{spine}"), (rails * units) as u16);
        }
        for host in 0..hosts * units {
            for rail in 0..rails {
                plan.link((host, rail), (plan.at(host / hosts * rails + rail), host % hosts));
            }
        }
        for leaf in 0..rails * units {
            for spine in 0..spines {
                plan.link((plan.at(leaf), hosts + spine), (plan.at(rails * units + spine), leaf));
            }
        }
        plan.build(Shape::Rails(self))
    }
}
