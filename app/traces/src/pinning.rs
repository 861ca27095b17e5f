//! Registration of buffers with the network interface ("pinning").
//!
//! The first time that bytes of memory are sent or received, the operating system is asked to keep
//! them where they are. What that costs grows with the bytes that were not touched before (seed
//! 000: section 5.2.5 measures about 3 ns per byte; appendix F is its algorithm). Not modelled:
//! pages (bytes are counted), registrations that the program undoes by freeing memory.

use std::collections::{BTreeMap, VecDeque};

/// The cost of registration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pinning {
    /// Picoseconds per new byte.
    pub per_byte: u64,
    /// Picoseconds for a call that has new bytes.
    pub per_call: u64,
    /// Most bytes that stay registered; the longest unused go first. `None` for no limit.
    pub limit: Option<u64>,
}

/// The memory that is registered: intervals that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub struct Pinned {
    /// Start to end, and when it was last used.
    intervals: BTreeMap<u64, (u64, u64)>,
    bytes: u64,
    uses: u64,
    /// (when, start) of uses, oldest first. Those that a later use made void are passed over.
    queue: VecDeque<(u64, u64)>,
}

impl Pinned {
    /// Registers bytes from `start` on; gives how many were new. Intervals that overlap or touch
    /// are merged. A merger takes time for each interval it ends, so that a registration costs a
    /// logarithm on average.
    pub fn register(&mut self, start: u64, bytes: u64, limit: Option<u64>) -> u64 {
        let end = start.saturating_add(bytes);
        if end == start {
            return 0;
        }
        let (mut first, mut last, mut known) = (start, end, 0);
        // Overlapping or touching intervals start at or before the end.
        while let Some((&from, &(to, _))) = self.intervals.range(..=last).next_back() {
            if to < first {
                break;
            }
            known += to.min(end).saturating_sub(from.max(start));
            (first, last) = (first.min(from), last.max(to));
            self.intervals.remove(&from);
            self.bytes -= to - from;
        }
        self.uses += 1;
        self.intervals.insert(first, (last, self.uses));
        self.bytes += last - first;
        if let Some(limit) = limit {
            self.queue.push_back((self.uses, first));
            self.evict(limit, first);
        }
        end - start - known
    }

    fn evict(&mut self, limit: u64, keep: u64) {
        while self.bytes > limit {
            let Some((when, start)) = self.queue.pop_front() else { break };
            let current = self.intervals.get(&start).is_some_and(|(_, used)| *used == when);
            if current && start != keep {
                if let Some((end, _)) = self.intervals.remove(&start) {
                    self.bytes -= end - start;
                }
            } else if current {
                // What is in use stays, even if it alone is more than the limit.
                self.queue.push_front((when, start));
                break;
            }
        }
        // Void entries must not pile up.
        if self.queue.len() > 2 * self.intervals.len() + 16 {
            let intervals = &self.intervals;
            self.queue
                .retain(|(when, start)| intervals.get(start).is_some_and(|(_, used)| used == when));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pinned;

    /// Naive: a set of bytes.
    #[test]
    fn new_bytes_are_those_not_seen_before() {
        let mut pinned = Pinned::default();
        let mut seen = [false; 400];
        let mut state = 12345_u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let start = (state >> 33) % 350;
            let bytes = (state >> 50) % 50;
            let range = start as usize..(start + bytes) as usize;
            let new = seen[range.clone()].iter().filter(|seen| !**seen).count() as u64;
            seen[range].fill(true);
            assert_eq!(pinned.register(start, bytes, None), new);
            if state.is_multiple_of(97) {
                (pinned, seen) = (Pinned::default(), [false; 400]);
            }
        }
    }

    /// Room for 100 bytes: A (60) and B (40) fit; C (50) pushes out A, the longest unused; B is
    /// still known, A is not.
    #[test]
    fn the_longest_unused_goes_first() {
        let mut pinned = Pinned::default();
        let limit = Some(100);
        assert_eq!(pinned.register(0, 60, limit), 60);
        assert_eq!(pinned.register(1000, 40, limit), 40);
        assert_eq!(pinned.register(2000, 50, limit), 50);
        assert_eq!(pinned.register(1000, 40, limit), 0);
        assert_eq!(pinned.register(0, 60, limit), 60);
    }

    /// 10..20 and 30..40 are joined by 20..30, and all of 10..40 is known then.
    #[test]
    fn touching_intervals_become_one() {
        let mut pinned = Pinned::default();
        assert_eq!(pinned.register(10, 10, None), 10);
        assert_eq!(pinned.register(30, 10, None), 10);
        assert_eq!(pinned.register(20, 10, None), 10);
        assert_eq!(pinned.register(10, 30, None), 0);
        assert_eq!(pinned.register(5, 40, None), 10);
    }
}
