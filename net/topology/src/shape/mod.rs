//! The shape of a graph, besides its links: the family it was generated from.

mod butterfly;
mod dragonfly;
mod grid;
mod rails;
mod size;
mod slim_fly;
mod spec;
mod tree;

pub use butterfly::Butterfly;
pub use dragonfly::{Arrangement, Dragonfly};
pub use grid::{Grid, Kind};
pub use rails::Rails;
pub use size::Size;
pub(crate) use slim_fly::Field;
pub use slim_fly::SlimFly;
pub use spec::{Entry, KINDS, build, parse};
pub use tree::Tree;

use units::Time;

use crate::{Fault, Faults, Graph, Link, Plug, graph::Device};

/// A graph and what is known of it.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Devices and links.
    pub graph: Graph,
    /// The family it belongs to.
    pub shape: Shape,
}

impl Topology {
    /// Gives the links between switches times of flight, by the switches where they begin and end.
    #[must_use]
    pub fn with_delays(mut self, delay: impl Fn([u32; 2]) -> Option<Time>) -> Self {
        self.graph.set_delays(delay);
        self
    }

    /// True if all links work.
    pub fn is_intact(&self) -> bool {
        self.graph.links().iter().all(|link| link.up)
    }
}

/// The family that a topology was generated from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing is known: an imported graph.
    Irregular,
    /// A fat tree in the widest sense.
    Tree(Tree),
    /// Switches on a grid: torus, mesh, HyperX, hypercube, ring, chain.
    Grid(Grid),
    /// Stages that packets pass in one direction.
    Butterfly(Butterfly),
    /// Groups that are all joined.
    Dragonfly(Dragonfly),
    /// A slim fly.
    SlimFly(SlimFly),
    /// A cluster with a switch per rail.
    Rails(Rails),
}

impl Shape {
    /// Reads a text such as `torus:dims=8x8,hosts=2`. All mistakes are reported at once.
    ///
    /// Nothing is wired yet: a shape that is too large, or that no rule can make, is an error of
    /// [`Shape::build`].
    pub fn parse(text: &str) -> Result<Self, Faults> {
        spec::parse_shape(text)
    }

    /// The numbers of hosts, switches, ports and links that [`Shape::build`] would make, by
    /// formula. There are none of a shape that cannot be built.
    pub fn size(&self) -> Option<Size> {
        match self {
            Self::Irregular => None,
            Self::Tree(tree) => tree.size().ok(),
            Self::Grid(grid) => grid.size().ok(),
            Self::Butterfly(butterfly) => butterfly.size().ok(),
            Self::Dragonfly(dragonfly) => dragonfly.size().ok(),
            Self::SlimFly(fly) => fly.size().ok(),
            Self::Rails(rails) => rails.size().ok(),
        }
    }

    /// Hosts, switches and links.
    pub fn build(self) -> Result<Topology, Faults> {
        match self {
            Self::Irregular => Err(Fault::new("an irregular topology is made by no rule").into()),
            Self::Tree(tree) => tree.build(),
            Self::Grid(grid) => grid.build(),
            Self::Butterfly(butterfly) => butterfly.build(),
            Self::Dragonfly(dragonfly) => dragonfly.build(),
            Self::SlimFly(fly) => fly.build(),
            Self::Rails(rails) => rails.build(),
        }
    }
}

/// Most devices, and most ports of all devices, of a generated topology.
const LIMIT: u64 = 1 << 26;

/// A product, if it is at most `limit`.
fn product(factors: impl IntoIterator<Item = u32>, limit: u64) -> Option<u32> {
    let limit = limit.min(u32::MAX.into());
    let bounded = |product: u64, factor: u32| {
        product.checked_mul(factor.into()).filter(|&product| product <= limit)
    };
    factors.into_iter().try_fold(1, bounded).map(|product| product as u32)
}

/// A list of devices to which links are added.
struct Plan {
    hosts: u32,
    devices: Vec<Device>,
    links: Vec<Link>,
}

impl Plan {
    /// Hosts `h0`, `h1`, … with a number of ports each.
    fn new(hosts: u32, ports: u16) -> Self {
        let devices =
            (0..hosts).map(|host| Device { name: format!("h{host}").into(), ports }).collect();
        Self { hosts, devices, links: Vec::new() }
    }

    fn switch(&mut self, name: String, ports: u16) {
        self.devices.push(Device { name: name.into(), ports });
    }

    /// Joins two ports of devices.
    fn link(&mut self, a: (u32, u32), b: (u32, u32)) {
        let [a, b] = [a, b].map(|(device, port)| Plug { device, port: port as u16 });
        self.links.push(Link::new(a, b));
    }

    /// The number of the device that is switch `index`.
    const fn at(&self, index: u32) -> u32 {
        self.hosts + index
    }

    fn build(self, shape: Shape) -> Result<Topology, Faults> {
        Ok(Topology { graph: Graph::new(self.hosts, self.devices, self.links)?, shape })
    }
}
