//! Zones and the hosts, links, peers and cabinets in them.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::smallvec;
use topology::{
    Fault, Faults,
    import::xml::{Element, Place},
};

use super::{Draft, FLOYD, Node, Reader, Stated, props};
use crate::{
    Host, Link, Platform, Sharing,
    routing::{Dijkstra, Floyd, Routing, Star, Table},
    zone::{Kind, NONE, Zone},
};

/// The rule by which a zone of the file connects its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Empty,
    Full,
    Floyd,
    Dijkstra,
    Star,
    Vivaldi,
    /// A cluster whose routing is set already.
    Set,
}

/// Names of routings; SimGrid does not distinguish capitals.
const RULES: &[(&str, Rule)] = &[
    ("Full", Rule::Full),
    ("Floyd", Rule::Floyd),
    ("Dijkstra", Rule::Dijkstra),
    ("DijkstraCache", Rule::Dijkstra),
    ("Cluster", Rule::Star),
    ("Vivaldi", Rule::Vivaldi),
    ("None", Rule::Empty),
];

impl<'a> Reader<'a> {
    pub(super) fn zone(&mut self, node: &'a Node, parent: Option<u32>) {
        let element = &node.element;
        let Some(id) = element.get("id") else { return };
        let rule = self.rule(element);
        let Some(zone) = self.new_zone(id, rule.unwrap_or(Rule::Empty), parent, element.place)
        else {
            return;
        };
        self.properties_of(node, Some(id));
        self.mixture(node);
        for node in &node.children {
            self.member(node, zone);
        }
        self.stars(node, zone);
    }

    fn rule(&mut self, element: &Element) -> Option<Rule> {
        let attribute = element.attribute("routing")?;
        let word = attribute.value.as_str();
        let rule =
            RULES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|entry| entry.1);
        if rule.is_none() {
            let (line, column) = attribute.place;
            let known: Vec<&str> = RULES.iter().map(|entry| entry.0).collect();
            let fault = if word.eq_ignore_ascii_case("Wifi") {
                Fault::at(line, column, "wireless zones are not modelled")
            } else {
                let message = format!("unknown routing `{word}`; expected {}", known.join(", "));
                Fault::at(line, column, message).near(word, &known)
            };
            self.faults.push(fault);
        }
        rule
    }

    /// A zone, as a point of its parent.
    pub(super) fn new_zone(
        &mut self,
        id: &str,
        routing: Rule,
        parent: Option<u32>,
        place: Place,
    ) -> Option<u32> {
        if parent.is_none() && !self.zones.is_empty() {
            self.fault(
                place,
                format!("a platform has one outermost zone; put `{id}` and the first into another"),
            );
        }
        let number = self.zones.len() as u32;
        let point = self.point(parent.unwrap_or(NONE), id, Kind::Zone(number), place)?;
        if let Some(parent) = parent {
            let draft = &mut self.drafts[parent as usize];
            draft.nested = true;
            if draft.routing == Rule::Vivaldi {
                let message =
                    "there are no routes between the zones in a Vivaldi zone, in SimGrid neither";
                self.remarks.push(Fault::at(place.0, place.1, message));
            }
        }
        self.zones.push(Zone {
            name: id.into(),
            parent,
            point,
            routing: Routing::Empty,
            bypass: FxHashMap::default(),
        });
        self.drafts.push(Draft {
            place,
            routing,
            size: 0,
            nested: false,
            seats: Vec::new(),
            legs: FxHashMap::default(),
            order: Vec::new(),
            bypass: FxHashMap::default(),
            places: Vec::new(),
        });
        Some(number)
    }

    /// Hosts beside zones have routes to nobody in SimGrid, and its files may not contain them.
    fn mixture(&mut self, node: &Node) {
        let find = |names: &[&str]| {
            node.children.iter().find(|node| names.contains(&node.element.name.as_str()))
        };
        let (host, zone) =
            (find(&["host", "router", "host_link"]), find(&["zone", "AS", "cluster"]));
        if let (Some(host), Some(zone)) = (host, zone) {
            let later = if host.element.place > zone.element.place { host } else { zone };
            let message = "a zone holds either hosts and routers or further zones; put the hosts \
                           into a zone of their own";
            self.fault(later.element.place, message);
        }
    }

    fn member(&mut self, node: &'a Node, zone: u32) {
        let element = &node.element;
        match element.name.as_str() {
            "zone" | "AS" => self.zone(node, Some(zone)),
            "cluster" => self.cluster(node, Some(zone)),
            "host" => self.host_element(node, zone),
            "peer" => self.peer(element, zone),
            "router" => {
                let Some(id) = element.get("id") else { return };
                let point = self.router(zone, id, element.place);
                self.coordinates(element, zone, point);
            }
            "link" => self.link_element(element),
            "route" | "zoneRoute" | "ASroute" | "bypassRoute" | "bypassZoneRoute"
            | "bypassASroute" => {
                self.stated.push(Stated { zone, node });
            }
            // With their zone, when its links are known.
            "cabinet" | "backbone" | "host_link" => {
                if self.drafts[zone as usize].routing != Rule::Star {
                    let message =
                        format!("<{}> belongs into a zone with routing=\"Cluster\"", element.name);
                    self.fault(element.place, message);
                }
            }
            _ => self.left_out(element),
        }
    }

    fn host_element(&mut self, node: &'a Node, zone: u32) {
        let element = &node.element;
        self.constant(element);
        for node in &node.children {
            self.left_out(&node.element);
        }
        let (speed, cores) = (self.speed(element), self.cores(element));
        let (Some(id), speed) = (element.get("id"), speed.unwrap_or(1.0)) else { return };
        let (name, place) = (id.to_owned(), element.place);
        let point = self.host(zone, Host { name, speed, cores, properties: props(node), place });
        self.coordinates(element, zone, point);
    }

    /// Sets the coordinates of a point of a Vivaldi zone.
    fn coordinates(&mut self, element: &Element, zone: u32, point: Option<u32>) {
        let Some(point) = point else { return };
        if self.drafts[zone as usize].routing != Rule::Vivaldi {
            return;
        }
        let attribute = element.attribute("coordinates");
        let numbers: Vec<f64> = attribute
            .map_or("", |a| &a.value)
            .split(' ')
            .filter_map(|number| number.parse().ok())
            .collect();
        let place =
            numbers.try_into().ok().filter(|place: &[f64; 3]| place.iter().all(|c| c.is_finite()));
        if place.is_none() {
            let at = attribute.map_or(element.place, |attribute| attribute.place);
            let message = "in a Vivaldi zone `coordinates` are three numbers of milliseconds, such \
                           as `25.5 9.4 1.4`";
            self.fault(at, message);
        }
        let seat = self.points[point as usize].seat;
        self.drafts[zone as usize].places[seat as usize] = place;
    }

    fn peer(&mut self, element: &Element, zone: u32) {
        self.constant(element);
        if self.drafts[zone as usize].routing != Rule::Vivaldi {
            self.fault(element.place, "<peer> belongs into a zone with routing=\"Vivaldi\"");
        }
        if let Some(lat) = element.attribute("lat") {
            let message = "`lat` of a peer counts for nothing; its latency is the third coordinate";
            self.remarks.push(Fault::at(lat.place.0, lat.place.1, message));
        }
        let speed = self.speed(element);
        let [inward, outward] = ["bw_in", "bw_out"].map(|key| self.bandwidth(element, key));
        let Some(id) = element.get("id") else { return };
        let host = Host {
            name: id.to_owned(),
            speed: speed.unwrap_or(1.0),
            cores: 1,
            properties: Arc::default(),
            place: element.place,
        };
        let point = self.host(zone, host);
        self.coordinates(element, zone, point);
        let (Some(inward), Some(outward), Some(point)) = (inward, outward, point) else { return };
        let up = self.link(Link::new(format!("link_{id}_UP"), outward, 0.0), element.place);
        let down = self.link(Link::new(format!("link_{id}_DOWN"), inward, 0.0), element.place);
        let seat = self.points[point as usize].seat as usize;
        let seat = &mut self.drafts[zone as usize].seats[seat];
        (seat.up, seat.down) = (Some(smallvec![up]), Some(smallvec![down]));
    }

    fn link_element(&mut self, element: &Element) {
        self.constant(element);
        let words = &["SHARED", "SPLITDUPLEX", "FULLDUPLEX", "FATPIPE", "WIFI"];
        let policy = self.word(element, "sharing_policy", words);
        if let Some(attribute) =
            element.attribute("sharing_policy").filter(|_| policy == Some("WIFI"))
        {
            self.fault(attribute.place, "wireless links are not modelled");
        }
        let bandwidth =
            match element.attribute("bandwidth").filter(|list| list.value.contains([',', ';'])) {
                Some(_) if policy == Some("WIFI") => None,
                Some(list) => {
                    self.fault(list.place, "only wireless links have more than one bandwidth");
                    None
                }
                None => self.bandwidth(element, "bandwidth"),
            };
        let latency =
            element.attribute("latency").map_or(Some(0.0), |_| self.latency(element, "latency"));
        let Some(id) = element.get("id") else { return };
        // A link with a wrong figure exists nevertheless, for the routes that name it.
        let (bandwidth, latency) = (bandwidth.unwrap_or(1.0), latency.unwrap_or(0.0));
        if matches!(policy, Some("SPLITDUPLEX" | "FULLDUPLEX")) {
            self.duplex(id, bandwidth, latency, element.place);
            return;
        }
        let mut link = Link::new(id.to_owned(), bandwidth, latency);
        if policy == Some("FATPIPE") {
            link.sharing = Sharing::FatPipe;
        }
        self.link(link, element.place);
    }

    /// Backbone, links of hosts and cabinets of a zone with routing Cluster.
    fn stars(&mut self, node: &'a Node, zone: u32) {
        if self.drafts[zone as usize].routing != Rule::Star {
            return;
        }
        let children =
            |name: &'static str| node.children.iter().filter(move |node| node.element.name == name);
        let mut backbone = None;
        for node in children("backbone") {
            let element = &node.element;
            if backbone.is_some() {
                self.fault(element.place, "a zone has one backbone");
            }
            let (bandwidth, latency) =
                (self.bandwidth(element, "bandwidth"), self.latency(element, "latency"));
            let Some(id) = element.get("id") else { continue };
            let link = Link::new(id.to_owned(), bandwidth.unwrap_or(1.0), latency.unwrap_or(0.0));
            backbone = Some(self.link(link, element.place));
        }
        for node in children("host_link") {
            self.host_link(&node.element, zone, backbone);
        }
        for node in children("cabinet") {
            self.cabinet(&node.element, zone, backbone);
        }
    }

    fn host_link(&mut self, element: &Element, zone: u32, backbone: Option<u32>) {
        let host = element.attribute("id").and_then(|attribute| self.point_named(attribute));
        let [up, down] = ["up", "down"].map(|key| {
            let attribute = element.attribute(key)?;
            self.link_named(&attribute.value, attribute.place)
        });
        let (Some(host), Some(up), Some(down)) = (host, up, down) else { return };
        if self.points[host as usize].zone != zone
            || !matches!(self.points[host as usize].kind, Kind::Host(_))
        {
            return self.fault(element.place, "the host of a host_link stands in the same zone");
        }
        self.attach(zone, host, (up, down), backbone);
    }

    fn attach(&mut self, zone: u32, point: u32, (up, down): (u32, u32), backbone: Option<u32>) {
        let seat = self.points[point as usize].seat as usize;
        let seat = &mut self.drafts[zone as usize].seats[seat];
        seat.up = Some(std::iter::once(up).chain(backbone).collect());
        seat.down = Some(backbone.into_iter().chain([down]).collect());
    }

    fn cabinet(&mut self, element: &Element, zone: u32, backbone: Option<u32>) {
        let speed = self.speed(element).unwrap_or(1.0);
        let (bandwidth, latency) = (self.bandwidth(element, "bw"), self.latency(element, "lat"));
        let (Some(bandwidth), Some(latency), Some(numbers)) =
            (bandwidth, latency, self.radical(element))
        else {
            return;
        };
        let [prefix, suffix] = ["prefix", "suffix"].map(|key| element.get(key).unwrap_or_default());
        for number in numbers {
            let name = format!("{prefix}{number}{suffix}");
            let (properties, place) = (Arc::default(), element.place);
            let host = Host { name: name.clone(), speed, cores: 1, properties, place };
            let Some(point) = self.host(zone, host) else { return };
            let [up, down] = ["UP", "DOWN"].map(|way| {
                self.link(
                    Link::new(format!("link_{name}_{way}"), bandwidth, latency),
                    element.place,
                )
            });
            self.attach(zone, point, (up, down), backbone);
        }
    }

    /// Routes, and the whole.
    pub(super) fn finish(mut self) -> Result<Platform, Faults> {
        for Stated { zone, node } in std::mem::take(&mut self.stated) {
            self.state(zone, node);
        }
        if self.hosts.is_empty() && self.faults.0.is_empty() {
            self.fault((1, 1), "the platform has no hosts");
        }
        let large = |draft: &&Draft| draft.routing == Rule::Floyd && draft.size > FLOYD;
        for draft in self.drafts.iter().filter(large) {
            let (line, column) = draft.place;
            let message =
                format!("Floyd routing of more than {FLOYD} hosts and routers; use Dijkstra");
            self.faults.push(Fault::at(line, column, message));
        }
        for (zone, draft) in self.zones.iter_mut().zip(std::mem::take(&mut self.drafts)) {
            let Draft { routing, size, nested, seats, legs, order, bypass, places, .. } = draft;
            let table = Table { legs, loopback: !nested };
            zone.bypass = bypass;
            zone.routing = match routing {
                Rule::Set => continue,
                Rule::Empty => Routing::Empty,
                Rule::Full => Routing::Full(table),
                Rule::Floyd => Routing::Floyd(Floyd::new(table, size)),
                Rule::Dijkstra => Routing::Dijkstra(Dijkstra::new(table, size, &order)),
                Rule::Star => Routing::Star(Star { seats }),
                Rule::Vivaldi => {
                    let places = places.into_iter().map(Option::unwrap_or_default).collect();
                    Routing::Vivaldi(Star { seats }, places)
                }
            };
        }
        let Self {
            hosts,
            mut links,
            routers,
            properties,
            mut remarks,
            seats,
            points,
            zones,
            faults,
            ..
        } = self;
        remarks.sort_by_key(|remark| (remark.line, remark.column));
        links.push(crate::loopback());
        let latencies = links.iter().map(|link| link.latency).collect();
        faults.or(Platform {
            hosts,
            properties,
            remarks,
            links,
            latencies,
            seats,
            routers,
            points,
            zones,
        })
    }
}
