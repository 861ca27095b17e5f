//! A network whose interfaces are busy with bytes, not the hosts: `LogGP` as Alexandrov et al. 1995
//! have it. A message keeps the interface at either end busy for g + (s-1)G, and its first byte
//! takes L in between. What the hosts' CPUs do (o, O) is not part of it.

use network::{Network, Outlet, Transfer, Uncontended};
use units::{DeviceId, HostId, MessageId, Time, TimePerByte};

use crate::{Costs, Parameters};

/// The costs of a message in the network and at its interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rates {
    latency: Time,
    gap: Time,
    gap_per_byte: TimePerByte,
}

/// A loss of bandwidth: the interfaces of all hosts take longer for each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The time from which messages that enter are slower.
    pub from: Time,
    /// The time from which they are as fast as before; [`Time::MAX`] if never.
    pub until: Time,
    /// The bandwidth that is left, in millionths.
    pub left: u32,
}

/// The network adapters of all hosts and the wire between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adapters {
    small: Rates,
    large: Rates,
    /// Bytes of the largest small message.
    limit: u64,
    loss: Option<Loss>,
}

/// The adapter of a host: when its two sides are free.
#[derive(Clone, Copy, Debug, Default)]
pub struct Adapter {
    sending: Time,
    receiving: Time,
}

/// The first byte of a message reaches an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    source: HostId,
    id: MessageId,
    bytes: u64,
    /// The time from its first byte to its last.
    bandwidth: Time,
}

impl kernel::Wire for Arrival {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.source.0.to_le_bytes());
        bytes.extend_from_slice(&self.id.0.to_le_bytes());
        bytes.extend_from_slice(&self.bytes.to_le_bytes());
        bytes.extend_from_slice(&self.bandwidth.ps().to_le_bytes());
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (source, rest) = bytes.split_first_chunk()?;
        let (id, rest) = rest.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (bandwidth, rest) = rest.split_first_chunk()?;
        *bytes = rest;
        let bandwidth = Time::from_ps(u64::from_le_bytes(*bandwidth));
        let (source, id) = (u32::from_le_bytes(*source), u64::from_le_bytes(*id));
        let (source, id, bytes) = (HostId(source), MessageId(id), u64::from_le_bytes(*size));
        Some(Self { source, id, bytes, bandwidth })
    }
}

impl From<&Costs> for Rates {
    fn from(costs: &Costs) -> Self {
        let Costs { latency, gap, gap_per_byte, .. } = *costs;
        Self { latency, gap, gap_per_byte }
    }
}

impl Rates {
    fn bandwidth(&self, bytes: u64) -> Time {
        self.gap_per_byte.cost(bytes.saturating_sub(1))
    }
}

impl Loss {
    /// Returns the time for bytes that take `time` without the loss and enter at `at`.
    fn slowed(self, at: Time, time: Time) -> Time {
        if at < self.from || at >= self.until {
            return time;
        }
        let slowed = u128::from(time.ps()) * 1_000_000 / u128::from(self.left.max(1));
        u64::try_from(slowed).map_or(Time::MAX, Time::from_ps)
    }
}

impl Adapters {
    /// The adapters and the wire with these parameters: L, g and G.
    #[must_use]
    pub fn new(parameters: &Parameters, loss: Option<Loss>) -> Self {
        let Parameters { small, large, eager_limit, .. } = parameters;
        Self { small: small.into(), large: large.into(), limit: *eager_limit, loss }
    }

    const fn rates(&self, bytes: u64) -> &Rates {
        if bytes > self.limit { &self.large } else { &self.small }
    }

    /// Returns when an interface that is free from `free` on takes the first byte of a message,
    /// which is there at `at`; and notes that it is busy for `bandwidth` and g.
    fn pass(&self, free: &mut Time, at: Time, bytes: u64, bandwidth: Time) -> Time {
        let start = at.max(*free);
        *free = start.saturating_add(bandwidth).saturating_add(self.rates(bytes).gap);
        start
    }
}

impl Network for Adapters {
    type Interface = Adapter;
    type Device = ();
    type Signal = Arrival;
    type Detail = network::Never;

    const DIRECT: bool = false;
    const TELLS_LEFT: bool = true;

    fn hosts(&self) -> Option<u32> {
        None
    }

    fn devices(&self) -> u32 {
        0
    }

    fn interface(&self, _: HostId) -> Adapter {
        Adapter::default()
    }

    fn device(&self, _: DeviceId) {}

    fn lookahead(&self) -> Time {
        self.small.latency.min(self.large.latency)
    }

    fn uncontended(&self, transfer: Transfer) -> Uncontended {
        let rates = self.rates(transfer.bytes);
        let bandwidth = rates.bandwidth(transfer.bytes);
        let transit = rates.latency.saturating_add(bandwidth);
        let busy = bandwidth.saturating_add(rates.gap);
        Uncontended { transit, latency: rates.latency, leaving: busy, draining: busy }
    }

    fn inject(
        &self,
        interface: &mut Adapter,
        at: Time,
        transfer: Transfer,
        number: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time> {
        let Transfer { source, destination, bytes, .. } = transfer;
        let rates = self.rates(bytes);
        let bandwidth = rates.bandwidth(bytes);
        let enters = at.max(interface.sending);
        let bandwidth = self.loss.map_or(bandwidth, |loss| loss.slowed(enters, bandwidth));
        let start = self.pass(&mut interface.sending, at, bytes, bandwidth);
        out.left(start.saturating_add(bandwidth), number);
        let arrival = Arrival { source, id: number, bytes, bandwidth };
        out.send(destination.into(), start.saturating_add(rates.latency), arrival);
        None
    }

    fn hear(
        &self,
        interface: &mut Adapter,
        at: Time,
        Arrival { source, id, bytes, bandwidth }: Arrival,
        out: &mut impl Outlet<Self>,
    ) {
        let start = self.pass(&mut interface.receiving, at, bytes, bandwidth);
        out.deliver(start.saturating_add(bandwidth), source, id);
    }
}
