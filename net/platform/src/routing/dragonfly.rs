//! A dragonfly after Cray's Cascade: groups of chassis of blades (routers), each with some hosts.
//! Blades of a chassis are all connected (green), blades of the same number in a group's chassis as
//! well (black), and one cable (blue) joins each pair of groups: it ends at the blade of the other
//! group's number in the first chassis. Routes are minimal.

use super::{Cables, Leaves};

#[derive(Debug)]
pub(crate) struct Dragonfly {
    pub groups: u32,
    pub chassis: u32,
    pub blades: u32,
    pub nodes: u32,
    /// From a router to each of its hosts, by host.
    pub local: Cables,
    /// By chassis of the machine and pair of blades.
    pub green: Cables,
    /// By group, pair of chassis and blade.
    pub black: Cables,
    /// By pair of groups.
    pub blue: Cables,
    pub leaves: Leaves,
}

/// The number of a pair a < b among the pairs of `count`.
pub(crate) const fn pair(a: u32, b: u32, count: u32) -> u32 {
    a * (2 * count - a - 1) / 2 + b - a - 1
}

/// The link between two members of a fully connected set whose pairs are cables from `first` on,
/// `step` apart.
const fn between(cables: Cables, first: u32, step: u32, count: u32, a: u32, b: u32) -> u32 {
    if a < b {
        cables.up(first + pair(a, b, count) * step)
    } else {
        cables.down(first + pair(b, a, count) * step)
    }
}

impl Dragonfly {
    pub fn local(&self, from: u32, to: u32, links: &mut Vec<u32>) {
        if from == to
            && let Some(first) = self.leaves.loopback
        {
            return links.push(first + from);
        }
        let [(group, mut chassis, mut blade), target] = [from, to].map(|host| self.router(host));
        self.leaves.limit(from, links);
        links.push(self.local.up(from));
        let mut here = group;
        if group != target.0 {
            if blade != target.0 {
                self.limit(here, chassis, blade, links);
                links.push(self.green(here, chassis, blade, target.0));
                blade = target.0;
            }
            if chassis != 0 {
                self.limit(here, chassis, blade, links);
                links.push(self.black(here, blade, chassis, 0));
                chassis = 0;
            }
            // The limiter of this router comes behind the link, unlike everywhere else.
            links.push(between(self.blue, 0, 1, self.groups, here, target.0));
            self.limit(here, chassis, blade, links);
            (here, blade) = (target.0, group);
        }
        if blade != target.2 {
            self.limit(here, chassis, blade, links);
            links.push(self.green(here, chassis, blade, target.2));
            // SimGrid goes on from the first chassis, whichever it was in.
            (chassis, blade) = (0, target.2);
        }
        if chassis != target.1 {
            self.limit(here, chassis, blade, links);
            links.push(self.black(here, blade, chassis, target.1));
        }
        self.limit(target.0, target.1, target.2, links);
        links.push(self.local.down(to));
        self.leaves.limit(to, links);
    }

    /// Group, chassis and blade of a host's router.
    const fn router(&self, host: u32) -> (u32, u32, u32) {
        let router = host / self.nodes;
        let chassis = router / self.blades;
        (chassis / self.chassis, chassis % self.chassis, router % self.blades)
    }

    fn limit(&self, group: u32, chassis: u32, blade: u32, links: &mut Vec<u32>) {
        let router = (group * self.chassis + chassis) * self.blades + blade;
        let hosts = self.groups * self.chassis * self.blades * self.nodes;
        self.leaves.limit(hosts + router, links);
    }

    fn green(&self, group: u32, chassis: u32, from: u32, to: u32) -> u32 {
        let pairs = self.blades * (self.blades - 1) / 2;
        let first = (group * self.chassis + chassis) * pairs;
        between(self.green, first, 1, self.blades, from, to)
    }

    fn black(&self, group: u32, blade: u32, from: u32, to: u32) -> u32 {
        let pairs = self.chassis * (self.chassis - 1) / 2;
        let first = group * pairs * self.blades + blade;
        between(self.black, first, self.blades, self.chassis, from, to)
    }
}
