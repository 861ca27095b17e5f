//! The messages that hosts and routers exchange.

use kernel::Wire;
use units::{HostId, MessageId};

/// The head flit of a packet, with what the packet carries on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The host that sends it.
    pub source: HostId,
    /// The host that receives it.
    pub destination: HostId,
    /// The route's choice at the source.
    pub choice: u32,
    /// The place of its message among those from its source to its destination.
    pub place: u32,
    /// The number of packets of its message.
    pub packets: u32,
    /// The number that its message was injected under.
    pub(crate) id: [u32; 2],
    /// Its number of flits.
    pub flits: u16,
    /// The port by which it comes in at the receiver of the signal.
    pub port: u16,
    /// The number of links that it has crossed.
    pub hops: u16,
    /// The virtual channel on the link by which it comes.
    pub channel: u8,
}

impl Packet {
    /// The number that its message was injected under.
    pub fn id(&self) -> MessageId {
        MessageId(u64::from(self.id[0]) | u64::from(self.id[1]) << 32)
    }

    /// The packet with a message's number.
    #[must_use]
    pub(crate) const fn with_id(self, id: MessageId) -> Self {
        Self { id: [id.0 as u32, (id.0 >> 32) as u32], ..self }
    }

    /// A packet without a message and a place on its way.
    pub(crate) const fn blank(source: HostId, destination: HostId) -> Self {
        Self {
            source,
            destination,
            choice: 0,
            place: 0,
            packets: 1,
            id: [0; 2],
            flits: 1,
            port: 0,
            hops: 0,
            channel: 0,
        }
    }
}

/// A flit or a credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The first flit of a packet has arrived.
    Head(Packet),
    /// A further flit of the packet that comes by a port and channel has arrived.
    Flit {
        /// The port by which it comes in.
        port: u16,
        /// The virtual channel on the link.
        channel: u8,
    },
    /// The buffer behind a port and channel has room for a flit more.
    Credit {
        /// The output port.
        port: u16,
        /// The virtual channel on the link behind it.
        channel: u8,
    },
}

fn word(bytes: &mut &[u8]) -> Option<u32> {
    let (word, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*word))
}

fn half(bytes: &mut &[u8]) -> Option<u16> {
    let (half, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u16::from_le_bytes(*half))
}

impl Wire for Signal {
    fn encode(&self, bytes: &mut Vec<u8>) {
        let (tag, port, channel) = match *self {
            Self::Head(packet) => (0, packet.port, packet.channel),
            Self::Flit { port, channel } => (1, port, channel),
            Self::Credit { port, channel } => (2, port, channel),
        };
        bytes.extend([tag, channel]);
        bytes.extend(port.to_le_bytes());
        if let Self::Head(packet) = self {
            let Packet { source, destination, choice, place, packets, id, .. } = *packet;
            let words = [source.0, destination.0, choice, place, packets, id[0], id[1]];
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            bytes.extend([packet.flits, packet.hops].iter().flat_map(|half| half.to_le_bytes()));
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (&[tag, channel], rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        let port = half(bytes)?;
        match tag {
            0 => {
                let [source, destination] = [HostId(word(bytes)?), HostId(word(bytes)?)];
                let (choice, place, packets) = (word(bytes)?, word(bytes)?, word(bytes)?);
                let id = [word(bytes)?, word(bytes)?];
                let (flits, hops) = (half(bytes)?, half(bytes)?);
                let blank = Packet::blank(source, destination);
                let packet =
                    Packet { choice, place, packets, id, flits, port, hops, channel, ..blank };
                Some(Self::Head(packet))
            }
            1 => Some(Self::Flit { port, channel }),
            2 => Some(Self::Credit { port, channel }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() {
        assert!(size_of::<Signal>() <= 40, "{}", size_of::<Signal>());
    }

    /// 4 bytes, and 32 more of a packet.
    #[test]
    fn wire() {
        let packet = Packet {
            choice: 3,
            place: 4,
            packets: 5,
            flits: 600,
            port: 700,
            hops: 8,
            channel: 9,
            ..Packet::blank(HostId(1), HostId(2)).with_id(MessageId(0x1234_5678_9abc_def0))
        };
        assert_eq!(packet.id(), MessageId(0x1234_5678_9abc_def0));
        let signals = [
            (Signal::Head(packet), 36),
            (Signal::Flit { port: 300, channel: 7 }, 4),
            (Signal::Credit { port: 400, channel: 8 }, 4),
        ];
        for (signal, length) in signals {
            let mut bytes = Vec::new();
            signal.encode(&mut bytes);
            assert_eq!(bytes.len(), length);
            assert_eq!(Signal::decode(&mut &bytes[..]), Some(signal));
            assert_eq!(Signal::decode(&mut &bytes[..length - 1]), None);
        }
    }
}
