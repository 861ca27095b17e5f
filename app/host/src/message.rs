//! The messages that hosts exchange.

use kernel::Wire;
use schedule::Op;
use units::Time;

use crate::path::Path;

/// The protocols' messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Data of an eager send.
    Eager,
    /// Data of a send by abstract rendezvous, whose sender waits for a release.
    Rendezvous,
    /// The match of such a message: the sender goes on at the same instant.
    Release,
    /// Request to send.
    Request,
    /// Clear to send.
    Clear,
    /// Data that follows a clear-to-send.
    Data,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::Eager, Self::Rendezvous, Self::Release, Self::Request, Self::Clear, Self::Data];
}

/// A message between hosts. Packed, because it is copied often and many are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Message {
    /// The step of the protocol that it is.
    pub kind: Kind,
    /// CPU of the send.
    pub cpu: u8,
    /// Interface of the send.
    pub nic: u8,
    /// The destination's number among the ranks of its host.
    pub slot: u8,
    /// The sender's operation.
    pub send: u32,
    /// Tag; for `Clear` and `Data` the receiver's operation.
    pub tag: u32,
    /// Bytes of the send.
    pub size: u64,
    /// The time when the send that caused it started.
    pub cause: Time,
    /// The path that led to its arrival.
    pub path: Path,
}

impl Message {
    /// A message of an operation, without what the network, the place and the moment add.
    pub fn outgoing(kind: Kind, send: u32, op: &Op) -> Self {
        let (cpu, nic, tag, size) = (op.cpu, op.nic, op.tag, op.size);
        let (slot, cause, path) = (0, Time::ZERO, Path::default());
        Self { kind, cpu, nic, slot, send, tag, size, cause, path }
    }

    /// Returns the number of bytes that travel with it.
    pub const fn bytes(&self) -> u64 {
        match self.kind {
            Kind::Request | Kind::Clear | Kind::Release => 0,
            Kind::Eager | Kind::Rendezvous | Kind::Data => self.size,
        }
    }
}

impl Wire for Message {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&[self.kind as u8, self.cpu, self.nic, self.slot]);
        bytes.extend_from_slice(&{ self.send }.to_le_bytes());
        bytes.extend_from_slice(&{ self.tag }.to_le_bytes());
        let Self { size, cause, path, .. } = *self;
        let Path { compute, overhead, latency, bandwidth, contention } = path;
        for word in [size, cause.ps(), compute, overhead, latency, bandwidth, contention] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        fn word(bytes: &mut &[u8]) -> Option<u64> {
            let (word, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*word))
        }
        let (&[kind, cpu, nic, slot], rest) = bytes.split_first_chunk()?;
        let (send, rest) = rest.split_first_chunk()?;
        let (tag, rest) = rest.split_first_chunk()?;
        *bytes = rest;
        Some(Self {
            kind: *Kind::ALL.get(usize::from(kind))?,
            cpu,
            nic,
            slot,
            send: u32::from_le_bytes(*send),
            tag: u32::from_le_bytes(*tag),
            size: word(bytes)?,
            cause: Time::from_ps(word(bytes)?),
            path: Path {
                compute: word(bytes)?,
                overhead: word(bytes)?,
                latency: word(bytes)?,
                bandwidth: word(bytes)?,
                contention: word(bytes)?,
            },
        })
    }

    /// A message by abstract rendezvous may be matched, and its sender released, the instant it
    /// arrives.
    fn urgent(&self) -> bool {
        self.kind == Kind::Rendezvous
    }
}
