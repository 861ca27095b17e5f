//! Routes put together from stated ones, with the fewest links in all: Floyd's and Dijkstra's
//! algorithms, which differ in what they do with ties. Trees of routes are computed when they are
//! first asked for, and kept.
//!
//! Floyd, Algorithm 97: shortest path, CACM 1962; Dijkstra, A note on two problems in connexion
//! with graphs, 1959.

use std::{cmp::Reverse, collections::BinaryHeap, sync::OnceLock};

use rustc_hash::FxHashMap;

use super::Table;
use crate::{
    Platform,
    zone::{Gap, Leg, NONE, Walk},
};

type Legs = FxHashMap<(u32, u32), Leg>;

/// The route for every pair, of a zone of `size` points: memory and time grow with its square and
/// cube.
#[derive(Debug)]
pub(crate) struct Floyd {
    pub table: Table,
    pub size: u32,
    /// By source and destination: the point before the destination.
    before: OnceLock<Box<[u32]>>,
}

impl Floyd {
    pub fn new(table: Table, size: u32) -> Self {
        Self { table, size, before: OnceLock::new() }
    }

    pub fn local(
        &self,
        platform: &Platform,
        [from, to]: [u32; 2],
        walk: &mut Walk,
        gap: impl Fn(&'static str) -> Gap,
    ) -> Result<Option<[u32; 2]>, Gap> {
        if from == to {
            return match self.table.local(platform, from, to, walk) {
                None if !self.table.loopback => Err(gap("there are no routes between them")),
                gateways => Ok(gateways),
            };
        }
        let before = self.before.get_or_init(|| self.solve());
        let row = from as usize * self.size as usize;
        let path = chain(from, to, |at| before[row + at as usize]);
        let path = path.ok_or_else(|| gap("there are no routes between them"))?;
        join(platform, &self.table.legs, &path, false, walk)
    }

    fn solve(&self) -> Box<[u32]> {
        let size = self.size as usize;
        let mut before = vec![NONE; size * size].into_boxed_slice();
        let mut cost = vec![NONE; size * size];
        for (&(from, to), leg) in &self.table.legs {
            let at = from as usize * size + to as usize;
            (before[at], cost[at]) = (from, leg.links.len() as u32);
        }
        for via in 0..size {
            let (onward, behind) = {
                let row = via * size..via * size + size;
                (cost[row.clone()].to_vec(), before[row].to_vec())
            };
            for from in 0..size {
                let reach = cost[from * size + via];
                if reach == NONE {
                    continue;
                }
                for to in 0..size {
                    let sum = reach.saturating_add(onward[to]);
                    let at = from * size + to;
                    if onward[to] != NONE && sum < cost[at] {
                        (cost[at], before[at]) = (sum, behind[to]);
                    }
                }
            }
        }
        before
    }
}

/// The routes from one point at a time.
#[derive(Debug)]
pub(crate) struct Dijkstra {
    pub table: Table,
    /// The number of each seat in the graph, in the order in which the routes name them.
    nodes: Vec<u32>,
    seats: Vec<u32>,
    /// By node: the nodes that routes lead to, and their numbers of links.
    next: Vec<Vec<(u32, u32)>>,
    /// By node that routes lead from: the node before each on the way to it.
    trees: Vec<OnceLock<Box<[u32]>>>,
}

impl Dijkstra {
    /// `order`: the ends of the stated routes, as they are stated.
    pub fn new(table: Table, size: u32, order: &[(u32, u32)]) -> Self {
        let (mut nodes, mut seats, mut next) = (vec![NONE; size as usize], Vec::new(), Vec::new());
        for &(from, to) in order {
            let [a, b] = [from, to].map(|seat| {
                if nodes[seat as usize] == NONE {
                    nodes[seat as usize] = seats.len() as u32;
                    seats.push(seat);
                    next.push(Vec::new());
                }
                nodes[seat as usize]
            });
            let length = table.legs.get(&(from, to)).map_or(1, |leg| leg.links.len() as u32);
            next[a as usize].push((b, length));
        }
        let trees = seats.iter().map(|_| OnceLock::new()).collect();
        Self { table, nodes, seats, next, trees }
    }

    pub fn local(
        &self,
        platform: &Platform,
        [from, to]: [u32; 2],
        walk: &mut Walk,
        gap: impl Fn(&'static str) -> Gap,
    ) -> Result<Option<[u32; 2]>, Gap> {
        let mut own = Vec::new();
        let mut inner = Walk { links: &mut own, distance: 0.0, depth: walk.depth };
        let [a, b] = [from, to].map(|seat| self.nodes[seat as usize]);
        if a == NONE || b == NONE {
            return Err(gap("no stated route leads to or from one of them"));
        }
        let gateways = if from == to {
            let gateways = self.table.local(platform, from, to, &mut inner);
            inner.links.reverse();
            gateways
        } else {
            let tree = self.trees[a as usize].get_or_init(|| self.tree(a));
            let path = chain(a, b, |node| tree[node as usize]);
            let mut path = path.ok_or_else(|| gap("there are no routes between them"))?;
            for node in &mut path {
                *node = self.seats[*node as usize];
            }
            join(platform, &self.table.legs, &path, true, &mut inner)?
        };
        walk.distance += inner.distance;
        // SimGrid puts the route of such a zone in front of what is known so far of the whole, and
        // has turned around the links of each stated route. The order of links decides nothing.
        walk.links.splice(0..0, own);
        Ok(gateways)
    }

    fn tree(&self, from: u32) -> Box<[u32]> {
        let mut before = vec![NONE; self.seats.len()].into_boxed_slice();
        let mut cost = vec![NONE; self.seats.len()];
        cost[from as usize] = 0;
        let mut queue = BinaryHeap::from([Reverse((0, from))]);
        while let Some(Reverse((reached, node))) = queue.pop() {
            if reached > cost[node as usize] {
                continue;
            }
            for &(next, length) in &self.next[node as usize] {
                let sum = reached + length;
                if sum < cost[next as usize] {
                    (cost[next as usize], before[next as usize]) = (sum, node);
                    queue.push(Reverse((sum, next)));
                }
            }
        }
        before
    }
}

/// The way to a point, from what is before each on the way.
fn chain(from: u32, to: u32, before: impl Fn(u32) -> u32) -> Option<Vec<u32>> {
    let mut path = vec![to];
    let mut at = to;
    while at != from {
        at = Some(before(at)).filter(|&at| at != NONE)?;
        path.push(at);
    }
    path.reverse();
    Some(path)
}

/// Appends the stated routes along a way, and what connects the gateways of two that follow each
/// other.
fn join(
    platform: &Platform,
    legs: &Legs,
    path: &[u32],
    backwards: bool,
    walk: &mut Walk,
) -> Result<Option<[u32; 2]>, Gap> {
    let mut ends: Option<[u32; 2]> = None;
    for pair in path.windows(2) {
        let Some(leg) = legs.get(&(pair[0], pair[1])) else { continue };
        if let Some([enter, leave]) = leg.gateways {
            if let Some([_, before]) = ends
                && before != enter
            {
                platform.connect(before, enter, walk)?;
            }
            ends = Some([ends.map_or(enter, |[first, _]| first), leave]);
        }
        walk.links.extend_from_slice(&leg.links);
        if backwards {
            let first = walk.links.len() - leg.links.len();
            walk.links[first..].reverse();
        }
    }
    Ok(ends)
}
