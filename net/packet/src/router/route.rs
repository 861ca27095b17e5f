//! Route computation.
//!
//! A packet enters it when it is the first of its input channel. It takes `route`. Where a routing
//! chooses between the shortest way and a detour, the router of the source decides at its end, by
//! the credits that are out for the two ports. Among several candidates load decides in
//! virtual-channel allocation.

use network::Record;
use topology::{Candidates, Header};
use units::Time;

use super::{NONE, Router, Stored};
use crate::{Packet, fabric::Fabric, model::Out};

impl Router {
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
            self.decide(net, input);
            self.inputs[input as usize].only = self.only(net, input);
            self.asking.set(input, true);
            self.grantable = true;
            if O::LISTENS {
                self.queued(net, input, true, now, out);
            }
        }
    }

    /// Takes the detour away from a packet that comes from a host if its shortest way is preferred.
    fn decide(&mut self, net: &Fabric, input: u32) {
        let Some(&Stored { packet, .. }) = self.head(input) else { return };
        let from_host =
            net.port(self.device, packet.port).is_some_and(|port| net.is_host(port.peer));
        if packet.choice == 0 || !from_host {
            return;
        }
        let header = header(&packet);
        let ways = net.routes().alternatives(self.device.0, packet.port, &header);
        let Some(ways) = ways else { return };
        let [minimal, detour] = [ways.minimal, ways.detour].map(|port| self.used(net, port));
        if ways.prefers_minimal(minimal, detour) {
            let head = self.inputs[input as usize].head;
            self.packets[head as usize].packet.choice = 0;
        }
    }

    /// The flits that have been granted a port and whose credits are not back.
    fn used(&self, net: &Fabric, port: u16) -> u64 {
        let first = self.number(port, 0) as usize;
        let outputs = &self.outputs[first..first + self.channels];
        outputs.iter().map(|output| u64::from(net.buffer - output.credits)).sum()
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
        net.routes().candidates(self.device.0, packet.port, lane, &header(packet), into);
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
}

/// Returns the fields of a packet that its routing needs.
const fn header(packet: &Packet) -> Header {
    let (source, destination) = (packet.source.0, packet.destination.0);
    Header { source, destination, level: 0, choice: packet.choice }
}
