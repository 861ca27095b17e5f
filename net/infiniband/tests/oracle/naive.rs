//! The network of the model flit by flit: every flit, credit and grant by itself, nothing in closed
//! form.
//!
//! Written from the rules in `docs/src/infiniband.md`, with queues of whole flits and a queue of
//! instants at which everything is looked at again.

use std::collections::{BTreeMap, VecDeque};

use units::Time;

use infiniband::{Fabric, Hiccups, Parameters, Share, Spread, Tables};
use topology::{Graph, Header, Routes};

#[derive(Clone, Copy, Debug)]
struct Flit {
    message: usize,
    /// Flits of its packet, and its number there.
    of: u64,
    number: u64,
    /// True if the message ends with it.
    last: bool,
    /// Lane it travels on.
    lane: usize,
}

/// A message: time, source, destination, bytes, level.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: u64,
    pub source: u32,
    pub destination: u32,
    pub bytes: u64,
    pub level: u8,
}

#[derive(Clone, Copy, Debug)]
enum Arrival {
    Flit(u32, u16, Flit),
    Credit(u32, u16, usize),
    Message(usize),
}

#[derive(Default)]
struct Port {
    credits: Vec<u64>,
    tables: [(usize, i64); 2],
    high_left: i64,
    /// The flits being sent on: input, lane in, lane out, flits left.
    sending: Option<(usize, usize, usize, u64)>,
    crossed: Option<u64>,
    link_ends: Vec<u64>,
    turns: Vec<usize>,
    /// End of the last crossing of each packet that leaves this input, while it is being sent
    /// `MAX`.
    being_sent: Vec<u64>,
    /// Host only: pairs in turn, by lane.
    rings: Vec<VecDeque<(u32, u8)>>,
    ready: u64,
    sink: VecDeque<(u64, Flit)>,
    sink_free: u64,
    /// With pauses: when the sink's next poll is due, and when the last one was lost until when.
    poll: Option<u64>,
    lost: (u64, u64),
}

/// Device, output, lane out, input, lane in.
type Key = (u32, usize, usize, usize, usize);

pub struct Naive<'a> {
    graph: &'a Graph,
    routes: &'a Routes,
    parameters: &'a Parameters,
    tables: Tables,
    flit: u64,
    sent: Vec<Sent>,
    ports: BTreeMap<(u32, u16), Port>,
    /// Flits that wait in switches, and when each may go.
    queues: BTreeMap<Key, VecDeque<(u64, Flit)>>,
    pairs: BTreeMap<(u32, u32, u8), VecDeque<(usize, u64)>>,
    due: BTreeMap<u64, Vec<Arrival>>,
    pub delivered: Vec<(u64, usize)>,
}

impl<'a> Naive<'a> {
    pub fn new(graph: &'a Graph, routes: &'a Routes, parameters: &'a Parameters) -> Self {
        let lanes = usize::from(routes.lanes());
        let mut ports = BTreeMap::new();
        let tables = parameters.arbiter.clone().unwrap_or_else(|| Tables::equal(lanes as u8));
        for device in 0..graph.devices() {
            for (port, end) in graph.neighbours(device) {
                let host = graph.is_host(end.device);
                let buffer = if host { parameters.host_buffer } else { parameters.buffer };
                let weight = |table: &[Share]| table.first().map_or(0, |s| i64::from(s.weight));
                let state = Port {
                    credits: vec![buffer.into(); lanes],
                    tables: [(0, weight(&tables.high)), (0, weight(&tables.low))],
                    high_left: (i64::from(tables.high_limit) * 64).max(1),
                    turns: vec![0; lanes],
                    rings: vec![VecDeque::new(); lanes],
                    ..Port::default()
                };
                ports.insert((device, port), state);
            }
        }
        let flit = Fabric::flit_time(parameters.link).ps();
        Self {
            graph,
            routes,
            parameters,
            tables,
            flit,
            sent: Vec::new(),
            ports,
            queues: BTreeMap::new(),
            pairs: BTreeMap::new(),
            due: BTreeMap::new(),
            delivered: Vec::new(),
        }
    }

    pub fn run(&mut self, sent: &[Sent]) {
        self.sent = sent.to_vec();
        for (id, message) in sent.iter().enumerate() {
            self.at(message.at, Arrival::Message(id));
        }
        while let Some((now, arrivals)) = self.due.pop_first() {
            for arrival in arrivals {
                self.arrive(now, arrival);
            }
            let ports: Vec<_> = self.ports.keys().copied().collect();
            for (device, port) in ports {
                if self.graph.is_host(device) {
                    self.send(now, device, port);
                    self.drain(now, device, port);
                } else {
                    self.cross(now, device, port);
                }
            }
        }
    }

    fn at(&mut self, at: u64, arrival: Arrival) {
        self.due.entry(at).or_default().push(arrival);
    }

    fn look(&mut self, at: u64) {
        self.due.entry(at).or_default();
    }

    fn arrive(&mut self, now: u64, arrival: Arrival) {
        match arrival {
            Arrival::Credit(device, port, lane) => {
                self.ports.get_mut(&(device, port)).unwrap().credits[lane] += 1;
            }
            Arrival::Message(id) => {
                let Sent { source, destination, bytes, level, .. } = self.sent[id];
                let pair = self.pairs.entry((source, destination, level)).or_default();
                pair.push_back((id, bytes));
                if pair.len() == 1 {
                    let header = Header { source, destination, level, choice: 0 };
                    let hop = self.routes.first_hop(&header);
                    let port = self.ports.get_mut(&(source, hop.port)).unwrap();
                    port.rings[usize::from(hop.lane)].push_back((destination, level));
                }
            }
            Arrival::Flit(device, port, flit) if self.graph.is_host(device) => {
                self.ports.get_mut(&(device, port)).unwrap().sink.push_back((now, flit));
                if self.parameters.hiccups.period > 0 {
                    self.arrived(now, device, port, flit);
                }
            }
            Arrival::Flit(device, port, flit) => {
                let Sent { source, destination, level, .. } = self.sent[flit.message];
                let header = Header { source, destination, level, choice: 0 };
                let hop = self.routes.hop(device, port, flit.lane as u8, &header);
                let key = (device, hop.port.into(), hop.lane.into(), port.into(), flit.lane);
                let when = now + self.parameters.latency_in.ps();
                self.queues.entry(key).or_default().push_back((when, flit));
                self.look(when);
            }
        }
    }

    fn credit_back(&mut self, now: u64, device: u32, port: u16, lane: usize) {
        let end = self.graph.peer(device, port).unwrap();
        let p = self.parameters;
        let at = now + p.credit_delay.ps() + p.cable.ps();
        self.at(at, Arrival::Credit(end.device, end.port, lane));
    }

    /// A switch's output port: a flit of the packet that is being sent, else a new packet.
    fn cross(&mut self, now: u64, device: u32, port: u16) {
        let crossbar = self.parameters.crossbar.map_or(self.flit, Time::ps);
        let state = &self.ports[&(device, port)];
        if state.crossed.is_some_and(|last| now < last + crossbar) {
            return;
        }
        if state.sending.is_none() {
            let Some(chosen) = self.choose(now, device, port) else { return };
            self.ports.get_mut(&(device, port)).unwrap().sending = Some(chosen);
            let input = self.ports.get_mut(&(device, chosen.0 as u16)).unwrap();
            input.being_sent.push(u64::MAX);
        }
        let (input, lane_in, lane, left) = self.ports[&(device, port)].sending.unwrap();
        let key = (device, port.into(), lane, input, lane_in);
        let queue = self.queues.get_mut(&key).unwrap();
        if queue.front().is_none_or(|&(when, _)| when > now) {
            return;
        }
        let (_, flit) = queue.pop_front().unwrap();
        self.credit_back(now, device, input as u16, lane_in);
        let p = self.parameters;
        let out = p.latency_out.ps();
        let state = self.ports.get_mut(&(device, port)).unwrap();
        state.crossed = Some(now);
        let begin = state.link_ends.last().map_or(0, |&end| end).max(now + out);
        state.link_ends.push(begin + self.flit);
        state.sending = (left > 1).then_some((input, lane_in, lane, left - 1));
        if left == 1 {
            let sent = &mut self.ports.get_mut(&(device, input as u16)).unwrap().being_sent;
            *sent.iter_mut().find(|end| **end == u64::MAX).unwrap() = now + crossbar;
        }
        let end = self.graph.peer(device, port).unwrap();
        let flit = Flit { lane, ..flit };
        self.at(begin + p.cable.ps(), Arrival::Flit(end.device, end.port, flit));
        self.look(now + crossbar);
        self.look((begin + self.flit).saturating_sub(out).max(now + 1));
    }

    /// The packet that goes next: (input, lane in, lane out, flits).
    fn choose(&mut self, now: u64, device: u32, port: u16) -> Option<(usize, usize, usize, u64)> {
        let p = self.parameters;
        let state = &self.ports[&(device, port)];
        let sent_by = now + p.latency_out.ps();
        let stored = state.link_ends.iter().filter(|&&end| end > sent_by).count() as u32;
        if p.output_buffer - stored < p.packet_flits() {
            return None;
        }
        let inputs = self.graph.ports(device) as usize;
        let mut found: BTreeMap<usize, (usize, usize, usize, u64)> = BTreeMap::new();
        for lane in 0..state.credits.len() {
            for step in 0..inputs {
                let input = (state.turns[lane] + step) % inputs;
                let Some(from) = self.ports.get(&(device, input as u16)) else { continue };
                if from.being_sent.iter().filter(|&&end| end > now).count()
                    >= usize::from(p.max_being_sent)
                {
                    continue;
                }
                // Lanes of one input that lead to one queue share it in order of arrival.
                let heads = self.queues.range(
                    (device, port.into(), lane, input, 0)
                        ..=(device, port.into(), lane, input, usize::MAX),
                );
                let heads = heads.filter_map(|(key, queue)| Some((key.4, *queue.front()?)));
                let Some((lane_in, (when, flit))) = heads.min_by_key(|head| head.1.0) else {
                    continue;
                };
                if when > now || flit.number != 0 || state.credits[lane] < flit.of {
                    continue;
                }
                found.insert(lane, (input, lane_in, lane, flit.of));
                break;
            }
        }
        let sizes = found.iter().map(|(&lane, packet)| (lane, packet.3)).collect();
        let lane = self.arbitrate(device, port, &sizes)?;
        let packet = found[&lane];
        let state = self.ports.get_mut(&(device, port)).unwrap();
        state.turns[lane] = packet.0 + 1;
        state.credits[lane] -= packet.3;
        Some(packet)
    }

    /// The lane whose turn it is, of those that can send packets of these sizes.
    fn arbitrate(&mut self, device: u32, port: u16, can: &BTreeMap<usize, u64>) -> Option<usize> {
        if self.routes.lanes() == 1 {
            return can.keys().next().copied();
        }
        let limited = self.tables.high_limit != 255;
        let state = self.ports.get_mut(&(device, port)).unwrap();
        let low_turn = limited && state.high_left <= 0;
        let order = if low_turn { [1, 0] } else { [0, 1] };
        for which in order {
            let table = if which == 0 { &self.tables.high } else { &self.tables.low };
            let able = |share: &Share| can.get(&usize::from(share.lane)).copied();
            let (mut entry, mut left) = state.tables[which];
            if table.is_empty() {
                continue;
            }
            let mut tried = 0;
            let size = loop {
                if left > 0
                    && let Some(size) = able(&table[entry])
                {
                    break Some(size);
                }
                if tried == table.len() {
                    break None;
                }
                tried += 1;
                entry = (entry + 1) % table.len();
                left = table[entry].weight.into();
            };
            let Some(size) = size else { continue };
            state.tables[which] = (entry, left - size.cast_signed());
            if which == 0 {
                state.high_left -= size.cast_signed();
            } else {
                state.high_left = (i64::from(self.tables.high_limit) * 64).max(1);
            }
            return Some(usize::from(table[entry].lane));
        }
        None
    }

    /// A host's port: one packet of the pair whose turn it is.
    fn send(&mut self, now: u64, host: u32, port: u16) {
        let p = self.parameters;
        let pace = p.generator.ps().max(self.flit);
        let state = &self.ports[&(host, port)];
        if now < state.ready {
            return;
        }
        let mut can = BTreeMap::new();
        for (lane, ring) in state.rings.iter().enumerate() {
            let Some(&(destination, level)) = ring.front() else { continue };
            let &(_, left) = self.pairs[&(host, destination, level)].front().unwrap();
            let flits = (left.min(p.mtu.into()) + u64::from(p.header)).div_ceil(64);
            if state.credits[lane] >= flits {
                can.insert(lane, flits);
            }
        }
        let Some(lane) = self.arbitrate(host, port, &can) else { return };
        let flits = can[&lane];
        let state = self.ports.get_mut(&(host, port)).unwrap();
        state.credits[lane] -= flits;
        state.ready = now + flits * pace;
        let (destination, level) = state.rings[lane].pop_front().unwrap();
        let pair = self.pairs.get_mut(&(host, destination, level)).unwrap();
        let (id, left) = pair.front_mut().unwrap();
        let message = *id;
        *left -= (*left).min(p.mtu.into());
        let tail = *left == 0;
        if tail {
            pair.pop_front();
        }
        if !pair.is_empty() {
            state.rings[lane].push_back((destination, level));
        }
        let ready = state.ready;
        let end = self.graph.peer(host, port).unwrap();
        for number in 0..flits {
            let last = tail && number + 1 == flits;
            let flit = Flit { message, of: flits, number, last, lane };
            let at = now + number * pace + p.cable.ps();
            self.at(at, Arrival::Flit(end.device, end.port, flit));
        }
        self.look(ready);
    }

    fn service(&self, flit: Flit) -> u64 {
        let bytes = self.sent[flit.message].bytes + u64::from(self.parameters.header);
        let pace = self.parameters.sink.ps();
        if bytes <= 64 { (pace * bytes + 32) / 64 } else { pace }
    }

    /// A flit arrives at a sink with pauses: a poll that is due now comes before it, and it sets
    /// one if none is due.
    fn arrived(&mut self, now: u64, host: u32, port: u16, flit: Flit) {
        let service = self.service(flit);
        let Hiccups { period, pause, phase, resume, .. } = self.parameters.hiccups;
        let state = self.ports.get_mut(&(host, port)).unwrap();
        if state.poll == Some(now) {
            // Only the flits before it are there for that poll.
            let last = state.sink.pop_back().unwrap();
            self.poll(now, host, port);
            let state = self.ports.get_mut(&(host, port)).unwrap();
            state.sink.push_back(last);
        }
        let state = self.ports.get_mut(&(host, port)).unwrap();
        if state.poll.is_some_and(|due| due < now) {
            // It found nothing.
            (state.lost, state.poll) = ((state.poll.unwrap(), 0), None);
        }
        if state.poll.is_none() {
            let end = now.checked_sub(phase + pause).map(|past| now - past % period);
            let over = end.filter(|&end| state.lost.0 < end && end < now && now < end + resume);
            let idle = state.sink.len() == 1;
            let due = over.filter(|_| idle).map_or(now + service, |end| end + resume);
            state.poll = Some(due);
            self.look(due);
        }
    }

    /// A poll of a sink with pauses.
    fn poll(&mut self, now: u64, host: u32, port: u16) {
        let Hiccups { period, pause, phase, .. } = self.parameters.hiccups;
        let state = self.ports.get_mut(&(host, port)).unwrap();
        let past = now.checked_sub(phase).map_or(0, |past| past % period);
        let Some(&(_, flit)) = state.sink.front() else {
            (state.poll, state.lost) = (None, (now, 0));
            return;
        };
        if past > 0 && past < pause {
            let end = now - past + pause;
            (state.poll, state.lost) = (None, (now, end));
            self.look(end);
            return;
        }
        state.sink.pop_front();
        if flit.last {
            self.delivered.push((now, flit.message));
        }
        let due = now + self.service(flit);
        self.ports.get_mut(&(host, port)).unwrap().poll = Some(due);
        self.look(due);
        self.credit_back(now, host, port, flit.lane);
    }

    /// A host's sink: the flit whose turn has come.
    fn drain(&mut self, now: u64, host: u32, port: u16) {
        let p = self.parameters;
        if p.hiccups.period > 0 {
            assert_eq!(p.hiccups.spread, Spread::Fixed);
            let state = self.ports.get_mut(&(host, port)).unwrap();
            if state.poll.is_none() && !state.sink.is_empty() && now == state.lost.1 {
                let due = now + p.hiccups.resume;
                state.poll = Some(due);
                self.look(due);
            }
            while self.ports[&(host, port)].poll == Some(now) {
                self.poll(now, host, port);
            }
            return;
        }
        let state = &self.ports[&(host, port)];
        let Some(&(arrived, flit)) = state.sink.front() else { return };
        let due = state.sink_free.max(arrived) + self.service(flit);
        let state = self.ports.get_mut(&(host, port)).unwrap();
        if due > now {
            self.look(due);
            return;
        }
        state.sink.pop_front();
        state.sink_free = now;
        if flit.last {
            self.delivered.push((now, flit.message));
        }
        self.credit_back(now, host, port, flit.lane);
        self.drain(now, host, port);
    }
}
