//! Switch allocation: in each cycle an input port may send a flit, and an output port may get one.
//!
//! Of the channels of an input port that want the same output port, the first from the one behind
//! the channel that was granted last asks. Flits of a packet are granted one by one, so that
//! packets of several channels take turns on a link.

use super::{NEVER, Router};
use crate::{allocator::Request, arbiter::Draw, fabric::Fabric};

impl Router {
    /// Grants the switch, on the state at the beginning of the cycle; the grants are left in
    /// `switch_requests`. If all flits wait for room in output ports, the answer is when there is
    /// some, else [`NEVER`].
    pub(super) fn allocate_switch(&mut self, net: &Fabric, draw: &Draw) -> u64 {
        self.switch_requests.clear();
        if self.ready.is_empty() {
            return NEVER;
        }
        let mut requests = std::mem::take(&mut self.switch_requests);
        let mut room = NEVER;
        let mut first = 0;
        let mut port = u16::MAX;
        for input in self.ready.iter() {
            let (from, channel) = self.place(input);
            if from != port {
                (port, first) = (from, requests.len());
            }
            let output = self.inputs[input as usize].output;
            let (to, _) = self.place(output);
            let free = self.room_from(net, to);
            if free > draw.now {
                room = room.min(free);
                continue;
            }
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
        let waits = requests.is_empty();
        if !waits {
            self.switch_allocator.allocate(&mut requests, draw);
        }
        self.switch_requests = requests;
        if waits { self.cycle_from(net, room) } else { NEVER }
    }

    /// The position of a channel in the round robin of its input port.
    #[inline]
    fn turn(&self, port: u16, channel: u8) -> u8 {
        let next = self.turns[usize::from(port)];
        if channel < next { channel + self.channels as u8 } else { channel }
    }

    /// Returns the time from which on an output port has room for a flit more.
    #[inline]
    fn room_from(&self, net: &Fabric, port: u16) -> u64 {
        let flit = net.ports(self.device)[usize::from(port)].flit;
        let stages = net.delays.switch_allocation + net.delays.traversal;
        let held = u64::from(net.parameters().output_buffer) * u64::from(flit);
        self.links[usize::from(port)].saturating_sub(stages + held)
    }
}
