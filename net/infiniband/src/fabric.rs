//! Everything that does not change in a run: the devices' ports, links and routes.

use std::sync::Arc;

use kernel::Random;
use topology::{Graph, Header, Hop, Rate, Routes, Size};
use units::{DeviceId, HostId, MessageId, Time};

use crate::{
    arbiter::Tables,
    parameters::{Choice, FLIT, Invalid, Parameters, flit_time, is_delay, is_pace},
    signal::Packet,
};

/// A port that leads somewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Port {
    /// The device behind the cable; [`NOBODY`] if there is none.
    pub peer: DeviceId,
    /// The port there.
    pub plug: u16,
    /// Time of one flit on the link, in picoseconds.
    pub flit: u32,
    /// Time of flight in picoseconds.
    pub cable: u64,
    /// From when a packet starts on the link until it may be arbitrated behind it, or is at a host.
    pub head: u64,
}

pub(crate) const NOBODY: DeviceId = DeviceId(u32::MAX);

impl Port {
    /// One that leads nowhere.
    const NONE: Self = Self { peer: NOBODY, plug: 0, flit: 1, cable: 0, head: 0 };
}

/// The service level of subnet management, which travels on virtual lane 15, without flow control.
pub const MANAGEMENT: u8 = 15;

/// Purposes of random numbers.
const PAUSES: u32 = 0x4942_0001;
const CHOICES: u32 = 0x4942_0002;
const DAMAGE: u32 = 0x4942_0003;

/// A network: what all its devices share.
#[derive(Clone, Debug)]
pub struct Fabric {
    pub(crate) hosts: u32,
    first: Vec<u32>,
    ports: Vec<Port>,
    rows: Vec<u64>,
    pub(crate) routes: Arc<Routes>,
    pub(crate) parameters: Parameters,
    pub(crate) tables: Tables,
    pub(crate) max_flits: u32,
    /// Lanes for data; the lane of this number is that of subnet management.
    pub(crate) lanes: u8,
    /// True if packets get lost.
    is_lossy: bool,
    lookahead: Time,
    pub(crate) pauses: Random,
    choices: Random,
    pub(crate) damage: Random,
}

/// The time of flight in a cable of so many millimetres: 5 ns/m.
fn flight(millimetres: u32) -> Time {
    Time::from_ps(u64::from(millimetres) * 5)
}

impl Fabric {
    /// A network of a graph and its routes. Everything that is wrong with the parameters is
    /// reported.
    pub fn new(
        graph: &Graph,
        routes: impl Into<Arc<Routes>>,
        parameters: Parameters,
    ) -> Result<Self, Vec<Invalid>> {
        let routes = routes.into();
        let lanes = routes.lanes();
        let mut wrong = parameters.check(lanes);
        let mut first = vec![0];
        let mut ports = Vec::new();
        for device in 0..graph.devices() {
            for end in graph.ends(device) {
                ports.push(end.map_or(Port::NONE, |end| {
                    let link = graph.link(end.link);
                    let flit = flit_time(link.rate.unwrap_or(parameters.link));
                    if link.rate.is_some() && !is_pace(flit) && wrong.len() < 20 {
                        wrong.push(Invalid::Pace { key: "a link's rate", time: flit });
                    }
                    let length = || link.length.map(flight);
                    let delay = link.delay.or_else(length).unwrap_or(parameters.cable);
                    let said = link.delay.is_some() || link.length.is_some();
                    if said && !is_delay(delay) && wrong.len() < 20 {
                        wrong.push(Invalid::Delay { key: "a link's delay", time: delay });
                    }
                    let (peer, plug) = (DeviceId(end.device), end.port);
                    let logic =
                        if graph.is_host(end.device) { Time::ZERO } else { parameters.latency_in };
                    let (cable, head) = (delay.ps(), delay.saturating_add(logic).ps());
                    Port { peer, plug, flit: flit.ps() as u32, cable, head }
                }));
            }
            first.push(ports.len() as u32);
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let mut fabric = Self {
            hosts: graph.hosts(),
            first,
            lookahead: Time::ZERO,
            ports,
            rows: graph.rows(),
            tables: parameters.arbiter.clone().unwrap_or_else(|| Tables::equal(lanes)),
            max_flits: parameters.packet_flits(),
            pauses: Random::new(parameters.seed, PAUSES),
            choices: Random::new(parameters.seed, CHOICES),
            damage: Random::new(parameters.seed, DAMAGE),
            lanes,
            is_lossy: parameters.losses.is_some(),
            routes,
            parameters,
        };
        let lookahead = fabric.lookahead_where(|_, _| true);
        if lookahead < Time::MAX {
            fabric.lookahead = lookahead;
        }
        Ok(fabric)
    }

    /// Number of hosts: devices 0 to this, less one.
    pub const fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Number of hosts and switches.
    pub fn devices(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// The least time between an event at a device and what it causes at another: on some link, the
    /// cable and either what a credit takes besides, or a packet: `latency_out` of a switch that
    /// sends it and `latency_in` of one that gets it, which cannot do anything with it before.
    pub const fn lookahead(&self) -> Time {
        self.lookahead
    }

    /// The lookahead between the two devices of the links that are `wanted`; [`Time::MAX`] if there
    /// are none.
    pub(crate) fn lookahead_where(&self, wanted: impl Fn(DeviceId, DeviceId) -> bool) -> Time {
        let Parameters { latency_out, credit_delay, .. } = self.parameters;
        let least = |device: DeviceId, port: &Port| {
            let logic = if self.is_host(device) { Time::ZERO } else { latency_out };
            (port.head + logic.ps()).min(port.cable + credit_delay.ps())
        };
        let all = (0..self.devices())
            .map(DeviceId)
            .flat_map(|device| self.ports(device).iter().map(move |port| (device, port)));
        let all = all.filter(|(device, port)| port.peer != NOBODY && wanted(*device, port.peer));
        let all = all.map(|(device, port)| least(device, port));
        all.min().map_or(Time::MAX, Time::from_ps)
    }

    /// For each device its place in a row of all of them; see [`Graph::rows`].
    pub(crate) fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The routes.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The parameters.
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the least memory of the switches of a topology in bytes: a queue of eight bytes for
    /// each pair of ports and lane, of which there are `lanes` and that of management. It is known
    /// before anything is built.
    pub fn least_memory(size: &Size, lanes: u8) -> u64 {
        let pairs = size.sum(|ports| ports * ports);
        pairs.saturating_mul(8 * (u64::from(lanes) + 1))
    }

    #[inline]
    pub(crate) fn ports(&self, device: DeviceId) -> &[Port] {
        let ends = self.first.get(device.index()..).and_then(|rest| rest.first_chunk());
        let [first, end] = ends.copied().unwrap_or_default();
        self.ports.get(first as usize..end as usize).unwrap_or(&[])
    }

    #[inline]
    pub(crate) const fn is_host(&self, device: DeviceId) -> bool {
        device.0 < self.hosts
    }

    /// Buffer behind an output port, in flits per lane.
    pub(crate) fn buffer_behind(&self, port: &Port) -> u32 {
        if self.is_host(port.peer) { self.parameters.host_buffer } else { self.parameters.buffer }
    }

    /// Returns the output port and lane of a packet at a switch.
    #[inline]
    pub(crate) fn hop(&self, switch: DeviceId, port: u16, lane: u8, header: &Header) -> Hop {
        if header.level == MANAGEMENT {
            let header = Header { level: 0, ..*header };
            return Hop { lane: self.lanes, ..self.routes.hop(switch.0, port, 0, &header) };
        }
        self.routes.hop(switch.0, port, lane, header)
    }

    /// The port and lane by which a packet leaves its host.
    pub(crate) fn first_hop(&self, header: &Header) -> Hop {
        if header.level == MANAGEMENT {
            let header = Header { level: 0, ..*header };
            return Hop { lane: self.lanes, ..self.routes.first_hop(&header) };
        }
        self.routes.first_hop(header)
    }

    /// The header by which a packet is routed.
    #[inline]
    pub(crate) fn header(&self, packet: &Packet) -> Header {
        let Packet { source, destination, level, stamp, .. } = *packet;
        let choice = if self.is_lossy {
            self.choose(source, destination, level, MessageId(0))
        } else {
            stamp.0
        };
        Header { source: source.0, destination: destination.0, level, choice }
    }

    /// Returns true if a packet's checksums are wrong.
    #[inline]
    pub(crate) const fn is_damaged(&self, packet: &Packet) -> bool {
        self.is_lossy && packet.stamp.is_damaged()
    }

    /// The route that a host chooses for a message.
    pub(crate) fn choose(
        &self,
        source: HostId,
        destination: HostId,
        level: u8,
        id: MessageId,
    ) -> u32 {
        let index = match self.parameters.choice {
            Choice::Pair => u64::from(destination.0) << 8 | u64::from(level),
            Choice::Message => id.0 | 1 << 63,
        };
        let random = || self.choices.number(source.0, index);
        self.routes.choose(source.0, destination.0, random)
    }

    /// The links that a packet crosses, as (device, output port), from its source to its
    /// destination; `None` if its route does not get there.
    pub fn path(&self, header: &Header) -> Option<Vec<(DeviceId, u16)>> {
        let mut path = Vec::new();
        self.walk(header, |device, port, _| path.push((device, port)))?;
        Some(path)
    }

    /// The number of links that a packet crosses; `None` if its route does not get there.
    pub fn hops(&self, header: &Header) -> Option<u32> {
        self.walk(header, |_, _, _| {})
    }

    /// Follows a packet and returns the number of links. `each` gets the device and the port before
    /// each link.
    pub(crate) fn walk(
        &self,
        header: &Header,
        mut each: impl FnMut(DeviceId, u16, &Port),
    ) -> Option<u32> {
        let mut hop = self.first_hop(header);
        let mut device = DeviceId(header.source);
        let mut hops = 0;
        loop {
            let port = self.ports(device).get(usize::from(hop.port))?;
            each(device, hop.port, port);
            hops += 1;
            if port.peer.0 == header.destination {
                return Some(hops);
            }
            if self.is_host(port.peer)
                || port.peer == NOBODY
                || hops as usize > self.first.len() * 16
            {
                return None;
            }
            device = port.peer;
            hop = self.hop(device, port.plug, hop.lane, header);
        }
    }

    /// Time of one flit on the link behind a port; `None` if there is none.
    pub fn flit_time_of(&self, device: DeviceId, port: u16) -> Option<Time> {
        let port = self.ports(device).get(usize::from(port))?;
        (port.peer != NOBODY).then(|| Time::from_ps(port.flit.into()))
    }

    /// The device behind a port; `None` if there is none.
    pub fn peer(&self, device: DeviceId, port: u16) -> Option<DeviceId> {
        let port = self.ports(device).get(usize::from(port))?;
        (port.peer != NOBODY).then_some(port.peer)
    }

    /// Time of one flit at a rate, as this model rounds it.
    pub fn flit_time(rate: Rate) -> Time {
        flit_time(rate)
    }
}

/// Flits of a packet with this payload, and the bytes of the last.
pub(crate) fn flits(payload: u32, header: u32) -> (u8, u8) {
    let bytes = payload + header;
    let flits = bytes.div_ceil(FLIT).max(1);
    (flits as u8, (bytes - (flits - 1) * FLIT) as u8)
}
