//! Adaptive routes in a `HyperX`, which may leave the shortest way once in each dimension.
//!
//! A packet that has to cross a dimension goes straight to the place of its destination there, or
//! first to any other place of the line (a *deroute*), once at most: one that is at the place of
//! its source in a dimension has not moved there yet, and one at another place has.
//!
//! - *Any dimension next* (`dal`): at each switch all dimensions that are left compete, as in DAL
//!   (Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale networks", SC
//!   2009). DAL keeps an escape channel; here the lane is the number of links so far (Günther,
//!   1981), so that a packet may wait for one port, also under wormhole switching. McDonald et al.
//!   do so in OmniWAR ("Practical and efficient incremental adaptive routing for HyperX networks",
//!   SC 2019).
//! - *Dimensions in order* (`dimension-adaptive`): only the first dimension that is left counts, as
//!   in their DimWAR. Deroutes are on lane 0 and all other links on lane 1: a packet goes from lane
//!   0 to lane 1 within a dimension, and from one dimension to a later one.
//!
//! Load decides at each switch: the queues behind the ports count times the links that are left by
//! them.

use super::{Candidate, Candidates, Header};
use crate::shape::{Grid, Kind};

/// The most dimensions whose ways are all among [`Candidates`]: three ranges of ports in each, and
/// the hop.
pub(super) const MOST_DIMENSIONS: usize = 5;

/// The routes of a `HyperX` whose links all work.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    hosts: u32,
    lines: Vec<Line>,
    /// True if packets cross dimensions in their order.
    in_order: bool,
}

/// The switches that differ in one dimension.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Their distance in number.
    stride: u32,
    extent: u32,
    /// The first port to others.
    base: u16,
}

impl Line {
    const fn place(self, switch: u32) -> u32 {
        switch / self.stride % self.extent
    }

    /// The port from one place to another.
    const fn port(self, here: u32, there: u32) -> u16 {
        self.base + (if there < here { there } else { there - 1 }) as u16
    }
}

impl Formula {
    /// The routes of a grid; `None` if it is no `HyperX`.
    pub fn new(grid: &Grid, in_order: bool) -> Option<Self> {
        if grid.kind != Kind::HyperX {
            return None;
        }
        let (mut stride, mut base, mut lines) = (1, grid.hosts as u16, Vec::new());
        for (dimension, &extent) in grid.extents.iter().enumerate() {
            if extent > 1 {
                lines.push(Line { stride, extent, base });
            }
            stride *= extent;
            base += grid.width(dimension) as u16;
        }
        Some(Self { hosts: grid.hosts, lines, in_order })
    }

    /// Number of dimensions with more than one switch in a line.
    pub const fn dimensions(&self) -> usize {
        self.lines.len()
    }

    /// Number of lanes: two, or as many as the longest way has links. A line of two switches has no
    /// third to go by.
    pub fn lanes(&self) -> u8 {
        if self.in_order {
            return 2;
        }
        let links = self.lines.iter().map(|line| line.extent.min(3) as u8 - 1);
        links.sum::<u8>().max(1)
    }

    /// The lane behind a switch of packets that come in by a port and lane, for links of shortest
    /// ways and for deroutes.
    const fn lane(&self, input: (u16, u8)) -> [u8; 2] {
        if self.in_order {
            return [1, 0];
        }
        let links = if (input.0 as u32) < self.hosts { 0 } else { input.1 + 1 };
        [links, links]
    }

    /// The port and lane on the way without deroutes, one dimension after the other.
    pub fn hop(&self, switch: u32, input: (u16, u8), destination: u32) -> (u16, u8) {
        let home = destination / self.hosts;
        let places = self.lines.iter().map(|line| (line, line.place(switch), line.place(home)));
        let mut left = places.filter(|(_, here, there)| here != there);
        match left.next() {
            Some((line, here, there)) => (line.port(here, there), self.lane(input)[0]),
            None => ((destination % self.hosts) as u16, 0),
        }
    }

    /// Adds all ports that a packet may take, with the links that are left by them: first its hop,
    /// and nothing at the switch of its destination.
    pub fn candidates(
        &self,
        switch: u32,
        input: (u16, u8),
        (header, base): (&Header, u8),
        into: &mut Candidates,
    ) {
        let [from, home] = [header.source, header.destination].map(|host| host / self.hosts);
        let left = || self.lines.iter().filter(|line| line.place(switch) != line.place(home));
        let links = left().count() as u8;
        let [direct, deroute] = self.lane(input).map(|lane| base + lane);
        let mut add = |port, ports, lane, links| {
            if ports > 0 {
                into.push(Candidate { port, ports, lane, priority: 0, links });
            }
        };
        for line in left().take(if self.in_order { 1 } else { usize::MAX }) {
            let port = line.port(line.place(switch), line.place(home));
            add(port, 1, direct, links);
            if line.place(switch) == line.place(from) {
                let end = line.base + line.extent as u16 - 1;
                add(line.base, port - line.base, deroute, links + 1);
                add(port + 1, end - port - 1, deroute, links + 1);
            }
        }
    }
}
