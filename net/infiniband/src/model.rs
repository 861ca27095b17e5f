//! The model behind the contract of all networks.

use std::sync::Arc;

use network::{Links, Network, Outlet, Transfer, Uncontended};
use topology::Header;
use units::{DeviceId, HostId, MessageId, Time};

use crate::{Choice, Detail, Fabric, Hca, Signal, Switch, hca::Message};

/// An InfiniBand network.
///
/// The class of a transfer is its service level: class 0 is the service level of its source, class
/// c above 0 is service level c - 1 ([`crate::MANAGEMENT`] is class 16).
#[derive(Clone, Debug)]
pub struct Infiniband {
    fabric: Arc<Fabric>,
    /// The service level of the messages of each host; that of the last one holds for all behind.
    levels: Box<[u8]>,
}

/// A size in bytes from which on a message may take longer than there is time. Before its first
/// packet leaves, time is said to overflow; its packets would be too many to come to that.
const FAR: u64 = 1 << 48;

impl Infiniband {
    /// A network in which all messages travel at one service level.
    pub fn new(fabric: impl Into<Arc<Fabric>>, level: u8) -> Self {
        Self { fabric: fabric.into(), levels: Box::new([level]) }
    }

    /// Lets the messages of each host travel at these service levels. Those of
    /// hosts behind the last one travel at that of the last one.
    #[must_use]
    pub fn with_levels(self, levels: Vec<u8>) -> Self {
        if levels.is_empty() { self } else { Self { levels: levels.into(), ..self } }
    }

    /// The service level of the messages of a host and class.
    #[inline]
    fn level(&self, source: HostId, class: u8) -> u8 {
        match (class, &*self.levels) {
            (1.., _) => class - 1,
            (0, [level]) => *level,
            (0, levels) => {
                let last = levels.last().copied().unwrap_or_default();
                levels.get(source.index()).copied().unwrap_or(last)
            }
        }
    }

    /// The links, routes and parameters.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }
}

impl Links for Infiniband {
    /// All flits of the message, at the pace of the link.
    fn link_time(&self, host: HostId, bytes: u64) -> Time {
        let header = Header { source: host.0, ..Header::default() };
        let port = self.fabric.first_hop(&header).port;
        let flit = self.fabric.flit_time_of(host.into(), port).unwrap_or_default();
        let (_, flits) = self.fabric.parameters().message_flits(bytes);
        Time::from_ps(flit.ps().saturating_mul(flits))
    }

    fn hops(&self, source: HostId, destination: HostId, id: MessageId) -> u32 {
        let level = self.level(source, 0);
        let choice = self.fabric.choose(source, destination, level, id);
        let header = Header { source: source.0, destination: destination.0, level, choice };
        self.fabric.hops(&header).unwrap_or(0)
    }

    fn packets_and_flits(&self, bytes: u64) -> (u64, u64) {
        self.fabric.parameters().message_flits(bytes)
    }

    fn flit_time(&self, device: DeviceId, port: u16) -> Option<Time> {
        self.fabric.flit_time_of(device, port)
    }

    fn ways(&self, source: HostId, destination: HostId) -> u32 {
        match self.fabric.parameters().choice {
            Choice::Pair => 1,
            Choice::Message => self.fabric.routes().choices(source.0, destination.0),
        }
    }

    fn follow(
        &self,
        transfer: Transfer,
        number: u32,
        each: &mut dyn FnMut(DeviceId, u16),
    ) -> Option<Time> {
        let (fabric, Transfer { source, destination, bytes, .. }) = (&self.fabric, transfer);
        let level = self.level(source, 0);
        let choice = match fabric.parameters().choice {
            Choice::Pair => fabric.choose(source, destination, level, MessageId(0)),
            Choice::Message => fabric.routes().choice(source.0, destination.0, number),
        };
        let header = Header { source: source.0, destination: destination.0, level, choice };
        fabric.walk(&header, |device, port, _| each(device, port))?;
        Some(fabric.uncontended(&header, bytes)?.transit)
    }
}

impl Network for Infiniband {
    type Interface = Hca;
    type Device = Switch;
    type Signal = Signal;
    type Detail = Detail;

    const DIRECT: bool = false;
    const TELLS_LEFT: bool = true;

    fn hosts(&self) -> Option<u32> {
        Some(self.fabric.hosts())
    }

    fn devices(&self) -> u32 {
        self.fabric.devices() - self.fabric.hosts()
    }

    /// Every port takes part in about as many packets as a host.
    fn weight(&self, device: DeviceId) -> u32 {
        self.fabric.ports(device).len().max(1) as u32
    }

    fn order(&self) -> Option<Vec<DeviceId>> {
        let rows = self.fabric.rows();
        let mut order: Vec<DeviceId> = (0..self.fabric.devices()).map(DeviceId).collect();
        order.sort_by_key(|device| rows.get(device.index()).copied());
        Some(order)
    }

    fn interface(&self, host: HostId) -> Hca {
        Hca::new(&self.fabric, host)
    }

    fn device(&self, device: DeviceId) -> Switch {
        Switch::new(&self.fabric, device)
    }

    fn lookahead(&self) -> Time {
        self.fabric.lookahead()
    }

    fn lookahead_between(&self, worker_of: &dyn Fn(DeviceId) -> usize) -> Time {
        self.fabric.lookahead_where(|a, b| worker_of(a) != worker_of(b))
    }

    fn waits_for_answers(&self) -> bool {
        self.fabric.parameters().losses.is_some()
    }

    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        let Transfer { source, destination, bytes, class, .. } = transfer;
        let level = self.level(source, class);
        let header = Header { source: source.0, destination: destination.0, level, choice: 0 };
        self.fabric.uncontended(&header, bytes).unwrap_or_default()
    }

    fn inject(
        &self,
        interface: &mut Hca,
        at: Time,
        transfer: Transfer,
        id: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        let Transfer { source, destination, bytes, class, .. } = transfer;
        if bytes > FAR && at.saturating_add(self.link_time(source, bytes)) == Time::MAX {
            out.deliver(Time::MAX, source, id);
            return None;
        }
        let message = Message { destination, bytes, level: self.level(source, class), id };
        interface.inject(&self.fabric, at, message, out);
        None
    }

    fn hear(&self, interface: &mut Hca, at: Time, signal: Signal, out: &mut impl Outlet<Self>) {
        interface.hear(&self.fabric, at, signal, out);
    }

    fn next(&self, interface: &Hca) -> Time {
        interface.next()
    }

    fn run(&self, interface: &mut Hca, until: Time, out: &mut impl Outlet<Self>) {
        interface.run(&self.fabric, until, out);
    }

    fn run_device(
        &self,
        switch: &mut Switch,
        until: Time,
        signals: impl Iterator<Item = (Time, Signal)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        for (at, signal) in signals {
            switch.run(&self.fabric, at, out);
            switch.hear(&self.fabric, at, signal, out);
        }
        switch.run(&self.fabric, until, out)
    }

    fn at_rest(&self, interface: &Hca) -> Result<(), String> {
        interface.at_rest(&self.fabric)
    }

    fn device_at_rest(&self, switch: &Switch) -> Result<(), String> {
        switch.at_rest(&self.fabric)
    }
}
