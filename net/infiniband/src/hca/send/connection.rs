//! Reliable connections: acknowledgements, time-outs and going back, on networks that lose packets.
//!
//! The packets of a queue pair are numbered (PSN). The receiver takes them in order and discards
//! every other one: ahead of a missing one, or sent again though it had arrived. It acknowledges
//! the last packet of each message and every 256th of a connection; for the first packet ahead of a
//! missing one it sends a negative acknowledgement (NAK, sequence error) that names the missing
//! one, and then none until that has come. The sender keeps a message until it is acknowledged. A
//! NAK makes it go back to the packet that is missing, a time-out to the first one that is not
//! acknowledged, and everything from there on is sent again ("go back N").
//!
//! A connection's timer runs while packets that ask for an acknowledgement are sent and not
//! acknowledged: from when the first of them has left the link, and anew from each acknowledgement
//! that comes. Each time that packets are sent again counts as a retry; progress of the
//! acknowledgements allows all of them again. After the last one the host gives up, and the run
//! ends.
//!
//! Source: InfiniBand Architecture Specification, volume 1, sections 9.7.3 to 9.7.6 and 9.9.2. That
//! a host asks for an acknowledgement at every 256th packet is what the Linux driver of Mellanox's
//! adapters sets (`MLX5_IB_ACK_REQ_FREQ`, 2^8).

use std::collections::{BTreeSet, VecDeque};

use topology::Hop;
use units::{HostId, Time};

use super::{Flows, NEVER, NONE, Pair, Sender, header};
use crate::{
    fabric::Fabric,
    hca::FAR,
    losses::{Losses, Psn},
    outlet::{Out, Record},
    signal::{Credit, Kind, Packet, Signal},
    train::Shape,
};

/// The number of packets of a connection that may be unacknowledged: the standard's limit.
const WINDOW: u64 = Psn::HALF - 1;

/// A message that is not acknowledged in full.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Its place among the messages of the host.
    slot: u32,
    /// Its size.
    bytes: u64,
    /// The number of its first packet.
    first: u64,
    /// Its number of packets.
    packets: u64,
}

impl Kept {
    /// The number of the packet that follows its last one.
    const fn end(&self) -> u64 {
        self.first + self.packets
    }
}

/// The sending side of a connection.
#[derive(Clone, Debug)]
pub(in crate::hca) struct Connection {
    /// Messages that are not acknowledged in full, in order.
    kept: VecDeque<Kept>,
    /// The number of the packet that is sent next.
    pub next: u64,
    /// The packets with numbers below this one are acknowledged.
    acknowledged: u64,
    /// The number of the packet that follows the last one that was sent and asks for an
    /// acknowledgement.
    asked: u64,
    /// The number of the packet that follows the last message.
    end: u64,
    /// The time at which the timer expires.
    expires: u64,
    /// Retries that are left without progress.
    retries: u8,
}

impl Connection {
    pub fn new(losses: &Losses) -> Self {
        Self {
            kept: VecDeque::new(),
            next: 0,
            acknowledged: 0,
            asked: 0,
            end: 0,
            expires: NEVER,
            retries: losses.retry_count,
        }
    }

    /// Keeps a message. Returns the place of the one before it.
    pub fn keep(&mut self, slot: u32, bytes: u64, packets: u64) -> Option<u32> {
        let before = self.kept.back().map(|kept| kept.slot);
        self.kept.push_back(Kept { slot, bytes, first: self.end, packets });
        self.end += packets;
        before
    }

    /// Returns true if another packet may be sent, if there is one.
    pub const fn is_open(&self) -> bool {
        self.next - self.acknowledged < WINDOW
    }

    /// Takes note that all packets before a number are acknowledged. Returns false if that is not
    /// new.
    fn acknowledge(&mut self, before: u64, losses: &Losses) -> bool {
        if before <= self.acknowledged || before > self.end {
            return false;
        }
        self.acknowledged = before;
        self.retries = losses.retry_count;
        true
    }

    /// Uses up a retry; false if none is left.
    const fn retry(&mut self) -> bool {
        let is_left = self.retries > 0;
        self.retries = self.retries.saturating_sub(1);
        is_left
    }
}

/// The sending sides of all connections of a host.
#[derive(Clone, Debug, Default)]
pub(in crate::hca) struct Connections {
    /// By the number of the queue pair.
    pub of: Vec<Connection>,
    /// The times at which timers expire, with their queue pairs.
    timers: BTreeSet<(u64, u32)>,
    /// Packets that the host has sent.
    sent: u64,
}

impl Connections {
    /// Returns the number, among all packets of the host, of one that leaves now.
    pub const fn next_index(&mut self) -> u64 {
        self.sent += 1;
        self.sent - 1
    }

    /// Returns when the first timer expires.
    pub fn wake(&self) -> u64 {
        self.timers.first().map_or(NEVER, |timer| timer.0)
    }

    /// Returns a queue pair whose timer has expired by now.
    pub fn expired(&self, now: u64) -> Option<u32> {
        self.timers.first().filter(|timer| timer.0 <= now).map(|timer| timer.1)
    }

    /// Takes note that a data packet of a queue pair has been sent. If it asks for an
    /// acknowledgement, the timer starts unless it runs.
    pub fn sent(&mut self, pair: u32, packet: &Packet, expires: u64) {
        let connection = &mut self.of[pair as usize];
        if packet.asks() {
            connection.asked = connection.next;
            self.start(pair, expires);
        }
    }

    /// Starts the timer of a queue pair unless it runs.
    fn start(&mut self, pair: u32, expires: u64) {
        let connection = &mut self.of[pair as usize];
        if connection.expires == NEVER {
            connection.expires = expires;
            self.timers.insert((expires, pair));
        }
    }

    /// Stops the timer of a queue pair.
    fn stop(&mut self, pair: u32) {
        let expires = std::mem::replace(&mut self.of[pair as usize].expires, NEVER);
        self.timers.remove(&(expires, pair));
    }
}

impl Flows {
    /// An acknowledgement arrives: all packets before the one that it names have arrived, and if it
    /// is negative, that one is missing.
    pub(in crate::hca) fn answered<O: Out>(
        &mut self,
        net: &Fabric,
        sender: &mut Sender,
        now: u64,
        answer: &Packet,
        out: &mut O,
    ) {
        let Some(&pair) = self.by_destination.get(&(answer.source, answer.level)) else { return };
        let was_queued = self.is_queued(pair);
        let (Some(connections), Some(losses)) = (&mut self.connections, &net.parameters.losses)
        else {
            return;
        };
        let connection = &mut connections.of[pair as usize];
        let named = answer.stamp.psn().near(connection.acknowledged);
        let is_progress = connection.acknowledge(named, losses);
        let Connection { acknowledged: first, next, asked, .. } = *connection;
        let is_missing = answer.kind == Kind::Negative && named == first && named < next;
        if !is_progress && !is_missing {
            return;
        }
        connections.stop(pair);
        if first < asked && !is_missing {
            connections.start(pair, now.saturating_add(losses.ack_timeout.ps()));
        }
        self.release(pair, now, out);
        if is_missing {
            return self.go_back(net, sender, pair, now, out);
        }
        if first > next {
            // Packets that were to be sent again have arrived after all.
            self.seek(net, pair, first);
        }
        self.requeue(net, sender, (pair, was_queued), now);
    }

    /// Goes back in each connection whose timer has expired. Past 106 days, time overflows.
    pub(in crate::hca) fn time_out<O: Out>(
        &mut self,
        net: &Fabric,
        host: HostId,
        senders: &mut [Sender],
        now: u64,
        out: &mut O,
    ) {
        while let Some(connections) = &mut self.connections
            && let Some(pair) = connections.expired(now)
        {
            connections.stop(pair);
            let port = usize::from(self.hop(net, host, pair).port);
            let Some(sender) = senders.get_mut(port) else { return };
            if Time::from_ps(now) >= FAR {
                let link = net.ports(host.into())[port];
                let nothing = Credit { shape: Shape::even(0), port: link.plug, flits: 0, lane: 0 };
                return out.send(link.peer, Time::MAX, Signal::Credit(nothing));
            }
            self.go_back(net, sender, pair, now, out);
        }
    }

    /// Returns when the first timer of a connection expires.
    pub(in crate::hca) fn wake(&self) -> u64 {
        self.connections.as_ref().map_or(NEVER, |connections| connections.wake())
    }

    /// Returns the port and lane of a queue pair.
    fn hop(&self, net: &Fabric, host: HostId, pair: u32) -> Hop {
        let Pair { destination, level, .. } = self.pairs[pair as usize];
        net.first_hop(&header(host, destination, level))
    }

    /// Returns true if a queue pair has something to send and may, so that it has its place in the
    /// round of its port.
    fn is_queued(&self, pair: u32) -> bool {
        let connection =
            self.connections.as_ref().map(|connections| &connections.of[pair as usize]);
        self.pairs[pair as usize].head != NONE && connection.is_some_and(Connection::is_open)
    }

    /// Lets go of the messages that are acknowledged in full: they have left.
    fn release<O: Out>(&mut self, pair: u32, now: u64, out: &mut O) {
        let Some(connections) = &mut self.connections else { return };
        let Connection { kept, acknowledged, .. } = &mut connections.of[pair as usize];
        while let Some(&first) = kept.front()
            && first.end() <= *acknowledged
        {
            kept.pop_front();
            let message = &mut self.messages[first.slot as usize];
            message.next = self.free;
            self.free = first.slot;
            self.unsent -= 1;
            out.left(Time::from_ps(now), message.id);
        }
    }

    /// Sends again what is not acknowledged, or gives up. The timer of the queue pair does not run.
    fn go_back<O: Out>(
        &mut self,
        net: &Fabric,
        sender: &mut Sender,
        pair: u32,
        now: u64,
        out: &mut O,
    ) {
        let was_queued = self.is_queued(pair);
        let destination = self.pairs[pair as usize].destination;
        let Some(connections) = &mut self.connections else { return };
        let connection = &mut connections.of[pair as usize];
        if !connection.retry() {
            return out.give_up(Time::from_ps(now), destination);
        }
        let first = connection.acknowledged;
        let packets = connection.next - first;
        if O::LISTENS {
            out.record(Time::from_ps(now), Record::Resent { destination, packets });
        }
        self.seek(net, pair, first);
        self.requeue(net, sender, (pair, was_queued), now);
    }

    /// Makes a packet the one that a queue pair sends next.
    fn seek(&mut self, net: &Fabric, pair: u32, number: u64) {
        let Some(connections) = &mut self.connections else { return };
        let Connection { kept, next, asked, .. } = &mut connections.of[pair as usize];
        (*next, *asked) = (number, number.min(*asked));
        let rest = kept.partition_point(|message| message.end() <= number)..;
        let state = &mut self.pairs[pair as usize];
        (state.head, state.tail) = (NONE, NONE);
        for message in kept.range(rest) {
            let sent = number.saturating_sub(message.first) * u64::from(net.parameters.mtu);
            self.messages[message.slot as usize].left = message.bytes - sent;
            if state.head == NONE {
                state.head = message.slot;
            }
            state.tail = message.slot;
        }
    }

    /// Gives a queue pair its place in the round, or takes it away, after what it has to send has
    /// changed.
    fn requeue(
        &mut self,
        net: &Fabric,
        sender: &mut Sender,
        (pair, was_queued): (u32, bool),
        now: u64,
    ) {
        let is_queued = self.is_queued(pair);
        let eligible = self.pairs[pair as usize].eligible;
        if is_queued && !was_queued {
            let lane = self.hop(net, sender.host, pair).lane;
            self.enqueue(sender, lane, pair, eligible, now);
        } else if was_queued && !is_queued {
            sender.forget(pair);
        }
        if is_queued {
            sender.wake = sender.wake.min(sender.ready.max(now).max(eligible));
        }
    }
}

impl Sender {
    /// Takes a queue pair out of the round.
    fn forget(&mut self, pair: u32) {
        self.delayed.retain(|waiting| waiting.0.3 != pair);
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            lane.ring.retain(|waiting| *waiting != pair);
            if lane.ring.is_empty() {
                self.waiting &= !(1 << number);
            }
        }
    }
}
