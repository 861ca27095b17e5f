//! Switch traversal and the link.
//!
//! A flit that is granted the switch leaves its buffer when the allocation is done, crosses the
//! switch, and goes on the link when that is free. It has arrived when its last bit has.

use network::Record;
use units::Time;

use super::{NONE, Router};
use crate::{
    fabric::{Fabric, Port},
    model::Out,
    signal::{Packet, Signal},
};

impl Router {
    /// Sends the flits that have been granted the switch.
    pub(super) fn traverse<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        let grants = std::mem::take(&mut self.switch_requests);
        for grant in &grants {
            let (port, channel) = (grant.input as u16, grant.channel as u8);
            let next = channel + 1;
            let wraps = usize::from(next) == self.channels;
            self.turns[usize::from(port)] = if wraps { 0 } else { next };
            self.send(net, now, self.number(port, channel), out);
        }
        self.switch_requests = grants;
    }

    /// Sends the next flit of an input channel.
    fn send<O: Out>(&mut self, net: &Fabric, now: u64, input: u32, out: &mut O) {
        let number = self.inputs[input as usize].output;
        let (port, channel) = self.place(number);
        let link = net.ports(self.device)[usize::from(port)];
        let across = now + net.delays.switch_allocation + net.delays.traversal;
        let free = &mut self.links[usize::from(port)];
        let start = across.max(*free);
        let end = start + u64::from(link.flit);
        *free = end;
        let head = self.inputs[input as usize].head;
        let stored = &mut self.packets[head as usize];
        let first = stored.sent == 0;
        stored.sent += 1;
        if first {
            stored.began = start;
        }
        let packet = stored.packet;
        let last = stored.sent == packet.flits;
        let signal = if first {
            let hops = packet.hops.saturating_add(1);
            Signal::Head(Packet { port: link.plug, channel, hops, ..packet })
        } else {
            Signal::Flit { port: link.plug, channel }
        };
        out.send(link.peer, Time::from_ps(end + link.cable), signal);
        if O::LISTENS && last {
            let (start, end) = (Time::from_ps(stored.began), Time::from_ps(end));
            let flits = packet.flits.into();
            let record = Record::Sent { port, lane: channel, flits, start, end };
            out.record(Time::from_ps(now), record);
        }
        self.outputs[number as usize].credits -= 1;
        self.return_credit(net, now, input, out);
        if last {
            self.release(net, now, input);
        } else {
            self.refresh(input, now);
        }
    }

    /// The tail of the first packet of an input channel has been granted the switch: the next one
    /// begins in the next cycle.
    fn release(&mut self, net: &Fabric, now: u64, number: u32) {
        let input = &mut self.inputs[number as usize];
        let gone = std::mem::replace(&mut input.output, NONE);
        input.active = false;
        self.outputs[gone as usize].owner = NONE;
        let place = &mut self.packets[input.head as usize];
        let behind = std::mem::replace(&mut place.next, self.free);
        self.free = input.head;
        input.head = behind;
        self.stored -= 1;
        if behind == NONE {
            input.tail = NONE;
        }
        self.ready.set(number, false);
        if behind != NONE {
            self.begin_route(net, number, now + net.delays.cycle);
        }
        self.grantable |= !self.asking.is_empty();
    }

    /// The link by which packets of an input channel come.
    pub(super) fn link_before<'n>(&self, net: &'n Fabric, input: u32) -> Option<(&'n Port, u8)> {
        let (port, channel) = self.place(input);
        Some((net.port(self.device, port)?, channel))
    }
}
