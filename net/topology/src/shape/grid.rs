//! Switches on a grid of several dimensions.
//!
//! k-ary n-cubes and meshes: Dally and Towles, "Principles and Practices of Interconnection
//! Networks", 2004, chapter 5. HyperX: Ahn et al., "HyperX: topology, routing, and packaging of
//! efficient large-scale networks", SC 2009; with the same extents in all dimensions a flattened
//! butterfly (Kim et al., ISCA 2007), with extents of 2 a hypercube.
//!
//! Switch numbers count dimension 0 fastest. Ports: first the hosts, then per dimension + and -
//! (torus, mesh) or one port per other switch of that line, in the order of coordinates (HyperX). A
//! ring of one or two switches has no wrap-around link.

use super::{LIMIT, Plan, Shape, Size, Topology, product};
use crate::{Fault, Faults};

/// The kind of grid, which tells how the switches of a line are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// With the neighbours.
    Mesh,
    /// With the neighbours, and the last with the first.
    Torus,
    /// All with all.
    HyperX,
}

/// Switches on a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The kind of grid.
    pub kind: Kind,
    /// Switches per dimension.
    pub extents: Vec<u32>,
    /// Hosts per switch.
    pub hosts: u32,
}

impl Grid {
    /// Number of switches.
    pub fn switches(&self) -> u32 {
        self.extents.iter().product()
    }

    /// Ports of a switch in one dimension.
    pub fn width(&self, dimension: usize) -> u32 {
        match self.kind {
            Kind::Mesh | Kind::Torus => 2,
            Kind::HyperX => self.extents[dimension] - 1,
        }
    }

    /// True if the last switch of a line is joined with the first.
    pub fn wraps(&self, dimension: usize) -> bool {
        self.kind == Kind::Torus && self.extents[dimension] > 2
    }

    /// Coordinates of a switch.
    pub fn coordinates(&self, switch: u32) -> Vec<u32> {
        let mut rest = switch;
        let digit = |extent: &u32| {
            let digit = rest % extent;
            rest /= extent;
            digit
        };
        self.extents.iter().map(digit).collect()
    }

    fn check(&self) -> Result<(), Fault> {
        let switches = product(self.extents.iter().copied(), LIMIT);
        let (Some(switches), false) = (switches, self.extents.is_empty()) else {
            return Err(Fault::new("this grid is too large, or has no dimension"));
        };
        if self.extents.contains(&0) || self.hosts == 0 {
            return Err(Fault::new("extents and hosts per switch start at 1"));
        }
        let widths = (0..self.extents.len()).map(|dimension| u64::from(self.width(dimension)));
        let ports = widths.sum::<u64>() + u64::from(self.hosts);
        if ports > u16::MAX.into() || ports * u64::from(switches) > LIMIT {
            return Err(Fault::new("this grid is too large"));
        }
        Ok(())
    }

    /// The numbers of hosts, switches and links.
    pub(super) fn size(&self) -> Result<Size, Fault> {
        self.check()?;
        let (switches, hosts) = (self.switches(), self.switches() * self.hosts);
        let widths = (0..self.extents.len()).map(|dimension| self.width(dimension));
        let in_dimension = |(dimension, &extent): (usize, &u32)| {
            let [extent, lines] = [extent, switches / extent].map(u64::from);
            lines
                * match self.kind {
                    Kind::HyperX => extent * (extent - 1) / 2,
                    Kind::Mesh | Kind::Torus => extent - 1 + u64::from(self.wraps(dimension)),
                }
        };
        let links: u64 = self.extents.iter().enumerate().map(in_dimension).sum();
        let ports = self.hosts + widths.sum::<u32>();
        Ok(Size::new((hosts, 1), [(switches, ports)], u64::from(hosts) + links))
    }

    /// Hosts, switches and links.
    pub fn build(self) -> Result<Topology, Faults> {
        self.check()?;
        let widths: Vec<u32> = (0..self.extents.len()).map(|d| self.width(d)).collect();
        let ports = self.hosts + widths.iter().sum::<u32>();
        let mut plan = Plan::new(self.switches() * self.hosts, 1);
        for switch in 0..self.switches() {
            let name: Vec<_> = self.coordinates(switch).iter().map(u32::to_string).collect();
            plan.switch(format!("s{}", name.join(".")), ports as u16);
        }
        for host in 0..self.switches() * self.hosts {
            plan.link((host, 0), (plan.at(host / self.hosts), host % self.hosts));
        }
        for switch in 0..self.switches() {
            let (mut base, mut stride) = (self.hosts, 1);
            for (dimension, coordinate) in self.coordinates(switch).into_iter().enumerate() {
                self.line(&mut plan, dimension, [switch, coordinate, stride, base]);
                base += widths[dimension];
                stride *= self.extents[dimension];
            }
        }
        plan.build(Shape::Grid(self))
    }

    /// The links of a switch to those with larger coordinates in a dimension, and the wrap-around.
    fn line(&self, plan: &mut Plan, dimension: usize, at: [u32; 4]) {
        let [switch, coordinate, stride, base] = at;
        let extent = self.extents[dimension];
        let here = plan.at(switch);
        if self.kind == Kind::HyperX {
            for other in coordinate + 1..extent {
                let there = here + (other - coordinate) * stride;
                plan.link((here, base + other - 1), (there, base + coordinate));
            }
        } else if coordinate + 1 < extent {
            plan.link((here, base), (here + stride, base + 1));
        } else if self.wraps(dimension) {
            plan.link((here, base), (here - (extent - 1) * stride, base + 1));
        }
    }
}
