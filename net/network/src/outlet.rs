//! The outlet of interfaces and devices, and the mail between processes.

use kernel::Wire;
use units::{DeviceId, HostId, MessageId, Time};

use crate::{Network, Record};

/// The outlet of an interface or a device that acts.
///
/// The harness gives one to each call of the network's methods. All times are those of the event
/// that the call handles, or later.
pub trait Outlet<N: Network> {
    /// True if records are wanted; where not, they cost nothing.
    const LISTENS: bool;

    /// Sends a signal that reaches another host's interface, or a device, at least the lookahead
    /// later.
    fn send(&mut self, to: DeviceId, at: Time, signal: N::Signal);

    /// A message has left this host, or will have left it at a time that may lie ahead: see
    /// [`Network::TELLS_LEFT`]. It comes once for each message, with its number. It comes before
    /// the message is delivered, unless [`Network::waits_for_answers`].
    fn left(&mut self, at: Time, id: MessageId);

    /// Delivers a message to this host at a time that may lie ahead, known by its source and its
    /// number there.
    fn deliver(&mut self, at: Time, source: HostId, number: MessageId);

    /// Ends the run with an error: this host gives up sending to another one, which has answered
    /// none of its attempts.
    fn give_up(&mut self, at: Time, destination: HostId);

    /// Records an event for whoever watches.
    fn record(&mut self, at: Time, record: Record<N::Detail>);
}

/// The outlet of a direct network, which uses none: it answers at the injection.
pub struct Nowhere;

impl<N: Network> Outlet<N> for Nowhere {
    const LISTENS: bool = false;

    #[inline]
    fn send(&mut self, _: DeviceId, _: Time, _: N::Signal) {}

    #[inline]
    fn left(&mut self, _: Time, _: MessageId) {}

    #[inline]
    fn deliver(&mut self, _: Time, _: HostId, _: MessageId) {}

    #[inline]
    fn give_up(&mut self, _: Time, _: HostId) {}

    #[inline]
    fn record(&mut self, _: Time, _: Record<N::Detail>) {}
}

/// A type without values, for signals and details of networks that have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

impl Wire for Never {
    const EXISTS: bool = false;

    fn encode(&self, _: &mut Vec<u8>) {
        match *self {}
    }

    fn decode(_: &mut &[u8]) -> Option<Self> {
        None
    }
}

/// The mail of a process: from another host, or a signal of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mail<P, S> {
    /// From a host.
    Host(P),
    /// From a host, about a message that the network will deliver.
    Announcement(P),
    /// From a part of the network.
    Signal(S),
}

impl<P: Wire, S: Wire> Wire for Mail<P, S> {
    fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Host(payload) => {
                bytes.push(0);
                payload.encode(bytes);
            }
            Self::Announcement(payload) => {
                bytes.push(1);
                payload.encode(bytes);
            }
            Self::Signal(signal) => {
                bytes.push(2);
                signal.encode(bytes);
            }
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (&[kind], rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        match kind {
            0 => P::decode(bytes).map(Self::Host),
            1 => P::decode(bytes).map(Self::Announcement),
            2 => S::decode(bytes).map(Self::Signal),
            _ => None,
        }
    }

    #[inline]
    fn urgent(&self) -> bool {
        match self {
            Self::Host(payload) | Self::Announcement(payload) => payload.urgent(),
            Self::Signal(signal) => signal.urgent(),
        }
    }

    /// An announcement is passive unless the receiver may answer it without delay. A network
    /// without signals has no announcements.
    #[inline]
    fn passive(&self) -> bool {
        S::EXISTS && matches!(self, Self::Announcement(payload) if !payload.urgent())
    }
}
