//! Dragonflies: groups of switches, all joined within a group, and links between all groups.
//!
//! Source: Kim et al., "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
//! Arrangements of global links: Camarero, Vallejo and Beivide, "Topological characterization of
//! Hamming and dragonfly networks and its implications on routing", 2014.
//!
//! Ports of a switch: hosts, then the other switches of its group in order, then global links.
//! Global port j of switch r is slot r*h+j of its group. With fewer than a*h+1 groups every pair of
//! groups has as many links as fit, and the slots left over are not connected.

use units::Time;

use super::{LIMIT, Plan, Shape, Size, Topology, product};
use crate::{Fault, Faults};

/// The rule that tells which slot of a group leads to which other group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Slot k leads to group k, or k+1 from group k on.
    Absolute,
    /// Slot k of group i leads to group i+k+1.
    Relative,
    /// Slots lead to groups +1, -1, +2, -2, … of their own.
    Circulant,
}

/// A dragonfly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dragonfly {
    /// Hosts per switch, p.
    pub hosts: u32,
    /// Switches per group, a.
    pub routers: u32,
    /// Global links per switch, h.
    pub global: u32,
    /// Number of groups, g.
    pub groups: u32,
    /// The arrangement of global links.
    pub arrangement: Arrangement,
    /// Times of flight of the cables within a group and between groups, if they are given.
    pub delays: [Option<Time>; 2],
}

impl Dragonfly {
    /// Number of switches.
    pub const fn switches(&self) -> u32 {
        self.routers * self.groups
    }

    /// Links between two groups.
    pub const fn copies(&self) -> u32 {
        if self.groups < 2 { 0 } else { self.routers * self.global / (self.groups - 1) }
    }

    /// The first slot of a group that leads to another group. The others follow at distances of
    /// `groups` - 1; there are [`copies`](Self::copies).
    #[inline]
    pub const fn slot(&self, group: u32, far: u32) -> u32 {
        match self.arrangement {
            Arrangement::Absolute => far - (far > group) as u32,
            Arrangement::Relative => (far + self.groups - group - 1) % self.groups,
            Arrangement::Circulant => {
                let ahead = (far + self.groups - group) % self.groups;
                // Slot 2d - 2 leads d ahead, slot 2d - 1 leads d back.
                if ahead <= self.groups / 2 { 2 * ahead - 2 } else { 2 * (self.groups - ahead) - 1 }
            }
        }
    }

    /// The group and slot at the other end of a slot of a group, if it is connected.
    pub fn across(&self, group: u32, slot: u32) -> Option<(u32, u32)> {
        let others = self.groups.checked_sub(1).filter(|&others| others > 0)?;
        let (copy, k) = (slot / others, slot % others);
        if copy >= self.copies() {
            return None;
        }
        let (far, back) = match self.arrangement {
            Arrangement::Absolute => {
                let far = if k < group { k } else { k + 1 };
                (far, if group < far { group } else { group - 1 })
            }
            Arrangement::Relative => ((group + k + 1) % self.groups, others - 1 - k),
            Arrangement::Circulant => {
                // The last slot of an odd number leads half way round and is its own inverse.
                let back = if k % 2 == 0 && k + 1 == others { k } else { k ^ 1 };
                let distance = k / 2 + 1;
                let step = if k % 2 == 0 { distance } else { self.groups - distance };
                ((group + step) % self.groups, back)
            }
        };
        Some((far, copy * others + back))
    }

    fn check(&self) -> Result<(), Fault> {
        if self.hosts == 0 || self.routers == 0 || self.groups == 0 {
            return Err(Fault::new("a dragonfly's p, a and g start at 1"));
        }
        let ports = u64::from(self.hosts) + u64::from(self.routers - 1) + u64::from(self.global);
        let slots = product([self.routers, self.global], LIMIT);
        let switches = product([self.routers, self.groups], LIMIT);
        let (Some(slots), Some(switches)) = (slots, switches) else {
            return Err(Fault::new("this dragonfly is too large"));
        };
        if ports > u16::MAX.into() || ports * u64::from(switches) > LIMIT {
            return Err(Fault::new("this dragonfly is too large"));
        }
        if self.groups > slots + 1 {
            let message =
                format!("a dragonfly with a*h = {slots} has at most {} groups", slots + 1);
            return Err(Fault::new(message));
        }
        Ok(())
    }

    /// The numbers of hosts, switches and links.
    pub(super) fn size(&self) -> Result<Size, Fault> {
        self.check()?;
        let Self { hosts, routers, global, groups, .. } = *self;
        let (switches, hosts, ports) =
            (self.switches(), self.switches() * hosts, hosts + routers - 1 + global);
        let pairs = |count: u32| u64::from(count) * u64::from(count - 1) / 2;
        let near = u64::from(groups) * pairs(routers);
        let far = u64::from(self.copies()) * pairs(groups);
        Ok(Size::new((hosts, 1), [(switches, ports)], u64::from(hosts) + near + far))
    }

    /// Hosts, switches and links.
    pub fn build(self) -> Result<Topology, Faults> {
        self.check()?;
        let Self { hosts, routers, global, groups, .. } = self;
        let local = hosts + routers - 1;
        let mut plan = Plan::new(self.switches() * hosts, 1);
        for switch in 0..self.switches() {
            let name = format!("g{}.{}", switch / routers, switch % routers);
            plan.switch(name, (local + global) as u16);
        }
        for host in 0..self.switches() * hosts {
            plan.link((host, 0), (plan.at(host / hosts), host % hosts));
        }
        for group in 0..groups {
            let start = plan.at(group * routers);
            for a in 0..routers {
                for b in a + 1..routers {
                    plan.link((start + a, hosts + b - 1), (start + b, hosts + a));
                }
            }
            for slot in 0..routers * global {
                let Some((far, back)) = self.across(group, slot) else { continue };
                if (group, slot) < (far, back) {
                    let there = plan.at(far * routers + back / global);
                    let here = (start + slot / global, local + slot % global);
                    plan.link(here, (there, local + back % global));
                }
            }
        }
        let [near, far] = self.delays;
        let cable = |[a, b]: [u32; 2]| if a / routers == b / routers { near } else { far };
        Ok(plan.build(Shape::Dragonfly(self))?.with_delays(cable))
    }
}
