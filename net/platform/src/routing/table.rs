//! Routes as they are stated: one for each pair.

use rustc_hash::FxHashMap;

use crate::{
    Platform,
    zone::{Leg, Walk},
};

/// Stated routes by the seats of their ends.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub legs: FxHashMap<(u32, u32), Leg>,
    /// True if a point without a route to itself has the platform's loopback: zones without zones
    /// in them.
    pub loopback: bool,
}

impl Table {
    pub fn local(
        &self,
        platform: &Platform,
        from: u32,
        to: u32,
        walk: &mut Walk,
    ) -> Option<[u32; 2]> {
        if let Some(leg) = self.legs.get(&(from, to)) {
            walk.links.extend_from_slice(&leg.links);
            return leg.gateways;
        }
        if from == to && self.loopback {
            walk.links.push(platform.loopback());
        }
        None
    }
}
