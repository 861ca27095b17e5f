//! Dimension-order and direction-order routes on grids, with lanes switched at datelines.
//!
//! Source: Dally and Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", 1987. In each ring the wrap-around link is the dateline; [`Dateline`] says which
//! lane a packet takes on either side of it.

use super::{Candidate, Candidates, NOWHERE};
use crate::shape::{Grid, Kind};

/// The rule by which the lanes of a ring are assigned, so that no cycle of a lane can wait for
/// itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dateline {
    /// A packet takes lane 0 up to the wrap-around link, and lane 1 from that link on.
    #[default]
    Crossing,
    /// A packet that crosses the wrap-around link takes lane 1 all along its way in the ring, any
    /// other lane 0. Under uniform traffic the lanes carry more similar loads; it is the rule of
    /// BookSim 2's `dim_order` on tori.
    Whole,
    /// A packet takes lane 1 as long as the wrap-around link lies ahead of it in the ring, and lane
    /// 0 from behind that link on. The lane follows from where the packet is and where it goes
    /// alone, so that it may enter the ring anywhere: it is the rule of escape channels.
    Ahead,
    /// There is no dateline and one lane. A packet enters a ring only where room for another one is
    /// left, so that the packets in the ring can always go on (Carrion et al., "A flow control
    /// mechanism to avoid message deadlock in k-ary n-cube networks", 1997).
    Bubble(Bubble),
}

/// The place that a packet leaves free where it enters a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bubble {
    /// One in the next buffer, whichever that is.
    Local,
    /// The one critical place of the ring, if it is in the next buffer (Chen, Wang and Pinkston,
    /// "Critical bubble scheme: an efficient implementation of globally aware network flow
    /// control", IPDPS 2011).
    Global,
}

/// A grid's routes.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    kind: Kind,
    hosts: u32,
    /// The rule that keeps packets in a ring from waiting for each other; `None` if there is none.
    dateline: Option<Dateline>,
    /// The lane on which packets may take any shortest way, beside those of dimension order; `None`
    /// if there is none.
    adaptive: Option<u8>,
    /// Packets take the dimensions in which they go upwards before the others.
    upwards_first: bool,
    dimensions: Vec<Dimension>,
    /// Coordinates of all switches, switch by switch.
    coordinates: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Dimension {
    extent: u32,
    wraps: bool,
    /// First port.
    base: u16,
    /// Port after the last.
    end: u16,
}

impl Formula {
    /// Routes that are free of deadlock in rings by the rule `dateline`, or on one lane.
    pub fn new(grid: &Grid, dateline: Option<Dateline>) -> Self {
        let mut base = grid.hosts as u16;
        let dimension = |index: usize| {
            let end = base + grid.width(index) as u16;
            let wraps = grid.wraps(index);
            let dimension = Dimension { extent: grid.extents[index], wraps, base, end };
            base = end;
            dimension
        };
        Self {
            kind: grid.kind,
            hosts: grid.hosts,
            dateline,
            adaptive: None,
            upwards_first: false,
            dimensions: (0..grid.extents.len()).map(dimension).collect(),
            coordinates: (0..grid.switches()).flat_map(|s| grid.coordinates(s)).collect(),
        }
    }

    /// Takes the dimensions in which a packet goes upwards before those in which it goes downwards.
    /// Packets change between directions in one order then, as between dimensions otherwise.
    #[must_use]
    pub fn upwards_first(self) -> Self {
        Self { upwards_first: true, ..self }
    }

    /// Adds a lane, of this number, on which packets may take any shortest way. Those of dimension
    /// order become the escape (Duato, "A new theory of deadlock-free adaptive routing in wormhole
    /// networks", 1993): with [`Dateline::Ahead`], [`Dateline::Bubble`] or without rings a packet
    /// may leave and enter them at any switch.
    #[must_use]
    pub fn with_adaptive(self, lane: u8) -> Self {
        Self { adaptive: Some(lane), ..self }
    }

    /// The place that packets leave free where they enter rings, if they must.
    pub const fn bubble(&self) -> Option<Bubble> {
        match self.dateline {
            Some(Dateline::Bubble(bubble)) => Some(bubble),
            _ => None,
        }
    }

    /// Returns true if a port leads into a ring at its place 0.
    pub fn begins_ring(&self, switch: u32, port: u16) -> bool {
        let mut places = self.dimensions.iter().zip(self.place(switch));
        places.any(|(dimension, &here)| {
            dimension.wraps && here == 0 && (dimension.base..dimension.end).contains(&port)
        })
    }

    /// True if packets may take any shortest way.
    pub const fn is_adaptive(&self) -> bool {
        self.adaptive.is_some()
    }

    /// Adds the ports of all shortest ways on the adaptive lane.
    pub fn adaptive(&self, switch: u32, destination: u32, into: &mut Candidates) {
        let target = destination / self.hosts;
        let Some(lane) = self.adaptive.filter(|_| target != switch) else { return };
        let places = self.place(switch).iter().zip(self.place(target));
        for (dimension, (&here, &there)) in self.dimensions.iter().zip(places) {
            if here != there {
                dimension.shortest(self.kind, (here, there), lane, into);
            }
        }
    }

    /// A ring whose ways on one lane can wait for each other all round: the port upwards, the
    /// distance of its switches in number, and how many they are. Up to four switches there is
    /// none, as even and odd switches go half-way round in opposite directions.
    pub fn open_ring(&self) -> Option<(u16, u32, u32)> {
        let mut stride = 1;
        for dimension in &self.dimensions {
            if dimension.wraps && dimension.extent > 4 && self.dateline.is_none() {
                return Some((dimension.base, stride, dimension.extent));
            }
            stride *= dimension.extent;
        }
        None
    }

    /// The switch of a host.
    pub const fn home(&self, host: u32) -> u32 {
        host / self.hosts
    }

    fn place(&self, switch: u32) -> &[u32] {
        let dimensions = self.dimensions.len();
        &self.coordinates[switch as usize * dimensions..][..dimensions]
    }

    /// The output port and lane.
    #[inline]
    pub fn hop(&self, switch: u32, input: (u16, u8), destination: u32) -> (u16, u8) {
        let (target, host) = match self.hosts {
            1 => (destination, 0),
            hosts => (destination / hosts, destination % hosts),
        };
        if target == switch { (host as u16, 0) } else { self.toward(switch, input, target) }
    }

    /// The output port and lane on the way to another switch; [`NOWHERE`] at that switch itself.
    #[inline]
    pub fn toward(&self, switch: u32, input: (u16, u8), target: u32) -> (u16, u8) {
        if self.upwards_first {
            return self.toward_upwards_first(switch, input, target);
        }
        let places = self.place(switch).iter().zip(self.place(target));
        for (dimension, (&here, &there)) in self.dimensions.iter().zip(places) {
            if here != there {
                return dimension.hop(self, here, there, input);
            }
        }
        (NOWHERE, 0)
    }

    fn toward_upwards_first(&self, switch: u32, input: (u16, u8), target: u32) -> (u16, u8) {
        let places = self.place(switch).iter().zip(self.place(target));
        let apart = self.dimensions.iter().zip(places).filter(|(_, (here, there))| here != there);
        let mut downwards = None;
        for (dimension, (&here, &there)) in apart {
            if dimension.upwards(self.kind, here, there) {
                return dimension.hop(self, here, there, input);
            }
            downwards = downwards.or(Some((dimension, here, there)));
        }
        downwards.map_or((NOWHERE, 0), |(dimension, here, there)| {
            dimension.hop(self, here, there, input)
        })
    }

    /// The output port and lane on the way to another switch through the dimensions in descending
    /// order; [`NOWHERE`] at that switch itself.
    pub fn toward_last_first(&self, switch: u32, input: (u16, u8), target: u32) -> (u16, u8) {
        let places = self.place(switch).iter().zip(self.place(target));
        for (dimension, (&here, &there)) in self.dimensions.iter().zip(places).rev() {
            if here != there {
                return dimension.hop(self, here, there, input);
            }
        }
        (NOWHERE, 0)
    }

    /// The number of links between two switches.
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        let places = self.place(from).iter().zip(self.place(to));
        let steps = self.dimensions.iter().zip(places).map(|(dimension, (&here, &there))| {
            let apart = here.abs_diff(there);
            match self.kind {
                Kind::HyperX => apart.min(1),
                _ if dimension.wraps => apart.min(dimension.extent - apart),
                _ => apart,
            }
        });
        steps.sum()
    }

    /// The number of dimensions in which two switches differ.
    pub fn crossings(&self, from: u32, to: u32) -> u32 {
        let places = self.place(from).iter().zip(self.place(to));
        places.map(|(here, there)| u32::from(here != there)).sum()
    }

    /// A switch between two others, drawn by a number below a bound: on a shortest way in dimension
    /// order and back, each place in the box that the two span has the same chance. In a dimension
    /// of a `HyperX` the box has all places if the two differ there.
    pub fn between(&self, from: u32, to: u32, below: impl Fn(u32) -> u32) -> u32 {
        let places = || self.place(from).iter().zip(self.place(to));
        let spans = self.dimensions.iter().zip(places());
        let spans = spans.map(|(dimension, (&a, &b))| dimension.span(self.kind, a, b));
        let spans: Vec<Span> = spans.collect();
        let mut rest = below(spans.iter().map(|span| span.count).product());
        let (mut stride, mut switch) = (1, 0);
        for (span, dimension) in spans.iter().zip(&self.dimensions) {
            let step = rest % span.count;
            rest /= span.count;
            let steps = if span.up { step } else { dimension.extent - step };
            switch += (span.first + steps) % dimension.extent * stride;
            stride *= dimension.extent;
        }
        switch
    }
}

/// The places of a dimension between two.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    count: u32,
    /// True if they follow upwards.
    up: bool,
}

impl Dimension {
    /// The places on the shortest way between two, both included.
    fn span(&self, kind: Kind, here: u32, there: u32) -> Span {
        if here == there {
            return Span { first: here, count: 1, up: true };
        }
        if kind == Kind::HyperX {
            return Span { first: 0, count: self.extent, up: true };
        }
        if !self.wraps {
            return Span { first: here, count: here.abs_diff(there) + 1, up: here < there };
        }
        let ahead = (there + self.extent - here) % self.extent;
        let up = self.goes_up(here, ahead);
        let distance = if up { ahead } else { self.extent - ahead };
        Span { first: here, count: distance + 1, up }
    }

    /// Returns true if a packet in a ring goes upwards to the place so far ahead. Half way round
    /// either direction is shortest; even switches go up, odd ones down.
    const fn goes_up(&self, here: u32, ahead: u32) -> bool {
        2 * ahead < self.extent || (2 * ahead == self.extent && here.is_multiple_of(2))
    }

    /// Returns true if a packet goes upwards from one place to another.
    const fn upwards(&self, kind: Kind, here: u32, there: u32) -> bool {
        if self.wraps && !matches!(kind, Kind::HyperX) {
            self.goes_up(here, (there + self.extent - here) % self.extent)
        } else {
            here < there
        }
    }

    /// Adds the ports of the shortest ways between two places: half-way round a ring there are two.
    fn shortest(&self, kind: Kind, (here, there): (u32, u32), lane: u8, into: &mut Candidates) {
        let (first, ports) = if kind == Kind::HyperX {
            (if there < here { there as u16 } else { there as u16 - 1 }, 1)
        } else if !self.wraps {
            (u16::from(there < here), 1)
        } else {
            let ahead = (there + self.extent - here) % self.extent;
            let half = 2 * ahead == self.extent;
            (u16::from(2 * ahead > self.extent), 1 + u16::from(half && self.end - self.base > 1))
        };
        into.push(Candidate { port: self.base + first, ports, lane, priority: 1, links: 0 });
    }

    #[inline]
    fn hop(&self, formula: &Formula, here: u32, there: u32, input: (u16, u8)) -> (u16, u8) {
        if formula.kind == Kind::HyperX {
            let index = if there < here { there } else { there - 1 };
            return (self.base + index as u16, 0);
        }
        if !self.wraps {
            return (self.base + u16::from(there < here), 0);
        }
        let ahead = if there < here { there + self.extent - here } else { there - here };
        let up = self.goes_up(here, ahead);
        let inside = (self.base..self.end).contains(&input.0);
        let second = match formula.dateline {
            None | Some(Dateline::Bubble(_)) => false,
            Some(Dateline::Ahead) => up == (here > there),
            Some(_) if inside && input.1 == 1 => true,
            Some(Dateline::Crossing) => {
                if up {
                    here + 1 == self.extent
                } else {
                    here == 0
                }
            }
            Some(Dateline::Whole) => !inside && (up == (here > there)),
        };
        (self.base + u16::from(!up), u8::from(second))
    }
}
