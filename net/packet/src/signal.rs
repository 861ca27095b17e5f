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
    /// The cycle in which its message entered the interface of its host, as far as 32 bits tell.
    pub born: u32,
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
    /// The time between its flits as foretold, in times of a flit on that link.
    pub stride: u8,
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
            born: 0,
            id: [0; 2],
            flits: 1,
            port: 0,
            hops: 0,
            channel: 0,
            stride: 1,
        }
    }
}

/// Flits or credits. Each replaces what was foretold for its port and channel from its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The first flit of a packet has arrived. The others are foretold, one in `stride` times of a
    /// flit on the link.
    Head(Packet),
    /// A further flit of the packet that comes by a port and channel has arrived. Those behind it
    /// are foretold.
    Flits {
        /// The port by which it comes in.
        port: u16,
        /// The virtual channel on the link.
        channel: u8,
        /// The time between two flits in picoseconds.
        period: u32,
    },
    /// The flit that was foretold for now has not arrived.
    NoFlit {
        /// The port by which it would have come in.
        port: u16,
        /// The virtual channel on the link.
        channel: u8,
    },
    /// The buffer behind a port and channel has room for a flit more. Further credits are foretold.
    Credits {
        /// The output port.
        port: u16,
        /// The virtual channel on the link behind it.
        channel: u8,
        /// The number of further credits.
        left: u16,
        /// The time between two credits in picoseconds.
        period: u32,
    },
    /// The credit that was foretold for now has not come.
    NoCredit {
        /// The output port.
        port: u16,
        /// The virtual channel on the link behind it.
        channel: u8,
    },
    /// A place of the buffer behind a port and channel is the critical one of its ring from now on.
    Critical {
        /// The output port.
        port: u16,
        /// The virtual channel on the link behind it.
        channel: u8,
    },
    /// The router behind a port asks for the critical place of its ring to move to the buffer
    /// there.
    Displace {
        /// The output port.
        port: u16,
        /// The virtual channel on the link behind it.
        channel: u8,
        /// The output port there, to which the answer goes.
        of: u16,
    },
    /// The router before answers [`Signal::Displace`].
    Displaced {
        /// The output port whose buffer the critical place leaves.
        port: u16,
        /// The virtual channel on the link behind it.
        channel: u8,
        /// True if the critical place has moved.
        moved: bool,
    },
    /// So many flits are queued at an output port of another router.
    Queue {
        /// The port to that router.
        port: u16,
        /// The port there.
        of: u16,
        /// The number of flits.
        flits: u32,
    },
    /// So many flits are in the buffers of a router and those behind it in the tree of the census,
    /// or in those of all routers if it comes from above.
    Census {
        /// The port to that router.
        port: u16,
        /// The number of flits, low word first: signals have no room to align eight bytes.
        flits: [u32; 2],
    },
}

impl Signal {
    /// So many flits, told by the router behind a port.
    pub(crate) const fn census(port: u16, flits: u64) -> Self {
        Self::Census { port, flits: [flits as u32, (flits >> 32) as u32] }
    }
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
            Self::Flits { port, channel, .. } => (1, port, channel),
            Self::NoFlit { port, channel } => (2, port, channel),
            Self::Credits { port, channel, .. } => (3, port, channel),
            Self::NoCredit { port, channel } => (4, port, channel),
            Self::Queue { port, .. } => (5, port, 0),
            Self::Census { port, .. } => (6, port, 0),
            Self::Critical { port, channel } => (7, port, channel),
            Self::Displace { port, channel, .. } => (8, port, channel),
            Self::Displaced { port, channel, .. } => (9, port, channel),
        };
        bytes.extend([tag, channel]);
        bytes.extend(port.to_le_bytes());
        match *self {
            Self::Head(packet) => {
                let Packet { source, destination, choice, place, packets, born, id, .. } = packet;
                let words = [source.0, destination.0, choice, place, packets, born, id[0], id[1]];
                bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
                let halves = [packet.flits, packet.hops, packet.stride.into()];
                bytes.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
            }
            Self::Flits { period, .. } => bytes.extend(period.to_le_bytes()),
            Self::Credits { left, period, .. } => {
                bytes.extend(left.to_le_bytes());
                bytes.extend(period.to_le_bytes());
            }
            Self::NoFlit { .. } | Self::NoCredit { .. } | Self::Critical { .. } => {}
            Self::Displace { of, .. } => bytes.extend(of.to_le_bytes()),
            Self::Displaced { moved, .. } => bytes.push(moved.into()),
            Self::Queue { of, flits, .. } => {
                bytes.extend(of.to_le_bytes());
                bytes.extend(flits.to_le_bytes());
            }
            Self::Census { flits, .. } => bytes.extend(flits.map(u32::to_le_bytes).concat()),
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let (&[tag, channel], rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        let port = half(bytes)?;
        match tag {
            0 => {
                let [source, destination] = [HostId(word(bytes)?), HostId(word(bytes)?)];
                let (choice, place) = (word(bytes)?, word(bytes)?);
                let (packets, born) = (word(bytes)?, word(bytes)?);
                let id = [word(bytes)?, word(bytes)?];
                let (flits, hops) = (half(bytes)?, half(bytes)?);
                let stride = half(bytes)? as u8;
                let blank = Packet::blank(source, destination);
                Some(Self::Head(Packet {
                    choice,
                    place,
                    packets,
                    born,
                    id,
                    flits,
                    port,
                    hops,
                    channel,
                    stride,
                    ..blank
                }))
            }
            1 => Some(Self::Flits { port, channel, period: word(bytes)? }),
            2 => Some(Self::NoFlit { port, channel }),
            3 => {
                let (left, period) = (half(bytes)?, word(bytes)?);
                Some(Self::Credits { port, channel, left, period })
            }
            4 => Some(Self::NoCredit { port, channel }),
            5 => {
                let (of, flits) = (half(bytes)?, word(bytes)?);
                Some(Self::Queue { port, of, flits })
            }
            6 => Some(Self::Census { port, flits: [word(bytes)?, word(bytes)?] }),
            7 => Some(Self::Critical { port, channel }),
            8 => Some(Self::Displace { port, channel, of: half(bytes)? }),
            9 => {
                let (&moved, rest) = bytes.split_first()?;
                *bytes = rest;
                Some(Self::Displaced { port, channel, moved: moved != 0 })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() {
        assert!(size_of::<Signal>() <= 44, "{}", size_of::<Signal>());
        // Time, source, sequence and destination are 20 more.
        assert_eq!(size_of::<kernel::Event<Signal>>(), 64);
    }

    /// 4 bytes, and 38 more of a packet.
    #[test]
    fn wire() {
        let packet = Packet {
            choice: 3,
            place: 4,
            packets: 5,
            born: 6,
            flits: 600,
            port: 700,
            hops: 8,
            channel: 9,
            stride: 10,
            ..Packet::blank(HostId(1), HostId(2)).with_id(MessageId(0x1234_5678_9abc_def0))
        };
        assert_eq!(packet.id(), MessageId(0x1234_5678_9abc_def0));
        let signals = [
            (Signal::Head(packet), 42),
            (Signal::Flits { port: 300, channel: 7, period: 1 << 20 }, 8),
            (Signal::NoFlit { port: 300, channel: 7 }, 4),
            (Signal::Credits { port: 400, channel: 8, left: 500, period: 1 << 21 }, 10),
            (Signal::NoCredit { port: 400, channel: 8 }, 4),
            (Signal::Queue { port: 300, of: 7, flits: 1 << 20 }, 10),
            (Signal::census(300, 7 << 40 | 5), 12),
            (Signal::Critical { port: 300, channel: 7 }, 4),
            (Signal::Displace { port: 300, channel: 7, of: 400 }, 6),
            (Signal::Displaced { port: 300, channel: 7, moved: true }, 5),
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
