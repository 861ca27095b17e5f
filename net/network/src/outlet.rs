//! Where what a network's parts do goes, and what travels between them.

use kernel::Wire;
use units::{DeviceId, HostId, MessageId, Time};

use crate::{Network, Record};

/// What an interface or a device is given to act on.
pub trait Outlet<N: Network> {
    /// Whether records are wanted; where not, they cost nothing.
    const LISTENS: bool;

    /// A signal that reaches another host's interface, or a device, at least the lookahead later.
    fn send(&mut self, to: DeviceId, at: Time, signal: N::Signal);

    /// A message is delivered to this host at a time that may lie ahead: its source, and its number
    /// there.
    fn deliver(&mut self, at: Time, source: HostId, number: MessageId);

    /// Something to watch.
    fn record(&mut self, at: Time, record: Record<N::Detail>);
}

/// For models that send and deliver nothing but what they answer.
pub struct Nowhere;

impl<N: Network> Outlet<N> for Nowhere {
    const LISTENS: bool = false;

    #[inline]
    fn send(&mut self, _: DeviceId, _: Time, _: N::Signal) {}

    #[inline]
    fn deliver(&mut self, _: Time, _: HostId, _: MessageId) {}

    #[inline]
    fn record(&mut self, _: Time, _: Record<N::Detail>) {}
}

/// What there is none of.
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

/// What reaches a process: something from another host, or a signal of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mail<P, S> {
    /// From a host.
    Host(P),
    /// From a host, which tells what a message is about that the network will deliver.
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

    /// Unless the receiver may answer it without delay. A network without signals needs none.
    #[inline]
    fn passive(&self) -> bool {
        S::EXISTS && matches!(self, Self::Announcement(payload) if !payload.urgent())
    }
}
