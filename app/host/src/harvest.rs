//! The results of ranks: each worker harvests those of its own, and they are merged by number.

use serde::{Deserialize, Serialize};
use units::Time;

use crate::RankTotals;
use crate::deadlock::Stuck;
use crate::path::Clock;
use crate::rank::Rank;
use crate::source::Source;

/// The results of some of the ranks of a run, in any order.
#[derive(Default, Serialize, Deserialize)]
pub struct Harvest {
    /// The ranks, and the totals of each.
    numbers: Vec<u32>,
    totals: Vec<RankTotals>,
    /// The CPU that is busy longest, and its rank; the lowest of several.
    last: Option<(Clock, u32)>,
    /// The ranks that are not finished.
    pub stuck: Stuck,
    /// The number of messages that were never received.
    pub unreceived: u64,
    /// True if a clock has left the range of simulated time.
    pub overflow: bool,
}

impl Harvest {
    /// Adds a rank; there are `ranks` in all.
    pub fn add<S: Source>(&mut self, source: &S, id: u32, rank: &Rank<S::State>, ranks: u32) {
        if self.totals.is_empty() {
            self.totals = kernel::with_room(ranks as usize);
            self.numbers = kernel::with_room(ranks as usize);
        }
        let end = rank.clocks.last_cpu();
        self.overflow |= rank.clocks.overflow();
        if source.unfinished(&rank.source, id) {
            self.stuck.add(source, &rank.source, id, rank.matching.as_deref());
        }
        self.unreceived += rank.rare().map_or(0, |rare| rare.unexpected.len() as u64);
        self.numbers.push(id);
        self.totals.push(totals(rank, &end));
        self.note_last((end, id));
    }

    /// Adds the ranks of another worker.
    pub fn merge(&mut self, other: Self) {
        if self.numbers.is_empty() {
            *self = other;
            return;
        }
        self.numbers.extend(other.numbers);
        self.totals.extend(other.totals);
        other.last.into_iter().for_each(|last| self.note_last(last));
        self.stuck.merge(other.stuck);
        self.unreceived += other.unreceived;
        self.overflow |= other.overflow;
    }

    /// Returns the clock of the CPU that is busy longest, and its rank.
    pub fn last(&self) -> (Clock, u32) {
        self.last.unwrap_or_default()
    }

    /// Takes the totals of all ranks in the order of their numbers.
    pub fn take_totals(&mut self) -> Vec<RankTotals> {
        let numbers = std::mem::take(&mut self.numbers);
        let totals = std::mem::take(&mut self.totals);
        if numbers.is_sorted() {
            return totals;
        }
        let mut all: Vec<_> = numbers.into_iter().zip(totals).collect();
        all.sort_unstable_by_key(|rank| rank.0);
        all.into_iter().map(|rank| rank.1).collect()
    }

    fn note_last(&mut self, (end, id): (Clock, u32)) {
        let is_later = |&(last, rank): &(Clock, u32)| (end.free, rank) > (last.free, id);
        if self.last.as_ref().is_none_or(is_later) {
            self.last = Some((end, id));
        }
    }
}

fn totals<S>(rank: &Rank<S>, end: &Clock) -> RankTotals {
    let totals = RankTotals {
        finish: end.free,
        busy: rank.busy,
        blocked: rank.rare().map_or(Time::ZERO, |rare| rare.blocked),
        sent_messages: rank.sent_messages().into(),
        sent_bytes: rank.sent_bytes,
        received_messages: rank.received_messages.into(),
        received_bytes: rank.received_bytes,
        ..RankTotals::default()
    };
    totals.with_path(&end.path)
}
