//! Locks of windows: who gives one back tells who waits for it, as live ranks have it.
//!
//! A lock goes to those who ask in the order in which they ask. The times of a simulated run are
//! exact, and tell when each had it and who waited. That takes the calls of all ranks; so traces
//! are compiled once more when one has waited.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::run::Run;

/// A lock: the communicator of the window, how many collectives that had when the window was made,
/// and the target.
pub type Lock = (i64, i64, i64);

/// A moment: picoseconds, and the turn of those in it.
pub type At = (u64, u64);

/// A lock that a rank held.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub lock: Lock,
    pub alone: bool,
    /// The time when it was asked for and when it was given back.
    pub asked: At,
    pub until: At,
    /// The time when the call that asked for it returned.
    pub leave: u64,
}

/// For each grant of a lock, the rank that tells of it: by rank of the trace and number of the lock
/// among those that it held.
#[derive(Debug, Default)]
pub struct Grants {
    from: FxHashMap<(u32, usize), i64>,
    to: FxHashMap<(u32, usize), Vec<i64>>,
}

/// A holder of a lock: until when, rank and number.
type Holder = (At, u32, usize);

/// The ranks that hold a lock together, and those that gave it back last before that: the last, and
/// the last other rank.
#[derive(Debug, Default)]
struct Holders {
    alone: bool,
    now: Vec<Holder>,
    before: [Option<Holder>; 2],
}

impl Holders {
    fn add(&mut self, held: &Held, rank: u32, number: usize) {
        if held.alone || self.alone {
            let last = self.now.iter().max().copied();
            let others = self.now.iter().filter(|one| last.is_some_and(|last| one.1 != last.1));
            self.before = [last, others.max().copied()];
            self.now.clear();
            self.alone = held.alone;
        }
        self.now.push((held.until, rank, number));
    }

    /// Returns the other rank that gave it back last: nobody waits for itself.
    fn before(&self, rank: u32) -> Option<Holder> {
        self.before.iter().flatten().find(|(_, other, _)| *other != rank).copied()
    }
}

impl Grants {
    /// Returns the rank that tells another one that a lock is there, if that one waited.
    pub fn from(&self, rank: u32, number: usize) -> Option<i64> {
        self.from.get(&(rank, number)).copied()
    }

    /// Whom a rank tells that a lock is there, when it gives it back.
    pub fn to(&self, rank: u32, number: usize) -> &[i64] {
        self.to.get(&(rank, number)).map_or(&[], Vec::as_slice)
    }
}

/// Finds out who waited for whom; nothing if nobody waited.
pub fn grants(runs: &mut [Run], ranks: u32) -> Option<Grants> {
    let held: Vec<_> = runs
        .iter_mut()
        .take(ranks as usize)
        .map(|run| std::mem::take(&mut run.made().held))
        .collect();
    let mut all = Vec::new();
    for (rank, held) in (0..).zip(&held) {
        all.extend(held.iter().enumerate().map(|(number, one)| (one.asked, rank, number, one)));
    }
    // Nobody gets a lock before who asked earlier.
    all.sort_unstable_by_key(|(asked, rank, number, _)| (*asked, *rank, *number));
    let mut locks: FxHashMap<Lock, Holders> = FxHashMap::default();
    let mut grants = Grants::default();
    let mut told: BTreeMap<(u32, usize), Vec<(At, u32)>> = BTreeMap::new();
    for (asked, rank, number, one) in all {
        let holders = locks.entry(one.lock).or_default();
        holders.add(one, rank, number);
        let before = holders.before(rank);
        let before = before.filter(|(until, ..)| one.leave > asked.0 && *until >= asked);
        if let Some((_, other, its)) = before {
            grants.from.insert((rank, number), other.into());
            told.entry((other, its)).or_default().push((asked, rank));
        }
    }
    for (giver, mut takers) in told {
        takers.sort_unstable();
        grants.to.insert(giver, takers.into_iter().map(|(_, rank)| rank.into()).collect());
    }
    (!grants.from.is_empty()).then_some(grants)
}
