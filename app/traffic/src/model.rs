//! The kernel's processes: hosts that make messages, the network's devices, and an observer that
//! hears from every host at the end of each batch and decides about warm-up and end. What it
//! decides depends on mail alone, so it is the same on any number of threads.

use std::collections::VecDeque;
use std::marker::PhantomData;

use host::Record;
use kernel::{Event, Model, Next, Outbox, Probe, Random, Wire};
use network::{Mail, Network, Outlet, Parcel};
use units::Time;

use crate::arrivals::Pace;
use crate::judge::{Batch, Judge, Span, Verdict};
use crate::statistics::Histogram;
use crate::{Settings, Wired};

/// Purposes of random numbers.
const WHEN: u32 = 0x5452_0001;
const WHERE: u32 = 0x5452_0002;
const LENGTH: u32 = 0x5452_0003;

/// A message's number in the network is its time of entry and, in so many bits below, its number at
/// its source, from which the receiver draws its length again. Lengths repeat after 2^20 messages.
const INDEX: u32 = 20;
/// Times of entry that fit.
pub(crate) const FAR: u64 = 1 << (64 - INDEX);

/// What processes of this model say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A message of this number is delivered, by a network that knows so at the injection.
    Arrived(u64),
    /// A host's part of a batch, and whether it heard anything from the network or has something to
    /// do there.
    Report { batch: Batch, moves: bool },
    /// What is delivered from this time on is measured.
    Measure(Time),
}

impl Wire for Note {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let (kind, words) = match *self {
            Self::Arrived(number) => (0, [number, 0, 0, 0, 0]),
            Self::Report { batch, moves } => {
                let Batch { entered, messages, latency, offered, accepted } = batch;
                (if moves { 1 } else { 3 }, [entered, messages, latency, offered, accepted])
            }
            Self::Measure(from) => (2, [from.ps(), 0, 0, 0, 0]),
        };
        bytes.push(kind);
        bytes.extend(words.iter().flat_map(|word: &u64| word.to_le_bytes()));
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (&[kind], mut rest) = bytes.split_first_chunk()?;
        let mut word = || {
            let (word, behind) = rest.split_first_chunk()?;
            rest = behind;
            Some(u64::from_le_bytes(*word))
        };
        let [entered, messages, latency, offered, accepted] =
            [word()?, word()?, word()?, word()?, word()?];
        *bytes = rest;
        match kind {
            0 => Some(Self::Arrived(entered)),
            1 | 3 => {
                let batch = Batch { entered, messages, latency, offered, accepted };
                Some(Self::Report { batch, moves: kind == 1 })
            }
            2 => Some(Self::Measure(Time::from_ps(entered))),
            _ => None,
        }
    }
}

type Letter<N> = Event<Mail<Note, <N as Network>::Signal>>;
type Out<N> = Outbox<Mail<Note, <N as Network>::Signal>>;

/// A delivered message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When.
    pub at: Time,
    /// When it entered.
    pub entered: Time,
    /// From where.
    pub source: u32,
    /// Where.
    pub destination: u32,
    /// Its size.
    pub bytes: u64,
}

/// What a worker keeps.
pub struct Crew<B> {
    pub probe: B,
    /// When the run ends.
    pub end: Time,
    pub latency: Histogram,
    /// Links crossed by the messages in `latency`, and by all.
    pub hops: u64,
    pub flit_hops: u64,
    /// Messages that entered and that were delivered, and their times on their links.
    pub entered: (u64, u64),
    pub delivered: (u64, u64),
    /// Time on the link, by source, of what was delivered while it was measured.
    pub by_source: Vec<u64>,
    pub log: Vec<Delivery>,
    arrived: Vec<(Time, u32, u64)>,
}

impl<B> Crew<B> {
    pub fn new(probe: B, hosts: u32) -> Self {
        Self {
            probe,
            end: Time::MAX,
            latency: Histogram::default(),
            hops: 0,
            flit_hops: 0,
            entered: (0, 0),
            delivered: (0, 0),
            by_source: vec![0; hosts as usize],
            log: Vec::new(),
            arrived: Vec::new(),
        }
    }
}

pub struct Traffic<'a, N, B> {
    pub network: &'a N,
    pub settings: &'a Settings,
    pub hosts: u32,
    /// Length of a batch.
    pub batch: u64,
    /// Batches in which nothing moves after which that is a deadlock.
    pub patience: u32,
    pub log: bool,
    pub probe: PhantomData<fn() -> B>,
}

pub enum Process<N: Network> {
    Host(Box<Host<N>>),
    Device { device: N::Device, signals: u32 },
    Observer(Box<Observer>),
}

/// A host: its end of the network, and what makes its messages.
pub struct Host<N: Network> {
    interface: N::Interface,
    signals: u32,
    pace: Pace,
    /// When the next message enters, exactly and as the network sees it, and its number.
    clock: f64,
    next: Time,
    number: u64,
    /// When the current batch ends, and what is in it and in those after it.
    boundary: Time,
    batch: u64,
    accounts: VecDeque<Batch>,
    /// Whether it heard from the network in the current batch.
    heard: bool,
    measured: Time,
}

/// What hears of all batches.
pub struct Observer {
    pub judge: Judge,
    batch: Batch,
    moves: bool,
    heard: u32,
    /// The end of the last batch, and when the first began that was kept.
    pub end: Time,
    pub measured: Time,
}

struct Gate<'a, N: Network, B> {
    id: u32,
    signals: &'a mut u32,
    arrived: &'a mut Vec<(Time, u32, u64)>,
    out: &'a mut Out<N>,
    probe: &'a mut B,
}

impl<N: Network, B: Probe<Record<N::Record>>> Outlet<N> for Gate<'_, N, B> {
    const LISTENS: bool = B::LISTENS;

    #[inline]
    fn send(&mut self, to: u32, time: Time, signal: N::Signal) {
        post(self.out, (self.id, self.signals), to, time, Mail::Signal(signal));
    }

    #[inline]
    fn deliver(&mut self, at: Time, source: u32, number: u64) {
        self.arrived.push((at, source, number));
    }

    #[inline]
    fn record(&mut self, at: Time, record: N::Record) {
        self.probe.record(Record::Network { device: self.id, at, record });
    }
}

#[inline]
fn post<M: Wire>(
    out: &mut Outbox<M>,
    (source, count): (u32, &mut u32),
    destination: u32,
    time: Time,
    message: M,
) {
    *count = count.wrapping_add(1);
    out.send(Event { time, source, sequence: *count, destination, message });
}

impl<N: Wired, B: Probe<Record<N::Record>>> Model for Traffic<'_, N, B> {
    type Process = Process<N>;
    type Message = Mail<Note, N::Signal>;
    type Worker = Crew<B>;

    fn process(&self, id: u32) -> Process<N> {
        if id < self.hosts {
            return Process::Host(Box::new(self.host(id)));
        }
        let number = id - self.hosts;
        if number < self.network.devices() {
            return Process::Device { device: self.network.device(number), signals: 0 };
        }
        Process::Observer(Box::new(Observer {
            judge: Judge::new(self.settings.span, self.patience),
            batch: Batch::default(),
            moves: false,
            heard: 0,
            end: Time::ZERO,
            measured: self.measured(),
        }))
    }

    fn lookahead(&self) -> Time {
        self.network.lookahead()
    }

    fn weight(&self, id: u32) -> u32 {
        match id.checked_sub(self.hosts) {
            Some(number) if number < self.network.devices() => self.network.weight(number),
            _ => 1,
        }
    }

    fn order(&self) -> Option<Vec<u32>> {
        let mut order = self.network.order()?;
        order.push(self.hosts + self.network.devices());
        Some(order)
    }

    fn lookahead_across(&self, worker_of: &dyn Fn(u32) -> usize) -> Option<Time> {
        Some(self.network.lookahead_between(worker_of).min(self.word()))
    }

    fn end(&self, crew: &Crew<B>) -> Time {
        crew.end
    }

    fn run(
        &self,
        id: u32,
        process: &mut Process<N>,
        until: Time,
        inbox: &[Letter<N>],
        crew: &mut Crew<B>,
        out: &mut Out<N>,
    ) -> Next {
        let time = match process {
            Process::Host(host) => Turn { traffic: self, id, host, crew, out }.work(until, inbox),
            Process::Device { device, signals } => {
                let heard = inbox.iter().filter_map(|event| match event.message {
                    Mail::Signal(signal) => Some((event.time, signal)),
                    Mail::Host(_) | Mail::Announcement(_) => None,
                });
                let Crew { arrived, probe, .. } = crew;
                let mut gate = Gate { id, signals, arrived, out, probe };
                self.network.run_device(device, until, heard, &mut gate)
            }
            Process::Observer(observer) => {
                for event in inbox {
                    self.observe(id, observer, event, crew, out);
                }
                Time::MAX
            }
        };
        Next { time, urgent: false }
    }
}

impl<N: Wired, B: Probe<Record<N::Record>>> Traffic<'_, N, B> {
    fn random(&self, purpose: u32) -> Random {
        Random::new(self.settings.seed, purpose)
    }

    /// Since when it is measured, as far as that is known before.
    fn measured(&self) -> Time {
        match self.settings.span {
            Span::Batches { warm_up, .. } => Time::from_ps(self.batch * u64::from(warm_up)),
            Span::Precise { .. } => Time::MAX,
        }
    }

    /// What a word between hosts and observer takes.
    fn word(&self) -> Time {
        let lookahead = self.network.lookahead();
        lookahead.saturating_add(lookahead)
    }

    /// From when no message enters any more.
    fn end(&self) -> u64 {
        match self.settings.span {
            Span::Batches { warm_up, kept } => self.batch * u64::from(warm_up + kept),
            Span::Precise { .. } => FAR,
        }
        .min(FAR)
    }

    fn length(&self, source: u32, number: u64) -> u64 {
        let lengths = &self.settings.lengths;
        if lengths.is_fixed() {
            return lengths.quantile(1.0);
        }
        lengths.quantile(self.random(LENGTH).unit(source, number & ((1 << INDEX) - 1)))
    }

    fn host(&self, id: u32) -> Host<N> {
        let settings = self.settings;
        let message = settings.lengths.mean(|bytes| self.network.link_time(id, bytes).ps() as f64);
        let pace = Pace {
            interval: message / settings.load,
            message,
            slot: self.network.link_time(id, 0).ps() as f64,
        };
        let mut host = Host {
            interface: self.network.interface(id),
            signals: 0,
            pace,
            clock: 0.0,
            next: Time::MAX,
            number: 0,
            boundary: Time::from_ps(self.batch),
            batch: 0,
            accounts: VecDeque::from([Batch::default()]),
            heard: false,
            measured: self.measured(),
        };
        if settings.destinations.sends(id) && settings.load > 0.0 {
            self.advance(&mut host, id, 0.0);
        }
        host
    }

    /// When a host's next message enters, given how long the last one takes on the link.
    fn advance(&self, host: &mut Host<N>, id: u32, last: f64) {
        let random = self.random(WHEN);
        let arrivals = self.settings.arrivals;
        host.clock += arrivals.interval(host.pace, last, random, id, host.number);
        #[allow(clippy::cast_sign_loss, reason = "time goes on")]
        let next = host.clock as u64;
        host.next = if next < self.end() { Time::from_ps(next) } else { Time::MAX };
    }

    /// A host's part of a batch; with the last part the batch is judged.
    fn observe(
        &self,
        id: u32,
        observer: &mut Observer,
        event: &Letter<N>,
        crew: &mut Crew<B>,
        out: &mut Out<N>,
    ) {
        let Mail::Host(Note::Report { batch, moves }) = event.message else { return };
        observer.batch.add(batch);
        observer.moves |= moves;
        observer.heard += 1;
        if observer.heard < self.hosts {
            return;
        }
        let batch = std::mem::take(&mut observer.batch);
        let moves = std::mem::take(&mut observer.moves);
        observer.heard = 0;
        observer.end = event.time.saturating_sub(self.word());
        match observer.judge.hear(batch, moves) {
            Verdict::Go => {}
            Verdict::Stop => crew.end = event.time.saturating_add(self.word()),
            Verdict::Measure => {
                observer.measured = observer.end.saturating_add(Time::from_ps(self.batch));
                let at = event.time.saturating_add(self.word());
                for host in 0..self.hosts {
                    let message = Mail::Host(Note::Measure(observer.measured));
                    let (source, sequence) = (id, host);
                    out.send(Event { time: at, source, sequence, destination: host, message });
                }
            }
        }
    }
}

/// A host in one window.
struct Turn<'a, 'b, N: Network, B> {
    traffic: &'a Traffic<'b, N, B>,
    id: u32,
    host: &'a mut Host<N>,
    crew: &'a mut Crew<B>,
    out: &'a mut Out<N>,
}

impl<N: Wired, B: Probe<Record<N::Record>>> Turn<'_, '_, N, B> {
    fn work(&mut self, until: Time, inbox: &[Letter<N>]) -> Time {
        let network = self.traffic.network;
        let mut inbox = inbox.iter().peekable();
        loop {
            let Host { interface, next, boundary, .. } = &*self.host;
            let own = network.next(interface).min(*next).min(*boundary);
            let now = inbox.peek().map_or(own, |event| event.time.min(own));
            if now >= until {
                return own;
            }
            if self.host.boundary <= now {
                self.report();
            }
            while let Some(event) = inbox.next_if(|event| event.time == now) {
                self.hear(event);
            }
            if self.host.next <= now {
                self.inject(now);
            }
            let after = now.saturating_add(Time::from_ps(1));
            self.act(|interface, gate| network.run(interface, after, gate));
        }
    }

    #[inline]
    fn act<R>(&mut self, act: impl FnOnce(&mut N::Interface, &mut Gate<'_, N, B>) -> R) -> R {
        let Self { id, host, crew, out, .. } = self;
        let Crew { arrived, probe, .. } = &mut **crew;
        let signals = &mut host.signals;
        let mut gate = Gate { id: *id, signals, arrived, out, probe };
        let answer = act(&mut host.interface, &mut gate);
        while let Some((at, source, number)) = self.crew.arrived.pop() {
            self.delivered(at, source, number);
        }
        answer
    }

    fn hear(&mut self, event: &Letter<N>) {
        let network = self.traffic.network;
        match event.message {
            Mail::Signal(signal) => {
                self.host.heard = true;
                self.act(|interface, gate| {
                    network.run(interface, event.time, gate);
                    network.hear(interface, event.time, signal, gate);
                });
            }
            Mail::Host(Note::Arrived(number)) => self.delivered(event.time, event.source, number),
            Mail::Host(Note::Measure(from)) => self.host.measured = from,
            Mail::Host(Note::Report { .. }) | Mail::Announcement(_) => {}
        }
    }

    /// The batch is over: the observer is told.
    fn report(&mut self) {
        let traffic = self.traffic;
        let Host { interface, accounts, heard, boundary, batch, signals, .. } = &mut *self.host;
        let account = accounts.pop_front().unwrap_or_default();
        if accounts.is_empty() {
            accounts.push_back(Batch::default());
        }
        let at = boundary.saturating_add(traffic.word());
        let observer = traffic.hosts + traffic.network.devices();
        let moves = std::mem::take(heard) || traffic.network.next(interface) != Time::MAX;
        let note = Mail::Host(Note::Report { batch: account, moves });
        post(self.out, (self.id, signals), observer, at, note);
        *batch += 1;
        let end = boundary.ps() + traffic.batch;
        *boundary = if end <= traffic.end() { Time::from_ps(end) } else { Time::MAX };
    }

    /// A message enters.
    fn inject(&mut self, now: Time) {
        let traffic = self.traffic;
        let (source, number) = (self.id, self.host.number);
        let bytes = traffic.length(source, number);
        let destination = traffic.settings.destinations.draw(traffic.random(WHERE), source, number);
        let parcel = Parcel { source, destination, bytes };
        let tag = now.ps() << INDEX | number & ((1 << INDEX) - 1);
        let network = traffic.network;
        let delivery = self.act(|interface, gate| {
            network.run(interface, now, gate);
            network.inject(interface, now, parcel, tag, gate)
        });
        if let Some(at) = delivery {
            let note = Mail::Host(Note::Arrived(tag));
            post(self.out, (source, &mut self.host.signals), destination, at, note);
        }
        let link = network.link_time(source, bytes);
        if let Some(batch) = self.host.accounts.front_mut() {
            batch.entered += 1;
            batch.offered += link.ps();
        }
        self.crew.entered.0 += 1;
        self.crew.entered.1 += link.ps();
        self.host.number += 1;
        traffic.advance(self.host, source, link.ps() as f64);
    }

    /// A message is delivered, now or later.
    fn delivered(&mut self, at: Time, source: u32, tag: u64) {
        let Self { traffic, host, crew, .. } = self;
        let entered = Time::from_ps(tag >> INDEX);
        let bytes = traffic.length(source, tag & ((1 << INDEX) - 1));
        let latency = at.saturating_sub(entered).ps();
        let link = traffic.network.link_time(source, bytes).ps();
        let hops = u64::from(traffic.network.hops(source, self.id, tag));
        crew.delivered.0 += 1;
        crew.delivered.1 += link;
        crew.flit_hops += hops * traffic.network.flits(bytes);
        if host.boundary != Time::MAX {
            let ahead =
                ((at.ps() / traffic.batch).saturating_sub(host.batch) as usize).min(1 << 16);
            if ahead >= host.accounts.len() {
                host.accounts.resize(ahead + 1, Batch::default());
            }
            let batch = &mut host.accounts[ahead];
            batch.messages += 1;
            batch.latency += latency;
            batch.accepted += link;
        }
        if at >= host.measured && at.ps() < traffic.end() {
            crew.latency.add(latency);
            crew.hops += hops;
            crew.by_source[source as usize] += link;
        }
        if traffic.log {
            let destination = self.id;
            crew.log.push(Delivery { at, entered, source, destination, bytes });
        }
    }
}
