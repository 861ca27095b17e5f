//! The output port of a packet.

use super::{
    Header, grid,
    lanes::{Class, Lanes},
    tree,
};
use crate::{End, Graph};

/// How the output port is found.
#[derive(Clone, Debug)]
pub(super) enum Next {
    /// A table by switch and destination host; `climbs` if all ways go up and then down in an order
    /// of the switches.
    Hosts { ports: Vec<u16>, hosts: u32, climbs: bool },
    /// A table by switch and the destination's switch.
    Switches(Switches),
    /// The formula of a tree.
    Tree(tree::Formula),
    /// The formula of a grid.
    Grid(grid::Formula),
}

/// Ports by switch and the destination's switch, perhaps by way of somewhere else.
#[derive(Clone, Debug)]
pub(super) struct Switches {
    pub ports: Vec<u16>,
    pub count: u32,
    /// Switch of each host, and its port there.
    pub homes: Vec<(u32, u16)>,
    pub via: Via,
}

/// What a source may choose to go by (Valiant, "A scheme for fast parallel communication", 1982).
#[derive(Clone, Debug)]
pub(super) enum Via {
    /// Nothing.
    None,
    /// A switch: `choice` - 1. Lanes below `phase` lead to it, those from `phase` on to the
    /// destination.
    Switch { phase: u8, among: Vec<u32> },
    /// The same on one lane. As no lane tells the halves of the way apart, packets go on to the
    /// destination from the first switch that lies on the way from there.
    Meeting { among: Vec<u32>, ends: Ends },
    /// A group of a dragonfly: `choice` - 1; the table leads from each switch to each group. Global
    /// links are at the ports from `globals` on.
    Group { ports: Vec<u16>, groups: u32, routers: u32, globals: u16 },
}

/// The switches behind the ports of all switches.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    first: Vec<u32>,
    switches: Vec<u32>,
}

/// No way from here.
pub(crate) const NOWHERE: u16 = u16::MAX;

impl Next {
    /// The output port, and the lane behind it within the service level.
    #[inline]
    pub fn hop(&self, lanes: &Lanes, switch: u32, input: (u16, u8), header: &Header) -> (u16, u8) {
        let port = match self {
            Self::Hosts { ports, hosts, .. } => {
                ports[switch as usize * *hosts as usize + header.destination as usize]
            }
            Self::Tree(tree) => tree.port(switch, header),
            Self::Grid(grid) => return grid.hop(switch, input, header.destination),
            Self::Switches(table) => return table.hop(lanes, switch, input, header),
        };
        (port, lanes.after(switch, input, port))
    }

    /// Whether a table has a way from a switch to a host.
    pub fn knows(&self, switch: u32, destination: u32) -> bool {
        match self {
            Self::Hosts { ports, hosts, .. } => {
                ports[switch as usize * *hosts as usize + destination as usize] != NOWHERE
            }
            Self::Switches(table) => table.port(switch, destination) != NOWHERE,
            Self::Tree(_) | Self::Grid(_) => true,
        }
    }

    /// What spreads packets over the ports of a host.
    #[inline]
    pub fn exit_key(&self, header: &Header) -> u32 {
        match self {
            Self::Tree(tree) => tree.key(header),
            _ => header.destination,
        }
    }

    /// What the source chooses.
    pub fn choose(&self, source: u32, destination: u32, random: u64) -> u32 {
        let below = |bound: u32| ((u128::from(random) * u128::from(bound)) >> 64) as u32;
        match self {
            Self::Tree(tree) => tree.choices().map_or(0, |choices| below(choices) + 1),
            Self::Switches(table) => table.choose(source, destination, below),
            _ => 0,
        }
    }
}

impl Ends {
    pub fn new(graph: &Graph) -> Self {
        let (mut first, mut switches) = (Vec::new(), Vec::new());
        for switch in graph.hosts()..graph.devices() {
            first.push(switches.len() as u32);
            let far = |end: &Option<End>| end.and_then(|end| end.device.checked_sub(graph.hosts()));
            switches.extend(graph.ends(switch).iter().map(|end| far(end).unwrap_or(u32::MAX)));
        }
        Self { first, switches }
    }

    fn of(&self, switch: u32, port: u16) -> u32 {
        self.switches[self.first[switch as usize] as usize + usize::from(port)]
    }
}

impl Switches {
    /// The switches with hosts in service.
    pub fn joined(&self) -> Vec<u32> {
        let homes = self.homes.iter().map(|(switch, _)| *switch);
        let mut switches: Vec<_> = homes.filter(|switch| *switch < self.count).collect();
        switches.sort_unstable();
        switches.dedup();
        switches
    }

    #[inline]
    fn port(&self, switch: u32, destination: u32) -> u16 {
        let (home, port) = self.homes[destination as usize];
        if home == switch { port } else { self.toward(switch, home) }
    }

    #[inline]
    pub fn toward(&self, switch: u32, target: u32) -> u16 {
        self.ports[self.way(switch, target)]
    }

    /// The place of the way between two switches in tables.
    #[inline]
    const fn way(&self, from: u32, to: u32) -> usize {
        from as usize * self.count as usize + to as usize
    }

    #[inline]
    fn hop(&self, lanes: &Lanes, switch: u32, input: (u16, u8), header: &Header) -> (u16, u8) {
        if header.choice != 0
            && let Some(hop) = self.detour(lanes, switch, input, header)
        {
            return hop;
        }
        let port = self.port(switch, header.destination);
        let lane = match (lanes, self.homes[header.destination as usize].0) {
            (Lanes::Layers { .. }, home) if home == switch => 0,
            (Lanes::Layers { of, .. }, home) if header.choice == 0 => {
                of[self.way(self.homes[header.source as usize].0, home)]
            }
            (Lanes::Layers { of, half, .. }, home) => half + of[self.way(header.choice - 1, home)],
            _ => lanes.after(switch, input, port),
        };
        (port, lane)
    }

    /// The hop of a packet that goes by way of somewhere, unless the choice no longer matters and
    /// the first phase's lanes are left. Towards the destination the lanes of the second phase
    /// begin at `phase`.
    #[inline]
    fn detour(
        &self,
        lanes: &Lanes,
        switch: u32,
        input: (u16, u8),
        header: &Header,
    ) -> Option<(u16, u8)> {
        match (&self.via, lanes) {
            (Via::Switch { phase, .. }, Lanes::Hops { classes, .. }) => {
                let target = header.choice - 1;
                let fresh = classes.of(switch, input.0) == Class::Host;
                let so_far = if fresh { 0 } else { input.1 + 1 };
                if !fresh && input.1 >= *phase {
                    return None;
                }
                if switch != target {
                    return Some((self.toward(switch, target), so_far));
                }
                let port = self.port(switch, header.destination);
                let host = classes.of(switch, port) == Class::Host;
                Some((port, if host { 0 } else { *phase }))
            }
            (Via::Switch { .. }, Lanes::Layers { of, half, .. }) => {
                let target = header.choice - 1;
                let first = input.1 < *half;
                let way = self.way(self.homes[header.source as usize].0, target);
                (first && switch != target).then(|| (self.toward(switch, target), of[way]))
            }
            (Via::Meeting { ends, .. }, _) => {
                let (target, home) = (header.choice - 1, self.homes[header.destination as usize].0);
                let met = self.is_between(ends, switch, (target, home));
                (!met).then(|| (self.toward(switch, target), 0))
            }
            (Via::Group { ports, groups, routers, globals }, _) => {
                let target = header.choice - 1;
                let left = if let Lanes::Globals { classes, .. } = lanes {
                    classes.globals(switch, input) > 0
                } else {
                    // On one lane packets that pass their destination on the way out stay there.
                    let [from, to] =
                        [header.source, header.destination].map(|host| self.homes[host as usize].0);
                    switch / routers != from / routers || input.0 >= *globals || switch == to
                };
                if left || switch / routers == target {
                    return None;
                }
                let port = ports[switch as usize * *groups as usize + target as usize];
                Some((port, 0))
            }
            _ => None,
        }
    }

    /// Whether a switch lies on the way from one switch to another: O(length of that way).
    fn is_between(&self, ends: &Ends, switch: u32, (from, to): (u32, u32)) -> bool {
        let mut here = from;
        while here != switch && here != to {
            here = ends.of(here, self.toward(here, to));
        }
        here == switch
    }

    fn choose(&self, source: u32, destination: u32, below: impl Fn(u32) -> u32) -> u32 {
        let [from, to] = [source, destination].map(|host| self.homes[host as usize].0);
        match &self.via {
            Via::None => 0,
            Via::Switch { among, .. } | Via::Meeting { among, .. } => {
                let chosen = among.get(below(among.len() as u32) as usize).copied();
                chosen.filter(|&via| via != from && via != to).map_or(0, |via| via + 1)
            }
            Via::Group { groups, routers, .. } => {
                let chosen = below(*groups);
                let near = chosen == from / routers || chosen == to / routers;
                if from == to || near { 0 } else { chosen + 1 }
            }
        }
    }
}
