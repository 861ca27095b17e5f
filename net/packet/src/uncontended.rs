//! The times of a message that is alone in the network, as a closed form.

use network::Uncontended;
use topology::Header;
use units::Time;

use crate::{Fabric, fabric::Delays};

impl Fabric {
    /// The times of a message on an idle network, by the closed form of a chain of stages. `None`
    /// if the route does not lead there.
    ///
    /// With R routers, a packet of P flits takes the injection and the delivery, for each router
    /// its four stages, for each link a flit's time and the cable, and for each further flit the
    /// time of one on the slowest link. The next packets follow at that pace. Where a link has one
    /// channel for a packet's lane, packets in it are not pipelined: a packet then takes a cycle
    /// for each flit, route computation and virtual-channel allocation, if that is more than its
    /// time on the link.
    ///
    /// It is exact for buffers that cover the round trip of a credit and links whose time of a flit
    /// is a whole number of cycles, for messages of one packet and of packets whose flits take at
    /// least the time of those two stages; else messages may take longer.
    pub fn uncontended(&self, header: &Header, bytes: u64) -> Option<Uncontended> {
        let Delays { cycle, route, vc_allocation, switch_allocation, traversal, injection, .. } =
            self.delays;
        let router = route + vc_allocation + switch_allocation + traversal;
        let mut latency = injection + self.delays.delivery;
        let (mut slowest, mut leaving, mut draining) = (0, 0, 0);
        // Packets of an adaptive routing find other ways and channels.
        let adaptive = self.routes().is_adaptive();
        let mut single = self.channels == 1;
        self.walk(header, |device, link, lane| {
            let flit = u64::from(link.flit);
            latency += link.cable + flit;
            slowest = slowest.max(flit);
            if self.is_host(device) {
                leaving = flit;
                single |= self.injection_channels() == 1;
            } else {
                latency += router;
                single |= !adaptive && self.channels_of(lane, link).len() == 1;
            }
            draining = flit;
        })?;
        let (packets, flits) = self.parameters().message_flits(bytes);
        let full = u64::from(self.parameters().flits(self.parameters().mtu));
        let alone = full * cycle + route + vc_allocation;
        let bubble = if single { alone.saturating_sub(full * slowest) } else { 0 };
        let time = |per_flit: u64| per_flit.saturating_mul(flits);
        let body = slowest.saturating_mul(flits - 1);
        let bubbles = bubble.saturating_mul(packets - 1);
        Some(Uncontended {
            latency: Time::from_ps(latency - draining),
            transit: Time::from_ps(latency.saturating_add(body).saturating_add(bubbles)),
            leaving: Time::from_ps(time(leaving).saturating_add(bubbles)),
            draining: Time::from_ps(time(draining)),
        })
    }
}
