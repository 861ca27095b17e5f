//! A network that watches whether the one inside keeps the contract of signals.

use std::iter::Peekable;

use kernel::Random;
use units::{DeviceId, HostId, MessageId, Time};

use crate::forward::inside;
use crate::{Network, Outlet, Record, Transfer, forward};

/// Lets the network inside act one instant at a time, and panics if a signal arrives before the
/// lookahead has passed since the instant at which it was sent, or if a message is delivered, or
/// said to have left, in the past.
pub(super) struct Checked<'a, N> {
    pub inside: &'a N,
    /// The order of the devices, and with it their shares and turns, is a random one of this seed.
    pub shuffle: Option<u64>,
}

/// The outlet of the network inside.
struct Watch<'o, O> {
    now: Time,
    earliest: Time,
    out: &'o mut O,
}

impl<'a, N: Network + 'a, O: Outlet<Checked<'a, N>>> Outlet<N> for Watch<'_, O> {
    const LISTENS: bool = O::LISTENS;

    fn send(&mut self, to: DeviceId, at: Time, signal: N::Signal) {
        let Self { now, earliest, .. } = *self;
        assert!(
            at >= earliest,
            "a signal of {now} reaches device {to} at {at}, before the lookahead allows: {earliest}"
        );
        self.out.send(to, at, signal);
    }

    fn left(&mut self, at: Time, id: MessageId) {
        assert!(
            at >= self.now,
            "message {id} has left at {at}, which is known only at {}",
            self.now
        );
        self.out.left(at, id);
    }

    fn deliver(&mut self, at: Time, source: HostId, id: MessageId) {
        let now = self.now;
        assert!(
            at >= now,
            "message {id} of host {source} is delivered at {at}, known only at {now}"
        );
        self.out.deliver(at, source, id);
    }

    fn give_up(&mut self, at: Time, destination: HostId) {
        assert!(at >= self.now, "given up at {at}, which is known only at {}", self.now);
        self.out.give_up(at, destination);
    }

    fn record(&mut self, at: Time, record: Record<N::Detail>) {
        self.out.record(at, record);
    }
}

impl<N: Network> Checked<'_, N> {
    fn watch<'o, O>(&self, now: Time, out: &'o mut O) -> Watch<'o, O> {
        Watch { now, earliest: now.saturating_add(self.inside.lookahead()), out }
    }
}

/// The instant behind.
fn after(now: Time) -> Time {
    now.saturating_add(Time::from_ps(1))
}

impl<N: Network> Network for Checked<'_, N> {
    type Interface = N::Interface;
    /// The device and when something happens there next.
    type Device = (N::Device, Time);
    type Signal = N::Signal;
    type Detail = N::Detail;

    const DIRECT: bool = N::DIRECT;
    const TELLS_LEFT: bool = N::TELLS_LEFT;

    forward!(self, inside: hosts devices weight lookahead waits_for_answers uncontended);

    fn order(&self) -> Option<Vec<DeviceId>> {
        let Some(seed) = self.shuffle else { return self.inside.order() };
        let random = Random::new(seed, 0);
        let count = self.inside.hosts().map(|hosts| hosts + self.inside.devices())?;
        let mut order: Vec<DeviceId> = (0..count).map(DeviceId).collect();
        order.sort_by_key(|device| random.number(device.0, 0));
        Some(order)
    }

    fn interface(&self, host: HostId) -> N::Interface {
        self.inside.interface(host)
    }

    fn device(&self, device: DeviceId) -> (N::Device, Time) {
        (self.inside.device(device), Time::ZERO)
    }

    fn inject(
        &self,
        interface: &mut N::Interface,
        at: Time,
        transfer: Transfer,
        id: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        self.inside.inject(interface, at, transfer, id, &mut self.watch(at, out))
    }

    fn hear(
        &self,
        interface: &mut N::Interface,
        at: Time,
        signal: N::Signal,
        out: &mut impl Outlet<Self>,
    ) {
        self.inside.hear(interface, at, signal, &mut self.watch(at, out));
    }

    fn next(&self, interface: &N::Interface) -> Time {
        self.inside.next(interface)
    }

    fn run(&self, interface: &mut N::Interface, until: Time, out: &mut impl Outlet<Self>) {
        while let now = self.inside.next(interface)
            && now < until
        {
            self.inside.run(interface, after(now), &mut self.watch(now, out));
        }
    }

    fn run_device(
        &self,
        (device, next): &mut (N::Device, Time),
        until: Time,
        signals: impl Iterator<Item = (Time, N::Signal)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        let mut signals = signals.peekable();
        loop {
            let now = signals.peek().map_or(*next, |(at, _)| (*at).min(*next));
            if now >= until {
                return *next;
            }
            let instant = Instant { signals: &mut signals, now };
            let mut watch = self.watch(now, out);
            *next = self.inside.run_device(device, after(now), instant, &mut watch);
        }
    }

    fn at_rest(&self, interface: &N::Interface) -> Result<(), String> {
        self.inside.at_rest(interface)
    }

    fn device_at_rest(&self, (device, _): &(N::Device, Time)) -> Result<(), String> {
        self.inside.device_at_rest(device)
    }
}

/// The signals of one instant.
struct Instant<'s, I: Iterator> {
    signals: &'s mut Peekable<I>,
    now: Time,
}

impl<S, I: Iterator<Item = (Time, S)>> Iterator for Instant<'_, I> {
    type Item = (Time, S);

    fn next(&mut self) -> Option<(Time, S)> {
        self.signals.next_if(|(at, _)| *at <= self.now)
    }
}
