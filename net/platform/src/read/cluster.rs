//! Clusters: hosts that are alike, around a switch, or as a fat tree, torus or dragonfly.

use std::{collections::BTreeMap, sync::Arc};

use topology::{
    Fault,
    import::{
        self,
        xml::{Element, Place},
    },
};

use super::{LIMIT, Node, Reader, props, zone::Rule};
use crate::{
    Host, Link, Sharing,
    routing::{Flat, Routing},
};

/// The numbers that SimGrid counts through all clusters of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub tree_hosts: u32,
    pub tree_cables: u32,
    pub dragonfly_cables: u32,
}

/// The attributes of a cluster.
pub(super) struct Cluster<'a> {
    pub element: &'a Element,
    pub id: &'a str,
    pub place: Place,
    pub numbers: Vec<u32>,
    speed: f64,
    cores: u32,
    properties: Arc<BTreeMap<String, String>>,
    pub bandwidth: f64,
    pub latency: f64,
    /// True if a cable is two links.
    pub split: bool,
    pub limiter: Option<f64>,
    pub loopback: Option<(f64, f64)>,
    backbone: Option<(f64, f64)>,
}

impl Cluster<'_> {
    /// Returns the place of the parameters of the topology.
    pub(super) fn parameters(&self) -> Place {
        self.element.attribute("topo_parameters").map_or(self.place, |attribute| attribute.place)
    }
}

impl<'a> Reader<'a> {
    pub(super) fn cluster(&mut self, node: &'a Node, parent: Option<u32>) {
        let before = self.faults.0.len();
        let kind =
            self.word(&node.element, "topology", &["FLAT", "FAT_TREE", "TORUS", "DRAGONFLY"]);
        let cluster = self.attributes(node);
        let (Some(cluster), Some(kind), true) = (cluster, kind, before == self.faults.0.len())
        else {
            self.incomplete = true;
            return;
        };
        let Some(zone) = self.new_zone(cluster.id, Rule::Set, parent, cluster.place) else {
            return;
        };
        if kind == "FLAT" {
            self.properties_of(node, Some(cluster.id));
            return self.flat(&cluster, zone);
        }
        match self.generated(kind, &cluster, zone) {
            Some(routing) => self.zones[zone as usize].routing = routing,
            None => self.incomplete = true,
        }
    }

    fn attributes(&mut self, node: &'a Node) -> Option<Cluster<'a>> {
        let element = &node.element;
        let words = &["SPLITDUPLEX", "SHARED", "FULLDUPLEX", "FATPIPE"];
        let policy = self.word(element, "sharing_policy", words);
        if let Some(attribute) =
            element.attribute("sharing_policy").filter(|_| policy == Some("FATPIPE"))
        {
            let (line, column) = attribute.place;
            let message =
                "flows share the links of this cluster: SimGrid does not heed FATPIPE here";
            self.remarks.push(Fault::at(line, column, message));
        }
        let backbone = self.pair(element, "bb_bw", "bb_lat");
        let loopback = self.pair(element, "loopback_bw", "loopback_lat");
        let limiter = given(element, "limiter_link")
            .then(|| self.bandwidth(element, "limiter_link"))
            .flatten();
        let (speed, cores) = (self.speed(element), self.cores(element));
        let (bandwidth, latency) = (self.bandwidth(element, "bw"), self.latency(element, "lat"));
        Some(Cluster {
            element,
            id: element.get("id")?,
            place: element.place,
            numbers: self.radical(element)?,
            speed: speed?,
            cores,
            properties: props(node),
            bandwidth: bandwidth?,
            latency: latency?,
            split: matches!(policy?, "SPLITDUPLEX" | "FULLDUPLEX"),
            limiter,
            loopback,
            backbone,
        })
    }

    /// Bandwidth and latency of a link that a cluster may have.
    fn pair(&mut self, element: &Element, bandwidth: &str, latency: &str) -> Option<(f64, f64)> {
        let delay = given(element, latency).then(|| self.latency(element, latency)).flatten();
        if given(element, bandwidth) {
            return Some((self.bandwidth(element, bandwidth)?, delay.unwrap_or(0.0)));
        }
        if let Some(attribute) = element.attribute(latency).filter(|_| delay > Some(0.0)) {
            self.fault(
                attribute.place,
                format!("`{latency}` stands beside `{bandwidth}`, which is not there"),
            );
        }
        None
    }

    /// Numbers such as `0-5,7`.
    pub(super) fn radical(&mut self, element: &Element) -> Option<Vec<u32>> {
        let attribute = element.attribute("radical")?;
        let mut numbers = Vec::new();
        for part in attribute.value.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = first.trim().parse::<u32>().ok().zip(last.trim().parse::<u32>().ok());
            let Some((first, last)) = range.filter(|(first, last)| first <= last) else {
                let message = match import::too_large(part) {
                    Some(number) => format!("`radical`: {number} is more than {}", u32::MAX),
                    None => format!("`radical`: expected numbers such as 0-15,20, found `{part}`"),
                };
                self.fault(attribute.place, message);
                return None;
            };
            if u64::from(last - first) + numbers.len() as u64 >= LIMIT {
                self.fault(attribute.place, format!("`radical`: more than {LIMIT} hosts"));
                return None;
            }
            numbers.extend(first..=last);
        }
        Some(numbers)
    }

    /// The host of one of a cluster's numbers.
    pub(super) fn leaf(&mut self, cluster: &Cluster, zone: u32, number: u32) -> Option<u32> {
        let [prefix, suffix] =
            ["prefix", "suffix"].map(|key| cluster.element.get(key).unwrap_or_default());
        let host = Host {
            name: format!("{prefix}{number}{suffix}"),
            speed: cluster.speed,
            cores: cluster.cores,
            properties: Arc::clone(&cluster.properties),
            place: cluster.place,
        };
        self.host(zone, host)
    }

    pub(super) fn loopback(&mut self, cluster: &Cluster, number: u32) -> Option<u32> {
        let (bandwidth, latency) = cluster.loopback?;
        let mut link =
            Link::new(format!("{}_link_{number}_loopback", cluster.id), bandwidth, latency);
        link.sharing = Sharing::FatPipe;
        Some(self.link(link, cluster.place))
    }

    pub(super) fn limiter(&mut self, cluster: &Cluster, number: u64) -> Option<u32> {
        let mut link =
            Link::new(format!("{}_link_{number}_limiter", cluster.id), cluster.limiter?, 0.0);
        link.limiter = true;
        Some(self.link(link, cluster.place))
    }

    fn flat(&mut self, cluster: &Cluster, zone: u32) {
        let (id, place) = (cluster.id, cluster.place);
        let backbone = cluster.backbone.map(|(bandwidth, latency)| {
            let mut link = Link::new(format!("{id}_backbone"), bandwidth, latency);
            if self.word(cluster.element, "bb_sharing_policy", &["SHARED", "FATPIPE"])
                == Some("FATPIPE")
            {
                link.sharing = Sharing::FatPipe;
            }
            self.link(link, place)
        });
        let first = self.links.len() as u32;
        for &number in &cluster.numbers {
            if self.leaf(cluster, zone, number).is_none() {
                return;
            }
            self.loopback(cluster, number);
            self.limiter(cluster, number.into());
            let name = format!("{id}_link_{number}");
            if cluster.split {
                self.duplex(&name, cluster.bandwidth, cluster.latency, place);
            } else {
                self.link(Link::new(name, cluster.bandwidth, cluster.latency), place);
            }
        }
        self.zones[zone as usize].routing = Routing::Flat(Flat {
            hosts: cluster.numbers.len() as u32,
            first,
            loopback: cluster.loopback.is_some(),
            limiter: cluster.limiter.is_some(),
            split: cluster.split,
            backbone,
        });
        let [prefix, suffix] =
            ["prefix", "suffix"].map(|key| cluster.element.get(key).unwrap_or_default());
        let router = match cluster.element.get("router_id") {
            Some(router) if !router.is_empty() => router.to_owned(),
            _ => format!("{prefix}{id}_router{suffix}"),
        };
        self.router(zone, &router, place);
    }
}

/// Returns whether an attribute is there and not empty.
fn given(element: &Element, key: &str) -> bool {
    element.get(key).is_some_and(|value| !value.is_empty())
}
