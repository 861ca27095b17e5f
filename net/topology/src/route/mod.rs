//! The routes of packets.
//!
//! A route set answers at every switch, from what the packet carries, with an output port and a
//! virtual lane. Ports come from forwarding tables or from a formula of the topology's family,
//! where a table would be large; lanes from the packet's lane and its input and output port.
//!
//! Service levels above 0 use the same routes on lanes of their own: with n lanes per level, level
//! l has lanes l*n to l*n+n-1.

mod build;
mod butterfly;
mod candidates;
mod deadlock;
mod dragonfly;
mod grid;
mod hyper_x;
mod lanes;
mod layers;
mod load;
mod next;
mod options;
mod search;
mod slim_fly;
mod table;
mod tree;

#[cfg(test)]
pub(crate) use build::by_formula_alone;
pub use build::{ALGORITHMS, Algorithm, Routing};
pub use candidates::{Candidate, Candidates};
pub use deadlock::{Analysis, Channel, Sample, analyse};
pub use grid::{Bubble, Dateline};
pub use load::{Alternatives, Bias, Shared, Weights};

use std::cell::Cell;

use crate::Graph;

pub(crate) use next::NOWHERE;
pub(crate) use search::Search;

use self::{lanes::Lanes, next::Next};

/// An output port and the virtual lane there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// Output port.
    pub port: u16,
    /// Virtual lane on the link behind it.
    pub lane: u8,
}

/// The fields of a packet that its routing needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Header {
    /// Host that sends it.
    pub source: u32,
    /// Host that receives it.
    pub destination: u32,
    /// Service level.
    pub level: u8,
    /// The choice made at the source; 0 is the route of the table.
    pub choice: u32,
}

/// A forwarding table by switch and host, switch by switch.
pub(crate) struct Table {
    pub ports: Vec<u16>,
    pub hosts: u32,
}

/// A route set of a graph.
#[derive(Clone, Debug)]
pub struct Routes {
    hosts: u32,
    next: Next,
    lanes: Lanes,
    exits: Option<Exits>,
    levels: u8,
    /// The rule by which load decides about detours, if it does.
    bias: Option<Bias>,
    /// The queues that switches tell each other of, if they do.
    shared: Option<Shared>,
}

/// The exits of hosts that have several ports: the first of each host in a list of working ports
/// and switches.
#[derive(Clone, Debug)]
struct Exits {
    first: Vec<u32>,
    ports: Vec<(u16, u32)>,
}

impl Routes {
    fn new(graph: &Graph, next: Next, lanes: Lanes) -> Self {
        let hosts = graph.hosts();
        let single = (0..hosts).all(|host| graph.ports(host) == 1);
        let exits = (!single).then(|| {
            let (mut first, mut ports) = (vec![0], Vec::new());
            for host in 0..hosts {
                ports.extend(graph.neighbours(host).map(|(port, end)| (port, end.device - hosts)));
                first.push(ports.len() as u32);
            }
            Exits { first, ports }
        });
        Self { hosts, next, lanes, exits, levels: 1, bias: None, shared: None }
    }

    /// The routes of a table that has no holes and no loops.
    pub(crate) fn from_table(graph: &Graph, table: Table) -> Self {
        let Table { ports, hosts } = table;
        Self::new(graph, Next::Hosts { ports, hosts, climbs: false }, Lanes::Single)
    }

    /// Copies the routes for a number of service levels, each with lanes of its own.
    #[must_use]
    pub fn with_levels(self, levels: u8) -> Self {
        Self { levels: levels.max(1), ..self }
    }

    /// Number of virtual lanes that are used.
    pub const fn lanes(&self) -> u8 {
        self.levels.saturating_mul(self.lanes.count())
    }

    /// Number of lanes of one service level.
    pub const fn lanes_per_level(&self) -> u8 {
        self.lanes.count()
    }

    /// The output port and lane at a switch (by its device number) for a packet that came in by a
    /// port and lane. O(1) for tables, O(dimensions) for grids; nothing is allocated.
    #[inline]
    pub fn hop(&self, switch: u32, in_port: u16, in_lane: u8, header: &Header) -> Hop {
        let switch = switch - self.hosts;
        let base = self.base(header.level);
        let lane = in_lane.wrapping_sub(base);
        let (port, lane) = self.next.hop(&self.lanes, switch, (in_port, lane), header);
        Hop { port, lane: base + lane }
    }

    /// Writes the outputs that a packet may take at a switch into the buffer of the caller, in
    /// place of what is there. A router calls it for each packet that is the first of an input
    /// channel.
    ///
    /// The arguments are those of [`Routes::hop`], and the hop is always among the candidates: it
    /// is the escape, on which packets cannot wait for each other in a circle if the route set is
    /// free of deadlock. Routings that offer one output write exactly one candidate. Which of
    /// several is taken is the router's choice, by load; every one leads to the destination in a
    /// bounded number of hops.
    #[inline]
    pub fn candidates(
        &self,
        switch: u32,
        in_port: u16,
        in_lane: u8,
        header: &Header,
        into: &mut Candidates,
    ) {
        let Hop { port, lane } = self.hop(switch, in_port, in_lane, header);
        into.clear();
        if let Next::HyperX(formula) = &self.next {
            let base = self.base(header.level);
            let input = (in_port, in_lane.wrapping_sub(base));
            formula.candidates(switch - self.hosts, input, (header, base), into);
        }
        if !into.as_slice().is_empty() {
            return;
        }
        into.push(Candidate { port, ports: 1, lane, priority: 0, links: 0 });
        match &self.next {
            Next::Grid(grid) => grid.adaptive(switch - self.hosts, header.destination, into),
            Next::Tree(tree) => tree.adaptive(switch - self.hosts, header, into),
            _ => {}
        }
    }

    /// True if a packet may have other candidates than its hop.
    pub const fn has_candidates(&self) -> bool {
        match &self.next {
            Next::Grid(grid) => grid.is_adaptive(),
            Next::Tree(tree) => tree.is_adaptive(),
            Next::HyperX(_) => true,
            _ => false,
        }
    }

    /// True if a router takes, at the end of route computation, that of the candidates for which
    /// the flits that are queued and those of the packet, times [`Candidate::links`], are fewest.
    pub const fn weighs_ports(&self) -> bool {
        matches!(self.next, Next::HyperX(_))
    }

    /// True if load decides about ways, among several candidates or [`Alternatives`]: a model that
    /// asks for the hop alone would not route as the algorithm does.
    pub const fn is_adaptive(&self) -> bool {
        self.has_candidates() || self.bias.is_some()
    }

    /// True if only the escape of a packet is free of circles: candidates of a higher priority are
    /// not, so that a packet must be able to take its escape wherever it waits.
    pub const fn rests_on_escape(&self) -> bool {
        matches!(&self.next, Next::Grid(grid) if grid.is_adaptive())
    }

    /// The place that a packet must leave free where it enters a ring, if packets wait for each
    /// other in rings otherwise. Only packets on lane 0 do, and one is within its ring where it
    /// goes on straight from that lane.
    pub const fn bubble(&self) -> Option<Bubble> {
        match &self.next {
            Next::Grid(grid) => grid.bubble(),
            _ => None,
        }
    }

    /// Returns true if a port of a switch (by its device number) leads into a ring at its place 0.
    /// There is one such port in either direction of each ring.
    pub fn begins_ring(&self, switch: u32, port: u16) -> bool {
        let switch = switch - self.hosts;
        matches!(&self.next, Next::Grid(grid) if grid.begins_ring(switch, port))
    }

    /// The port and lane by which a host sends a packet. Hosts with several ports spread by
    /// destination (in trees by what decides the way up) over those whose switch has a way:
    /// O(ports).
    #[inline]
    pub fn first_hop(&self, header: &Header) -> Hop {
        let port = self.exits.as_ref().map_or(0, |Exits { first, ports }| {
            let host = header.source as usize;
            let (first, last) = (first[host] as usize, first[host + 1] as usize);
            let (before, from) = match last - first {
                0 => (&ports[first..last], &ports[first..last]),
                count => {
                    let at = self.next.exit_key(header) as usize % count;
                    (&ports[first..first + at], &ports[first + at..last])
                }
            };
            let mut ways = from.iter().chain(before);
            let way = ways.find(|(_, switch)| self.next.knows(*switch, header.destination));
            way.map_or(0, |(port, _)| *port)
        });
        Hop { port, lane: self.base(header.level) }
    }

    /// The number of links between the switches of two hosts, where a formula tells it of every way
    /// between them.
    pub fn distance(&self, source: u32, destination: u32) -> Option<u32> {
        match &self.next {
            Next::Grid(grid) => Some(grid.distance(grid.home(source), grid.home(destination))),
            _ => None,
        }
    }

    /// The service level for a pair of hosts: 0, as lanes are assigned along the way.
    pub const fn service_level(&self, _source: u32, _destination: u32) -> u8 {
        0
    }

    /// The choice that the source makes for a packet, by a random number, which is asked for only
    /// if there is something to choose; otherwise it is 0.
    #[inline]
    pub fn choose(&self, source: u32, destination: u32, random: impl Fn() -> u64) -> u32 {
        let below = |bound: u32| ((u128::from(random()) * u128::from(bound)) >> 64) as u32;
        self.next.choose(source, destination, below)
    }

    /// The number of choices among which the source draws, each with the same chance.
    pub fn choices(&self, source: u32, destination: u32) -> u32 {
        let count = Cell::new(1);
        self.next.choose(source, destination, |bound| {
            count.set(bound);
            0
        });
        count.get()
    }

    /// The choice of this number among [`Routes::choices`].
    pub fn choice(&self, source: u32, destination: u32, number: u32) -> u32 {
        self.next.choose(source, destination, |_| number)
    }

    #[inline]
    const fn base(&self, level: u8) -> u8 {
        if self.levels == 1 {
            return 0;
        }
        let level = if level < self.levels { level } else { self.levels - 1 };
        level * self.lanes.count()
    }
}
