//! Sets of small numbers.

/// A set of the numbers below a bound.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    words: Box<[u64]>,
}

impl Bits {
    pub fn new(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(64)].into() }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    #[inline]
    pub fn has(&self, number: u32) -> bool {
        self.words[number as usize / 64] & 1 << (number % 64) != 0
    }

    /// Adds a number or takes it away.
    #[inline]
    pub fn set(&mut self, number: u32, member: bool) {
        let word = &mut self.words[number as usize / 64];
        let bit = 1 << (number % 64);
        *word = if member { *word | bit } else { *word & !bit };
    }

    /// The first member that is `from` or more. A loop over all members asks again from behind the
    /// last one; it may change the set.
    #[inline]
    pub fn first_from(&self, from: u32) -> Option<u32> {
        let mut index = from as usize / 64;
        let mut word = self.words.get(index)? & (u64::MAX << (from % 64));
        while word == 0 {
            index += 1;
            word = *self.words.get(index)?;
        }
        Some(index as u32 * 64 + word.trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn members_in_order() {
        let mut bits = Bits::new(130);
        for number in [129, 0, 64, 63, 64] {
            bits.set(number, true);
        }
        bits.set(63, false);
        bits.set(5, false);
        assert_eq!(bits.first_from(0), Some(0));
        assert_eq!(bits.first_from(1), Some(64));
        assert_eq!(bits.first_from(65), Some(129));
        assert_eq!(bits.first_from(130), None);
        for number in [0, 64, 129] {
            assert!(!bits.is_empty());
            bits.set(number, false);
        }
        assert!(bits.is_empty());
    }
}
