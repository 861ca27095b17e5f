//! Everything that does not change in a run: ports, links, routes and delays.

use std::{ops::Range, sync::Arc};

use kernel::Random;
use topology::{Bubble, Graph, Header, Hop, Routes, Shared, Size};
use units::{DeviceId, HostId, MessageId, Time};

use crate::arbiter::Arbitration;
use crate::census::Tree;
use crate::node::Bundle;
use crate::parameters::{
    Choice, Injector, Invalid, Parameters, Switching, flit_time, is_delay, is_pace,
};
use crate::router::Router;
use crate::signal::Packet;

/// A port of a host or router.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Port {
    /// The device behind the cable; [`NOBODY`] if there is none.
    pub peer: DeviceId,
    /// The port there.
    pub plug: u16,
    /// Time of one flit on the link, in picoseconds; on a link of a host that of the slowest part
    /// of the host, if that is longer.
    pub flit: u32,
    /// Time of flight in picoseconds.
    pub cable: u64,
}

pub(crate) const NOBODY: DeviceId = DeviceId(u32::MAX);

impl Port {
    /// A port without a link.
    const NONE: Self = Self { peer: NOBODY, plug: 0, flit: 1, cable: 0 };
}

/// The delays of a router's stages in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    pub cycle: u64,
    pub route: u64,
    pub vc_allocation: u64,
    pub switch_allocation: u64,
    pub traversal: u64,
    pub credit: u64,
    /// From when a message enters its host's interface to when its first flit may be on the link.
    pub injection: u64,
    /// From when the last flit of a message has come to when it is delivered.
    pub delivery: u64,
}

/// The queues that routers tell each other of.
#[derive(Clone, Debug)]
pub(crate) struct Sharing {
    /// The ports that they tell of.
    pub of: Range<u16>,
    /// The ports to those that they tell.
    pub with: Range<u16>,
    /// The time between two words.
    pub period: u64,
}

impl Sharing {
    /// The place of a port of the router behind another port.
    #[inline]
    pub fn place(&self, port: u16, of: u16) -> Option<usize> {
        let known = self.with.contains(&port) && self.of.contains(&of);
        let row = usize::from(port.wrapping_sub(self.with.start));
        known.then(|| row * self.of.len() + usize::from(of - self.of.start))
    }
}

/// Purposes of random numbers.
const CHOICES: u32 = 0x504b_0001;
const ARBITERS: u32 = 0x504b_0002;
const PRIORITIES: u32 = 0x504b_0003;

/// A network: all that its devices share.
#[derive(Clone, Debug)]
pub struct Fabric {
    hosts: u32,
    first: Vec<u32>,
    ports: Vec<Port>,
    rows: Vec<u64>,
    routes: Arc<Routes>,
    parameters: Parameters,
    pub(crate) delays: Delays,
    /// Virtual channels of a link.
    pub(crate) channels: usize,
    /// Buffer behind a link, in flits per virtual channel.
    pub(crate) buffer: u32,
    /// The full packets that a buffer holds under bubble flow control; else 0.
    pub(crate) places: usize,
    /// True if a packet takes another channel than its escape only where the next buffer is empty
    /// or has room for all of it, though switching is wormhole.
    pub(crate) keeps_apart: bool,
    /// The links between a host and its router.
    pub(crate) bundle: Bundle,
    /// The lane of the routing for each channel.
    lanes: Box<[u8]>,
    /// The channels of each lane, from the first to behind the last.
    shares: Box<[(u32, u32)]>,
    lookahead: Time,
    /// The value of [`network::Network::lead`].
    lead: (Time, Time),
    pub(crate) sharing: Option<Sharing>,
    pub(crate) census: Option<Tree>,
    choices: Random,
    pub(crate) arbiters: Random,
    priorities: Random,
}

/// The time of flight in a cable of so many millimetres: 5 ns/m.
fn flight(millimetres: u32) -> Time {
    Time::from_ps(u64::from(millimetres) * 5)
}

/// The first port of each device, and the ports of all. Links whose times are out of range are
/// reported.
fn ports(graph: &Graph, parameters: &Parameters) -> Result<(Vec<u32>, Vec<Port>), Vec<Invalid>> {
    let node = parameters.node().into_iter().max().unwrap_or_default();
    let bundle = Bundle::new(parameters);
    let (mut first, mut ports, mut wrong) = (vec![0], Vec::new(), Vec::new());
    for device in 0..graph.devices() {
        let own = ports.len();
        for end in graph.ends(device) {
            let link = end.map(|end| (end, graph.link(end.link)));
            ports.push(link.map_or(Port::NONE, |(end, link)| {
                let of_host = device.min(end.device) < graph.hosts();
                let usual = parameters.host_link.filter(|_| of_host).unwrap_or(parameters.link);
                let flit = flit_time(link.rate.unwrap_or(usual), parameters.flit);
                let flit = if of_host { flit.max(node) } else { flit };
                let length = || link.length.map(flight);
                let delay = link.delay_from(device).or_else(length).unwrap_or(parameters.cable);
                if !is_pace(flit) && wrong.len() < 20 {
                    wrong.push(Invalid::Pace { link: "a link of the topology", time: flit });
                }
                if !is_delay(delay) && wrong.len() < 20 {
                    wrong.push(Invalid::Delay { key: "a link's delay", time: delay });
                }
                let (flit, cable) = (flit.ps() as u32, delay.ps());
                Port { peer: DeviceId(end.device), plug: end.port, flit, cable }
            }));
        }
        bundle.add(graph, device, own, &mut ports);
        first.push(ports.len() as u32);
    }
    if wrong.is_empty() { Ok((first, ports)) } else { Err(wrong) }
}

impl Delays {
    fn new(parameters: &Parameters) -> Self {
        let cycle = parameters.cycle();
        let node = parameters.node().iter().map(|time| time.ps()).sum::<u64>();
        Self {
            cycle,
            route: parameters.route.ps(cycle),
            vc_allocation: parameters.vc_allocation.ps(cycle),
            switch_allocation: parameters.switch_allocation.ps(cycle),
            traversal: parameters.traversal.ps(cycle),
            credit: parameters.credit.ps(cycle),
            injection: parameters.injection.ps(cycle) + node,
            delivery: node,
        }
    }
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
        let wrong = parameters.check(routes.lanes());
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let lanes = u32::from(routes.lanes());
        let channels = parameters.channels.unwrap_or(lanes).max(1);
        let bundle = Bundle::new(&parameters);
        if let Some(wrong) = bundle.check(graph, channels) {
            return Err(vec![wrong]);
        }
        let (first, ports) = ports(graph, &parameters)?;
        let lane_of = |channel: u32| ((channel + 1) * lanes - 1) / channels;
        let share_of = |lane| (lane * channels / lanes, (lane + 1) * channels / lanes);
        let mut fabric = Self {
            hosts: graph.hosts(),
            first,
            ports,
            rows: graph.rows(),
            delays: Delays::new(&parameters),
            channels: channels as usize,
            buffer: 0,
            places: 0,
            keeps_apart: routes.rests_on_escape() && parameters.switching == Switching::Wormhole,
            bundle,
            lanes: (0..channels).map(|channel| lane_of(channel) as u8).collect(),
            shares: (0..lanes).map(share_of).collect(),
            lookahead: Time::ZERO,
            lead: (Time::ZERO, Time::ZERO),
            sharing: None,
            census: None,
            choices: Random::new(parameters.seed, CHOICES),
            arbiters: Random::new(parameters.seed, ARBITERS),
            priorities: Random::new(parameters.seed, PRIORITIES),
            routes,
            parameters,
        };
        fabric.buffer = fabric.parameters.buffer.unwrap_or_else(|| fabric.round_trip());
        if let Some(wrong) = fabric.wrong_buffer() {
            return Err(vec![wrong]);
        }
        if fabric.routes.bubble().is_some() {
            fabric.places =
                (fabric.buffer / fabric.parameters.flits(fabric.parameters.mtu)) as usize;
        }
        fabric.sharing = fabric.sharing();
        fabric.census = Tree::new(&fabric);
        fabric.lookahead = Some(fabric.lookahead_where(|_, _| true))
            .filter(|lookahead| *lookahead < Time::MAX)
            .unwrap_or_default();
        fabric.lead = fabric.lead_of_routers();
        Ok(fabric)
    }

    /// Returns the least memory of the routers of a topology in bytes. It is known before anything
    /// is built.
    pub fn least_memory(size: &Size, parameters: &Parameters) -> u64 {
        size.sum(|ports| Router::least_memory(ports, parameters))
    }

    /// Tells what is wrong with the buffers, given their size.
    fn wrong_buffer(&self) -> Option<Invalid> {
        let packet = self.parameters.flits(self.parameters.mtu);
        let (packets, flits) = (self.parameters.local_buffer, self.buffer);
        if let Some(bubble) = self.routes.bubble() {
            if self.parameters.switching == Switching::Wormhole {
                return Some(Invalid::Wormhole);
            }
            if bubble == Bubble::Local && flits / packet < 2 {
                return Some(Invalid::Bubble { flits, packet });
            }
        }
        let fits = packets.saturating_mul(packet) <= flits;
        (!fits).then_some(Invalid::LocalBuffer { flits, packets, packet })
    }

    /// Flits that cover the round trip of a credit over the longest link, and a packet: from the
    /// grant of the switch before the link to the return of the credit there. Under bubble flow
    /// control they are places for packets, and one stays free if each buffer keeps one.
    fn round_trip(&self) -> u32 {
        let Delays { route, vc_allocation, switch_allocation, traversal, credit, .. } = self.delays;
        let there = switch_allocation + traversal;
        let back = route + vc_allocation + switch_allocation + credit;
        let flits = |port: &Port| {
            let flit = u64::from(port.flit);
            (there + flit + back + 2 * port.cable).div_ceil(flit)
        };
        let packet = self.parameters.flits(self.parameters.mtu);
        let most = self.ports.iter().map(flits).max().unwrap_or(0);
        let flits = u32::try_from(most).unwrap_or(u32::MAX).saturating_add(packet);
        let Some(bubble) = self.routes.bubble() else { return flits };
        let kept = u32::from(bubble == Bubble::Local);
        flits.div_ceil(packet).saturating_add(kept).saturating_mul(packet)
    }

    /// The queues that the routing reads at other routers. They are told in the distance of the
    /// longest way of a credit between those that tell.
    fn sharing(&self) -> Option<Sharing> {
        let Shared { of, with } = self.routes.shared()?.clone();
        let links = (self.hosts..self.devices()).flat_map(|router| {
            with.clone().filter_map(move |port| self.port(DeviceId(router), port))
        });
        let period = links.map(|link| self.way_of_credit(link)).max()?.max(self.delays.cycle);
        Some(Sharing { of, with, period })
    }

    /// The number of a cycle, as far as 32 bits tell.
    pub(crate) const fn cycle_of(&self, at: u64) -> u32 {
        (at / self.delays.cycle) as u32
    }

    /// The time by which arbiters compare the age of a packet that comes into a router at `now`.
    #[inline]
    pub(crate) fn since(&self, now: u64, packet: &Packet) -> u64 {
        if self.parameters.arbiter != Arbitration::Age {
            return now;
        }
        let age = self.cycle_of(now).wrapping_sub(packet.born);
        (now / self.delays.cycle).saturating_sub(age.into()) * self.delays.cycle
    }

    /// True if routers count the flits that wait for their ports.
    pub(crate) fn counts_waiting(&self) -> bool {
        self.sharing.is_some() || self.routes.counts_queues()
    }

    /// Number of hosts: devices 0 to this, less one.
    pub const fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Number of hosts and routers.
    pub fn devices(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// The parameters.
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The routes.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The least time between an event at a device and its effect on another.
    pub const fn lookahead(&self) -> Time {
        self.lookahead
    }

    /// The time by which the clocks of routers may go ahead of those of hosts, and the lookahead
    /// then.
    pub(crate) const fn lead(&self) -> (Time, Time) {
        self.lead
    }

    /// Hosts answer a credit at once, and routers take some cycles to send one. With clocks that
    /// are apart by half of the difference either way seems to take the mean of both.
    fn lead_of_routers(&self) -> (Time, Time) {
        let least = |from: bool, to: bool| {
            let kind = |device| self.is_host(device);
            self.lookahead_where(|a, b| (kind(a), kind(b)) == (from, to)).ps()
        };
        let [into, out] = [least(true, false), least(false, true)];
        if into == u64::MAX {
            return (Time::ZERO, self.lookahead);
        }
        let lead = (out.saturating_sub(into) / 2).min(into);
        let among = least(false, false).min(least(true, true));
        (Time::from_ps(lead), Time::from_ps((into + lead).min(out - lead).min(among)))
    }

    /// The lookahead over the links that are `wanted`, whether the clocks of routers go ahead or
    /// not.
    pub(crate) fn lookahead_between(&self, wanted: impl Fn(DeviceId, DeviceId) -> bool) -> Time {
        let out = |a, b| !self.is_host(a) && self.is_host(b) && wanted(a, b);
        let out = self.lookahead_where(out).saturating_sub(self.lead.0);
        self.lookahead_where(&wanted).min(out)
    }

    /// For each device its place in a row of all of them; see [`Graph::rows`].
    pub(crate) fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The lookahead between the two devices of the links that are `wanted`; [`Time::MAX`] if there
    /// are none. A flit takes at least its time on the link and in the cable, and a credit the time
    /// in which a flit leaves its buffer, the credit delay and the cable.
    pub(crate) fn lookahead_where(&self, wanted: impl Fn(DeviceId, DeviceId) -> bool) -> Time {
        let Delays { switch_allocation, traversal, credit, .. } = self.delays;
        let least = |device: DeviceId, port: &Port| {
            let flit = u64::from(port.flit);
            if self.is_host(device) {
                return port.cable + flit;
            }
            port.cable + (switch_allocation + traversal + flit).min(switch_allocation + credit)
        };
        let all = (0..self.devices())
            .map(DeviceId)
            .flat_map(|device| self.ports(device).iter().map(move |port| (device, port)));
        let all = all.filter(|(device, port)| port.peer != NOBODY && wanted(*device, port.peer));
        let all = all.map(|(device, port)| least(device, port));
        all.min().map_or(Time::MAX, Time::from_ps)
    }

    #[inline]
    pub(crate) fn ports(&self, device: DeviceId) -> &[Port] {
        let at = |device: usize| self.first.get(device).map_or(0, |&first| first as usize);
        self.ports.get(at(device.index())..at(device.index() + 1)).unwrap_or(&[])
    }

    /// A port that leads somewhere.
    #[inline]
    pub(crate) fn port(&self, device: DeviceId, port: u16) -> Option<&Port> {
        self.ports(device).get(usize::from(port)).filter(|port| port.peer != NOBODY)
    }

    #[inline]
    pub(crate) const fn is_host(&self, device: DeviceId) -> bool {
        device.0 < self.hosts
    }

    /// The virtual channels that packets of a lane may take on a link. On links of hosts these are
    /// all of them: nothing waits behind a host.
    #[inline]
    pub(crate) fn channels_of(&self, lane: u8, port: &Port) -> Range<u32> {
        if self.is_host(port.peer) {
            return 0..self.channels as u32;
        }
        let (start, end) = self.shares.get(usize::from(lane)).copied().unwrap_or_default();
        start..end
    }

    /// The lane of a packet that came into a router by a port and channel; 0 from a host.
    #[inline]
    pub(crate) fn lane(&self, port: &Port, channel: u8) -> u8 {
        if self.is_host(port.peer) {
            return 0;
        }
        self.lanes.get(usize::from(channel)).copied().unwrap_or(0)
    }

    /// Credits that a packet of so many flits needs to take a channel.
    #[inline]
    pub(crate) fn needed(&self, flits: u16) -> u32 {
        match self.parameters.switching {
            Switching::CutThrough => flits.into(),
            Switching::Wormhole => 0,
        }
    }

    /// Credits that a packet of so many flits needs to take its escape, and those to take another
    /// channel; see `router/vc_allocation.rs`.
    #[inline]
    pub(crate) fn needs(&self, flits: u16) -> [u32; 2] {
        let escape = self.needed(flits);
        [escape, if self.keeps_apart { self.buffer.min(flits.into()) } else { escape }]
    }

    /// The time from the grant of the switch to a flit until it has crossed a free link.
    #[inline]
    pub(crate) const fn way_of_flit(&self, link: &Port) -> u64 {
        self.delays.switch_allocation + self.delays.traversal + link.flit as u64 + link.cable
    }

    /// The time from the grant of the switch to a flit until its credit has come back by its link.
    #[inline]
    pub(crate) const fn way_of_credit(&self, link: &Port) -> u64 {
        self.delays.switch_allocation + self.delays.credit + link.cable
    }

    /// The time from the grant of the switch to a flit until its credit is back, if nothing delays
    /// it in the next router.
    #[inline]
    pub(crate) const fn way_around(&self, link: &Port) -> u64 {
        let Delays { route, vc_allocation, .. } = self.delays;
        self.way_of_flit(link) + route + vc_allocation + self.way_of_credit(link)
    }

    /// The time from the arrival of a flit at a host until its credit has come back by its link.
    #[inline]
    pub(crate) const fn way_of_taken(&self, link: &Port) -> u64 {
        link.flit as u64 + self.delays.credit + link.cable
    }

    /// Returns true if packets in transit go before those from hosts at an output channel of a
    /// router in the cycle at `now`.
    #[inline]
    pub(crate) fn prefers_transit(&self, device: DeviceId, now: u64, output: u32) -> bool {
        let probability = self.parameters.transit_priority;
        let drawn = || self.priorities.number(device.0, now.rotate_left(32) ^ u64::from(output));
        probability >= 1.0 || ((drawn() >> 11) as f64) < probability * (1_u64 << 53) as f64
    }

    /// Returns true if packets come into a router by a port from a host.
    #[inline]
    pub(crate) fn is_of_host(&self, device: DeviceId, port: u16) -> bool {
        self.port(device, port).is_some_and(|port| self.is_host(port.peer))
    }

    /// The port by which the first router sends a packet that leaves its host by a port of the
    /// topology; `None` if the direction decides about no injector.
    pub(crate) fn direction(&self, (host, port): (HostId, u16), header: &Header) -> Option<u16> {
        let decides = self.parameters.injector == Injector::Direction;
        let link = self.port(host.into(), port).filter(|_| decides)?;
        Some(self.hop(link.peer, link.plug, 0, header).port)
    }

    /// The route that a host chooses for a message.
    pub(crate) fn choose(&self, source: HostId, destination: HostId, id: MessageId) -> u32 {
        let index = match self.parameters.choice {
            Choice::Pair => u64::from(destination.0),
            Choice::Message => id.0 | 1 << 63,
        };
        let random = || self.choices.number(source.0, index);
        self.routes.choose(source.0, destination.0, random)
    }

    /// Follows a packet and returns the number of links; `None` if its route does not lead to its
    /// destination. `each` gets the device before each link, the link and its lane.
    pub(crate) fn walk(
        &self,
        header: &Header,
        mut each: impl FnMut(DeviceId, &Port, u8),
    ) -> Option<u32> {
        let mut hop = self.routes.first_hop(header);
        let mut device = DeviceId(header.source);
        let mut hops = 0;
        loop {
            let port = self.port(device, hop.port)?;
            each(device, port, hop.lane);
            hops += 1;
            if port.peer.0 == header.destination {
                return Some(hops);
            }
            if self.is_host(port.peer) || hops as usize > self.first.len() * 16 {
                return None;
            }
            let lane = if self.is_host(device) { 0 } else { hop.lane };
            device = port.peer;
            hop = self.hop(device, port.plug, lane, header);
        }
    }

    /// The next hop of a packet that has come into a router on a lane, by a port of the topology.
    pub(crate) fn hop(&self, device: DeviceId, port: u16, lane: u8, header: &Header) -> Hop {
        self.routes.hop(device.0, port, lane, header)
    }

    /// Time of one flit on the link behind a port; `None` if there is none.
    pub fn flit_time_of(&self, device: DeviceId, port: u16) -> Option<Time> {
        self.port(device, port).map(|port| Time::from_ps(port.flit.into()))
    }
}
