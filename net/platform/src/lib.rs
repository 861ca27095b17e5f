//! Machines for the flow model: hosts, links with bandwidth and latency, and the links that a
//! message from one host to another crosses. They come from SimGrid's platform files
//! ([`Platform::read`]), read as SimGrid 3.32 reads them, or from a topology of this project
//! ([`Platform::from_topology`]).
//!
//! Routes are computed by rule where the machine has one (clusters, fat trees, tori, dragonflies),
//! and kept where they need a search (Floyd, Dijkstra). No simulated time passes here, and
//! capacities are only stated: sharing them is up to the network model.
//!
//! Not modelled: wireless zones and links, machines that change over time (profiles), disks,
//! energy.
//!
//! Sources: the comments of `simgrid.dtd`, SimGrid 3.32's documentation, and its behaviour where
//! that is silent (`validation/simgrid`). Differences are listed in `docs/src/platforms.md`.

mod generate;
mod read;
mod routing;
mod zone;

pub use generate::Rates;

use std::collections::BTreeMap;

use topology::Fault;

use zone::{Point, Walk, Zone};

/// The rule by which flows share a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The rates of all flows on the link add up to at most its bandwidth.
    Shared,
    /// Each flow on its own has at most the bandwidth.
    FatPipe,
}

/// A link, or one direction of a cable that has two (`NAME_UP` and `NAME_DOWN`).
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The name, as SimGrid has it.
    pub name: String,
    /// Bytes per second.
    pub bandwidth: f64,
    /// Seconds.
    pub latency: f64,
    /// The rule by which flows share it.
    pub sharing: Sharing,
    /// True if it stands for no cable but for what a host or a switch can move in both directions
    /// together.
    pub limiter: bool,
}

impl Link {
    fn new(name: String, bandwidth: f64, latency: f64) -> Self {
        Self { name, bandwidth, latency, sharing: Sharing::Shared, limiter: false }
    }
}

/// A host.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Flop per second of a core, in the state that `pstate` names (the first one, if it does not).
    pub speed: f64,
    /// Number of cores.
    pub cores: u32,
    /// Its `<prop>` entries; those of a cluster belong to each of its hosts.
    pub properties: std::sync::Arc<BTreeMap<String, String>>,
    /// Line and column, from 1, of what describes it; zeros if no file does.
    pub place: (usize, usize),
}

/// A `<prop>` of a zone or of `<config>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The zone it belongs to; `None` for `<config>`.
    pub zone: Option<String>,
    /// Its name, for `<config>` the configuration item, such as `network/crosstraffic`.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Line and column, from 1.
    pub place: (usize, usize),
}

/// A machine.
#[derive(Debug)]
pub struct Platform {
    /// Hosts, in the order of the file; those of a `<cabinet>` come last in their zone.
    pub hosts: Vec<Host>,
    /// Properties of zones and configuration items, in the order of the file.
    pub properties: Vec<Property>,
    /// Remarks on elements that were read and left out, such as disks.
    pub remarks: Vec<Fault>,
    links: Vec<Link>,
    /// The latencies of the links, close together.
    latencies: Box<[f64]>,
    /// The point of each host.
    seats: Vec<u32>,
    routers: Vec<Box<str>>,
    points: Vec<Point>,
    zones: Vec<Zone>,
}

/// Two hosts that the machine does not connect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no route from `{from}` to `{to}`: {why}")]
pub struct NoRoute {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// The place where the route breaks off.
    pub why: String,
    /// The place of the description of the host that sends: see [`Host::place`].
    pub place: (usize, usize),
}

impl Platform {
    /// All links. The last one is `__loopback__`, which hosts of zones with Full, Floyd or Dijkstra
    /// routing use to themselves if nothing else is said; its figures are SMPI's defaults.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Index of the link `__loopback__`.
    pub fn loopback(&self) -> u32 {
        self.links.len().saturating_sub(1) as u32
    }

    /// Gives `__loopback__` other figures, in bytes per second and seconds: what the configuration
    /// items `network/loopback-bw` and `network/loopback-lat` do.
    pub fn set_loopback(&mut self, bandwidth: f64, latency: f64) {
        if let (Some(link), Some(known)) = (self.links.last_mut(), self.latencies.last_mut()) {
            (link.bandwidth, link.latency, *known) = (bandwidth, latency, latency);
        }
    }

    /// Puts the links from one host to another into `links`, in the order in which SimGrid lists
    /// them, and returns the latency in seconds: the sum over the links, in this order, plus the
    /// distance in a Vivaldi zone. Limiters and loopbacks are among the links. Numbers of hosts
    /// that do not exist have no route.
    pub fn route(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<f64, NoRoute> {
        links.clear();
        let seat = |host: u32| self.seats.get(host as usize).copied();
        let (Some(a), Some(b)) = (seat(from), seat(to)) else {
            return Err(self.no_route(from, to, "there is no such host"));
        };
        let mut walk = Walk { links, distance: 0.0, depth: 0 };
        let found = self.connect(a, b, &mut walk);
        let distance = walk.distance;
        if let Err(gap) = found {
            links.clear();
            return Err(self.no_route(from, to, &self.explain(&gap)));
        }
        if links.is_empty() && distance == 0.0 {
            return Err(self.no_route(from, to, "no link is named between them"));
        }
        let latency = |&link: &u32| self.latencies.get(link as usize).copied().unwrap_or(0.0);
        Ok(links.iter().map(latency).sum::<f64>() + distance)
    }

    #[cold]
    fn no_route(&self, from: u32, to: u32, why: &str) -> NoRoute {
        let name = |host: u32| match self.hosts.get(host as usize) {
            Some(host) => host.name.clone(),
            None => format!("host {host}"),
        };
        let place = self.hosts.get(from as usize).map_or((0, 0), |host| host.place);
        NoRoute { from: name(from), to: name(to), why: why.to_owned(), place }
    }
}

/// SMPI's link of a host to itself: 10 GB/s, which each flow has for itself.
fn loopback() -> Link {
    let link = Link::new("__loopback__".to_owned(), 1e10, 0.0);
    Link { sharing: Sharing::FatPipe, ..link }
}
