//! The endpoint of synthetic traffic: a source of messages at each host, and at the first one also
//! an observer that hears from every host at the end of each batch and decides about warm-up and
//! end. Its decisions depend on mail alone, so they are the same on any number of threads.

use std::collections::VecDeque;
use std::marker::PhantomData;

use host::Record;
use kernel::{Event, Probe, Random, Wire};
use network::{Endpoint, Links, Nic, Site, Transfer, Worked};
use serde::{Deserialize, Serialize};
use units::{DeviceId, HostId, MessageId, Time};

use crate::Settings;
use crate::arrivals::Pace;
use crate::statistics::Histogram;
use crate::steady_state::{Batch, Decision, Span, SteadyState};

/// Purposes of random numbers.
const WHEN: u32 = 0x5452_0001;
const WHERE: u32 = 0x5452_0002;
const LENGTH: u32 = 0x5452_0003;

/// A message's number in the network is its time of entry and, in so many bits below, its number at
/// its source, from which the receiver draws its length again. Lengths repeat after 2^20 messages.
const INDEX: u32 = 20;
/// Times of entry that fit.
pub(crate) const FAR: u64 = 1 << (64 - INDEX);

/// The message type of the sources at the hosts and the observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A message of this number is delivered, by a network that knows so at the injection.
    Arrived(u64),
    /// A host's part of a batch, and whether it heard anything from the network or has something to
    /// do there.
    Report { batch: Batch, moves: bool },
    /// Messages that are delivered from this time on are measured.
    Measure(Time),
}

impl Wire for Note {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let (kind, words) = match *self {
            Self::Arrived(number) => (0, [number, 0, 0, 0, 0, 0]),
            Self::Report { batch, moves } => {
                let Batch { entered, messages, latency, offered, accepted, entries } = batch;
                let words = [entered, messages, latency, offered, accepted, entries];
                (if moves { 1 } else { 3 }, words)
            }
            Self::Measure(from) => (2, [from.ps(), 0, 0, 0, 0, 0]),
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
        let [entered, messages, latency, offered, accepted, entries] =
            [word()?, word()?, word()?, word()?, word()?, word()?];
        *bytes = rest;
        match kind {
            0 => Some(Self::Arrived(entered)),
            1 | 3 => {
                let batch = Batch { entered, messages, latency, offered, accepted, entries };
                Some(Self::Report { batch, moves: kind == 1 })
            }
            2 => Some(Self::Measure(Time::from_ps(entered))),
            _ => None,
        }
    }
}

/// A delivered message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The time of its delivery.
    pub at: Time,
    /// The time at which it entered.
    pub entered: Time,
    /// From where.
    pub source: u32,
    /// Its destination.
    pub destination: u32,
    /// Its size.
    pub bytes: u64,
}

/// The state of a worker.
#[derive(Serialize, Deserialize)]
pub struct Crew<B> {
    pub probe: B,
    /// The time at which the run ends.
    pub end: Time,
    pub latency: Histogram,
    /// Links crossed by the messages in `latency`, and by all.
    pub hops: u64,
    pub flit_hops: u64,
    /// Messages that left their hosts while it was measured, and the time that they waited there
    /// beyond that on their links.
    pub left: (u64, u64),
    /// Messages that entered and that were delivered, and their times on their links.
    pub entered: (u64, u64),
    pub delivered: (u64, u64),
    /// Time on the link, by source, of what was delivered while it was measured.
    pub by_source: Vec<u64>,
    pub log: Vec<Delivery>,
    /// The observer, when the run is over and this worker ran its host.
    pub observer: Option<Box<Observer>>,
}

impl<B> Crew<B> {
    pub fn new(probe: B, hosts: u32) -> Self {
        Self {
            probe,
            end: Time::MAX,
            latency: Histogram::default(),
            hops: 0,
            flit_hops: 0,
            left: (0, 0),
            entered: (0, 0),
            delivered: (0, 0),
            by_source: vec![0; hosts as usize],
            log: Vec::new(),
            observer: None,
        }
    }

    /// Adds what another worker has counted, and returns its probe.
    pub fn merge<P>(&mut self, other: Crew<P>) -> P {
        let add = |sum: &mut (u64, u64), other: (u64, u64)| {
            *sum = (sum.0 + other.0, sum.1 + other.1);
        };
        self.latency.merge(&other.latency);
        self.hops += other.hops;
        self.flit_hops += other.flit_hops;
        add(&mut self.left, other.left);
        add(&mut self.entered, other.entered);
        add(&mut self.delivered, other.delivered);
        self.by_source.iter_mut().zip(other.by_source).for_each(|(sum, part)| *sum += part);
        self.log.extend(other.log);
        self.observer = self.observer.take().or(other.observer);
        other.probe
    }
}

/// Synthetic traffic at the hosts of a network. Patterns know hosts by numbers of their own.
pub struct Traffic<'a, N, B> {
    pub network: &'a N,
    pub settings: &'a Settings,
    /// The number of each host; [`IDLE`] if it takes no part.
    pub numbers: Vec<u32>,
    /// Length of a batch.
    pub batch: u64,
    /// Batches in which nothing moves after which that is a deadlock.
    pub patience: u32,
    pub log: bool,
    pub probe: PhantomData<fn() -> B>,
}

/// Stands for the number of a host that takes no part.
const IDLE: u32 = u32::MAX;

/// The number of each host of a network of `hosts` hosts.
pub fn numbers(settings: &Settings, hosts: u32) -> Vec<u32> {
    let mut numbers = vec![IDLE; hosts as usize];
    for (number, host) in (0..).zip(settings.destinations.places()) {
        if let Some(place) = numbers.get_mut(host.index()) {
            *place = number;
        }
    }
    numbers
}

/// The source of a host's messages.
pub struct Host {
    /// Its number in the pattern.
    id: u32,
    /// Mail that it has sent beside the network.
    sent: u32,
    pace: Pace,
    /// The time at which the next message enters, exactly and as the network sees it, its number
    /// and size.
    clock: f64,
    next: Time,
    number: u64,
    bytes: u64,
    /// True if the network adapter has the first message.
    started: bool,
    /// The time at which the current batch ends, and the content of it and of those after it.
    boundary: Time,
    batch: u64,
    accounts: VecDeque<Batch>,
    /// True if it heard from the network in the current batch.
    heard: bool,
    measured: Time,
    /// The observer, at the host of number 0.
    pub observer: Option<Box<Observer>>,
}

/// The observer, which hears of all batches.
#[derive(Serialize, Deserialize)]
pub struct Observer {
    pub steady_state: SteadyState,
    batch: Batch,
    moves: bool,
    heard: u32,
    /// The end of the last batch, and when the first began that was kept.
    pub end: Time,
    pub measured: Time,
}

impl<N: Links, B: Probe<Record<N::Detail>>> Endpoint<N> for Traffic<'_, N, B> {
    type Host = Host;
    type Payload = Note;
    type Worker = Crew<B>;

    const ANNOUNCES: bool = false;
    const WANTS_LEFT: bool = N::TELLS_LEFT && B::LISTENS;
    const LISTENS: bool = B::LISTENS;
    const LEADS: bool = !B::LISTENS;

    fn host(&self, host: HostId) -> Host {
        let settings = self.settings;
        let id = self.number(host);
        let link_time = |bytes| self.network.link_time(host, bytes).ps() as f64;
        let message = settings.lengths.mean(link_time);
        let pace = Pace { interval: message / settings.load, message, slot: link_time(0) };
        let mut source = Host {
            id,
            sent: 0,
            pace,
            clock: 0.0,
            next: Time::MAX,
            number: 0,
            bytes: 0,
            started: false,
            boundary: Time::from_ps(self.batch),
            batch: 0,
            accounts: VecDeque::from([Batch::default()]),
            heard: false,
            measured: self.measured(),
            observer: (id == 0).then(|| Box::new(self.observer())),
        };
        if settings.destinations.sends(id) && settings.load > 0.0 {
            self.advance(&mut source, 0.0);
        }
        source
    }

    fn is_idle(&self, host: HostId) -> bool {
        self.number(host) == IDLE
    }

    fn mail_delay(&self, _: &N) -> Option<Time> {
        Some(self.word())
    }

    /// Batches end between two instants: the report of one that ends at t is made after all that
    /// happens before t.
    fn work(&self, host: &mut Host, site: &mut Site<'_, N, Self>, until: Time) -> Worked {
        if !host.started {
            host.started = true;
            self.post_next(host, site);
        }
        loop {
            let report = match host.boundary {
                Time::MAX => Time::MAX,
                boundary => boundary.saturating_sub(Time::from_ps(1)),
            };
            let next = host.next.min(report);
            if next >= until {
                return Worked { next, held: false };
            }
            if host.next <= report {
                self.entered(host, site);
                self.post_next(host, site);
            } else {
                self.report(host, site);
            }
        }
    }

    fn hear(&self, host: &mut Host, site: &mut Site<'_, N, Self>, event: &Event<Note>) {
        match event.message {
            Note::Arrived(tag) => self.arrived(host, site, event.time, HostId(event.source), tag),
            Note::Measure(from) => host.measured = from,
            Note::Report { batch, moves } => self.observe(host, site, event.time, batch, moves),
        }
    }

    fn delivered(
        &self,
        host: &mut Host,
        site: &mut Site<'_, N, Self>,
        delivery: network::Delivery<Note>,
    ) -> Time {
        self.arrived(host, site, delivery.at, delivery.source, delivery.id.0);
        Time::MAX
    }

    fn left(&self, host: &mut Host, site: &mut Site<'_, N, Self>, at: Time, id: MessageId) {
        if at < host.measured || at.ps() >= self.end() {
            return;
        }
        let bytes = self.length(host.id, id.0 & ((1 << INDEX) - 1));
        let link = self.network.link_time(site.host, bytes);
        let waited = at.saturating_sub(Time::from_ps(id.0 >> INDEX)).saturating_sub(link);
        site.worker.left.0 += 1;
        site.worker.left.1 += waited.ps();
    }

    fn signalled(&self, host: &mut Host) {
        host.heard = true;
    }

    fn record(crew: &mut Crew<B>, device: DeviceId, at: Time, record: network::Record<N::Detail>) {
        crew.probe.record(Record::Network { device: device.0, at, record });
    }

    fn harvest(&self, _: HostId, host: &mut Host, _: &mut Nic<N, Note>, crew: &mut Crew<B>) {
        crew.observer = crew.observer.take().or_else(|| host.observer.take());
    }

    fn end(&self, crew: &Crew<B>) -> Time {
        crew.end
    }
}

impl<N: Links, B: Probe<Record<N::Detail>>> Traffic<'_, N, B> {
    fn random(&self, purpose: u32) -> Random {
        Random::new(self.settings.seed, purpose)
    }

    /// Since when it is measured, as far as that is known before.
    fn measured(&self) -> Time {
        match self.settings.span {
            Span::Batches { warm_up, .. } => Time::from_ps(self.batch * u64::from(warm_up)),
            Span::Settling(rule) if rule.warm_up > 0 => {
                Time::from_ps(self.batch * u64::from(rule.warm_up))
            }
            Span::Settling(_) => Time::ZERO,
            Span::Precise { .. } => Time::MAX,
        }
    }

    /// The time that a note between hosts and observer takes.
    fn word(&self) -> Time {
        let lookahead = self.network.lookahead();
        lookahead.saturating_add(lookahead)
    }

    /// From when no message enters any more.
    fn end(&self) -> u64 {
        match self.settings.span {
            Span::Batches { warm_up, kept } => self.batch * u64::from(warm_up + kept),
            Span::Precise { .. } | Span::Settling(_) => FAR,
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

    fn observer(&self) -> Observer {
        Observer {
            steady_state: SteadyState::new(self.settings.span, self.batch, self.patience),
            batch: Batch::default(),
            moves: false,
            heard: 0,
            end: Time::ZERO,
            measured: self.measured(),
        }
    }

    fn number(&self, host: HostId) -> u32 {
        self.numbers.get(host.index()).copied().unwrap_or(IDLE)
    }

    /// The host of a number.
    fn place(&self, number: u32) -> HostId {
        self.settings.destinations.place(number)
    }

    /// Draws when a host's next message enters, given how long the last one takes on the link.
    fn advance(&self, host: &mut Host, last: f64) {
        let random = self.random(WHEN);
        let arrivals = self.settings.arrivals;
        host.clock += arrivals.interval(host.pace, last, random, host.id, host.number);
        #[allow(clippy::cast_sign_loss, reason = "time goes on")]
        let next = host.clock as u64;
        host.next = if next < self.end() { Time::from_ps(next) } else { Time::MAX };
    }

    /// Takes a host's part of a batch. With the last part the batch is over.
    fn observe(
        &self,
        host: &mut Host,
        site: &mut Site<'_, N, Self>,
        at: Time,
        batch: Batch,
        moves: bool,
    ) {
        let Some(observer) = &mut host.observer else { return };
        observer.batch.add(batch);
        observer.moves |= moves;
        observer.heard += 1;
        if observer.heard < self.settings.destinations.hosts() {
            return;
        }
        let batch = std::mem::take(&mut observer.batch);
        let moves = std::mem::take(&mut observer.moves);
        observer.heard = 0;
        observer.end = at.saturating_sub(self.word());
        match observer.steady_state.end_batch(batch, moves) {
            Decision::Continue => {}
            Decision::Stop => site.worker.end = at.saturating_add(self.word()),
            Decision::Measure => {
                observer.measured = observer.end.saturating_add(Time::from_ps(self.batch));
                let note = Note::Measure(observer.measured);
                let at = at.saturating_add(self.word());
                for to in self.settings.destinations.places() {
                    send(&mut host.sent, site, at, *to, note);
                }
            }
        }
    }

    /// Tells the observer that a batch is over.
    fn report(&self, host: &mut Host, site: &mut Site<'_, N, Self>) {
        let account = host.accounts.pop_front().unwrap_or_default();
        if host.accounts.is_empty() {
            host.accounts.push_back(Batch::default());
        }
        let at = host.boundary.saturating_add(self.word());
        let due = self.network.next(&site.nic.interface);
        let moves = std::mem::take(&mut host.heard) || due != Time::MAX;
        send(&mut host.sent, site, at, self.place(0), Note::Report { batch: account, moves });
        host.batch += 1;
        let end = host.boundary.ps() + self.batch;
        host.boundary = if end <= self.end() { Time::from_ps(end) } else { Time::MAX };
    }

    /// Gives the next message to the network adapter, if there is one.
    fn post_next(&self, host: &mut Host, site: &mut Site<'_, N, Self>) {
        let (at, id, number) = (host.next, host.id, host.number);
        if at == Time::MAX {
            return;
        }
        host.bytes = self.length(id, number);
        let destination = self.settings.destinations.draw(self.random(WHERE), id, number);
        let transfer = Transfer::new(site.host, self.place(destination), host.bytes);
        let tag = at.ps() << INDEX | number & ((1 << INDEX) - 1);
        host.sent = host.sent.wrapping_add(1);
        let event = (site.host.0, host.sent);
        site.inject(at, (transfer, MessageId(tag)), event, Note::Arrived(tag));
    }

    /// Counts the message that has just entered, and makes the next one.
    fn entered(&self, host: &mut Host, site: &mut Site<'_, N, Self>) {
        let link = self.network.link_time(site.host, host.bytes).ps();
        let entered = host.next.ps();
        if let Some(batch) = host.accounts.front_mut() {
            batch.entered += 1;
            batch.entries = batch.entries.wrapping_add(entered);
            batch.offered += link;
        }
        site.worker.entered.0 += 1;
        site.worker.entered.1 += link;
        host.number += 1;
        self.advance(host, link as f64);
    }

    /// Counts a message that is delivered, now or later.
    fn arrived(
        &self,
        host: &mut Host,
        site: &mut Site<'_, N, Self>,
        at: Time,
        from: HostId,
        tag: u64,
    ) {
        let entered = Time::from_ps(tag >> INDEX);
        let source = self.number(from);
        let bytes = self.length(source, tag & ((1 << INDEX) - 1));
        let latency = at.saturating_sub(entered).ps();
        let link = self.network.link_time(from, bytes).ps();
        let hops = u64::from(self.network.hops(from, site.host, MessageId(tag)));
        let crew = &mut *site.worker;
        crew.delivered.0 += 1;
        crew.delivered.1 += link;
        crew.flit_hops += hops * self.network.packets_and_flits(bytes).1;
        if host.boundary != Time::MAX {
            let ahead = ((at.ps() / self.batch).saturating_sub(host.batch) as usize).min(1 << 16);
            if ahead >= host.accounts.len() {
                host.accounts.resize(ahead + 1, Batch::default());
            }
            let batch = &mut host.accounts[ahead];
            batch.messages += 1;
            batch.latency += latency;
            batch.accepted += link;
            batch.entries = batch.entries.wrapping_sub(entered.ps());
        }
        if at >= host.measured && at.ps() < self.end() {
            crew.latency.add(latency);
            crew.hops += hops;
            if let Some(sum) = crew.by_source.get_mut(source as usize) {
                *sum += link;
            }
        }
        if self.log {
            let destination = host.id;
            crew.log.push(Delivery { at, entered, source, destination, bytes });
        }
    }
}

/// Sends a note to the source or the observer at a host.
fn send<N: Links, B: Probe<Record<N::Detail>>>(
    sent: &mut u32,
    site: &mut Site<'_, N, Traffic<'_, N, B>>,
    at: Time,
    to: HostId,
    note: Note,
) {
    *sent = sent.wrapping_add(1);
    site.send(at, to, (site.host.0, *sent), note);
}
