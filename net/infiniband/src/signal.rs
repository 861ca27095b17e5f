//! The message type that hosts and switches exchange: packets and credits.

use kernel::Wire;
use units::{HostId, MessageId};

use crate::{losses::Stamp, train::Shape};

/// The purpose of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Part of a message, more to come.
    Body,
    /// The last packet of a message.
    Tail,
    /// A congestion notification packet: BECN to a source of congestion.
    Notification,
    /// An acknowledgement.
    Acknowledgement,
    /// An acknowledgement that carries BECN.
    Backward,
    /// A negative acknowledgement: a packet is missing.
    Negative,
}

/// A packet whose head reaches an input port; the flits follow as `shape` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The times at which the flits pass.
    pub shape: Shape,
    /// The host that sent it.
    pub source: HostId,
    /// The host it is for.
    pub destination: HostId,
    /// The route chosen at the source, or the packet's number in its connection.
    pub(crate) stamp: Stamp,
    /// The message's number, low and high half.
    pub(crate) sequence: [u32; 2],
    /// The input port.
    pub port: u16,
    /// Its size in flits of 64 bytes.
    pub flits: u8,
    /// Bytes in the last flit.
    pub last: u8,
    /// Its service level.
    pub level: u8,
    /// The virtual lane it travels on.
    pub lane: u8,
    /// Its purpose.
    pub kind: Kind,
    /// FECN: it met congestion.
    pub marked: bool,
}

/// Buffer space that becomes free behind an output port, `flits` flits as `shape` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// The times at which the credits arrive.
    pub shape: Shape,
    /// The output port whose far end has room.
    pub port: u16,
    /// The number of flits.
    pub flits: u8,
    /// The virtual lane.
    pub lane: u8,
}

/// A signal that arrives at a device. The time of its event is that of the first flit or credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A packet.
    Packet(Packet),
    /// Credits.
    Credit(Credit),
}

/// The parts of a packet that do not change on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub source: HostId,
    pub destination: HostId,
    pub stamp: Stamp,
    pub id: MessageId,
    pub level: u8,
    pub kind: Kind,
}

impl Packet {
    pub(crate) fn new(label: Label, shape: Shape, flits: u8, last: u8) -> Self {
        let Label { source, destination, stamp, id, level, kind } = label;
        let sequence = [id.0 as u32, (id.0 >> 32) as u32];
        let (port, lane, marked) = (0, 0, false);
        Self {
            shape,
            source,
            destination,
            stamp,
            sequence,
            port,
            flits,
            last,
            level,
            lane,
            kind,
            marked,
        }
    }

    /// Returns true if it is part of a message.
    #[inline]
    pub const fn is_data(&self) -> bool {
        matches!(self.kind, Kind::Body | Kind::Tail)
    }

    /// On networks that lose packets: returns true if it is part of a message and asks for an
    /// acknowledgement: the last packet of a message, and every 256th of a connection.
    pub(crate) const fn asks(&self) -> bool {
        let is_256th = self.stamp.psn().is_256th();
        matches!(self.kind, Kind::Tail) || matches!(self.kind, Kind::Body) && is_256th
    }

    /// The number that the message was injected under.
    pub fn id(&self) -> MessageId {
        MessageId(u64::from(self.sequence[0]) | u64::from(self.sequence[1]) << 32)
    }
}

const KINDS: [Kind; 6] = [
    Kind::Body,
    Kind::Tail,
    Kind::Notification,
    Kind::Acknowledgement,
    Kind::Backward,
    Kind::Negative,
];
const CREDIT: u8 = KINDS.len() as u8;

fn word(bytes: &mut &[u8]) -> Option<u32> {
    let (word, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*word))
}

impl Wire for Signal {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let (tag, shape, port, [a, b, c, d, e]) = match self {
            Self::Packet(p) => {
                let rest = [p.flits, p.last, p.level, p.lane, p.marked.into()];
                (p.kind as u8, p.shape, p.port, rest)
            }
            Self::Credit(c) => (CREDIT, c.shape, c.port, [c.flits, c.lane, 0, 0, 0]),
        };
        let [low, high] = port.to_le_bytes();
        bytes.extend([tag, a, b, c, d, e, low, high]);
        let shape = [shape.gap, shape.slow, shape.lead];
        bytes.extend(shape.iter().flat_map(|word| word.to_le_bytes()));
        if let Self::Packet(p) = self {
            let words = [p.source.0, p.destination.0, p.stamp.0, p.sequence[0], p.sequence[1]];
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (&[tag, a, b, c, d, e, low, high], rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        let port = u16::from_le_bytes([low, high]);
        let shape = Shape { gap: word(bytes)?, slow: word(bytes)?, lead: word(bytes)? };
        if tag == CREDIT {
            return Some(Self::Credit(Credit { shape, port, flits: a, lane: b }));
        }
        let &kind = KINDS.get(usize::from(tag))?;
        let [source, destination, stamp] = [word(bytes)?, word(bytes)?, word(bytes)?];
        let stamp = Stamp(stamp);
        let sequence = [word(bytes)?, word(bytes)?];
        let [source, destination] = [source, destination].map(HostId);
        let (flits, last, level, lane, marked) = (a, b, c, d, e != 0);
        Some(Self::Packet(Packet {
            shape,
            source,
            destination,
            stamp,
            sequence,
            port,
            flits,
            last,
            level,
            lane,
            kind,
            marked,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() {
        assert!(size_of::<Signal>() <= 40, "{}", size_of::<Signal>());
        // With the 20 bytes around it, it fills a cache line.
        assert_eq!(size_of::<kernel::Event<network::Mail<u64, Signal>>>(), 64);
    }

    /// 8 bytes of ports, sizes and marks, 12 of shape, 20 more for a packet.
    #[test]
    fn wire() {
        let label = Label {
            source: HostId(1),
            destination: HostId(2),
            stamp: Stamp(3),
            id: MessageId(0x1234_5678_9abc_def0),
            level: 4,
            kind: Kind::Negative,
        };
        let mut packet = Packet::new(label, Shape { gap: 5, slow: 6, lead: 7 }, 8, 9);
        (packet.port, packet.lane, packet.marked) = (1000, 11, true);
        let credit = Credit { shape: Shape::even(32), port: 12, flits: 13, lane: 14 };
        for (signal, length) in [(Signal::Packet(packet), 40), (Signal::Credit(credit), 20)] {
            let mut bytes = Vec::new();
            signal.encode(&mut bytes);
            assert_eq!(bytes.len(), length);
            assert_eq!(Signal::decode(&mut &bytes[..]), Some(signal));
            assert_eq!(Signal::decode(&mut &bytes[..length - 1]), None);
        }
        assert_eq!(packet.id(), MessageId(0x1234_5678_9abc_def0));
    }
}
