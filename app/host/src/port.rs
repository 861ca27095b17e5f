//! A host's end of a network that has devices of its own.
//!
//! What the network carries is bytes; what a message is about travels beside it, as an announcement that
//! reaches the receiver when the lookahead has passed, which is before the network can deliver. At one
//! instant mail comes first, then injections, then what the interface does of itself, and then what the
//! rank does.

use kernel::{Event, Outbox, Probe, Wire};
use network::{Due, Mail, Network, Outlet, Parcel};
use units::Time;

use crate::Record;
use crate::engine::{Crew, Engine, Turn, opened};
use crate::message::{Kind, Message};
use crate::source::Source;

type Letter<N> = Event<Mail<Message, <N as Network>::Signal>>;
type Out<N> = Outbox<Mail<Message, <N as Network>::Signal>>;

/// The outlet of an interface or a device.
struct Gate<'a, N: Network, B> {
    id: u32,
    /// How many signals the process has sent.
    signals: &'a mut u32,
    delivered: &'a mut Vec<(Time, u32, u64)>,
    out: &'a mut Out<N>,
    probe: &'a mut B,
}

impl<N: Network, B: Probe<Record<N::Record>>> Outlet<N> for Gate<'_, N, B> {
    const LISTENS: bool = B::LISTENS;

    #[inline]
    fn send(&mut self, to: u32, time: Time, signal: N::Signal) {
        *self.signals = self.signals.wrapping_add(1);
        // Apart from the numbers of a host's messages.
        let (source, sequence) = (self.id, *self.signals | 1 << 31);
        let message = Mail::Signal(signal);
        self.out.send(Event { time, source, sequence, destination: to, message });
    }

    #[inline]
    fn deliver(&mut self, at: Time, source: u32, number: u64) {
        self.delivered.push((at, source, number));
    }

    #[inline]
    fn record(&mut self, at: Time, record: N::Record) {
        self.probe.record(Record::Network { device: self.id, at, record });
    }
}

/// A device of the network in one window: itself with its process and the number of its next signal.
pub fn run_device<S: Source, N: Network, B: Probe<Record<N::Record>>>(
    engine: &Engine<'_, S, N>,
    (id, device, signals): (u32, &mut N::Device, &mut u32),
    until: Time,
    inbox: &[Letter<N>],
    crew: &mut Crew<B>,
    out: &mut Out<N>,
) -> Time {
    let heard = inbox.iter().filter_map(|event| match event.message {
        Mail::Signal(signal) => Some((event.time, signal)),
        Mail::Host(_) => None,
    });
    crew.events += inbox.len() as u64;
    let Crew { delivered, probe, .. } = crew;
    let mut gate = Gate { id, signals, delivered, out, probe };
    engine.network.run_device(device, until, heard, &mut gate)
}

impl<S: Source, N: Network, B: Probe<Record<N::Record>>> Turn<'_, S, N, B> {
    /// A message is to enter the network at a moment that may not have come yet.
    pub fn post(&mut self, entry: Time, parcel: Parcel, sequence: u32, message: Message) {
        let source = self.id;
        let destination = parcel.destination;
        if destination == source {
            // It does not leave the host.
            if message.urgent() {
                self.rank.matching().urgent += 1;
            }
            return self.arrive(&Event { time: entry, source, sequence, destination, message });
        }
        if let Some(port) = &mut self.rank.port {
            port.post(entry, parcel, sequence.into());
        }
        let time = entry.saturating_add(self.engine.network.lookahead());
        let message = Mail::Host(message);
        self.out.send(Event { time, source, sequence, destination, message });
    }

    /// When something is next at the host's end of the network.
    fn port_next(&self) -> (Time, Due) {
        let next =
            |port: &network::Port<Message>| port.next(self.engine.network, &self.rank.interface);
        self.rank.port.as_deref().map_or((Time::MAX, Due::Interface), next)
    }

    /// Handles everything before `until`, at the rank and at its end of the network; returns when the
    /// next thing happens.
    pub fn work_with_port(&mut self, until: Time, inbox: &[Letter<N>]) -> Time {
        let mut inbox = inbox.iter().peekable();
        loop {
            let heard = inbox.peek().map_or(Time::MAX, |event| event.time);
            let now = heard.min(self.port_next().0);
            let next = self.work(now.min(until));
            // What the rank has done may have made an injection come first.
            let own = self.port_next().0;
            if own < now.min(until) {
                continue;
            }
            if now >= until {
                return next.min(own);
            }
            self.instant(now, &mut inbox);
        }
    }

    /// What happens at one instant at the host's end of the network.
    fn instant(
        &mut self,
        now: Time,
        inbox: &mut std::iter::Peekable<std::slice::Iter<'_, Letter<N>>>,
    ) {
        let network = self.engine.network;
        while let Some(event) = inbox.next_if(|event| event.time == now) {
            if let Mail::Signal(signal) = event.message {
                self.crew.events += 1;
                self.act(|interface, gate| {
                    network.run(interface, now, gate);
                    network.hear(interface, now, signal, gate);
                });
            } else if let Some(event) = opened(event) {
                self.told(&event);
            }
        }
        while let (at, Due::Injection) = self.port_next()
            && at <= now
            && let Some((_, parcel, number)) = self.rank.port.as_mut().and_then(|port| port.pop())
        {
            self.act(|interface, gate| {
                network.run(interface, now, gate);
                network.inject(interface, now, parcel, number, gate);
            });
        }
        if network.next(&self.rank.interface) <= now {
            let after = now.saturating_add(Time::from_ps(1));
            self.act(|interface, gate| network.run(interface, after, gate));
        }
    }

    /// Another host tells of a message, or releases one.
    fn told(&mut self, event: &Event<Message>) {
        let message = event.message;
        if message.kind == Kind::Release {
            return self.arrive(event);
        }
        if message.urgent() {
            self.rank.matching().urgent += 1;
        }
        let entry = event.time.saturating_sub(self.engine.network.lookahead());
        if let Some(port) = &mut self.rank.port {
            port.announce(event.source, event.sequence.into(), entry, message);
        }
    }

    /// Lets the interface act, and takes what it delivers.
    #[inline]
    fn act(&mut self, act: impl FnOnce(&mut N::Interface, &mut Gate<'_, N, B>)) {
        let Self { id, rank, crew, out, .. } = self;
        let Some(port) = &mut rank.port else { return };
        let Crew { delivered, probe, .. } = &mut **crew;
        let mut gate = Gate { id: *id, signals: port.signals(), delivered, out, probe };
        act(&mut rank.interface, &mut gate);
        while let Some((time, source, number)) = self.crew.delivered.pop() {
            self.delivered(time, source, number);
        }
    }

    /// The network delivers a message, at a time that may lie ahead.
    fn delivered(&mut self, time: Time, source: u32, number: u64) {
        let announced = self.rank.port.as_mut().and_then(|port| port.delivered(source, number));
        let Some((entry, message)) = announced else { return };
        let path = message.path;
        let path = path.latency(time.saturating_sub(entry));
        let (sequence, destination) = (number as u32, self.id);
        let message = Message { path, ..message };
        self.arrive(&Event { time, source, sequence, destination, message });
    }
}
