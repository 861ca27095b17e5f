//! Several networks between the same hosts: the rails of a machine.
//!
//! A transfer names the rail that it takes ([`Transfer::rail`]); each rail is a network of its own.
//! Rails have different speeds, so that a message could overtake an earlier one: the receiving
//! interface hands messages over in the order in which their sender has sent them. For that, the
//! sender's interface tells the receiver's the place of each message in the order, ahead of the
//! message.
//!
//! A large message may be sent in parts over several rails. It is delivered when all are there.

use std::collections::BTreeMap;

use kernel::Wire;
use rustc_hash::FxHashMap;
use units::{DeviceId, HostId, MessageId, Time};

use crate::{Network, Outlet, Record, Transfer, Uncontended};

/// The networks that the hosts have in common, by the numbers of their rails.
#[derive(Clone, Debug)]
pub struct Rails<N> {
    each: Vec<N>,
    /// By rail, the number of its first device among those of all.
    first: Vec<u32>,
    hosts: Option<u32>,
    devices: u32,
}

/// The bits of a message's number that count its parts, less one. The harness's callers leave them
/// empty.
const PARTS: u32 = 56;

/// Returns the number by which a message is known that is sent in so many parts, each by a transfer
/// of its own.
#[must_use]
pub const fn in_parts(id: MessageId, parts: u8) -> MessageId {
    MessageId(id.0 | (parts.saturating_sub(1) as u64) << PARTS)
}

const fn whole(id: MessageId) -> (MessageId, u8) {
    (MessageId(id.0 & ((1 << PARTS) - 1)), (id.0 >> PARTS) as u8 + 1)
}

/// The messages between whom order is kept: those of a rank to a host.
type Stream = (HostId, u8);

/// The stream of a message: the rank that sends it has a slot among those of its host.
const fn stream(host: HostId, id: MessageId) -> Stream {
    (host, (id.0 >> 32) as u8)
}

/// The interface of a host: one for each rail, and what keeps messages in order.
pub struct Interface<N: Network> {
    /// `None` where the host is not on the rail.
    rails: Vec<Option<N::Interface>>,
    /// The number of messages that have been sent in each stream.
    sent: FxHashMap<Stream, u32>,
    /// Messages some of whose parts have not been sent, or have not left.
    leaving: FxHashMap<MessageId, Leaving>,
    /// Messages that are on their way here.
    coming: FxHashMap<(HostId, MessageId), Coming>,
    /// The streams that end here.
    streams: FxHashMap<Stream, Order>,
    scratch: Told,
}

#[derive(Clone, Copy, Debug)]
struct Leaving {
    unsent: u8,
    staying: u8,
    at: Time,
}

/// A message that comes in.
#[derive(Clone, Copy, Debug, Default)]
struct Coming {
    /// Its place in its stream, and the number of its parts, once they are known.
    sent: Option<(u32, u8)>,
    /// The parts that are there, and when the last was.
    parts: u8,
    at: Time,
}

/// The order of a stream.
#[derive(Debug, Default)]
struct Order {
    /// The place of the message that is delivered next.
    next: u32,
    /// The time of the last delivery.
    last: Time,
    /// Messages that are there, but behind one that is not.
    held: BTreeMap<u32, (Time, MessageId)>,
}

/// The events that interfaces of rails tell during a call.
#[derive(Debug, Default)]
struct Told {
    delivered: Vec<(Time, HostId, MessageId)>,
    left: Vec<(Time, MessageId)>,
}

/// A signal of a rail, or from one interface to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal<S> {
    /// A signal of the rail of this number.
    Rail(u8, S),
    /// A message is on its way.
    Sent {
        /// Its sender.
        source: HostId,
        /// Its number there.
        id: MessageId,
        /// Its place in its stream.
        place: u32,
        /// The number of its parts.
        parts: u8,
    },
}

impl<S: Wire> Wire for Signal<S> {
    fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Rail(rail, signal) => {
                bytes.push(*rail);
                signal.encode(bytes);
            }
            Self::Sent { source, id, place, parts } => {
                bytes.push(u8::MAX);
                bytes.extend_from_slice(&source.0.to_le_bytes());
                bytes.extend_from_slice(&id.0.to_le_bytes());
                bytes.extend_from_slice(&place.to_le_bytes());
                bytes.push(*parts);
            }
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (&rail, rest) = bytes.split_first()?;
        *bytes = rest;
        if rail != u8::MAX {
            return S::decode(bytes).map(|signal| Self::Rail(rail, signal));
        }
        let (source, rest) = bytes.split_first_chunk()?;
        let (id, rest) = rest.split_first_chunk()?;
        let (place, rest) = rest.split_first_chunk()?;
        let (&parts, rest) = rest.split_first()?;
        *bytes = rest;
        let source = HostId(u32::from_le_bytes(*source));
        let (id, place) = (MessageId(u64::from_le_bytes(*id)), u32::from_le_bytes(*place));
        Some(Self::Sent { source, id, place, parts })
    }
}

impl<N: Network> Rails<N> {
    /// Joins networks of hosts of the same numbers; where one has fewer, the last hosts are not on
    /// it. Networks that are direct are no rails.
    #[must_use]
    pub fn new(rails: Vec<N>) -> Self {
        const { assert!(!N::DIRECT, "a rail tells of a delivery when it is known") };
        let hosts = rails.iter().filter_map(Network::hosts).max();
        let (mut first, mut devices) = (Vec::new(), 0);
        for rail in &rails {
            first.push(hosts.unwrap_or(0) + devices);
            devices += rail.devices();
        }
        Self { each: rails, first, hosts, devices }
    }

    /// The networks.
    pub fn rails(&self) -> &[N] {
        &self.each
    }

    /// Returns the number among all devices of a device of a rail.
    fn outside(&self, rail: usize, device: DeviceId) -> DeviceId {
        let hosts = self.each[rail].hosts().unwrap_or(u32::MAX);
        match device.host(hosts) {
            Some(host) => host.into(),
            None => DeviceId(self.first[rail] + (device.0 - hosts)),
        }
    }

    /// Returns the rail of a device behind the hosts, and its number there.
    fn inside(&self, device: DeviceId) -> Option<(usize, DeviceId)> {
        let rail = self.first.partition_point(|first| *first <= device.0).checked_sub(1)?;
        let hosts = self.each[rail].hosts()?;
        Some((rail, DeviceId(hosts + (device.0 - self.first[rail]))))
    }

    /// Lets the interface of one rail act, and passes on what it tells.
    fn act<O: Outlet<Self>>(
        &self,
        interface: &mut Interface<N>,
        rail: usize,
        out: &mut O,
        act: impl FnOnce(&N, &mut N::Interface, &mut Gate<'_, N, O>),
    ) {
        let Interface { rails, scratch: told, .. } = interface;
        let (Some(network), Some(Some(inside))) = (self.each.get(rail), rails.get_mut(rail)) else {
            return;
        };
        act(network, inside, &mut Gate { rails: self, rail, told, out });
        while let Some((at, id)) = interface.scratch.left.pop() {
            interface.left(at, id, out);
        }
        // In the order in which they came: those of one time are of different streams.
        let mut delivered = std::mem::take(&mut interface.scratch.delivered);
        for (at, source, id) in delivered.drain(..) {
            interface.arrived(at, source, id, out);
        }
        interface.scratch.delivered = delivered;
    }
}

impl<N: Network> Interface<N> {
    /// A part of a message has left.
    fn left(&mut self, at: Time, id: MessageId, out: &mut impl Outlet<Rails<N>>) {
        let Some(leaving) = self.leaving.get_mut(&id) else { return };
        leaving.staying -= 1;
        leaving.at = leaving.at.max(at);
        let Leaving { unsent, staying, at } = *leaving;
        if unsent == 0 && staying == 0 {
            self.leaving.remove(&id);
            out.left(at, id);
        }
    }

    /// A part of a message is there.
    fn arrived(
        &mut self,
        at: Time,
        source: HostId,
        id: MessageId,
        out: &mut impl Outlet<Rails<N>>,
    ) {
        let coming = self.coming.entry((source, id)).or_default();
        coming.parts += 1;
        coming.at = coming.at.max(at);
        self.complete(source, id, out);
    }

    /// Delivers a message if all of it is there, and those that are behind it.
    fn complete(&mut self, source: HostId, id: MessageId, out: &mut impl Outlet<Rails<N>>) {
        let key = (source, id);
        let Some(Coming { sent: Some((place, parts)), parts: there, at }) =
            self.coming.get(&key).copied()
        else {
            return;
        };
        if there < parts {
            return;
        }
        self.coming.remove(&key);
        let order = self.streams.entry(stream(source, id)).or_default();
        order.held.insert(place, (at, id));
        while let Some((at, id)) = order.held.remove(&order.next) {
            order.next = order.next.wrapping_add(1);
            order.last = order.last.max(at);
            out.deliver(order.last, source, id);
        }
    }
}

/// The outlet of an interface or a device of a rail.
struct Gate<'o, N: Network, O> {
    rails: &'o Rails<N>,
    rail: usize,
    told: &'o mut Told,
    out: &'o mut O,
}

impl<N: Network, O: Outlet<Rails<N>>> Outlet<N> for Gate<'_, N, O> {
    const LISTENS: bool = O::LISTENS;

    fn send(&mut self, to: DeviceId, at: Time, signal: N::Signal) {
        let to = self.rails.outside(self.rail, to);
        self.out.send(to, at, Signal::Rail(self.rail as u8, signal));
    }

    fn left(&mut self, at: Time, id: MessageId) {
        self.told.left.push((at, id));
    }

    fn deliver(&mut self, at: Time, source: HostId, id: MessageId) {
        self.told.delivered.push((at, source, id));
    }

    fn give_up(&mut self, at: Time, destination: HostId) {
        self.out.give_up(at, destination);
    }

    fn record(&mut self, at: Time, record: Record<N::Detail>) {
        self.out.record(at, record);
    }
}

impl<N: Network> Network for Rails<N> {
    type Interface = Interface<N>;
    type Device = (u8, N::Device);
    type Signal = Signal<N::Signal>;
    type Detail = N::Detail;

    const DIRECT: bool = false;
    const TELLS_LEFT: bool = N::TELLS_LEFT;

    fn hosts(&self) -> Option<u32> {
        self.hosts
    }

    fn devices(&self) -> u32 {
        self.devices
    }

    fn weight(&self, device: DeviceId) -> u32 {
        let inside = self.inside(device);
        inside.map_or(1, |(rail, device)| self.each[rail].weight(device))
    }

    fn interface(&self, host: HostId) -> Interface<N> {
        let on = |rail: &&N| rail.hosts().is_none_or(|hosts| host.0 < hosts);
        Interface {
            rails: self.each.iter().map(|rail| on(&rail).then(|| rail.interface(host))).collect(),
            sent: FxHashMap::default(),
            leaving: FxHashMap::default(),
            coming: FxHashMap::default(),
            streams: FxHashMap::default(),
            scratch: Told::default(),
        }
    }

    fn device(&self, device: DeviceId) -> (u8, N::Device) {
        let (rail, device) = self.inside(device).unwrap_or_default();
        (rail as u8, self.each[rail].device(device))
    }

    fn lookahead(&self) -> Time {
        self.each.iter().map(Network::lookahead).min().unwrap_or(Time::ZERO)
    }

    fn waits_for_answers(&self) -> bool {
        self.each.iter().any(Network::waits_for_answers)
    }

    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        let rail = self.each.get(usize::from(transfer.rail));
        rail.map_or_else(Uncontended::default, |rail| rail.uncontended(transfer))
    }

    fn inject(
        &self,
        interface: &mut Interface<N>,
        at: Time,
        transfer: Transfer,
        number: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        let (id, parts) = whole(number);
        let Transfer { source, destination, rail, .. } = transfer;
        let sent = &mut interface.sent;
        let leaving = interface.leaving.entry(id).or_insert_with(|| {
            let next = sent.entry(stream(destination, id)).or_default();
            let signal = Signal::Sent { source, id, place: *next, parts };
            *next = next.wrapping_add(1);
            out.send(destination.into(), at.saturating_add(self.lookahead()), signal);
            Leaving { unsent: parts, staying: parts, at: Time::ZERO }
        });
        leaving.unsent -= 1;
        if !N::TELLS_LEFT && leaving.unsent == 0 {
            interface.leaving.remove(&id);
        }
        self.act(interface, rail.into(), out, |network, inside, gate| {
            network.inject(inside, at, transfer, id, gate);
        });
        None
    }

    fn hear(
        &self,
        interface: &mut Interface<N>,
        at: Time,
        signal: Signal<N::Signal>,
        out: &mut impl Outlet<Self>,
    ) {
        match signal {
            Signal::Rail(rail, signal) => {
                self.act(interface, rail.into(), out, |network, inside, gate| {
                    network.hear(inside, at, signal, gate);
                });
            }
            Signal::Sent { source, id, place, parts } => {
                interface.coming.entry((source, id)).or_default().sent = Some((place, parts));
                interface.complete(source, id, out);
            }
        }
    }

    fn next(&self, interface: &Interface<N>) -> Time {
        let rails = self.each.iter().zip(&interface.rails);
        let next = rails.filter_map(|(rail, inside)| inside.as_ref().map(|it| rail.next(it)));
        next.min().unwrap_or(Time::MAX)
    }

    fn run(&self, interface: &mut Interface<N>, until: Time, out: &mut impl Outlet<Self>) {
        for rail in 0..interface.rails.len() {
            self.act(interface, rail, out, |network, inside, gate| {
                if network.next(inside) < until {
                    network.run(inside, until, gate);
                }
            });
        }
    }

    fn run_device(
        &self,
        (rail, device): &mut (u8, N::Device),
        until: Time,
        signals: impl Iterator<Item = (Time, Signal<N::Signal>)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        let heard = signals.filter_map(|(at, signal)| match signal {
            Signal::Rail(_, signal) => Some((at, signal)),
            Signal::Sent { .. } => None,
        });
        let rail = usize::from(*rail);
        let mut told = Told::default();
        let mut gate = Gate { rails: self, rail, told: &mut told, out };
        self.each[rail].run_device(device, until, heard, &mut gate)
    }

    fn at_rest(&self, interface: &Interface<N>) -> Result<(), String> {
        let held = interface.streams.values().map(|order| order.held.len()).sum::<usize>();
        if held + interface.coming.len() + interface.leaving.len() > 0 {
            return Err(format!(
                "{held} messages wait for others, {} come, {} leave",
                interface.coming.len(),
                interface.leaving.len()
            ));
        }
        let mut rails = self.each.iter().zip(&interface.rails);
        rails.try_for_each(|(rail, inside)| inside.as_ref().map_or(Ok(()), |it| rail.at_rest(it)))
    }

    fn device_at_rest(&self, (rail, device): &(u8, N::Device)) -> Result<(), String> {
        self.each[usize::from(*rail)].device_at_rest(device)
    }
}
