//! The parameters of a rail, as C and a cache keep them.

use rails::Parameters;

/// The longest name of a rail, in bytes, with the zero that ends it.
pub const NAME: usize = 32;

/// A rail: its name and its parameters of `LogGP`, in the units of the scheduler: times in 1/1024
/// ns, G in 2^-20 ns per byte.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rail {
    /// o of the sender.
    pub send_overhead: u64,
    /// o of the receiver.
    pub receive_overhead: u64,
    /// L.
    pub latency: u64,
    /// g.
    pub gap: u64,
    /// G.
    pub gap_per_byte: u64,
    /// The price of a change: the time that a message takes of the processors at either end, if it
    /// takes another rail than the one before it. Transports that gather small messages do so on
    /// one rail only.
    pub change: u64,
    /// The name, up to the first zero.
    pub name: [u8; NAME],
}

/// The longest time that a parameter may have, a minute.
const MOST_TIME: u64 = 60_000_000_000 << 10;

/// The longest time that a byte may take, a millisecond.
pub const MOST_PER_BYTE: u64 = 1_000_000 << 20;

impl Rail {
    /// A rail of this name; names that are too long are cut.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let mut rail = Self::default();
        let end = (0..=name.len().min(NAME - 1)).rev().find(|&end| name.is_char_boundary(end));
        let end = end.unwrap_or(0);
        rail.name[..end].copy_from_slice(&name.as_bytes()[..end]);
        rail
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        let bytes = self.name.split(|&byte| byte == 0).next().unwrap_or_default();
        str::from_utf8(bytes).unwrap_or("?")
    }

    /// Returns whether all values are such as networks can have: within a minute, and within a
    /// millisecond per byte.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        let Self { send_overhead, receive_overhead, latency, gap, change, .. } = *self;
        let times = [send_overhead, receive_overhead, latency, gap, change];
        times.iter().all(|&time| time <= MOST_TIME) && self.gap_per_byte <= MOST_PER_BYTE
    }

    /// Returns what the scheduler takes.
    #[must_use]
    pub const fn parameters(&self) -> Parameters {
        Parameters {
            send_overhead: self.send_overhead,
            receive_overhead: self.receive_overhead,
            latency: self.latency,
            gap: self.gap,
            gap_per_byte: self.gap_per_byte,
            weight: 0,
        }
    }
}

/// Returns a time in the scheduler's units. Negative times are none.
#[must_use]
#[expect(clippy::cast_sign_loss, reason = "clipped to what is positive")]
pub fn ticks(nanoseconds: f64) -> u64 {
    (nanoseconds.max(0.0) * 1024.0).round() as u64
}

/// Returns a time per byte in the scheduler's units.
#[must_use]
#[expect(clippy::cast_sign_loss, reason = "clipped to what is positive")]
pub fn per_byte(nanoseconds: f64) -> u64 {
    (nanoseconds.max(0.0) * (1_u64 << 20) as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_between_letters() {
        assert_eq!(Rail::named("eth0").name(), "eth0");
        let long = format!("{}é", "x".repeat(NAME - 2));
        assert_eq!(Rail::named(&long).name(), "x".repeat(NAME - 2));
    }

    /// 8.49 ns/B are 8902410 in units of 2^-20 ns.
    #[test]
    fn units_are_the_schedulers() {
        assert_eq!((ticks(1.5), per_byte(8.49), ticks(-1.0)), (1536, 8_902_410, 0));
    }
}
