//! Sets of small numbers.

/// A set of the numbers below a bound. Those below 64 lie in the set itself, so that it is all in
/// one place in most routers.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    first: u64,
    others: Box<[u64]>,
}

impl Bits {
    pub fn new(bound: usize) -> Self {
        Self { first: 0, others: vec![0; bound.div_ceil(64).saturating_sub(1)].into() }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.others.iter().all(|&word| word == 0)
    }

    #[inline]
    pub fn has(&self, number: u32) -> bool {
        let word = match number / 64 {
            0 => self.first,
            index => self.others[index as usize - 1],
        };
        word & 1 << (number % 64) != 0
    }

    /// Adds a number or takes it away.
    #[inline]
    pub fn set(&mut self, number: u32, member: bool) {
        let word = match number / 64 {
            0 => &mut self.first,
            index => &mut self.others[index as usize - 1],
        };
        let bit = 1 << (number % 64);
        *word = if member { *word | bit } else { *word & !bit };
    }

    /// The first member that is `from` or more. A loop over all members asks again from behind the
    /// last one; it may change the set.
    #[inline]
    pub fn first_from(&self, from: u32) -> Option<u32> {
        if from < 64 {
            let word = self.first & u64::MAX << from;
            if word != 0 {
                return Some(word.trailing_zeros());
            }
        }
        if self.others.is_empty() { None } else { self.other_from(from.max(64)) }
    }

    fn other_from(&self, from: u32) -> Option<u32> {
        let mut index = from as usize / 64 - 1;
        let mut word = self.others.get(index)? & (u64::MAX << (from % 64));
        while word == 0 {
            index += 1;
            word = *self.others.get(index)?;
        }
        Some(index as u32 * 64 + 64 + word.trailing_zeros())
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
