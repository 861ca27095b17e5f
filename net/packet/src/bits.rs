//! Sets of small numbers.

/// A set of the numbers below a bound.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    words: Box<[u64]>,
    count: u32,
}

impl Bits {
    pub fn new(bound: usize) -> Self {
        Self { words: vec![0; bound.div_ceil(64)].into(), count: 0 }
    }

    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a number or takes it away.
    #[inline]
    pub fn set(&mut self, number: u32, member: bool) {
        let word = &mut self.words[number as usize / 64];
        let bit = 1 << (number % 64);
        let was = *word & bit != 0;
        if was != member {
            *word ^= bit;
            self.count = if member { self.count + 1 } else { self.count - 1 };
        }
    }

    /// The members in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.words).flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(index * 64 + bit)
            })
        })
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
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 64, 129]);
        for number in [0, 64, 129] {
            assert!(!bits.is_empty());
            bits.set(number, false);
        }
        assert!(bits.is_empty());
    }
}
