//! The sending half of a host channel adapter.

mod connection;

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use topology::{Header, Hop};
use units::{HostId, MessageId, Time};

use self::connection::{Connection, Connections};
use super::{Message, Pairs};
use crate::{
    arbiter::Arbiter,
    congestion::{Control, Index, Scope},
    credits::Credits,
    fabric::{Fabric, Port, flits},
    losses::{Psn, Stamp},
    outlet::{Out, Record},
    parameters::FLIT,
    signal::{Credit, Kind, Label, Packet, Signal},
    train::Shape,
    updates::Updates,
};

const NONE: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;

/// Bytes of a notification or acknowledgement fit one flit.
const REPLY_FLITS: u8 = 1;

/// A notification or acknowledgement that waits to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    /// The time at which the packet that it answers has arrived.
    pub at: u64,
    pub destination: HostId,
    pub level: u8,
    pub lane: u8,
    pub kind: Kind,
    pub psn: Psn,
}

/// A message that is not sent in full.
#[derive(Clone, Copy, Debug)]
struct Unsent {
    id: MessageId,
    /// Bytes left.
    left: u64,
    choice: u32,
    /// True if it is more than one flit.
    long: bool,
    next: u32,
}

/// A queue pair: messages to one destination at one service level.
#[derive(Clone, Copy, Debug)]
struct Pair {
    destination: HostId,
    level: u8,
    head: u32,
    tail: u32,
    index: Option<Index>,
    /// No packet before this time.
    eligible: u64,
}

/// All queue pairs of a host.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    pairs: Vec<Pair>,
    by_destination: Pairs,
    free_pairs: Vec<u32>,
    messages: Vec<Unsent>,
    free: u32,
    pub unsent: u64,
    /// The indices of whole service levels, if congestion control goes by these.
    pub levels: Vec<Index>,
    /// No packet of a service level before this time.
    until: [u64; 16],
    /// Tells delayed queue pairs apart that may go on at the same time.
    delayed: u64,
    /// The connections of the queue pairs, if packets get lost.
    pub connections: Option<Box<Connections>>,
}

impl Flows {
    pub fn new(net: &Fabric) -> Self {
        let levels = net.parameters.congestion.as_ref().map(|control| Index::new(control, 0));
        Self {
            pairs: Vec::new(),
            by_destination: Pairs::default(),
            free_pairs: Vec::new(),
            messages: Vec::new(),
            free: NONE,
            unsent: 0,
            levels: levels.map_or_else(Vec::new, |index| vec![index; 16]),
            until: [0; 16],
            delayed: 0,
            connections: net.parameters.losses.as_ref().map(|_| Box::default()),
        }
    }

    /// The index of a queue pair, if the pair is there.
    pub fn index(&mut self, destination: HostId, level: u8) -> Option<&mut Index> {
        let &pair = self.by_destination.get(&(destination, level))?;
        self.pairs.get_mut(pair as usize)?.index.as_mut()
    }

    /// A message enters.
    pub fn inject(
        &mut self,
        net: &Fabric,
        now: u64,
        message: &Message,
        hop: Hop,
        sender: &mut Sender,
    ) {
        let &Message { destination, bytes, level, id: message } = message;
        let choice = net.choose(sender.host, destination, level, message);
        let parameters = &net.parameters;
        let long = bytes + u64::from(parameters.header) > u64::from(FLIT);
        let id = self.store(Unsent { id: message, left: bytes, choice, long, next: NONE });
        self.unsent += 1;
        let &mut pair = self.by_destination.entry((destination, level)).or_insert(NONE);
        let pair = if pair == NONE { self.add_pair(net, now, destination, level) } else { pair };
        if let Some(connections) = &mut self.connections {
            let (packets, _) = parameters.message_flits(bytes);
            let before = connections.of[pair as usize].keep(id, bytes, packets);
            if let Some(before) = before {
                self.messages[before as usize].next = id;
            }
        }
        let state = &mut self.pairs[pair as usize];
        if state.tail == NONE {
            (state.head, state.tail) = (id, id);
            let eligible = state.eligible;
            self.enqueue(sender, hop.lane, pair, eligible, now);
            sender.wake = sender.wake.min(sender.ready.max(now).max(eligible));
        } else {
            let tail = std::mem::replace(&mut state.tail, id);
            self.messages[tail as usize].next = id;
        }
    }

    /// A queue pair with something to send takes its place in the round.
    fn enqueue(&mut self, sender: &mut Sender, lane: u8, pair: u32, eligible: u64, now: u64) {
        if eligible <= now {
            sender.ring(lane, pair);
        } else {
            sender.delayed.push(Reverse((eligible, self.delayed, lane, pair)));
            self.delayed += 1;
        }
    }

    fn add_pair(&mut self, net: &Fabric, now: u64, destination: HostId, level: u8) -> u32 {
        let index = net.parameters.congestion.as_ref().map(|control| Index::new(control, now));
        let pair = Pair { destination, level, head: NONE, tail: NONE, index, eligible: 0 };
        let id = if let Some(id) = self.free_pairs.pop() {
            self.pairs[id as usize] = pair;
            id
        } else {
            self.pairs.push(pair);
            self.pairs.len() as u32 - 1
        };
        if let (Some(connections), Some(losses)) = (&mut self.connections, &net.parameters.losses) {
            connections.of.push(Connection::new(losses));
        }
        self.by_destination.insert((destination, level), id);
        id
    }

    fn store(&mut self, message: Unsent) -> u32 {
        if self.free == NONE {
            self.messages.push(message);
            return self.messages.len() as u32 - 1;
        }
        let id = self.free;
        let slot = &mut self.messages[id as usize];
        self.free = slot.next;
        *slot = message;
        id
    }

    /// The next packet of a queue pair as (payload, flits, bytes of the last flit).
    fn packet(&self, net: &Fabric, pair: u32) -> (u32, u8, u8) {
        let message = &self.messages[self.pairs[pair as usize].head as usize];
        let payload = message.left.min(net.parameters.mtu.into()) as u32;
        let (count, last) = flits(payload, net.parameters.header);
        (payload, count, if message.long && net.parameters.padded { FLIT as u8 } else { last })
    }

    /// Takes the next packet of a queue pair. Returns also whether more is to be sent.
    fn take(&mut self, pair: u32, payload: u32, source: HostId) -> (Label, bool) {
        let state = &mut self.pairs[pair as usize];
        let id = state.head;
        let message = &mut self.messages[id as usize];
        message.left -= u64::from(payload);
        let kind = if message.left == 0 { Kind::Tail } else { Kind::Body };
        let (destination, level) = (state.destination, state.level);
        let (of, choice) = (message.id, message.choice);
        if kind == Kind::Tail {
            state.head = message.next;
            if state.head == NONE {
                state.tail = NONE;
            }
            if self.connections.is_none() {
                message.next = self.free;
                self.free = id;
                self.unsent -= 1;
            }
        }
        let mut more = state.head != NONE;
        let mut stamp = Stamp(choice);
        if let Some(connections) = &mut self.connections {
            let connection = &mut connections.of[pair as usize];
            stamp = Stamp::numbered(Psn::of(connection.next));
            connection.next += 1;
            more &= connection.is_open();
        }
        (Label { source, destination, stamp, id: of, level, kind }, more)
    }

    /// Congestion control after a packet that takes `packet` picoseconds and ends at `end`: no
    /// packet of the flow before the answer.
    fn pace(&mut self, control: &Control, pair: u32, now: u64, packet: u64, end: u64) -> u64 {
        let state = &mut self.pairs[pair as usize];
        let level = usize::from(state.level & 15);
        let index = match control.scope {
            Scope::QueuePair => state.index.as_mut(),
            Scope::ServiceLevel => self.levels.get_mut(level),
        };
        let value = index.map_or(0, |index| index.at(control, now));
        let eligible = end.saturating_add(control.delay(value, packet));
        match control.scope {
            Scope::QueuePair => state.eligible = eligible,
            Scope::ServiceLevel => self.until[level] = eligible,
        }
        state.eligible
    }
}

/// A lane of a host's port.
#[derive(Clone, Debug)]
struct Lane {
    credits: Credits,
    /// Queue pairs that may send, in turn.
    ring: VecDeque<u32>,
}

/// The sending half of a port.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    host: HostId,
    lanes: Box<[Lane]>,
    /// Lanes whose rings are not empty.
    waiting: u32,
    replies: VecDeque<Reply>,
    /// Queue pairs that congestion control holds back: when, which of those first, lane, pair.
    delayed: BinaryHeap<Reverse<(u64, u64, u8, u32)>>,
    arbiter: Arbiter,
    updates: Updates,
    /// Picoseconds from flit to flit.
    pace: u32,
    /// The time at which the last packet went, and that at which it has left the link.
    start: u64,
    free: u64,
    /// The time at which the next packet may go.
    ready: u64,
    /// Since when credits are short.
    stalled: u64,
    /// The time at which to look again.
    pub wake: u64,
}

impl Sender {
    pub fn new(net: &Fabric, host: HostId, link: &Port) -> Self {
        let lane = Lane { credits: Credits::new(net.buffer_behind(link)), ring: VecDeque::new() };
        let updates = Updates::new(net, link);
        Self {
            host,
            lanes: vec![lane; usize::from(net.lanes) + 1].into(),
            waiting: 0,
            replies: VecDeque::new(),
            delayed: BinaryHeap::new(),
            arbiter: Arbiter::new(&net.tables),
            pace: link.flit.max(net.parameters.generator.ps() as u32),
            start: 0,
            free: 0,
            ready: updates.first_credits(link),
            updates,
            stalled: NEVER,
            wake: NEVER,
        }
    }

    fn ring(&mut self, lane: u8, pair: u32) {
        let Some(state) = self.lanes.get_mut(usize::from(lane)) else { return };
        state.ring.push_back(pair);
        self.waiting |= 1 << lane;
    }

    pub fn credit(&mut self, now: u64, credit: &Credit) {
        let Some(lane) = self.lanes.get_mut(usize::from(credit.lane)) else { return };
        lane.credits.hear(now, credit);
        if self.stalled != NEVER {
            self.wake = self.wake.min(now.max(self.ready));
        }
    }

    /// Checks that nothing waits and all credits are back.
    pub fn at_rest(&self, net: &Fabric, link: &Port) -> Result<(), String> {
        if self.waiting != 0 || !self.replies.is_empty() || !self.delayed.is_empty() {
            return Err("packets wait to be sent".to_owned());
        }
        for (number, lane) in self.lanes.iter().enumerate() {
            lane.credits
                .all_of(net.buffer_behind(link))
                .map_err(|credits| format!("lane {number} has {credits}"))?;
        }
        Ok(())
    }

    /// Returns true if no further notification may wait.
    pub fn is_full(&self, net: &Fabric) -> bool {
        let limit = net.parameters.congestion.as_ref().map_or(0, |control| control.notifications);
        self.replies.len() >= usize::from(limit)
    }

    pub fn reply(&mut self, reply: Reply) {
        if self.replies.is_empty() {
            self.wake = self.wake.min(self.ready.max(reply.at));
        }
        self.replies.push_back(reply);
    }

    /// Sends a packet if one can go at `now`, and says when to look again.
    pub fn run<O: Out>(
        &mut self,
        net: &Fabric,
        (port, link): (u16, &Port),
        flows: &mut Flows,
        now: u64,
        out: &mut O,
    ) {
        if now < self.ready {
            self.wake = self.ready;
            return;
        }
        while let Some(&Reverse((when, _, lane, pair))) = self.delayed.peek()
            && when <= now
        {
            self.delayed.pop();
            self.ring(lane, pair);
        }
        self.wake = self.delayed.peek().map_or(NEVER, |first| first.0.0);
        let packet = match self.next_reply(net, now) {
            Some(packet) => Some(packet),
            None => self.next_data(net, flows, now),
        };
        let Some(packet) = packet else { return };
        if O::LISTENS && self.stalled != NEVER {
            let record =
                Record::Stalled { port, lane: packet.lane, from: Time::from_ps(self.stalled) };
            out.record(Time::from_ps(now), record);
        }
        self.stalled = NEVER;
        self.wake = self.ready;
        if self.waiting == 0 && self.replies.is_empty() {
            self.wake = self.delayed.peek().map_or(NEVER, |first| first.0.0.max(self.ready));
        }
        let packet = self.dispatched(net, link, flows, packet);
        if O::LISTENS {
            let (lane, flits) = (packet.lane, u32::from(packet.flits));
            let end = self.start + packet.shape.offset(flits - 1) + u64::from(link.flit);
            let [start, end] = [self.start, end].map(Time::from_ps);
            out.record(Time::from_ps(now), Record::Sent { port, lane, flits, start, end });
        }
        if packet.kind == Kind::Tail && flows.connections.is_none() {
            out.left(Time::from_ps(self.end(net, link, &packet)), packet.id());
        }
        let packet = Packet { port: link.plug, ..packet };
        out.send(link.peer, Time::from_ps(self.start + link.head), Signal::Packet(packet));
    }

    /// Returns when the link has sent the packet that leaves.
    fn end(&self, net: &Fabric, link: &Port, packet: &Packet) -> u64 {
        let last = packet.shape.offset(u32::from(packet.flits) - 1) + u64::from(link.flit);
        self.start + last - net.parameters.short(link.flit, packet.last)
    }

    /// Returns a packet as it leaves. Where packets get lost, this decides if it is damaged, and
    /// starts the timer of its connection.
    fn dispatched(&self, net: &Fabric, link: &Port, flows: &mut Flows, packet: Packet) -> Packet {
        let (Some(connections), Some(losses)) = (&mut flows.connections, &net.parameters.losses)
        else {
            return packet;
        };
        let is_damaged = losses.damages(net, &packet, connections.next_index());
        if packet.is_data()
            && let Some(&pair) = flows.by_destination.get(&(packet.destination, packet.level))
        {
            let end = self.end(net, link, &packet);
            connections.sent(pair, &packet, end.saturating_add(losses.ack_timeout.ps()));
        }
        let stamp = if is_damaged { packet.stamp.damaged() } else { packet.stamp };
        Packet { stamp, ..packet }
    }

    /// Returns true if a lane has credits for a packet; if not, sets when to look again.
    fn has_credits(&mut self, net: &Fabric, lane: u8, flits: u8, now: u64) -> bool {
        if lane == net.lanes {
            return true;
        }
        let credits = &mut self.lanes[usize::from(lane)].credits;
        if credits.at(now) >= flits.into() {
            return true;
        }
        self.wake = self.wake.min(credits.when(now, flits.into()));
        self.stalled = self.stalled.min(now);
        false
    }

    /// A packet leaves: it takes its credits and keeps the port busy.
    fn send(&mut self, net: &Fabric, lane: u8, (flits, last): (u8, u8), now: u64) -> Shape {
        if lane != net.lanes {
            self.lanes[usize::from(lane)].credits.take(flits.into());
        }
        self.start = self.updates.start(self.free, now);
        let short = net.parameters.short(self.pace, last);
        self.ready = self.start + u64::from(flits) * u64::from(self.pace) - short;
        self.free = self.ready;
        Shape::even(self.pace)
    }

    fn next_reply(&mut self, net: &Fabric, now: u64) -> Option<Packet> {
        let &reply = self.replies.front()?;
        if reply.at > now {
            self.wake = self.wake.min(reply.at);
            return None;
        }
        if !self.has_credits(net, reply.lane, REPLY_FLITS, now) {
            return None;
        }
        self.replies.pop_front();
        let Reply { destination, level, lane, kind, psn, .. } = reply;
        let (source, id) = (self.host, MessageId(0));
        let stamp = Stamp::numbered(psn);
        let label = Label { source, destination, stamp, id, level, kind };
        let shape = self.send(net, lane, (REPLY_FLITS, FLIT as u8), now);
        Some(Packet { lane, ..Packet::new(label, shape, REPLY_FLITS, FLIT as u8) })
    }

    fn next_data(&mut self, net: &Fabric, flows: &mut Flows, now: u64) -> Option<Packet> {
        let mut ready = 0_u32;
        let mut sizes = [0_u8; 16];
        let mut waiting = self.waiting;
        while waiting != 0 {
            let lane = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            let Some(&pair) = self.lanes[lane].ring.front() else { continue };
            let level = usize::from(flows.pairs[pair as usize].level & 15);
            if flows.until[level] > now {
                self.wake = self.wake.min(flows.until[level]);
                continue;
            }
            let (_, flits, _) = flows.packet(net, pair);
            if self.has_credits(net, lane as u8, flits, now) {
                sizes[lane] = flits;
                ready |= 1 << lane;
            }
        }
        let lane = self.pick(net, ready, &sizes)?;
        let state = &mut self.lanes[usize::from(lane)];
        let pair = state.ring.pop_front()?;
        if state.ring.is_empty() {
            self.waiting &= !(1 << lane);
        }
        let (payload, flits, last) = flows.packet(net, pair);
        let (label, more) = flows.take(pair, payload, self.host);
        let shape = self.send(net, lane, (flits, last), now);
        let mut eligible = 0;
        if let Some(control) = &net.parameters.congestion {
            eligible = flows.pace(control, pair, now, self.ready - self.start, self.ready);
        } else if !more && flows.connections.is_none() {
            flows.by_destination.remove(&(label.destination, label.level));
            flows.free_pairs.push(pair);
        }
        if more {
            // Without a delay the queue pair keeps its turn for the time when the port is ready.
            flows.enqueue(self, lane, pair, eligible, self.ready);
        }
        Some(Packet { lane, ..Packet::new(label, shape, flits, last) })
    }

    fn pick(&mut self, net: &Fabric, ready: u32, sizes: &[u8; 16]) -> Option<u8> {
        if ready == 0 {
            return None;
        }
        if ready >> net.lanes & 1 == 1 {
            return Some(net.lanes);
        }
        if net.lanes == 1 {
            return Some(0);
        }
        let flits = |lane: u8| sizes[usize::from(lane)];
        self.arbiter.pick(&net.tables, ready, flits)
    }
}

/// The header by which a host's message is routed.
pub(super) fn header(source: HostId, destination: HostId, level: u8) -> Header {
    Header { source: source.0, destination: destination.0, level, choice: 0 }
}
