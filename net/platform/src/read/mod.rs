//! SimGrid's platform files, and the same in TOML.
//!
//! The elements are checked against a table first; then zones, hosts and links are made in the
//! order of the file, and last the routes, which may name what follows them. All mistakes of a file
//! are reported.

mod cluster;
mod generated;
mod route;
mod schema;
mod toml;
mod zone;

use std::{collections::BTreeMap, sync::Arc};

use rustc_hash::FxHashMap;
use topology::{
    Fault, Faults,
    import::{
        self, Imported, quantity,
        xml::{self, Element, Part, Place},
    },
};

use crate::{
    Host, Link, Platform, Property,
    routing::Seat,
    zone::{Kind, Leg, Point, Zone},
};

/// More hosts or links than this are refused: a short text can ask for any number.
const LIMIT: u64 = 1 << 24;

/// Floyd's table has a row and a column for each point of a zone.
const FLOYD: u32 = 1 << 14;

/// An element and what stands within it.
struct Node {
    element: Element,
    children: Vec<Node>,
}

impl Node {
    /// Tells the element's parts, as a file would have them: routes behind what they name.
    fn tell(self, each: &mut dyn FnMut(Part)) {
        let Self { element, mut children } = self;
        let name = element.name.clone();
        each(Part::Open(element));
        children
            .sort_by_key(|child| ["route", "zoneRoute", "ASroute"].contains(&&*child.element.name));
        for child in children {
            child.tell(each);
        }
        each(Part::Close(name));
    }
}

/// A zone that is being read.
struct Draft {
    place: Place,
    routing: zone::Rule,
    /// Number of its points.
    size: u32,
    /// True if zones lie in it.
    nested: bool,
    /// The links of each point of a star.
    seats: Vec<Seat>,
    /// Stated routes by seats, the order in which they are stated, and the place of each.
    legs: FxHashMap<(u32, u32), Leg>,
    order: Vec<(u32, u32)>,
    bypass: FxHashMap<(u32, u32), Leg>,
    /// East, north and height of each point, in milliseconds.
    places: Vec<Option<[f64; 3]>>,
}

/// A route of the file, to be resolved when everything has its number.
struct Stated<'a> {
    zone: u32,
    node: &'a Node,
}

#[derive(Default)]
struct Reader<'a> {
    hosts: Vec<Host>,
    links: Vec<Link>,
    routers: Vec<Box<str>>,
    properties: Vec<Property>,
    remarks: Vec<Fault>,
    seats: Vec<u32>,
    points: Vec<Point>,
    zones: Vec<Zone>,
    drafts: Vec<Draft>,
    /// Points by name.
    names: FxHashMap<String, u32>,
    links_by_name: FxHashMap<String, u32>,
    /// Links in two directions: the first one's number.
    duplex: FxHashMap<String, u32>,
    stated: Vec<Stated<'a>>,
    faults: Faults,
    /// True if hosts or links are missing whose cluster is wrong, so that unknown names mean
    /// nothing.
    incomplete: bool,
    /// The numbers that SimGrid counts through all fat trees, and through all dragonflies.
    count: cluster::Count,
}

impl Platform {
    /// Reads a SimGrid platform of version 4 or 4.1. Errors are all mistakes of the text, with
    /// their places.
    pub fn read(text: &str) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let tree = tree(text, &mut faults);
        Self::from_tree(&tree, faults)
    }

    /// Reads the same in TOML, from the table `[platform]` of a text whose other tables are left
    /// aside. Errors are as for [`Platform::read`].
    pub fn read_toml(text: &str) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let tree = toml::tree(text, &mut faults);
        Self::from_tree(&tree, faults)
    }

    /// The graph of a platform in TOML, as [`import::simgrid`] reads that of one in XML. Errors are
    /// as for [`Platform::read`].
    pub fn graph_of_toml(text: &str) -> Result<Imported, Faults> {
        let mut faults = Faults::default();
        let tree = toml::tree(text, &mut faults);
        schema::check(&tree, "", &mut faults);
        faults.or(())?;
        import::simgrid_parts(|each| {
            for node in tree {
                node.tell(each);
            }
            Ok(())
        })
    }

    fn from_tree(tree: &[Node], mut faults: Faults) -> Result<Self, Faults> {
        schema::check(tree, "", &mut faults);
        let broken = !faults.0.is_empty();
        let mut reader = Reader { faults, ..Reader::default() };
        let Some(platform) = tree.iter().find(|node| node.element.name == "platform") else {
            if !broken {
                reader.fault((1, 1), "there is no <platform> in the file");
            }
            return Err(reader.faults.or(()).err().unwrap_or_default());
        };
        if !reader.version(&platform.element) {
            // Older files differ in too much for their other mistakes to be of use.
            return Err(reader.faults.or(()).err().unwrap_or_default());
        }
        reader.platform(platform);
        reader.finish()
    }
}

/// The elements of a text; what follows a mistake that breaks it off is left out.
fn tree(text: &str, faults: &mut Faults) -> Vec<Node> {
    let mut top = Vec::new();
    let mut open: Vec<Node> = Vec::new();
    let close = |open: &mut Vec<Node>, top: &mut Vec<Node>| {
        if let Some(node) = open.pop() {
            open.last_mut().map_or(top, |parent| &mut parent.children).push(node);
        }
    };
    let read = xml::read(text, |part| match part {
        Part::Open(element) => open.push(Node { element, children: Vec::new() }),
        Part::Close(_) => close(&mut open, &mut top),
    });
    if let Err(wrong) = read {
        faults.0.extend(wrong.0);
    }
    while !open.is_empty() {
        close(&mut open, &mut top);
    }
    top
}

impl<'a> Reader<'a> {
    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::at(place.0, place.1, message));
    }

    fn version(&mut self, element: &Element) -> bool {
        let Some(attribute) = element.attribute("version") else { return false };
        let version = attribute.value.parse::<f64>().unwrap_or(f64::NAN);
        if (4.0..=4.1).contains(&version) {
            return true;
        }
        let (line, column) = attribute.place;
        let message = format!("version {}: expected 4 or 4.1", attribute.value);
        let help = "older files name things otherwise (<host power> was <host speed>) and have \
                    other units; SimGrid's program `simgrid_update_xml FILE` rewrites them";
        let help = (version < 4.0).then(|| help.to_owned());
        self.faults.push(Fault::at(line, column, message).help(help));
        false
    }

    fn platform(&mut self, platform: &'a Node) {
        for node in &platform.children {
            let element = &node.element;
            match element.name.as_str() {
                "config" => self.properties_of(node, None),
                "zone" | "AS" => self.zone(node, None),
                "cluster" => self.cluster(node, None),
                "peer" | "cabinet" => {
                    let message = format!("<{}> belongs into a zone", element.name);
                    self.fault(element.place, message);
                }
                _ => self.left_out(element),
            }
        }
        if self.zones.is_empty() && self.faults.0.is_empty() {
            self.fault(platform.element.place, "the platform has no <zone> and no <cluster>");
        }
    }

    /// Elements that say nothing about the network as it is at one time.
    fn left_out(&mut self, element: &Element) {
        let name = element.name.as_str();
        let (line, column) = element.place;
        match name {
            "include" => {
                let file = element.get("file").unwrap_or_default();
                let help = format!(
                    "put what is in `{file}` in its place; SimGrid has refused it since 3.18"
                );
                let fault = Fault::at(line, column, "<include> is not part of the format any more");
                self.faults.push(fault.help(help));
            }
            "trace_connect" => self.fault(element.place, CHANGES),
            "disk" | "storage" | "storage_type" | "mount" | "random" | "trace" | "actor"
            | "process" => {
                self.remarks.push(Fault::at(line, column, format!("<{name}> is left out")));
            }
            _ => {}
        }
    }

    /// Refuses attributes that name files of changes over time.
    fn constant(&mut self, element: &Element) {
        for attribute in &element.attributes {
            if attribute.name.ends_with("_file") && !attribute.value.is_empty() {
                self.fault(attribute.place, format!("`{}`: {CHANGES}", attribute.name));
            }
        }
    }

    /// `<prop>` entries of a zone or of the configuration.
    fn properties_of(&mut self, node: &Node, zone: Option<&str>) {
        for node in node.children.iter().filter(|node| node.element.name == "prop") {
            let element = &node.element;
            let [Some(name), Some(value)] = [element.get("id"), element.get("value")] else {
                continue;
            };
            self.properties.push(Property {
                zone: zone.map(str::to_owned),
                name: name.to_owned(),
                value: value.to_owned(),
                place: element.place,
            });
        }
    }

    /// The point of a new name in a zone.
    fn point(&mut self, zone: u32, name: &str, kind: Kind, place: Place) -> Option<u32> {
        let number = self.points.len() as u32;
        if self.names.contains_key(name) {
            self.fault(place, format!("there are two hosts, routers or zones named `{name}`"));
            return None;
        }
        self.names.insert(name.to_owned(), number);
        let mut seat = 0;
        if let Some(draft) = self.drafts.get_mut(zone as usize) {
            seat = draft.size;
            draft.size += 1;
            draft.places.push(None);
            draft.seats.push(Seat::default());
        }
        self.points.push(Point { zone, seat, kind });
        Some(number)
    }

    fn router(&mut self, zone: u32, name: &str, place: Place) -> Option<u32> {
        let point = self.point(zone, name, Kind::Router(self.routers.len() as u32), place);
        self.routers.push(name.into());
        point
    }

    fn host(&mut self, zone: u32, host: Host) -> Option<u32> {
        let place = host.place;
        if self.hosts.len() as u64 >= LIMIT {
            self.fault(place, format!("more than {LIMIT} hosts"));
            return None;
        }
        let point = self.point(zone, &host.name, Kind::Host(self.hosts.len() as u32), place)?;
        self.hosts.push(host);
        self.seats.push(point);
        Some(point)
    }

    /// The number of a new link.
    fn link(&mut self, link: Link, place: Place) -> u32 {
        let number = self.links.len() as u32;
        if self.links_by_name.insert(link.name.clone(), number).is_some() {
            self.fault(place, format!("there are two links named `{}`", link.name));
        }
        self.links.push(link);
        number
    }

    /// A link in two directions; the number of the first, `NAME_UP`.
    fn duplex(&mut self, name: &str, bandwidth: f64, latency: f64, place: Place) -> u32 {
        let up = self.link(Link::new(format!("{name}_UP"), bandwidth, latency), place);
        self.link(Link::new(format!("{name}_DOWN"), bandwidth, latency), place);
        self.duplex.insert(name.to_owned(), up);
        up
    }

    fn quantity(
        &mut self,
        element: &Element,
        key: &str,
        example: &str,
        read: impl Fn(&str) -> Option<f64>,
    ) -> Option<f64> {
        let attribute = element.attribute(key)?;
        let value = read(&attribute.value);
        if value.is_none() {
            let message = format!(
                "`{key}`: expected a quantity such as `{example}`, found `{}`",
                attribute.value
            );
            self.fault(attribute.place, message);
        } else if value < Some(0.0) {
            self.fault(attribute.place, format!("`{key}`: {} is negative", attribute.value));
        }
        value.filter(|&value| value >= 0.0)
    }

    /// Bytes per second, more than zero.
    fn bandwidth(&mut self, element: &Element, key: &str) -> Option<f64> {
        let value = self.quantity(element, key, "125MBps", quantity::bandwidth)?;
        if value == 0.0 {
            let place = element.attribute(key).map_or(element.place, |attribute| attribute.place);
            self.fault(place, format!("`{key}`: a link without bandwidth carries nothing"));
            return None;
        }
        Some(value)
    }

    /// Seconds.
    fn latency(&mut self, element: &Element, key: &str) -> Option<f64> {
        self.quantity(element, key, "50us", quantity::seconds)
    }

    /// Flop per second in the state that `pstate` names.
    fn speed(&mut self, element: &Element) -> Option<f64> {
        let attribute = element.attribute("speed")?;
        let state = match element.attribute("pstate") {
            None => 0,
            Some(pstate) => {
                // A whole number, which SimGrid's own default writes 0.0.
                let value = pstate.value.trim().parse::<f64>().ok();
                let Some(value) = value.filter(|value| (0.0..1e6).contains(value)) else {
                    let message =
                        format!("`pstate`: expected a number such as 0, found `{}`", pstate.value);
                    self.fault(pstate.place, message);
                    return None;
                };
                // In range.
                #[allow(clippy::cast_sign_loss)]
                (value as usize)
            }
        };
        let speeds: Option<Vec<f64>> = attribute.value.split(',').map(quantity::flops).collect();
        let speed = speeds.as_ref().and_then(|speeds| speeds.get(state).copied());
        if speeds.is_some() && speed.is_none() {
            self.fault(
                attribute.place,
                format!("`speed` has no entry for pstate {state}, counted from 0"),
            );
        } else if speed.is_none_or(|speed| speed <= 0.0) {
            let message = format!(
                "`speed`: expected a quantity above 0 such as `1Gf`, found `{}`",
                attribute.value
            );
            self.fault(attribute.place, message);
        }
        speed.filter(|&speed| speed > 0.0)
    }

    fn cores(&mut self, element: &Element) -> u32 {
        let Some(attribute) = element.attribute("core") else { return 1 };
        let cores = attribute.value.trim().parse().ok().filter(|&cores| cores > 0);
        if cores.is_none() {
            let message =
                format!("`core`: expected a number such as 4, found `{}`", attribute.value);
            self.fault(attribute.place, message);
        }
        cores.unwrap_or(1)
    }

    /// One of the words that an attribute may have; the first one if it is not there.
    fn word<'w>(&mut self, element: &Element, key: &str, words: &'w [&'w str]) -> Option<&'w str> {
        let Some(attribute) = element.attribute(key) else { return words.first().copied() };
        let word = words.iter().find(|word| **word == attribute.value).copied();
        if word.is_none() {
            let (line, column) = attribute.place;
            let message =
                format!("`{key}`: expected {}, found `{}`", words.join(", "), attribute.value);
            self.faults.push(Fault::at(line, column, message).near(&attribute.value, words));
        }
        word
    }
}

const CHANGES: &str = "hosts and links that change over time are not modelled; leave the attribute \
                       out to keep what the file states";

/// The `<prop>` entries of an element.
fn props(node: &Node) -> Arc<BTreeMap<String, String>> {
    let props = node.children.iter().filter(|node| node.element.name == "prop");
    let pair = |node: &Node| {
        Some((node.element.get("id")?.to_owned(), node.element.get("value")?.to_owned()))
    };
    // The first of a name counts, as in SimGrid.
    let mut map = BTreeMap::new();
    for (name, value) in props.filter_map(pair) {
        map.entry(name).or_insert(value);
    }
    Arc::new(map)
}
