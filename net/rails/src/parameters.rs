//! The parameters of a rail, in the units of the scheduler.

/// A time in 1/1024 ns.
pub type Ticks = u64;

/// The parameters of `LogGP` for a rail, as far as its scheduler uses them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// o of the sender.
    pub send_overhead: Ticks,
    /// o of the receiver.
    pub receive_overhead: Ticks,
    /// L.
    pub latency: Ticks,
    /// g.
    pub gap: Ticks,
    /// G in 2^-20 ns per byte.
    pub gap_per_byte: u64,
    /// The share of messages that the weighted policies give it; 0 gives it one in proportion to
    /// its bandwidth, 1/G.
    pub weight: u32,
}

impl Parameters {
    /// Returns G(s-1) for a message of s bytes.
    #[must_use]
    pub fn bandwidth(&self, bytes: u64) -> Ticks {
        let product = u128::from(self.gap_per_byte) * u128::from(bytes.saturating_sub(1));
        Ticks::try_from(product >> 10).unwrap_or(Ticks::MAX)
    }

    /// Returns g + G(s-1): how long a message of s bytes keeps the interface busy.
    #[must_use]
    pub fn busy(&self, bytes: u64) -> Ticks {
        self.gap.saturating_add(self.bandwidth(bytes))
    }

    /// Returns 2o + L: the part of a delivery that does not depend on the message.
    #[must_use]
    pub const fn way(&self) -> Ticks {
        self.send_overhead.saturating_add(self.receive_overhead).saturating_add(self.latency)
    }

    /// Returns 2o + L + G(s-1): the delivery of a message of s bytes by an idle rail.
    #[must_use]
    pub fn delivery(&self, bytes: u64) -> Ticks {
        self.way().saturating_add(self.bandwidth(bytes))
    }

    /// Returns the share that one message takes of the rail, by its weight.
    #[must_use]
    pub(crate) const fn share(&self) -> u64 {
        match self.weight {
            0 if self.gap_per_byte == 0 => 1,
            0 => self.gap_per_byte,
            weight => (1 << 32) / weight as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8.49 ns/B are 8902410 in units of 2^-20 ns; 1000 bytes after the first take 8490 ns, which
    /// are 8693760 in units of 1/1024 ns, less what rounding down loses.
    #[test]
    fn the_product_is_shifted_back() {
        let rail = Parameters { gap_per_byte: 8_902_410, gap: 1024, ..Parameters::default() };
        assert_eq!(rail.bandwidth(1001), 8_693_759);
        assert_eq!(rail.busy(1001), 8_694_783);
        assert_eq!([rail.bandwidth(0), rail.bandwidth(1)], [0, 0]);
        assert_eq!(rail.bandwidth(u64::MAX), Ticks::MAX);
    }
}
