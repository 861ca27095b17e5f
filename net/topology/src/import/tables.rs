//! Forwarding tables from files: vectors as simulators keep them, and dumps of a subnet manager.

use super::Imported;
use crate::{
    Fault, Faults, Graph, Routes,
    place::column_of,
    route::{NOWHERE, Table},
};

/// A table with the place of each entry.
struct Draft<'a> {
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
    faults: Faults,
}

/// Reads lines `INDEX: v0 v1 v2 …` with the output port, from 0, to local identifier i as value i;
/// 255 means none, and a line with the same index goes on where the last one ended. Indices are
/// those of the switches in their order.
pub fn fdb_vectors(text: &str, from: &Imported) -> Result<Routes, Faults> {
    let mut draft = Draft::new(&from.topology.graph);
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
        draft.tables[switch as usize] = index + 1;
        for value in values.split([' ', ',', '\t']).filter(|value| !value.is_empty()) {
            let lid = filled[switch as usize];
            filled[switch as usize] += 1;
            let column = column_of(line, value);
            let Ok(port) = value.parse::<u16>() else {
                let message = format!("expected a port from 0, or 255 for none, found `{value}`");
                draft.fault(index + 1, column, message);
                continue;
            };
            if let (Some(&host), true) = (from.lids.get(&lid), port != 255) {
                draft.enter(switch, host, port, (index + 1, column));
            }
        }
    }
    draft.finish()
}

/// Reads the linear forwarding tables that `dump_lfts` or `ibroute` print. Switches are found by
/// their GUID, as `ibnetdiscover` names them, or by their name in brackets; ports are counted from
/// 1 there.
pub fn lft_dump(text: &str, from: &Imported) -> Result<Routes, Faults> {
    let mut draft = Draft::new(&from.topology.graph);
    let mut current = None;
    for (index, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.starts_with("Unicast lids") {
            current = Some(draft.switch(line, index + 1));
            continue;
        }
        let mut words = content.split_whitespace();
        let Some(first) = words.next() else { continue };
        let Some(lid) = first.strip_prefix("0x") else { continue };
        let column = column_of(line, first);
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
        match (current, from.lids.get(&lid), port.checked_sub(1)) {
            (None, ..) => {
                draft.fault(index + 1, 1, "an entry before the first `Unicast lids … of switch`");
            }
            (Some(Some(switch)), Some(&host), Some(port)) => {
                draft.enter(switch, host, port, (index + 1, column));
            }
            _ => {}
        }
    }
    draft.finish()
}

impl<'a> Draft<'a> {
    fn new(graph: &'a Graph) -> Self {
        let entries = graph.switches() as usize * graph.hosts() as usize;
        Self {
            graph,
            out: graph.hosts_out(),
            ports: vec![NOWHERE; entries],
            places: vec![(0, 0); entries],
            tables: vec![0; graph.switches() as usize],
            missing: vec![false; graph.switches() as usize],
            faults: Faults::default(),
        }
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
        self.tables[index as usize] = number;
        Some(index)
    }

    fn enter(&mut self, switch: u32, host: u32, port: u16, (line, column): (usize, usize)) {
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
            None if self.out.contains(&host) || self.graph.neighbours(device).next().is_none() => {}
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
    fn finish(mut self) -> Result<Routes, Faults> {
        if self.faults.0.is_empty() {
            for host in 0..self.graph.hosts() {
                if !self.out.contains(&host) {
                    self.follow(host);
                }
            }
        }
        let Self { graph, ports, faults, .. } = self;
        let table = Table { ports, hosts: graph.hosts() };
        faults.or(Routes::from_table(graph, table))
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
