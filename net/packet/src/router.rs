//! A router: input buffers, a pipeline of stages, and the credits of the next buffers.
//!
//! A packet passes the stages in the order of the modules here. Its head flit goes through all of
//! them; the others follow through switch allocation and traversal. Packets in an input channel are
//! not pipelined: the route of the next is computed from the cycle on that follows the one in which
//! the tail of the last was granted the switch.
//!
//! All stages of a cycle decide on the state at its beginning, which includes what arrives at that
//! instant: a virtual channel that is given up in a cycle can be allocated in the next.

mod credit;
mod route;
mod switch_allocation;
mod traversal;
mod vc_allocation;

use std::collections::VecDeque;

use topology::Candidates;
use units::{DeviceId, Time};

use crate::{
    allocator::{Allocator, Request},
    arbiter::Draw,
    bits::Bits,
    fabric::Fabric,
    model::Out,
    signal::{Packet, Signal},
};

const NONE: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;

/// A packet in an input buffer.
#[derive(Clone, Copy, Debug)]
struct Stored {
    packet: Packet,
    /// The time at which its head came.
    since: u64,
    /// The time at which its head began on the next link.
    began: u64,
    /// Flits that have come.
    arrived: u16,
    /// Flits that have been granted the switch.
    sent: u16,
    /// The packet behind it in its channel, or the next free place.
    next: u32,
}

/// An input channel: a queue of packets, of which the first is in the pipeline.
#[derive(Clone, Copy, Debug)]
struct Input {
    head: u32,
    tail: u32,
    /// The output channel that the first packet holds; [`NONE`] before it has one.
    output: u32,
    /// True if the allocation of that channel is done.
    active: bool,
    /// The output channels that the first packet may take, from the first to behind the last, where
    /// its routing offers one port; otherwise nothing, and it asks its routing in each cycle.
    only: (u32, u32),
}

impl Input {
    const IDLE: Self =
        Self { head: NONE, tail: NONE, output: NONE, active: false, only: (NONE, NONE) };
}

/// An output channel, as known here.
#[derive(Clone, Copy, Debug)]
struct Output {
    /// The input channel whose packet holds it; [`NONE`] if it is free.
    owner: u32,
    /// Flits for which the next buffer has room.
    credits: u32,
    /// The time since which flits wait for credits; [`NEVER`] if none do.
    stalled: u64,
    /// Flits of packets that ask for it or for another channel of its lane.
    asked: u32,
}

/// The state of a router.
#[derive(Clone, Debug)]
pub struct Router {
    device: DeviceId,
    /// Virtual channels of a link.
    channels: usize,
    /// By port and channel.
    inputs: Box<[Input]>,
    /// By port and channel.
    outputs: Box<[Output]>,
    /// By port, the time at which the link has sent all that it was given.
    links: Box<[u64]>,
    /// By port, the channel from which on the input looks for one to send.
    turns: Box<[u8]>,
    packets: Vec<Stored>,
    free: u32,
    /// Packets in the buffers.
    stored: u32,
    /// Input channels whose route is computed, and the time at which it is known.
    routing: VecDeque<(u64, u32)>,
    /// Input channels with an output channel, and the time at which that allocation is done.
    allocated: VecDeque<(u64, u32)>,
    /// Input channels that ask for an output channel.
    asking: Bits,
    /// True if some of them may be granted one.
    grantable: bool,
    /// Input channels with an output channel, a flit and a credit for it.
    ready: Bits,
    vc_allocator: Allocator,
    switch_allocator: Allocator,
    /// The requests to the virtual-channel allocator, and then its grants.
    channel_requests: Vec<Request>,
    /// The requests to the switch allocator, and then its grants.
    switch_requests: Vec<Request>,
    candidates: Candidates,
    /// A time at which a cycle begins.
    phase: u64,
    /// The beginning of the next cycle in which there is something to do.
    next: u64,
}

impl Router {
    /// The router of this number.
    pub fn new(net: &Fabric, device: DeviceId) -> Self {
        let (ports, channels) = (net.ports(device).len(), net.channels);
        let all = ports * channels;
        let parameters = net.parameters();
        let allocator = |rule, inputs, outputs| {
            Allocator::new(rule, parameters.arbiter, parameters.iterations, inputs, outputs)
        };
        let output = Output { owner: NONE, credits: net.buffer, stalled: NEVER, asked: 0 };
        Self {
            device,
            channels,
            inputs: vec![Input::IDLE; all].into(),
            outputs: vec![output; all].into(),
            links: vec![0; ports].into(),
            turns: vec![0; ports].into(),
            packets: Vec::new(),
            free: NONE,
            stored: 0,
            routing: VecDeque::new(),
            allocated: VecDeque::new(),
            asking: Bits::new(all),
            grantable: false,
            ready: Bits::new(all),
            vc_allocator: allocator(parameters.vc_allocator, all, all),
            switch_allocator: allocator(parameters.switch_allocator, ports, ports),
            channel_requests: Vec::new(),
            switch_requests: Vec::new(),
            candidates: Candidates::new(),
            phase: 0,
            next: NEVER,
        }
    }

    /// A signal reaches the router. All cycles before `at` must have been run.
    #[inline]
    pub(crate) fn hear<O: Out>(&mut self, net: &Fabric, at: Time, signal: Signal, out: &mut O) {
        match signal {
            Signal::Head(packet) => self.arrive(net, at.ps(), packet),
            Signal::Flit { port, channel } => self.follow(net, at.ps(), (port, channel)),
            Signal::Credit { port, channel } => self.credit(net, at.ps(), (port, channel), out),
        }
    }

    /// Runs the cycles that begin before `until`, and returns when the next one begins.
    pub(crate) fn run<O: Out>(&mut self, net: &Fabric, until: Time, out: &mut O) -> Time {
        while self.next < until.ps() {
            self.cycle(net, self.next, out);
        }
        Time::from_ps(self.next)
    }

    /// The cycle that begins at `now`.
    fn cycle<O: Out>(&mut self, net: &Fabric, now: u64, out: &mut O) {
        let draw = Draw { random: net.arbiters, device: self.device, now };
        self.routed(net, now, out);
        self.finish_allocations(now);
        self.allocate_channels(net, &draw);
        let mut wake = self.allocate_switch(net, &draw);
        self.traverse(net, now, out);
        self.take_channels(net, now, out);
        if !self.ready.is_empty() && wake == NEVER || self.grantable {
            wake = now + net.delays.cycle;
        }
        let front = |queue: &VecDeque<(u64, u32)>| queue.front().map_or(NEVER, |front| front.0);
        self.next = wake.min(front(&self.routing)).min(front(&self.allocated));
    }

    /// The beginning of the first cycle at `at` or later.
    #[inline]
    const fn cycle_from(&self, net: &Fabric, at: u64) -> u64 {
        let cycle = net.delays.cycle;
        self.phase + (at - self.phase).div_ceil(cycle) * cycle
    }

    /// Lets the cycle at `at` or the first one later be run.
    #[inline]
    fn wake(&mut self, net: &Fabric, at: u64) {
        if at < self.next {
            self.next = self.next.min(self.cycle_from(net, at));
        }
    }

    /// The number of a port's channel among all.
    #[inline]
    const fn number(&self, port: u16, channel: u8) -> u32 {
        port as u32 * self.channels as u32 + channel as u32
    }

    /// The port and the channel of a number.
    #[inline]
    const fn place(&self, number: u32) -> (u16, u8) {
        let channels = self.channels as u32;
        ((number / channels) as u16, (number % channels) as u8)
    }

    /// The packet at the head of an input channel.
    #[inline]
    fn head(&self, input: u32) -> Option<&Stored> {
        self.packets.get(self.inputs[input as usize].head as usize)
    }

    /// Notes whether a flit of an input channel can compete for the switch.
    #[inline]
    fn refresh(&mut self, input: u32, now: u64) {
        let Input { output, active, .. } = self.inputs[input as usize];
        let flit = self.head(input).is_some_and(|head| head.sent < head.arrived);
        let ready = active
            && flit
            && self.outputs.get_mut(output as usize).is_some_and(|output| {
                if output.credits == 0 {
                    output.stalled = output.stalled.min(now);
                }
                output.credits > 0
            });
        self.ready.set(input, ready);
    }

    /// Checks that nothing waits here and all credits are back; see
    /// [`network::Network::device_at_rest`].
    pub(crate) fn at_rest(&self, net: &Fabric) -> Result<(), String> {
        if self.stored > 0 {
            return Err(format!("{} packets are stored", self.stored));
        }
        let buffer = net.buffer;
        for (number, output) in (0..).zip(&self.outputs) {
            let (port, channel) = self.place(number);
            if net.port(self.device, port).is_some() && output.credits != buffer {
                let credits = output.credits;
                return Err(format!(
                    "port {port}, channel {channel}: {credits} of {buffer} credits"
                ));
            }
        }
        Ok(())
    }
}
