//! The parameters by which the hybrid model turns a route into a flow.

/// Factors by size: the last whose bound lies below the size holds, below the first it is 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors(Vec<(u64, f64)>);

impl Factors {
    /// Pairs of a size in bytes and the factor of messages larger than that, in any order.
    pub fn new(mut factors: Vec<(u64, f64)>) -> Self {
        factors.sort_by_key(|(above, _)| *above);
        Self(factors)
    }

    /// The factor for a message of `bytes` bytes.
    pub fn of(&self, bytes: u64) -> f64 {
        let behind = self.0.partition_point(|(above, _)| *above < bytes);
        let last = behind.checked_sub(1).and_then(|last| self.0.get(last));
        last.map_or(1.0, |(_, factor)| *factor)
    }

    /// All of them, by size.
    pub fn pairs(&self) -> &[(u64, f64)] {
        &self.0
    }
}

/// The choice whether flows share links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contention {
    /// They do.
    #[default]
    Shared,
    /// Each has all of its links for itself, as in LogGPS.
    None,
}

/// The parameters of the model; the defaults are those of SimGrid 3.32's model `SMPI`.
/// Source: seed 002, section IV.B; SimGrid's options `network/…` and `smpi/…`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The part of its share of a link that a message turns into progress, by its size with the
    /// envelope.
    pub bandwidth_factors: Factors,
    /// By how much the latency of a route is longer for a message of its size.
    pub latency_factors: Factors,
    /// By how much slow links weigh in the penalty of a route, in bytes.
    pub weight: f64,
    /// Most bytes that are under way per round trip (a TCP window); 0 for no limit.
    pub window: f64,
    /// True if the way back carries 5 % of what goes there.
    pub cross_traffic: bool,
    /// Bytes that each message has besides its own.
    pub envelope: u64,
    /// The choice whether flows share links.
    pub contention: Contention,
}

impl Default for Parameters {
    fn default() -> Self {
        let bandwidth = [
            (0, 0.812_084),
            (257, 0.338_112),
            (732, 0.341_987),
            (1426, 0.608_902),
            (3484, 0.774_93),
            (5776, 1.087_39),
            (9376, 0.587_29),
            (15_424, 0.697_866),
            (65_472, 0.940_694),
        ];
        let latency = [
            (0, 2.014_67),
            (257, 1.953_41),
            (732, 1.9503),
            (1426, 1.610_75),
            (3484, 1.881_01),
            (5776, 2.187_96),
            (9376, 2.592_99),
            (15_424, 3.488_45),
            (65_472, 11.6436),
        ];
        Self {
            bandwidth_factors: Factors::new(bandwidth.to_vec()),
            latency_factors: Factors::new(latency.to_vec()),
            weight: 8775.0,
            window: 4_194_304.0,
            cross_traffic: true,
            envelope: 16,
            contention: Contention::Shared,
        }
    }
}
