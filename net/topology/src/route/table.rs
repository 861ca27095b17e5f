//! Forwarding tables, computed.

use std::collections::BTreeMap;

use super::{
    next::{Homes, NOWHERE, Next, Switches, Via, Ways},
    search::Search,
};
use crate::{Fault, Graph};

/// Most entries of a table.
const LIMIT: u64 = 1 << 29;

/// The switches a host is linked to, without repetition, and its ports there.
fn homes(graph: &Graph, host: u32) -> (Vec<u32>, Vec<(u32, u16)>) {
    let ends = graph.neighbours(host).filter(|(_, end)| !graph.is_host(end.device));
    let ports: Vec<_> = ends.map(|(_, end)| (end.device - graph.hosts(), end.port)).collect();
    let mut switches: Vec<_> = ports.iter().map(|(switch, _)| *switch).collect();
    switches.sort_unstable();
    switches.dedup();
    (switches, ports)
}

/// Space for a table.
fn space(rows: u32, columns: u32) -> Result<Vec<u16>, Fault> {
    let entries = u64::from(rows) * u64::from(columns);
    if entries > LIMIT {
        let message = format!(
            "a forwarding table of {rows} switches and {columns} destinations is too large; \
             choose the routing that is the topology's own"
        );
        return Err(Fault::new(message));
    }
    Ok(vec![NOWHERE; entries as usize])
}

/// Chooses among equally short ways so that links carry equal numbers of routes, one for each pair
/// of hosts.
///
/// Destination after destination and switch after switch, the nearest first, takes the way whose
/// links have least to carry so far: Hoefler, Schneider and Lumsdaine, "Optimized routing for
/// large-scale InfiniBand networks", HOTI 2009, but along shortest ways only, and with the sum of a
/// way's links as it was when a switch of it last chose.
struct Balance<'a> {
    graph: &'a Graph,
    /// Hosts of each switch.
    hosts: Vec<u64>,
    /// Routes by port of all devices.
    load: Vec<u64>,
    /// Of the present target: the switches from the nearest on with their distances, and the ports
    /// of each that lie on shortest ways.
    order: Vec<(u32, u32)>,
    first: Vec<usize>,
    candidates: Vec<u16>,
    /// The link that each switch chose, its far end, and the sum of the loads on the way from
    /// there.
    chosen: Vec<(u32, u32)>,
    cost: Vec<u64>,
}

impl<'a> Balance<'a> {
    fn new(graph: &'a Graph) -> Self {
        let hosts = |switch| {
            let near = graph.neighbours(switch).filter(|(_, end)| graph.is_host(end.device));
            near.count() as u64
        };
        let switches = graph.switches() as usize;
        Self {
            graph,
            hosts: (graph.hosts()..graph.devices()).map(hosts).collect(),
            load: vec![0; graph.all_ports() as usize],
            order: Vec::new(),
            first: Vec::new(),
            candidates: Vec::new(),
            chosen: vec![(0, 0); switches],
            cost: vec![0; switches],
        }
    }

    /// Looks for the ways to a set of switches.
    fn aim(&mut self, search: &mut Search, targets: &[u32]) {
        search.run(targets);
        self.order.clear();
        self.first.clear();
        self.candidates.clear();
        for switch in 0..self.graph.switches() {
            self.first.push(self.candidates.len());
            self.candidates.extend(search.candidates(switch));
            if let Some(distance) = search.distance(switch).filter(|&distance| distance > 0) {
                self.order.push((distance, switch));
            }
        }
        self.first.push(self.candidates.len());
        self.order.sort_unstable();
    }

    /// Chooses a port at every switch towards a number of hosts; the preferred one where it is on a
    /// shortest way.
    fn choose(
        &mut self,
        weight: u64,
        prefer: impl Fn(u32) -> Option<u16>,
        mut enter: impl FnMut(u32, u16),
    ) {
        self.cost.fill(0);
        for at in 0..self.order.len() {
            let (distance, switch) = self.order[at];
            let choices = self.first[switch as usize]..self.first[switch as usize + 1];
            let choices = &self.candidates[choices];
            let preferred = prefer(switch).filter(|port| choices.contains(port));
            let ways = choices.iter().filter(|port| preferred.is_none_or(|other| other == **port));
            let ways = ways.filter_map(|&port| self.way(switch, port));
            let Some((cost, port, link, to)) = ways.min() else { continue };
            enter(switch, port);
            self.cost[switch as usize] = cost;
            self.chosen[switch as usize] = (link, to);
            self.carry(switch, distance, weight * self.hosts[switch as usize]);
        }
    }

    /// The cost of a way, with its port, its first link and the far end of that.
    fn way(&self, switch: u32, port: u16) -> Option<(u64, u16, u32, u32)> {
        let device = self.graph.hosts() + switch;
        let to = self.graph.peer(device, port)?.device - self.graph.hosts();
        let link = self.graph.first_port(device) + u32::from(port);
        Some((self.load[link as usize] + self.cost[to as usize], port, link, to))
    }

    /// Adds routes to all links of the way from a switch.
    fn carry(&mut self, switch: u32, distance: u32, routes: u64) {
        let mut here = switch;
        for left in (1..=u64::from(distance)).rev().take_while(|_| routes > 0) {
            let (link, to) = self.chosen[here as usize];
            self.load[link as usize] += routes;
            self.cost[here as usize] += routes * left;
            here = to;
        }
    }
}

/// A table by switch and host along the ways that a search finds. Among equally short ways the
/// preferred port is taken where there is one, else that with the fewest routes so far.
pub(super) fn by_host(
    graph: &Graph,
    mut search: Search,
    prefer: impl Fn(u32, u32) -> Option<u16>,
) -> Result<Next, Fault> {
    let (hosts, switches) = (graph.hosts(), graph.switches());
    let mut ports = space(switches, hosts)?;
    let mut balance = Balance::new(graph);
    let mut current = Vec::new();
    for host in 0..hosts {
        let (targets, direct) = homes(graph, host);
        if targets != current || host == 0 {
            balance.aim(&mut search, &targets);
            current = targets;
        }
        let place = |switch: u32| switch as usize * hosts as usize + host as usize;
        let enter = |switch, port| ports[place(switch)] = port;
        balance.choose(1, |switch| prefer(switch, host), enter);
        for (switch, port) in direct {
            ports[place(switch)] = port;
        }
    }
    Ok(Next::Hosts { ports, hosts, climbs: search.climbs() })
}

/// The rule that selects one of several shortest ways.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ties {
    /// The way with the fewest routes so far.
    Balanced,
    /// The way by the lowest port: in grids close to dimension order, which makes for few cycles.
    LowestPort,
}

/// A table by switch and destination switch along shortest ways, and the most links of a way.
pub(super) fn by_switch(graph: &Graph, ties: Ties) -> Result<(Switches, u32), Fault> {
    let count = graph.switches();
    let mut ports = space(count, count)?;
    let mut search = Search::minimal(graph);
    let mut balance = Balance::new(graph);
    let mut longest = 0;
    let homes = single_homes(graph)?;
    for target in 0..count {
        balance.aim(&mut search, &[target]);
        let weight = if ties == Ties::Balanced { balance.hosts[target as usize] } else { 0 };
        let enter = |switch, port| ports[switch as usize * count as usize + target as usize] = port;
        balance.choose(weight, |_| None, enter);
        let populated = |switch: u32| balance.hosts[switch as usize] > 0;
        for switch in (0..count).filter(|&switch| populated(switch) && populated(target)) {
            longest = longest.max(search.distance(switch).unwrap_or(0));
        }
    }
    let ways = Ways::Table(ports);
    Ok((Switches { ways, count, homes: Homes::Table(homes), via: Via::None }, longest))
}

/// The switch and port of hosts that have one each; without a link an impossible switch.
fn single_homes(graph: &Graph) -> Result<Vec<(u32, u16)>, Fault> {
    let home = |host| {
        let (_, ports) = homes(graph, host);
        if ports.len() > 1 {
            let name = graph.name(host);
            let message =
                format!("this routing is for hosts of one port, but `{name}` has several");
            return Err(Fault::new(message).help("use min-hop or up-down".to_owned()));
        }
        Ok(ports.first().copied().unwrap_or((u32::MAX, 0)))
    };
    (0..graph.hosts()).map(home).collect()
}

/// A pair of hosts in service without a way, if there is one: no port of the source leads to a
/// switch that knows one. Formulas are for topologies whose links all work.
pub(super) fn unreachable(graph: &Graph, next: &Next) -> Option<(u32, u32)> {
    if next.is_formula() {
        return None;
    }
    let hosts = graph.hosts();
    let out = graph.hosts_out();
    let in_service = || (0..hosts).filter(|host| out.binary_search(host).is_err());
    // Two hosts stand for all that are linked to the same switches: one of them is not the
    // destination.
    let mut residents: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for host in in_service() {
        let (switches, _) = homes(graph, host);
        if switches.is_empty()
            && let Some(other) = in_service().find(|&other| other != host)
        {
            return Some((other, host));
        }
        let residents = residents.entry(switches).or_default();
        if residents.len() < 2 {
            residents.push(host);
        }
    }
    for destination in in_service() {
        for (switches, residents) in &residents {
            if let Some(&source) = residents.iter().find(|&&host| host != destination)
                && !switches.iter().any(|&switch| next.knows(switch, destination))
            {
                return Some((source, destination));
            }
        }
    }
    None
}
