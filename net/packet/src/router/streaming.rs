//! Packets that pass by themselves.
//!
//! A packet that is alone at its input port and at its output port, whose flits come as foretold
//! and for which there are credits, is granted the switch at known times: those for which its
//! credits have been foretold. So it takes no part in the allocation of each cycle.
//! What its flits have done is counted when somebody asks, when another packet comes to one of its
//! ports, or when a flit does not come as foretold; and the router wakes for its last flit, which
//! goes the usual way. Nothing that can be seen from outside depends on it.
//!
//! A wavefront moves on by a diagonal with each allocation of several requests, so that there even
//! such a packet matters to others, and none passes by itself.

use super::{Input, Output, Router};
use crate::{
    allocator::Allocation,
    fabric::{Fabric, Port},
    stream::{NEVER, Stream},
};

impl Router {
    /// Counts an input channel that begins or ceases to compete for the switch.
    #[inline]
    pub(super) fn count_rival(&mut self, input: u32, output: u32, competes: bool) {
        let (from, to) = (usize::from(self.place(input).0), usize::from(self.place(output).0));
        let step = if competes { 1 } else { u8::MAX };
        self.ports[from].inputs = self.ports[from].inputs.wrapping_add(step);
        self.ports[to].outputs = self.ports[to].outputs.wrapping_add(step);
    }

    /// Lets the first packet of an input channel, of which a flit has been granted the switch at
    /// `now`, pass by itself if it can.
    #[inline]
    pub(super) fn begin_stream(&mut self, net: &Fabric, now: u64, number: u32) {
        let input = &self.inputs[number as usize];
        let Input { output, leaving, returned, .. } = *input;
        let (from, to) = (self.place(number).0, self.place(output).0);
        let rivals = (self.ports[usize::from(from)].inputs, self.ports[usize::from(to)].outputs);
        if returned.left < 2 || rivals != (1, 1) {
            return;
        }
        let (link, back) = (self.link(output), self.link(number));
        let head = &self.packets[input.head as usize];
        let left = head.packet.flits - head.sent;
        let granted = Stream { next: returned.next - net.way_of_credit(&back), ..returned };
        let stages = net.delays.switch_allocation + net.delays.traversal;
        let wait = self.ports[usize::from(to)].free.saturating_sub(granted.next + stages);
        let sent = Stream { next: granted.next + net.way_of_flit(&link) + wait, ..granted };
        let Output { credits, stalled, .. } = self.outputs[output as usize];
        if granted.left == left
            && leaving == sent
            && credits >= left.into()
            && stalled == NEVER
            && self.keep_pace(net, now, input, (granted, wait, link.flit))
            && net.parameters().switch_allocator != Allocation::Wavefront
        {
            self.streaming.set(number, true);
            self.active.set(number, false);
            self.foretold.set(number, false);
            self.ends_at = self.ends_at.min(last_grant(net, &back, &returned));
        }
    }

    /// Returns true if the flits of a packet, of which one was granted the switch at `now`, will be
    /// granted it when `granted` says, and each then waits so long for the link, which takes a flit
    /// in so much time: in each cycle, as they come, or as the link takes them.
    #[inline]
    fn keep_pace(
        &self,
        net: &Fabric,
        now: u64,
        input: &Input,
        (granted, wait, flit): (Stream, u64, u32),
    ) -> bool {
        let (cycle, period, first) = (net.delays.cycle, u64::from(granted.period), granted.next);
        let room = u64::from(net.parameters().output_buffer) * u64::from(flit);
        let even = granted.period == flit || granted.period > flit && wait == 0;
        let in_cycles = first > now && (first - now).is_multiple_of(cycle);
        if !even || wait > room || !in_cycles || !period.is_multiple_of(cycle) {
            return false;
        }
        let Input { arriving, .. } = *input;
        let head = &self.packets[input.head as usize];
        let here = head.arrived - head.sent;
        let missing = granted.left.saturating_sub(here);
        if missing > 0 && (input.head != input.tail || arriving.left != missing) {
            return false;
        }
        let as_they_come = here == 0
            && arriving.period == granted.period
            && (first - cycle + 1..=first).contains(&arriving.next);
        let come = missing == 0
            || arriving.next <= first + u64::from(here) * period
                && arriving.time_of(missing.into()) <= granted.time_of(granted.left.into());
        let in_each = period == cycle && first == now + cycle;
        as_they_come || come && (in_each || wait + cycle > room)
    }

    /// Packets whose last flit can be granted the switch at `now` compete for it.
    pub(super) fn end_streams(&mut self, net: &Fabric, now: u64) {
        if self.ends_at > now {
            return;
        }
        self.ends_at = NEVER;
        let mut from = 0;
        while let Some(input) = self.streaming.first_from(from) {
            from = input + 1;
            let back = self.link(input);
            let last = last_grant(net, &back, &self.inputs[input as usize].returned);
            if last <= now {
                self.end_stream(net, now, input);
            } else {
                self.ends_at = self.ends_at.min(last);
            }
        }
    }

    /// The packets of an input port, and those that leave by an output port, compete for the switch
    /// from the cycle at `now` on.
    #[inline]
    pub(super) fn end_streams_beside(&mut self, net: &Fabric, now: u64, number: u32) {
        if self.streaming.is_empty() {
            return;
        }
        let ports = |router: &Self, input: u32| {
            let output = router.inputs[input as usize].output;
            (router.place(input).0, router.place(output).0)
        };
        let mine = ports(self, number);
        let mut from = 0;
        while let Some(input) = self.streaming.first_from(from) {
            from = input + 1;
            let other = ports(self, input);
            if other.0 == mine.0 || other.1 == mine.1 {
                self.end_stream(net, now, input);
            }
        }
    }

    /// The flits that still come of the packet of an input channel may not come as foretold.
    pub(super) fn end_stream_that_comes(&mut self, net: &Fabric, now: u64, number: u32) {
        let input = &self.inputs[number as usize];
        if input.head == input.tail && self.streaming.has(number) {
            self.end_stream(net, now, number);
            self.wake(net, now);
        }
    }

    /// A packet that passes by itself competes for the switch again.
    fn end_stream(&mut self, net: &Fabric, now: u64, input: u32) {
        self.settle(net, now, input);
        self.streaming.set(input, false);
        self.active.set(input, true);
        self.foretold.set(input, true);
    }

    /// Counts what the packets that pass by themselves have done before `now`.
    pub(super) fn settle_all(&mut self, net: &Fabric, now: u64) {
        let mut from = 0;
        while let Some(input) = self.streaming.first_from(from) {
            from = input + 1;
            self.settle(net, now, input);
        }
    }

    /// Counts the flits of a packet that passes by itself that were granted the switch before
    /// `now`.
    pub(super) fn settle(&mut self, net: &Fabric, now: u64, number: u32) {
        let Input { output, .. } = self.inputs[number as usize];
        let Output { port: to, channel, link: Port { cable, .. }, .. } =
            self.outputs[output as usize];
        let way = net.way_of_credit(&self.link(number));
        let input = &mut self.inputs[number as usize];
        let (first, period) = (input.returned.next - way, u64::from(input.returned.period));
        let count = input.returned.take_before(now + way);
        if count == 0 {
            return;
        }
        input.leaving.skip(count);
        let head = &mut self.packets[input.head as usize];
        head.sent += count;
        if input.head == input.tail {
            head.arrived += input.arriving.take_before(now);
        }
        self.ports[usize::from(to)].free = input.leaving.next - period - cable;
        self.outputs[output as usize].credits -= u32::from(count);
        for flit in 0..u64::from(count) {
            self.note_granted(net, first + flit * period, (to, channel));
        }
        if let Some(waiting) = self.waiting.get_mut(usize::from(to)) {
            *waiting = waiting.saturating_sub(count.into());
        }
    }
}

/// The time at which the last of the flits of which credits have been foretold by a link is granted
/// the switch.
#[inline]
const fn last_grant(net: &Fabric, back: &Port, returned: &Stream) -> u64 {
    returned.time_of(returned.left as u32) - net.way_of_credit(back)
}
