//! Hosts that inject what a script says, and answer what they receive.

use kernel::{Config, Event, Model, Next, Outbox, Random, Transport, Wire, execute};
use units::Time;

use crate::{Due, Mail, Network, Nowhere, Outlet, Parcel, Port};

/// A message of the script or an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    pub at: Time,
    pub parcel: Parcel,
    /// Its number among those of its source.
    pub sequence: u32,
}

/// What a host injected, and what reached it when.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub injected: Vec<Injection>,
    pub delivered: Vec<(Time, Injection)>,
}

/// What each host injects of itself, in order of time, and whether it is answered.
pub struct Script {
    lists: Vec<Vec<(Time, Parcel)>>,
    asks: bool,
}

impl Script {
    /// Twenty messages per host, many at the same time, every fourth one to host 0.
    pub fn random(hosts: u32, seed: u64) -> Self {
        let random = Random::new(seed, 0);
        let list = |source| {
            let mut at = 0;
            let mut list = Vec::new();
            for number in 0..20u64 {
                let draw = |index, bound| random.below(source, 4 * number + index, bound);
                // In ps: nothing most of the time, else up to 2 us in steps of 0.1 us.
                at += if draw(0, 3) == 0 { draw(1, 20) * 100_000 } else { 0 };
                let any = draw(2, u64::from(hosts)) as u32;
                let destination = if number % 4 == 0 { 0 } else { any };
                let bytes = draw(3, 1 << (number % 20));
                list.push((Time::from_ps(at), Parcel { source, destination, bytes }));
            }
            list
        };
        Self { lists: (0..hosts).map(list).collect(), asks: true }
    }

    /// These messages, those of each host in order of time, and no others.
    pub fn of(hosts: u32, messages: &[(Time, Parcel)]) -> Self {
        let mut lists = vec![Vec::new(); hosts as usize];
        for &(at, parcel) in messages {
            lists[parcel.source as usize].push((at, parcel));
        }
        Self { lists, asks: false }
    }

    /// What happens, by host.
    pub fn play<N: Network>(&self, network: &N, workers: usize, transport: Transport) -> Vec<Log> {
        let driver = Driver { network, script: self };
        let config = Config { workers, transport };
        let count = self.lists.len() as u32 + network.devices();
        let Ok(finished) = execute(&driver, count, config, || ()) else {
            panic!("a delivery past the range of time")
        };
        let log = |process| match process {
            Process::Host(host) => Some(host.log),
            Process::Device { .. } => None,
        };
        finished.parts.into_iter().flatten().filter_map(log).collect()
    }
}

struct Driver<'a, N> {
    network: &'a N,
    script: &'a Script,
}

enum Process<N: Network> {
    Host(Box<Host<N>>),
    Device { device: N::Device, signals: u32 },
}

struct Host<N: Network> {
    interface: N::Interface,
    port: Port<Traveller>,
    /// How much of the script is done.
    done: usize,
    /// What is delivered at a time that has not come yet.
    arriving: Vec<(Time, Injection, bool)>,
    log: Log,
}

/// A message on its way; its source and destination travel with it.
#[derive(Clone, Copy)]
struct Traveller {
    at: Time,
    bytes: u64,
    /// Whether it is answered.
    asks: bool,
}

impl Wire for Traveller {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.at.ps().to_le_bytes());
        bytes.extend_from_slice(&self.bytes.to_le_bytes());
        bytes.push(u8::from(self.asks));
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (at, rest) = bytes.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (&[asks], rest) = rest.split_first_chunk()?;
        *bytes = rest;
        let at = Time::from_ps(u64::from_le_bytes(*at));
        Some(Self { at, bytes: u64::from_le_bytes(*size), asks: asks != 0 })
    }
}

type Inbox<'a, N> =
    std::iter::Peekable<std::slice::Iter<'a, Event<Mail<Traveller, <N as Network>::Signal>>>>;
type Out<N> = Outbox<Mail<Traveller, <N as Network>::Signal>>;

/// The outlet of a process.
struct Gate<'a, N: Network> {
    id: u32,
    /// How many signals the process has sent.
    signals: &'a mut u32,
    delivered: &'a mut Vec<(Time, u32, u64)>,
    out: &'a mut Out<N>,
}

impl<N: Network> Outlet<N> for Gate<'_, N> {
    const LISTENS: bool = false;

    fn send(&mut self, to: u32, time: Time, signal: N::Signal) {
        *self.signals += 1;
        // Apart from the numbers of a host's messages.
        let (source, sequence) = (self.id, *self.signals | 1 << 31);
        let message = Mail::Signal(signal);
        self.out.send(Event { time, source, sequence, destination: to, message });
    }

    fn deliver(&mut self, at: Time, source: u32, number: u64) {
        self.delivered.push((at, source, number));
    }

    fn record(&mut self, _: Time, _: N::Record) {}
}

impl<N: Network> Host<N> {
    /// Another host tells of a message.
    fn announce(&mut self, event: &Event<Mail<Traveller, N::Signal>>, traveller: Traveller) {
        self.port.announce(event.source, event.sequence.into(), traveller.at, traveller);
    }

    /// Lets the interface do something.
    fn act(
        &mut self,
        id: u32,
        out: &mut Out<N>,
        act: impl FnOnce(&mut N::Interface, &mut Gate<'_, N>),
    ) {
        let mut delivered = Vec::new();
        let Self { interface, port, .. } = self;
        let signals = port.signals();
        act(interface, &mut Gate { id, signals, delivered: &mut delivered, out });
        for (at, source, number) in delivered {
            let Some((_, Traveller { at: injected, bytes, asks })) =
                self.port.delivered(source, number)
            else {
                panic!("message {number} of host {source} is delivered to {id} but not for it");
            };
            let parcel = Parcel { source, destination: id, bytes };
            let injection = Injection { at: injected, parcel, sequence: number as u32 };
            self.arriving.push((at, injection, asks));
        }
    }
}

impl<N: Network> Driver<'_, N> {
    /// A message is injected now.
    fn inject(&self, host: &mut Host<N>, at: Time, parcel: Parcel, asks: bool, out: &mut Out<N>) {
        let sequence = host.log.injected.len() as u32;
        host.log.injected.push(Injection { at, parcel, sequence });
        let Parcel { source, destination, bytes } = parcel;
        let traveller = Traveller { at, bytes, asks };
        let message = if N::DIRECT { Mail::Host(traveller) } else { Mail::Announcement(traveller) };
        let mut time = at.saturating_add(self.network.lookahead());
        if N::DIRECT {
            let number = sequence.into();
            let delivery =
                self.network.inject(&mut host.interface, at, parcel, number, &mut Nowhere);
            time = delivery.unwrap_or(Time::MAX);
        } else if source == destination {
            host.port.announce(source, sequence.into(), at, Traveller { at, bytes, asks });
            host.port.post(at, parcel, sequence.into());
            return;
        } else {
            host.port.post(at, parcel, sequence.into());
        }
        out.send(Event { time, source, sequence, destination, message });
    }

    /// What reaches the script's side of a host by now, in the order of time, source and number.
    fn receive(&self, id: u32, host: &mut Host<N>, now: Time, out: &mut Out<N>) {
        host.arriving
            .sort_by_key(|(at, injection, _)| (*at, injection.parcel.source, injection.sequence));
        while host.arriving.first().is_some_and(|(at, ..)| *at <= now) {
            let (at, injection, asks) = host.arriving.remove(0);
            host.log.delivered.push((at, injection));
            if asks {
                let Parcel { source, bytes, .. } = injection.parcel;
                let parcel = Parcel { source: id, destination: source, bytes };
                self.inject(host, at, parcel, false, out);
            }
        }
    }

    /// One instant at a host: mail first, then what the script injects, then the interface.
    fn instant(
        &self,
        id: u32,
        host: &mut Host<N>,
        now: Time,
        inbox: &mut Inbox<'_, N>,
        out: &mut Out<N>,
    ) {
        let network = self.network;
        host.act(id, out, |interface, gate| network.run(interface, now, gate));
        while let Some(event) = inbox.next_if(|event| event.time == now) {
            match event.message {
                Mail::Signal(signal) => {
                    host.act(id, out, |interface, gate| network.hear(interface, now, signal, gate));
                }
                Mail::Host(Traveller { at, bytes, asks }) => {
                    let parcel = Parcel { source: event.source, destination: id, bytes };
                    let injection = Injection { at, parcel, sequence: event.sequence };
                    host.arriving.push((now, injection, asks));
                }
                Mail::Announcement(traveller) => host.announce(event, traveller),
            }
        }
        self.receive(id, host, now, out);
        let script = &self.script.lists[id as usize];
        while let Some(&(at, parcel)) = script.get(host.done).filter(|(at, _)| *at <= now) {
            host.done += 1;
            self.inject(host, at, parcel, self.script.asks, out);
        }
        while let (at, Due::Injection) = host.port.next(network, &host.interface)
            && at <= now
            && let Some((at, parcel, number)) = host.port.pop()
        {
            host.act(id, out, |interface, gate| {
                let answer = network.inject(interface, at, parcel, number, gate);
                assert_eq!(answer, None, "a network that is not direct answers at the injection");
            });
            self.receive(id, host, now, out);
        }
        let after = now.saturating_add(Time::from_ps(1));
        host.act(id, out, |interface, gate| network.run(interface, after, gate));
    }
}

impl<N: Network> Model for Driver<'_, N> {
    type Process = Process<N>;
    type Message = Mail<Traveller, N::Signal>;
    type Worker = ();

    fn process(&self, id: u32) -> Self::Process {
        let hosts = self.script.lists.len() as u32;
        if id >= hosts {
            return Process::Device { device: self.network.device(id - hosts), signals: 0 };
        }
        let interface = self.network.interface(id);
        let (port, log) = (Port::default(), Log::default());
        Process::Host(Box::new(Host { interface, port, done: 0, arriving: Vec::new(), log }))
    }

    fn lookahead(&self) -> Time {
        self.network.lookahead()
    }

    fn on_passive(&self, process: &mut Self::Process, event: &Event<Self::Message>) {
        if let (Process::Host(host), Mail::Announcement(traveller)) = (process, event.message) {
            host.announce(event, traveller);
        }
    }

    fn run(
        &self,
        id: u32,
        process: &mut Self::Process,
        until: Time,
        inbox: &[Event<Self::Message>],
        (): &mut (),
        out: &mut Out<N>,
    ) -> Next {
        let host = match process {
            Process::Host(host) => host,
            Process::Device { device, signals } => {
                let heard = inbox.iter().filter_map(|event| match event.message {
                    Mail::Signal(signal) => Some((event.time, signal)),
                    Mail::Host(_) | Mail::Announcement(_) => None,
                });
                let mut delivered = Vec::new();
                let mut gate = Gate { id, signals, delivered: &mut delivered, out };
                let time = self.network.run_device(device, until, heard, &mut gate);
                assert!(delivered.is_empty(), "a device delivers");
                return Next { time, urgent: false };
            }
        };
        let mut inbox = inbox.iter().peekable();
        loop {
            let script = self.script.lists[id as usize].get(host.done);
            let arriving = host.arriving.iter().map(|(at, ..)| *at).min();
            let own = [
                script.map_or(Time::MAX, |(at, _)| *at),
                arriving.unwrap_or(Time::MAX),
                host.port.next(self.network, &host.interface).0,
            ];
            let own = own.into_iter().min().unwrap_or(Time::MAX);
            let now = inbox.peek().map_or(own, |event| event.time.min(own));
            if now >= until {
                return Next { time: own, urgent: false };
            }
            self.instant(id, host, now, &mut inbox, out);
        }
    }
}
