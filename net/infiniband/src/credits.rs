//! Credits of one virtual lane behind one output port.

use smallvec::SmallVec;

use crate::{signal::Credit, train::Shape};

/// Credits that are on their way, of which `taken` are counted already.
#[derive(Clone, Copy, Debug)]
struct Coming {
    start: u64,
    last: u64,
    shape: Shape,
    flits: u8,
    taken: u8,
}

impl Coming {
    fn next(&self) -> u64 {
        self.start + self.shape.offset(self.taken.into())
    }
}

/// Room in the far buffer, as known here.
#[derive(Clone, Debug)]
pub(crate) struct Credits {
    available: u32,
    coming: SmallVec<[Coming; 1]>,
}

impl Credits {
    pub fn new(available: u32) -> Self {
        Self { available, coming: SmallVec::new() }
    }

    /// Credits begin to arrive at `now`.
    pub fn hear(&mut self, now: u64, credit: &Credit) {
        self.settle(now);
        let last = now + credit.shape.offset(u32::from(credit.flits).saturating_sub(1));
        let (shape, flits) = (credit.shape, credit.flits);
        self.coming.push(Coming { start: now, last, shape, flits, taken: 0 });
    }

    /// Credits there at `now`, which never goes back.
    #[inline]
    pub fn at(&mut self, now: u64) -> u32 {
        if !self.coming.is_empty() {
            self.settle(now);
        }
        self.available
    }

    fn settle(&mut self, now: u64) {
        let mut available = self.available;
        self.coming.retain(|train| {
            if train.last <= now {
                available += u32::from(train.flits - train.taken);
                return false;
            }
            if train.start <= now {
                let passed = train.shape.passed(train.flits.into(), now - train.start) as u8;
                available += u32::from(passed - train.taken);
                train.taken = passed;
            }
            true
        });
        self.available = available;
    }

    /// The first time from `now` on at which `flits` credits are there if no more are heard of;
    /// `u64::MAX` if never.
    pub fn when(&mut self, now: u64, flits: u32) -> u64 {
        let mut missing = flits.saturating_sub(self.at(now));
        let mut when = now;
        let mut coming = self.coming.clone();
        while missing > 0 {
            let next = coming.iter_mut().filter(|train| train.taken < train.flits);
            let Some(train) = next.min_by_key(|train| train.next()) else { return u64::MAX };
            when = train.next();
            train.taken += 1;
            missing -= 1;
        }
        when
    }

    /// Credits that are there, and those that are on their way.
    pub fn all(&self) -> u32 {
        let coming = self.coming.iter().map(|train| u32::from(train.flits - train.taken));
        self.available + coming.sum::<u32>()
    }

    /// Checks that all of the credits for a buffer are there.
    pub fn all_of(&self, buffer: u32) -> Result<(), String> {
        let all = self.all();
        if all == buffer { Ok(()) } else { Err(format!("{all} of {buffer} credits")) }
    }

    /// A packet takes its credits.
    pub fn take(&mut self, flits: u32) {
        self.available = self.available.saturating_sub(flits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two trains of credits at once: at 100, 110, 120 and at 105, 125, 145, besides 2.
    #[test]
    fn two_trains() {
        let mut credits = Credits::new(2);
        let credit = |gap| Credit { shape: Shape::even(gap), port: 0, flits: 3, lane: 0 };
        credits.hear(100, &credit(10));
        credits.hear(105, &credit(20));
        let whens: Vec<u64> = (2..10).map(|flits| credits.when(105, flits)).collect();
        assert_eq!(whens, [105, 105, 105, 110, 120, 125, 145, u64::MAX]);
        assert_eq!(credits.at(120), 6);
        credits.take(5);
        assert_eq!((credits.at(124), credits.at(125), credits.at(145)), (1, 2, 3));
    }
}
