//! The kernel's model of a network with endpoints at its hosts.
//!
//! It owns the interfaces and devices of the network, carries their signals, and brings what
//! senders announce about transfers together with the deliveries of the network. Every run over a
//! network goes through it; what sits at the hosts is an [`Endpoint`].
//!
//! Processes are numbered as devices are: hosts first, then switches.

use std::slice::Iter;

use kernel::{Event, Model, Next, Outbox};
use units::{DeviceId, HostId, MessageId, Time};

use crate::nic::Due;
use crate::{Delivery, Endpoint, Mail, Network, Nic, Outlet, Record, Site, Worked};

/// A network and the endpoint at its hosts.
pub struct Harness<'a, N, E> {
    /// The network.
    pub network: &'a N,
    /// The endpoint at its hosts.
    pub endpoint: E,
    /// The number of hosts.
    pub hosts: u32,
}

/// A process: a host, or a device with the number of signals that it has sent.
pub enum Process<N: Network, E: Endpoint<N>> {
    /// A host at which nothing has happened and, unless mail reaches it, nothing ever will.
    Idle,
    /// A host and its network adapter.
    Host(E::Host, Nic<N, E::Payload>),
    /// A device behind the hosts.
    Device(N::Device, u32),
}

/// The state of a worker.
pub struct Worker<W> {
    /// The endpoint's part.
    pub own: W,
    /// Signals that interfaces and devices have heard.
    pub signals: u64,
    told: Told,
}

/// The events that an interface tells its host, until the endpoint takes it.
#[derive(Default)]
struct Told {
    deliveries: Vec<(Time, HostId, MessageId)>,
    left: Vec<(Time, MessageId)>,
}

impl<W> Worker<W> {
    /// A worker that keeps this for its endpoint.
    pub const fn new(own: W) -> Self {
        Self { own, signals: 0, told: Told { deliveries: Vec::new(), left: Vec::new() } }
    }
}

/// Mail that reaches a process.
pub type Letter<N, E> = Event<Mail<<E as Endpoint<N>>::Payload, <N as Network>::Signal>>;

/// A window of a host.
pub struct Windowed<'t, N: Network, E: Endpoint<N>> {
    /// Its end.
    pub until: Time,
    /// The mail of the window, in order of time.
    pub inbox: &'t [Letter<N, E>],
    told: &'t mut Told,
    signals: &'t mut u64,
}

type Inbox<'t, N, E> = std::iter::Peekable<Iter<'t, Letter<N, E>>>;

/// Gives the mail of an endpoint without its envelope; `None` if it is something else.
#[inline(always)]
pub fn opened<P: Copy, S>(event: &Event<Mail<P, S>>) -> Option<Event<P>> {
    let Event { time, source, sequence, destination, message: Mail::Host(message) } = *event else {
        return None;
    };
    Some(Event { time, source, sequence, destination, message })
}

/// The outlet of an interface or a device.
struct Gate<'a, N: Network, E: Endpoint<N>> {
    device: DeviceId,
    /// The number of hosts, and the time by which the clocks of devices go ahead.
    hosts: u32,
    lead: Time,
    /// The number of signals that the process has sent.
    signals: &'a mut u32,
    told: &'a mut Told,
    out: &'a mut Outbox<Mail<E::Payload, N::Signal>>,
    worker: &'a mut E::Worker,
}

impl<N: Network, E: Endpoint<N>> Outlet<N> for Gate<'_, N, E> {
    const LISTENS: bool = E::LISTENS;

    #[inline]
    fn send(&mut self, to: DeviceId, time: Time, signal: N::Signal) {
        *self.signals = self.signals.wrapping_add(1);
        // The upper half of the numbers, apart from those of an endpoint's mail.
        let (source, sequence) = (self.device.0, *self.signals | 1 << 31);
        let message = Mail::Signal(signal);
        let ahead = E::LEADS && to.0 >= self.hosts;
        let time = if ahead { time.saturating_add(self.lead) } else { time };
        self.out.send(Event { time, source, sequence, destination: to.0, message });
    }

    #[inline]
    fn left(&mut self, at: Time, id: MessageId) {
        if E::WANTS_LEFT {
            self.told.left.push((at, id));
        }
    }

    #[inline]
    fn deliver(&mut self, at: Time, source: HostId, id: MessageId) {
        if at == Time::MAX {
            self.out.overflow();
        }
        self.told.deliveries.push((at, source, id));
    }

    fn give_up(&mut self, at: Time, destination: HostId) {
        self.out.give_up(at, self.device.0, destination.0);
    }

    #[inline]
    fn record(&mut self, at: Time, record: Record<N::Detail>) {
        E::record(self.worker, self.device, at, record);
    }
}

impl<N: Network, E: Endpoint<N>> Model for Harness<'_, N, E> {
    type Process = Process<N, E>;
    type Message = Mail<E::Payload, N::Signal>;
    type Worker = Worker<E::Worker>;

    const READS_AHEAD: bool = N::READS_AHEAD;

    #[inline(always)]
    fn process(&self, id: u32) -> Self::Process {
        let device = DeviceId(id);
        match device.host(self.hosts) {
            Some(host) if self.endpoint.is_idle(host) => Process::Idle,
            Some(host) => self.host(host),
            None => Process::Device(self.network.device(device), 0),
        }
    }

    fn lookahead(&self) -> Time {
        if E::LEADS { self.network.lead().1 } else { self.endpoint.lookahead(self.network) }
    }

    fn weight(&self, id: u32) -> u32 {
        let device = DeviceId(id);
        match device.host(self.hosts) {
            Some(host) if self.endpoint.is_idle(host) => 0,
            Some(host) => self.endpoint.weight(host),
            None => self.network.weight(device),
        }
    }

    fn order(&self) -> Option<Vec<u32>> {
        let order = self.network.order()?;
        let mut order: Vec<u32> = order.into_iter().map(|device| device.0).collect();
        if self.endpoint.keeps_order() {
            let hosts = order.iter_mut().filter(|process| **process < self.hosts);
            hosts.zip(0..).for_each(|(process, host)| *process = host);
        }
        Some(order)
    }

    fn lookahead_across(&self, worker_of: &dyn Fn(u32) -> usize) -> Option<Time> {
        let mail = self.endpoint.mail_delay(self.network)?;
        Some(self.network.lookahead_between(&|device| worker_of(device.0)).min(mail))
    }

    fn run(
        &self,
        id: u32,
        process: &mut Self::Process,
        until: Time,
        inbox: &[Event<Self::Message>],
        worker: &mut Self::Worker,
        out: &mut Outbox<Self::Message>,
    ) -> Next {
        let Worker { own: worker, signals, told } = worker;
        let (state, nic) = match process {
            Process::Host(state, nic) => (state, nic),
            // Such networks have none: so the compiler need not keep what follows.
            Process::Device(..) if N::DIRECT => return Next::NEVER,
            Process::Device(device, sent) => {
                *signals += inbox.len() as u64;
                let lead = self.lead();
                let heard = inbox.iter().filter_map(|event| match event.message {
                    Mail::Signal(signal) => Some((event.time.saturating_sub(lead), signal)),
                    Mail::Host(_) | Mail::Announcement(_) => None,
                });
                let (signals, hosts) = (sent, self.hosts);
                let mut gate: Gate<'_, N, E> =
                    Gate { device: DeviceId(id), hosts, lead, signals, told, out, worker };
                let until = until.saturating_sub(lead);
                let time = self.network.run_device(device, until, heard, &mut gate);
                return Next { time: time.saturating_add(lead), urgent: false };
            }
            Process::Idle if inbox.is_empty() => return Next::NEVER,
            Process::Idle => {
                *process = self.host(HostId(id));
                let Process::Host(state, nic) = process else { return Next::NEVER };
                (state, nic)
            }
        };
        let (network, host) = (self.network, HostId(id));
        let site = Site { worker, network, out, host, nic };
        let window = Windowed { until, inbox, told, signals };
        if N::DIRECT {
            return E::run_direct(self, state, site, window);
        }
        self.run_host(state, site, window)
    }

    fn on_passive(&self, process: &mut Self::Process, event: &Event<Self::Message>) {
        if let Process::Idle = process {
            *process = self.host(HostId(event.destination));
        }
        if let (Process::Host(state, nic), Mail::Announcement(payload)) = (process, event.message) {
            self.announced(state, nic, event, payload);
        }
    }

    #[inline]
    fn prefetch(&self, id: u32, process: &Self::Process, stage: usize) {
        match process {
            Process::Host(state, nic) => {
                self.endpoint.prefetch(HostId(id), state, stage);
                if stage == 0 {
                    nic.prefetch(self.network);
                }
            }
            Process::Device(device, _) => self.network.prefetch_device(device, stage),
            Process::Idle => {}
        }
    }

    #[inline]
    fn prefetch_for(&self, process: &Self::Process, event: &Event<Self::Message>) {
        if let (Process::Device(device, _), Mail::Signal(signal)) = (process, &event.message) {
            self.network.prefetch_signal(device, signal);
        }
    }

    fn harvest(&self, id: u32, process: &mut Self::Process, worker: &mut Self::Worker) {
        let worker = &mut worker.own;
        match process {
            Process::Idle => {}
            Process::Host(state, nic) => self.endpoint.harvest(HostId(id), state, nic, worker),
            Process::Device(state, _) => {
                self.endpoint.harvest_device(DeviceId(id), state, worker);
            }
        }
    }

    fn end(&self, worker: &Self::Worker) -> Time {
        self.endpoint.end(&worker.own)
    }

    fn window_done(&self, worker: &mut Self::Worker, until: Time) {
        self.endpoint.window_done(&mut worker.own, worker.signals, until);
    }
}

impl<N: Network, E: Endpoint<N>> Harness<'_, N, E> {
    /// The time by which the clocks of devices go ahead of those of hosts.
    #[inline(always)]
    fn lead(&self) -> Time {
        if E::LEADS { self.network.lead().0 } else { Time::ZERO }
    }

    #[inline(always)]
    fn host(&self, host: HostId) -> Process<N, E> {
        Process::Host(self.endpoint.host(host), Nic::new(self.network, host))
    }

    /// Handles a window at a host: what was held in an earlier one, then its own mail.
    fn run_host(
        &self,
        state: &mut E::Host,
        site: Site<'_, N, E>,
        window: Windowed<'_, N, E>,
    ) -> Next {
        let mut held = match &mut site.nic.queues {
            Some(queues) if !queues.held.is_empty() => std::mem::take(&mut queues.held),
            _ => return self.run_instants(state, site, window),
        };
        let Windowed { until, inbox, told, signals } = window;
        held.extend_from_slice(inbox);
        let window = Windowed { until, inbox: &held, told, signals };
        self.run_instants(state, site, window)
    }

    /// Handles a window at a host, instant by instant. The endpoint is called only if it may have
    /// something to do.
    pub fn run_instants(
        &self,
        state: &mut E::Host,
        site: Site<'_, N, E>,
        window: Windowed<'_, N, E>,
    ) -> Next {
        let Windowed { until, inbox, told, signals } = window;
        let mut inbox = inbox.iter().peekable();
        let due = site.nic.due();
        let mut host = HostRun { harness: self, state, site, told, signals, due };
        let time = host.run(until, &mut inbox);
        let HostRun { state, site, due, .. } = host;
        site.nic.set_due(due);
        Next { time, urgent: self.endpoint.urgent(state) }
    }

    /// Keeps what another host tells about a transfer.
    fn announced(
        &self,
        state: &mut E::Host,
        nic: &mut Nic<N, E::Payload>,
        event: &Letter<N, E>,
        payload: E::Payload,
    ) {
        let entry = event.time.saturating_sub(self.network.lookahead());
        let Event { time, source, sequence, destination, .. } = *event;
        let event = Event { time, source, sequence, destination, message: payload };
        nic.announce(self.endpoint.announced(state, &event), entry, payload);
    }
}

/// A host at work in one window.
struct HostRun<'t, 'a, N: Network, E: Endpoint<N>> {
    state: &'t mut E::Host,
    harness: &'t Harness<'a, N, E>,
    told: &'t mut Told,
    signals: &'t mut u64,
    /// The time at which the endpoint has something to do next, or earlier.
    due: Time,
    site: Site<'t, N, E>,
}

impl<N: Network, E: Endpoint<N>> HostRun<'_, '_, N, E> {
    /// Handles everything before `until`, or before an event for which the endpoint has to wait;
    /// returns when the next thing happens.
    fn run(&mut self, until: Time, inbox: &mut Inbox<'_, N, E>) -> Time {
        let network = self.harness.network;
        let mut own = self.site.nic.next(network).0;
        loop {
            let heard = inbox.peek().map_or(Time::MAX, |event| event.time);
            let now = heard.min(own);
            if self.due < now.min(until) {
                let endpoint = &self.harness.endpoint;
                let Worked { next, held } =
                    endpoint.work(self.state, &mut self.site, now.min(until));
                self.due = next;
                if held {
                    self.hold(inbox);
                    return next;
                }
                // The endpoint may have posted a transfer that comes first now.
                own = self.site.nic.next(network).0;
                continue;
            }
            if now >= until {
                self.hold(inbox);
                return self.due.min(now);
            }
            own = self.instant(now, inbox);
        }
    }

    /// Keeps the mail that is left until the next window.
    fn hold(&mut self, inbox: &mut Inbox<'_, N, E>) {
        if inbox.peek().is_some()
            && let Some(queues) = &mut self.site.nic.queues
        {
            queues.held.extend(inbox.copied());
        }
    }

    /// Handles one instant, but for the endpoint's own part; nothing is due before it. Returns when
    /// a transfer enters next or the interface acts of its own accord.
    fn instant(&mut self, now: Time, inbox: &mut Inbox<'_, N, E>) -> Time {
        let network = self.harness.network;
        while let Some(event) = inbox.next_if(|event| event.time == now) {
            match event.message {
                Mail::Signal(signal) => {
                    *self.signals += 1;
                    self.harness.endpoint.signalled(self.state);
                    self.act(|interface, gate| network.hear(interface, now, signal, gate));
                }
                Mail::Announcement(payload) => {
                    self.harness.announced(self.state, self.site.nic, event, payload);
                }
                Mail::Host(_) => {
                    self.due = self.due.min(now);
                    if let Some(event) = opened(event) {
                        self.harness.endpoint.hear(self.state, &mut self.site, &event);
                    }
                }
            }
        }
        loop {
            match self.site.nic.next(network) {
                (at, Due::Injection) if at <= now => {
                    let Some((transfer, id)) = self.site.nic.take_posted() else { return at };
                    self.act(|interface, gate| {
                        network.inject(interface, now, transfer, id, gate);
                    });
                }
                (at, Due::Interface) if at <= now => {
                    let after = now.saturating_add(Time::from_ps(1));
                    self.act(|interface, gate| network.run(interface, after, gate));
                    return self.site.nic.next(network).0;
                }
                (at, _) => return at,
            }
        }
    }

    /// Lets the interface act, and hands over what it delivers.
    #[inline]
    fn act(&mut self, act: impl FnOnce(&mut N::Interface, &mut Gate<'_, N, E>)) {
        let Site { nic, worker, out, host, .. } = &mut self.site;
        let Some(queues) = &mut nic.queues else { return };
        let (device, signals, told) = (DeviceId::from(*host), &mut queues.signals, &mut *self.told);
        let (hosts, lead) = (self.harness.hosts, self.harness.lead());
        act(&mut nic.interface, &mut Gate { device, hosts, lead, signals, told, out, worker });
        while E::WANTS_LEFT
            && let Some((at, id)) = self.told.left.pop()
        {
            self.due = self.due.min(at);
            self.harness.endpoint.left(self.state, &mut self.site, at, id);
        }
        while let Some((at, source, id)) = self.told.deliveries.pop() {
            let announced = if E::ANNOUNCES { self.site.nic.announced((source, id)) } else { None };
            let delivery = Delivery { at, source, id, announced };
            let due = self.harness.endpoint.delivered(self.state, &mut self.site, delivery);
            self.due = self.due.min(due);
        }
    }
}
