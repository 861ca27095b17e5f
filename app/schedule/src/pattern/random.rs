//! Random numbers and permutations as functions of a seed and a counter.
//!
//! The generator is `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", 2014) asked for its n-th number. The permutations are Feistel networks over the
//! bits of the smallest power of two that holds the range, walked until they fall into the range
//! (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).

/// Number `counter` of the stream that `seed` starts.
#[inline]
pub fn draw(seed: u64, counter: u64) -> u64 {
    let mut z = seed.wrapping_add(counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Maps a random number to 0..bound, evenly but for at most one part in 2^64 / bound.
#[inline]
pub fn below(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

/// A permutation of 0..n that takes no memory.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    n: u32,
    /// Bits of the upper half.
    high: u32,
    /// Bits of the lower half.
    low: u32,
    rounds: u64,
}

/// Four rounds make a permutation that no test of few queries tells from a random one (Luby and
/// Rackoff, "How to construct pseudorandom permutations from pseudorandom functions", 1988) if the
/// halves are large; two more help where they are small.
const ROUNDS: [u64; 2] = [4, 6];

/// Halves of so many bits are large.
const LARGE: u32 = 6;

impl Permutation {
    pub fn new(n: u32) -> Self {
        let bits = u32::BITS - n.saturating_sub(1).leading_zeros();
        let rounds = ROUNDS[usize::from(bits / 2 < LARGE)];
        Self { n, high: bits / 2, low: bits - bits / 2, rounds }
    }

    /// Returns where the permutation with this key takes `x`, which is below n.
    #[inline]
    pub fn forward(&self, key: u64, x: u32) -> u32 {
        self.walk(x, |x| (0..self.rounds).fold(x, |x, i| self.round(key, i, x)))
    }

    /// The inverse of [`Permutation::forward`].
    #[inline]
    pub fn backward(&self, key: u64, x: u32) -> u32 {
        let step = |x| (0..self.rounds).rev().fold(x, |x, i| self.round(key, i, x));
        self.walk(x, step)
    }

    #[inline]
    fn walk(&self, x: u32, step: impl Fn(u64) -> u64) -> u32 {
        let mut y = step(u64::from(x));
        while y >= u64::from(self.n) {
            y = step(y);
        }
        y as u32
    }

    /// Mixes one half into the other; its own inverse.
    #[inline]
    fn round(&self, key: u64, i: u64, x: u64) -> u64 {
        let low = x & ((1 << self.low) - 1);
        if i.is_multiple_of(2) {
            let mask = (1 << self.high) - 1;
            x ^ ((draw(key.wrapping_add(i), low) & mask) << self.low)
        } else {
            let mask = (1 << self.low) - 1;
            x ^ (draw(key.wrapping_add(i), x >> self.low) & mask)
        }
    }
}

#[cfg(test)]
mod tests;
