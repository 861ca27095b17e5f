//! Devices and cables as they stand in a file, before they are a graph.

use std::collections::BTreeMap;

use units::Time;

use super::Imported;
use crate::{Fault, Faults, Graph, Link, Plug, Rate, Shape, Topology, graph::Device};

/// Line and column, from 1.
pub(super) type Place = (usize, usize);

/// Most ports of a device.
const PORTS: u32 = 65_535;

/// Most ports of all devices: a short line can declare many.
const TOTAL: u64 = 1 << 24;

/// A file's devices and cables.
#[derive(Default)]
pub(super) struct Draft {
    devices: Vec<Entry>,
    names: BTreeMap<String, usize>,
    cables: Vec<Cable>,
    pub faults: Faults,
}

struct Entry {
    name: String,
    host: bool,
    /// The number of ports; as many as cables need, if none.
    ports: Option<u32>,
    place: Place,
}

/// One end of a cable: a device, and a port if the file names one.
#[derive(Clone, Debug)]
pub(super) struct Tip {
    pub name: String,
    pub port: Option<u32>,
    pub place: Place,
}

/// The properties of a cable.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Properties {
    pub delay: Option<Time>,
    pub length: Option<u32>,
    pub rate: Option<Rate>,
}

struct Cable {
    tips: [Tip; 2],
    properties: Properties,
}

impl Tip {
    /// An end written `DEVICE` or `DEVICE:PORT`.
    pub fn parse(text: &str, place: Place) -> Self {
        let split = text.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?)));
        match split {
            Some((name, port)) => Self { name: name.to_owned(), port: Some(port), place },
            None => Self { name: text.to_owned(), port: None, place },
        }
    }
}

impl Draft {
    pub fn fault(&mut self, (line, column): Place, message: impl Into<String>) {
        self.faults.push(Fault::at(line, column, message));
    }

    /// Adds a device; a name that is taken is a mistake.
    pub fn device(&mut self, name: &str, host: bool, ports: Option<u32>, place: Place) {
        if name.is_empty() {
            return self.fault(place, "a device needs a name");
        }
        if ports.is_some_and(|ports| ports == 0 || ports > PORTS) {
            return self.fault(place, format!("`{name}` needs 1 to {PORTS} ports"));
        }
        if let Some(&other) = self.names.get(name) {
            let line = self.devices[other].place.0;
            return self.fault(place, format!("`{name}` is declared twice, first in line {line}"));
        }
        self.names.insert(name.to_owned(), self.devices.len());
        self.devices.push(Entry { name: name.to_owned(), host, ports, place });
    }

    /// Returns true if a device of this name is a host.
    pub fn is_host(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|&at| self.devices[at].host)
    }

    /// Adds a cable.
    pub fn cable(&mut self, a: Tip, b: Tip, properties: Properties) {
        self.cables.push(Cable { tips: [a, b], properties });
    }

    /// Reads a property of a cable from its text.
    pub fn property(&mut self, properties: &mut Properties, key: &str, text: &str, place: Place) {
        match key {
            "delay" => match text.parse() {
                Ok(delay) => properties.delay = Some(delay),
                Err(error) => self.fault(place, format!("delay: {error}")),
            },
            "length" => {
                properties.length = length(text);
                if properties.length.is_none() {
                    let message = format!("length: expected metres, such as `3 m`, found `{text}`");
                    self.fault(place, message);
                }
            }
            "rate" => match text.parse::<Rate>() {
                Ok(rate) => properties.rate = Some(rate),
                Err(fault) => {
                    self.faults.push(Fault::at(place.0, place.1, fault.message).help(fault.help));
                }
            },
            other => {
                let known = ["ends", "delay", "length", "rate"];
                let message = format!("a link has no key `{other}`; it has {}", known.join(", "));
                self.faults.push(Fault::at(place.0, place.1, message).near(other, &known));
            }
        }
    }

    /// The graph, or everything that is wrong.
    pub fn finish(mut self) -> Result<Imported, Faults> {
        // Hosts come first, each kind in the order of the file.
        let mut order: Vec<usize> = (0..self.devices.len()).collect();
        order.sort_by_key(|&index| !self.devices[index].host);
        let mut number = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old] = new as u32;
        }
        let ends = self.ends();
        self.faults.0.sort_by_key(|fault| (fault.line, fault.column));
        let hosts = self.devices.iter().filter(|device| device.host).count() as u32;
        if hosts == 0 && self.faults.0.is_empty() {
            self.fault((1, 0), "the file has no hosts");
        }
        let mut most = vec![1; self.devices.len()];
        if self.faults.0.is_empty() {
            for &(device, port) in ends.iter().flatten() {
                most[device] = most[device].max(port + 1);
            }
        }
        let ports = |(device, most): (&Entry, &u32)| u64::from(device.ports.unwrap_or(*most));
        let total: u64 = self.devices.iter().zip(&most).map(ports).sum();
        if total > TOTAL {
            self.fault((1, 0), format!("{total} ports are too many; the limit is {TOTAL}"));
        }
        std::mem::take(&mut self.faults).or(())?;
        let device = |&index: &usize| {
            let entry = &self.devices[index];
            let ports = entry.ports.unwrap_or(most[index]) as u16;
            Device { name: entry.name.as_str().into(), ports }
        };
        let devices = order.iter().map(device).collect();
        let link = |(cable, ends): (&Cable, &[(usize, u32); 2])| {
            let [a, b] =
                ends.map(|(device, port)| Plug { device: number[device], port: port as u16 });
            let Properties { delay, length, rate } = cable.properties;
            Link { delay, length, rate, ..Link::new(a, b) }
        };
        let links = self.cables.iter().zip(&ends).map(link).collect();
        let graph = Graph::new(hosts, devices, links)?;
        Ok(Imported::from(Topology { graph, shape: Shape::Irregular }))
    }

    /// Device and port of both ends of every cable; ports that the file leaves open are the lowest
    /// free ones.
    fn ends(&mut self) -> Vec<[(usize, u32); 2]> {
        let mut taken: Vec<Taken> = self.devices.iter().map(|_| Taken::default()).collect();
        let mut ends = vec![[(0, 0); 2]; self.cables.len()];
        let cables = std::mem::take(&mut self.cables);
        for explicit in [true, false] {
            for (index, cable) in cables.iter().enumerate() {
                for (side, tip) in cable.tips.iter().enumerate() {
                    if tip.port.is_some() == explicit
                        && let Some(end) = self.end(tip, &mut taken)
                    {
                        ends[index][side] = end;
                    }
                }
            }
        }
        for cable in &cables {
            let host =
                |tip: &Tip| self.names.get(&tip.name).is_some_and(|&at| self.devices[at].host);
            let [a, b] = &cable.tips;
            if host(a) && host(b) {
                let message = format!(
                    "`{}` and `{}` are hosts; hosts are linked to switches",
                    a.name, b.name
                );
                self.fault(a.place, message);
            } else if a.name == b.name && self.names.contains_key(&a.name) {
                self.fault(a.place, format!("`{}` is linked to itself", a.name));
            }
        }
        self.cables = cables;
        ends
    }

    fn end(&mut self, tip: &Tip, taken: &mut [Taken]) -> Option<(usize, u32)> {
        let Some(&device) = self.names.get(&tip.name) else {
            let message = format!("there is no device `{}`", tip.name);
            let fault = Fault::at(tip.place.0, tip.place.1, message);
            let known = || self.names.keys().map(String::as_str).collect();
            self.faults.push_near(fault, &tip.name, known);
            return None;
        };
        let ports = self.devices[device].ports.unwrap_or(PORTS);
        let taken = &mut taken[device];
        let port = tip.port.unwrap_or_else(|| taken.lowest_free());
        if port >= ports {
            let message = match tip.port {
                Some(_) => format!("dangling port: `{}` has ports 0 to {}", tip.name, ports - 1),
                None => format!("all {ports} ports of `{}` are taken", tip.name),
            };
            self.fault(tip.place, message);
            return None;
        }
        if let Some(line) = taken.lines.insert(port, tip.place.0) {
            let message =
                format!("port {port} of `{}` has a cable already, from line {line}", tip.name);
            self.fault(tip.place, message);
        }
        Some((device, port))
    }
}

/// The ports of a device that have cables.
#[derive(Default)]
struct Taken {
    /// The line of each port's cable.
    lines: BTreeMap<u32, usize>,
    /// All ports below this one have cables.
    full: u32,
}

impl Taken {
    fn lowest_free(&mut self) -> u32 {
        while self.lines.contains_key(&self.full) {
            self.full += 1;
        }
        self.full
    }
}

/// Millimetres of a length such as `3 m`, `50 cm` or `0.5 m`.
fn length(text: &str) -> Option<u32> {
    let text = text.trim();
    let (number, scale) = [("mm", 1.0), ("cm", 10.0), ("km", 1e6), ("m", 1e3)]
        .iter()
        .find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)))?;
    let length = (number.trim().parse::<f64>().ok()? * scale).round();
    // In range, so the cast keeps the value.
    #[allow(clippy::cast_sign_loss)]
    (0.0..=f64::from(u32::MAX)).contains(&length).then_some(length as u32)
}
