//! Counter-based random numbers: Philox4x32-10.
//!
//! A number is a pure function of (seed, entity, purpose, index), so it does not matter who asks
//! for it first. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..10 {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let [a, b] = [(MULTIPLIERS[0], counter[0]), (MULTIPLIERS[1], counter[2])]
            .map(|(multiplier, word)| u64::from(multiplier) * u64::from(word));
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
    }
    counter
}

/// A family of random streams: one for each entity.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    seed: u64,
    purpose: u32,
}

impl Random {
    /// Returns the family of a seed and a purpose: different purposes are independent.
    pub const fn new(seed: u64, purpose: u32) -> Self {
        Self { seed, purpose }
    }

    /// Returns number `index` of the stream of `entity`.
    pub fn number(self, entity: u32, index: u64) -> u64 {
        let counter = [index as u32, (index >> 32) as u32, entity, self.purpose];
        let [a, b, ..] = philox(counter, [self.seed as u32, (self.seed >> 32) as u32]);
        u64::from(a) | u64::from(b) << 32
    }

    /// Returns a number below `bound` (0 if `bound` is 0); the bias is below 2^-64 times `bound`.
    pub fn below(self, entity: u32, index: u64, bound: u64) -> u64 {
        ((u128::from(self.number(entity, index)) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number in (0, 1], a multiple of 2^-53.
    pub fn unit(self, entity: u32, index: u64) -> f64 {
        ((self.number(entity, index) >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::philox;

    /// Known answers of the authors' library Random123 (`kat_vectors`, philox4x32 10).
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }
}
