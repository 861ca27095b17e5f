//! The sending half of a port of a host: messages become packets, and packets flits.

use std::{cmp::Reverse, collections::VecDeque};

use network::Record;
use smallvec::{SmallVec, smallvec};
use units::{DeviceId, Time};

use crate::{
    fabric::Fabric,
    model::Out,
    parameters::Injector,
    signal::{Packet, Signal},
    stream::{NEVER, Stream},
};

/// A message in the queue of a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    /// The time from which on its first flit may leave.
    pub from: u64,
    /// Bytes that no packet has taken yet.
    pub bytes: u64,
    /// The packet of which all its packets are copies, but for their flits.
    pub packet: Packet,
    /// The only channel that they may take, if its direction decides.
    pub channel: Option<u8>,
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
pub(super) struct Sender {
    queue: VecDeque<Queued>,
    /// The packet of the first message that is on its way.
    leaving: Option<Leaving>,
    /// By virtual channel, the credits that are counted.
    credits: SmallVec<[u32; 4]>,
    /// By virtual channel, the credits that are foretold.
    returning: SmallVec<[Stream; 4]>,
    /// The channel that was taken last.
    last: u8,
    /// Flits that wait here or in the queue at the router, where messages choose among ports.
    backlog: u32,
    /// The time from which on the link is free.
    free: u64,
    /// The time at which it acts next.
    pub wake: u64,
    /// The time since which it waits for credits; [`NEVER`] if it does not.
    stalled: u64,
}

impl Sender {
    /// A sender for so many virtual channels, behind each of which is a buffer of so many flits.
    pub fn new(channels: usize, buffer: u32) -> Self {
        Self {
            queue: VecDeque::new(),
            leaving: None,
            credits: smallvec![buffer; channels],
            returning: smallvec![Stream::ENDED; channels],
            last: channels as u8 - 1,
            backlog: 0,
            free: 0,
            wake: NEVER,
            stalled: NEVER,
        }
    }

    /// Adds a message of so many flits.
    pub fn add(&mut self, message: Queued, flits: u32) {
        self.backlog = self.backlog.saturating_add(flits);
        self.queue.push_back(message);
        let overtakes = message.channel.is_some() && self.stalled != NEVER;
        if self.queue.len() == 1 || overtakes {
            self.wake = self.wake.min(message.from.max(self.free));
        }
    }

    /// A credit comes, and others are foretold.
    pub fn credit(&mut self, at: u64, channel: u8, foretold: Stream) {
        self.no_credit(at, channel);
        let channel = usize::from(channel);
        let Some(credits) = self.credits.get_mut(channel) else { return };
        *credits += 1;
        self.returning[channel] = foretold;
        if self.stalled != NEVER {
            self.wake = at.max(self.free);
        }
    }

    /// The credits that were foretold for `at` and later do not come.
    pub fn no_credit(&mut self, at: u64, channel: u8) {
        let channel = usize::from(channel);
        let Some(returning) = self.returning.get_mut(channel) else { return };
        self.credits[channel] += u32::from(returning.take_before(at));
        returning.left = 0;
    }

    /// Checks that nothing waits and, where the port has a link, that all credits are back.
    pub fn at_rest(&self, buffer: u32, wired: bool) -> Result<(), String> {
        if !self.queue.is_empty() {
            return Err(format!("{} messages wait", self.queue.len()));
        }
        let mut credits = self.credits.iter().zip(&self.returning);
        if wired && credits.any(|(now, later)| now + u32::from(later.left) != buffer) {
            return Err(format!("{:?} of {buffer} credits", self.credits));
        }
        Ok(())
    }

    /// Flits that wait here or in the queue at the router at `now`.
    pub fn waits(&self, net: &Fabric, now: u64) -> u32 {
        let credits = self.credits.iter().zip(&self.returning);
        let used = credits.map(|(&credits, returning)| {
            net.buffer.saturating_sub(credits + u32::from({ *returning }.take(now)))
        });
        self.backlog.saturating_add(used.sum())
    }

    /// Sends a flit, if there are credits for it, or all that is left of a packet but its last flit
    /// if there are credits for all.
    pub fn send<O: Out>(&mut self, net: &Fabric, at: (DeviceId, u16), now: u64, out: &mut O) {
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
        } else if leaving.flow.emit(arrival, left, link.flit, false) {
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
