//! Credits: the room in the next buffers, as it becomes known.

use network::Record;
use units::Time;

use super::{CLOSED, Input, NONE, Output, Router};
use crate::{
    fabric::Fabric,
    model::Out,
    signal::Signal,
    stream::{NEVER, Stream},
};

/// A credit that arrives, and what is foretold with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credits {
    pub at: u64,
    /// The number of further credits.
    pub left: u16,
    /// The time between two credits.
    pub period: u32,
    /// True if its flit left as it came, and so will the next ones.
    pub prompt: bool,
}

impl Router {
    /// A flit of an input channel leaves its buffer: the device before gets the credit. `left`
    /// further flits of its packet follow, in the distance of `pace` if nothing delays them.
    #[inline]
    pub(super) fn return_credit<O: Out>(
        &mut self,
        net: &Fabric,
        input: u32,
        credits: Credits,
        out: &mut O,
    ) {
        let Credits { at, left, period: pace, prompt } = credits;
        let Output { channel, link, .. } = self.outputs[input as usize];
        let at = at + net.way_of_credit(&link);
        let returned = &mut self.inputs[input as usize].returned;
        if returned.emit(at, left, pace, prompt) {
            let (port, period) = (link.plug, returned.period);
            let signal = Signal::Credits { port, channel, left, period };
            out.send(link.peer, Time::from_ps(at), signal);
        }
    }

    /// The buffer behind an output channel has room for a flit more.
    pub(super) fn credit<O: Out>(
        &mut self,
        net: &Fabric,
        place: (u16, u8),
        credits: Credits,
        out: &mut O,
    ) {
        let Credits { at: now, left, period, .. } = credits;
        let Some(number) = self.count_credits(net, now, place, out) else { return };
        if O::LISTENS {
            self.note_waiting(number, now);
        }
        let output = &mut self.outputs[number as usize];
        output.credits += 1;
        output.returning = Stream::after(now, period, left);
        let owner = output.owner;
        if self.end_stall(net, number, now, out) && owner != NONE {
            self.wake(net, now);
        } else if owner == NONE && !self.asking.is_empty() && (net.needed(1) > 0 || net.keeps_apart)
        {
            self.grantable = true;
            self.wake(net, now);
        }
    }

    /// The next credit for an output channel does not come as foretold.
    pub(super) fn no_credit<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        place: (u16, u8),
        out: &mut O,
    ) {
        if let Some(number) = self.count_credits(net, now, place, out) {
            self.outputs[number as usize].returning.left = 0;
        }
    }

    /// Counts the credits of an output channel that have come before `now`, and returns its number.
    fn count_credits<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        (port, channel): (u16, u8),
        out: &mut O,
    ) -> Option<u32> {
        let number = self.number(port, channel);
        ((number as usize) < self.outputs.len()).then_some(())?;
        self.take_credits(net, number, now, out);
        Some(number)
    }

    /// Counts the credits of an output channel that come before `until`, as they are foretold.
    #[inline]
    pub(super) fn take_credits<O: Out>(
        &mut self,
        net: &Fabric,
        number: u32,
        until: u64,
        out: &mut O,
    ) {
        let Stream { next, left, .. } = self.outputs[number as usize].returning;
        if O::LISTENS && left > 0 && next < until {
            self.note_waiting(number, next);
        }
        let output = &mut self.outputs[number as usize];
        let count = output.returning.take_before(until);
        if count > 0 {
            output.credits += u32::from(count);
            if output.stalled != NEVER {
                self.end_stall(net, number, next, out);
            }
        }
    }

    /// Notes that flits of the packet that holds an output channel have waited for the credit that
    /// comes at `at`, if they have. A flit that is foretold for that time may be interrupted yet.
    fn note_waiting(&mut self, number: u32, at: u64) {
        let owner = self.outputs[number as usize].owner;
        if owner < CLOSED && self.active.has(owner) {
            self.has_flit(owner, at.saturating_sub(1));
        }
    }

    /// Flits do not wait for credits any more. Returns false if none did.
    fn end_stall<O: Out>(&mut self, net: &Fabric, number: u32, now: u64, out: &mut O) -> bool {
        let (port, lane) = self.place(number);
        let from = std::mem::replace(&mut self.outputs[number as usize].stalled, NEVER);
        if O::LISTENS && from != NEVER && from < now {
            let port = net.port_of_topology(self.device, port);
            let record = Record::Stalled { port, lane, from: Time::from_ps(from) };
            out.record(Time::from_ps(now), record);
        }
        from != NEVER
    }

    /// Tells the devices around of flits and credits that were foretold and cannot come in time any
    /// more. The router acts again in the last cycle in which the next of them can.
    #[inline]
    pub(super) fn interrupt_foretold<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        let cycle = net.delays.cycle;
        let mut from = 0;
        while let Some(input) = self.foretold.first_from(from) {
            from = input + 1;
            let due = self.interrupt_flits(net, now, input, out);
            let due = due.min(self.interrupt_credits(net, now, input, out));
            if due == NEVER {
                self.foretold.set(input, false);
            } else {
                self.next = self.next.min(due - (due - now) % cycle);
            }
        }
    }

    /// Interrupts the foretold flits of an input channel if the next cannot be granted the switch
    /// in time in a later cycle. Returns until when it can; [`NEVER`] if none is foretold.
    #[inline]
    fn interrupt_flits<O: Out>(&mut self, net: &Fabric, now: u64, input: u32, out: &mut O) -> u64 {
        let Input { leaving, output, .. } = self.inputs[input as usize];
        if leaving.left == 0 {
            return NEVER;
        }
        let Output { channel, link, .. } = self.outputs[output as usize];
        let granted = leaving.next - net.way_of_flit(&link);
        if granted >= now + net.delays.cycle {
            return granted;
        }
        let signal = Signal::NoFlit { port: link.plug, channel };
        out.send(link.peer, Time::from_ps(leaving.next), signal);
        self.inputs[input as usize].leaving.left = 0;
        NEVER
    }

    /// Does for credits what [`Router::interrupt_flits`] does for flits.
    #[inline]
    fn interrupt_credits<O: Out>(
        &mut self,
        net: &Fabric,
        now: u64,
        input: u32,
        out: &mut O,
    ) -> u64 {
        let returned = self.inputs[input as usize].returned;
        if returned.left == 0 {
            return NEVER;
        }
        let Output { channel, link, .. } = self.outputs[input as usize];
        let granted = returned.next - net.way_of_credit(&link);
        if granted >= now + net.delays.cycle {
            return granted;
        }
        let signal = Signal::NoCredit { port: link.plug, channel };
        out.send(link.peer, Time::from_ps(returned.next), signal);
        self.inputs[input as usize].returned.left = 0;
        NEVER
    }
}
