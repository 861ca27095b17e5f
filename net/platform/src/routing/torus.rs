//! A torus: dimension by dimension, the first first, each the shorter way around.
//!
//! Cables are numbered by host and dimension: cable `host × dimensions + d` leads from the host to
//! its next in dimension d.

use super::{Cables, Leaves};

#[derive(Debug)]
pub(crate) struct Torus {
    pub sizes: Vec<u32>,
    pub cables: Cables,
    pub leaves: Leaves,
}

impl Torus {
    pub fn local(&self, from: u32, to: u32, links: &mut Vec<u32>) {
        if from == to
            && let Some(first) = self.leaves.loopback
        {
            return links.push(first + from);
        }
        let mut here = from;
        let mut stride = 1;
        let dimensions = self.sizes.len() as u32;
        for (dimension, &size) in (0..).zip(&self.sizes) {
            let (mut at, target) = (here / stride % size, to / stride % size);
            let ahead = forwards(at, target, size);
            while at != target {
                self.leaves.limit(here, links);
                let next =
                    if ahead { (at + 1) % size } else { at.checked_sub(1).unwrap_or(size - 1) };
                let there = here - at * stride + next * stride;
                // A cable belongs to the host that it leads forwards from.
                links.push(if ahead {
                    self.cables.up(here * dimensions + dimension)
                } else {
                    self.cables.down(there * dimensions + dimension)
                });
                (at, here) = (next, there);
            }
            stride *= size;
        }
        self.leaves.limit(to, links);
    }
}

/// Returns whether the way from one coordinate to another leads upwards; it is the shorter one, and
/// upwards if both are of the same length and either it needs no wrap or the start lies in the
/// upper half.
const fn forwards(at: u32, target: u32, size: u32) -> bool {
    let half = size / 2;
    (target > at && target <= at + half) || (at > half && (at + half) % size >= target)
}
