//! The cost of calls that a program repeats while it waits: tests, probes, looks at the clock.
//!
//! The n-th test or probe in a row costs n times the first, as in SMPI, so that a program that
//! polls does not keep the simulator busy for each look. Looks at the clock cost more only after a
//! hundred in a row. Looks are in a row as long as the program does little between them.

/// Two looks are in a row unless the rank computes this many times the cost of a look in between.
pub const APART: u64 = 10;

/// A rank that computes longer than this, in picoseconds, does more than look at the clock.
pub const BUSY: u64 = 10_000_000;

/// The number of looks at the clock in a row that cost the same.
const FREE_LOOKS: u64 = 100;

/// Returns the cost of look number `looks` at the clock in a row, where the first costs `cost`.
pub fn look_at_clock(cost: u64, looks: u64) -> u64 {
    cost.saturating_mul(looks.saturating_sub(FREE_LOOKS).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first 101 looks cost 5 each, the 102nd twice that.
    #[test]
    fn looks_in_a_row() {
        assert_eq!([1, 101, 102, 110].map(|looks| look_at_clock(5, looks)), [5, 5, 10, 50]);
    }
}
