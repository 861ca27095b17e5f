//! Forwarding tables, computed.

use std::collections::BTreeMap;

use super::{
    next::{NOWHERE, Next, Switches, Via},
    search::Search,
};
use crate::{Fault, Graph, shape::Dragonfly};

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

/// A table by switch and host along the ways that a search finds. Among equally short ways the preferred
/// port is taken where there is one, else the port with the fewest destinations so far.
pub(super) fn by_host(
    graph: &Graph,
    mut search: Search,
    prefer: impl Fn(u32, u32) -> Option<u16>,
) -> Result<Next, Fault> {
    let (hosts, switches) = (graph.hosts(), graph.switches());
    let mut ports = space(switches, hosts)?;
    let mut load = vec![0_u32; graph.all_ports() as usize];
    let mut current = Vec::new();
    let (mut first, mut candidates) = (Vec::new(), Vec::new());
    for host in 0..hosts {
        let (targets, direct) = homes(graph, host);
        if targets != current || host == 0 {
            search.run(&targets);
            first.clear();
            candidates.clear();
            for switch in 0..switches {
                first.push(candidates.len());
                candidates.extend(search.candidates(switch));
            }
            first.push(candidates.len());
            current = targets;
        }
        for switch in 0..switches as usize {
            let base = graph.first_port(hosts + switch as u32) as usize;
            let choices = &candidates[first[switch]..first[switch + 1]];
            let preferred = prefer(switch as u32, host).filter(|port| choices.contains(port));
            let lightest =
                || choices.iter().copied().min_by_key(|&port| load[base + usize::from(port)]);
            if let Some(port) = preferred.or_else(lightest) {
                load[base + usize::from(port)] += 1;
                ports[switch * hosts as usize + host as usize] = port;
            }
        }
        for (switch, port) in direct {
            ports[switch as usize * hosts as usize + host as usize] = port;
        }
    }
    Ok(Next::Hosts { ports, hosts, climbs: search.climbs() })
}

/// Which one of several shortest ways is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ties {
    /// They are spread by destination.
    Spread,
    /// That by the lowest port: in grids close to dimension order, which makes for few cycles.
    LowestPort,
}

/// A table by switch and destination switch along shortest ways, and the most links of a way.
pub(super) fn by_switch(graph: &Graph, ties: Ties) -> Result<(Switches, u32), Fault> {
    let count = graph.switches();
    let mut ports = space(count, count)?;
    let mut search = Search::minimal(graph);
    let mut longest = 0;
    let mut choices = Vec::new();
    let homes = single_homes(graph)?;
    let mut populated = vec![false; count as usize];
    for (home, _) in homes.iter().filter(|(home, _)| *home < count) {
        populated[*home as usize] = true;
    }
    for target in 0..count {
        search.run(&[target]);
        for switch in 0..count {
            choices.clear();
            choices.extend(search.candidates(switch));
            let choice = if ties == Ties::Spread { target as usize } else { 0 };
            if let Some(&port) = choices.get(choice % choices.len().max(1)) {
                ports[switch as usize * count as usize + target as usize] = port;
            }
            if populated[target as usize] && populated[switch as usize] {
                longest = longest.max(search.distance(switch).unwrap_or(0));
            }
        }
    }
    Ok((Switches { ports, count, homes, via: Via::None }, longest))
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

/// Tables of a dragonfly: at most one local, one global and one local link; by way of a group if asked for.
pub(super) fn dragonfly(graph: &Graph, shape: &Dragonfly, via: bool) -> Result<Switches, Fault> {
    let (count, groups, routers) = (shape.switches(), shape.groups, shape.routers);
    let mut global = vec![Vec::new(); (groups * groups) as usize];
    for group in 0..groups {
        for slot in 0..routers * shape.global {
            if let Some((far, _)) = shape.across(group, slot) {
                global[(group * groups + far) as usize].push(slot);
            }
        }
    }
    let local = |from: u32, to: u32| shape.hosts + if to < from { to } else { to - 1 };
    // The way of a switch to another group, spread over the links there by a key.
    let outward = |switch: u32, group: u32, key: u32| {
        let router = switch % routers;
        let slots = &global[(switch / routers * groups + group) as usize];
        let own: Vec<u32> =
            slots.iter().copied().filter(|slot| slot / shape.global == router).collect();
        let choices = if own.is_empty() { slots } else { &own };
        let slot = choices.get(key as usize % choices.len().max(1)).copied()?;
        let gateway = slot / shape.global;
        Some(if gateway == router {
            shape.hosts + routers - 1 + slot % shape.global
        } else {
            local(router, gateway)
        })
    };
    let mut ports = space(count, count)?;
    for switch in 0..count {
        for target in (0..count).filter(|&target| target != switch) {
            let port = if switch / routers == target / routers {
                Some(local(switch % routers, target % routers))
            } else {
                outward(switch, target / routers, target)
            };
            let entry = &mut ports[switch as usize * count as usize + target as usize];
            *entry = port.map_or(NOWHERE, |port| port as u16);
        }
    }
    let via = if via {
        let mut ports = space(count, groups)?;
        for switch in 0..count {
            for group in (0..groups).filter(|&group| group != switch / routers) {
                let entry = &mut ports[switch as usize * groups as usize + group as usize];
                *entry = outward(switch, group, switch).map_or(NOWHERE, |port| port as u16);
            }
        }
        Via::Group { ports, groups, routers, globals: (shape.hosts + routers - 1) as u16 }
    } else {
        Via::None
    };
    Ok(Switches { ports, count, homes: single_homes(graph)?, via })
}

/// A pair of hosts without a way, if there is one: no port of the source leads to a switch that knows one. Formulas
/// are for topologies whose links all work.
pub(super) fn unreachable(graph: &Graph, next: &Next) -> Option<(u32, u32)> {
    if matches!(next, Next::Tree(_) | Next::Grid(_)) {
        return None;
    }
    let hosts = graph.hosts();
    // Two hosts stand for all that are linked to the same switches: one of them is not the destination.
    let mut residents: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for host in 0..hosts {
        let (switches, _) = homes(graph, host);
        if switches.is_empty() && hosts > 1 {
            return Some(if host == 0 { (1, 0) } else { (0, host) });
        }
        let residents = residents.entry(switches).or_default();
        if residents.len() < 2 {
            residents.push(host);
        }
    }
    for destination in 0..hosts {
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
