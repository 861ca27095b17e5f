//! Switch traversal and the link.
//!
//! A flit that is granted the switch leaves its buffer when the allocation is done, crosses the
//! switch, and goes on the link when that is free. It has arrived when its last bit has.

use network::Record;
use units::Time;

use super::{Credits, Input, NONE, Output, Router, Stored};
use crate::{
    allocator::Request,
    fabric::{Fabric, Port},
    model::Out,
    signal::{Packet, Signal},
    stream::Stream,
};

impl Router {
    /// Sends the flits that have been granted the switch.
    pub(super) fn traverse<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        grants: &[Request],
        out: &mut O,
    ) {
        for grant in grants {
            let (port, channel) = (grant.input as u16, grant.channel as u8);
            let next = channel + 1;
            let wraps = usize::from(next) == self.channels;
            self.ports[usize::from(port)].turn = if wraps { 0 } else { next };
            self.send(net, now, self.number(port, channel), out);
        }
    }

    /// Sends the next flit of an input channel.
    fn send<O: Out>(&mut self, net: &Fabric, now: u64, input: u32, out: &mut O) {
        let number = self.inputs[input as usize].output;
        let Output { port, channel, link, .. } = self.outputs[number as usize];
        let across = now + net.delays.switch_allocation + net.delays.traversal;
        let start = across.max(self.ports[usize::from(port)].free);
        let end = start + u64::from(link.flit);
        self.ports[usize::from(port)].free = end;
        let (arrival, cycle) = (end + link.cable, net.delays.cycle);
        let is_faster = u64::from(link.flit) > cycle;
        if O::LISTENS || is_faster {
            self.count_flits(input, now);
        }
        let Input { head, tail, arriving, .. } = self.inputs[input as usize];
        let stored = &mut self.packets[head as usize];
        stored.sent += 1;
        let left = stored.packet.flits - stored.sent;
        // Flits that have come are sent in each cycle, the others as they come.
        let streams = head == tail && stored.arrived < stored.packet.flits;
        let pace = if streams { arriving.period.max(cycle as u32) } else { cycle as u32 };
        let credits = Credits { at: now, left, period: pace, prompt: false };
        let credits =
            if is_faster { caught_up(credits, cycle, stored, &arriving) } else { credits };
        let Input { leaving, returned, .. } = &mut self.inputs[input as usize];
        if stored.sent == 1 {
            stored.began = start;
            if left > 0 {
                // The pace of the last packet's credits says nothing about those of this one.
                *returned = Stream::ENDED;
            }
            let stride = if left > 0 { (pace / link.flit).clamp(1, u8::MAX.into()) } else { 1 };
            *leaving = Stream::after(arrival, stride * link.flit, left);
            let (hops, stride) = (stored.packet.hops.saturating_add(1), stride as u8);
            let packet = Packet { port: link.plug, channel, hops, stride, ..stored.packet };
            out.send(link.peer, Time::from_ps(arrival), Signal::Head(packet));
        } else {
            tell_of_flit(leaving, (link, channel), arrival, left, out);
        }
        if O::LISTENS && left == 0 {
            self.record_sent(net, now, input, end, out);
        }
        self.outputs[number as usize].credits -= 1;
        self.note_granted(net, now, (port, channel));
        if let Some(waiting) = self.waiting.get_mut(usize::from(port)) {
            *waiting = waiting.saturating_sub(1);
        }
        self.return_credit(net, input, credits, out);
        if left == 0 {
            self.release(net, now, input, out);
        } else {
            self.foretold.set(input, true);
            if self.has_flit(input, now) && self.outputs[number as usize].credits == 0 {
                self.note_stall(input, now);
            }
            self.begin_stream(net, now, input);
        }
    }

    /// Records the first packet of an input channel, whose last flit is on the link until `end`.
    fn record_sent<O: Out>(&self, net: &Fabric, now: u64, input: u32, end: u64, out: &mut O) {
        let Input { head, output, .. } = self.inputs[input as usize];
        let Stored { packet, began, .. } = self.packets[head as usize];
        let (port, lane) = self.place(output);
        let port = net.port_of_topology(self.device, port);
        let (start, end) = (Time::from_ps(began), Time::from_ps(end));
        let record = Record::Sent { port, lane, flits: packet.flits.into(), start, end };
        out.record(Time::from_ps(now), record);
    }

    /// The tail of the first packet of an input channel has been granted the switch: the next one
    /// begins in the next cycle.
    fn release<O: Out>(&mut self, net: &Fabric, now: u64, number: u32, out: &mut O) {
        let input = &mut self.inputs[number as usize];
        let gone = std::mem::replace(&mut input.output, NONE);
        self.count_rival(number, gone, false);
        let input = &mut self.inputs[number as usize];
        self.outputs[gone as usize].owner = NONE;
        let place = &mut self.packets[input.head as usize];
        let behind = std::mem::replace(&mut place.next, self.free);
        self.free = input.head;
        input.head = behind;
        self.stored -= 1;
        if behind == NONE {
            input.tail = NONE;
        }
        self.active.set(number, false);
        self.foretold.set(number, false);
        if behind != NONE {
            self.begin_route(net, number, now + net.delays.cycle);
        }
        self.grantable |= !self.asking.is_empty();
        if self.rings.is_some() {
            self.pass_mark(net, now, number, out);
        }
    }
}

/// Tells the next device of a flit that arrives otherwise than was foretold.
#[inline]
fn tell_of_flit<O: Out>(
    leaving: &mut Stream,
    (link, channel): (Port, u8),
    arrival: u64,
    left: u16,
    out: &mut O,
) {
    let foretold = leaving.time_of(1);
    if foretold < arrival {
        // The link is busy with flits of other channels: this one comes later.
        let signal = Signal::NoFlit { port: link.plug, channel };
        out.send(link.peer, Time::from_ps(foretold), signal);
    }
    if leaving.emit(arrival, left, link.flit, false) {
        let signal = Signal::Flits { port: link.plug, channel, period: leaving.period };
        out.send(link.peer, Time::from_ps(arrival), signal);
    }
}

/// Foretells the credits of a packet at a router that is faster than its links: flits that have
/// come are sent in each cycle until they have caught up with those that come, and so their credits
/// are foretold alone.
#[inline]
fn caught_up(credits: Credits, cycle: u64, stored: &Stored, arriving: &Stream) -> Credits {
    let Credits { at: now, left, period, .. } = credits;
    let pace = u64::from(period);
    if pace <= cycle {
        return credits;
    }
    let here = u64::from(stored.arrived - stored.sent);
    let lead = (now + here * cycle + pace).saturating_sub(arriving.next);
    let row = here + lead / (pace - cycle);
    if row == 0 {
        return Credits { prompt: now + pace < arriving.next + cycle, ..credits };
    }
    Credits { left: row.min(left.into()) as u16, period: cycle as u32, ..credits }
}
