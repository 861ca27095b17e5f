//! Input buffers: packets and their flits as they arrive.

use super::{NONE, Output, Router, Stored};
use crate::{
    fabric::{Fabric, NOBODY},
    signal::Packet,
    stream::{NEVER, Stream},
};

impl Router {
    /// The head of a packet has arrived.
    pub(super) fn arrive(&mut self, net: &Fabric, now: u64, packet: Packet) {
        let number = self.number(packet.port, packet.channel);
        let Some(&Output { link, .. }) = self.outputs.get(number as usize) else { return };
        if link.peer == NOBODY || usize::from(packet.channel) >= self.channels {
            return;
        }
        let period = link.flit * u32::from(packet.stride);
        if self.stored == 0 {
            self.beat = now;
            (self.next, self.grantable_at, self.ends_at) = (NEVER, NEVER, NEVER);
        }
        self.stored += 1;
        let since = net.since(now, &packet);
        let id = self.store(Stored { packet, since, began: 0, arrived: 1, sent: 0, next: NONE });
        let input = &mut self.inputs[number as usize];
        let before = std::mem::replace(
            &mut input.arriving,
            Stream::after(now, period, packet.flits.saturating_sub(1)),
        );
        if input.head == NONE {
            (input.head, input.tail) = (id, id);
            let begin = self.cycle_from(net, now);
            self.begin_route(net, number, begin);
        } else {
            let tail = std::mem::replace(&mut input.tail, id);
            let tail = &mut self.packets[tail as usize];
            tail.arrived += before.left;
            tail.next = id;
        }
    }

    /// A further flit of the last packet of an input channel has arrived, others follow in the
    /// distance of a period.
    pub(super) fn follow(&mut self, net: &Fabric, now: u64, place: (u16, u8), period: u32) {
        let Some((number, last)) = self.last_packet(net, now, place) else { return };
        let stored = &mut self.packets[last as usize];
        let was_empty = stored.sent == stored.arrived;
        stored.arrived += 1;
        let left = stored.packet.flits.saturating_sub(stored.arrived);
        let input = &mut self.inputs[number as usize];
        input.arriving = Stream::after(now, period, left);
        if input.head == last && self.active.has(number) {
            if was_empty {
                self.note_stall(number, now);
            }
            self.wake(net, now);
        }
    }

    /// The next flit of the last packet of an input channel does not arrive as foretold.
    pub(super) fn interrupt(&mut self, net: &Fabric, now: u64, place: (u16, u8)) {
        if let Some((number, _)) = self.last_packet(net, now, place) {
            self.inputs[number as usize].arriving.left = 0;
        }
    }

    /// Returns an input channel and its last packet, whose flits that have come before `now` are
    /// counted.
    fn last_packet(
        &mut self,
        net: &Fabric,
        now: u64,
        (port, channel): (u16, u8),
    ) -> Option<(u32, u32)> {
        let number = self.number(port, channel);
        ((number as usize) < self.inputs.len())
            .then(|| self.end_stream_that_comes(net, now, number))?;
        let input = self.inputs.get_mut(number as usize)?;
        let last = self.packets.get_mut(input.tail as usize)?;
        last.arrived += input.arriving.take_before(now);
        Some((number, input.tail))
    }

    /// Counts the flits of the first packet of an input channel that have come, and returns true if
    /// one of them can be sent.
    #[inline]
    pub(super) fn has_flit(&mut self, number: u32, now: u64) -> bool {
        let input = &mut self.inputs[number as usize];
        let head = &mut self.packets[input.head as usize];
        if head.sent < head.arrived {
            return true;
        }
        if input.head != input.tail {
            return false;
        }
        let next = input.arriving.next;
        let count = input.arriving.take(now);
        head.arrived += count;
        if count > 0 {
            self.note_stall(number, next);
        }
        count > 0
    }

    /// Counts the flits of the first packet of an input channel that have come. They have not
    /// waited for credits: one is before them.
    #[inline]
    pub(super) fn count_flits(&mut self, number: u32, now: u64) {
        let input = &mut self.inputs[number as usize];
        if input.head == input.tail {
            self.packets[input.head as usize].arrived += input.arriving.take(now);
        }
    }

    /// Returns the time at which the next flit of an input channel comes, as foretold.
    #[inline]
    pub(super) fn next_flit(&self, number: u32) -> u64 {
        self.inputs[number as usize].arriving.time_of(1)
    }

    /// Notes since when the first packet of an input channel waits for credits, if it does: its
    /// flit came at `at`.
    #[inline]
    pub(super) fn note_stall(&mut self, number: u32, at: u64) {
        let output = self.inputs[number as usize].output;
        let Some(output) = self.outputs.get_mut(output as usize) else { return };
        output.credits += u32::from(output.returning.take_before(at));
        if output.credits == 0 {
            output.stalled = output.stalled.min(at);
        }
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

    /// The beginning of the first cycle at `at` or later; nothing before the last cycle is asked.
    #[inline]
    pub(super) const fn cycle_from(&self, net: &Fabric, at: u64) -> u64 {
        let cycle = net.delays.cycle;
        let since = at - self.beat;
        match since {
            0 => at,
            _ if since <= cycle => self.beat + cycle,
            _ => self.beat + since.div_ceil(cycle) * cycle,
        }
    }

    /// Lets the cycle at `at` or the first one later be run.
    #[inline]
    pub(super) fn wake(&mut self, net: &Fabric, at: u64) {
        if at < self.next {
            self.next = self.next.min(self.cycle_from(net, at));
        }
    }
}
