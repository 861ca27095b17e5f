//! Virtual-channel allocation: a packet gets a channel of the next buffer.
//!
//! An input channel asks for all free channels of the best candidate. That is one of the highest
//! priority that has free channels; among its ports, and among candidates of equal priority, the
//! port whose free channels have most credits. A channel is free if no packet holds it and, under
//! virtual cut-through, the buffer has room for the whole packet; under bubble flow control, places
//! for it and, where it enters a ring, for another one.
//!
//! Under wormhole switching a packet takes a channel other than its escape only when the next
//! buffer is empty, its credits are back, or it has room for the whole packet. A head behind the
//! tail of another packet cannot ask for its escape, and packets that each wait behind the next
//! one's tail would wait for ever. A packet that fits holds no other buffer while it waits there.
//! Channels of the escape may hold several packets: they lead to each other in no circle.
//!
//! Sources: Duato, "A new theory of deadlock-free adaptive routing in wormhole networks", 1993,
//! which assumes that a buffer holds one packet; Ma et al., "Whole packet forwarding", 2012, for
//! those that fit.

use topology::Candidate;

use super::{NONE, Only, Output, Router, Scratch};
use crate::{
    allocator::Request,
    arbiter::Draw,
    fabric::{Fabric, Port},
    model::Out,
    stream::NEVER,
};

impl Router {
    /// Asks for channels of the best candidates and grants them, on the state at the beginning of
    /// the cycle. The grants take effect in [`Router::take_channels`].
    pub(super) fn allocate_channels<O: Out>(
        &mut self,
        net: &Fabric,
        draw: &Draw,
        Scratch { channel_requests: requests, candidates, work, .. }: &mut Scratch,
        out: &mut O,
    ) {
        requests.clear();
        let foretold = self.grantable_at <= draw.now;
        if !std::mem::take(&mut self.grantable) && !foretold {
            return;
        }
        self.grantable_at = NEVER;
        let mut from = 0;
        while let Some(input) = self.asking.first_from(from) {
            from = input + 1;
            let only = self.inputs[input as usize].only;
            let is_taken = |number: u32| self.outputs[number as usize].owner != NONE;
            if only != Only::NONE && only.channels().all(is_taken) {
                continue;
            }
            let Some(head) = self.head(input) else { continue };
            if self.is_held(net, input) {
                continue;
            }
            let (needs, since) = (net.needs(head.packet.flits), head.since);
            let mut priority = 0;
            let channels = match only {
                Only::NONE => {
                    self.candidates(net, input, candidates);
                    let all = candidates.as_slice();
                    let best = self.best(net, draw.now, (input, needs), all, out);
                    let Some((port, link, lane, of_best)) = best else { continue };
                    priority = of_best;
                    self.outputs_by(net, port, lane, &link)
                }
                only => only.channels(),
            };
            for number in channels {
                let needed = needs[usize::from(priority > 0)];
                if self.is_free(net, draw.now, (input, number), needed, out)
                    && (priority == 0 || self.has_local_room(net, draw.now, input, number))
                {
                    requests.push(Request { input, output: number, since, channel: 0 });
                }
            }
        }
        if !requests.is_empty() {
            self.prefer_transit(net, draw.now, requests);
            self.vc_allocator.allocate(requests, work, draw);
            // Whoever lost asks again in the next cycle.
            self.grantable = true;
        }
    }

    /// Returns true if the first packet of an input channel, which needs so many credits itself,
    /// may take an output channel.
    #[inline]
    fn is_free<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        (input, number): (u32, u32),
        needed: u32,
        out: &mut O,
    ) -> bool {
        if self.outputs[number as usize].owner != NONE {
            return false;
        }
        let rings = self.rings.is_some();
        let needed = if rings { self.credits_for(net, input, number, needed) } else { needed };
        if self.outputs[number as usize].credits < needed {
            self.take_credits(net, number, now + 1, out);
        }
        let Output { credits, returning, .. } = self.outputs[number as usize];
        if credits < needed {
            self.grantable_at = self.grantable_at.min(returning.time_of(needed - credits));
            if rings {
                self.want_mark_away(net, input, number);
            }
        }
        credits >= needed
    }

    /// The port, lane and priority of several candidates that the packet of an input channel, which
    /// needs so many credits, asks for.
    fn best<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        (input, needs): (u32, [u32; 2]),
        candidates: &[Candidate],
        out: &mut O,
    ) -> Option<(u16, Port, u8, u8)> {
        let ports = candidates.iter().flat_map(|candidate| {
            let ports = candidate.port..candidate.port.saturating_add(candidate.ports);
            ports.map(move |port| (candidate.priority, port, candidate.lane))
        });
        let rated = ports.filter_map(|(priority, port, lane)| {
            let link = self.port(port)?;
            let (mut free, mut credits) = (false, 0);
            for number in self.outputs_by(net, port, lane, &link) {
                self.take_credits(net, number, now + 1, out);
                let needed = needs[usize::from(priority > 0)];
                if self.is_free(net, now, (input, number), needed, out)
                    && (priority == 0 || self.has_local_room(net, now, input, number))
                {
                    free = true;
                    credits += self.outputs[number as usize].credits;
                }
            }
            free.then_some(((priority, credits), (port, link, lane, priority)))
        });
        // Of equal ones the first.
        let better = |best: ((u8, u32), _), next: ((u8, u32), _)| {
            if next.0 > best.0 { next } else { best }
        };
        rated.reduce(better).map(|(_, choice)| choice)
    }

    /// The packets that were granted a channel hold it from now on, and compete for the switch when
    /// the allocation is done.
    pub(super) fn take_channels<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        grants: &[Request],
        out: &mut O,
    ) {
        for grant in grants {
            if O::LISTENS {
                self.queued(net, grant.input, false, now, out);
            }
            self.asking.set(grant.input, false);
            self.outputs[grant.output as usize].owner = grant.input;
            self.inputs[grant.input as usize].output = grant.output;
            self.allocated.enter(now + net.delays.vc_allocation, grant.input);
            if self.rings.is_some() {
                self.note_place(net, now, (grant.input, grant.output), out);
            }
        }
        self.grantable &= !self.asking.is_empty();
    }

    /// Packets whose allocation is done compete for the switch.
    pub(super) fn finish_allocations(&mut self, net: &Fabric, now: u64) {
        while let Some(input) = self.allocated.leave(now) {
            self.end_streams_beside(net, now, input);
            self.count_rival(input, self.inputs[input as usize].output, true);
            self.active.set(input, true);
        }
    }
}
