//! Flits or credits that one signal foretells.
//!
//! A packet that nothing delays crosses a link flit by flit at an even pace. So the signal of its
//! head foretells the others, and the receiver counts them when it needs them. The sender keeps the
//! same stream: as long as flits leave when they were foretold, it says nothing more. When one
//! leaves at another time, a new signal replaces what was foretold; when one does not leave, a
//! signal says so, at the time at which the flit would have arrived. Credits go back likewise.

pub(crate) const NEVER: u64 = u64::MAX;

/// Flits or credits that are foretold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    /// The time of the next one.
    pub next: u64,
    /// The time between two of them.
    pub period: u32,
    /// The number of them.
    pub left: u16,
}

impl Stream {
    /// Nothing is foretold.
    pub const ENDED: Self = Self { next: 0, period: 0, left: 0 };

    /// The stream behind a flit or credit at `at`.
    #[inline]
    pub const fn after(at: u64, period: u32, left: u16) -> Self {
        Self { next: at + period as u64, period, left }
    }

    /// Takes those that come before `until`, and returns their number.
    #[inline]
    pub fn take_before(&mut self, until: u64) -> u16 {
        if self.left == 0 || self.next >= until {
            return 0;
        }
        let steps = match until - self.next {
            span if span <= u64::from(self.period) => 1,
            span => span.div_ceil(u64::from(self.period.max(1))),
        };
        let count = steps.min(self.left.into()) as u16;
        self.skip(count);
        count
    }

    /// Takes those that have come at `now`, and returns their number.
    #[inline]
    pub fn take(&mut self, now: u64) -> u16 {
        self.take_before(now + 1)
    }

    /// Takes `count` of them, whatever their times.
    #[inline]
    pub fn skip(&mut self, count: u16) {
        debug_assert!(count <= self.left);
        self.next += u64::from(count) * u64::from(self.period);
        self.left -= count;
    }

    #[inline]
    const fn advance(&mut self) {
        self.next += self.period as u64;
        self.left -= 1;
    }

    /// Returns the time at which the last of `count` will have come; [`NEVER`] if fewer are
    /// foretold.
    #[inline]
    pub const fn time_of(&self, count: u32) -> u64 {
        if count == 0 || count > self.left as u32 {
            return NEVER;
        }
        self.next + (count as u64 - 1) * self.period as u64
    }

    /// The sender's side: one goes at `at`, and `left` follow. Returns true if a signal has to tell
    /// it. Those that follow are then foretold in the distance of the last two; or at `pace` if
    /// that is long, or if this one was not delayed: it is `prompt`, or came as foretold.
    #[inline]
    pub fn emit(&mut self, at: u64, left: u16, pace: u32, prompt: bool) -> bool {
        if self.left > 0 && self.next == at {
            self.advance();
            return false;
        }
        if prompt || self.next == at {
            *self = Self::after(at, pace, left);
            return true;
        }
        let gap = (at + u64::from(self.period)).saturating_sub(self.next);
        let near = gap > 0 && gap <= 4 * u64::from(pace);
        *self = Self::after(at, if near { gap as u32 } else { pace }, left);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_count_alike() {
        let mut sender = Stream::after(100, 10, 4);
        let mut receiver = sender;
        assert!(!sender.emit(110, 3, 10, false));
        assert!(!sender.emit(120, 2, 10, false));
        assert_eq!(receiver.take_before(120), 1);
        assert_eq!(receiver.take(120), 1);
        assert_eq!(receiver, sender);
        assert_eq!(receiver.time_of(2), 140);
        assert_eq!(receiver.time_of(3), NEVER);
        // One comes late, and the next ones are thought to come as late.
        assert!(sender.emit(140, 1, 10, false));
        assert_eq!(sender, Stream { next: 160, period: 20, left: 1 });
        assert_eq!(receiver.take_before(130), 0);
    }
}
