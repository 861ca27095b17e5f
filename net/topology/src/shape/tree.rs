//! Fat trees: extended generalised fat trees with parallel links.
//!
//! Level 0 holds the hosts. A node of level l has `parents[l]` parents on level l+1, joined by
//! `cables[l]` parallel links each, and a switch of level l has `children[l-1]` children. Sources:
//! Öhring et al., "On generalized fat trees", IPPS 1995 (XGFT); Petrini and Vanneschi, "k-ary
//! n-trees", IPPS 1997; Zahavi, "Fat-trees routing and node ordering providing contention free
//! traffic for MPI global collectives", 2012 (parallel links).
//!
//! A node of level l is (low, high): low < product of the parents of the levels below, high <
//! product of the children of the levels above. Its ports are first those downwards, child by child
//! within each parallel cable, then those upwards.

use super::{LIMIT, Plan, Shape, Size, Topology, product};
use crate::{Fault, Faults};

/// An extended generalised fat tree with parallel links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Children of a switch, by its level less 1.
    pub children: Vec<u32>,
    /// Parents of a node, by its level.
    pub parents: Vec<u32>,
    /// Parallel links to each parent, by the level of the child.
    pub cables: Vec<u32>,
}

/// Most levels of switches. Trees with more have levels of one child and one parent.
const LEVELS: usize = 64;

impl Tree {
    /// XGFT(h; m1, …, mh; w1, …, wh).
    pub fn extended(children: Vec<u32>, parents: Vec<u32>) -> Self {
        let cables = vec![1; children.len()];
        Self { children, parents, cables }
    }

    /// The largest tree of a number of levels of switches of `radix` ports in which every switch
    /// below the top has as many ports up as down.
    pub fn full(levels: usize, radix: u32) -> Self {
        let half = radix / 2;
        let mut children = vec![half; levels];
        let mut parents = vec![half; levels];
        if let (Some(top), Some(bottom)) = (children.last_mut(), parents.first_mut()) {
            (*top, *bottom) = (radix, 1);
        }
        Self::extended(children, parents)
    }

    /// Levels of switches.
    pub fn levels(&self) -> usize {
        self.children.len()
    }

    /// Number of values of the low part of a node of this level.
    pub fn lows(&self, level: usize) -> u32 {
        self.parents.iter().take(level).product()
    }

    /// Number of values of the high part of a node of this level.
    pub fn highs(&self, level: usize) -> u32 {
        self.children.iter().skip(level).product()
    }

    /// Switches of a level, or hosts for level 0.
    pub fn nodes(&self, level: usize) -> u32 {
        self.lows(level) * self.highs(level)
    }

    /// Ports downwards of a switch of this level (from 1).
    pub fn down_ports(&self, level: usize) -> u32 {
        self.children[level - 1] * self.cables[level - 1]
    }

    /// Ports upwards of a node of this level.
    pub fn up_ports(&self, level: usize) -> u32 {
        if level == self.levels() { 0 } else { self.parents[level] * self.cables[level] }
    }

    /// Level of each switch, in the order of their numbers.
    pub fn switch_levels(&self) -> impl Iterator<Item = usize> {
        (1..=self.levels()).flat_map(|level| (0..self.nodes(level)).map(move |_| level))
    }

    fn check(&self) -> Result<(), Fault> {
        let lists = [&self.children, &self.parents, &self.cables];
        if self.children.is_empty() || lists.iter().any(|list| list.len() != self.levels()) {
            return Err(Fault::new("a tree needs children, parents and cables for every level"));
        }
        if lists.iter().any(|list| list.contains(&0)) {
            return Err(Fault::new("a tree's numbers of children, parents and cables start at 1"));
        }
        if self.levels() > LEVELS {
            return Err(Fault::new(format!("a tree has at most {LEVELS} levels")));
        }
        let mut ports = 0_u64;
        for level in 0..=self.levels() {
            let factors = self.parents[..level].iter().chain(&self.children[level..]);
            let nodes = product(factors.copied(), LIMIT);
            let up = self.parents.get(level).zip(self.cables.get(level));
            let up = up.map_or(Some(0), |(&a, &b)| product([a, b], u16::MAX.into()));
            let down = level.checked_sub(1).map(|below| [self.children[below], self.cables[below]]);
            let down = down.map_or(Some(0), |factors| product(factors, u16::MAX.into()));
            let (Some(nodes), Some(up), Some(down)) = (nodes, up, down) else {
                return Err(Fault::new("this tree is too large"));
            };
            if up + down > u16::MAX.into() {
                return Err(Fault::new("a switch of this tree has more than 65535 ports"));
            }
            ports += u64::from(nodes) * u64::from(up + down);
        }
        if ports > LIMIT { Err(Fault::new("this tree is too large")) } else { Ok(()) }
    }

    /// The numbers of hosts, switches and links, one per port upwards.
    pub(super) fn size(&self) -> Result<Size, Fault> {
        self.check()?;
        let ports = |level| self.down_ports(level) + self.up_ports(level);
        let switches = (1..=self.levels()).map(|level| (self.nodes(level), ports(level)));
        let up = |level| u64::from(self.nodes(level)) * u64::from(self.up_ports(level));
        let links = (0..self.levels()).map(up).sum();
        Ok(Size::new((self.nodes(0), self.up_ports(0)), switches, links))
    }

    /// Hosts, switches and links.
    pub fn build(self) -> Result<Topology, Faults> {
        self.check()?;
        let mut plan = Plan::new(self.nodes(0), self.up_ports(0) as u16);
        let mut start = vec![0];
        for level in 1..=self.levels() {
            start.push(plan.devices.len() as u32);
            let ports = (self.down_ports(level) + self.up_ports(level)) as u16;
            for index in 0..self.nodes(level) {
                plan.switch(format!("s{level}.{index}"), ports);
            }
        }
        for level in 0..self.levels() {
            let (lows, children, parents) =
                (self.lows(level), self.children[level], self.parents[level]);
            let up_start = if level == 0 { 0 } else { self.down_ports(level) };
            for node in 0..self.nodes(level) {
                let (low, high) = (node % lows, node / lows);
                for port in 0..self.up_ports(level) {
                    let (parent, cable) = (port % parents, port / parents);
                    let above = low + lows * parent + lows * parents * (high / children);
                    let down = cable * children + high % children;
                    plan.link(
                        (start[level] + node, up_start + port),
                        (start[level + 1] + above, down),
                    );
                }
            }
        }
        plan.build(Shape::Tree(self))
    }
}
