//! Figures of a topology: counts, distances, bisection.

use crate::{
    Grid, Kind, Shape, SlimFly, Topology, Tree,
    bisection::{Bisection, bisection},
    route::Search,
};

/// Figures of a topology. Hops are links from host to host: 2 through one switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// Number of hosts.
    pub hosts: u32,
    /// Number of hosts that are out of service. Distances are those of the others.
    pub hosts_out: u32,
    /// Number of switches.
    pub switches: u32,
    /// Working links between hosts and switches.
    pub host_links: u32,
    /// Working links between switches.
    pub switch_links: u32,
    /// Most working ports of a switch.
    pub ports: u32,
    /// Most hops between two hosts; `None` if some pair is not joined.
    pub diameter: Option<u32>,
    /// Mean hops between two different hosts that are joined.
    pub mean_hops: f64,
    /// True if distances were measured from a sample of the switches only, so that the diameter is
    /// a lower bound.
    pub sampled: bool,
    /// Links cut by a division into halves.
    pub bisection: Bisection,
}

/// Links that the searches for distances may look at: from all switches, and from a sample.
const EFFORT: u64 = 1 << 30;
const EFFORT_OF_SAMPLE: u64 = 1 << 27;

impl Topology {
    /// The figures. Distances come from a breadth-first search per switch with hosts; where that is
    /// too much, from the closed form of the family or else from a sample of switches.
    pub fn metrics(&self) -> Metrics {
        let graph = &self.graph;
        let working = || graph.links().iter().filter(|link| link.up);
        let to_host = |link: &&crate::Link| link.ends.iter().any(|plug| graph.is_host(plug.device));
        let host_links = working().filter(to_host).count() as u32;
        let switch_links = working().count() as u32 - host_links;
        let ports = (graph.hosts()..graph.devices()).map(|s| graph.neighbours(s).count() as u32);
        let (diameter, mean_hops, sampled) = self.distances(switch_links);
        Metrics {
            hosts: graph.hosts(),
            hosts_out: graph.hosts_out().len() as u32,
            switches: graph.switches(),
            host_links,
            switch_links,
            ports: ports.max().unwrap_or(0),
            diameter,
            mean_hops,
            sampled,
            bisection: bisection(self),
        }
    }

    /// Diameter, mean and whether they come from a sample.
    fn distances(&self, switch_links: u32) -> (Option<u32>, f64, bool) {
        let sources = self.attachments();
        let effort = sources.len() as u64 * u64::from(2 * switch_links + 1);
        if effort <= EFFORT {
            return self.search(&sources, 1);
        }
        if let Some((diameter, mean)) = closed_form(&self.shape).filter(|_| self.is_intact()) {
            return (Some(diameter), mean, false);
        }
        self.search(&sources, effort.div_ceil(EFFORT_OF_SAMPLE) as usize)
    }

    /// The sets of switches that hosts in service are linked to, each with its number of hosts.
    fn attachments(&self) -> Vec<(Vec<u32>, u64)> {
        let graph = &self.graph;
        let switches = |host| {
            let ends = graph.neighbours(host);
            let mut switches: Vec<_> = ends.map(|(_, end)| end.device - graph.hosts()).collect();
            switches.sort_unstable();
            switches.dedup();
            switches
        };
        let out = graph.hosts_out();
        let in_service = (0..graph.hosts()).filter(|host| out.binary_search(host).is_err());
        let mut sets: Vec<_> = in_service.map(switches).collect();
        sets.sort_unstable();
        let mut attachments: Vec<(Vec<u32>, u64)> = Vec::new();
        for set in sets {
            match attachments.last_mut().filter(|(last, _)| *last == set) {
                Some((_, count)) => *count += 1,
                None => attachments.push((set, 1)),
            }
        }
        attachments
    }

    fn search(&self, attachments: &[(Vec<u32>, u64)], step: usize) -> (Option<u32>, f64, bool) {
        let mut search = Search::minimal(&self.graph);
        let (mut longest, mut sum, mut pairs, mut joined) = (0, 0_u64, 0_u64, true);
        for (from, count) in attachments.iter().step_by(step) {
            search.run(from);
            for (to, hosts) in attachments {
                let others = if to == from { hosts - 1 } else { *hosts };
                let nearest = to.iter().filter_map(|&switch| search.distance(switch)).min();
                match nearest {
                    _ if others == 0 => {}
                    None => joined = false,
                    Some(links) => {
                        longest = longest.max(links + 2);
                        pairs += count * others;
                        sum += count * others * u64::from(links + 2);
                    }
                }
            }
        }
        let mean = if pairs == 0 { 0.0 } else { sum as f64 / pairs as f64 };
        (joined.then_some(longest), mean, step > 1)
    }
}

/// Diameter and mean hops between different hosts of an intact topology, if its family has a closed
/// form.
pub(crate) fn closed_form(shape: &Shape) -> Option<(u32, f64)> {
    match shape {
        Shape::Grid(grid) => Some(of_grid(grid)),
        Shape::Tree(tree) => Some(of_tree(tree)),
        Shape::SlimFly(slim_fly) => Some(of_slim_fly(slim_fly)),
        Shape::Butterfly(_) | Shape::Dragonfly(_) | Shape::Rails(_) | Shape::Irregular => None,
    }
}

/// Dally and Towles, 2004, section 5.2, for pairs that may be equal; with the hosts' links, and for
/// different hosts.
fn of_grid(grid: &Grid) -> (u32, f64) {
    let (mut diameter, mut mean) = (2, 0.0);
    for (dimension, &extent) in grid.extents.iter().enumerate() {
        let k = f64::from(extent);
        let (most, average) = match grid.kind {
            Kind::HyperX => (u32::from(extent > 1), (k - 1.0) / k),
            _ if !grid.wraps(dimension) => (extent - 1, (k * k - 1.0) / (3.0 * k)),
            _ if extent % 2 == 0 => (extent / 2, k / 4.0),
            _ => (extent / 2, (k * k - 1.0) / (4.0 * k)),
        };
        diameter += most;
        mean += average;
    }
    let hosts = f64::from(grid.switches()) * f64::from(grid.hosts);
    (diameter, if hosts > 1.0 { 2.0 + mean * hosts / (hosts - 1.0) } else { 0.0 })
}

/// Two hosts whose nearest common ancestor is on a level are twice that level apart.
fn of_tree(tree: &Tree) -> (u32, f64) {
    let (mut below, mut diameter, mut sum) = (1.0, 0, 0.0);
    for (level, &children) in (1..).zip(&tree.children) {
        if children > 1 {
            let all = below * f64::from(children);
            sum += 2.0 * f64::from(level) * (all - below);
            (below, diameter) = (all, 2 * level);
        }
    }
    (diameter, if below > 1.0 { sum / (below - 1.0) } else { 0.0 })
}

/// Every switch has `radix` neighbours, and two links to all others (Besta and Hoefler, 2014).
fn of_slim_fly(slim_fly: &SlimFly) -> (u32, f64) {
    let [switches, hosts] = [slim_fly.switches(), slim_fly.hosts].map(f64::from);
    let near = f64::from(SlimFly::radix(slim_fly.q));
    let sum = 2.0 * (hosts - 1.0) + hosts * (3.0 * near + 4.0 * (switches - 1.0 - near));
    (4, sum / (switches * hosts - 1.0))
}
