//! Switch allocation: in each cycle an input port may send a flit, and an output port may get one.
//!
//! Of the channels of an input port that want the same output port, the first from the one behind
//! the channel that was granted last asks. Flits of a packet are granted one by one, so that
//! packets of several channels take turns on a link.

use super::{Output, Router, Scratch};
use crate::{
    allocator::Request,
    arbiter::Draw,
    fabric::{Fabric, Port},
    model::Out,
    stream::NEVER,
};

impl Router {
    /// Grants the switch, on the state at the beginning of the cycle; the grants are left in
    /// the scratch space. If no flit can be sent, the answer is the time at which one may be, as
    /// far as it is known.
    pub(super) fn allocate_switch<O: Out>(
        &mut self,
        net: &Fabric,
        draw: &Draw,
        Scratch { switch_requests: requests, work, .. }: &mut Scratch,
        out: &mut O,
    ) -> u64 {
        requests.clear();
        let mut wake = NEVER;
        // The input port and its first request.
        let (mut port, mut first) = (u16::MAX, 0);
        let mut after = 0;
        while let Some(input) = self.active.first_from(after) {
            after = input + 1;
            let ready = self.ready_at(net, draw.now, input, out);
            if ready > draw.now {
                wake = wake.min(ready);
                continue;
            }
            let (from, channel) = self.place(input);
            if from != port {
                (port, first) = (from, requests.len());
            }
            let (to, _) = self.place(self.inputs[input as usize].output);
            let since = self.head(input).map_or(0, |head| head.since);
            let (input, output) = (u32::from(from), u32::from(to));
            let request = Request { input, output, since, channel: channel.into() };
            let rival = requests[first..].iter_mut().find(|rival| rival.output == output);
            match rival {
                None => requests.push(request),
                Some(rival) => {
                    if self.turn(from, channel) < self.turn(from, rival.channel as u8) {
                        *rival = request;
                    }
                }
            }
        }
        if !requests.is_empty() {
            self.switch_allocator.allocate(requests, work, draw);
        }
        wake
    }

    /// Returns the time from which on a flit of an active input channel can compete for the switch:
    /// it has come, there is a credit for it, and its output port has room.
    #[inline]
    fn ready_at<O: Out>(&mut self, net: &Fabric, now: u64, input: u32, out: &mut O) -> u64 {
        if !self.has_flit(input, now) {
            return self.next_flit(input);
        }
        let number = self.inputs[input as usize].output;
        if self.outputs[number as usize].credits == 0 {
            self.take_credits(net, number, now + 1, out);
            let output = &mut self.outputs[number as usize];
            if output.credits == 0 {
                output.stalled = output.stalled.min(now);
                return output.returning.time_of(1);
            }
        }
        self.room_from(net, number)
    }

    /// The position of a channel in the round robin of its input port.
    #[inline]
    fn turn(&self, port: u16, channel: u8) -> u8 {
        let next = self.ports[usize::from(port)].turn;
        if channel < next { channel + self.channels as u8 } else { channel }
    }

    /// Returns the time from which on the port of an output channel has room for a flit more.
    #[inline]
    fn room_from(&self, net: &Fabric, number: u32) -> u64 {
        let Output { port, link: Port { flit, .. }, .. } = self.outputs[number as usize];
        let stages = net.delays.switch_allocation + net.delays.traversal;
        let held = u64::from(net.parameters().output_buffer) * u64::from(flit);
        self.ports[usize::from(port)].free.saturating_sub(stages + held)
    }
}
