//! Losses: which packets are damaged on their way, and the numbers by which a reliable connection
//! notices that they are missing.
//!
//! A packet is damaged at random, with a probability of its own and one for each of its bits on
//! each link (InfiniBand Architecture Specification, volume 1, section 7.8: both checksums of a
//! packet are wrong then). Packets cut through, so a switch has sent most of a packet on before it
//! sees the checksum at its end: it marks the packet as bad, and the packet goes all the way and
//! uses bandwidth and credits like any other. The destination checks the sum when the last flit is
//! there, and discards the packet.
//!
//! Not modelled: damage to the header that leads a packet astray, damaged flow-control packets, and
//! switches that discard a bad packet which they happen to hold as a whole.

use units::{HostId, Time};

use crate::{Fabric, parameters::FLIT, signal::Packet};

/// Losses of packets, and how reliable connections deal with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Losses {
    /// The probability that a packet is damaged on its way, whatever its size and route.
    pub packet: f64,
    /// The probability that a bit is damaged on a link. A packet has the bits that it occupies on a
    /// link: where short flits are padded, these count as full ones.
    pub bit: f64,
    /// Packets that are damaged in any case: their hosts, and their numbers among all packets that
    /// the host sends, acknowledgements included, from 0.
    pub also: Vec<(HostId, u64)>,
    /// The time for which a host waits for an acknowledgement; section 9.7.6.1.3 of the standard
    /// has 4.096 us times a power of two.
    pub ack_timeout: Time,
    /// The number of times that packets are sent again without progress, before the host gives up;
    /// 0 to 7 in the standard.
    pub retry_count: u8,
}

impl Losses {
    /// No losses yet, a time-out of 4.096 us * 2^14 = 67.1 ms and 7 retries: the values that the
    /// example programs of libibverbs set (`ibv_rc_pingpong`: timeout 14, `retry_cnt` 7).
    pub const NONE: Self = Self {
        packet: 0.0,
        bit: 0.0,
        also: Vec::new(),
        ack_timeout: Time::from_ps(4_096_000 << 14),
        retry_count: 7,
    };

    /// Returns true if a packet is damaged: number `index` of all that its source sends.
    pub(crate) fn damages(&self, net: &Fabric, packet: &Packet, index: u64) -> bool {
        let source = packet.source;
        if self.also.contains(&(source, index)) {
            return true;
        }
        let mut intact = 1.0 - self.packet;
        if self.bit > 0.0 {
            let bytes = (u32::from(packet.flits) - 1) * FLIT + u32::from(packet.last);
            let links = net.hops(&net.header(packet)).unwrap_or(0);
            let bits = f64::from(bytes * 8) * f64::from(links);
            intact *= (bits * (-self.bit).ln_1p()).exp();
        }
        net.damage.unit(source.0, index) > intact
    }
}

/// A packet sequence number (PSN): the last 24 bits of the number of a packet in its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Psn(u32);

impl Psn {
    /// Half of all numbers: what is farther ahead counts as behind.
    pub const HALF: u64 = 1 << 23;

    /// The last 24 bits of a number.
    pub const fn of(number: u64) -> Self {
        Self((number % (2 * Self::HALF)) as u32)
    }

    /// Returns the number with these last 24 bits that is nearest to another: less than half of
    /// all PSN ahead, or at most half behind.
    pub const fn near(self, other: u64) -> u64 {
        let ahead = (self.0 as u64).wrapping_sub(other) % (2 * Self::HALF);
        let number = other.wrapping_add(ahead);
        if ahead < Self::HALF { number } else { number.wrapping_sub(2 * Self::HALF) }
    }

    /// Returns true for every 256th number.
    pub const fn is_256th(self) -> bool {
        self.0 & 0xff == 0xff
    }
}

/// The fields of a packet besides its addresses: the route that its source has chosen or, where
/// packets get lost, its PSN and whether it is damaged. There the choice follows from the hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(pub u32);

impl Stamp {
    const DAMAGED: u32 = 1 << 31;

    /// The stamp of an intact packet.
    pub const fn numbered(psn: Psn) -> Self {
        Self(psn.0)
    }

    /// The stamp of a packet that has been damaged.
    #[must_use]
    pub const fn damaged(self) -> Self {
        Self(self.0 | Self::DAMAGED)
    }

    /// The number of a packet of a network that loses packets.
    pub const fn psn(self) -> Psn {
        Psn(self.0 & !Self::DAMAGED)
    }

    /// Returns true if a packet of a network that loses packets is damaged.
    pub const fn is_damaged(self) -> bool {
        self.0 & Self::DAMAGED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::Psn;

    /// 24 bits are enough to tell numbers less than 2^23 apart, across wraps.
    #[test]
    fn sequence_numbers_wrap() {
        let half = Psn::HALF;
        for base in [half, 2 * half - 1, 2 * half, 5 * half + 12_345] {
            for number in [base - half, base - 1, base, base + 1, base + half - 1] {
                assert_eq!(Psn::of(number).near(base), number, "{number} near {base}");
            }
        }
        // At the very start there is nothing behind.
        assert_eq!(Psn::of(0).near(0), 0);
        assert_eq!(Psn::of(3).near(0), 3);
        assert_eq!(Psn(65_536).near(0), 65_536);
    }
}
