//! Whether a route set can deadlock.
//!
//! A channel is a lane of a link in one direction. A channel depends on the next one that a packet in it may
//! wait for; routes are free of deadlock if the dependencies have no cycle (Dally and Seitz, 1987; for the
//! deterministic routes here that is also necessary for some traffic and buffer sizes).
//!
//! Dependencies are found by walking from all switches towards each destination until a channel comes up that
//! this destination has seen: O(destinations * (switches + channels in use towards one)) steps. Where only
//! the destination's switch matters, switches take the place of hosts. Ways up and down a tree that depend on
//! the source are free by their order of levels and are not walked.

use super::{Header, Routes, next::Next};
use crate::{Graph, Plug};

/// A virtual lane of a link, in the direction that leaves a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The port.
    pub from: Plug,
    /// The lane.
    pub lane: u8,
}

/// What the analysis of a route set found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// Channels between switches that some way uses; 0 if freedom follows from the tree alone.
    pub channels: u64,
    /// Dependencies between them.
    pub dependencies: u64,
    /// Channels that wait for each other in a circle, if there are any.
    pub cycle: Option<Vec<Channel>>,
}

/// The channel dependency graph while it is built.
struct Dependencies<'a> {
    graph: &'a Graph,
    routes: &'a Routes,
    lanes: u32,
    /// First word of each channel's set in `sets`.
    first: Vec<u32>,
    /// Sets of (port, lane) at the far switch.
    sets: Vec<u64>,
    /// The last destination that each channel was seen for.
    seen: Vec<u32>,
    used: Vec<bool>,
}

const NEVER: u32 = u32::MAX;

/// Looks for a cycle of waiting in a route set.
pub fn analyse(graph: &Graph, routes: &Routes) -> Analysis {
    if routes.next.climbs_freely() {
        return Analysis { channels: 0, dependencies: 0, cycle: None };
    }
    let mut dependencies = Dependencies::new(graph, routes);
    let residents = residents(graph);
    let detours = dependencies.detours(&residents);
    let mut done = vec![false; graph.devices() as usize];
    for destination in 0..graph.hosts() {
        if routes.next.by_switch() {
            let home =
                graph.neighbours(destination).next().map_or(destination, |(_, end)| end.device);
            if std::mem::replace(&mut done[home as usize], true) {
                continue;
            }
        }
        let ways = residents.iter().filter(|(_, source, _)| *source != destination);
        for &(switch, source, port) in ways {
            let header = Header { source, destination, level: 0, choice: 0 };
            dependencies.walk(switch, (port, 0), None, &header);
        }
        for &(channel, choice) in &detours {
            let header = Header { source: destination, destination, level: 0, choice };
            let (switch, input) = dependencies.arrival(channel);
            dependencies.walk(switch, input, Some(channel), &header);
        }
    }
    let cycle = dependencies.cycle();
    Analysis {
        channels: dependencies.used.iter().filter(|used| **used).count() as u64,
        dependencies: dependencies.sets.iter().map(|word| u64::from(word.count_ones())).sum(),
        cycle,
    }
}

/// Two hosts of each switch and their ports: one of them is not the destination.
fn residents(graph: &Graph) -> Vec<(u32, u32, u16)> {
    let mut residents = Vec::new();
    for switch in graph.hosts()..graph.devices() {
        let hosts = graph.neighbours(switch).filter(|(_, end)| graph.is_host(end.device));
        residents.extend(hosts.take(2).map(|(port, end)| (switch, end.device, port)));
    }
    residents
}

impl<'a> Dependencies<'a> {
    fn new(graph: &'a Graph, routes: &'a Routes) -> Self {
        let lanes = u32::from(routes.lanes_per_level());
        let mut first = Vec::new();
        let mut words = 0;
        for device in 0..graph.devices() {
            for end in graph.ends(device) {
                for _ in 0..lanes {
                    first.push(words);
                    let far =
                        end.filter(|end| !graph.is_host(end.device) && !graph.is_host(device));
                    words += far.map_or(0, |end| (graph.ports(end.device) * lanes).div_ceil(64));
                }
            }
        }
        let channels = first.len();
        Self {
            graph,
            routes,
            lanes,
            first,
            sets: vec![0; words as usize],
            seen: vec![NEVER; channels],
            used: vec![false; channels],
        }
    }

    fn channel(&self, device: u32, port: u16, lane: u8) -> u32 {
        (self.graph.first_port(device) + u32::from(port)) * self.lanes + u32::from(lane)
    }

    /// The switch, port and lane at which a channel ends.
    fn arrival(&self, channel: u32) -> (u32, (u16, u8)) {
        let Channel { from, lane } = self.name(channel);
        let end = self.graph.peer(from.device, from.port);
        end.map_or((from.device, (from.port, lane)), |end| (end.device, (end.port, lane)))
    }

    fn name(&self, channel: u32) -> Channel {
        let (port, lane) = (channel / self.lanes, channel % self.lanes);
        let mut low = 0;
        let mut high = self.graph.devices();
        while high - low > 1 {
            let middle = u32::midpoint(low, high);
            if self.graph.first_port(middle) <= port { low = middle } else { high = middle }
        }
        let port = (port - self.graph.first_port(low)) as u16;
        Channel { from: Plug { device: low, port }, lane: lane as u8 }
    }

    /// Follows a packet from a switch until it arrives or is on a way that its destination has seen.
    fn walk(&mut self, switch: u32, input: (u16, u8), from: Option<u32>, header: &Header) {
        let (mut switch, mut input, mut from) = (switch, input, from);
        loop {
            let hop = self.routes.hop(switch, input.0, input.1, header);
            let Some(end) = self.graph.peer(switch, hop.port) else { return };
            if self.graph.is_host(end.device) {
                return;
            }
            let next = self.depend(switch, (hop.port, hop.lane), from);
            if self.seen[next as usize] == header.destination {
                return;
            }
            self.seen[next as usize] = header.destination;
            (switch, input, from) = (end.device, (end.port, hop.lane), Some(next));
        }
    }

    /// Records that a packet goes on to a channel; returns that channel.
    fn depend(&mut self, switch: u32, (port, lane): (u16, u8), from: Option<u32>) -> u32 {
        let next = self.channel(switch, port, lane);
        self.used[next as usize] = true;
        if let Some(from) = from {
            let bit = u32::from(port) * self.lanes + u32::from(lane);
            self.sets[(self.first[from as usize] + bit / 64) as usize] |= 1 << (bit % 64);
        }
        next
    }

    /// Walks to every place that sources may choose to go by; returns the channels by which packets come there
    /// and the choice with which they go on.
    fn detours(&mut self, residents: &[(u32, u32, u16)]) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let mut known = vec![false; self.seen.len()];
        for choice in self.routes.next.detours() {
            self.seen.fill(NEVER);
            for &(switch, source, port) in residents {
                let header = Header { source, destination: source, level: 0, choice };
                let (mut switch, mut input, mut from) = (switch, (port, 0), None);
                while self.routes.next.leads_away(
                    &self.routes.lanes,
                    switch - self.graph.hosts(),
                    input,
                    choice,
                ) {
                    let hop = self.routes.hop(switch, input.0, input.1, &header);
                    let Some(end) = self.graph.peer(switch, hop.port) else { break };
                    let next = self.depend(switch, (hop.port, hop.lane), from);
                    (switch, input, from) = (end.device, (end.port, hop.lane), Some(next));
                    if std::mem::replace(&mut self.seen[next as usize], choice) == choice {
                        from = None;
                        break;
                    }
                }
                if let Some(channel) = from
                    && !std::mem::replace(&mut known[channel as usize], true)
                {
                    found.push((channel, choice));
                }
            }
        }
        self.seen.fill(NEVER);
        found
    }

    /// The channels that a channel depends on.
    fn after(&self, channel: u32, start: u32) -> Option<(u32, u32)> {
        let (switch, _) = self.arrival(channel);
        let first = self.first[channel as usize];
        let end = self.first.get(channel as usize + 1).copied().unwrap_or(self.sets.len() as u32);
        let mut word = start / 64;
        let mut mask = u64::MAX << (start % 64);
        while first + word < end {
            let bits = self.sets[(first + word) as usize] & mask;
            if bits != 0 {
                let bit = word * 64 + bits.trailing_zeros();
                let next =
                    self.channel(switch, (bit / self.lanes) as u16, (bit % self.lanes) as u8);
                return Some((next, bit + 1));
            }
            (word, mask) = (word + 1, u64::MAX);
        }
        None
    }

    /// A cycle, by depth-first search.
    fn cycle(&self) -> Option<Vec<Channel>> {
        let mut state = vec![0_u8; self.seen.len()];
        for root in (0..state.len() as u32).filter(|&root| self.used[root as usize]) {
            if state[root as usize] != 0 {
                continue;
            }
            state[root as usize] = 1;
            let mut path = vec![(root, 0)];
            while let Some((channel, start)) = path.last_mut() {
                let Some((next, from)) = self.after(*channel, *start) else {
                    state[*channel as usize] = 2;
                    path.pop();
                    continue;
                };
                *start = from;
                match state[next as usize] {
                    0 => {
                        state[next as usize] = 1;
                        path.push((next, 0));
                    }
                    1 => {
                        let cycle = path.iter().skip_while(|(channel, _)| *channel != next);
                        return Some(cycle.map(|(channel, _)| self.name(*channel)).collect());
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

impl Next {
    /// Whether packets go up a tree by something else than their destination.
    fn climbs_freely(&self) -> bool {
        matches!(self, Self::Tree(tree) if tree.is_free())
    }

    /// Whether only the destination's switch matters.
    const fn by_switch(&self) -> bool {
        matches!(self, Self::Switches(_) | Self::Grid(_))
    }
}
