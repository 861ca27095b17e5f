//! BookSim's networks of any shape, from the file `network_file`.
//!
//! A line names a router or a node, and then routers and nodes that are linked to it, each perhaps
//! with the latency of its channel in cycles. That of a channel between routers counts from the
//! first to the other; the way back takes a cycle unless a line says otherwise. Packets take ways
//! of the least latency; of several the one that is found first from the routers of low numbers.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use topology::{Routing, import};
use units::Time;

use super::{
    network::{CYCLE, Described},
    values::Values,
};
use crate::settings::diagnostic::{Diagnostic, Place, Source, unread};

type Mistakes = Vec<Diagnostic>;

/// Most routers of a file: ways are tables by router and node.
const MOST: usize = 1 << 13;

/// Links from each device to others, with their latencies.
type Links = BTreeMap<u32, BTreeMap<u32, u64>>;

/// The ports of a router to its nodes, and those to other routers.
type Ports = (BTreeMap<u32, usize>, BTreeMap<u32, usize>);

/// The routers and nodes of a file.
#[derive(Debug, Default)]
struct Network {
    /// The channels between routers, by their first ends.
    channels: Links,
    /// The nodes of each router.
    nodes: Links,
    /// The router of each node.
    homes: BTreeMap<u32, u32>,
}

/// Returns the network of the file that the values name.
pub(super) fn describe(
    values: &Values,
    routing: Result<Routing, Diagnostic>,
) -> Result<Described, Mistakes> {
    routing.map_err(|wrong| vec![wrong])?;
    let name = values.text("network_file");
    if name.is_empty() {
        return Err(vec![values.wrong("network_file", "an anynet needs a file")]);
    }
    let path: PathBuf = values.folder().join(name);
    let text = units::text::read(&path).map_err(|error| {
        vec![values.wrong("network_file", format!("{name}: {}", unread(&path, &error)))]
    })?;
    let network = read(&path, text)?;
    network.check(&path)?;
    let built = network.build();
    built.map_err(|message| vec![Diagnostic::new(Place::File(path), message)])
}

fn read(path: &Path, text: String) -> Result<Network, Mistakes> {
    let source = Arc::new(Source { name: path.display().to_string(), text });
    let (mut network, mut wrong) = (Network::default(), Vec::new());
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        if let Err((part, message)) = network.line(line) {
            let first = start + (part.as_ptr() as usize - line.as_ptr() as usize);
            let place = Place::Text(Arc::clone(&source), first..first + part.len());
            wrong.push(Diagnostic::new(place, message));
        }
        start += line.len();
    }
    if wrong.is_empty() { Ok(network) } else { Err(wrong) }
}

type Wrong<'a> = (&'a str, String);

/// A router or a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Device {
    Router(u32),
    Node(u32),
}

impl Network {
    fn line<'a>(&mut self, line: &'a str) -> Result<(), Wrong<'a>> {
        let mut words = line.split_whitespace().peekable();
        let Some(first) = words.next() else { return Ok(()) };
        let head = device(first, words.next())?;
        if let Device::Router(router) = head {
            self.router(router);
        }
        while let Some(word) = words.next() {
            let other = device(word, words.next())?;
            let latency =
                words.next_if(|word| word.bytes().next().is_some_and(|b| b.is_ascii_digit()));
            let cycles = latency.map_or(Ok(1), |text| {
                let cycles = text.parse().ok().filter(|cycles| (1..=1 << 30).contains(cycles));
                cycles.ok_or_else(|| (text, "expected a latency of 1 cycle or more".to_owned()))
            })?;
            self.link(head, other, cycles).map_err(|message| (word, message))?;
        }
        Ok(())
    }

    fn router(&mut self, router: u32) {
        self.channels.entry(router).or_default();
        self.nodes.entry(router).or_default();
    }

    fn link(&mut self, from: Device, to: Device, cycles: u64) -> Result<(), String> {
        match (from, to) {
            (Device::Router(from), Device::Router(to)) if from == to => {
                return Err(format!("router {from} is linked to itself"));
            }
            (Device::Router(from), Device::Router(to)) => {
                self.router(to);
                self.channels.entry(from).or_default().insert(to, cycles);
                self.channels.entry(to).or_default().entry(from).or_insert(1);
            }
            (Device::Router(router), Device::Node(node))
            | (Device::Node(node), Device::Router(router)) => {
                let home = *self.homes.entry(node).or_insert(router);
                if home != router {
                    return Err(format!("node {node} is linked to router {home} and to {router}"));
                }
                self.router(router);
                self.nodes.entry(router).or_default().insert(node, cycles);
            }
            (Device::Node(_), Device::Node(_)) => {
                return Err("nodes are linked to routers, not to nodes".to_owned());
            }
        }
        Ok(())
    }

    /// Numbers begin at 0 and leave none out, and there is a way between all routers.
    fn check(&self, path: &Path) -> Result<(), Mistakes> {
        let gap = |kind: &str, numbers: &mut dyn Iterator<Item = u32>| {
            let gap = numbers.zip(0..).find(|(number, place)| number != place);
            gap.map(|(_, place)| format!("there is no {kind} {place}, but one of a higher number"))
        };
        let routers = gap("router", &mut self.channels.keys().copied());
        let nodes = gap("node", &mut self.homes.keys().copied());
        let none = self.homes.is_empty().then(|| "there is no node".to_owned());
        let many = self.channels.len() > MOST;
        let many = many.then(|| format!("there are more than {MOST} routers"));
        // Channels go both ways.
        let reached = self.first_steps(0);
        let apart = self.channels.keys().find(|&&it| it > 0 && !reached.contains_key(&it));
        let apart = apart.map(|router| format!("there is no way from router 0 to router {router}"));
        let apart = apart.filter(|_| routers.is_none());
        let wrong: Mistakes = [routers, nodes, none, many, apart]
            .into_iter()
            .flatten()
            .map(|message| Diagnostic::new(Place::File(path.to_owned()), message))
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// The port of a router to each of its nodes and of the other routers, in this order.
    fn ports(&self, router: u32) -> Ports {
        let keys =
            |links: &Links| links.get(&router).into_iter().flatten().map(|link| *link.0).collect();
        let (nodes, others): (Vec<u32>, Vec<u32>) = (keys(&self.nodes), keys(&self.channels));
        let first = nodes.len();
        (nodes.into_iter().zip(0..).collect(), others.into_iter().zip(first..).collect())
    }

    /// Makes it by the readers of edge lists and of forwarding tables.
    fn build(&self) -> Result<Described, String> {
        let ports: Vec<_> = self.channels.keys().map(|&router| self.ports(router)).collect();
        let mut list = String::new();
        let cycles = |cycles: u64| format!("{} ps", (cycles - 1) * CYCLE);
        for node in self.homes.keys() {
            let _ = writeln!(list, "host,h{node},1");
        }
        for (router, (nodes, others)) in ports.iter().enumerate() {
            let _ = writeln!(list, "switch,s{router},{}", nodes.len() + others.len());
        }
        for (&router, nodes) in &self.nodes {
            for (&node, &latency) in nodes {
                let port = ports[router as usize].0[&node];
                let _ = writeln!(list, "link,h{node}:0,s{router}:{port},{}", cycles(latency));
            }
        }
        for (&from, others) in &self.channels {
            for &to in others.keys().filter(|&&to| to > from) {
                let (there, back) = (ports[from as usize].1[&to], ports[to as usize].1[&from]);
                let _ = writeln!(list, "link,s{from}:{there},s{to}:{back}");
            }
        }
        let mut imported = import::csv(&list).map_err(|faults| faults.render("network_file"))?;
        let channels = &self.channels;
        let delay = |[from, to]: [u32; 2]| {
            let latency = channels.get(&from)?.get(&to)?;
            Some(Time::from_ps((latency - 1) * CYCLE))
        };
        imported.topology = imported.topology.with_delays(delay);
        let tables = import::fdb_vectors(&self.tables(&ports), &imported);
        let routes = tables.map_err(|faults| faults.render("network_file"))?.routes;
        let places = (0..self.homes.len() as u32).collect();
        Ok(Described { topology: imported.topology, routes, places })
    }

    /// The forwarding tables: for each router its port to every node.
    fn tables(&self, ports: &[Ports]) -> String {
        let mut text = String::new();
        for (&router, (nodes, others)) in self.channels.keys().zip(ports) {
            let first = self.first_steps(router);
            let _ = write!(text, "{router}: 255");
            for (node, &home) in &self.homes {
                let port = match first.get(&home) {
                    _ if home == router => nodes.get(node),
                    Some(next) => others.get(next),
                    None => None,
                };
                let _ = write!(text, " {}", port.copied().unwrap_or(255));
            }
            text.push('\n');
        }
        text
    }

    /// The first router on the way of the least latency to each other one (Dijkstra, 1959).
    fn first_steps(&self, start: u32) -> BTreeMap<u32, u32> {
        let mut distances = BTreeMap::from([(start, 0)]);
        let mut first = BTreeMap::new();
        let mut waiting = std::collections::BTreeSet::from([(0, start)]);
        while let Some((distance, here)) = waiting.pop_first() {
            for (&there, &latency) in self.channels.get(&here).into_iter().flatten() {
                let longer = distance + latency;
                let known = distances.get(&there).copied();
                if known.is_some_and(|known| known <= longer) {
                    continue;
                }
                if let Some(known) = known {
                    waiting.remove(&(known, there));
                }
                distances.insert(there, longer);
                waiting.insert((longer, there));
                let step = first.get(&here).copied().unwrap_or(there);
                first.insert(there, step);
            }
        }
        first
    }
}

/// The device of a word and its number.
fn device<'a>(word: &'a str, number: Option<&'a str>) -> Result<Device, Wrong<'a>> {
    let make = match word {
        "router" => Device::Router,
        "node" => Device::Node,
        _ => return Err((word, format!("expected `router` or `node`, found `{word}`"))),
    };
    let Some(text) = number else {
        return Err((word, format!("expected a number after `{word}`")));
    };
    let number = text.parse().map_err(|_| (text, format!("expected a number, found `{text}`")))?;
    Ok(make(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        read(Path::new("net"), text.to_owned()).expect("it is well formed")
    }

    /// From router 0 to 2 the direct channel takes 10 cycles and the way by router 1 takes 5 + 1;
    /// the way back from 2 to 0 takes one cycle, as nobody says otherwise.
    #[test]
    fn latencies_have_directions() {
        let text = "router 0 node 0 router 1 5 router 2 10\nrouter 1 node 1 router 2\n\
                    router 2 node 2\n";
        let network = network(text);
        assert_eq!(network.channels[&0], BTreeMap::from([(1, 5), (2, 10)]));
        assert_eq!(network.channels[&2], BTreeMap::from([(0, 1), (1, 1)]));
        assert_eq!(network.first_steps(0), BTreeMap::from([(1, 1), (2, 1)]));
        assert_eq!(network.first_steps(2), BTreeMap::from([(0, 0), (1, 1)]));
        let built = network.build().expect("a network");
        let link = |a: &str, b: &str| {
            let graph = &built.topology.graph;
            let [a, b] = [a, b].map(|name| graph.device(name).expect("a device"));
            let (_, end) = graph.neighbours(a).find(|(_, end)| end.device == b).expect("a link");
            graph.link(end.link).delay_from(a).map(Time::ps)
        };
        assert_eq!(link("s0", "s2"), Some(9000));
        assert_eq!(link("s2", "s0"), Some(0));
        assert_eq!(link("s0", "s1"), Some(4000));
    }

    #[test]
    fn mistakes() {
        let wrong = |text: &str| {
            let read = read(Path::new("net"), text.to_owned());
            let read = read.and_then(|network| network.check(Path::new("net")));
            read.expect_err("it is wrong")[0].message.clone()
        };
        assert_eq!(wrong("switch 0 node 0"), "expected `router` or `node`, found `switch`");
        assert_eq!(wrong("router 0 node"), "expected a number after `node`");
        assert_eq!(wrong("node 0 node 1"), "nodes are linked to routers, not to nodes");
        assert_eq!(wrong("router 0 node 1"), "there is no node 0, but one of a higher number");
        let apart = "there is no way from router 0 to router 2";
        assert_eq!(wrong("router 0 node 0 router 1\nrouter 2 node 1 router 3"), apart);
        assert_eq!(wrong("router 0 router 0"), "router 0 is linked to itself");
    }
}
