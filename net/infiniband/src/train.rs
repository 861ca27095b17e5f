//! Trains: the flits of a packet, or the credits they leave behind, crossing one link.
//!
//! A packet is sent only when credits for all its flits are there, so once its head is granted
//! nothing can stop the others: when each passes is known at once, and the train is one event.

/// The times of a train's flits after its first. Flit i passes at
/// `start + max(i * gap, i * slow - lead)`: a packet that waited for an output leaves at that
/// output's pace (`gap`) until it has caught up with flits that still arrive more slowly (`slow`),
/// `lead` being how far its head was behind the earliest time at which it could have left. Without
/// such flits, `slow == gap` and `lead == 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Picoseconds from flit to flit at the front.
    pub gap: u32,
    /// Picoseconds from flit to flit at the back: `gap` or more.
    pub slow: u32,
    /// Picoseconds by which the slow part starts early.
    pub lead: u32,
}

impl Shape {
    /// Flits `gap` picoseconds apart.
    pub const fn even(gap: u32) -> Self {
        Self { gap, slow: gap, lead: 0 }
    }

    /// The time from the first flit to flit number `i`, in picoseconds.
    #[inline]
    pub fn offset(self, i: u32) -> u64 {
        let slow = (u64::from(i) * u64::from(self.slow)).saturating_sub(self.lead.into());
        slow.max(u64::from(i) * u64::from(self.gap))
    }

    /// The number of flits, of `flits`, that have passed `elapsed` picoseconds after the first did.
    #[inline]
    pub fn passed(self, flits: u32, elapsed: u64) -> u32 {
        let count = |slope: u32, lead: u32| match slope {
            0 => u64::MAX,
            slope => (elapsed + u64::from(lead)) / u64::from(slope) + 1,
        };
        let passed = count(self.gap, 0).min(count(self.slow, self.lead));
        passed.min(flits.into()) as u32
    }

    /// The train of `flits` flits behind a stage that needs `gap` picoseconds per flit and starts
    /// on the first one `wait` picoseconds after it was there: flit i leaves at the later of `gap`
    /// after flit i-1 and its own arrival.
    ///
    /// Exact for the first and the last flit always, and for those between them unless a packet
    /// meets three paces on its way, each faster than the one before, and waits at two of them.
    #[inline]
    #[must_use]
    pub fn behind(self, flits: u32, gap: u32, wait: u64) -> Self {
        if self.gap <= gap && self.slow <= gap {
            return Self::even(gap);
        }
        self.behind_faster(flits, gap, wait)
    }

    fn behind_faster(self, flits: u32, gap: u32, wait: u64) -> Self {
        let last = u64::from(flits.saturating_sub(1));
        // A lead that swallows the whole train says that the line never matters.
        let line = |slope: u32, lead: u64| {
            let gain = last * u64::from(slope.saturating_sub(gap));
            (slope > gap && gain > lead).then(|| (gain - lead, slope, lead as u32))
        };
        let front = line(self.gap, wait);
        let back = line(self.slow, wait.saturating_add(self.lead.into()));
        match front.max(back) {
            Some((_, slow, lead)) => Self { gap, slow, lead },
            None => Self::even(gap),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shape;

    /// Every flit by the recurrence: leaves[i] = max(leaves[i-1] + gap, arrives[i]).
    fn flit_by_flit(arrives: &[u64], gap: u64, start: u64) -> Vec<u64> {
        let mut leaves = vec![start];
        for &arrival in &arrives[1..] {
            leaves.push((leaves[leaves.len() - 1] + gap).max(arrival));
        }
        leaves
    }

    #[test]
    fn behind_is_the_recurrence() {
        for (pace, gap) in [(32, 32), (32, 64), (64, 32), (33, 32), (100, 7)] {
            for wait in [0, 1, 31, 64, 400, 5000] {
                let arrives: Vec<u64> = (0..34).map(|i| 1000 + i * pace).collect();
                let leaves = flit_by_flit(&arrives, gap, 1000 + wait);
                let shape = Shape::even(pace as u32).behind(34, gap as u32, wait);
                for (i, &at) in leaves.iter().enumerate() {
                    assert_eq!(1000 + wait + shape.offset(i as u32), at, "{pace} {gap} {wait} {i}");
                }
                // A second stage, slower than the first or faster than the line, is exact as well.
                for second in [gap, pace, 2 * pace] {
                    let after = flit_by_flit(&leaves, second, leaves[0] + 10);
                    let shape = shape.behind(34, second as u32, 10);
                    for (i, &at) in after.iter().enumerate() {
                        let found = leaves[0] + 10 + shape.offset(i as u32);
                        assert_eq!(found, at, "{pace} {gap} {wait} {second} {i}");
                    }
                }
            }
        }
    }

    /// Flits of a train at 0, 10, 20, then 35, 55, 75: gap 10, slow 20, lead 25.
    #[test]
    fn passed_counts() {
        let shape = Shape { gap: 10, slow: 20, lead: 25 };
        let expected = [(0, 1), (9, 1), (10, 2), (20, 3), (34, 3), (35, 4), (54, 4), (55, 5)];
        for (elapsed, count) in expected {
            assert_eq!(shape.passed(6, elapsed), count, "{elapsed}");
        }
        assert_eq!((shape.passed(6, 75), shape.passed(6, 1 << 40)), (6, 6));
    }
}
