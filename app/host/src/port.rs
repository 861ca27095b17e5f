//! A host's end of a network that has devices of its own.
//!
//! What the network carries is bytes; what a message is about travels beside it, as an announcement
//! that reaches the receiver when the lookahead has passed, which is before the network can
//! deliver. At one instant mail comes first, then injections, then what the interface does of
//! itself, and then what the ranks do. Ranks know each other by their own numbers, the network
//! knows hosts, and the number of a message there holds the slot of its sender.

use std::collections::VecDeque;

use kernel::{Event, Outbox, Probe, Wire};
use network::{Due, Mail, Network, Outlet, Parcel, Port, insert_by_time};
use units::Time;

use crate::Record;
use crate::engine::{Crew, Engine, Turn, opened};
use crate::message::Message;
use crate::places::Place;
use crate::rank::Waiting;
use crate::source::Source;

type Letter<N> = Event<Mail<Message, <N as Network>::Signal>>;
type Inbox<'a, N> = std::iter::Peekable<std::slice::Iter<'a, Letter<N>>>;
type Out<N> = Outbox<Mail<Message, <N as Network>::Signal>>;

/// A host's end of the network.
pub struct End<N: Network> {
    pub interface: N::Interface,
    /// For a network that is not direct.
    dock: Option<Box<Dock<N>>>,
}

/// What ranks need to know of a network that is not direct.
struct Dock<N: Network> {
    port: Port<Message>,
    /// When the next thing happens at the ranks, or earlier.
    due: Time,
    /// What is to reach the only rank, in order of time.
    arrivals: VecDeque<Event<Message>>,
    /// Messages by abstract rendezvous from other hosts that have not met their receive, and ranks
    /// that wait for their turn ([`Source::is_turn`]).
    urgent: u32,
    /// A rank has to wait for its turn since the window began, and all that comes behind with it.
    held: bool,
    /// What has come that is behind it, in order of time.
    kept: Vec<Letter<N>>,
    /// Whether several ranks use it.
    shared: bool,
}

impl<N: Network> End<N> {
    /// That of a host; `shared` if it has several ranks, or none.
    pub fn new(network: &N, host: u32, shared: bool) -> Self {
        let dock = || Dock {
            port: Port::default(),
            due: Time::ZERO,
            arrivals: VecDeque::new(),
            urgent: 0,
            held: false,
            kept: Vec::new(),
            shared,
        };
        let dock = (!N::DIRECT).then(|| Box::new(dock()));
        Self { interface: network.interface(host), dock }
    }

    /// A rank waits for its turn, or has it.
    pub fn turn(&mut self, waits: bool) {
        let Some(dock) = &mut self.dock else { return };
        if waits {
            (dock.urgent, dock.held) = (dock.urgent + 1, true);
        } else {
            dock.urgent = dock.urgent.saturating_sub(1);
        }
    }

    /// Whether a rank has to wait for its turn.
    pub fn holds(&self) -> bool {
        self.dock.as_ref().is_some_and(|dock| dock.held)
    }

    /// Whether a message has come over the network whose sender may be released without delay, or a
    /// rank waits for its turn.
    pub fn urgent(&self) -> bool {
        self.dock.as_ref().is_some_and(|dock| dock.urgent > 0)
    }

    /// Whether the ranks of a host may have something to do before a time.
    pub fn is_due(&self, until: Time) -> bool {
        self.due() < until
    }

    /// When the next thing happens at the ranks, or earlier.
    fn due(&self) -> Time {
        self.dock.as_ref().map_or(Time::ZERO, |dock| dock.due)
    }

    /// Says that.
    pub fn set_due(&mut self, due: Time) {
        if let Some(dock) = &mut self.dock {
            dock.due = due;
        }
    }

    /// Another host tells of a message.
    pub fn told<S: Source>(
        &mut self,
        engine: &Engine<'_, S, N>,
        event: &Letter<N>,
        message: Message,
    ) {
        let entry = event.time.saturating_sub(engine.network.lookahead());
        if let Some(dock) = &mut self.dock {
            dock.urgent += u32::from(message.urgent());
            let Place { host, slot } = engine.place(event.source);
            dock.port.announce(host, number(slot, event.sequence), entry, message);
        }
    }

    /// When something is next at the host's end of the network.
    fn next(&self, network: &N) -> (Time, Due) {
        let next = |dock: &Dock<N>| dock.port.next(network, &self.interface);
        self.dock.as_deref().map_or((Time::MAX, Due::Interface), next)
    }
}

/// What the network calls a message: its number at the sender, which has a slot.
fn number(slot: u8, sequence: u32) -> u64 {
    u64::from(slot) << 32 | u64::from(sequence)
}

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

/// A device of the network in one window: itself with its process and the number of its next
/// signal.
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
        Mail::Host(_) | Mail::Announcement(_) => None,
    });
    crew.signals += inbox.len() as u64;
    let Crew { delivered, probe, .. } = crew;
    let mut gate = Gate { id, signals, delivered, out, probe };
    engine.network.run_device(device, until, heard, &mut gate)
}

impl<S: Source, N: Network, B: Probe<Record<N::Record>>> Turn<'_, S, N, B> {
    /// A message is to leave the rank at a moment that may not have come yet.
    pub fn post(
        &mut self,
        entry: Time,
        (destination, bytes): (u32, u64),
        sequence: u32,
        message: Message,
    ) {
        let engine = self.engine;
        let (here, there) = (engine.place(self.id), engine.place(destination));
        let (source, destination) = (self.id, there.host);
        let message = Message { slot: there.slot, ..message };
        if here.host == there.host {
            // It does not leave the host.
            let latency = engine.settings.parameters.local.latency;
            let path = message.path;
            let message = Message { path: path.latency(latency), ..message };
            let time = entry.saturating_add(latency);
            return self.hand_over(Event { time, source, sequence, destination, message });
        }
        if let Some(dock) = &mut self.end.dock {
            let parcel = Parcel { source: here.host, destination, bytes };
            dock.port.post(entry, parcel, number(here.slot, sequence));
        }
        let time = entry.saturating_add(engine.network.lookahead());
        let message = Mail::Announcement(message);
        self.out.send(Event { time, source, sequence, destination, message });
    }

    /// A message stays on this host.
    fn hand_over(&mut self, event: Event<Message>) {
        if event.time == Time::MAX {
            self.out.overflow();
        }
        if let Some(dock) = &mut self.end.dock {
            if dock.shared {
                return self.crew.arrived.push(event);
            }
            dock.urgent += u32::from(event.message.urgent());
        }
        self.arrive(&event);
    }

    /// Releases the send of a rank at once.
    pub fn post_release(&mut self, to: u32, time: Time, sequence: u32, message: Message) {
        let (here, there) = (self.engine.place(self.id), self.engine.place(to));
        let (source, destination) = (self.id, there.host);
        let message = Message { slot: there.slot, ..message };
        if let Some(dock) = &mut self.end.dock {
            if dock.shared && here.host == there.host {
                let event = Event { time, source, sequence, destination, message };
                return self.crew.arrived.push(event);
            }
            dock.urgent = dock.urgent.saturating_sub(1);
        }
        let message = Mail::Host(message);
        self.out.send(Event { time, source, sequence, destination, message });
    }
}

/// The ranks of a host at work, one or several.
pub trait Ranks<S: Source, N: Network, B> {
    /// Their end of the network.
    fn end(&mut self) -> EndTurn<'_, S, N, B>;

    /// Handles everything at the ranks before `until`; returns when the next thing happens there.
    fn work(&mut self, until: Time) -> Time;

    /// Hands over what is to arrive.
    fn land(&mut self);
}

impl<S: Source, N: Network, B: Probe<Record<N::Record>>> Ranks<S, N, B> for Turn<'_, S, N, B> {
    fn end(&mut self) -> EndTurn<'_, S, N, B> {
        let host = self.engine.place(self.id).host;
        let Self { engine, end, crew, out, .. } = self;
        EndTurn { crew, engine, out, host, end }
    }

    fn work(&mut self, until: Time) -> Time {
        let mut first = self.take_arrival(until);
        let alone = self.next_arrival() >= until && self.is_idle();
        if !first.is_some_and(|event| alone && self.relay(&event, until)) {
            self.resume();
            while let Some(event) = first {
                let next = self.next_arrival();
                if !self.receive_first(&event, next, until) {
                    self.arrive(&event);
                }
                first = self.take_arrival(until);
            }
        }
        Turn::work(self, until).min(self.next_arrival())
    }

    fn land(&mut self) {
        let Some(dock) = &mut self.end.dock else { return };
        for event in self.crew.arrived.drain(..) {
            insert_by_time(&mut dock.arrivals, event, |event| event.time);
            dock.due = dock.due.min(event.time);
        }
    }
}

impl<S: Source, N: Network, B: Probe<Record<N::Record>>> Turn<'_, S, N, B> {
    /// When the next message arrives.
    fn next_arrival(&self) -> Time {
        let dock = self.end.dock.as_ref();
        dock.and_then(|dock| dock.arrivals.front()).map_or(Time::MAX, |event| event.time)
    }

    /// The next message, if it arrives before a time.
    fn take_arrival(&mut self, until: Time) -> Option<Event<Message>> {
        if self.next_arrival() >= until {
            return None;
        }
        self.end.dock.as_mut()?.arrivals.pop_front()
    }

    /// Whether the rank waits for messages only.
    fn is_idle(&self) -> bool {
        matches!(self.rank.waiting, Waiting::Nothing)
            && self.queues.is_none()
            && self.rank.batches > 0
    }
}

/// Handles everything before `until`, or before a rank has to wait for its turn, at the ranks and
/// at their end of the network; returns when the next thing happens. Ranks that have nothing to do
/// are not looked at.
pub fn work_with_port<S: Source, N: Network, B: Probe<Record<N::Record>>>(
    ranks: &mut impl Ranks<S, N, B>,
    until: Time,
    inbox: &[Letter<N>],
) -> Time {
    let kept = ranks.end().end.dock.as_mut().map(|dock| std::mem::take(&mut dock.kept));
    let Some(mut kept) = kept.filter(|kept| !kept.is_empty()) else {
        return work_off(ranks, until, inbox);
    };
    // It came in an earlier window.
    kept.extend_from_slice(inbox);
    work_off(ranks, until, &kept)
}

fn work_off<S: Source, N: Network, B: Probe<Record<N::Record>>>(
    ranks: &mut impl Ranks<S, N, B>,
    until: Time,
    inbox: &[Letter<N>],
) -> Time {
    let mut inbox = inbox.iter().peekable();
    loop {
        let heard = inbox.peek().map_or(Time::MAX, |event| event.time);
        let mut turn = ranks.end();
        let own = turn.next().0;
        let now = heard.min(own);
        if turn.end.is_due(now.min(until)) {
            let due = ranks.work(now.min(until));
            let end = ranks.end().end;
            end.set_due(due);
            if let Some(dock) = &mut end.dock
                && std::mem::take(&mut dock.held)
            {
                dock.kept.extend(inbox.copied());
                return due;
            }
            // What the ranks have done may have made an injection come first.
            continue;
        }
        if now >= until {
            if let Some(dock) = &mut turn.end.dock {
                dock.kept.extend(inbox.copied());
            }
            return turn.end.due().min(now);
        }
        turn.instant(now, &mut inbox);
        if !turn.crew.arrived.is_empty() {
            ranks.land();
        }
    }
}

/// A host's end of the network at work in one window. What arrives waits in the crew's buffer.
///
/// Made of a [`Turn`]; where two of these references followed one another as they do there, they
/// would be copied as one, and the processor would wait for the two stores that made them.
pub struct EndTurn<'t, S: Source, N: Network, B> {
    pub crew: &'t mut Crew<B>,
    pub engine: &'t Engine<'t, S, N>,
    pub out: &'t mut Out<N>,
    pub host: u32,
    pub end: &'t mut End<N>,
}

impl<S: Source, N: Network, B: Probe<Record<N::Record>>> EndTurn<'_, S, N, B> {
    fn next(&self) -> (Time, Due) {
        self.end.next(self.engine.network)
    }

    /// What happens at one instant; nothing is due before it.
    fn instant(&mut self, now: Time, inbox: &mut Inbox<'_, N>) {
        let network = self.engine.network;
        while let Some(event) = inbox.next_if(|event| event.time == now) {
            match event.message {
                Mail::Signal(signal) => {
                    self.crew.signals += 1;
                    self.act(|interface, gate| network.hear(interface, now, signal, gate));
                }
                Mail::Announcement(message) => self.end.told(self.engine, event, message),
                // A release.
                Mail::Host(_) => self.crew.arrived.extend(opened(event)),
            }
        }
        while let (at, Due::Injection) = self.next()
            && at <= now
            && let Some((_, parcel, number)) =
                self.end.dock.as_mut().and_then(|dock| dock.port.pop())
        {
            self.act(|interface, gate| {
                network.inject(interface, now, parcel, number, gate);
            });
        }
        if network.next(&self.end.interface) <= now {
            let after = now.saturating_add(Time::from_ps(1));
            self.act(|interface, gate| network.run(interface, after, gate));
        }
    }

    /// Lets the interface act, and takes what it delivers.
    #[inline]
    fn act(&mut self, act: impl FnOnce(&mut N::Interface, &mut Gate<'_, N, B>)) {
        let Some(dock) = &mut self.end.dock else { return };
        let Crew { delivered, probe, .. } = &mut *self.crew;
        let signals = dock.port.signals();
        let mut gate = Gate { id: self.host, signals, delivered, out: self.out, probe };
        act(&mut self.end.interface, &mut gate);
        while let Some((time, source, number)) = self.crew.delivered.pop() {
            self.delivered(time, source, number);
        }
    }

    /// The network delivers a message, at a time that may lie ahead.
    fn delivered(&mut self, time: Time, host: u32, number: u64) {
        let dock = self.end.dock.as_mut();
        let Some((entry, message)) = dock.and_then(|dock| dock.port.delivered(host, number)) else {
            return;
        };
        let path = message.path;
        let path = path.latency(time.saturating_sub(entry));
        let source = self.engine.rank(host, (number >> 32) as u8);
        let (sequence, destination) = (number as u32, self.host);
        let message = Message { path, ..message };
        self.crew.arrived.push(Event { time, source, sequence, destination, message });
    }
}
