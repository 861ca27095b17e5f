//! A host's interface: it makes flits of messages, and messages of flits.
//!
//! Messages leave by a port in the order in which they enter, packet by packet. A packet takes the
//! next virtual channel, in turn, that has room for it (for a flit under wormhole switching), or
//! the one that `network.injector` says, and keeps the link until its tail has left. Where its
//! direction decides, messages of one channel do not wait for those of another. Where a host has
//! several injection ports, a message takes one of these when it enters. Arriving flits are taken
//! at the pace of the link. A message is delivered when all its flits are there; where the
//! order of a pair of hosts is kept, it also waits for those before it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use network::Record;
use rustc_hash::FxHashMap;
use topology::Header;
use units::{DeviceId, HostId, MessageId, Time};

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

/// A message in the queue of a port.
#[derive(Clone, Copy, Debug)]
struct Queued {
    /// The time from which on its first flit may leave.
    from: u64,
    /// Bytes that no packet has taken yet.
    bytes: u64,
    /// The packet of which all its packets are copies, but for their flits.
    packet: Packet,
    /// The only channel that they may take, if its direction decides.
    channel: Option<u8>,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    packet: Packet,
    /// Flits that have left.
    sent: u16,
    /// The time at which the first began.
    began: u64,
    /// Flits for which credits have been taken.
    paid: u16,
    /// The flits that the router has been foretold.
    flow: Stream,
}

/// The sending half of a port.
#[derive(Clone, Debug)]
struct Sender {
    queue: VecDeque<Queued>,
    /// The packet of the first message that is on its way.
    leaving: Option<Leaving>,
    /// By virtual channel, the credits that are counted.
    credits: Box<[u32]>,
    /// By virtual channel, the credits that are foretold.
    returning: Box<[Stream]>,
    /// The channel that was taken last.
    last: u8,
    /// Flits that wait here or in the queue at the router, where messages choose among ports.
    backlog: u32,
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
    /// Flits that have come and are counted.
    arrived: u16,
    /// The flits that are foretold.
    flow: Stream,
}

impl Coming {
    /// Returns when all flits have come, as foretold.
    const fn complete_at(&self) -> u64 {
        self.flow.time_of((self.packet.flits - self.arrived) as u32)
    }
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
    /// The place in its bundle of the injection port that was taken last.
    last: u16,
    senders: Box<[Sender]>,
    /// By port and virtual channel.
    coming: Box<[Option<Coming>]>,
    /// The time at which the next of them is complete.
    complete_at: u64,
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
        let (channels, buffer) = (net.injection_channels(), net.buffer);
        let sender = Sender {
            queue: VecDeque::new(),
            leaving: None,
            credits: vec![buffer; channels].into(),
            returning: vec![Stream::ENDED; channels].into(),
            last: channels as u8 - 1,
            backlog: 0,
            free: 0,
            wake: NEVER,
            stalled: NEVER,
        };
        Self {
            host,
            last: 0,
            senders: vec![sender; ports].into(),
            coming: vec![None; ports * net.channels].into(),
            complete_at: NEVER,
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
        let port = net.routes().first_hop(&header).port;
        let place = if net.parameters().ordered {
            let place = self.places.entry(destination).or_default();
            std::mem::replace(place, place.wrapping_add(1))
        } else {
            0
        };
        let (packets, flits) = net.parameters().message_flits(bytes);
        let blank = Packet::blank(self.host, destination).with_id(id);
        let born = net.cycle_of(at);
        let packet = Packet { choice, place, packets: packets as u32, born, ..blank };
        let (port, channel) = self.injector(net, at, port, &header);
        let Some(sender) = self.senders.get_mut(usize::from(port)) else { return };
        let from = at + net.delays.injection;
        let flits = u32::try_from(flits).unwrap_or(u32::MAX);
        sender.backlog = sender.backlog.saturating_add(flits);
        sender.queue.push_back(Queued { from, bytes, packet, channel });
        let overtakes = channel.is_some() && sender.stalled != NEVER;
        if sender.queue.len() == 1 || overtakes {
            sender.wake = sender.wake.min(from.max(sender.free));
            self.next = self.next.min(sender.wake);
        }
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
                let Some(place) = self.count(net, at, (port, channel)) else { return };
                let Some(Some(coming)) = self.coming.get_mut(place) else { return };
                coming.arrived += 1;
                let Coming { packet, arrived, .. } = *coming;
                let left = packet.flits.saturating_sub(arrived);
                coming.flow = Stream::after(at, period, left);
                self.take(net, at, (port, channel), (left, period), out);
                if left == 0 {
                    self.coming[place] = None;
                    self.complete(net, at, &packet, out);
                }
                self.note_complete();
            }
            Signal::NoFlit { port, channel } => {
                let Some(place) = self.count(net, at, (port, channel)) else { return };
                if let Some(Some(coming)) = self.coming.get_mut(place) {
                    coming.flow.left = 0;
                }
                self.note_complete();
                let Some(link) = net.port(self.host.into(), port) else { return };
                let at = Time::from_ps(at + net.way_of_taken(link));
                out.send(link.peer, at, Signal::NoCredit { port: link.plug, channel });
            }
            Signal::Credits { port, channel, left, period } => {
                self.credit(at, (port, channel), Stream::after(at, period, left));
            }
            Signal::NoCredit { port, channel } => self.no_credit(at, (port, channel)),
            // Routers tell each other.
            Signal::Queue { .. } | Signal::Census { .. } => {}
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
        let place = usize::from(packet.port) * net.channels + usize::from(packet.channel);
        if let Some(place) = self.coming.get_mut(place) {
            let coming = Coming { packet, arrived: 1, flow: Stream::after(at, period, left) };
            *place = Some(coming);
            self.complete_at = self.complete_at.min(coming.complete_at());
            self.next = self.next.min(self.complete_at);
        }
    }

    /// Counts the flits of a packet that have come before `at`, and returns its place.
    fn count(&mut self, net: &Fabric, at: u64, (port, channel): (u16, u8)) -> Option<usize> {
        let place = usize::from(port) * net.channels + usize::from(channel);
        let coming = self.coming.get_mut(place)?.as_mut()?;
        coming.arrived += coming.flow.take_before(at);
        Some(place)
    }

    /// Notes when the next packet is complete, after what is foretold has changed.
    fn note_complete(&mut self) {
        let times = self.coming.iter().flatten().map(Coming::complete_at);
        self.complete_at = times.min().unwrap_or(NEVER);
        self.next = self.next.min(self.complete_at);
    }

    /// The packets whose last flit comes at `now` are complete.
    fn complete_all<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        for place in 0..self.coming.len() {
            let done = |coming: &mut Coming| coming.complete_at() <= now;
            if let Some(coming) = self.coming[place].take_if(done) {
                self.complete(net, now, &coming.packet, out);
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

    /// A credit comes, and others are foretold.
    fn credit(&mut self, at: u64, (port, channel): (u16, u8), foretold: Stream) {
        self.no_credit(at, (port, channel));
        let channel = usize::from(channel);
        let Some(sender) = self.senders.get_mut(usize::from(port)) else { return };
        let Some(credits) = sender.credits.get_mut(channel) else { return };
        *credits += 1;
        sender.returning[channel] = foretold;
        if sender.stalled != NEVER {
            sender.wake = at.max(sender.free);
            self.next = self.next.min(sender.wake);
        }
    }

    /// The credits that were foretold for `at` and later do not come.
    fn no_credit(&mut self, at: u64, (port, channel): (u16, u8)) {
        let channel = usize::from(channel);
        let Some(sender) = self.senders.get_mut(usize::from(port)) else { return };
        let Some(returning) = sender.returning.get_mut(channel) else { return };
        sender.credits[channel] += u32::from(returning.take_before(at));
        returning.left = 0;
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
            let mut credits = sender.credits.iter().zip(&sender.returning);
            if wired && credits.any(|(now, later)| now + u32::from(later.left) != buffer) {
                return Err(format!("port {port}: {:?} of {buffer} credits", sender.credits));
            }
        }
        Ok(())
    }
}

impl Sender {
    /// Flits that wait here or in the queue at the router at `now`.
    fn waits(&self, net: &Fabric, now: u64) -> u32 {
        let credits = self.credits.iter().zip(&self.returning);
        let used = credits.map(|(&credits, returning)| {
            net.buffer.saturating_sub(credits + u32::from({ *returning }.take(now)))
        });
        self.backlog.saturating_add(used.sum())
    }

    /// Sends a flit, if there are credits for it, or all that is left of a packet but its last flit
    /// if there are credits for all.
    fn send<O: Out>(&mut self, net: &Fabric, at: (DeviceId, u16), now: u64, out: &mut O) {
        self.wake = NEVER;
        let (device, port) = at;
        let Some(link) = net.port(device, port) else { return };
        let Some(mut leaving) = self.leaving.take().or_else(|| self.begin(net, now)) else {
            self.stalled = if self.queue.is_empty() { NEVER } else { self.stalled.min(now) };
            return;
        };
        let packet = leaving.packet;
        let arrival = now + u64::from(link.flit) + link.cable;
        if leaving.sent == leaving.paid && !self.pay(&mut leaving, now) {
            self.stalled = self.stalled.min(now);
            if std::mem::take(&mut leaving.flow.left) > 0 {
                let signal = Signal::NoFlit { port: link.plug, channel: packet.channel };
                out.send(link.peer, Time::from_ps(arrival), signal);
            }
            self.leaving = Some(leaving);
            return;
        }
        let from = std::mem::replace(&mut self.stalled, NEVER);
        if O::LISTENS && from < now {
            let port = net.port_of_topology(device, port);
            let record = Record::Stalled { port, lane: packet.channel, from: Time::from_ps(from) };
            out.record(Time::from_ps(now), record);
        }
        leaving.sent += 1;
        let left = packet.flits - leaving.sent;
        if leaving.sent == 1 {
            leaving.flow = Stream::after(arrival, link.flit, left);
            let head = Packet { port: link.plug, hops: 1, ..packet };
            out.send(link.peer, Time::from_ps(arrival), Signal::Head(head));
        } else if leaving.flow.emit(arrival, left, link.flit) {
            let (port, channel, period) = (link.plug, packet.channel, leaving.flow.period);
            out.send(link.peer, Time::from_ps(arrival), Signal::Flits { port, channel, period });
        }
        let end = now + u64::from(link.flit);
        self.free = end;
        if left > 0 {
            // The flits between go as foretold.
            let between = (leaving.paid - leaving.sent).saturating_sub(1);
            leaving.sent += between;
            leaving.flow.skip(between);
            self.free = end + u64::from(between) * u64::from(link.flit);
            self.wake = self.free;
            self.leaving = Some(leaving);
            return;
        }
        if O::LISTENS {
            let (start, end) = (Time::from_ps(leaving.began), Time::from_ps(end));
            let (lane, flits) = (packet.channel, packet.flits.into());
            let port = net.port_of_topology(device, port);
            out.record(Time::from_ps(now), Record::Sent { port, lane, flits, start, end });
        }
        self.finish(net, end, out);
    }

    /// Takes the credits for the rest of a packet, or for a flit if there are not enough. If there
    /// are none, it wakes when the next one comes, as foretold, and returns false.
    fn pay(&mut self, leaving: &mut Leaving, now: u64) -> bool {
        let channel = usize::from(leaving.packet.channel);
        let (credits, returning) = (&mut self.credits[channel], &mut self.returning[channel]);
        *credits += u32::from(returning.take(now));
        if *credits == 0 {
            self.wake = returning.time_of(1);
            return false;
        }
        let rest = leaving.packet.flits - leaving.sent;
        let paid = if *credits >= rest.into() { rest } else { 1 };
        *credits -= u32::from(paid);
        self.backlog = self.backlog.saturating_sub(paid.into());
        leaving.paid += paid;
        true
    }

    /// Takes a channel for the next packet of the first message. If none has room, it wakes when
    /// one will have, as foretold.
    fn begin(&mut self, net: &Fabric, now: u64) -> Option<Leaving> {
        self.put_first(net, now);
        let shortest = match net.parameters().injector {
            Injector::Shortest => self.shortest(now),
            Injector::Next | Injector::Direction => None,
        };
        let message = self.queue.front()?;
        let flits = flits(net, message);
        let needed = net.needed(flits).max(1);
        let count = self.credits.len() as u8;
        let turn = (1..=count).map(|step| (self.last + step) % count);
        let roomy = |&channel: &u8| self.credits[usize::from(channel)] >= needed;
        let only = message.channel.or(shortest.filter(roomy));
        for channel in turn.filter(|channel| only.is_none_or(|only| only == *channel)) {
            let (credits, returning) = (
                &mut self.credits[usize::from(channel)],
                &mut self.returning[usize::from(channel)],
            );
            if *credits < needed {
                *credits += u32::from(returning.take(now));
            }
            if *credits < needed {
                self.wake = self.wake.min(returning.time_of(needed - *credits));
                continue;
            }
            self.last = channel;
            self.wake = NEVER;
            let packet = Packet { flits, channel, ..message.packet };
            return Some(Leaving { packet, sent: 0, began: now, paid: 0, flow: Stream::ENDED });
        }
        None
    }

    /// Puts the first message in front whose channel has room for its next packet, where directions
    /// decide. Messages of one channel stay in their order.
    fn put_first(&mut self, net: &Fabric, now: u64) {
        let mut blocked = 0_u64;
        for place in 0..self.queue.len() {
            let message = &self.queue[place];
            let Some(channel) = message.channel else { return };
            if message.from > now {
                self.wake = self.wake.min(message.from);
                return;
            }
            if blocked & 1 << channel != 0 {
                continue;
            }
            let needed = net.needed(flits(net, message)).max(1);
            let channel = usize::from(channel);
            let (credits, returning) = (&mut self.credits[channel], &mut self.returning[channel]);
            *credits += u32::from(returning.take(now));
            if *credits >= needed {
                if place > 0
                    && let Some(message) = self.queue.remove(place)
                {
                    self.queue.push_front(message);
                }
                return;
            }
            self.wake = self.wake.min(returning.time_of(needed - *credits));
            blocked |= 1 << channel;
            if blocked.count_ones() as usize == self.credits.len() {
                return;
            }
        }
    }

    /// Returns the next channel in turn of those with most credits.
    fn shortest(&mut self, now: u64) -> Option<u8> {
        for (credits, returning) in self.credits.iter_mut().zip(&mut self.returning) {
            *credits += u32::from(returning.take(now));
        }
        let count = self.credits.len() as u8;
        let turn = (1..=count).map(|step| (self.last + step) % count);
        turn.min_by_key(|&channel| Reverse(self.credits[usize::from(channel)]))
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
