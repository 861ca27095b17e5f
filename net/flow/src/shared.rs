//! A network of flows that meets the contract of all networks.
//!
//! All flows meet in one device, the solver. A flow uses no bandwidth before its latency has
//! passed, and that leaves the device time. Let W be half the least latency of a message between
//! two hosts. A start takes W to the device, so that at time T all flows are known there that use
//! bandwidth before T + W. Up to then the device solves, and an end takes W back to its hosts. So
//! no time is added, and the ends are those of [`Network`].
//!
//! Messages of a host to itself meet nothing: they take what they take alone.

use std::{collections::BTreeSet, sync::Arc};

use kernel::Wire;
use network::{Links, Never, Outlet, Record, Transfer, Uncontended};
use units::{DeviceId, HostId, MessageId, Time};

use crate::{Link, Network, Parameters, Routes, fluid::after, network::way};

/// Messages as flows between the hosts of a platform, for whatever runs on any network: synthetic
/// traffic, the suite of conformance.
#[derive(Debug)]
pub struct Shared<R> {
    routes: Arc<R>,
    links: Arc<[Link]>,
    parameters: Parameters,
    hosts: u32,
    /// W.
    half: Time,
}

impl<R> Clone for Shared<R> {
    fn clone(&self) -> Self {
        let Self { routes, links, parameters, hosts, half } = self;
        let (routes, links) = (Arc::clone(routes), Arc::clone(links));
        Self { routes, links, parameters: parameters.clone(), hosts: *hosts, half: *half }
    }
}

/// A start or an end of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    transfer: Transfer,
    id: MessageId,
    /// True at the end for the host from which it came: the message has left.
    left: bool,
}

/// The device in which all flows meet.
pub struct Solver<R> {
    network: Network<Arc<R>>,
    /// The flows under way by token, and the tokens that are free.
    flows: Vec<Signal>,
    free: Vec<u32>,
    done: Vec<u32>,
}

impl Wire for Signal {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let Transfer { source, destination, bytes: size, class, rail } = self.transfer;
        for word in [source.0.into(), destination.0.into(), size, self.id.0] {
            bytes.extend_from_slice(&u64::to_le_bytes(word));
        }
        bytes.extend_from_slice(&[class, rail, u8::from(self.left)]);
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let mut word = || {
            let (word, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*word))
        };
        let host = |word: u64| u32::try_from(word).ok().map(HostId);
        let [source, destination] = [host(word()?)?, host(word()?)?];
        let (size, id) = (word()?, MessageId(word()?));
        let (&[class, rail, left], rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        let transfer = Transfer { source, destination, bytes: size, class, rail };
        Some(Self { transfer, id, left: left != 0 })
    }
}

impl<R: Routes> Shared<R> {
    /// A network of these links between `hosts` hosts. `latency` is the least latency of a route
    /// between two of them, in seconds.
    ///
    /// # Errors
    /// The latency is zero, or the factors make it so: then the solver would have to know of a
    /// start before the host does.
    pub fn new(
        routes: R,
        links: Vec<Link>,
        parameters: Parameters,
        hosts: u32,
        latency: f64,
    ) -> Result<Self, String> {
        let factors = parameters.latency_factors.pairs();
        // Below the first bound the factor is 1.
        let least = factors.iter().map(|(_, factor)| *factor).fold(1.0, f64::min);
        #[expect(clippy::cast_sign_loss, reason = "what is negative becomes zero")]
        let half = Time::from_ps((latency * least * 1e12 / 2.0) as u64);
        if half == Time::ZERO {
            return Err("a flow needs a latency between any two hosts, of 2 ps or more".to_owned());
        }
        Ok(Self { routes: Arc::new(routes), links: links.into(), parameters, hosts, half })
    }

    fn network(&self) -> Network<Arc<R>> {
        let routes = Arc::clone(&self.routes);
        Network::new(routes, &self.links, &[], self.parameters.clone(), kernel::Silent)
    }

    /// Returns what a message takes alone; `None` if there is no way.
    fn alone(&self, transfer: Transfer) -> Option<Uncontended> {
        let ends = (transfer.source.0, transfer.destination.0);
        let bandwidth = |link: u32| self.links[link as usize].bandwidth;
        let (routes, parameters) = (&*self.routes, &self.parameters);
        let (mut links, mut uses) = (Vec::new(), Vec::new());
        let way =
            way(routes, parameters, bandwidth, ends, transfer.bytes, &mut links, &mut uses).ok()?;
        let serialisation = Time::from_ps(after(0, way.alone() * 1e12));
        let latency = way.latency;
        let transit = latency.saturating_add(serialisation);
        Some(Uncontended { transit, latency, leaving: serialisation, draining: serialisation })
    }
}

impl<R: Routes + Send + Sync> Shared<R> {
    /// Starts the flow of a signal that arrives now. Its message has set out W ago, and flows are
    /// solved W ahead.
    fn start_flow(
        &self,
        solver: &mut Solver<R>,
        now: Time,
        signal: Signal,
        out: &mut impl Outlet<Self>,
    ) {
        let token = solver.free.pop().unwrap_or_else(|| {
            solver.flows.push(signal);
            solver.flows.len() as u32 - 1
        });
        solver.flows[token as usize] = signal;
        let Transfer { source, destination, bytes, .. } = signal.transfer;
        let ends = (source.0, destination.0);
        let (ahead, since) = (now.saturating_add(self.half), self.half.saturating_add(self.half));
        if solver.network.send_late(ahead, since, ends, bytes, token).is_err() {
            // Without a way it never arrives.
            Self::tell_end(signal, Time::MAX, out);
            solver.free.push(token);
        }
    }

    /// Tells the hosts of all flows that end before `until` + W, and returns when to go on.
    fn end_flows(&self, solver: &mut Solver<R>, until: Time, out: &mut impl Outlet<Self>) -> Time {
        while let Some(end) = solver.network.next_event() {
            if end == Time::MAX {
                // What is under way does not end within the range of time.
                let free: BTreeSet<u32> = solver.free.iter().copied().collect();
                for token in (0..solver.flows.len() as u32).filter(|token| !free.contains(token)) {
                    Self::tell_end(solver.flows[token as usize], end, out);
                }
                break;
            }
            let act = end.saturating_sub(self.half);
            if act >= until {
                return act;
            }
            solver.network.advance(end, &mut solver.done);
            for token in solver.done.drain(..) {
                Self::tell_end(solver.flows[token as usize], end, out);
                solver.free.push(token);
            }
        }
        Time::MAX
    }

    fn tell_end(signal: Signal, at: Time, out: &mut impl Outlet<Self>) {
        out.send(signal.transfer.destination.into(), at, signal);
        out.send(signal.transfer.source.into(), at, Signal { left: true, ..signal });
    }
}

impl<R: Routes + Send + Sync> Links for Shared<R> {
    fn link_time(&self, host: HostId, bytes: u64) -> Time {
        let others = (1..self.hosts).map(|step| HostId((host.0 + step) % self.hosts));
        let mut found = others.filter_map(|other| self.alone(Transfer::new(host, other, bytes)));
        found.next().map_or(Time::ZERO, |alone| alone.leaving)
    }

    fn hops(&self, source: HostId, destination: HostId, _: MessageId) -> u32 {
        let mut links = Vec::new();
        let found = self.routes.route(source.0, destination.0, &mut links);
        found.map_or(0, |_| links.len() as u32)
    }

    /// A fluid has neither packets nor flits: a message counts as one of each.
    fn packets_and_flits(&self, _: u64) -> (u64, u64) {
        (1, 1)
    }

    fn flit_time(&self, _: DeviceId, _: u16) -> Option<Time> {
        None
    }
}

impl<R: Routes + Send + Sync> network::Network for Shared<R> {
    type Interface = ();
    type Device = Solver<R>;
    type Signal = Signal;
    type Detail = Never;

    const DIRECT: bool = false;
    const TELLS_LEFT: bool = true;

    fn hosts(&self) -> Option<u32> {
        Some(self.hosts)
    }

    fn devices(&self) -> u32 {
        1
    }

    fn weight(&self, _: DeviceId) -> u32 {
        // All the work is in the solver.
        self.hosts.saturating_mul(4)
    }

    fn interface(&self, _: HostId) {}

    fn device(&self, _: DeviceId) -> Solver<R> {
        Solver { network: self.network(), flows: Vec::new(), free: Vec::new(), done: Vec::new() }
    }

    fn lookahead(&self) -> Time {
        self.half
    }

    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        self.alone(transfer).unwrap_or(Uncontended { transit: Time::MAX, ..Uncontended::default() })
    }

    fn inject(
        &self,
        (): &mut (),
        at: Time,
        transfer: Transfer,
        id: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        if transfer.source == transfer.destination {
            let arrival = at.saturating_add(self.uncontended(transfer).transit);
            out.left(arrival, id);
            out.deliver(arrival, transfer.source, id);
        } else {
            // The only device has the number behind those of the hosts.
            let signal = Signal { transfer, id, left: false };
            out.send(DeviceId(self.hosts), at.saturating_add(self.half), signal);
        }
        None
    }

    fn hear(&self, (): &mut (), at: Time, signal: Signal, out: &mut impl Outlet<Self>) {
        let Signal { transfer: Transfer { source, destination, .. }, id, left } = signal;
        if left {
            out.left(at, id);
        } else {
            let hops = u16::try_from(self.hops(source, destination, id)).unwrap_or(u16::MAX);
            out.record(at, Record::Arrived { source, hops });
            out.deliver(at, source, id);
        }
    }

    fn run_device(
        &self,
        solver: &mut Solver<R>,
        until: Time,
        signals: impl Iterator<Item = (Time, Signal)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        let mut last = None;
        for (at, signal) in signals {
            if last.replace(at) != Some(at) {
                self.end_flows(solver, at, out);
            }
            self.start_flow(solver, at, signal, out);
        }
        self.end_flows(solver, until, out)
    }

    fn device_at_rest(&self, solver: &Solver<R>) -> Result<(), String> {
        let flows = solver.flows.len() - solver.free.len();
        if flows == 0 { Ok(()) } else { Err(format!("{flows} flows are under way")) }
    }
}
