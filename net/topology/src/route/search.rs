//! Shortest ways to a host, for forwarding tables.

use crate::{Graph, Shape};

/// The distance if there is no way.
const FAR: u32 = u32::MAX;

/// The switches of a graph with their working links among each other, and what order they have.
pub(crate) struct Search<'a> {
    graph: &'a Graph,
    /// Neighbours of each switch: port and switch.
    first: Vec<u32>,
    links: Vec<(u16, u32)>,
    /// With up*/down* rules: place of each switch from the lowest, and the switches by that place.
    order: Option<(Vec<u32>, Vec<u32>)>,
    /// Distance to the target, and that by ways that only go down.
    distance: Vec<u32>,
    down: Vec<u32>,
    queue: Vec<u32>,
}

impl<'a> Search<'a> {
    /// A search for shortest ways.
    pub fn minimal(graph: &'a Graph) -> Self {
        let (mut first, mut links) = (vec![0], Vec::new());
        for switch in graph.hosts()..graph.devices() {
            let near = graph.neighbours(switch).filter(|(_, end)| !graph.is_host(end.device));
            links.extend(near.map(|(port, end)| (port, end.device - graph.hosts())));
            first.push(links.len() as u32);
        }
        let count = graph.switches() as usize;
        let (distance, down) = (vec![FAR; count], vec![FAR; count]);
        Self { graph, first, links, order: None, distance, down, queue: Vec::new() }
    }

    /// A search for shortest ways that go up and then down: up is a higher level of a tree, or
    /// nearer to a root (Schroeder et al., "Autonet: a high-speed, self-configuring local area
    /// network", 1991).
    pub fn up_down(graph: &'a Graph, shape: &Shape) -> Self {
        let mut search = Self::minimal(graph);
        let switches = graph.switches();
        let rank: Vec<u32> = match shape {
            Shape::Tree(tree) => tree.switch_levels().map(|level| level as u32).collect(),
            Shape::Rails(rails) => {
                (0..switches).map(|s| u32::from(s >= rails.rails * rails.units)).collect()
            }
            _ => search.depths(),
        };
        let mut sorted: Vec<u32> = (0..switches).collect();
        sorted.sort_unstable_by_key(|&switch| (rank[switch as usize], u32::MAX - switch));
        let mut place = vec![0; sorted.len()];
        for (index, &switch) in sorted.iter().enumerate() {
            place[switch as usize] = index as u32;
        }
        search.order = Some((place, sorted));
        search
    }

    /// The depth of each switch, which is its nearness to its root, the best connected switch of
    /// its part; the root is highest.
    fn depths(&mut self) -> Vec<u32> {
        let mut by_degree: Vec<u32> = (0..self.graph.switches()).collect();
        by_degree.sort_by_key(|&switch| std::cmp::Reverse(self.near(switch).len()));
        let mut rank = vec![0; by_degree.len()];
        for root in by_degree {
            if rank[root as usize] == 0 {
                self.breadth_first(&[root]);
                for &switch in &self.queue {
                    rank[switch as usize] = u32::MAX - self.distance[switch as usize];
                }
            }
        }
        rank
    }

    /// True if ways go up and then down.
    pub const fn climbs(&self) -> bool {
        self.order.is_some()
    }

    fn near(&self, switch: u32) -> &[(u16, u32)] {
        let switch = switch as usize;
        &self.links[self.first[switch] as usize..self.first[switch + 1] as usize]
    }

    /// Distances of all switches to the nearest target.
    pub fn run(&mut self, targets: &[u32]) {
        let Some((place, sorted)) = self.order.take() else {
            self.breadth_first(targets);
            return;
        };
        self.down.fill(FAR);
        self.queue.clear();
        for &target in targets {
            self.down[target as usize] = 0;
            self.queue.push(target);
        }
        let mut head = 0;
        while let Some(&here) = self.queue.get(head) {
            head += 1;
            for index in self.first[here as usize]..self.first[here as usize + 1] {
                let (_, there) = self.links[index as usize];
                if place[there as usize] > place[here as usize] && self.down[there as usize] == FAR
                {
                    self.down[there as usize] = self.down[here as usize] + 1;
                    self.queue.push(there);
                }
            }
        }
        self.distance.copy_from_slice(&self.down);
        for &here in sorted.iter().rev().filter(|&&here| self.down[here as usize] == FAR) {
            let above = |(_, there): &&(u16, u32)| place[*there as usize] > place[here as usize];
            let nearest = self.near(here).iter().filter(above);
            let nearest = nearest.map(|(_, there)| self.distance[*there as usize]).min();
            self.distance[here as usize] = nearest.unwrap_or(FAR).saturating_add(1);
        }
        self.order = Some((place, sorted));
    }

    fn breadth_first(&mut self, targets: &[u32]) {
        self.distance.fill(FAR);
        self.queue.clear();
        for &target in targets {
            self.distance[target as usize] = 0;
            self.queue.push(target);
        }
        let mut head = 0;
        while let Some(&here) = self.queue.get(head) {
            head += 1;
            for index in self.first[here as usize]..self.first[here as usize + 1] {
                let (_, there) = self.links[index as usize];
                if self.distance[there as usize] == FAR {
                    self.distance[there as usize] = self.distance[here as usize] + 1;
                    self.queue.push(there);
                }
            }
        }
    }

    /// Distance of a switch to the nearest target in links.
    pub fn distance(&self, switch: u32) -> Option<u32> {
        Some(self.distance[switch as usize]).filter(|&distance| distance != FAR)
    }

    /// The ports of a switch that lie on a shortest way to the target.
    pub fn candidates(&self, here: u32) -> impl Iterator<Item = u16> {
        let distance = self.distance[here as usize];
        let falls = self.order.is_some() && self.down[here as usize] != FAR;
        let fits = move |&&(_, there): &&(u16, u32)| {
            let there = there as usize;
            let next = if falls { self.down[there] } else { self.distance[there] };
            let goes_up = |(place, _): &(Vec<u32>, Vec<u32>)| place[there] > place[here as usize];
            let allowed = self.order.as_ref().is_none_or(|order| goes_up(order) != falls);
            next != FAR && distance != FAR && next + 1 == distance && allowed
        };
        self.near(here).iter().filter(fits).map(|(port, _)| *port)
    }
}
