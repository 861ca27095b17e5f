//! Route computation, and the buffers before it.
//!
//! A packet enters it when it is the first of its input channel. It takes `route`; what it decides
//! does not depend on load, which counts in virtual-channel allocation.

use network::Record;
use topology::{Candidates, Header};
use units::Time;

use super::{NONE, Router, Stored};
use crate::{fabric::Fabric, model::Out, signal::Packet};

impl Router {
    /// The head of a packet has arrived.
    pub(super) fn arrive(&mut self, net: &Fabric, now: u64, packet: Packet) {
        let ports = net.ports(self.device).len();
        if usize::from(packet.port) >= ports || usize::from(packet.channel) >= self.channels {
            return;
        }
        if self.stored == 0 {
            self.phase = now;
        }
        self.stored += 1;
        let number = self.number(packet.port, packet.channel);
        let id =
            self.store(Stored { packet, since: now, began: 0, arrived: 1, sent: 0, next: NONE });
        let input = &mut self.inputs[number as usize];
        if input.head == NONE {
            (input.head, input.tail) = (id, id);
            let begin = self.cycle_from(net, now);
            self.begin_route(net, number, begin);
        } else {
            let tail = std::mem::replace(&mut input.tail, id);
            self.packets[tail as usize].next = id;
        }
    }

    /// A further flit of the last packet of an input channel has arrived.
    pub(super) fn follow(&mut self, net: &Fabric, now: u64, (port, channel): (u16, u8)) {
        let number = self.number(port, channel);
        let Some(input) = self.inputs.get(number as usize) else { return };
        let Some(last) = self.packets.get_mut(input.tail as usize) else { return };
        last.arrived += 1;
        if input.active && input.head == input.tail {
            self.refresh(number, now);
            self.wake(net, now);
        }
    }

    /// The first packet of an input channel enters the stage in the cycle at `begin`.
    pub(super) fn begin_route(&mut self, net: &Fabric, input: u32, begin: u64) {
        let known = begin + net.delays.route;
        self.routing.push_back((known, input));
        self.next = self.next.min(known);
    }

    /// Packets whose route is known ask for a virtual channel.
    pub(super) fn routed<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        while let Some(&(known, input)) = self.routing.front()
            && known <= now
        {
            self.routing.pop_front();
            self.inputs[input as usize].only = self.only(net, input);
            self.asking.set(input, true);
            self.grantable = true;
            if O::LISTENS {
                self.queued(net, input, true, now, out);
            }
        }
    }

    /// Returns the output channels of the only port that the first packet of an input channel may
    /// take, as in [`Input::only`](super::Input).
    fn only(&self, net: &Fabric, input: u32) -> (u32, u32) {
        let mut candidates = Candidates::new();
        self.candidates(net, input, &mut candidates);
        let [only] = candidates.as_slice() else { return (NONE, NONE) };
        let link = net.port(self.device, only.port).filter(|_| only.ports == 1);
        let Some(link) = link else { return (NONE, NONE) };
        let (first, channels) = (self.number(only.port, 0), net.channels_of(only.lane, link));
        (first + channels.start, first + channels.end)
    }

    /// Writes the outputs that the first packet of an input channel may take.
    #[inline]
    pub(super) fn candidates(&self, net: &Fabric, input: u32, into: &mut Candidates) {
        into.clear();
        let Some(Stored { packet, .. }) = self.head(input) else { return };
        let Some(port) = net.port(self.device, packet.port) else { return };
        let lane = net.lane(port, packet.channel);
        let (source, destination) = (packet.source.0, packet.destination.0);
        let header = Header { source, destination, level: 0, choice: packet.choice };
        net.routes().candidates(self.device.0, packet.port, lane, &header, into);
    }

    /// Records that a packet has begun or ceased to wait for an output channel. It is counted at
    /// the first channel of its first candidate.
    pub(super) fn queued<O: Out>(
        &mut self,
        net: &Fabric,
        input: u32,
        begins: bool,
        now: u64,
        out: &mut O,
    ) {
        let mut candidates = Candidates::new();
        self.candidates(net, input, &mut candidates);
        let Some(first) = candidates.as_slice().first() else { return };
        let Some(port) = net.port(self.device, first.port) else { return };
        let channel = net.channels_of(first.lane, port).start as u8;
        let flits = self.head(input).map_or(0, |head| head.packet.flits.into());
        let number = self.number(first.port, channel);
        let asked = &mut self.outputs[number as usize].asked;
        *asked = if begins { *asked + flits } else { asked.saturating_sub(flits) };
        let record = Record::Queue { port: first.port, lane: channel, flits: *asked };
        out.record(Time::from_ps(now), record);
    }

    fn store(&mut self, stored: Stored) -> u32 {
        if self.free == NONE {
            self.packets.push(stored);
            return self.packets.len() as u32 - 1;
        }
        let id = self.free;
        let place = &mut self.packets[id as usize];
        self.free = place.next;
        *place = stored;
        id
    }
}
