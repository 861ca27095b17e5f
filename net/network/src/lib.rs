//! The contract that every model of a network meets, and the suite that checks it.
//!
//! A model says when a message that enters at one host reaches another. What the hosts' CPUs and
//! interfaces do before and after is not its business.

pub mod conformance;

use topology::Complete;
use units::Time;

/// A message as the network sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// Where it enters.
    pub source: u32,
    /// Where it leaves.
    pub destination: u32,
    /// Its size in bytes.
    pub bytes: u64,
}

/// What a message would take on an idle network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncontended {
    /// From its injection to its delivery.
    pub transit: Time,
    /// How long it keeps the sender's interface busy.
    pub leaving: Time,
    /// How long it keeps the receiver's interface busy.
    pub draining: Time,
}

/// A model of a network.
pub trait Network: Sync + Sized {
    /// The part of the model that lives inside a host's process.
    type Interface: Send;

    /// The interfaces of all hosts are made one by one, by the workers that own them.
    fn interface(&self, topology: Complete, host: u32) -> Self::Interface;

    /// The least time between an injection and the delivery of the message. Zero is allowed.
    fn lookahead(&self) -> Time;

    /// What a message takes when it is alone.
    fn uncontended(&self, parcel: Parcel) -> Uncontended;

    /// A message enters at time `at`; calls of one interface come in the order in which the messages
    /// leave, and messages between two hosts are delivered in that order. The
    /// answer is when it is delivered: at `at` plus the lookahead or later; [`Time::MAX`] past the
    /// range of time.
    fn inject(&self, interface: &mut Self::Interface, at: Time, parcel: Parcel) -> Time;
}
