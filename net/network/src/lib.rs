//! The contract that every model of a network meets, and the suite that checks it.
//!
//! A model says when a message that enters at one host reaches another. What the hosts' CPUs do
//! before and after is not its business.
//!
//! A host's half of the network, its interface, lives in the host's process. A model may be nothing
//! but interfaces, and then it can say at the injection when the message is delivered ([`Direct`]).
//! Or it has devices between the hosts, processes of their own, and signals pass between interfaces
//! and devices; then the delivery is told by the receiver's interface when it is known, and
//! [`Port`] keeps what a host must remember until then.

pub mod conformance;
mod direct;
mod endpoint;
mod forward;
mod harness;
mod links;
mod nic;
mod outlet;
pub mod rails;
mod record;
mod script;
mod traced;

pub use direct::Direct;
pub use endpoint::{Delivery, Endpoint, Site, Worked};
pub use harness::{Harness, Letter, Process, Windowed, Worker, opened};
pub use links::Links;
pub use nic::{Nic, insert_by_time};
pub use outlet::{Mail, Never, Nowhere, Outlet};
pub use rails::Rails;
pub use record::Record;
pub use script::{Injection, Log, Played, Reaction, Script};
pub use traced::{Lines, Sent, Traced};

use kernel::Wire;
use units::{DeviceId, HostId, MessageId, Time};

/// A message as the network sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The host at which it enters the network.
    pub source: HostId,
    /// The host at which it leaves the network.
    pub destination: HostId,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its class of service. Class 0 is the one that the network gives to all transfers of the
    /// source host; what other classes mean is up to the model.
    pub class: u8,
    /// The network of the host that it takes, where a host has several; the first is number 0.
    pub rail: u8,
}

impl Transfer {
    /// A transfer of class 0 over rail 0.
    pub const fn new(source: HostId, destination: HostId, bytes: u64) -> Self {
        Self { source, destination, bytes, class: 0, rail: 0 }
    }
}

/// The times of a message on an idle network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncontended {
    /// From its injection to its delivery.
    pub transit: Time,
    /// The part of the transit that does not grow with the size: the way of the first flit. The
    /// rest is serialisation.
    pub latency: Time,
    /// The time for which it keeps the sender's interface busy.
    pub leaving: Time,
    /// The time for which it keeps the receiver's interface busy.
    pub draining: Time,
}

/// A model of a network.
///
/// Hosts are numbered from 0, devices behind them: signals go to either by number.
pub trait Network: Sync + Sized {
    /// The part of the model that lives inside a host's process.
    type Interface: Send;
    /// A device between the hosts: a switch, a solver. `()` if there are none.
    type Device: Send;
    /// The message type that interfaces and devices exchange. [`Never`] if they exchange nothing.
    type Signal: Wire;
    /// Records that only this model has, beyond the neutral [`Record`]s. [`Never`] if there are
    /// none.
    type Detail: Copy + Send;

    /// True if [`Network::inject`] knows when the message is delivered. Only then may it be called
    /// before the time of the injection has come.
    const DIRECT: bool;

    /// True if the network tells when a transfer has left its host ([`Outlet::left`]): the sender
    /// may use its buffer again then. Its last bit is on the link, or, where the network
    /// [waits for answers](Network::waits_for_answers), the receiver has acknowledged it.
    const TELLS_LEFT: bool = false;

    /// True if [`Network::prefetch_signal`] does anything.
    const READS_AHEAD: bool = false;

    /// The number of hosts; `None` if any number will do.
    fn hosts(&self) -> Option<u32>;

    /// The number of devices behind the hosts.
    fn devices(&self) -> u32;

    /// The amount of work at a device, compared with that at an interface: for shares of equal
    /// work.
    fn weight(&self, device: DeviceId) -> u32 {
        let _ = device;
        1
    }

    /// An order of hosts and devices in which those that exchange many signals are near each other,
    /// so that parts of it exchange few. `None` if the order of the numbers is as good.
    fn order(&self) -> Option<Vec<DeviceId>> {
        None
    }

    /// Makes the interface of a host. Each worker makes those of its own hosts.
    fn interface(&self, host: HostId) -> Self::Interface;

    /// Makes a device, whose number lies behind those of the hosts.
    fn device(&self, device: DeviceId) -> Self::Device;

    /// The least time between an injection and the delivery of the message, and between anything
    /// that happens at an interface or device and the signals that it causes. Zero is allowed in a
    /// model without devices.
    fn lookahead(&self) -> Time;

    /// The lookahead between hosts and devices that different workers have; `worker_of` takes the
    /// numbers of [`Network::order`].
    fn lookahead_between(&self, worker_of: &dyn Fn(DeviceId) -> usize) -> Time {
        let _ = worker_of;
        self.lookahead()
    }

    /// The time by which the clocks of devices may go ahead of those of hosts where nobody looks at
    /// both, and the lookahead then, which is at most twice [`Network::lookahead`]: where signals
    /// from a device to a host take longer than those the other way, windows become longer so.
    fn lead(&self) -> (Time, Time) {
        (Time::ZERO, self.lookahead())
    }

    /// Returns true if a host keeps a transfer until the receiver has acknowledged it, because its
    /// packets may get lost: then it has left only after the way there and back.
    fn waits_for_answers(&self) -> bool {
        false
    }

    /// Returns what a message takes when it is alone. What its transit takes beyond that is
    /// contention.
    fn uncontended(&self, transfer: Transfer) -> Uncontended;

    /// A message enters at time `at`; calls of one interface come in the order in which the
    /// messages leave, and messages of equal size between two hosts are delivered in that order.
    /// `number` comes back with the delivery.
    ///
    /// A direct model answers when it is delivered: at `at` plus the lookahead or later;
    /// [`Time::MAX`] past the range of time. Others answer `None`, and need to have heard and run
    /// everything before `at`.
    fn inject(
        &self,
        interface: &mut Self::Interface,
        at: Time,
        transfer: Transfer,
        number: MessageId,
        out: &mut impl Outlet<Self>,
    ) -> Option<Time>;

    /// A signal reaches an interface, which has run everything before `at`.
    fn hear(
        &self,
        interface: &mut Self::Interface,
        at: Time,
        signal: Self::Signal,
        out: &mut impl Outlet<Self>,
    );

    /// Returns when an interface acts next if it hears nothing before; [`Time::MAX`] if it does
    /// not. Without this method and the next one, interfaces do nothing of their own accord.
    fn next(&self, interface: &Self::Interface) -> Time {
        let _ = interface;
        Time::MAX
    }

    /// Lets an interface do what is due before `until`.
    fn run(&self, interface: &mut Self::Interface, until: Time, out: &mut impl Outlet<Self>) {
        let _ = (interface, until, out);
    }

    /// Hands signals to a device, in order of time, and lets it do what is due before `until`.
    /// Returns when it acts next. A network with devices has this method.
    fn run_device(
        &self,
        device: &mut Self::Device,
        until: Time,
        signals: impl Iterator<Item = (Time, Self::Signal)>,
        out: &mut impl Outlet<Self>,
    ) -> Time {
        let _ = (device, until, signals, out);
        Time::MAX
    }

    /// Prefetches what the next window of a host's interface will read.
    fn prefetch_interface(&self, interface: &Self::Interface) {
        let _ = interface;
    }

    /// Prefetches what the next window of a device will read; see [`kernel::Model::prefetch`].
    fn prefetch_device(&self, device: &Self::Device, stage: usize) {
        let _ = (device, stage);
    }

    /// Prefetches what a device will read for a signal; see [`kernel::Model::prefetch_for`].
    fn prefetch_signal(&self, device: &Self::Device, signal: &Self::Signal) {
        let _ = (device, signal);
    }

    /// Checks that an interface at which nothing is due is as it was at the start: nothing waits,
    /// and all credits are there. If not, the answer says what is missing.
    ///
    /// # Errors
    ///
    /// If something is missing; the text says what.
    fn at_rest(&self, interface: &Self::Interface) -> Result<(), String> {
        let _ = interface;
        Ok(())
    }

    /// Checks that a device at which nothing is due is as it was at the start; see
    /// [`Network::at_rest`].
    ///
    /// # Errors
    ///
    /// If something is missing; the text says what.
    fn device_at_rest(&self, device: &Self::Device) -> Result<(), String> {
        let _ = device;
        Ok(())
    }
}
