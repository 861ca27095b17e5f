//! The deadlock check of route sets.
//!
//! A channel is a lane of a link in one direction. A channel depends on the next one that a packet
//! in it may wait for; routes are free of deadlock if the dependencies have no cycle (Dally and
//! Seitz, 1987; for the deterministic routes here that is also necessary for some traffic and
//! buffer sizes).
//!
//! Most routes answer by how they are made, at no cost:
//!
//! - the stages of a butterfly are passed in their order;
//! - ways that go up and then down in a total order of the switches are free (Schroeder et al.,
//!   1991): trees by formula, whatever decides the way up, and up*/down* tables;
//! - a lane that rises with every link (Günther, 1981), or with every global link of a dragonfly
//!   where a group is crossed by one local link (Kim et al., 2008), leaves no way back; layers are
//!   made without cycles;
//! - adaptive ways in a `HyperX` have a lane that rises with every link as well, or take one
//!   dimension after the other and in each lane 0 before lane 1;
//! - dimension order depends from lower to higher dimensions only, so that a cycle lies in one
//!   line, and all lines of a dimension are alike. Lines without a wrap-around link and complete
//!   lines are free, rings with a dateline as well (Dally and Seitz). On one lane a ring is free up
//!   to four switches: then no two ways of two links follow each other all the way round.
//!
//! The rest are routes on one lane. Their dependencies are found by walking from all switches
//! towards each destination until a switch comes up that this destination has seen:
//! O(destinations * switches) steps. Where that is too much, a sample of the destinations is looked
//! at: a cycle that it shows exists, but there may be others.

use super::{
    Routes, grid,
    lanes::Lanes,
    next::{Next, Switches, Via},
};
use crate::{Graph, Plug};

/// A virtual lane of a link, in the direction that leaves a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The port.
    pub from: Plug,
    /// The lane.
    pub lane: u8,
}

/// The result of the deadlock check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// Dependencies between channels; `None` if the answer follows from how the routes are made.
    pub dependencies: Option<u64>,
    /// Channels that wait for each other in a circle, if there are any.
    pub cycle: Option<Vec<Channel>>,
    /// The destinations that were looked at, if they are not all.
    pub sample: Option<Sample>,
}

/// A part of the destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Number of destinations that were looked at.
    pub destinations: u32,
    /// Number of destinations that there are.
    pub of: u32,
}

/// Steps of the walks of one check: of a table, which has no more entries, and by a formula, whose
/// steps take longer.
const EFFORT: u64 = 1 << 29;
const EFFORT_BY_FORMULA: u64 = 1 << 25;

/// Destinations for which the walks from all switches take a bounded number of steps, evenly
/// spread.
fn sampled(all: &[u32], switches: u32, next: &Next) -> Vec<u32> {
    let effort = if next.is_formula() { EFFORT_BY_FORMULA } else { EFFORT };
    let step = (all.len() as u64 * u64::from(switches)).div_ceil(effort).max(1);
    all.iter().copied().step_by(step as usize).collect()
}

/// Looks for a cycle of waiting in a route set.
pub fn analyse(graph: &Graph, routes: &Routes) -> Analysis {
    let known = |cycle| Analysis { dependencies: None, cycle, sample: None };
    let mut dependencies = Dependencies::new(graph);
    let (looked_at, of) = match (&routes.next, &routes.lanes) {
        (Next::Grid(grid), _) => return known(ring(graph, grid)),
        (
            Next::Tree(_) | Next::HyperX(_) | Next::Butterfly(_) | Next::Hosts { climbs: true, .. },
            _,
        )
        | (
            _,
            Lanes::Hops { .. } | Lanes::Globals { .. } | Lanes::Layers { .. } | Lanes::Grid { .. },
        ) => {
            return known(None);
        }
        (Next::Hosts { ports, hosts, .. }, _) => {
            let all: Vec<u32> = (0..*hosts).collect();
            let (hosts, residents) = (*hosts as usize, residents(graph));
            let destinations = sampled(&all, graph.switches(), &routes.next);
            for &host in &destinations {
                let others = residents.iter().filter(|(_, resident)| *resident != host);
                let starts = others.map(|(switch, _)| *switch);
                let port = |switch| ports[switch as usize * hosts + host as usize];
                dependencies.walk(host, starts, port);
            }
            (destinations.len(), hosts)
        }
        (Next::Switches(table), _) => {
            let populated = table.joined();
            let homes = sampled(&populated, graph.switches(), &routes.next);
            for &home in &homes {
                let starts = populated.iter().copied().filter(|&start| start != home);
                dependencies.walk(home, starts, |switch| table.toward(switch, home));
            }
            dependencies.detours(table, &populated, &homes);
            (homes.len(), populated.len())
        }
    };
    let sample = Sample { destinations: looked_at as u32, of: of as u32 };
    Analysis {
        dependencies: Some(dependencies.count()),
        cycle: dependencies.cycle(),
        sample: (looked_at < of).then_some(sample),
    }
}

/// The first ring of a grid on one lane that is long enough for a cycle.
fn ring(graph: &Graph, grid: &grid::Formula) -> Option<Vec<Channel>> {
    let (port, stride, extent) = grid.open_ring()?;
    let channel = |place| Plug { device: graph.hosts() + place * stride, port };
    Some((0..extent).map(|place| Channel { from: channel(place), lane: 0 }).collect())
}

/// Each switch with two of its hosts: one of them is not the destination.
fn residents(graph: &Graph) -> Vec<(u32, u32)> {
    let mut residents = Vec::new();
    for switch in 0..graph.switches() {
        let near = graph.neighbours(graph.hosts() + switch);
        let hosts = near.map(|(_, end)| end.device).filter(|&device| graph.is_host(device));
        residents.extend(hosts.take(2).map(|host| (switch, host)));
    }
    residents
}

const NEVER: u32 = u32::MAX;

/// The dependencies of channels on one lane while they are collected. A channel has the number of
/// its port among those of all devices.
struct Dependencies<'a> {
    graph: &'a Graph,
    /// First word of each channel's set in `sets`; channels that depend on nothing have none.
    first: Vec<u32>,
    /// Sets of ports at the far switch.
    sets: Vec<u64>,
    /// Tells of each channel if some way takes it.
    used: Vec<bool>,
    /// The last destination that each switch was seen for.
    seen: Vec<u32>,
}

impl<'a> Dependencies<'a> {
    fn new(graph: &'a Graph) -> Self {
        let channels = graph.all_ports() as usize;
        Self {
            graph,
            first: vec![NEVER; channels],
            sets: Vec::new(),
            used: vec![false; channels],
            seen: vec![NEVER; graph.switches() as usize],
        }
    }

    /// Follows packets from each start to a destination, or to a switch that this destination has
    /// seen.
    fn walk(
        &mut self,
        destination: u32,
        starts: impl Iterator<Item = u32>,
        port: impl Fn(u32) -> u16,
    ) {
        for start in starts {
            let (mut here, mut from) = (start, None);
            while let Some((channel, port, there)) = self.channel(here, port(here)) {
                self.used[channel as usize] = true;
                if let Some(from) = from {
                    self.depend(from, here, port);
                }
                if std::mem::replace(&mut self.seen[here as usize], destination) == destination {
                    break;
                }
                (here, from) = (there, Some(channel));
            }
        }
    }

    /// The channel behind a port with the switch where it ends; none towards hosts.
    fn channel(&self, switch: u32, port: u16) -> Option<(u32, u16, u32)> {
        let device = self.graph.hosts() + switch;
        let end = self.graph.peer(device, port).filter(|end| !self.graph.is_host(end.device))?;
        let channel = self.graph.first_port(device) + u32::from(port);
        Some((channel, port, end.device - self.graph.hosts()))
    }

    /// Records that packets go on from a channel that ends at a switch to a port there.
    fn depend(&mut self, from: u32, switch: u32, port: u16) {
        let first = &mut self.first[from as usize];
        if *first == NEVER {
            *first = self.sets.len() as u32;
            let words = self.graph.ports(self.graph.hosts() + switch).div_ceil(64);
            self.sets.resize(self.sets.len() + words as usize, 0);
        }
        self.sets[*first as usize + usize::from(port / 64)] |= 1 << (port % 64);
    }

    /// The turns of packets from the way to where they go by to the way on from there, which leads
    /// to one of some switches.
    fn detours(&mut self, table: &Switches, populated: &[u32], homes: &[u32]) {
        match &table.via {
            Via::None | Via::Switch { .. } | Via::Order { .. } | Via::Router(_) => {}
            Via::Meeting { .. } => {
                let mut joined = vec![false; self.seen.len()];
                for &switch in populated {
                    joined[switch as usize] = true;
                }
                for here in 0..self.graph.switches() {
                    self.meetings(table, here, joined[here as usize]);
                }
            }
            Via::Group(formula) => {
                for &start in populated {
                    let own = formula.group(start);
                    for group in (0..formula.groups()).filter(|&group| group != own) {
                        let port = |switch| formula.outward(switch, group, switch);
                        self.leave(start, port, formula.globals());
                    }
                }
                for &here in populated {
                    let own = formula.group(here);
                    let outside = homes.iter().filter(|&&there| formula.group(there) != own);
                    let mut ways: Vec<u16> =
                        outside.map(|&there| table.toward(here, there)).collect();
                    ways.sort_unstable();
                    ways.dedup();
                    self.turns(here, |port| port >= formula.globals(), &ways);
                }
            }
        }
    }

    /// The turns at a switch where the two halves of a way can meet: one that packets go by, or any
    /// other one that is on ways. Nobody goes back to the switch he came from.
    fn meetings(&mut self, table: &Switches, here: u32, joined: bool) {
        let graph = self.graph;
        let device = graph.hosts() + here;
        let near = || graph.neighbours(device).filter(|(_, end)| !graph.is_host(end.device));
        let first = graph.first_port(device);
        for (_, before) in near() {
            let from = graph.first_port(before.device) + u32::from(before.port);
            let comes = !joined || table.toward(before.device - graph.hosts(), here) == before.port;
            for (port, after) in near() {
                let goes = self.used[(first + u32::from(port)) as usize];
                if comes && goes && self.used[from as usize] && before.device != after.device {
                    self.depend(from, here, port);
                }
            }
        }
    }

    /// The way of packets to another group: over a local link, if need be, to a global one.
    fn leave(&mut self, start: u32, port: impl Fn(u32) -> u16, globals: u16) {
        let Some((channel, first, gateway)) = self.channel(start, port(start)) else { return };
        self.used[channel as usize] = true;
        if first < globals
            && let Some((global, port, _)) = self.channel(gateway, port(gateway))
        {
            self.used[global as usize] = true;
            self.depend(channel, gateway, port);
        }
    }

    /// The turns at a switch from the channels in use that come in by some ports to ways on.
    fn turns(&mut self, here: u32, comes: impl Fn(u16) -> bool, ways: &[u16]) {
        let graph = self.graph;
        for (_, end) in graph.neighbours(graph.hosts() + here).filter(|(port, _)| comes(*port)) {
            let from = graph.first_port(end.device) + u32::from(end.port);
            if self.used[from as usize] {
                for &port in ways {
                    self.depend(from, here, port);
                }
            }
        }
    }

    fn count(&self) -> u64 {
        self.sets.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The next channel that a channel depends on, from a port of the far switch on, and the port
    /// after it.
    fn after(&self, channel: u32, start: u32) -> Option<(u32, u32)> {
        let first = self.first[channel as usize];
        if first == NEVER {
            return None;
        }
        let from = self.name(channel);
        let far = self.graph.peer(from.device, from.port)?.device;
        let words = self.graph.ports(far).div_ceil(64);
        let mut mask = u64::MAX << (start % 64);
        for word in start / 64..words {
            let bits = self.sets[(first + word) as usize] & mask;
            if bits != 0 {
                let port = word * 64 + bits.trailing_zeros();
                return Some((self.graph.first_port(far) + port, port + 1));
            }
            mask = u64::MAX;
        }
        None
    }

    fn name(&self, channel: u32) -> Plug {
        let (mut low, mut high) = (0, self.graph.devices());
        while high - low > 1 {
            let middle = u32::midpoint(low, high);
            if self.graph.first_port(middle) <= channel { low = middle } else { high = middle }
        }
        Plug { device: low, port: (channel - self.graph.first_port(low)) as u16 }
    }

    fn cycle(&self) -> Option<Vec<Channel>> {
        let cycle = cycle(self.used.len(), |channel, start| self.after(channel, start))?;
        let channel = |channel| Channel { from: self.name(channel), lane: 0 };
        Some(cycle.into_iter().map(channel).collect())
    }
}

/// A cycle among channels, by depth-first search. `after` gives what a channel depends on from some
/// place on, and the place to go on from.
pub(super) fn cycle(
    channels: usize,
    after: impl Fn(u32, u32) -> Option<(u32, u32)>,
) -> Option<Vec<u32>> {
    const NEW: u8 = 0;
    const ON_PATH: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; channels];
    for root in 0..channels as u32 {
        if state[root as usize] != NEW {
            continue;
        }
        state[root as usize] = ON_PATH;
        let mut path = vec![(root, 0)];
        while let Some((channel, start)) = path.last_mut() {
            let Some((next, from)) = after(*channel, *start) else {
                state[*channel as usize] = DONE;
                path.pop();
                continue;
            };
            *start = from;
            match state[next as usize] {
                NEW => {
                    state[next as usize] = ON_PATH;
                    path.push((next, 0));
                }
                ON_PATH => {
                    let cycle = path.iter().map(|(channel, _)| *channel);
                    return Some(cycle.skip_while(|channel| *channel != next).collect());
                }
                _ => {}
            }
        }
    }
    None
}
