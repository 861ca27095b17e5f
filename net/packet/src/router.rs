//! A router: input buffers, a pipeline of stages, and the credits of the next buffers.
//!
//! A packet passes the stages in the order of the modules here. Its head flit goes through all of
//! them; the others follow through switch allocation and traversal. Packets in an input channel are
//! not pipelined: the route of the next is computed from the cycle on that follows the one in which
//! the tail of the last was granted the switch.
//!
//! All stages of a cycle decide on the state at its beginning, which includes what arrives at that
//! instant: a virtual channel that is given up in a cycle can be allocated in the next.

mod bubble;
mod census;
mod credit;
mod injection_control;
mod input;
mod queues;
mod route;
mod streaming;
mod switch_allocation;
mod traversal;
mod vc_allocation;

use std::{collections::VecDeque, ops::Range};

use kernel::{Packed, prefetch, prefetch_lines};
use topology::Candidates;
use units::{DeviceId, Time};

use bubble::Rings;
use census::Census;
use credit::Credits;
use queues::Queues;

use crate::{
    allocator::{Allocator, Request, Workspace},
    arbiter::Draw,
    bits::Bits,
    fabric::{Fabric, NOBODY, Port},
    model::Out,
    parameters::{MOST_CHANNELS, Parameters},
    signal::{Packet, Signal},
    stream::{NEVER, Stream},
};

const NONE: u32 = u32::MAX;

/// The owner of an output channel that no packet may take.
const CLOSED: u32 = u32::MAX - 1;

/// A packet in an input buffer, in a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Stored {
    packet: Packet,
    /// The time by which arbiters compare ages: that at which its head came, or since when its
    /// message is under way.
    since: u64,
    /// The time at which its head began on the next link.
    began: u64,
    /// Flits that have come and are counted.
    arrived: u16,
    /// Flits that have been granted the switch.
    sent: u16,
    /// The packet behind it in its channel, or the next free place.
    next: u32,
}

/// An input channel: a queue of packets, of which the first is in the pipeline. It fits a line of
/// the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Input {
    head: u32,
    tail: u32,
    /// The output channel that the first packet holds; [`NONE`] before it has one.
    output: u32,
    /// The output channels that the first packet may take.
    only: Only,
    /// The flits of the last packet that are foretold.
    arriving: Stream,
    /// The flits of the first packet that the next buffer has been foretold.
    leaving: Stream,
    /// The credits for this channel that the device before has been foretold.
    returned: Stream,
}

impl Input {
    const IDLE: Self = Self {
        head: NONE,
        tail: NONE,
        output: NONE,
        only: Only::NONE,
        arriving: Stream::ENDED,
        leaving: Stream::ENDED,
        returned: Stream::ENDED,
    };
}

/// Neighbouring output channels: the first, and from the 24th bit on their number. None of them
/// where a routing may offer several ports: then a packet asks it in each cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Only(u32);

impl Only {
    const NONE: Self = Self(0);

    /// A range of output channels. None if there are too many for the numbers to be kept here.
    #[inline]
    const fn new(channels: &Range<u32>) -> Self {
        let (first, count) = (channels.start, channels.end - channels.start);
        if first >= 1 << 24 || count >= 1 << 8 {
            return Self::NONE;
        }
        Self(first | count << 24)
    }

    #[inline]
    const fn channels(self) -> Range<u32> {
        let first = self.0 & ((1 << 24) - 1);
        first..first + (self.0 >> 24)
    }
}

/// An output channel, as known here, in a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Output {
    /// The input channel whose packet holds it; [`NONE`] if it is free, or [`CLOSED`].
    owner: u32,
    /// Flits for which the next buffer has room, as far as the credits are counted.
    credits: u32,
    /// Further credits that are foretold.
    returning: Stream,
    /// The time since which flits wait for credits; [`NEVER`] if none do.
    stalled: u64,
    /// Flits of packets that ask for it or for another channel of its lane.
    asked: u32,
    /// Its port and channel.
    port: u16,
    channel: u8,
    /// The link of its port, by which flits go and come.
    link: Port,
}

/// The state of a port.
#[derive(Clone, Copy, Debug, Default)]
struct PortState {
    /// The time at which the link has sent all that it was given.
    free: u64,
    /// The channel from which on the input looks for one to send.
    turn: u8,
    /// The input channels that compete for the switch or pass by themselves: those that come in by
    /// the port.
    inputs: u8,
    /// Those whose packets leave by it.
    outputs: u8,
}

/// Input channels in a stage that takes a fixed time.
#[derive(Clone, Debug)]
struct Stage {
    /// The time at which the first of them is done; [`NEVER`] without one.
    next: u64,
    /// The time at which each is done, and its number.
    queue: VecDeque<(u64, u32)>,
}

impl Stage {
    const fn new() -> Self {
        Self { next: NEVER, queue: VecDeque::new() }
    }

    /// An input channel enters, and is done at `done`, which is not before any other.
    #[inline]
    fn enter(&mut self, done: u64, input: u32) {
        self.next = self.next.min(done);
        self.queue.push_back((done, input));
    }

    /// Takes the first input channel if it is done at `now`.
    #[inline]
    fn leave(&mut self, now: u64) -> Option<u32> {
        if self.next > now {
            return None;
        }
        let (_, input) = self.queue.pop_front()?;
        self.next = self.queue.front().map_or(NEVER, |first| first.0);
        Some(input)
    }
}

/// Working memory that the routers of a thread share. Nothing in it outlives a cycle.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The requests to the virtual-channel allocator, and then its grants.
    channel_requests: Vec<Request>,
    /// The requests to the switch allocator, and then its grants.
    switch_requests: Vec<Request>,
    candidates: Candidates,
    work: Workspace,
}

/// The state of a router.
#[derive(Clone, Debug)]
pub struct Router {
    device: DeviceId,
    /// Virtual channels of a link.
    channels: usize,
    /// By port and channel.
    inputs: Packed<Input>,
    /// By port and channel.
    outputs: Packed<Output>,
    ports: Packed<PortState>,
    /// By port, flits of packets at the heads of input channels that go on by it, if the routing
    /// asks for them.
    waiting: Box<[u32]>,
    /// By port, the times at which flits were granted it whose credits cannot be back yet, and
    /// their channels, if the routing asks for queues.
    granted: Box<[VecDeque<(u64, u8)>]>,
    /// The queues that routers tell each other of, if they do.
    queues: Option<Queues>,
    /// The channels of rings, under bubble flow control.
    rings: Option<Box<Rings>>,
    /// The counts of flits in buffers, if a global threshold is set.
    census: Option<Box<Census>>,
    /// By input channel, since when its first packet asks for an output channel, if a time-out
    /// decides about injection control.
    asked_since: Box<[u64]>,
    /// The time at which the router tells of its queues next.
    tell_at: u64,
    packets: Vec<Stored>,
    free: u32,
    /// Packets in the buffers.
    stored: u32,
    /// Input channels whose route is computed.
    routing: Stage,
    /// Input channels with an output channel whose allocation is not done.
    allocated: Stage,
    /// Input channels that ask for an output channel.
    asking: Bits,
    /// True if some of them may be granted one.
    grantable: bool,
    /// The time at which a foretold credit may make some of them so.
    grantable_at: u64,
    /// Input channels whose packets compete for the switch when they have flits and credits.
    active: Bits,
    /// Input channels whose packets pass by themselves.
    streaming: Bits,
    /// The time at which the last flit of one of these can be granted the switch, or earlier.
    ends_at: u64,
    /// Input channels of which the next flit or credit is foretold elsewhere.
    foretold: Bits,
    vc_allocator: Allocator,
    switch_allocator: Allocator,
    /// The beginning of the last cycle that was run, or of one later.
    beat: u64,
    /// The beginning of the next cycle in which there is something to do.
    next: u64,
}

impl Router {
    /// Returns the least memory of a router of so many ports in bytes: the states of their channels
    /// as inputs and outputs. Matrix arbiters have more, but take it when it is used.
    pub(crate) fn least_memory(ports: u64, parameters: &Parameters) -> u64 {
        let channels = parameters.channels.unwrap_or(1).clamp(1, MOST_CHANNELS);
        let states = size_of::<Input>() + size_of::<Output>();
        ports.saturating_mul(channels.into()).saturating_mul(states as u64)
    }

    /// The router of this number.
    pub fn new(net: &Fabric, device: DeviceId) -> Self {
        let (ports, channels) = (net.ports(device).len(), net.channels);
        let all = ports * channels;
        let parameters = net.parameters();
        let allocator = |rule, inputs, outputs| {
            Allocator::new(rule, parameters.arbiter, parameters.iterations, inputs, outputs)
        };
        let is_open = |number| net.is_open(device, (number / channels) as u16, number % channels);
        let output = |number| Output {
            owner: if is_open(number) { NONE } else { CLOSED },
            credits: net.buffer,
            returning: Stream::ENDED,
            stalled: NEVER,
            asked: 0,
            port: (number / channels) as u16,
            channel: (number % channels) as u8,
            link: net.ports(device)[number / channels],
        };
        Self {
            device,
            channels,
            inputs: vec![Input::IDLE; all][..].into(),
            outputs: (0..all).map(output).collect::<Vec<_>>()[..].into(),
            ports: vec![PortState::default(); ports][..].into(),
            waiting: vec![0; if net.counts_waiting() { ports } else { 0 }].into(),
            granted: vec![VecDeque::new(); if net.counts_waiting() { ports } else { 0 }].into(),
            queues: net.sharing.as_ref().map(Queues::new),
            rings: (net.places > 0).then(|| Rings::new(net, device).into()),
            census: net.census.as_ref().map(|tree| Census::new(net, tree, device).into()),
            asked_since: vec![0; if parameters.congested_after.is_some() { all } else { 0 }].into(),
            tell_at: NEVER,
            packets: Vec::new(),
            free: NONE,
            stored: 0,
            routing: Stage::new(),
            allocated: Stage::new(),
            asking: Bits::new(all),
            grantable: false,
            grantable_at: NEVER,
            active: Bits::new(all),
            streaming: Bits::new(all),
            ends_at: NEVER,
            foretold: Bits::new(all),
            vc_allocator: allocator(parameters.vc_allocator, all, all),
            switch_allocator: allocator(parameters.switch_allocator, ports, ports),
            beat: 0,
            next: NEVER,
        }
    }

    /// A signal reaches the router. All cycles before `at` must have been run.
    #[inline]
    pub(crate) fn hear<O: Out>(&mut self, net: &Fabric, at: Time, signal: Signal, out: &mut O) {
        let now = at.ps();
        self.tell_from(net, now);
        self.report_from(net, now);
        match signal {
            Signal::Head(packet) => self.arrive(net, now, packet),
            Signal::Flits { port, channel, period } => {
                self.follow(net, now, (port, channel), period);
            }
            Signal::NoFlit { port, channel } => self.interrupt(net, now, (port, channel)),
            Signal::Credits { port, channel, left, period } => {
                self.credit(
                    net,
                    (port, channel),
                    Credits { at: now, left, period, prompt: true },
                    out,
                );
            }
            Signal::NoCredit { port, channel } => self.no_credit(net, now, (port, channel), out),
            Signal::Queue { port, of, flits } => self.learn(net, port, of, flits),
            Signal::Critical { port, channel } => self.take_mark((port, channel)),
            Signal::Displace { port, channel, of } => {
                self.answer_displace(net, now, (port, channel), of, out);
            }
            Signal::Displaced { port, channel, moved } => {
                self.displaced(net, now, (port, channel), moved, out);
            }
            Signal::Census { port, flits: [low, high] } => {
                self.count_in(net, now, port, u64::from(low) | u64::from(high) << 32);
            }
        }
    }

    /// The time at which it acts next if it hears nothing before.
    #[inline]
    pub(crate) fn due(&self) -> u64 {
        self.next.min(self.tell_at).min(self.report_at())
    }

    /// Runs the cycles that begin before `until`.
    pub(crate) fn run<O: Out>(
        &mut self,
        net: &Fabric,
        until: Time,
        scratch: &mut Scratch,
        out: &mut O,
    ) {
        loop {
            let next = self.due();
            if next >= until.ps() {
                return;
            }
            if self.report_at() == next {
                self.report(net, next, out);
            } else if self.tell_at == next {
                self.tell(net, next, out);
            } else {
                self.cycle(net, next, scratch, out);
            }
        }
    }

    /// The cycle that begins at `now`.
    #[inline(never)]
    fn cycle<O: Out>(&mut self, net: &Fabric, now: u64, scratch: &mut Scratch, out: &mut O) {
        let draw = Draw { random: net.arbiters, device: self.device, now };
        self.beat = now;
        self.routed(net, now, out);
        self.finish_allocations(net, now);
        self.end_streams(net, now);
        self.allocate_channels(net, &draw, scratch, out);
        let asleep = self.allocate_switch(net, &draw, scratch, out);
        self.traverse(net, now, &scratch.switch_requests, out);
        self.take_channels(net, now, &scratch.channel_requests, out);
        if self.rings.is_some() {
            self.displace_marks(net, now, out);
        }
        let busy = self.grantable || !scratch.switch_requests.is_empty() && !self.active.is_empty();
        let wake = if busy { now + net.delays.cycle } else { asleep.min(self.grantable_at) };
        self.next = self.routing.next.min(self.allocated.next).min(self.ends_at);
        self.wake(net, wake);
        self.interrupt_foretold(net, now, out);
    }

    /// The number of a port's channel among all.
    #[inline]
    const fn number(&self, port: u16, channel: u8) -> u32 {
        port as u32 * self.channels as u32 + channel as u32
    }

    /// The output channels that packets of a lane may take by a port, behind which is a link.
    #[inline]
    fn outputs_by(&self, net: &Fabric, port: u16, lane: u8, link: &Port) -> Range<u32> {
        if net.bundle.is_several() && net.is_host(link.peer) {
            let Range { start, end } = net.ejection_ports(port, link);
            return self.number(start, 0)..self.number(end, 0);
        }
        let (first, channels) = (self.number(port, 0), net.channels_of(lane, link));
        first + channels.start..first + channels.end
    }

    /// A port of the router that leads somewhere.
    #[inline]
    fn port(&self, port: u16) -> Option<Port> {
        let output = self.outputs.get(usize::from(port) * self.channels)?;
        Some(output.link).filter(|link| link.peer != NOBODY)
    }

    /// The link of an input or output channel.
    #[inline]
    fn link(&self, number: u32) -> Port {
        self.outputs[number as usize].link
    }

    /// The port and the channel of a number.
    #[inline]
    fn place(&self, number: u32) -> (u16, u8) {
        let Output { port, channel, .. } = self.outputs[number as usize];
        (port, channel)
    }

    /// The packet at the head of an input channel.
    #[inline]
    fn head(&self, input: u32) -> Option<&Stored> {
        self.packets.get(self.inputs[input as usize].head as usize)
    }

    /// Prefetches what a window will read: first the router itself, then what it keeps of its ports
    /// and of the packets in its stages.
    #[inline]
    pub(crate) fn prefetch(&self, stage: usize) {
        if stage == 0 {
            prefetch_lines(self, 10);
            return;
        }
        prefetch_lines(&*self.ports, 8);
        self.vc_allocator.prefetch();
        self.switch_allocator.prefetch();
        let queues = self.routing.queue.iter().take(8).chain(self.allocated.queue.iter().take(8));
        for &(_, input) in queues {
            prefetch(&self.inputs[input as usize]);
            prefetch(&self.outputs[input as usize]);
        }
        let mut from = 0;
        while let Some(input) = self.streaming.first_from(from) {
            from = input + 1;
            prefetch(&self.inputs[input as usize]);
        }
        let mut from = 0;
        while let Some(input) = self.active.first_from(from) {
            from = input + 1;
            prefetch(&self.inputs[input as usize]);
        }
    }

    /// Prefetches what the router will read for a signal.
    #[inline]
    pub(crate) fn prefetch_for(&self, signal: &Signal) {
        match signal {
            Signal::Head(Packet { port, channel, .. })
            | Signal::Flits { port, channel, .. }
            | Signal::NoFlit { port, channel } => {
                let number = self.number(*port, *channel) as usize;
                self.inputs.get(number).into_iter().for_each(prefetch);
                self.outputs.get(number).into_iter().for_each(prefetch);
                self.packets.get(self.free as usize).into_iter().for_each(prefetch);
            }
            Signal::Credits { port, channel, .. }
            | Signal::NoCredit { port, channel }
            | Signal::Critical { port, channel }
            | Signal::Displace { port, channel, .. }
            | Signal::Displaced { port, channel, .. } => {
                let number = self.number(*port, *channel) as usize;
                self.outputs.get(number).into_iter().for_each(prefetch);
            }
            Signal::Queue { .. } | Signal::Census { .. } => {}
        }
    }

    /// Checks that nothing waits here and all credits are back; see
    /// [`network::Network::device_at_rest`].
    pub(crate) fn at_rest(&self, net: &Fabric) -> Result<(), String> {
        if self.stored > 0 {
            return Err(format!("{} packets are stored", self.stored));
        }
        if !self.marks_at_rest() {
            return Err("a critical place is on its way".to_owned());
        }
        let buffer = net.buffer;
        let credits = |output: &Output| output.credits + u32::from(output.returning.left);
        for (number, output) in (0..).zip(&*self.outputs) {
            let (port, channel) = self.place(number);
            if self.port(port).is_some() && credits(output) != buffer {
                let credits = credits(output);
                return Err(format!(
                    "port {port}, channel {channel}: {credits} of {buffer} credits"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interface;

    /// The figures of the book: bytes for each virtual channel of a port, for each port besides,
    /// for a packet in a buffer and on a link, and for a host and a router besides.
    #[test]
    fn memory() {
        let turns = 2 * size_of::<u32>();
        assert_eq!(size_of::<Input>() + size_of::<Output>() + turns, 136);
        assert_eq!(size_of::<PortState>() + turns, 24);
        assert_eq!(size_of::<Stored>(), 64);
        assert!(size_of::<Signal>() <= 44);
        assert!(size_of::<Interface>() <= 384 && size_of::<Router>() <= 632);
    }
}
