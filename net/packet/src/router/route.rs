//! Route computation.
//!
//! A packet enters it when it is the first of its input channel. It takes `route`. Where a routing
//! chooses between the shortest way and a detour, the router of the source, and those behind it at
//! which the packet may still leave its shortest way, decide at its end, by the queues of the two
//! ways. Among several candidates load decides in virtual-channel allocation, or here where the
//! routing weighs ports.

use network::Record;
use topology::{Candidate, Candidates, Header, Hop};
use units::Time;

use super::{Only, Output, Router, Stored};
use crate::{Packet, fabric::Fabric, model::Out};

impl Router {
    /// The first packet of an input channel enters the stage in the cycle at `begin`.
    pub(super) fn begin_route(&mut self, net: &Fabric, input: u32, begin: u64) {
        let known = begin + net.delays.route;
        self.routing.enter(known, input);
        self.next = self.next.min(known);
    }

    /// Packets whose route is known ask for a virtual channel.
    pub(super) fn routed<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        while let Some(input) = self.routing.leave(now) {
            self.decide(net, now, input);
            if net.routes().weighs_ports() {
                self.settle_all(net, now);
            }
            let only = self.only(net, now, input);
            self.inputs[input as usize].only = only;
            if !self.waiting.is_empty() && only != Only::NONE {
                self.wait_for(input, only.channels().start);
            }
            self.asking.set(input, true);
            if let Some(since) = self.asked_since.get_mut(input as usize) {
                *since = now;
            }
            self.grantable = true;
            if O::LISTENS {
                self.queued(net, input, true, now, out);
            }
        }
    }

    /// Decides if a packet takes its shortest way or its detour, where it has a choice.
    fn decide(&mut self, net: &Fabric, now: u64, input: u32) {
        let Some(&Stored { packet, .. }) = self.head(input) else { return };
        if packet.choice == 0 {
            return;
        }
        let Some(link) = self.port(packet.port) else { return };
        let port = net.port_of_topology(self.device, packet.port);
        let place = (port, net.lane(&link, packet.channel));
        let (fresh, header) = (net.is_host(link.peer), header(&packet));
        let ways = net.routes().alternatives(self.device.0, place, fresh, &header);
        let Some(ways) = ways else { return };
        self.settle_all(net, now);
        let [minimal, detour] = if self.waiting.is_empty() {
            [ways.minimal, ways.detour].map(|port| self.used(net, now, port, None))
        } else {
            let lanes = ways.lanes.map_or([None; 2], |lanes| lanes.map(Some));
            [0, 1].map(|way| {
                let header = Header { choice: ways.choices[way], ..header };
                self.queued_on_way(net, now, (place, lanes[way]), &header)
            })
        };
        let [stays, leaves] = ways.choices;
        let choice = if ways.prefers_minimal(minimal, detour) { stays } else { leaves };
        let head = self.inputs[input as usize].head;
        self.packets[head as usize].packet.choice = choice;
    }

    /// The flits queued on the way of a packet, as far as this router knows of them; with a lane
    /// only those on its channels here.
    fn queued_on_way(
        &self,
        net: &Fabric,
        now: u64,
        ((port, lane), of_lane): ((u16, u8), Option<u8>),
        header: &Header,
    ) -> u64 {
        let hop = net.hop(self.device, port, lane, header);
        let here = self.queue(net, now, hop.port, of_lane);
        let Some(sharing) = &net.sharing else { return here };
        let link = self.port(hop.port).filter(|_| sharing.with.contains(&hop.port));
        let Some(link) = link else { return here };
        let next = net.hop(link.peer, link.plug, hop.lane, header).port;
        here + self.known(net, hop.port, next)
    }

    /// Counts the flits of the first packet of an input channel at the port of an output channel.
    fn wait_for(&mut self, input: u32, output: u32) {
        let flits = self.head(input).map_or(0, |head| head.packet.flits.into());
        if let Some(&Output { port, .. }) = self.outputs.get(output as usize)
            && let Some(waiting) = self.waiting.get_mut(usize::from(port))
        {
            *waiting += flits;
        }
    }

    /// Returns the output channels of the only port that the first packet of an input channel may
    /// take, if its routing offers one or weighs ports.
    fn only(&self, net: &Fabric, now: u64, input: u32) -> Only {
        let Hop { port, lane } = if net.routes().has_candidates() {
            let mut candidates = Candidates::new();
            self.candidates(net, input, &mut candidates);
            let only = match candidates.as_slice() {
                &[Candidate { port, ports: 1, lane, .. }] => Some(Hop { port, lane }),
                all if net.routes().weighs_ports() => self.lightest(net, now, input, all),
                _ => None,
            };
            let Some(only) = only else { return Only::NONE };
            only
        } else {
            let Some(Stored { packet, .. }) = self.head(input) else { return Only::NONE };
            let lane = net.lane(&self.link(input), packet.channel);
            let port = net.port_of_topology(self.device, packet.port);
            net.hop(self.device, port, lane, &header(packet))
        };
        let Some(link) = self.port(port) else { return Only::NONE };
        Only::new(&self.outputs_by(net, port, lane, &link))
    }

    /// Returns the port of several candidates with the fewest flits, queued and of the packet
    /// itself, times the links that are left; of equal ones that with fewer links, and then the
    /// next from a random one on.
    fn lightest(
        &self,
        net: &Fabric,
        now: u64,
        input: u32,
        candidates: &[Candidate],
    ) -> Option<Hop> {
        let own = self.head(input).map_or(0, |head| u64::from(head.packet.flits));
        let from =
            net.arbiters.number(self.device.0, now.rotate_left(32) ^ u64::from(input)) as u16;
        let ports = candidates.iter().flat_map(|candidate| {
            let ports = candidate.port..candidate.port.saturating_add(candidate.ports);
            ports.map(|port| (Hop { port, lane: candidate.lane }, candidate.links))
        });
        let joined = ports.filter(|(hop, _)| self.port(hop.port).is_some());
        let lightest = joined.min_by_key(|(hop, links)| {
            let queued = self.queue(net, now, hop.port, None) + own;
            (queued * u64::from(*links), *links, hop.port.wrapping_sub(from))
        });
        lightest.map(|(hop, _)| hop)
    }

    /// Writes the outputs that the first packet of an input channel may take.
    #[inline]
    pub(super) fn candidates(&self, net: &Fabric, input: u32, into: &mut Candidates) {
        into.clear();
        let Some(Stored { packet, .. }) = self.head(input) else { return };
        let Some(port) = self.port(packet.port) else { return };
        let lane = net.lane(&port, packet.channel);
        let port = net.port_of_topology(self.device, packet.port);
        net.routes().candidates(self.device.0, port, lane, &header(packet), into);
    }

    /// Records that a packet has begun or ceased to wait for an output channel. It is counted at
    /// the first channel of the port that it may take, or of its first candidate.
    pub(super) fn queued<O: Out>(
        &mut self,
        net: &Fabric,
        input: u32,
        begins: bool,
        now: u64,
        out: &mut O,
    ) {
        let number = match self.inputs[input as usize].only {
            Only::NONE => {
                let mut candidates = Candidates::new();
                self.candidates(net, input, &mut candidates);
                let Some(first) = candidates.as_slice().first() else { return };
                let Some(link) = self.port(first.port) else { return };
                self.outputs_by(net, first.port, first.lane, &link).start
            }
            only => only.channels().start,
        };
        let flits = self.head(input).map_or(0, |head| head.packet.flits.into());
        let (port, channel) = self.place(number);
        let asked = &mut self.outputs[number as usize].asked;
        *asked = if begins { *asked + flits } else { asked.saturating_sub(flits) };
        let port = net.port_of_topology(self.device, port);
        let record = Record::Queue { port, lane: channel, flits: *asked };
        out.record(Time::from_ps(now), record);
    }
}

/// Returns the fields of a packet that its routing needs.
const fn header(packet: &Packet) -> Header {
    let (source, destination) = (packet.source.0, packet.destination.0);
    Header { source, destination, level: 0, choice: packet.choice }
}
