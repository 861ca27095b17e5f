//! The output port of a packet.

use super::{
    Header, butterfly, dragonfly, grid, hyper_x,
    lanes::{Class, Classes, Lanes},
    slim_fly, tree,
};
use crate::{End, Graph};

/// The rule by which the output port is found.
#[derive(Clone, Debug)]
pub(super) enum Next {
    /// A table by switch and destination host; `climbs` if all ways go up and then down in an order
    /// of the switches.
    Hosts { ports: Vec<u16>, hosts: u32, climbs: bool },
    /// By switch and the destination's switch.
    Switches(Switches),
    /// The formula of a tree.
    Tree(tree::Formula),
    /// The formula of a grid.
    Grid(grid::Formula),
    /// The adaptive routes of a `HyperX`.
    HyperX(hyper_x::Formula),
    /// The formula of a butterfly.
    Butterfly(butterfly::Formula),
}

/// Ways between switches, perhaps by way of somewhere else.
#[derive(Clone, Debug)]
pub(super) struct Switches {
    pub ways: Ways,
    /// Number of switches.
    pub count: u32,
    pub homes: Homes,
    pub via: Via,
}

/// The rule by which the port towards another switch is found.
#[derive(Clone, Debug)]
pub(super) enum Ways {
    /// In a table by switch and target.
    Table(Vec<u16>),
    /// By formulas of a topology whose links all work.
    Dragonfly(dragonfly::Formula),
    SlimFly(Box<slim_fly::Formula>),
    Grid(grid::Formula),
}

/// The switch of each host, and the port there.
#[derive(Clone, Debug)]
pub(super) enum Homes {
    /// By host; without a link an impossible switch.
    Table(Vec<(u32, u16)>),
    /// An equal number of hosts on each switch, in order, at the first ports.
    Even(u32),
}

/// The place that a source may choose for its packet to pass by (Valiant, "A scheme for fast
/// parallel communication", 1982).
#[derive(Clone, Debug)]
pub(super) enum Via {
    /// Nothing.
    None,
    /// A switch: `choice` - 1. Lanes from the first of the two phases on lead to it, those from the
    /// second on to the destination. On lanes below both a packet has not left the shortest way.
    Switch { phases: [u8; 2], among: Among, manner: Manner },
    /// A switch, on one lane. As no lane tells the halves of the way apart, packets go on to the
    /// destination from the first switch that lies on the way from there.
    Meeting { among: Vec<u32>, ends: Ends },
    /// A group of a dragonfly: `choice` - 1.
    Group(dragonfly::Formula),
    /// A switch of a dragonfly: `choice` - 1, on the lanes of [`Lanes::Parts`].
    Router(dragonfly::Formula),
    /// Nothing, but a choice of 1 takes the dimensions of a grid in descending order, on the lanes
    /// from `phase` on.
    Order { phase: u8 },
}

/// The switches that packets may go by.
#[derive(Clone, Debug)]
pub(super) enum Among {
    /// These.
    Listed(Vec<u32>),
    /// Those of a grid between source and destination: [`grid::Formula::between`].
    Between,
}

/// The rules for packets on a grid that go by a switch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// True if a packet may go by the switch of its source or destination; its lanes tell.
    pub any: bool,
    /// True if packets that go by no switch are on the lanes of the second half of a way.
    pub late: bool,
    /// True if a packet ends at the switch of its destination on the way out.
    pub ends: bool,
}

/// The switches behind the ports of all switches.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    first: Vec<u32>,
    switches: Vec<u32>,
}

/// Added to the choice of a packet that takes its shortest way for now.
pub(super) const FOR_NOW: u32 = 1 << 31;

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
            Self::HyperX(formula) => return formula.hop(switch, input, header.destination),
            Self::Butterfly(butterfly) => butterfly.port(switch, header.destination),
            Self::Switches(table) => return table.hop(lanes, switch, input, header),
        };
        (port, lanes.after(switch, input, port))
    }

    /// True if the ways follow from the family of an intact topology, so that all hosts have one.
    pub const fn is_formula(&self) -> bool {
        match self {
            Self::Tree(_) | Self::Grid(_) | Self::HyperX(_) | Self::Butterfly(_) => true,
            Self::Switches(table) => !matches!(table.ways, Ways::Table(_)),
            Self::Hosts { .. } => false,
        }
    }

    /// True if there is a way from a switch to a host.
    pub fn knows(&self, switch: u32, destination: u32) -> bool {
        match self {
            Self::Hosts { ports, hosts, .. } => {
                ports[switch as usize * *hosts as usize + destination as usize] != NOWHERE
            }
            Self::Switches(table) => table.port(switch, destination) != NOWHERE,
            Self::Tree(_) | Self::Grid(_) | Self::HyperX(_) => true,
            Self::Butterfly(butterfly) => butterfly.is_entry(switch),
        }
    }

    /// The number that spreads packets over the ports of a host.
    #[inline]
    pub fn exit_key(&self, header: &Header) -> u32 {
        match self {
            Self::Tree(tree) => tree.key(header),
            _ => header.destination,
        }
    }

    /// The choice that a source makes. `below` draws a number below a bound, once if at all.
    pub fn choose(&self, source: u32, destination: u32, below: impl Fn(u32) -> u32) -> u32 {
        match self {
            Self::Tree(tree) => tree.choices().map_or(0, |choices| below(choices) + 1),
            Self::Switches(table) => table.choose(source, destination, below),
            Self::Hosts { .. } | Self::Grid(_) | Self::HyperX(_) | Self::Butterfly(_) => 0,
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

impl Homes {
    /// The switch of a host, and the port there.
    #[inline]
    pub fn of(&self, host: u32) -> (u32, u16) {
        match self {
            Self::Table(homes) => homes[host as usize],
            Self::Even(each) => (host / each, (host % each) as u16),
        }
    }
}

impl Switches {
    /// The switches with hosts in service.
    pub fn joined(&self) -> Vec<u32> {
        let Homes::Table(homes) = &self.homes else { return (0..self.count).collect() };
        let homes = homes.iter().map(|(switch, _)| *switch);
        let mut switches: Vec<_> = homes.filter(|switch| *switch < self.count).collect();
        switches.sort_unstable();
        switches.dedup();
        switches
    }

    #[inline]
    fn port(&self, switch: u32, destination: u32) -> u16 {
        let (home, port) = self.homes.of(destination);
        if home == switch { port } else { self.toward(switch, home) }
    }

    /// The port on the way to another switch; [`NOWHERE`] at that switch itself and where there is
    /// no way.
    #[inline]
    pub fn toward(&self, switch: u32, target: u32) -> u16 {
        match &self.ways {
            Ways::Table(ports) => ports[self.way(switch, target)],
            Ways::Dragonfly(formula) => formula.toward(switch, target),
            Ways::SlimFly(formula) => formula.toward(switch, target),
            Ways::Grid(formula) => formula.toward(switch, (0, 0), target).0,
        }
    }

    /// The place of the way between two switches in tables.
    #[inline]
    const fn way(&self, from: u32, to: u32) -> usize {
        from as usize * self.count as usize + to as usize
    }

    #[inline]
    fn hop(&self, lanes: &Lanes, switch: u32, input: (u16, u8), header: &Header) -> (u16, u8) {
        let late = matches!(&self.via, Via::Switch { manner: Manner { late: true, .. }, .. });
        let leaves = header.choice != 0 && header.choice & FOR_NOW == 0;
        if (leaves || late)
            && let Some(hop) = self.detour(lanes, switch, input, header)
        {
            return hop;
        }
        let (home, port) = self.homes.of(header.destination);
        if let (Via::Router(formula), Lanes::Parts { classes }) = (&self.via, lanes) {
            return in_parts(formula, classes, switch, input, (header.choice, home, port));
        }
        if home == switch {
            let layers = matches!(lanes, Lanes::Layers { .. } | Lanes::Grid { .. });
            return (port, if layers { 0 } else { lanes.after(switch, input, port) });
        }
        if let (Ways::Grid(grid), Lanes::Grid { .. }) = (&self.ways, lanes) {
            return grid.toward(switch, input, home);
        }
        let port = self.toward(switch, home);
        let lane = match lanes {
            Lanes::Layers { of, .. } if header.choice == 0 => {
                of[self.way(self.homes.of(header.source).0, home)]
            }
            Lanes::Layers { of, half, .. } => half + of[self.way(header.choice - 1, home)],
            Lanes::Globals { classes, late: true, .. }
                if header.choice == 0 && classes.of(switch, input.0) == Class::Host =>
            {
                1
            }
            _ => lanes.after(switch, input, port),
        };
        (port, lane)
    }

    /// The hop of a packet that goes by way of somewhere, unless the choice no longer matters and
    /// the first phase's lanes are left.
    #[inline]
    fn detour(
        &self,
        lanes: &Lanes,
        switch: u32,
        input: (u16, u8),
        header: &Header,
    ) -> Option<(u16, u8)> {
        match (&self.via, lanes) {
            (Via::Switch { phases: [out, phase], .. }, Lanes::Hops { classes, .. }) => {
                let target = header.choice - 1;
                let fresh = classes.of(switch, input.0) == Class::Host || input.1 < *out;
                let so_far = if fresh { *out } else { input.1 + 1 };
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
                let way = self.way(self.homes.of(header.source).0, target);
                (first && switch != target).then(|| (self.toward(switch, target), of[way]))
            }
            (Via::Switch { phases, .. }, Lanes::Grid { .. }) => {
                self.grid_detour(switch, input, *phases, header)
            }
            (Via::Order { phase }, Lanes::Grid { .. }) => {
                self.last_first(switch, input, *phase, header)
            }
            (Via::Meeting { ends, .. }, _) => {
                let (target, home) = (header.choice - 1, self.homes.of(header.destination).0);
                let met = self.is_between(ends, switch, (target, home));
                (!met).then(|| (self.toward(switch, target), 0))
            }
            (Via::Group(formula), _) => {
                let target = header.choice - 1;
                let left = if let Lanes::Globals { classes, progressive, .. } = lanes {
                    classes.globals(switch, input) > u8::from(*progressive)
                } else {
                    // On one lane packets that pass their destination on the way out stay there.
                    let [from, to] =
                        [header.source, header.destination].map(|host| self.homes.of(host).0);
                    let here = formula.group(switch);
                    here != formula.group(from) || input.0 >= formula.globals() || switch == to
                };
                if left || formula.group(switch) == target {
                    return None;
                }
                let port = formula.outward(switch, target, switch);
                Some((port, lanes.after(switch, input, port)))
            }
            _ => None,
        }
    }

    /// True if a packet that takes its shortest way for now may still leave it at a switch.
    pub fn may_leave(&self, lanes: &Lanes, switch: u32, input: (u16, u8), header: &Header) -> bool {
        let at_home = switch == self.homes.of(header.destination).0;
        let gone = match lanes {
            Lanes::Globals { classes, .. } => classes.globals(switch, input) > 0,
            _ => false,
        };
        header.choice & FOR_NOW != 0 && !at_home && !gone
    }

    /// The hop on a grid by way of a switch: dimension order to it on the lanes of the first phase,
    /// and from it on those of the second.
    fn grid_detour(
        &self,
        switch: u32,
        input: (u16, u8),
        [out, phase]: [u8; 2],
        header: &Header,
    ) -> Option<(u16, u8)> {
        let (Ways::Grid(grid), Via::Switch { manner, .. }) = (&self.ways, &self.via) else {
            return None;
        };
        let (target, home) = (header.choice.checked_sub(1), self.homes.of(header.destination).0);
        if let Some(target) = target
            && input.1 < phase
            && switch != target
            && !(manner.ends && switch == home)
        {
            let (port, lane) = grid.toward(switch, begun(input, out), target);
            return Some((port, out + lane));
        }
        if switch == home {
            return None;
        }
        let (port, lane) = grid.toward(switch, begun(input, phase), home);
        Some((port, phase + lane))
    }

    /// The hop on a grid through the dimensions in descending order.
    fn last_first(
        &self,
        switch: u32,
        input: (u16, u8),
        phase: u8,
        header: &Header,
    ) -> Option<(u16, u8)> {
        let Ways::Grid(grid) = &self.ways else { return None };
        let home = self.homes.of(header.destination).0;
        if switch == home {
            return None;
        }
        let (port, lane) = grid.toward_last_first(switch, begun(input, phase), home);
        Some((port, phase + lane))
    }

    /// True if a switch lies on the way from one switch to another: O(length of that way).
    fn is_between(&self, ends: &Ends, switch: u32, (from, to): (u32, u32)) -> bool {
        let mut here = from;
        while here != switch && here != to {
            here = ends.of(here, self.toward(here, to));
        }
        here == switch
    }

    fn choose(&self, source: u32, destination: u32, below: impl Fn(u32) -> u32) -> u32 {
        let [from, to] = [source, destination].map(|host| self.homes.of(host).0);
        match &self.via {
            Via::None => 0,
            Via::Switch { among: Among::Between, manner, .. } => {
                let Ways::Grid(grid) = &self.ways else { return 0 };
                let via = grid.between(from, to, below);
                if manner.any || (via != from && via != to) { via + 1 } else { 0 }
            }
            Via::Switch { among: Among::Listed(among), .. } | Via::Meeting { among, .. } => {
                let chosen = among.get(below(among.len() as u32) as usize).copied();
                chosen.filter(|&via| via != from && via != to).map_or(0, |via| via + 1)
            }
            Via::Order { .. } => below(2),
            Via::Router(formula) => {
                let via = below(self.count);
                let own = formula.group(from);
                let near = own == formula.group(to) || own == formula.group(via);
                if near { 0 } else { via + 1 }
            }
            Via::Group(formula) => {
                let chosen = below(formula.groups());
                let near = chosen == formula.group(from) || chosen == formula.group(to);
                if from == to || near { 0 } else { chosen + 1 }
            }
        }
    }
}

/// The input of a packet on a part of its way whose lanes begin at `phase`, as if these were the
/// first. It begins that part like a packet from a host.
const fn begun(input: (u16, u8), phase: u8) -> (u16, u8) {
    if input.1 < phase { (0, 0) } else { (input.0, input.1 - phase) }
}

/// The hop in a dragonfly on the lanes of [`Lanes::Parts`]: by way of a switch, if there is a
/// choice, to port `port` of switch `home`.
fn in_parts(
    formula: &dragonfly::Formula,
    classes: &Classes,
    switch: u32,
    input: (u16, u8),
    (choice, home, port): (u32, u32, u16),
) -> (u16, u8) {
    let fresh = classes.of(switch, input.0) == Class::Host;
    let part = match fresh {
        true if formula.group(switch) == formula.group(home) => 2,
        true => u8::from(choice == 0),
        false => input.1,
    };
    let part = if part == 0 && switch + 1 == choice { 1 } else { part };
    if part > 0 && switch == home {
        return (port, 0);
    }
    let target = if part == 0 { choice.saturating_sub(1) } else { home };
    let out = formula.toward(switch, target);
    (out, if part == 1 && out >= formula.globals() { 2 } else { part })
}
