//! The ports of hosts: one link between a host and its router, or several side by side.
//!
//! With more than one injection or ejection port each link of a host in the topology stands for a
//! bundle of links of its rate. A message leaves by one of the injection ports, each of which is an
//! injector with one queue at the router and competes for itself with packets in transit; a packet
//! goes to its host by whichever ejection port is free, and each takes one at a time. Routes know
//! the link of the topology alone. Its own ports carry nothing then, and tables count the bundle
//! there.
//!
//! Numbers: behind the ports of the topology a host has the bundle of each of them in turn, and a
//! router those of its ports to hosts.
//!
//! Source: the nodes of the simulators FSIN (its `ninj` injectors, and consumption of several
//! packets at once) and NSIM.

use std::ops::Range;

use topology::{End, Graph};
use units::DeviceId;

use crate::{
    Parameters,
    fabric::{Fabric, NOBODY, Port},
    parameters::Invalid,
};

/// The links of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bundle {
    /// Links side by side; 1 where that of the topology is the only one, and no bundle.
    links: u16,
    /// Those by which packets leave the host: the first of them.
    injection: u16,
    /// Those by which packets come to the host.
    ejection: u16,
}

impl Bundle {
    pub fn new(parameters: &Parameters) -> Self {
        let [injection, ejection] =
            [parameters.injection_ports, parameters.ejection_ports].map(|ports| ports as u16);
        Self { links: injection.max(ejection), injection, ejection }
    }

    /// Returns true if hosts have bundles.
    #[inline]
    pub const fn is_several(self) -> bool {
        self.links > 1
    }

    /// Adds the ports of the bundles of a device, whose ports of the topology are the last ones of
    /// `ports`, from `first` on.
    pub fn add(self, graph: &Graph, device: u32, first: usize, ports: &mut Vec<Port>) {
        if !self.is_several() {
            return;
        }
        let of_host = graph.is_host(device);
        for own in first..first + graph.ends(device).len() {
            let port = ports[own];
            let bundled = port.peer != NOBODY && graph.is_host(port.peer.0);
            if !of_host && !bundled {
                continue;
            }
            let there = match port.peer {
                NOBODY => 0,
                peer if of_host => self.behind(graph, peer.0, port.plug),
                peer => graph.ports(peer.0) as u16 + port.plug * self.links,
            };
            ports.extend((0..self.links).map(|link| Port { plug: there + link, ..port }));
        }
    }

    /// The first port of the bundle of a router's port.
    fn behind(self, graph: &Graph, router: u32, port: u16) -> u16 {
        let ends = graph.ends(router);
        let before = ends[..usize::from(port)].iter().flatten();
        let hosts = before.filter(|end| graph.is_host(end.device)).count();
        (ends.len() + hosts * usize::from(self.links)) as u16
    }

    /// Tells what is wrong with the bundles of a graph for a number of channels: their ports and
    /// channels must have numbers.
    pub fn check(self, graph: &Graph, channels: u32) -> Option<Invalid> {
        if !self.is_several() {
            return None;
        }
        let ports = (0..graph.devices()).map(|device| {
            let bundled = |end: &&End| graph.is_host(device) || graph.is_host(end.device);
            let own = graph.ends(device).iter().flatten().filter(bundled).count();
            graph.ports(device) as usize + own * usize::from(self.links)
        });
        let ports = ports.max().unwrap_or(0);
        let channels = u32::from(self.ejection) * channels;
        let fits = u16::try_from(ports).is_ok() && channels < 1 << 8;
        (!fits).then_some(Invalid::Bundle { ports, channels })
    }
}

impl Fabric {
    /// The number of a device's ports in the topology.
    #[inline]
    fn own_ports(&self, host: DeviceId) -> u16 {
        self.ports(host).len() as u16 / (1 + self.bundle.links)
    }

    /// The ports by which a host sends what its port in the topology is to send.
    pub(crate) fn injection_ports(&self, host: DeviceId, port: u16) -> Range<u16> {
        if !self.bundle.is_several() {
            return port..port + 1;
        }
        let first = self.own_ports(host) + port * self.bundle.links;
        first..first + self.bundle.injection
    }

    /// The channels that packets take on a link from a host: its queues at the router.
    pub(crate) const fn injection_channels(&self) -> usize {
        if self.bundle.injection > 1 { 1 } else { self.channels }
    }

    /// The ports by which a router sends what its port in the topology is to send, behind which is
    /// `link`.
    #[inline]
    pub(crate) fn ejection_ports(&self, port: u16, link: &Port) -> Range<u16> {
        if !self.bundle.is_several() || !self.is_host(link.peer) {
            return port..port + 1;
        }
        let bundle = self.own_ports(link.peer) + link.plug * self.bundle.links;
        let first = self.port(link.peer, bundle).map_or(port, |back| back.plug);
        first..first + self.bundle.ejection
    }

    /// The number of links by which a device sends what its port in the topology is to send.
    pub(crate) fn side_by_side(&self, device: DeviceId, port: u16) -> u16 {
        if self.is_host(device) {
            return self.bundle.injection;
        }
        let link = self.port(device, port);
        link.map_or(1, |link| self.ejection_ports(port, link).len() as u16)
    }

    /// Returns true if packets may take a channel of a router's port: of several ejection ports
    /// each has one.
    pub(crate) fn is_open(&self, router: DeviceId, port: u16, channel: usize) -> bool {
        channel == 0 || self.bundle.ejection == 1 || self.port_of_topology(router, port) == port
    }

    /// The port of the topology for which a port of a device stands.
    #[inline]
    pub(crate) fn port_of_topology(&self, device: DeviceId, port: u16) -> u16 {
        if !self.bundle.is_several() {
            return port;
        }
        let host = |host, port: u16| match port.checked_sub(self.own_ports(host)) {
            Some(bundled) => bundled / self.bundle.links,
            None => port,
        };
        if self.is_host(device) {
            return host(device, port);
        }
        let link = self.port(device, port).filter(|link| self.is_host(link.peer));
        let back = link.and_then(|link| self.port(link.peer, host(link.peer, link.plug)));
        back.map_or(port, |back| back.plug)
    }
}
