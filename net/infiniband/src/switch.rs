//! A switch: input buffers with virtual output queues, a crossbar, and an arbiter and an output
//! buffer per port.
//!
//! The head of a packet may be arbitrated `latency-in` after it has arrived, and only then is it
//! known here: it enters its queue. An output port grants one packet at a time, when the flits
//! before it have crossed, its output buffer has room for a full packet, the next buffer has
//! credits for the whole packet, and the input port sends fewer than `max-being-sent` others. From
//! then on everything about the packet is known: its flits leave the input buffer (and their
//! credits go back) at the crossbar's pace or as they arrive, and the link `latency-out` later at
//! the link's pace.
//!
//! Ties: what arrives at an instant is there before anything is granted at it; output ports grant
//! in the order of their numbers.

use units::{DeviceId, Time};

use crate::{
    arbiter::Arbiter,
    congestion::{Control, Victims},
    credits::Credits,
    fabric::{Fabric, NOBODY, Port},
    outlet::{Out, Record},
    signal::{Credit, Packet, Signal},
    updates::Updates,
};

const NONE: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;

/// A packet that waits in an input buffer.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Since when.
    since: u64,
    packet: Packet,
    /// The one behind it.
    next: u32,
}

/// A virtual output queue: packets of one input for one output and lane.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
}

/// A lane of an output port.
#[derive(Clone, Debug)]
struct Lane {
    credits: Credits,
    /// Flits that wait for it.
    flits: u32,
    /// The input at which the round robin begins.
    turn: u16,
    /// Eligible packets since one was marked.
    unmarked: u16,
    /// Since when it lacks credits.
    stalled: u64,
}

/// An output port.
#[derive(Clone, Copy, Debug)]
struct Output {
    /// The time at which the next packet may be granted.
    ready: u64,
    /// The time at which the link has sent all that it was given.
    link_free: u64,
    updates: Updates,
    /// Lanes for which packets wait.
    lanes: u32,
    arbiter: Arbiter,
}

/// The packets that an arbitration may grant.
struct Candidates {
    lanes: u32,
    inputs: [u16; 16],
    /// If there are none: when there may be.
    wake: u64,
}

/// The state of a switch.
#[derive(Clone, Debug)]
pub struct Switch {
    device: DeviceId,
    ports: usize,
    lane_count: usize,
    /// Words of a set of inputs.
    words: usize,
    being_sent: usize,
    outputs: Box<[Output]>,
    /// By output and lane.
    lanes: Box<[Lane]>,
    /// By output, lane and input.
    queues: Box<[Queue]>,
    /// Sets of inputs with packets, by output and lane.
    inputs: Box<[u64]>,
    /// The times at which each input's packets that are being sent are through; by input.
    slots: Box<[u64]>,
    packets: Vec<Waiting>,
    free: u32,
    /// The times at which each output wants to arbitrate, and the first of those.
    wakes: Box<[u64]>,
    next: u64,
}

impl Switch {
    /// The switch of this number.
    pub fn new(net: &Fabric, device: DeviceId) -> Self {
        let links = net.ports(device);
        let (ports, lane_count) = (links.len(), usize::from(net.lanes) + 1);
        let lane = |port| Lane {
            credits: Credits::new(net.buffer_behind(port)),
            flits: 0,
            turn: 0,
            unmarked: 0,
            stalled: NEVER,
        };
        let arbiter = Arbiter::new(&net.tables);
        let output = |link: &Port| {
            let updates = Updates::new(net, link);
            Output { ready: 0, link_free: 0, updates, lanes: 0, arbiter }
        };
        let being_sent = usize::from(net.parameters.max_being_sent).min(ports.max(1));
        let words = ports.div_ceil(64);
        Self {
            device,
            ports,
            lane_count,
            words,
            being_sent,
            outputs: links.iter().map(output).collect(),
            lanes: links.iter().flat_map(|port| vec![lane(port); lane_count]).collect(),
            queues: vec![Queue { head: NONE, tail: NONE }; ports * lane_count * ports].into(),
            inputs: vec![0; ports * lane_count * words].into(),
            slots: vec![0; ports * being_sent].into(),
            packets: Vec::new(),
            free: NONE,
            wakes: vec![NEVER; ports].into(),
            next: NEVER,
        }
    }

    /// The time at which something will happen here if nothing is heard before; [`Time::MAX`] if
    /// nothing.
    pub const fn next(&self) -> Time {
        Time::from_ps(self.next)
    }

    /// Flits that wait in the input buffers, by whole packets.
    pub fn waiting(&self) -> u64 {
        self.lanes.iter().map(|lane| u64::from(lane.flits)).sum()
    }

    /// Checks that nothing waits here and all credits are back; see [`network::Network::at_rest`].
    pub(crate) fn at_rest(&self, net: &Fabric) -> Result<(), String> {
        if self.waiting() > 0 {
            return Err(format!("{} flits wait", self.waiting()));
        }
        for (index, lane) in self.lanes.iter().enumerate() {
            let (port, number) = (index / self.lane_count, index % self.lane_count);
            let Some(link) = net.ports(self.device).get(port) else { continue };
            lane.credits
                .all_of(net.buffer_behind(link))
                .map_err(|credits| format!("port {port}, lane {number} has {credits}"))?;
        }
        Ok(())
    }

    /// A signal reaches the switch. Everything due before `at` must have been run.
    pub(crate) fn hear<O: Out>(&mut self, net: &Fabric, at: Time, signal: Signal, out: &mut O) {
        match signal {
            Signal::Packet(packet) => self.arrive(net, at.ps(), packet, out),
            Signal::Credit(credit) => self.credit(at.ps(), &credit),
        }
    }

    fn credit(&mut self, now: u64, credit: &Credit) {
        let port = usize::from(credit.port);
        let index = port * self.lane_count + usize::from(credit.lane);
        let Some(lane) = self.lanes.get_mut(index) else { return };
        lane.credits.hear(now, credit);
        if lane.stalled != NEVER {
            let when = now.max(self.outputs[port].ready);
            self.wake(port, when);
        }
    }

    fn wake(&mut self, port: usize, when: u64) {
        self.wakes[port] = self.wakes[port].min(when);
        self.next = self.next.min(when);
    }

    fn arrive<O: Out>(&mut self, net: &Fabric, now: u64, packet: Packet, out: &mut O) {
        let hop = net.hop(self.device, packet.port, packet.lane, &net.header(&packet));
        let links = net.ports(self.device);
        let leads = links.get(usize::from(hop.port)).is_some_and(|port| port.peer != NOBODY);
        if !leads || usize::from(packet.port) >= self.ports || hop.lane > net.lanes {
            self.give_back(net, now, &packet, packet.shape, out);
            if O::LISTENS {
                let Packet { source, destination, .. } = packet;
                out.record(Time::from_ps(now), Record::Lost { source, destination });
            }
            return;
        }
        let output = usize::from(hop.port);
        let lane = output * self.lane_count + usize::from(hop.lane);
        let input = usize::from(packet.port);
        let id = self.store(Waiting { since: now, packet, next: NONE });
        let queue = &mut self.queues[lane * self.ports + input];
        if queue.tail == NONE {
            *queue = Queue { head: id, tail: id };
            self.inputs[lane * self.words + input / 64] |= 1 << (input % 64);
            self.outputs[output].lanes |= 1 << hop.lane;
            let when = now.max(self.outputs[output].ready);
            self.wake(output, when);
        } else {
            let tail = std::mem::replace(&mut queue.tail, id);
            self.packets[tail as usize].next = id;
        }
        let flits = self.lanes[lane].flits + u32::from(packet.flits);
        self.lanes[lane].flits = flits;
        if O::LISTENS {
            let record = Record::Queue { port: hop.port, lane: hop.lane, flits };
            out.record(Time::from_ps(now), record);
        }
    }

    fn store(&mut self, waiting: Waiting) -> u32 {
        if self.free == NONE {
            self.packets.push(waiting);
            return self.packets.len() as u32 - 1;
        }
        let id = self.free;
        let slot = &mut self.packets[id as usize];
        self.free = slot.next;
        *slot = waiting;
        id
    }

    /// Grants everything that is due before `until`. The answer is when something will be next.
    #[inline]
    pub(crate) fn run<O: Out>(&mut self, net: &Fabric, until: Time, out: &mut O) -> Time {
        while self.next < until.ps() {
            self.instant(net, out);
        }
        Time::from_ps(self.next)
    }

    /// Grants what is due next, and notes when something is due after that.
    #[inline(never)]
    fn instant<O: Out>(&mut self, net: &Fabric, out: &mut O) {
        let now = self.next;
        let mut next = NEVER;
        for port in 0..self.ports {
            let mut wake = self.wakes[port];
            if wake <= now {
                wake = self.arbitrate(net, port, now, out);
                self.wakes[port] = wake;
            }
            next = next.min(wake);
        }
        self.next = next;
    }

    /// An output port grants a packet, if it can. The answer is when it may be able to next.
    fn arbitrate<O: Out>(&mut self, net: &Fabric, port: usize, now: u64, out: &mut O) -> u64 {
        if now < self.outputs[port].ready {
            return self.outputs[port].ready;
        }
        let found = self.candidates(net, port, now);
        if found.lanes == 0 {
            return found.wake;
        }
        let management = net.lanes;
        let lane = if found.lanes >> management & 1 == 1 {
            Some(management)
        } else if net.lanes == 1 {
            Some(0)
        } else {
            let flits = |lane: u8| {
                let input = found.inputs[usize::from(lane)];
                self.head(port, lane, input).map_or(0, |head| head.packet.flits)
            };
            let mut arbiter = self.outputs[port].arbiter;
            let lane = arbiter.pick(&net.tables, found.lanes, flits);
            self.outputs[port].arbiter = arbiter;
            lane
        };
        let Some(lane) = lane else { return NEVER };
        self.grant(net, port, lane, found.inputs[usize::from(lane)], now, out);
        let output = &self.outputs[port];
        if output.lanes == 0 { NEVER } else { output.ready }
    }

    fn head(&self, port: usize, lane: u8, input: u16) -> Option<&Waiting> {
        let lane = port * self.lane_count + usize::from(lane);
        let queue = self.queues[lane * self.ports + usize::from(input)];
        self.packets.get(queue.head as usize)
    }

    /// The packet of each lane that can go now, by round robin over the inputs.
    fn candidates(&mut self, net: &Fabric, port: usize, now: u64) -> Candidates {
        let mut found = Candidates { lanes: 0, inputs: [0; 16], wake: NEVER };
        let mut waiting = self.outputs[port].lanes;
        while waiting != 0 {
            let number = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            let index = port * self.lane_count + number;
            let lane = &mut self.lanes[index];
            let free = number == usize::from(net.lanes);
            let available = if free { u32::MAX } else { lane.credits.at(now) };
            let queues = &self.queues[index * self.ports..][..self.ports];
            let set = &self.inputs[index * self.words..][..self.words];
            let mut short = u32::MAX;
            for input in round_robin(set, lane.turn) {
                let Some(head) = self.packets.get(queues[input].head as usize) else { continue };
                let slots = &self.slots[input * self.being_sent..][..self.being_sent];
                let through = slots.iter().fold(NEVER, |first, &end| first.min(end));
                let flits = u32::from(head.packet.flits);
                if through > now {
                    found.wake = found.wake.min(through);
                } else if flits > available {
                    short = short.min(flits);
                } else {
                    found.lanes |= 1 << number;
                    found.inputs[number] = input as u16;
                    break;
                }
            }
            if short != u32::MAX && found.lanes >> number & 1 == 0 {
                lane.stalled = lane.stalled.min(now);
                found.wake = found.wake.min(lane.credits.when(now, short));
            }
        }
        found
    }

    /// Takes a packet out of its queue.
    fn pop(&mut self, port: usize, lane: usize, input: usize) -> Option<Waiting> {
        let queue = &mut self.queues[lane * self.ports + input];
        let id = queue.head;
        let waiting = *self.packets.get(id as usize)?;
        queue.head = waiting.next;
        if waiting.next == NONE {
            queue.tail = NONE;
            let set = &mut self.inputs[lane * self.words..][..self.words];
            set[input / 64] &= !(1 << (input % 64));
            if set.iter().all(|&word| word == 0) {
                self.outputs[port].lanes &= !(1 << (lane % self.lane_count));
            }
        }
        self.packets[id as usize].next = self.free;
        self.free = id;
        Some(waiting)
    }

    fn grant<O: Out>(
        &mut self,
        net: &Fabric,
        port: usize,
        number: u8,
        input: u16,
        now: u64,
        out: &mut O,
    ) {
        let index = port * self.lane_count + usize::from(number);
        let Some(waiting) = self.pop(port, index, input.into()) else { return };
        let mut packet = waiting.packet;
        let link = &net.ports(self.device)[port];
        let flits = u32::from(packet.flits);
        let parameters = &net.parameters;
        let (delay, latency) = (parameters.latency_out.ps(), u64::from(link.flit));
        let crossbar = parameters.crossbar.map_or(link.flit, |time| time.ps() as u32);

        // Out of the input buffer, at the crossbar's pace.
        let crossing = packet.shape.behind(flits, crossbar, now - waiting.since);
        let last = u64::from(crossbar) - parameters.short(crossbar, packet.last);
        let crossed = now + crossing.offset(flits - 1) + last;
        self.occupy(input.into(), crossed);
        self.give_back(net, now, &packet, crossing, out);

        // Onto the link, at its pace.
        let output = &mut self.outputs[port];
        let there = output.link_free.max(now + delay);
        let start = output.updates.start(output.link_free, there);
        packet.shape = crossing.behind(flits, link.flit, start - (now + delay));
        output.link_free = start + packet.shape.offset(flits - 1) + latency
            - parameters.short(link.flit, packet.last);
        let backlog = u64::from(parameters.output_buffer - net.max_flits) * latency;
        output.ready = crossed.max(output.link_free.saturating_sub(delay + backlog));

        let end = output.link_free;
        self.account(net, port, number, &mut packet, now, out);
        if O::LISTENS {
            let (port, lane) = (port as u16, number);
            let [start, end] = [start, end].map(Time::from_ps);
            out.record(Time::from_ps(now), Record::Sent { port, lane, flits, start, end });
        }
        (packet.port, packet.lane) = (link.plug, number);
        out.send(link.peer, Time::from_ps(start + link.head), Signal::Packet(packet));
        self.lanes[index].turn = input + 1;
    }

    /// The input port sends one more packet, until `end`.
    fn occupy(&mut self, input: usize, end: u64) {
        let slots = &mut self.slots[input * self.being_sent..][..self.being_sent];
        if let Some(slot) = slots.iter_mut().min() {
            *slot = end;
        }
    }

    /// Flits leave the input buffer from `now` on: their credits go back.
    fn give_back<O: Out>(
        &self,
        net: &Fabric,
        now: u64,
        packet: &Packet,
        shape: crate::train::Shape,
        out: &mut O,
    ) {
        if packet.lane == net.lanes {
            return;
        }
        let Some(link) = net.ports(self.device).get(usize::from(packet.port)) else { return };
        let at = Time::from_ps(now + net.parameters.credit_delay.ps() + link.cable);
        let (port, flits, lane) = (link.plug, packet.flits, packet.lane);
        out.send(link.peer, at, Signal::Credit(Credit { shape, port, flits, lane }));
    }

    /// Credits, queue depth and congestion marks of a packet that is granted.
    fn account<O: Out>(
        &mut self,
        net: &Fabric,
        port: usize,
        number: u8,
        packet: &mut Packet,
        now: u64,
        out: &mut O,
    ) {
        let lane = &mut self.lanes[port * self.lane_count + usize::from(number)];
        let depth = lane.flits;
        lane.flits -= u32::from(packet.flits);
        let victim = lane.stalled != NEVER;
        if number != net.lanes {
            lane.credits.take(packet.flits.into());
        }
        let (port, at) = (port as u16, Time::from_ps(now));
        if O::LISTENS {
            out.record(at, Record::Queue { port, lane: number, flits: lane.flits });
            if victim {
                let from = Time::from_ps(lane.stalled);
                out.record(at, Record::Stalled { port, lane: number, from });
            }
        }
        lane.stalled = NEVER;
        let Some(control) = &net.parameters.congestion else { return };
        let to_host = net.is_host(net.ports(self.device)[usize::from(port)].peer);
        let eligible = packet.is_data()
            && packet.flits >= control.packet_size
            && depth >= control.level(net.parameters.buffer)
            && (!victim || may_be_victim(control, to_host));
        if !eligible || number == net.lanes {
            return;
        }
        if lane.unmarked < control.marking_rate {
            lane.unmarked += 1;
            return;
        }
        lane.unmarked = 0;
        packet.marked = true;
        if O::LISTENS {
            let (source, destination) = (packet.source, packet.destination);
            out.record(at, Record::Marked { port, lane: number, source, destination });
        }
    }
}

fn may_be_victim(control: &Control, to_host: bool) -> bool {
    match control.victims {
        Victims::None => false,
        Victims::Hosts => to_host,
        Victims::All => true,
    }
}

/// The members of a set from `first` on, then those before it.
fn round_robin(set: &[u64], first: u16) -> impl Iterator<Item = usize> + '_ {
    let first = usize::from(first);
    let words = set.len();
    // The first word comes twice: its upper part at the start, its lower part at the end.
    (0..=words).flat_map(move |step| {
        let index = (first / 64 + step) % words;
        let upper = u64::MAX << (first % 64);
        let mask = match step {
            0 => upper,
            step if step == words => !upper,
            _ => u64::MAX,
        };
        let mut word = set[index] & mask;
        std::iter::from_fn(move || {
            (word != 0).then(|| {
                let bit = word.trailing_zeros() as usize;
                word &= word - 1;
                index * 64 + bit
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::round_robin;

    #[test]
    fn round_robin_order() {
        let set = [1 << 3 | 1 << 63, 1 | 1 << 5];
        let order = |first| round_robin(&set, first).collect::<Vec<_>>();
        assert_eq!(order(0), [3, 63, 64, 69]);
        assert_eq!(order(4), [63, 64, 69, 3]);
        assert_eq!(order(64), [64, 69, 3, 63]);
        assert_eq!(order(65), [69, 3, 63, 64]);
        // One past the last input of 128 starts over.
        assert_eq!(order(128), [3, 63, 64, 69]);
        assert_eq!(round_robin(&[0b101], 64).collect::<Vec<_>>(), [0, 2]);
    }
}
