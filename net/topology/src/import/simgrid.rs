//! The graph of a SimGrid platform (XML, DTD version 4): hosts, routers, links, routes, plain
//! clusters.
//!
//! A SimGrid link has no ends of its own: routes name the links they cross. Here a link whose
//! neighbours in all routes are two things is a cable between them; a link with more neighbours,
//! such as a backbone, is a switch, and so is the place where two cables meet that no router joins.
//! Speeds, sharing policies, profiles and disks say nothing about the graph and are left out.

use std::collections::{BTreeMap, BTreeSet};

use units::{Bandwidth, Time};

use super::{
    Imported,
    draft::{Draft, Place, Properties, Tip},
    quantity,
    xml::{self, Element, Part},
};
use crate::{Fault, Faults, Rate};

/// Elements that say nothing about the graph.
const IGNORED: &[&str] = &[
    "platform",
    "config",
    "prop",
    "profile",
    "trace",
    "trace_connect",
    "storage_type",
    "storage",
    "mount",
    "disk",
    "model_prop",
    "zone",
    "AS",
];
/// Elements that are read.
const READ: &[&str] =
    &["host", "router", "link", "route", "zoneRoute", "ASroute", "link_ctn", "cluster", "backbone"];

#[derive(Default)]
struct Platform {
    draft: Draft,
    /// Properties of links, and where they stand.
    links: BTreeMap<String, (Properties, Place)>,
    /// The route that is open: its ends and links.
    route: Option<(String, String, Vec<String>, Place)>,
    /// Things next to each link, in routes: devices or other links.
    near: BTreeMap<String, BTreeSet<Near>>,
    devices: BTreeSet<String>,
    /// Hosts of clusters so far.
    generated: u64,
}

/// Most hosts of clusters in a file: two numbers stand for any number of hosts.
const MOST: u64 = 1 << 20;

/// A neighbour of a link in a route.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Near {
    Device(String),
    Link(String),
}

/// Reads a platform.
pub fn simgrid(text: &str) -> Result<Imported, Faults> {
    simgrid_parts(|each| xml::read(text, each))
}

/// Reads a platform from its parts, which `read` passes on one by one.
pub fn simgrid_parts(
    read: impl FnOnce(&mut dyn FnMut(Part)) -> Result<(), Faults>,
) -> Result<Imported, Faults> {
    let mut platform = Platform::default();
    let read = read(&mut |part| match part {
        Part::Open(element) => platform.open(&element),
        Part::Close(name) => platform.close(&name),
    });
    if let Err(faults) = read {
        platform.draft.faults.0.extend(faults.0);
    }
    platform.finish()
}

impl Platform {
    fn open(&mut self, element: &Element) {
        let (place, name) = (element.place, element.name.as_str());
        match name {
            "host" | "router" => {
                let Some(id) = self.need(element, "id") else { return };
                self.draft.device(&id, name == "host", None, place);
                self.devices.insert(id);
            }
            "link" | "backbone" => self.link(element),
            "route" => self.begin(element, ["src", "dst"]),
            "zoneRoute" | "ASroute" => self.begin(element, ["gw_src", "gw_dst"]),
            "link_ctn" => {
                let Some(id) = self.need(element, "id") else { return };
                if !self.links.contains_key(&id) {
                    let fault = Fault::at(place.0, place.1, format!("there is no link `{id}`"));
                    let known = || self.links.keys().map(String::as_str).collect();
                    self.draft.faults.push_near(fault, &id, known);
                } else if let Some((.., links, _)) = &mut self.route {
                    links.push(id);
                } else {
                    self.draft.fault(place, "a link_ctn outside of a route");
                }
            }
            "cluster" => self.cluster(element),
            other if IGNORED.contains(&other) => {}
            other => {
                let message = format!("unknown element <{other}>");
                self.draft.faults.push(Fault::at(place.0, place.1, message).near(other, READ));
            }
        }
    }

    fn need(&mut self, element: &Element, key: &str) -> Option<String> {
        let value = element.get(key).map(str::to_owned);
        if value.is_none() {
            let message = format!("<{}> needs the attribute `{key}`", element.name);
            self.draft.fault(element.place, message);
        }
        value
    }

    fn link(&mut self, element: &Element) {
        let Some(id) = self.need(element, "id") else { return };
        let properties = self.properties(element, "bandwidth", "latency");
        if let Some((_, first)) = self.links.insert(id.clone(), (properties, element.place)) {
            let message = format!("link `{id}` is declared twice, first in line {}", first.0);
            self.draft.fault(element.place, message);
        }
    }

    fn properties(&mut self, element: &Element, rate: &str, delay: &str) -> Properties {
        let mut properties = Properties::default();
        let mut wrong = |key: &str, text: &str, example: &str| {
            let message = format!("{key}: expected a quantity such as `{example}`, found `{text}`");
            self.draft.fault(element.place, message);
        };
        if let Some(text) = element.get(rate) {
            match bits_per_second(text) {
                Some(bits) => {
                    properties.rate = Some(Rate::Data(Bandwidth::from_bits_per_second(bits)));
                }
                None => wrong(rate, text, "125MBps"),
            }
        }
        if let Some(text) = element.get(delay) {
            match picoseconds(text) {
                Some(ps) => properties.delay = Some(Time::from_ps(ps)),
                None => wrong(delay, text, "50us"),
            }
        }
        properties
    }

    fn begin(&mut self, element: &Element, keys: [&str; 2]) {
        let [from, to] = keys.map(|key| self.need(element, key));
        if let (Some(from), Some(to)) = (from, to) {
            self.route = Some((from, to, Vec::new(), element.place));
        }
    }

    fn close(&mut self, element: &str) {
        if !matches!(element, "route" | "zoneRoute" | "ASroute") {
            return;
        }
        let Some((from, to, links, place)) = self.route.take() else { return };
        let unknown = [&from, &to].into_iter().filter(|end| !self.devices.contains(*end));
        let unknown: Vec<&String> = unknown.collect();
        if !unknown.is_empty() {
            for end in unknown {
                let message = format!("there is no host or router `{end}`");
                let known = || self.devices.iter().map(String::as_str).collect();
                self.draft.faults.push_near(Fault::at(place.0, place.1, message), end, known);
            }
            return;
        }
        if from == to {
            return;
        }
        if links.is_empty() {
            return self.draft.fault(place, "a route needs a link_ctn");
        }
        for (index, link) in links.iter().enumerate() {
            let side = |other: Option<&String>, end: &String| match other {
                Some(link) => Near::Link(link.clone()),
                None => Near::Device(end.clone()),
            };
            let before = side(index.checked_sub(1).and_then(|i| links.get(i)), &from);
            let near = self.near.entry(link.clone()).or_default();
            near.extend([before, side(links.get(index + 1), &to)]);
        }
    }

    /// Hosts of a plain cluster around one switch.
    fn cluster(&mut self, element: &Element) {
        let place = element.place;
        if let Some(kind) = element.get("topology").filter(|kind| *kind != "FLAT") {
            let parameters = element.get("topo_parameters").unwrap_or_default();
            let message = format!(
                "a cluster of topology {kind} is generated, not listed; use `{}` in its place",
                equivalent(kind, parameters)
            );
            return self.draft.fault(place, message);
        }
        let [id, radical] = ["id", "radical"].map(|key| self.need(element, key));
        let (Some(id), Some(radical)) = (id, radical) else { return };
        let [prefix, suffix] = ["prefix", "suffix"].map(|key| element.get(key).unwrap_or(""));
        let router = element.get("router_id").map_or_else(|| format!("{id}_router"), str::to_owned);
        let properties = self.properties(element, "bw", "lat");
        self.draft.device(&router, false, None, place);
        self.devices.insert(router.clone());
        for part in radical.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = first.trim().parse::<u32>().ok().zip(last.trim().parse::<u32>().ok());
            let Some((first, last)) = range.filter(|(a, b)| a <= b) else {
                let message = match super::too_large(part) {
                    Some(number) => format!("radical: {number} is more than {}", u32::MAX),
                    None => format!("radical: expected numbers such as 0-15, found `{part}`"),
                };
                self.draft.fault(place, message);
                continue;
            };
            self.generated += u64::from(last - first) + 1;
            if self.generated > MOST {
                let message = format!("radical: the clusters of a file have at most {MOST} hosts");
                return self.draft.fault(place, message);
            }
            for number in first..=last {
                let name = format!("{prefix}{number}{suffix}");
                self.draft.device(&name, true, None, place);
                let [a, b] = [name.as_str(), &router].map(|name| tip(name, place));
                self.draft.cable(a, b, properties);
                self.devices.insert(name);
            }
        }
    }

    /// Cables and switches for the links.
    fn finish(self) -> Result<Imported, Faults> {
        let Self { mut draft, links, near, .. } = self;
        let is_host = |near: &Near| matches!(near, Near::Device(name) if draft.is_host(name));
        let cable = |link: &str| {
            let near = near.get(link)?.iter().collect::<Vec<_>>();
            let [a, b] = near.as_slice() else { return None };
            (!(is_host(a) && is_host(b))).then_some([(*a).clone(), (*b).clone()])
        };
        let cables: BTreeMap<&str, [Near; 2]> =
            near.keys().filter_map(|link| Some((link.as_str(), cable(link)?))).collect();
        for link in near.keys().filter(|link| !cables.contains_key(link.as_str())) {
            let place = links.get(link).map_or((0, 0), |entry| entry.1);
            draft.device(&format!("link {link}"), false, None, place);
        }
        // The device at an end of a link: what is next to it, or a switch made for the place
        // between.
        let mut made = BTreeSet::new();
        for (link, sides) in &near {
            let (properties, place) = links.get(link).copied().unwrap_or_default();
            let junction = |other: &String| {
                let (a, b) = if link < other { (link, other) } else { (other, link) };
                format!("between {a} and {b}")
            };
            let end = |near: &Near| match near {
                Near::Device(name) => name.clone(),
                Near::Link(other) if cables.contains_key(other.as_str()) => junction(other),
                Near::Link(other) => format!("link {other}"),
            };
            if let Some([a, b]) = cables.get(link.as_str()) {
                for other in [a, b] {
                    let name = end(other);
                    if name.starts_with("between ") && made.insert(name.clone()) {
                        draft.device(&name, false, None, place);
                    }
                }
                draft.cable(tip(&end(a), place), tip(&end(b), place), properties);
                continue;
            }
            let here = format!("link {link}");
            for side in sides {
                match side {
                    Near::Link(other) if cables.contains_key(other.as_str()) || other < link => {}
                    _ => draft.cable(tip(&here, place), tip(&end(side), place), properties),
                }
            }
        }
        draft.finish()
    }
}

fn tip(name: &str, place: Place) -> Tip {
    Tip { name: name.to_owned(), port: None, place }
}

/// The notation here of a generated cluster.
fn equivalent(kind: &str, parameters: &str) -> String {
    match kind {
        "TORUS" => format!("torus:dims={}", parameters.replace(',', "x")),
        "FAT_TREE" => {
            let lists: Vec<_> =
                parameters.split(';').skip(1).map(|l| l.replace(',', "x")).collect();
            let keys = ["children", "parents", "cables"];
            let pairs: Vec<_> =
                keys.iter().zip(&lists).map(|(k, list)| format!("{k}={list}")).collect();
            format!("xgft:{}", pairs.join(","))
        }
        _ => "dragonfly:p=…,a=…,h=…,g=…".to_owned(),
    }
}

/// A bandwidth of SimGrid's in bits per second.
fn bits_per_second(text: &str) -> Option<u64> {
    rounded(quantity::bandwidth(text)? * 8.0).filter(|&bits| bits > 0)
}

/// A time of SimGrid's in picoseconds.
fn picoseconds(text: &str) -> Option<u64> {
    rounded(quantity::seconds(text)? * 1e12)
}

fn rounded(value: f64) -> Option<u64> {
    let rounded = value.round();
    // In range, so the cast keeps the value.
    #[allow(clippy::cast_sign_loss)]
    (0.0..1e19).contains(&rounded).then_some(rounded as u64)
}
