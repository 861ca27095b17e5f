//! A bus: one wire for all hosts, which carries one message at a time.
//!
//! It models that messages wait for each other, first come first served; requests that reach the
//! bus at the same instant are served in the order of their hosts. It does not model packets,
//! collisions or limited queues.

use kernel::Wire;
use network::{Network, Never, Outlet, Transfer, Uncontended};
use units::{DeviceId, HostId, MessageId, Time, TimePerByte};

/// A bus that connects some hosts.
#[derive(Clone, Copy, Debug)]
pub struct Bus {
    /// The number of hosts.
    pub hosts: u32,
    /// The delay between a host and the bus, in either direction; more than zero.
    pub delay: Time,
    /// The time for which a byte occupies the bus.
    pub per_byte: TimePerByte,
}

/// A message on its way to the bus or from it.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    source: HostId,
    destination: HostId,
    bytes: u64,
    id: MessageId,
}

impl Wire for Signal {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let Self { source, destination, bytes: size, id } = *self;
        for word in [source.0.into(), destination.0.into(), size, id.0] {
            bytes.extend_from_slice(&u64::to_le_bytes(word));
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let mut word = || {
            let (word, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*word))
        };
        let host = |word: u64| u32::try_from(word).ok().map(HostId);
        let [source, destination] = [host(word()?)?, host(word()?)?];
        Some(Self { source, destination, bytes: word()?, id: MessageId(word()?) })
    }
}

impl Bus {
    /// Returns the time for which a message of so many bytes occupies the bus.
    fn occupation(&self, bytes: u64) -> Time {
        self.per_byte.cost(bytes)
    }
}

impl Network for Bus {
    /// A host needs to keep nothing: its requests wait at the bus.
    type Interface = ();
    /// The time from which the bus is free.
    type Device = Time;
    type Signal = Signal;
    type Detail = Never;

    const DIRECT: bool = false;

    fn hosts(&self) -> Option<u32> {
        Some(self.hosts)
    }

    fn devices(&self) -> u32 {
        1
    }

    fn interface(&self, _: HostId) {}

    fn device(&self, _: DeviceId) -> Time {
        Time::ZERO
    }

    fn lookahead(&self) -> Time {
        self.delay
    }

    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        if transfer.source == transfer.destination {
            return Uncontended::default();
        }
        let cables = self.delay.saturating_add(self.delay);
        let transit = cables.saturating_add(self.occupation(transfer.bytes));
        Uncontended { transit, latency: cables, ..Uncontended::default() }
    }

    fn inject(
        &self,
        (): &mut (),
        at: Time,
        transfer: Transfer,
        id: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        let Transfer { source, destination, bytes, .. } = transfer;
        if source == destination {
            out.deliver(at, source, id);
        } else {
            // The only device has the number behind those of the hosts.
            let bus = DeviceId(self.hosts);
            let signal = Signal { source, destination, bytes, id };
            out.send(bus, at.saturating_add(self.delay), signal);
        }
        None
    }

    fn hear(&self, (): &mut (), at: Time, signal: Signal, out: &mut impl Outlet<Self>) {
        out.deliver(at, signal.source, signal.id);
    }

    fn run_device(
        &self,
        free: &mut Time,
        _: Time,
        signals: impl Iterator<Item = (Time, Signal)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        for (at, signal) in signals {
            *free = at.max(*free).saturating_add(self.occupation(signal.bytes));
            out.send(signal.destination.into(), free.saturating_add(self.delay), signal);
        }
        Time::MAX
    }
}
