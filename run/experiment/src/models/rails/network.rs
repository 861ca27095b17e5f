//! A network of any of the models that can be a rail.

use ::infiniband::Infiniband;
use ::loggops::Adapters;
use ::network::{Network, Never, Outlet, Record, Transfer, forward};
use ::packet::Packets;
use kernel::Wire;
use units::{DeviceId, HostId, MessageId, Time};

/// The network of a rail.
#[derive(Clone, Debug)]
pub enum AnyNetwork {
    Loggops(Adapters),
    Infiniband(Infiniband),
    Packet(Packets),
}

/// A value of one of the networks: an interface, a device or a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of<L, I, P> {
    Loggops(L),
    Infiniband(I),
    Packet(P),
}

/// A part of one of the networks.
macro_rules! part {
    ($kind:ident) => {
        Of<
            <Adapters as Network>::$kind,
            <Infiniband as Network>::$kind,
            <Packets as Network>::$kind,
        >
    };
}

/// Evaluates an expression for the network that a rail has.
macro_rules! each {
    ($network:expr, $inside:ident => $value:expr) => {
        match $network {
            AnyNetwork::Loggops($inside) => $value,
            AnyNetwork::Infiniband($inside) => $value,
            AnyNetwork::Packet($inside) => $value,
        }
    };
}

impl<L: Wire, I: Wire, P: Wire> Wire for Of<L, I, P> {
    fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Loggops(signal) => {
                bytes.push(0);
                signal.encode(bytes);
            }
            Self::Infiniband(signal) => {
                bytes.push(1);
                signal.encode(bytes);
            }
            Self::Packet(signal) => {
                bytes.push(2);
                signal.encode(bytes);
            }
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (network, rest) = bytes.split_first()?;
        *bytes = rest;
        match network {
            0 => L::decode(bytes).map(Self::Loggops),
            1 => I::decode(bytes).map(Self::Infiniband),
            2 => P::decode(bytes).map(Self::Packet),
            _ => None,
        }
    }
}

type Interface = Part<part!(Interface)>;
type Device = Part<part!(Device)>;
type Signal = part!(Signal);

/// An interface or a device of one of the networks, and what it tells while it acts.
pub struct Part<T> {
    inside: T,
    told: Told,
}

/// The events that a part of a network tells. They are kept until the part has acted and then
/// passed on: so the code of the networks does not depend on who listens, and is compiled once for
/// all programs.
#[derive(Default)]
pub struct Told {
    sent: Vec<(DeviceId, Time, Signal)>,
    left: Vec<(Time, MessageId)>,
    delivered: Vec<(Time, HostId, MessageId)>,
    given_up: Vec<(Time, HostId)>,
}

/// Makes an outlet of one of the networks of what is told. Records are dropped: tables of links
/// name no rail.
macro_rules! outlet {
    ($network:ident, $variant:ident) => {
        impl Outlet<$network> for Told {
            const LISTENS: bool = false;

            fn send(&mut self, to: DeviceId, at: Time, signal: <$network as Network>::Signal) {
                self.sent.push((to, at, Of::$variant(signal)));
            }

            fn left(&mut self, at: Time, id: MessageId) {
                self.left.push((at, id));
            }

            fn deliver(&mut self, at: Time, source: HostId, number: MessageId) {
                self.delivered.push((at, source, number));
            }

            fn give_up(&mut self, at: Time, destination: HostId) {
                self.given_up.push((at, destination));
            }

            fn record(&mut self, _: Time, _: Record<<$network as Network>::Detail>) {}
        }
    };
}

outlet!(Adapters, Loggops);
outlet!(Infiniband, Infiniband);
outlet!(Packets, Packet);

impl Told {
    /// Passes everything on.
    fn pass_on(&mut self, out: &mut impl Outlet<AnyNetwork>) {
        for (to, at, signal) in self.sent.drain(..) {
            out.send(to, at, signal);
        }
        for (at, id) in self.left.drain(..) {
            out.left(at, id);
        }
        for (at, source, number) in self.delivered.drain(..) {
            out.deliver(at, source, number);
        }
        for (at, destination) in self.given_up.drain(..) {
            out.give_up(at, destination);
        }
    }
}

impl AnyNetwork {
    fn enter(&self, part: &mut Interface, at: Time, transfer: Transfer, number: MessageId) {
        let Part { inside, told } = part;
        match (self, inside) {
            (Self::Loggops(network), Of::Loggops(own)) => {
                network.inject(own, at, transfer, number, told);
            }
            (Self::Infiniband(network), Of::Infiniband(own)) => {
                network.inject(own, at, transfer, number, told);
            }
            (Self::Packet(network), Of::Packet(own)) => {
                network.inject(own, at, transfer, number, told);
            }
            _ => {}
        }
    }

    fn heard(&self, part: &mut Interface, at: Time, signal: Signal) {
        let Part { inside, told } = part;
        match (self, inside, signal) {
            (Self::Loggops(network), Of::Loggops(own), Of::Loggops(signal)) => {
                network.hear(own, at, signal, told);
            }
            (Self::Infiniband(network), Of::Infiniband(own), Of::Infiniband(signal)) => {
                network.hear(own, at, signal, told);
            }
            (Self::Packet(network), Of::Packet(own), Of::Packet(signal)) => {
                network.hear(own, at, signal, told);
            }
            _ => {}
        }
    }

    fn act(&self, part: &mut Interface, until: Time) {
        let Part { inside, told } = part;
        match (self, inside) {
            (Self::Loggops(network), Of::Loggops(own)) => network.run(own, until, told),
            (Self::Infiniband(network), Of::Infiniband(own)) => network.run(own, until, told),
            (Self::Packet(network), Of::Packet(own)) => network.run(own, until, told),
            _ => {}
        }
    }

    fn forward(
        &self,
        part: &mut Device,
        until: Time,
        signals: &mut dyn Iterator<Item = (Time, Signal)>,
    ) -> Time {
        let Part { inside, told } = part;
        match (self, inside) {
            (Self::Infiniband(network), Of::Infiniband(own)) => {
                let heard = signals.filter_map(|(at, signal)| match signal {
                    Of::Infiniband(signal) => Some((at, signal)),
                    _ => None,
                });
                network.run_device(own, until, heard, told)
            }
            (Self::Packet(network), Of::Packet(own)) => {
                let heard = signals.filter_map(|(at, signal)| match signal {
                    Of::Packet(signal) => Some((at, signal)),
                    _ => None,
                });
                network.run_device(own, until, heard, told)
            }
            // The adapters of LogGOPS have nothing between them.
            _ => Time::MAX,
        }
    }
}

impl Network for AnyNetwork {
    type Interface = Interface;
    type Device = Device;
    type Signal = Signal;
    type Detail = Never;

    const DIRECT: bool = false;
    const TELLS_LEFT: bool = true;

    forward!(self, each: hosts devices weight lookahead waits_for_answers uncontended);

    fn interface(&self, host: HostId) -> Interface {
        let inside = match self {
            Self::Loggops(inside) => Of::Loggops(Network::interface(inside, host)),
            Self::Infiniband(inside) => Of::Infiniband(Network::interface(inside, host)),
            Self::Packet(inside) => Of::Packet(Network::interface(inside, host)),
        };
        Part { inside, told: Told::default() }
    }

    fn device(&self, device: DeviceId) -> Device {
        let inside = match self {
            Self::Loggops(_) => Of::Loggops(()),
            Self::Infiniband(inside) => Of::Infiniband(inside.device(device)),
            Self::Packet(inside) => Of::Packet(inside.device(device)),
        };
        Part { inside, told: Told::default() }
    }

    fn inject(
        &self,
        interface: &mut Interface,
        at: Time,
        transfer: Transfer,
        number: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        self.enter(interface, at, transfer, number);
        interface.told.pass_on(out);
        None
    }

    fn hear(
        &self,
        interface: &mut Interface,
        at: Time,
        signal: Signal,
        out: &mut impl Outlet<Self>,
    ) {
        self.heard(interface, at, signal);
        interface.told.pass_on(out);
    }

    fn next(&self, interface: &Interface) -> Time {
        match (self, &interface.inside) {
            (Self::Loggops(network), Of::Loggops(own)) => network.next(own),
            (Self::Infiniband(network), Of::Infiniband(own)) => network.next(own),
            (Self::Packet(network), Of::Packet(own)) => network.next(own),
            _ => Time::MAX,
        }
    }

    fn run(&self, interface: &mut Interface, until: Time, out: &mut impl Outlet<Self>) {
        self.act(interface, until);
        interface.told.pass_on(out);
    }

    fn run_device(
        &self,
        device: &mut Device,
        until: Time,
        mut signals: impl Iterator<Item = (Time, Signal)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        let next = self.forward(device, until, &mut signals);
        device.told.pass_on(out);
        next
    }
}
