//! Forwarding tables from files: vectors as simulators keep them, and dumps of a subnet manager.

use std::collections::BTreeMap;

use super::Imported;
use crate::{
    Fault, Faults, Graph, Routes,
    place::column_of,
    route::{NOWHERE, Table},
};

/// Routes from a file of forwarding tables.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The routes.
    pub routes: Routes,
    /// Entries that were left out.
    pub warnings: Faults,
}

/// Most entries of the tables of a file.
const LIMIT: u64 = 1 << 27;

/// A table with the place of each entry.
struct Draft<'a> {
    from: &'a Imported,
    graph: &'a Graph,
    /// Hosts out of service.
    out: Vec<u32>,
    ports: Vec<u16>,
    /// Line and column of each entry; (0, 0) where there is none.
    places: Vec<(u32, u32)>,
    /// Line of each switch's table.
    tables: Vec<usize>,
    /// Switches that were reported to have none.
    missing: Vec<bool>,
    /// The first entry for each local identifier that no device has.
    strangers: BTreeMap<u32, (usize, usize)>,
    faults: Faults,
}

/// Reads lines `INDEX: v0 v1 v2 …` with the output port, from 0, to local identifier i as value i;
/// 255 means none. A line with the same index goes on where the last one ended, until all hosts
/// have their ports. Indices are those of the switches in their order.
pub fn fdb_vectors(text: &str, from: &Imported) -> Result<Tables, Faults> {
    let mut draft = Draft::new(from)?;
    let last = from.lids.keys().next_back().copied().unwrap_or(0);
    let mut filled = vec![0_u32; draft.graph.switches() as usize];
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        if line.trim().is_empty() {
            continue;
        }
        let Some((name, values)) = line.split_once(':') else {
            draft.fault(index + 1, 1, "expected INDEX: v0 v1 v2 …");
            continue;
        };
        let switches = draft.graph.switches();
        let switch = name.trim().parse::<u32>().ok().filter(|&switch| switch < switches);
        let Some(switch) = switch else {
            let message = format!(
                "expected the index of a switch, 0 to {}, found `{}`",
                switches.saturating_sub(1),
                name.trim()
            );
            draft.fault(index + 1, column_of(line, name.trim()), message);
            continue;
        };
        let first = std::mem::replace(&mut draft.tables[switch as usize], index + 1);
        if filled[switch as usize] > last {
            let message = format!(
                "switch {switch} has two tables: all hosts have their ports in line {first}"
            );
            draft.fault(index + 1, column_of(line, name.trim()), message);
            continue;
        }
        let mut rest = values;
        let mut column = column_of(line, values);
        for value in values.split([' ', ',', '\t']).filter(|value| !value.is_empty()) {
            let lid = filled[switch as usize];
            filled[switch as usize] += 1;
            // Counted from value to value, as a line may be long.
            column += column_of(rest, value) - 1;
            rest = rest.get(value.as_ptr() as usize - rest.as_ptr() as usize..).unwrap_or_default();
            let Ok(port) = value.parse::<u16>() else {
                let message = format!("expected a port from 0, or 255 for none, found `{value}`");
                draft.fault(index + 1, column, message);
                continue;
            };
            if port != 255 {
                draft.enter(switch, lid, port, (index + 1, column));
            }
        }
    }
    draft.finish()
}

/// Reads the linear forwarding tables that `dump_lfts` or `ibroute` print. Switches are found by
/// their GUID, as `ibnetdiscover` names them, or by their name in brackets; ports are counted from
/// 1 there.
pub fn lft_dump(text: &str, from: &Imported) -> Result<Tables, Faults> {
    let mut draft = Draft::new(from)?;
    let mut current = None;
    for (index, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.starts_with("Unicast lids ") && content.contains(" of switch ") {
            current = Some(draft.switch(line, index + 1));
            continue;
        }
        let mut words = content.split_whitespace();
        let Some(first) = words.next() else { continue };
        let column = column_of(line, first);
        let Some(lid) = first.strip_prefix("0x") else {
            if !is_caption(content) {
                let message = format!(
                    "expected `Unicast lids … of switch …` or an entry such as 0x0004 001, found \
                     `{first}`"
                );
                draft.fault(index + 1, column, message);
            }
            continue;
        };
        let Ok(lid) = u32::from_str_radix(lid, 16) else {
            draft.fault(index + 1, column, format!("expected a local identifier, found `{first}`"));
            continue;
        };
        let port = words.next().unwrap_or_default();
        let column = if port.is_empty() { column } else { column_of(line, port) };
        let Ok(port) = port.parse::<u16>() else {
            draft.fault(index + 1, column, format!("expected an output port, found `{port}`"));
            continue;
        };
        match (current, port.checked_sub(1)) {
            (None, _) => {
                draft.fault(index + 1, 1, "an entry before the first `Unicast lids … of switch`");
            }
            (Some(Some(switch)), Some(port)) => {
                draft.enter(switch, lid, port, (index + 1, column));
            }
            // Port 0 is the switch itself.
            (Some(_), None) if from.lids.contains_key(&lid) => {
                let message = format!("{lid:#06x} is a host, which is not at port 0 of a switch");
                draft.fault(index + 1, column, message);
            }
            _ => {}
        }
    }
    draft.finish()
}

/// Recognises the captions of a dump, which say nothing about routes.
fn is_caption(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    match words.as_slice() {
        ["Lid", "Out", ..] | ["Port", "Info"] | [] => true,
        [count, "valid", "lids" | "mlids", "dumped"] => count.parse::<u32>().is_ok(),
        [first, ..] => first.starts_with('#'),
    }
}

impl<'a> Draft<'a> {
    fn new(from: &'a Imported) -> Result<Self, Fault> {
        let graph = &from.topology.graph;
        let entries = u64::from(graph.switches()) * u64::from(graph.hosts());
        if entries > LIMIT {
            let (switches, hosts) = (graph.switches(), graph.hosts());
            let message = format!("tables of {switches} switches for {hosts} hosts are too large");
            return Err(Fault::new(message));
        }
        let entries = entries as usize;
        Ok(Self {
            from,
            graph,
            out: graph.hosts_out(),
            ports: vec![NOWHERE; entries],
            places: vec![(0, 0); entries],
            tables: vec![0; graph.switches() as usize],
            missing: vec![false; graph.switches() as usize],
            strangers: BTreeMap::new(),
            faults: Faults::default(),
        })
    }

    const fn at(&self, switch: u32, host: u32) -> usize {
        switch as usize * self.graph.hosts() as usize + host as usize
    }

    fn fault(&mut self, line: usize, column: usize, message: impl Into<String>) {
        self.faults.push(Fault::at(line, column, message));
    }

    /// The switch of a heading; an unknown one is a mistake, and its entries are skipped.
    fn switch(&mut self, line: &str, number: usize) -> Option<u32> {
        let guid = line.split_whitespace().skip_while(|word| *word != "guid").nth(1).unwrap_or("");
        let hex = u64::from_str_radix(guid.trim_start_matches("0x"), 16);
        let name = line.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
        let name = name.map_or("", |(name, _)| name.trim_matches(['\'', '"']));
        let by_guid = hex.ok().and_then(|guid| self.graph.switch(&format!("S-{guid:016x}")));
        let switch = by_guid.or_else(|| self.graph.switch(name));
        let Some(switch) = switch else {
            let message = format!("the topology has no switch of guid `{guid}` or name `{name}`");
            let column = if guid.is_empty() { 1 } else { column_of(line, guid) };
            self.fault(number, column, message);
            return None;
        };
        let index = switch - self.graph.hosts();
        let first = std::mem::replace(&mut self.tables[index as usize], number);
        if first > 0 {
            let name = self.graph.name(switch);
            let message = format!("`{name}` has two tables, the first in line {first}");
            self.fault(number, 0, message);
            return None;
        }
        Some(index)
    }

    fn enter(&mut self, switch: u32, lid: u32, port: u16, (line, column): (usize, usize)) {
        let Some(&host) = self.from.lids.get(&lid) else {
            if !self.from.other_lids.contains(&lid) {
                self.strangers.entry(lid).or_insert((line, column));
            }
            return;
        };
        let device = self.graph.hosts() + switch;
        let name = self.graph.name(device);
        if u32::from(port) >= self.graph.ports(device) {
            let message =
                format!("`{name}` has ports 0 to {}, found {port}", self.graph.ports(device) - 1);
            return self.fault(line, column, message);
        }
        let host_name = self.graph.name(host);
        match self.graph.peer(device, port) {
            // Nobody is sent there, or nobody comes by.
            None if self.out.binary_search(&host).is_ok()
                || self.graph.neighbours(device).next().is_none() => {}
            None => {
                let message =
                    format!("port {port} of `{name}`, towards `{host_name}`, leads nowhere");
                self.fault(line, column, message);
            }
            Some(end) if self.graph.is_host(end.device) && end.device != host => {
                let other = self.graph.name(end.device);
                let message = format!(
                    "port {port} of `{name}`, towards `{host_name}`, leads to host `{other}`"
                );
                self.fault(line, column, message);
            }
            Some(_) => {
                let at = self.at(switch, host);
                if self.ports[at] != NOWHERE {
                    let message = format!(
                        "`{name}` has an entry for `{host_name}` already, in line {}",
                        self.places[at].0
                    );
                    return self.fault(line, column, message);
                }
                self.ports[at] = port;
                self.places[at] = (line as u32, column as u32);
            }
        }
    }

    /// The routes, unless a way ends in a hole or goes round in a loop.
    fn finish(mut self) -> Result<Tables, Faults> {
        if self.faults.0.is_empty() {
            for host in 0..self.graph.hosts() {
                if self.out.binary_search(&host).is_err() {
                    self.follow(host);
                }
            }
        }
        let Self { graph, ports, strangers, faults, .. } = self;
        faults.or(())?;
        let table = Table { ports, hosts: graph.hosts() };
        let mut warnings = Faults::default();
        for (lid, (line, column)) in strangers {
            let message = format!("no device has the local identifier {lid}; entries are left out");
            warnings.push(Fault::at(line, column, message));
        }
        Ok(Tables { routes: Routes::from_table(graph, table), warnings })
    }

    /// Follows the ways of all switches with hosts to one host.
    fn follow(&mut self, host: u32) {
        // 0: not seen; 1: on the way now; 2: fine or reported.
        let mut state = vec![0_u8; self.graph.switches() as usize];
        let hosts = self.graph.hosts();
        for start in 0..self.graph.switches() {
            let mut near = self.graph.neighbours(hosts + start);
            if !near.any(|(_, end)| end.device != host && self.graph.is_host(end.device)) {
                continue;
            }
            let mut way = Vec::new();
            let mut here = start;
            loop {
                match state[here as usize] {
                    2 => break,
                    1 => {
                        self.report_loop(&way, here, host);
                        break;
                    }
                    _ => {}
                }
                state[here as usize] = 1;
                way.push(here);
                let port = self.ports[self.at(here, host)];
                let Some(end) = self.graph.peer(hosts + here, port) else {
                    self.report_hole(here, host);
                    break;
                };
                if end.device == host {
                    break;
                }
                here = end.device - hosts;
            }
            for switch in way {
                state[switch as usize] = 2;
            }
        }
    }

    fn report_hole(&mut self, switch: u32, host: u32) {
        let [name, target] =
            [self.graph.hosts() + switch, host].map(|d| self.graph.name(d).to_owned());
        let line = self.tables[switch as usize];
        let message = if line == 0 {
            if std::mem::replace(&mut self.missing[switch as usize], true) {
                return;
            }
            format!("there is no table for switch `{name}`")
        } else {
            format!("hole: the table of `{name}` has no port towards `{target}`")
        };
        self.fault(line, 0, message);
    }

    fn report_loop(&mut self, way: &[u32], here: u32, host: u32) {
        let round = way.iter().skip_while(|&&switch| switch != here);
        let names: Vec<_> =
            round.map(|switch| self.graph.name(self.graph.hosts() + switch)).collect();
        let target = self.graph.name(host);
        let message = format!("loop: packets to `{target}` go round by {}", names.join(", "));
        let (line, column) = self.places[self.at(here, host)];
        self.fault(line as usize, column as usize, message);
    }
}
