//! A host's interface: it makes flits of messages, and messages of flits.
//!
//! Messages leave by a port in the order in which they enter, packet by packet. A packet takes the
//! next virtual channel, in turn, that has room for it (for a flit under wormhole switching), and
//! keeps the link until its tail has left. Arriving flits are taken at the pace of the link. A
//! message is delivered when all its flits are there; where the order of a pair of hosts is kept,
//! it also waits for those before it.

use std::collections::{BTreeMap, VecDeque};

use network::Record;
use rustc_hash::FxHashMap;
use topology::Header;
use units::{DeviceId, HostId, MessageId, Time};

use crate::{
    fabric::Fabric,
    model::Out,
    signal::{Packet, Signal},
};

const NEVER: u64 = u64::MAX;

/// A message that leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub destination: HostId,
    /// Bytes that no packet has taken yet.
    pub bytes: u64,
    pub id: MessageId,
}

/// A message in the queue of a port.
#[derive(Clone, Copy, Debug)]
struct Queued {
    /// The time from which on its first flit may leave.
    from: u64,
    /// Bytes that no packet has taken yet.
    bytes: u64,
    /// The packet of which all its packets are copies, but for their flits.
    packet: Packet,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    packet: Packet,
    /// Flits that have left.
    sent: u16,
    /// The time at which the first began.
    began: u64,
}

/// The sending half of a port.
#[derive(Clone, Debug)]
struct Sender {
    queue: VecDeque<Queued>,
    /// The packet of the first message that is on its way.
    leaving: Option<Leaving>,
    /// By virtual channel.
    credits: Box<[u32]>,
    /// The channel that was taken last.
    last: u8,
    /// The time from which on the link is free.
    free: u64,
    /// The time at which it acts next.
    wake: u64,
    /// The time since which it waits for credits; [`NEVER`] if it does not.
    stalled: u64,
}

/// A packet that comes.
#[derive(Clone, Copy, Debug)]
struct Coming {
    packet: Packet,
    arrived: u16,
}

/// The messages of a source that have been delivered in order, and those that wait for others.
#[derive(Clone, Debug, Default)]
struct Order {
    /// The place of the message that is delivered next.
    next: u32,
    waiting: BTreeMap<u32, MessageId>,
}

/// The interface of a host.
#[derive(Clone, Debug)]
pub struct Interface {
    host: HostId,
    senders: Box<[Sender]>,
    /// By port and virtual channel.
    coming: Box<[Option<Coming>]>,
    /// Packets that are missing of messages of which some have come, by source and number.
    missing: FxHashMap<(HostId, MessageId), u32>,
    /// The number of messages sent to each destination, if order is kept.
    places: FxHashMap<HostId, u32>,
    /// The order of each source's messages, if it is kept.
    orders: FxHashMap<HostId, Order>,
    next: u64,
}

impl Interface {
    /// The interface of a host.
    pub fn new(net: &Fabric, host: HostId) -> Self {
        let ports = net.ports(host.into()).len();
        let (channels, buffer) = (net.channels, net.buffer);
        let sender = Sender {
            queue: VecDeque::new(),
            leaving: None,
            credits: vec![buffer; channels].into(),
            last: channels as u8 - 1,
            free: 0,
            wake: NEVER,
            stalled: NEVER,
        };
        Self {
            host,
            senders: vec![sender; ports].into(),
            coming: vec![None; ports * channels].into(),
            missing: FxHashMap::default(),
            places: FxHashMap::default(),
            orders: FxHashMap::default(),
            next: NEVER,
        }
    }

    /// Returns the time at which it acts next if it hears nothing before.
    pub(crate) const fn next(&self) -> Time {
        Time::from_ps(self.next)
    }

    /// A message enters at `at`.
    pub(crate) fn inject(&mut self, net: &Fabric, at: u64, message: Message) {
        let Message { destination, bytes, id } = message;
        let choice = net.choose(self.host, destination, id);
        let (from, to) = (self.host.0, destination.0);
        let header = Header { source: from, destination: to, level: 0, choice };
        let port = usize::from(net.routes().first_hop(&header).port);
        let place = if net.parameters().ordered {
            let place = self.places.entry(destination).or_default();
            std::mem::replace(place, place.wrapping_add(1))
        } else {
            0
        };
        let packets = net.parameters().message_flits(bytes).0 as u32;
        let blank = Packet::blank(self.host, destination).with_id(id);
        let packet = Packet { choice, place, packets, ..blank };
        let Some(sender) = self.senders.get_mut(port) else { return };
        let from = at + net.delays.injection;
        sender.queue.push_back(Queued { from, bytes, packet });
        if sender.queue.len() == 1 {
            sender.wake = from.max(sender.free);
            self.next = self.next.min(sender.wake);
        }
    }

    /// A signal arrives.
    pub(crate) fn hear<O: Out>(&mut self, net: &Fabric, at: u64, signal: Signal, out: &mut O) {
        match signal {
            Signal::Head(packet) => self.arrive(net, at, packet, out),
            Signal::Flit { port, channel } => {
                let place = usize::from(port) * net.channels + usize::from(channel);
                let Some(Some(coming)) = self.coming.get_mut(place) else { return };
                coming.arrived += 1;
                let Coming { packet, arrived } = *coming;
                self.take(net, at, (port, channel), out);
                if arrived == packet.flits {
                    self.coming[place] = None;
                    self.complete(net, at, &packet, out);
                }
            }
            Signal::Credit { port, channel } => self.credit(net, at, (port, channel), out),
        }
    }

    fn arrive<O: Out>(&mut self, net: &Fabric, at: u64, packet: Packet, out: &mut O) {
        self.take(net, at, (packet.port, packet.channel), out);
        if packet.flits == 1 {
            self.complete(net, at, &packet, out);
            return;
        }
        let place = usize::from(packet.port) * net.channels + usize::from(packet.channel);
        if let Some(coming) = self.coming.get_mut(place) {
            *coming = Some(Coming { packet, arrived: 1 });
        }
    }

    /// A flit is taken out of the buffer, which takes its time on the link.
    fn take<O: Out>(&self, net: &Fabric, at: u64, (port, channel): (u16, u8), out: &mut O) {
        let Some(link) = net.port(self.host.into(), port) else { return };
        let at = at + u64::from(link.flit) + net.delays.credit + link.cable;
        out.send(link.peer, Time::from_ps(at), Signal::Credit { port: link.plug, channel });
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
        let at = Time::from_ps(at);
        if O::LISTENS {
            out.record(at, Record::Arrived { source, hops: packet.hops });
        }
        if !net.parameters().ordered {
            out.deliver(at, source, id);
            return;
        }
        let order = self.orders.entry(source).or_default();
        order.waiting.insert(packet.place, id);
        while let Some(id) = order.waiting.remove(&order.next) {
            order.next = order.next.wrapping_add(1);
            out.deliver(at, source, id);
        }
    }

    fn credit<O: Out>(&mut self, net: &Fabric, at: u64, (port, channel): (u16, u8), out: &mut O) {
        let Some(sender) = self.senders.get_mut(usize::from(port)) else { return };
        let Some(credits) = sender.credits.get_mut(usize::from(channel)) else { return };
        *credits += 1;
        let needed = sender.needed(net);
        let lacks = |leaving: &Leaving| leaving.packet.channel != channel;
        if sender.stalled == NEVER
            || sender.leaving.as_ref().is_some_and(lacks)
            || sender.credits[usize::from(channel)] < needed
        {
            return;
        }
        let from = std::mem::replace(&mut sender.stalled, NEVER);
        sender.wake = at.max(sender.free);
        self.next = self.next.min(sender.wake);
        if O::LISTENS && from < at {
            let record = Record::Stalled { port, lane: channel, from: Time::from_ps(from) };
            out.record(Time::from_ps(at), record);
        }
    }

    /// Does what is due before `until`.
    pub(crate) fn run<O: Out>(&mut self, net: &Fabric, until: u64, out: &mut O) {
        while self.next < until {
            let now = self.next;
            let device = DeviceId::from(self.host);
            for (port, sender) in (0..).zip(&mut self.senders) {
                if sender.wake <= now {
                    sender.send(net, (device, port), now, out);
                }
            }
            self.next = self.senders.iter().map(|sender| sender.wake).min().unwrap_or(NEVER);
        }
    }

    /// Checks that nothing waits here and all credits are back; see [`network::Network::at_rest`].
    pub(crate) fn at_rest(&self, net: &Fabric) -> Result<(), String> {
        let waits = self.orders.values().map(|order| order.waiting.len()).sum::<usize>();
        let coming = self.coming.iter().flatten().count();
        if coming + waits + self.missing.len() > 0 {
            return Err("packets or messages are incomplete".to_owned());
        }
        let buffer = net.buffer;
        for (port, sender) in self.senders.iter().enumerate() {
            if !sender.queue.is_empty() {
                return Err(format!("port {port}: {} messages wait", sender.queue.len()));
            }
            let wired = net.port(self.host.into(), port as u16).is_some();
            if wired && sender.credits.iter().any(|&credits| credits != buffer) {
                return Err(format!("port {port}: {:?} of {buffer} credits", sender.credits));
            }
        }
        Ok(())
    }
}

impl Sender {
    /// The credits that it needs to go on.
    fn needed(&self, net: &Fabric) -> u32 {
        match (&self.leaving, self.queue.front()) {
            (None, Some(message)) => net.needed(flits(net, message)).max(1),
            _ => 1,
        }
    }

    /// Sends a flit, if there are credits for it.
    fn send<O: Out>(&mut self, net: &Fabric, at: (DeviceId, u16), now: u64, out: &mut O) {
        self.wake = NEVER;
        let (device, port) = at;
        let Some(link) = net.port(device, port) else { return };
        let Some(mut leaving) = self.leaving.take().or_else(|| self.begin(net, now)) else {
            self.stalled = if self.queue.is_empty() { NEVER } else { now };
            return;
        };
        let packet = leaving.packet;
        let credits = &mut self.credits[usize::from(packet.channel)];
        if *credits == 0 {
            self.stalled = now;
            self.leaving = Some(leaving);
            return;
        }
        *credits -= 1;
        let end = now + u64::from(link.flit);
        self.free = end;
        let signal = if leaving.sent == 0 {
            Signal::Head(Packet { port: link.plug, hops: 1, ..packet })
        } else {
            Signal::Flit { port: link.plug, channel: packet.channel }
        };
        out.send(link.peer, Time::from_ps(end + link.cable), signal);
        leaving.sent += 1;
        if leaving.sent < packet.flits {
            self.leaving = Some(leaving);
            self.wake = end;
            return;
        }
        if O::LISTENS {
            let (start, end) = (Time::from_ps(leaving.began), Time::from_ps(end));
            let (lane, flits) = (packet.channel, packet.flits.into());
            out.record(Time::from_ps(now), Record::Sent { port, lane, flits, start, end });
        }
        self.finish(net, end, out);
    }

    /// Takes a channel for the next packet of the first message.
    fn begin(&mut self, net: &Fabric, now: u64) -> Option<Leaving> {
        let message = self.queue.front()?;
        let flits = flits(net, message);
        let needed = net.needed(flits).max(1);
        let count = self.credits.len() as u8;
        let turn = (1..=count).map(|step| (self.last + step) % count);
        let channel =
            turn.into_iter().find(|&channel| self.credits[usize::from(channel)] >= needed)?;
        self.last = channel;
        let packet = Packet { flits, channel, ..message.packet };
        Some(Leaving { packet, sent: 0, began: now })
    }

    /// The tail of a packet is on the link until `end`.
    fn finish<O: Out>(&mut self, net: &Fabric, end: u64, out: &mut O) {
        let Some(message) = self.queue.front_mut() else { return };
        let mtu = u64::from(net.parameters().mtu);
        if message.bytes > mtu {
            message.bytes -= mtu;
            self.wake = end;
            return;
        }
        out.left(Time::from_ps(end), message.packet.id());
        self.queue.pop_front();
        if let Some(next) = self.queue.front() {
            self.wake = end.max(next.from);
        }
    }
}

/// Flits of the next packet of a message.
fn flits(net: &Fabric, message: &Queued) -> u16 {
    let parameters = net.parameters();
    let payload = message.bytes.min(parameters.mtu.into()) as u32;
    parameters.flits(payload) as u16
}
