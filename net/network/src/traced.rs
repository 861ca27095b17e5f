//! A wrapper around any network that shows its signals.

use std::{
    fmt, io,
    sync::{Mutex, PoisonError},
};

use units::{DeviceId, HostId, MessageId, Time};

use crate::forward::inside;
use crate::{Links, Network, Outlet, Record, Transfer, forward};

/// A network whose signals are shown to a tracer when they are sent; otherwise it is the network
/// inside.
///
/// The tracer is called from all workers, in no particular order among them; the signals of one
/// host or device come in the order in which it sends them. [`Lines`] is a tracer that keeps them.
#[derive(Clone, Copy, Debug)]
pub struct Traced<N, F> {
    inside: N,
    tracer: F,
}

/// A signal that has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent<S> {
    /// The time at which it arrives.
    pub at: Time,
    /// The host or device that has sent it.
    pub from: DeviceId,
    /// Its number among those of its sender.
    pub number: u32,
    /// The host or device at which it arrives.
    pub to: DeviceId,
    /// The signal.
    pub signal: S,
}

impl<S: fmt::Debug> fmt::Display for Sent<S> {
    /// The time of arrival in picoseconds, the sender, the receiver and the signal.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { at, from, to, signal, .. } = self;
        write!(f, "{} {from} {to} {signal:?}", at.ps())
    }
}

/// Signals that are kept, for a text with a line for each.
#[derive(Debug)]
pub struct Lines<S>(Mutex<Vec<Sent<S>>>);

impl<S> Default for Lines<S> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<S: Copy + fmt::Debug> Lines<S> {
    /// Keeps a signal.
    pub fn keep(&self, sent: &Sent<S>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(*sent);
    }

    /// Writes the signals in the order in which receivers hear them: by time of arrival, sender and
    /// number. The text does not depend on the number of workers.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write(self, out: &mut impl io::Write) -> io::Result<()> {
        let mut lines = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        lines.sort_unstable_by_key(|sent| (sent.at, sent.from, sent.number));
        lines.iter().try_for_each(|sent| writeln!(out, "{sent}"))
    }
}

impl<N: Network, F: Fn(&Sent<N::Signal>) + Sync> Traced<N, F> {
    /// Shows the signals of a network to a tracer.
    pub const fn new(inside: N, tracer: F) -> Self {
        Self { inside, tracer }
    }

    fn outlet<'o, O>(&'o self, part: &'o mut (DeviceId, u32), out: &'o mut O) -> Tap<'o, F, O> {
        let (from, number) = (part.0, &mut part.1);
        Tap { from, number, tracer: &self.tracer, out }
    }
}

/// The outlet of the network inside.
struct Tap<'o, F, O> {
    from: DeviceId,
    /// The number of signals that the sender has sent.
    number: &'o mut u32,
    tracer: &'o F,
    out: &'o mut O,
}

impl<N, F, O> Outlet<N> for Tap<'_, F, O>
where
    N: Network,
    F: Fn(&Sent<N::Signal>) + Sync,
    O: Outlet<Traced<N, F>>,
{
    const LISTENS: bool = O::LISTENS;

    fn send(&mut self, to: DeviceId, at: Time, signal: N::Signal) {
        (self.tracer)(&Sent { at, from: self.from, number: *self.number, to, signal });
        *self.number = self.number.wrapping_add(1);
        self.out.send(to, at, signal);
    }

    fn left(&mut self, at: Time, id: MessageId) {
        self.out.left(at, id);
    }

    fn deliver(&mut self, at: Time, source: HostId, id: MessageId) {
        self.out.deliver(at, source, id);
    }

    fn give_up(&mut self, at: Time, destination: HostId) {
        self.out.give_up(at, destination);
    }

    fn record(&mut self, at: Time, record: Record<N::Detail>) {
        self.out.record(at, record);
    }
}

/// An interface or device of the network inside, its number, and that of its next signal.
type Part<T> = (T, (DeviceId, u32));

impl<N: Network, F: Fn(&Sent<N::Signal>) + Sync> Network for Traced<N, F> {
    type Interface = Part<N::Interface>;
    type Device = Part<N::Device>;
    type Signal = N::Signal;
    type Detail = N::Detail;

    const DIRECT: bool = N::DIRECT;
    const TELLS_LEFT: bool = N::TELLS_LEFT;

    forward!(self, inside: hosts devices weight order lookahead lookahead_between);
    forward!(self, inside: waits_for_answers uncontended);

    fn interface(&self, host: HostId) -> Self::Interface {
        (self.inside.interface(host), (host.into(), 0))
    }

    fn device(&self, device: DeviceId) -> Self::Device {
        (self.inside.device(device), (device, 0))
    }

    fn inject(
        &self,
        (interface, part): &mut Self::Interface,
        at: Time,
        transfer: Transfer,
        number: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        self.inside.inject(interface, at, transfer, number, &mut self.outlet(part, out))
    }

    fn hear(
        &self,
        (interface, part): &mut Self::Interface,
        at: Time,
        signal: N::Signal,
        out: &mut impl Outlet<Self>,
    ) {
        self.inside.hear(interface, at, signal, &mut self.outlet(part, out));
    }

    fn next(&self, (interface, _): &Self::Interface) -> Time {
        self.inside.next(interface)
    }

    fn run(
        &self,
        (interface, part): &mut Self::Interface,
        until: Time,
        out: &mut impl Outlet<Self>,
    ) {
        self.inside.run(interface, until, &mut self.outlet(part, out));
    }

    fn run_device(
        &self,
        (device, part): &mut Self::Device,
        until: Time,
        signals: impl Iterator<Item = (Time, N::Signal)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        self.inside.run_device(device, until, signals, &mut self.outlet(part, out))
    }

    fn at_rest(&self, (interface, _): &Self::Interface) -> Result<(), String> {
        self.inside.at_rest(interface)
    }

    fn device_at_rest(&self, (device, _): &Self::Device) -> Result<(), String> {
        self.inside.device_at_rest(device)
    }
}

impl<N: Links, F: Fn(&Sent<N::Signal>) + Sync> Links for Traced<N, F> {
    fn link_time(&self, host: HostId, bytes: u64) -> Time {
        self.inside.link_time(host, bytes)
    }

    fn hops(&self, source: HostId, destination: HostId, id: MessageId) -> u32 {
        self.inside.hops(source, destination, id)
    }

    fn packets_and_flits(&self, bytes: u64) -> (u64, u64) {
        self.inside.packets_and_flits(bytes)
    }

    fn flit_time(&self, device: DeviceId, port: u16) -> Option<Time> {
        self.inside.flit_time(device, port)
    }

    fn side_by_side(&self, device: DeviceId, port: u16) -> u16 {
        self.inside.side_by_side(device, port)
    }

    fn ways(&self, source: HostId, destination: HostId) -> u32 {
        self.inside.ways(source, destination)
    }

    fn follow(
        &self,
        transfer: Transfer,
        number: u32,
        each: &mut dyn FnMut(DeviceId, u16),
    ) -> Option<Time> {
        self.inside.follow(transfer, number, each)
    }
}
