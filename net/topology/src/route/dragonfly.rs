//! Ways in dragonflies by formula: at most one local, one global and one local link.
//!
//! Source: Kim et al., "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, section
//! 4.1. Of several global links between two groups a switch prefers its own, and spreads by a key.

use super::NOWHERE;
use crate::shape::Dragonfly;

/// The ways of a dragonfly whose links all work.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    shape: Dragonfly,
    /// Global links between two groups.
    copies: u32,
}

impl Formula {
    pub fn new(shape: &Dragonfly) -> Self {
        Self { copies: shape.copies(), shape: shape.clone() }
    }

    /// The group of a switch.
    #[inline]
    pub const fn group(&self, switch: u32) -> u32 {
        switch / self.shape.routers
    }

    /// Number of groups.
    pub const fn groups(&self) -> u32 {
        self.shape.groups
    }

    /// The first port to another group.
    #[inline]
    pub const fn globals(&self) -> u16 {
        (self.shape.hosts + self.shape.routers - 1) as u16
    }

    /// The port on the way to another switch; [`NOWHERE`] at that switch itself.
    #[inline]
    pub fn toward(&self, switch: u32, target: u32) -> u16 {
        if switch == target {
            NOWHERE
        } else if self.group(switch) == self.group(target) {
            self.local(switch, target % self.shape.routers)
        } else {
            self.outward(switch, self.group(target), target)
        }
    }

    /// The port to a switch of the same group, by its number within the group.
    #[inline]
    const fn local(&self, switch: u32, to: u32) -> u16 {
        let from = switch % self.shape.routers;
        (self.shape.hosts + if to < from { to } else { to - 1 }) as u16
    }

    /// The port on the way to another group. The key spreads the ways of a switch over the links
    /// between the two groups: its own if it has any, or else all.
    #[inline]
    pub fn outward(&self, switch: u32, group: u32, key: u32) -> u16 {
        let Dragonfly { routers, global, groups, .. } = self.shape;
        let slot = self.shape.slot(self.group(switch), group);
        let router = switch % routers;
        let copy = if self.copies == 1 {
            0
        } else {
            // The slots that lead there are slot, slot + others, slot + 2 others, …
            let others = groups - 1;
            let before = |router: u32| (router * global).saturating_sub(slot).div_ceil(others);
            let (first, end) = (before(router), before(router + 1).min(self.copies));
            if first < end { first + key % (end - first) } else { key % self.copies }
        };
        let slot = slot + copy * (groups - 1);
        if slot / global == router {
            self.globals() + (slot % global) as u16
        } else {
            self.local(switch, slot / global)
        }
    }
}
