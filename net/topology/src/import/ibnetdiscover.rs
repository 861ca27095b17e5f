//! The text that `ibnetdiscover` prints (infiniband-diags; format as in its manual page).
//!
//! Ports are counted from 1 there and from 0 here. Every cable stands in the file twice, once at
//! each end.

use std::collections::BTreeMap;

use super::{
    Imported,
    draft::{Draft, Place, Properties, Tip},
};
use crate::{Fault, Faults, place::column_of};

/// A node's line.
struct Node {
    id: String,
    host: bool,
    ports: u32,
    /// First word of the description, for adapters.
    called: Option<String>,
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
    faults: Faults,
}

/// Reads the output of `ibnetdiscover`. Switches are named by their identifier, such as
/// `S-0008f10400411f56`, hosts by the first word of their description where that is unique.
pub fn ibnetdiscover(text: &str) -> Result<Imported, Faults> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.starts_with('[') {
            reader.wire(line, index + 1);
        } else if ["Switch", "Ca"]
            .iter()
            .any(|kind| content.split_whitespace().next() == Some(kind))
        {
            reader.node(line, index + 1);
        } else if !(content.is_empty() || content.starts_with('#') || content.contains('=')) {
            let word = content.split_whitespace().next().unwrap_or_default();
            let message =
                format!("expected Switch, Ca, a port in brackets or KEY=VALUE, found `{word}`");
            let column = column_of(line, word);
            let known = ["Switch", "Ca"];
            reader.faults.push(Fault::at(index + 1, column, message).near(word, &known));
        }
    }
    reader.finish()
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
        let called = described.and_then(|(text, _)| text.split_whitespace().next());
        let place = (number, column_of(line, id));
        let called = called.filter(|_| host).map(str::to_owned);
        self.nodes.push(Node { id: id.to_owned(), host, ports, called, place });
    }

    fn wire(&mut self, line: &str, number: usize) {
        let parsed = || {
            let (port, rest) = bracketed(line)?;
            let rest = rest.trim_start();
            let rest = match rest.strip_prefix('(') {
                Some(guid) => guid.split_once(')')?.1,
                None => rest,
            };
            let (far, rest) = quoted(rest)?;
            let (far_port, rest) = bracketed(rest)?;
            Some((port, far, far_port, rest))
        };
        let Some((port, far, far_port, rest)) = parsed() else {
            let message = "expected a port such as [1] \"S-0008f10400411f56\"[2]";
            self.faults.push(Fault::at(number, 1, message));
            return;
        };
        let Some(node) = self.nodes.last() else {
            self.faults.push(Fault::at(number, 1, "a port before the first Switch or Ca"));
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
        let Self { nodes, wires, faults } = self;
        let mut draft = Draft::default();
        draft.faults = faults;
        let mut times = BTreeMap::new();
        for called in nodes.iter().filter_map(|node| node.called.as_ref()) {
            *times.entry(called).or_insert(0) += 1;
        }
        let mut names = BTreeMap::new();
        for node in &nodes {
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
        Ok(imported)
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
