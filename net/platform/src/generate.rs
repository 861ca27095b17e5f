//! The topologies of this project as machines of the flow model.

use std::{collections::BTreeMap, sync::Arc};

use rustc_hash::FxHashMap;
use topology::{Routes, Topology};

use crate::{
    Host, Link, Platform,
    routing::{Cables, Forwarding, Routing},
    zone::{Kind, NONE, Point, Zone},
};

/// The figures that a topology does not have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Bytes per second and direction of a cable that states no rate of its own.
    pub bandwidth: f64,
    /// Seconds for a cable that states no delay of its own.
    pub cable: f64,
    /// Seconds for a switch; they count with the cable by which it is left.
    pub switch: f64,
    /// Flop per second of a host, which has one core.
    pub speed: f64,
}

impl Platform {
    /// A topology with its forwarding tables: each cable is two links, `A:PORT-B:PORT_UP` from its
    /// first end and `…_DOWN` back. A host reaches itself by `__loopback__`.
    pub fn from_topology(topology: &Topology, routes: &Routes, rates: Rates) -> Self {
        let graph = &topology.graph;
        let mut links = Vec::with_capacity(2 * graph.links().len() + 1);
        for cable in graph.links() {
            let bits = cable.rate.map(|rate| rate.bandwidth().bits_per_second());
            let bandwidth = bits.map_or(rates.bandwidth, |bits| bits as f64 / 8.0);
            let delay = cable.delay.map_or(rates.cable, |delay| delay.ps() as f64 / 1e12);
            let [a, b] = cable.ends.map(|end| graph.plug_name(end));
            for (end, way) in cable.ends.into_iter().zip(["UP", "DOWN"]) {
                let switch = if graph.is_host(end.device) { 0.0 } else { rates.switch };
                links.push(Link::new(format!("{a}-{b}_{way}"), bandwidth, delay + switch));
            }
        }
        links.push(crate::loopback());
        let none = Arc::new(BTreeMap::new());
        let host = |host: u32| Host {
            name: graph.name(host).to_owned(),
            speed: rates.speed,
            cores: 1,
            properties: Arc::clone(&none),
            place: (0, 0),
        };
        let mut points = vec![Point { zone: NONE, seat: 0, kind: Kind::Zone(0) }];
        points.extend((0..graph.hosts()).map(|host| Point {
            zone: 0,
            seat: host,
            kind: Kind::Host(host),
        }));
        let forwarding = Forwarding {
            graph: graph.clone(),
            routes: routes.clone(),
            cables: Cables { first: 0, split: true },
        };
        let zone = Zone {
            name: "topology".into(),
            parent: None,
            point: 0,
            routing: Routing::Forwarding(Box::new(forwarding)),
            bypass: FxHashMap::default(),
        };
        Self {
            hosts: (0..graph.hosts()).map(host).collect(),
            latencies: links.iter().map(|link| link.latency).collect(),
            links,
            routers: Vec::new(),
            properties: Vec::new(),
            remarks: Vec::new(),
            seats: (1..=graph.hosts()).collect(),
            points,
            zones: vec![zone],
        }
    }
}
