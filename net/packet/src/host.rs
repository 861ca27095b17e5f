//! A host's interface: it makes flits of messages, and messages of flits.
//!
//! Messages leave by a port in the order in which they enter, packet by packet. A packet takes the
//! next virtual channel, in turn, that has room for it (for a flit under wormhole switching), or
//! the one that `network.injector` says, and keeps the link until its tail has left. Where its
//! direction decides, messages of one channel do not wait for those of another. Where a host has
//! several injection ports, a message takes one of these when it enters. Arriving flits are taken
//! at the pace of the link. A message is delivered when all its flits are there; where the
//! order of a pair of hosts is kept, it also waits for those before it.

mod sender;

use std::collections::BTreeMap;

use kernel::prefetch_lines;
use network::Record;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use topology::Header;
use units::{DeviceId, HostId, MessageId, Time};

use sender::{Queued, Sender};

use crate::{
    fabric::Fabric,
    model::Out,
    parameters::Injector,
    signal::{Packet, Signal},
    stream::{NEVER, Stream},
};

/// A message that leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub destination: HostId,
    /// Bytes that no packet has taken yet.
    pub bytes: u64,
    pub id: MessageId,
}

/// A packet that comes.
#[derive(Clone, Copy, Debug)]
struct Coming {
    packet: Packet,
    /// Flits that have come and are counted.
    arrived: u16,
    /// The flits that are foretold.
    flow: Stream,
}

impl Coming {
    /// The port and the virtual channel by which it comes.
    const fn place(&self) -> (u16, u8) {
        (self.packet.port, self.packet.channel)
    }

    /// Returns when all flits have come, as foretold.
    const fn complete_at(&self) -> u64 {
        self.flow.time_of((self.packet.flits - self.arrived) as u32)
    }
}

/// The order of messages between each pair of hosts.
#[derive(Clone, Debug, Default)]
struct Orders {
    /// The number of messages sent to each destination.
    places: FxHashMap<HostId, u32>,
    /// By source, the place of the message that is delivered next.
    next: FxHashMap<HostId, u32>,
    /// The messages that wait for others, by source and place.
    waiting: BTreeMap<(HostId, u32), MessageId>,
}

/// The interface of a host. What one with a port needs is in one piece of memory, no larger than a
/// router: they stand side by side.
#[derive(Clone, Debug)]
pub struct Interface {
    host: HostId,
    /// The place in its bundle of the injection port that was taken last.
    last: u16,
    senders: SmallVec<[Sender; 1]>,
    /// The packets that come, in the order of their ports and virtual channels.
    coming: SmallVec<[Coming; 1]>,
    /// The time at which the next of them is complete.
    complete_at: u64,
    /// Packets that are missing of messages of which some have come, by source and number.
    missing: FxHashMap<(HostId, MessageId), u32>,
    /// The order of messages, if it is kept.
    orders: Option<Box<Orders>>,
    next: u64,
}

impl Interface {
    /// The interface of a host.
    pub fn new(net: &Fabric, host: HostId) -> Self {
        let ports = net.ports(host.into()).len();
        let (channels, buffer) = (net.injection_channels(), net.buffer);
        Self {
            host,
            last: 0,
            senders: smallvec![Sender::new(channels, buffer); ports],
            coming: SmallVec::new(),
            complete_at: NEVER,
            missing: FxHashMap::default(),
            orders: net.parameters().ordered.then(Box::default),
            next: NEVER,
        }
    }

    /// Returns the time at which it acts next if it hears nothing before.
    pub(crate) const fn next(&self) -> Time {
        Time::from_ps(self.next)
    }

    /// Prefetches what the interface will read, but for its first lines.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_lines(self, 8);
    }

    /// A message enters at `at`.
    pub(crate) fn inject(&mut self, net: &Fabric, at: u64, message: Message) {
        let Message { destination, bytes, id } = message;
        let choice = net.choose(self.host, destination, id);
        let (from, to) = (self.host.0, destination.0);
        let header = Header { source: from, destination: to, level: 0, choice };
        let port = net.routes().first_hop(&header).port;
        let place = self.orders.as_mut().map_or(0, |orders| {
            let place = orders.places.entry(destination).or_default();
            std::mem::replace(place, place.wrapping_add(1))
        });
        let (packets, flits) = net.parameters().message_flits(bytes);
        let blank = Packet::blank(self.host, destination).with_id(id);
        let born = net.cycle_of(at);
        let packet = Packet { choice, place, packets: packets as u32, born, ..blank };
        let (port, channel) = self.injector(net, at, port, &header);
        let Some(sender) = self.senders.get_mut(usize::from(port)) else { return };
        let from = at + net.delays.injection;
        let flits = u32::try_from(flits).unwrap_or(u32::MAX);
        sender.add(Queued { from, bytes, packet, channel }, flits);
        self.next = self.next.min(sender.wake);
    }

    /// The injection port that a message takes whose first hop is by a port of the topology, and
    /// the channel there if its direction decides about that.
    fn injector(
        &mut self,
        net: &Fabric,
        now: u64,
        port: u16,
        header: &Header,
    ) -> (u16, Option<u8>) {
        let direction = net.direction((self.host, port), header);
        let ports = net.injection_ports(self.host.into(), port);
        let count = ports.len() as u16;
        if count <= 1 {
            let channel = |port: u16| (usize::from(port) % net.injection_channels()) as u8;
            return (ports.start, direction.map(channel));
        }
        let turn = (1..=count).map(|step| (self.last + step) % count);
        let waits = |&place: &u16| {
            let sender = self.senders.get(usize::from(ports.start + place));
            sender.map_or(0, |sender| sender.waits(net, now))
        };
        self.last = match (net.parameters().injector, direction) {
            (Injector::Direction, Some(port)) => port % count,
            (Injector::Shortest, _) => turn.min_by_key(waits).unwrap_or(0),
            _ => (self.last + 1) % count,
        };
        (ports.start + self.last, None)
    }

    /// A signal arrives.
    pub(crate) fn hear<O: Out>(&mut self, net: &Fabric, at: u64, signal: Signal, out: &mut O) {
        match signal {
            Signal::Head(packet) => self.arrive(net, at, packet, out),
            Signal::Flits { port, channel, period } => {
                let Some(place) = self.count(at, (port, channel)) else { return };
                let coming = &mut self.coming[place];
                coming.arrived += 1;
                let Coming { packet, arrived, .. } = *coming;
                let left = packet.flits.saturating_sub(arrived);
                coming.flow = Stream::after(at, period, left);
                self.take(net, at, (port, channel), (left, period), out);
                if left == 0 {
                    self.coming.remove(place);
                    self.complete(net, at, &packet, out);
                }
                self.note_complete();
            }
            Signal::NoFlit { port, channel } => {
                let Some(place) = self.count(at, (port, channel)) else { return };
                self.coming[place].flow.left = 0;
                self.note_complete();
                let Some(link) = net.port(self.host.into(), port) else { return };
                let at = Time::from_ps(at + net.way_of_taken(link));
                out.send(link.peer, at, Signal::NoCredit { port: link.plug, channel });
            }
            Signal::Credits { port, channel, left, period } => {
                let Some(sender) = self.senders.get_mut(usize::from(port)) else { return };
                sender.credit(at, channel, Stream::after(at, period, left));
                self.next = self.next.min(sender.wake);
            }
            Signal::NoCredit { port, channel } => {
                let Some(sender) = self.senders.get_mut(usize::from(port)) else { return };
                sender.no_credit(at, channel);
            }
            // Routers tell each other.
            Signal::Queue { .. }
            | Signal::Census { .. }
            | Signal::Critical { .. }
            | Signal::Displace { .. }
            | Signal::Displaced { .. } => {}
        }
    }

    fn arrive<O: Out>(&mut self, net: &Fabric, at: u64, packet: Packet, out: &mut O) {
        let Some(link) = net.port(self.host.into(), packet.port) else { return };
        let (left, period) = (packet.flits.saturating_sub(1), u32::from(packet.stride) * link.flit);
        self.take(net, at, (packet.port, packet.channel), (left, period), out);
        if left == 0 {
            self.complete(net, at, &packet, out);
            return;
        }
        let coming = Coming { packet, arrived: 1, flow: Stream::after(at, period, left) };
        match self.coming.binary_search_by_key(&coming.place(), Coming::place) {
            Ok(place) => self.coming[place] = coming,
            Err(place) => self.coming.insert(place, coming),
        }
        self.complete_at = self.complete_at.min(coming.complete_at());
        self.next = self.next.min(self.complete_at);
    }

    /// Counts the flits of a packet that have come before `at`, and returns where it stands among
    /// those that come.
    fn count(&mut self, at: u64, place: (u16, u8)) -> Option<usize> {
        let found = self.coming.iter().position(|coming| coming.place() == place)?;
        let coming = &mut self.coming[found];
        coming.arrived += coming.flow.take_before(at);
        Some(found)
    }

    /// Notes when the next packet is complete, after what is foretold has changed.
    fn note_complete(&mut self) {
        let times = self.coming.iter().map(Coming::complete_at);
        self.complete_at = times.min().unwrap_or(NEVER);
        self.next = self.next.min(self.complete_at);
    }

    /// The packets whose last flit comes at `now` are complete.
    fn complete_all<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        let mut place = 0;
        while let Some(coming) = self.coming.get(place).copied() {
            if coming.complete_at() <= now {
                self.coming.remove(place);
                self.complete(net, now, &coming.packet, out);
            } else {
                place += 1;
            }
        }
        self.note_complete();
    }

    /// A flit is taken out of the buffer, which takes its time on the link. Further flits of the
    /// packet are foretold: a number and a period.
    fn take<O: Out>(
        &self,
        net: &Fabric,
        at: u64,
        (port, channel): (u16, u8),
        (left, period): (u16, u32),
        out: &mut O,
    ) {
        let Some(link) = net.port(self.host.into(), port) else { return };
        let at = Time::from_ps(at + net.way_of_taken(link));
        out.send(link.peer, at, Signal::Credits { port: link.plug, channel, left, period });
    }

    /// All flits of a packet have come.
    fn complete<O: Out>(&mut self, net: &Fabric, at: u64, packet: &Packet, out: &mut O) {
        let (source, id) = (packet.source, packet.id());
        if packet.packets > 1 {
            let missing = self.missing.entry((source, id)).or_insert(packet.packets);
            *missing -= 1;
            if *missing > 0 {
                return;
            }
            self.missing.remove(&(source, id));
        }
        let at = Time::from_ps(at + net.delays.delivery);
        if O::LISTENS {
            out.record(at, Record::Arrived { source, hops: packet.hops });
        }
        let Some(orders) = &mut self.orders else {
            out.deliver(at, source, id);
            return;
        };
        let next = orders.next.entry(source).or_default();
        if packet.place != *next {
            orders.waiting.insert((source, packet.place), id);
            return;
        }
        let mut delivered = Some(id);
        while let Some(id) = delivered {
            *next = next.wrapping_add(1);
            out.deliver(at, source, id);
            delivered = orders.waiting.remove(&(source, *next));
        }
    }

    /// Does what is due before `until`.
    pub(crate) fn run<O: Out>(&mut self, net: &Fabric, until: u64, out: &mut O) {
        while self.next < until {
            let now = self.next;
            let device = DeviceId::from(self.host);
            if self.complete_at <= now {
                self.complete_all(net, now, out);
            }
            for (port, sender) in (0..).zip(&mut self.senders) {
                if sender.wake <= now {
                    sender.send(net, (device, port), now, out);
                }
            }
            let wakes = self.senders.iter().map(|sender| sender.wake);
            self.next = wakes.min().unwrap_or(NEVER).min(self.complete_at);
        }
    }

    /// Checks that nothing waits here and all credits are back; see [`network::Network::at_rest`].
    pub(crate) fn at_rest(&self, net: &Fabric) -> Result<(), String> {
        let waits = self.orders.as_ref().map_or(0, |orders| orders.waiting.len());
        if self.coming.len() + waits + self.missing.len() > 0 {
            return Err("packets or messages are incomplete".to_owned());
        }
        for (port, sender) in (0..).zip(&self.senders) {
            let wired = net.port(self.host.into(), port).is_some();
            let rest = sender.at_rest(net.buffer, wired);
            rest.map_err(|what| format!("port {port}: {what}"))?;
        }
        Ok(())
    }
}
