//! The text that `ibnetdiscover` prints (infiniband-diags; format as in its manual page).
//!
//! Ports are counted from 1 there and from 0 here. Every cable stands in the file twice, once at
//! each end. Headings of chassis and external port numbers (`-g`) say nothing about the graph.
//!
//! Routers to other subnets, and the aggregation nodes that switches have for reductions, are no
//! hosts: they and their cables are left out with a warning.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Imported,
    draft::{Draft, Place, Properties, Tip},
};
use crate::{Fault, Faults, place::column_of};

/// The kinds of nodes, by the word that begins their line.
const KINDS: [&str; 3] = ["Switch", "Ca", "Rt"];

/// Keys that describe a node without saying anything about the graph.
const KEYS: [&str; 8] =
    ["vendid", "devid", "sysimgguid", "chassisguid", "switchguid", "caguid", "rtguid", "hostguid"];

/// A node's line.
struct Node {
    id: String,
    host: bool,
    ports: u32,
    /// First word of the description, for adapters.
    called: Option<String>,
    lid: Option<u32>,
    place: Place,
}

/// A port's line: where it leads, and what else it says.
struct Wire {
    far: (String, u32),
    rate: Option<(String, Place)>,
    lid: Option<u32>,
    place: Place,
}

#[derive(Default)]
struct Reader {
    nodes: Vec<Node>,
    wires: BTreeMap<(String, u32), Wire>,
    /// Nodes that are neither hosts nor switches.
    left_out: BTreeSet<String>,
    warnings: Faults,
    faults: Faults,
}

/// Reads the output of `ibnetdiscover`. Switches are named by their identifier, such as
/// `S-0008f10400411f56`, hosts by the first word of their description where that is unique.
pub fn ibnetdiscover(text: &str) -> Result<Imported, Faults> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        let content = line.trim();
        let word = content.split_whitespace().next().unwrap_or_default();
        if content.starts_with('[') {
            reader.wire(line, index + 1);
        } else if KINDS.contains(&word) {
            reader.node(line, index + 1);
        } else if let Some((key, _)) = content.split_once('=').filter(|_| !word.starts_with('#')) {
            if !KEYS.contains(&key) {
                let message = format!("unknown key `{key}`; expected {}", KEYS.join(", "));
                let fault = Fault::at(index + 1, column_of(line, key), message);
                reader.faults.push_near(fault, key, || KEYS.to_vec());
            }
        } else if !(content.is_empty() || word.starts_with('#') || is_chassis(content)) {
            let message =
                format!("expected Switch, Ca, Rt, a port in brackets or KEY=VALUE, found `{word}`");
            let fault = Fault::at(index + 1, column_of(line, word), message);
            reader.faults.push_near(fault, word, || KINDS.to_vec());
        }
    }
    reader.finish()
}

/// Recognises the heading of a chassis, such as `Chassis 1 (guid 0x8f10400403ce)`.
fn is_chassis(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("Chassis") && words.next().is_some_and(|n| n.parse::<u32>().is_ok())
}

/// The text behind an external port such as `[ext 5]` and an identifier in parentheses, which say
/// nothing about the graph.
fn after_extras(text: &str) -> Option<&str> {
    let text = text.trim_start();
    if let Some(external) = text.strip_prefix("[ext") {
        after_extras(external.split_once(']')?.1)
    } else if let Some(guid) = text.strip_prefix('(') {
        after_extras(guid.split_once(')')?.1)
    } else {
        Some(text)
    }
}

/// The text in quotes at the start, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.trim_start().strip_prefix('"')?.split_once('"')
}

/// The number in brackets at the start, and the rest.
fn bracketed(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    Some((number.trim().parse().ok().filter(|&port| port > 0)?, rest))
}

/// The number after a word.
fn after(text: &str, word: &str) -> Option<u32> {
    let mut words = text.split_whitespace().skip_while(|other| *other != word);
    words.nth(1)?.parse().ok()
}

impl Reader {
    fn node(&mut self, line: &str, number: usize) {
        let (kind, rest) = line.trim().split_once(char::is_whitespace).unwrap_or_default();
        let host = kind == "Ca";
        let rest = rest.trim_start();
        let digits = rest.split_whitespace().next().unwrap_or_default();
        let id = rest.get(digits.len()..).and_then(quoted);
        let (Some(ports), Some((id, comment))) = (digits.parse().ok(), id) else {
            let message = "expected a number of ports and an identifier in quotes";
            self.faults.push(Fault::at(number, column_of(line, rest), message));
            return;
        };
        let described = comment.split_once('#').and_then(|(_, comment)| quoted(comment));
        let (description, comment) = described.unwrap_or_default();
        let place = (number, column_of(line, id));
        let mut leave_out = |message: String| {
            self.left_out.insert(id.to_owned());
            self.warnings.push(Fault::at(place.0, place.1, message));
        };
        if kind == "Rt" {
            leave_out(format!("router `{id}` leads to other subnets; it is left out"));
        } else if host && description.contains("Aggregation Node") {
            leave_out(format!(
                "`{id}` is an aggregation node of a switch, no host; it is left out"
            ));
        }
        let called = description.split_whitespace().next().filter(|_| host).map(str::to_owned);
        let lid = after(comment, "lid").filter(|_| !host);
        self.nodes.push(Node { id: id.to_owned(), host, ports, called, lid, place });
    }

    fn wire(&mut self, line: &str, number: usize) {
        let parsed = || {
            let (port, rest) = bracketed(line)?;
            let (far, rest) = quoted(after_extras(rest)?)?;
            let (far_port, rest) = bracketed(rest)?;
            let rest = after_extras(rest)?;
            (rest.is_empty() || rest.starts_with('#')).then_some((port, far, far_port, rest))
        };
        let Some((port, far, far_port, rest)) = parsed() else {
            let message = "expected a port such as [1] \"S-0008f10400411f56\"[2]";
            self.faults.push(Fault::at(number, 1, message));
            return;
        };
        let Some(node) = self.nodes.last() else {
            self.faults.push(Fault::at(number, 1, "a port before the first Switch, Ca or Rt"));
            return;
        };
        let comment = rest.split_once('#').map_or("", |(_, comment)| comment);
        let rate = comment.split_whitespace().next_back().filter(|word| {
            let (width, speed) = word.split_once('x').unwrap_or_default();
            !speed.is_empty()
                && !width.is_empty()
                && width.bytes().all(|byte| byte.is_ascii_digit())
        });
        let rate = rate.map(|word| (word.to_owned(), (number, column_of(line, word))));
        let place = (number, column_of(line, far));
        if port > node.ports {
            let message = format!("dangling port: `{}` has ports 1 to {}", node.id, node.ports);
            self.faults.push(Fault::at(number, 1, message));
        }
        let wire =
            Wire { far: (far.to_owned(), far_port), rate, lid: after(comment, "lid"), place };
        if let Some(other) = self.wires.insert((node.id.clone(), port), wire) {
            let message = format!("port {port} has a cable already, from line {}", other.place.0);
            self.faults.push(Fault::at(number, 1, message));
        }
    }

    fn finish(self) -> Result<Imported, Faults> {
        let Self { nodes, mut wires, left_out, warnings, faults } = self;
        let mut draft = Draft::default();
        let mut other_lids: BTreeSet<u32> = nodes.iter().filter_map(|node| node.lid).collect();
        let nodes = || nodes.iter().filter(|node| !left_out.contains(&node.id));
        wires.retain(|(id, _), wire| {
            if left_out.contains(id) {
                other_lids.extend(wire.lid);
            }
            !left_out.contains(id) && !left_out.contains(&wire.far.0)
        });
        draft.faults = faults;
        let mut times = BTreeMap::new();
        for called in nodes().filter_map(|node| node.called.as_ref()) {
            *times.entry(called).or_insert(0) += 1;
        }
        let mut names = BTreeMap::new();
        for node in nodes() {
            let called = node.called.as_ref().filter(|called| times.get(called) == Some(&1));
            let name = called.unwrap_or(&node.id);
            draft.device(name, node.host, Some(node.ports), node.place);
            if names.insert(node.id.as_str(), name.as_str()).is_some() && *name != node.id {
                draft.fault(node.place, format!("`{}` is declared twice", node.id));
            }
        }
        cables(&wires, &names, &mut draft);
        let adapters = wires.iter().filter(|((id, _), _)| id.starts_with('H'));
        let lid =
            |((id, _), wire): (&(String, u32), &Wire)| Some((wire.lid?, *names.get(id.as_str())?));
        let lids: Vec<(u32, &str)> = adapters.filter_map(lid).collect();
        let mut imported = draft.finish()?;
        let graph = &imported.topology.graph;
        let known = lids.iter().filter_map(|(lid, name)| Some((*lid, graph.host(name)?)));
        if !lids.is_empty() {
            imported.lids = known.collect();
        }
        Ok(Imported { other_lids, warnings, ..imported })
    }
}

/// Adds each cable once, as both of its ends must say the same.
fn cables(wires: &BTreeMap<(String, u32), Wire>, names: &BTreeMap<&str, &str>, draft: &mut Draft) {
    for ((id, port), wire) in wires {
        let near = (id.clone(), *port);
        match wires.get(&wire.far) {
            Some(back) if back.far == near && wire.far >= near => {}
            Some(back) if back.far == near => continue,
            Some(back) => {
                let message = format!(
                    "this cable leads to `{}`[{}], but that port leads elsewhere (line {})",
                    wire.far.0, wire.far.1, back.place.0
                );
                draft.fault(wire.place, message);
                continue;
            }
            None if names.contains_key(wire.far.0.as_str()) => {
                let (far, port) = &wire.far;
                let message = format!("dangling port: `{far}`[{port}] is not in the file");
                draft.fault(wire.place, message);
                continue;
            }
            None => {}
        }
        let mut properties = Properties::default();
        if let Some((text, place)) = &wire.rate {
            draft.property(&mut properties, "rate", text, *place);
        }
        let tip = |(id, port): &(String, u32)| Tip {
            name: names.get(id.as_str()).map_or(id.as_str(), |name| *name).to_owned(),
            port: Some(port - 1),
            place: wire.place,
        };
        draft.cable(tip(&near), tip(&wire.far), properties);
    }
}
