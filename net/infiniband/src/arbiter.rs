//! The virtual lane arbiter of an output port.
//!
//! InfiniBand Architecture Specification, volume 1, section 7.6.9: two tables of (lane, weight),
//! weights in units of 64 bytes, served in weighted round robin; the high table goes first until
//! the high limit is used up.

/// An entry of an arbitration table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The virtual lane.
    pub lane: u8,
    /// The amount that it may send before the next entry's turn, in units of 64 bytes (one flit);
    /// an entry of weight 0 is skipped.
    pub weight: u8,
}

/// The tables of the arbiters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Served first.
    pub high: Vec<Share>,
    /// Served when the high table has nothing to send or has used up its limit.
    pub low: Vec<Share>,
    /// The amount that the high table may send before the low one gets a turn, in units of 4096
    /// bytes; 0 means one packet, 255 no limit.
    pub high_limit: u8,
}

impl Tables {
    /// Equal weights for `lanes` lanes, all in the low table.
    pub fn equal(lanes: u8) -> Self {
        let low = (0..lanes).map(|lane| Share { lane, weight: 64 }).collect();
        Self { high: Vec::new(), low, high_limit: 255 }
    }

    fn high_flits(&self) -> i32 {
        i32::from(self.high_limit) * 64
    }
}

/// The state of a table's round robin.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    entry: u16,
    left: i32,
}

impl Turn {
    /// The lane of `mask` whose turn it is. A lane keeps its turn while it has weight left and
    /// something to send; the last packet of a turn may exceed the weight.
    fn pick(&mut self, table: &[Share], mask: u32) -> Option<u8> {
        let ready = |share: &Share| mask >> share.lane & 1 == 1;
        let current = usize::from(self.entry);
        if let Some(share) = table.get(current)
            && self.left > 0
            && ready(share)
        {
            return Some(share.lane);
        }
        let after = (current + 1..table.len()).chain(0..=current);
        let mut entries = after.filter_map(|entry| Some((entry, table.get(entry)?)));
        let (entry, share) = entries.find(|(_, share)| share.weight > 0 && ready(share))?;
        *self = Self { entry: entry as u16, left: share.weight.into() };
        Some(share.lane)
    }
}

/// The state of an arbiter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arbiter {
    high: Turn,
    low: Turn,
    /// Flits left until the low table gets a turn; it may go below zero by one packet.
    limit: i32,
}

impl Arbiter {
    pub fn new(tables: &Tables) -> Self {
        // The first entry begins with its full weight.
        let first = |table: &[Share]| Turn {
            entry: 0,
            left: table.first().map_or(0, |share| share.weight.into()),
        };
        let limit = tables.high_flits().max(1);
        Self { high: first(&tables.high), low: first(&tables.low), limit }
    }

    /// Picks a lane of `mask` and charges it for a packet of `flits(lane)` flits.
    pub fn pick(&mut self, tables: &Tables, mask: u32, flits: impl Fn(u8) -> u8) -> Option<u8> {
        let unlimited = tables.high_limit == 255;
        let low_first = !unlimited && self.limit <= 0;
        if low_first && let Some(lane) = self.low(tables, mask, &flits) {
            return Some(lane);
        }
        if let Some(lane) = self.high.pick(&tables.high, mask) {
            let flits = i32::from(flits(lane));
            self.high.left -= flits;
            self.limit = (self.limit - flits).max(-1);
            return Some(lane);
        }
        self.low(tables, mask, &flits)
    }

    fn low(&mut self, tables: &Tables, mask: u32, flits: &impl Fn(u8) -> u8) -> Option<u8> {
        let lane = self.low.pick(&tables.low, mask)?;
        self.low.left -= i32::from(flits(lane));
        self.limit = tables.high_flits().max(1);
        Some(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(table: &[(u8, u8)]) -> Vec<Share> {
        table.iter().map(|&(lane, weight)| Share { lane, weight }).collect()
    }

    /// The share that lanes 0 to 3 get of `packets` packets of 34 flits, when all always have
    /// something to send.
    fn served(tables: &Tables, packets: usize) -> [usize; 4] {
        let mut arbiter = Arbiter::new(tables);
        let mut count = [0; 4];
        for _ in 0..packets {
            if let Some(lane) = arbiter.pick(tables, 0b1111, |_| 34) {
                count[usize::from(lane)] += 1;
            }
        }
        count
    }

    /// Weights of 34, 68 and 136 flits are 1, 2 and 4 packets of 34 flits a round.
    #[test]
    fn weights_are_shares() {
        let tables = Tables {
            high: vec![],
            low: shares(&[(0, 34), (1, 68), (2, 136), (3, 0)]),
            high_limit: 255,
        };
        assert_eq!(served(&tables, 700), [100, 200, 400, 0]);
        // A packet may exceed the weight: 1 and 35 are one and two packets of 34.
        let tables = Tables { low: shares(&[(0, 1), (1, 35)]), ..tables };
        assert_eq!(served(&tables, 300), [100, 200, 0, 0]);
    }

    /// A limit of one unit is 64 flits: packets of 34 exceed it with the second, so two high
    /// packets go for each low one. Zero lets one go, 17 units (1088 flits) exactly 32, 255 all.
    #[test]
    fn high_limit() {
        let (high, low) = (shares(&[(0, 255)]), shares(&[(1, 255)]));
        for (high_limit, each) in [(0, 1), (1, 2), (17, 32)] {
            let tables = Tables { high: high.clone(), low: low.clone(), high_limit };
            assert_eq!(served(&tables, 10 * (each + 1)), [10 * each, 10, 0, 0]);
        }
        let tables = Tables { high, low, high_limit: 255 };
        assert_eq!(served(&tables, 100), [100, 0, 0, 0]);
    }
}
