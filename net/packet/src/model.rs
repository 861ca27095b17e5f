//! The model behind the contract of all networks.

use std::{cell::RefCell, sync::Arc};

use network::{Links, Network, Never, Outlet, Transfer, Uncontended};
use topology::Header;
use units::{DeviceId, HostId, MessageId, Time};

use crate::{Choice, Fabric, Interface, Router, Signal, host::Message, router::Scratch};

/// A network of routers with virtual channels. All classes of transfers share the channels.
#[derive(Clone, Debug)]
pub struct Packets {
    fabric: Arc<Fabric>,
}

/// The outlet of the network's parts, under a short name.
pub trait Out: Outlet<Packets> {}

impl<O: Outlet<Packets>> Out for O {}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A size in bytes from which on a message may take longer than there is time.
const LARGE: u64 = 1 << 48;

/// Messages that enter this late are past the range of time: what they lead to would overflow it.
const FAR: Time = Time::from_ps(1 << 62);

impl Packets {
    /// A network.
    pub fn new(fabric: impl Into<Arc<Fabric>>) -> Self {
        Self { fabric: fabric.into() }
    }

    /// The links, routes and parameters.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }
}

impl Links for Packets {
    /// All flits of the message, at the pace of the link.
    fn link_time(&self, host: HostId, bytes: u64) -> Time {
        let header = Header { source: host.0, ..Header::default() };
        let port = self.fabric.routes().first_hop(&header).port;
        let flit = self.fabric.flit_time_of(host.into(), port).unwrap_or_default();
        let (_, flits) = self.fabric.parameters().message_flits(bytes);
        Time::from_ps(flit.ps().saturating_mul(flits))
    }

    fn hops(&self, source: HostId, destination: HostId, id: MessageId) -> u32 {
        if let Some(between) = self.fabric.routes().distance(source.0, destination.0) {
            return between + 2;
        }
        let choice = self.fabric.choose(source, destination, id);
        let (source, destination) = (source.0, destination.0);
        let header = Header { source, destination, level: 0, choice };
        self.fabric.walk(&header, |_, _, _| {}).unwrap_or(0)
    }

    fn packets_and_flits(&self, bytes: u64) -> (u64, u64) {
        self.fabric.parameters().message_flits(bytes)
    }

    fn flit_time(&self, device: DeviceId, port: u16) -> Option<Time> {
        self.fabric.flit_time_of(device, port)
    }

    fn side_by_side(&self, device: DeviceId, port: u16) -> u16 {
        self.fabric.side_by_side(device, port)
    }

    fn ways(&self, source: HostId, destination: HostId) -> u32 {
        let routes = self.fabric.routes();
        match self.fabric.parameters().choice {
            _ if routes.is_adaptive() => 0,
            Choice::Pair => 1,
            Choice::Message => routes.choices(source.0, destination.0),
        }
    }

    fn follow(
        &self,
        transfer: Transfer,
        number: u32,
        each: &mut dyn FnMut(DeviceId, u16),
    ) -> Option<Time> {
        let (fabric, Transfer { source, destination, bytes, .. }) = (&self.fabric, transfer);
        let choice = match fabric.parameters().choice {
            _ if fabric.routes().is_adaptive() => 0,
            Choice::Pair => fabric.choose(source, destination, MessageId(0)),
            Choice::Message => fabric.routes().choice(source.0, destination.0, number),
        };
        let header = Header { source: source.0, destination: destination.0, level: 0, choice };
        fabric.walk(&header, |device, link, _| {
            // The port is the one to which the link leads back.
            let port = fabric.port(link.peer, link.plug).map_or(0, |back| back.plug);
            each(device, port);
        })?;
        Some(fabric.uncontended(&header, bytes)?.transit)
    }
}

impl Network for Packets {
    type Interface = Interface;
    type Device = Router;
    type Signal = Signal;
    type Detail = Never;

    const DIRECT: bool = false;
    const TELLS_LEFT: bool = true;
    const READS_AHEAD: bool = true;

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

    fn interface(&self, host: HostId) -> Interface {
        Interface::new(&self.fabric, host)
    }

    fn device(&self, device: DeviceId) -> Router {
        Router::new(&self.fabric, device)
    }

    fn lookahead(&self) -> Time {
        self.fabric.lookahead()
    }

    fn lead(&self) -> (Time, Time) {
        self.fabric.lead()
    }

    fn lookahead_between(&self, worker_of: &dyn Fn(DeviceId) -> usize) -> Time {
        self.fabric.lookahead_between(|a, b| worker_of(a) != worker_of(b))
    }

    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        let (source, destination) = (transfer.source.0, transfer.destination.0);
        let header = Header { source, destination, ..Header::default() };
        self.fabric.uncontended(&header, transfer.bytes).unwrap_or_default()
    }

    fn inject(
        &self,
        interface: &mut Interface,
        at: Time,
        transfer: Transfer,
        id: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        let Transfer { source, destination, bytes, .. } = transfer;
        let (packets, _) = self.fabric.parameters().message_flits(bytes);
        let endless =
            bytes > LARGE && at.saturating_add(self.link_time(source, bytes)) == Time::MAX;
        if endless || at >= FAR || packets > u32::MAX.into() {
            out.deliver(Time::MAX, source, id);
            return None;
        }
        interface.inject(&self.fabric, at.ps(), Message { destination, bytes, id });
        None
    }

    fn hear(
        &self,
        interface: &mut Interface,
        at: Time,
        signal: Signal,
        out: &mut impl Outlet<Self>,
    ) {
        interface.hear(&self.fabric, at.ps(), signal, out);
    }

    fn next(&self, interface: &Interface) -> Time {
        interface.next()
    }

    fn run(&self, interface: &mut Interface, until: Time, out: &mut impl Outlet<Self>) {
        interface.run(&self.fabric, until.ps(), out);
    }

    fn run_device(
        &self,
        router: &mut Router,
        until: Time,
        signals: impl Iterator<Item = (Time, Signal)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        SCRATCH.with_borrow_mut(|scratch| {
            for (at, signal) in signals {
                if router.due() < at.ps() {
                    router.run(&self.fabric, at, scratch, out);
                }
                router.hear(&self.fabric, at, signal, out);
            }
            if router.due() < until.ps() {
                router.run(&self.fabric, until, scratch, out);
            }
            Time::from_ps(router.due())
        })
    }

    fn prefetch_interface(&self, interface: &Interface) {
        interface.prefetch();
    }

    fn prefetch_device(&self, router: &Router, stage: usize) {
        router.prefetch(stage);
    }

    fn prefetch_signal(&self, router: &Router, signal: &Signal) {
        router.prefetch_for(signal);
    }

    fn at_rest(&self, interface: &Interface) -> Result<(), String> {
        interface.at_rest(&self.fabric)
    }

    fn device_at_rest(&self, router: &Router) -> Result<(), String> {
        router.at_rest(&self.fabric)
    }
}
