//! The number of links that must be cut to divide the hosts into halves.

use crate::{Grid, Kind, Shape, Topology, Tree};

/// Links cut by a division of the hosts into two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bisection {
    /// The least number, by the formula of the family.
    Exact(u64),
    /// The least number that a search found (Fiduccia and Mattheyses, 1982); there may be better
    /// divisions.
    AtMost(u64),
}

/// Most nodes that the search moves about.
const LIMIT: usize = 4096;

/// The bisection of a topology.
pub(crate) fn bisection(topology: &Topology) -> Bisection {
    let exact = match &topology.shape {
        _ if !topology.is_intact() => None,
        Shape::Tree(tree) => of_tree(tree),
        Shape::Grid(grid) => of_grid(grid),
        _ => None,
    };
    exact.map_or_else(|| Bisection::AtMost(Division::new(topology).search()), Bisection::Exact)
}

/// A tree whose top switches have an even number of children: the fewest links between two levels,
/// halved.
fn of_tree(tree: &Tree) -> Option<u64> {
    let even = tree.children.last().is_some_and(|children| children % 2 == 0);
    let links = |level| u64::from(tree.nodes(level)) * u64::from(tree.up_ports(level));
    (0..tree.levels()).map(links).min().filter(|_| even).map(|links| links / 2)
}

/// A grid of equal and even extents: Dally and Towles, 2004, section 5.2; HyperX: Ahn et al., 2009.
/// Never more than the links of half the hosts.
fn of_grid(grid: &Grid) -> Option<u64> {
    let extent = u64::from(*grid.extents.first()?);
    let equal = grid.extents.iter().all(|&other| u64::from(other) == extent);
    if !equal || extent % 2 != 0 {
        return None;
    }
    let lines = u64::from(grid.switches()) / extent;
    let cut = match grid.kind {
        Kind::Torus if extent > 2 => 2,
        Kind::Torus | Kind::Mesh => 1,
        Kind::HyperX => extent * extent / 4,
    };
    let half = u64::from(grid.switches()) * u64::from(grid.hosts) / 2;
    Some((lines * cut).min(half))
}

/// Switches with their hosts of one port, and hosts of several ports, on two sides.
struct Division {
    weights: Vec<Weight>,
    /// More than any number of links.
    forbidding: i64,
    near: Vec<Vec<u32>>,
    side: Vec<bool>,
}

/// The hosts of a node or a side, and those of them that have one port.
#[derive(Clone, Copy, Default)]
struct Weight {
    hosts: i64,
    loose: i64,
}

/// The weights of the two sides.
#[derive(Clone, Copy, Default)]
struct Balance([Weight; 2]);

impl Balance {
    fn add(&mut self, side: bool, weight: Weight, sign: i64) {
        let sum = &mut self.0[usize::from(side)];
        sum.hosts += sign * weight.hosts;
        sum.loose += sign * weight.loose;
    }

    /// The cost of making both sides equal. Hosts of one port can change sides alone at the cost of
    /// their link, so that n hosts too many cost n/2 links; what they cannot even out is forbidden.
    fn cost(&self, forbidding: i64) -> i64 {
        let [a, b] = self.0;
        let surplus = (a.hosts - b.hosts).abs() / 2;
        let loose = if a.hosts > b.hosts { a.loose } else { b.loose };
        surplus + forbidding * (surplus - loose).max(0)
    }
}

impl Division {
    fn new(topology: &Topology) -> Self {
        let graph = &topology.graph;
        let single = |device| graph.is_host(device) && graph.neighbours(device).count() <= 1;
        let nodes: Vec<u32> = (0..graph.devices()).filter(|&device| !single(device)).collect();
        let mut number = vec![u32::MAX; graph.devices() as usize];
        for (index, &device) in nodes.iter().enumerate() {
            number[device as usize] = index as u32;
        }
        let weight = |&device: &u32| {
            let hosts = graph.neighbours(device).filter(|(_, end)| single(end.device)).count();
            let loose = if graph.is_host(device) { 0 } else { i64::from(hosts as u32) };
            Weight { hosts: if graph.is_host(device) { 1 } else { loose }, loose }
        };
        let near = |&device: &u32| {
            let ends = graph.neighbours(device).map(|(_, end)| number[end.device as usize]);
            ends.filter(|&other| other != u32::MAX).collect()
        };
        Self {
            weights: nodes.iter().map(weight).collect(),
            forbidding: i64::from(graph.links().len() as u32) + 1,
            near: nodes.iter().map(near).collect(),
            side: vec![false; nodes.len()],
        }
    }

    /// The best of several starts.
    fn search(&mut self) -> u64 {
        let count = self.weights.len();
        let total: i64 = self.weights.iter().map(|weight| weight.hosts).sum();
        let orders: [Vec<usize>; 3] = [
            (0..count).collect(),
            self.outwards(0),
            (0..count).step_by(2).chain((1..count).step_by(2)).collect(),
        ];
        let mut best = i64::MAX;
        for order in orders {
            let mut weight = 0;
            for (place, &node) in order.iter().enumerate() {
                self.side[node] = 2 * weight >= total && (total > 0 || 2 * place >= count);
                weight += self.weights[node].hosts;
            }
            let mut cost = self.cost();
            if count <= LIMIT {
                while self.improve() {}
                cost = self.cost();
            }
            best = best.min(cost);
        }
        best.max(0).cast_unsigned()
    }

    /// Nodes by their distance from one.
    fn outwards(&self, from: usize) -> Vec<usize> {
        let mut seen = vec![false; self.weights.len()];
        let mut order = Vec::with_capacity(seen.len());
        for root in std::iter::once(from).chain(0..seen.len()) {
            if root >= seen.len() || std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut head = order.len();
            order.push(root);
            while let Some(&here) = order.get(head) {
                head += 1;
                for &there in &self.near[here] {
                    if !std::mem::replace(&mut seen[there as usize], true) {
                        order.push(there as usize);
                    }
                }
            }
        }
        order
    }

    fn balance(&self) -> Balance {
        let mut balance = Balance::default();
        for (weight, side) in self.weights.iter().zip(&self.side) {
            balance.add(*side, *weight, 1);
        }
        balance
    }

    fn cost(&self) -> i64 {
        let mut cut = 0;
        for (node, near) in self.near.iter().enumerate() {
            cut +=
                near.iter().filter(|&&other| self.side[other as usize] != self.side[node]).count();
        }
        i64::from(cut as u32) / 2 + self.balance().cost(self.forbidding)
    }

    /// One pass: every node changes sides once, the best first; the best state on the way is kept.
    /// Says whether it is better than before.
    fn improve(&mut self) -> bool {
        let count = self.weights.len();
        let gain_of = |division: &Self, node: usize| {
            let side = division.side[node];
            let cut = division.near[node].iter();
            let sign = |&other: &u32| if division.side[other as usize] == side { -1 } else { 1 };
            cut.map(sign).sum::<i64>()
        };
        let mut gains: Vec<i64> = (0..count).map(|node| gain_of(self, node)).collect();
        let mut balance = self.balance();
        let (mut gained, mut best, mut kept) = (0, 0, 0);
        let mut moved = Vec::with_capacity(count);
        let mut free: Vec<usize> = (0..count).collect();
        while !free.is_empty() {
            let before = balance.cost(self.forbidding);
            let change = |node: usize| {
                let mut after = balance;
                after.add(self.side[node], self.weights[node], -1);
                after.add(!self.side[node], self.weights[node], 1);
                (gains[node] + before - after.cost(self.forbidding), after)
            };
            let choice =
                (0..free.len()).max_by_key(|&at| (change(free[at]).0, usize::MAX - free[at]));
            let Some(choice) = choice else { break };
            let node = free[choice];
            let (gain, after) = change(node);
            free.swap_remove(choice);
            gained += gain;
            balance = after;
            self.side[node] = !self.side[node];
            for &other in &self.near[node] {
                let same = self.side[other as usize] == self.side[node];
                gains[other as usize] += if same { -2 } else { 2 };
            }
            gains[node] = -gains[node];
            moved.push(node);
            if gained > best {
                (best, kept) = (gained, moved.len());
            }
        }
        for &node in &moved[kept..] {
            self.side[node] = !self.side[node];
        }
        best > 0
    }
}
