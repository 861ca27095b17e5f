//! Injection control: packets in transit go before packets from hosts, so that a network does not
//! fill up beyond the load that it carries best.
//!
//! Three rules, each of which a parameter turns on:
//!
//! - *In-transit priority* (IPR). At the arbitration for an output channel, with a probability P,
//!   packets from hosts compete only if no packet in transit asks for it.
//! - *Local buffer restriction* (LBR). A packet from a host may take a channel that an adaptive
//!   routing prefers to its escape only if the local buffer of the same ring and channel has room
//!   for B packets. That is the buffer whose packets go straight on by this channel. On a torus
//!   it is behind the port with the number that the next router gives to the link, because all
//!   routers number their ports alike.
//!
//! - *Global threshold*. While more than a share of all buffers is full, as far as a router knows
//!   (see [`crate::census`]), packets from hosts are held there, save those to its own hosts.
//!
//! With a time-out the first two apply in a router only while a packet at the head of an input
//! channel has waited longer than that for an output channel.
//!
//! Source: the simulator FSIN of INSEE, whose parameters `intransit_pr`, `bub_to_adap`, `global_cc`
//! and `timeout_upper` these are.

use super::{NONE, Only, Router};
use crate::{allocator::Request, fabric::Fabric};

impl Router {
    /// Takes away the requests of packets from hosts for output channels at which packets in
    /// transit go first and one asks.
    pub(super) fn prefer_transit(&self, net: &Fabric, now: u64, requests: &mut Vec<Request>) {
        let of_host = |request: &Request| net.is_of_host(self.device, self.place(request.input).0);
        if net.parameters().transit_priority == 0.0 || !requests.iter().any(of_host) {
            return;
        }
        if !self.is_congested(net, now) {
            return;
        }
        let mut outputs: Vec<u32> =
            requests.iter().filter(|r| !of_host(r)).map(|request| request.output).collect();
        outputs.sort_unstable();
        outputs.dedup();
        outputs.retain(|&output| net.prefers_transit(self.device, now, output));
        requests
            .retain(|request| !of_host(request) || outputs.binary_search(&request.output).is_err());
    }

    /// Returns true if the packet of an input channel may take an output channel
    /// under the restriction of the local buffer. If not, it asks again in the next cycle.
    pub(super) fn has_local_room(
        &mut self,
        net: &Fabric,
        now: u64,
        input: u32,
        output: u32,
    ) -> bool {
        let packets = net.parameters().local_buffer;
        if packets == 0 || !net.is_of_host(self.device, self.place(input).0) {
            return true;
        }
        if !self.is_congested(net, now) {
            return true;
        }
        let (port, channel) = self.place(output);
        let Some(link) = self.port(port) else { return true };
        if net.is_host(link.peer) || net.is_of_host(self.device, link.plug) {
            return true;
        }
        let local = self.number(link.plug, channel);
        if self.streaming.has(local) {
            self.settle(net, now, local);
        }
        let flits = self.head(input).map_or(0, |head| u32::from(head.packet.flits));
        let free = net.buffer.saturating_sub(self.occupied(local, now));
        let has = free >= packets * flits;
        self.grantable |= !has;
        has
    }

    /// True if the rules of the time-out apply: a packet at the head of an input channel has waited
    /// longer than that for an output channel, or there is no time-out.
    fn is_congested(&self, net: &Fabric, now: u64) -> bool {
        let Some(most) = net.parameters().congested_after else { return true };
        let mut from = 0;
        while let Some(input) = self.asking.first_from(from) {
            from = input + 1;
            let since = self.asked_since.get(input as usize).copied().unwrap_or(now);
            if now.saturating_sub(since) > most.ps() {
                return true;
            }
        }
        false
    }

    /// True if the packet at the head of an input channel comes from a host, goes to another router
    /// and is held back as the network is full.
    #[inline]
    pub(super) fn is_held(&self, net: &Fabric, input: u32) -> bool {
        if !self.is_full(net) || !net.is_of_host(self.device, self.place(input).0) {
            return false;
        }
        // Only where one port is left can it be that of a host.
        let only = self.inputs[input as usize].only;
        only == Only::NONE || !net.is_of_host(self.device, self.place(only.channels().start).0)
    }

    /// Flits in the buffer of an input channel at `now`.
    pub(super) fn occupied(&self, input: u32, now: u64) -> u32 {
        let Some(channel) = self.inputs.get(input as usize) else { return 0 };
        let mut foretold = channel.arriving;
        let mut flits = u32::from(foretold.take(now));
        let mut id = channel.head;
        while id != NONE {
            let stored = &self.packets[id as usize];
            flits += u32::from(stored.arrived - stored.sent);
            id = stored.next;
        }
        flits
    }
}
