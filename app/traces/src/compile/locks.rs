//! Locks of windows: who gives one back tells who waits for it, as live ranks have it.
//!
//! A lock goes to those who ask in the order in which they ask. The times of a simulated run are exact, and tell when each had it and who
//! waited. That takes the calls of all ranks; so traces are compiled once more when one has waited.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::run::Run;

/// A lock: the communicator of the window, how many collectives that had when the window was made, and the target.
pub type Lock = (i64, i64, i64);

/// A lock that a rank held.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub lock: Lock,
    pub alone: bool,
    /// When it was asked for, when the call that did so returned, and when it was given back, in picoseconds.
    pub asked: u64,
    pub leave: u64,
    pub until: u64,
}

/// Who tells whom that a lock is there: by rank of the trace and number of the lock among those that it held.
#[derive(Debug, Default)]
pub struct Grants {
    from: FxHashMap<(u32, usize), i64>,
    to: FxHashMap<(u32, usize), Vec<i64>>,
}

/// Who holds a lock together, and who gave it back last before that: until when, rank and number.
#[derive(Debug, Default)]
struct Holders {
    alone: bool,
    now: Vec<(u64, u32, usize)>,
    before: Option<(u64, u32, usize)>,
}

impl Holders {
    fn add(&mut self, held: &Held, rank: u32, number: usize) {
        if held.alone || self.alone {
            self.before = self.now.drain(..).chain(self.before).max();
            self.alone = held.alone;
        }
        self.now.push((held.until, rank, number));
    }
}

impl Grants {
    /// Who tells a rank that a lock is there, if it waited.
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
        all.extend(held.iter().enumerate().map(|(number, one)| (one.leave, rank, number, one)));
    }
    // Nobody gets a lock before who asked earlier, and a call that asks for several keeps what it has while it waits for others.
    all.sort_unstable_by_key(|(leave, rank, number, _)| (*leave, *rank, *number));
    let mut locks: FxHashMap<Lock, Holders> = FxHashMap::default();
    let mut grants = Grants::default();
    let mut told: BTreeMap<(u32, usize), Vec<(u64, u32)>> = BTreeMap::new();
    for (leave, rank, number, one) in all {
        let holders = locks.entry(one.lock).or_default();
        holders.add(one, rank, number);
        let before = holders.before.filter(|(until, ..)| leave > one.asked && *until >= one.asked);
        if let Some((_, other, its)) = before {
            grants.from.insert((rank, number), other.into());
            told.entry((other, its)).or_default().push((one.asked, rank));
        }
    }
    for (giver, mut takers) in told {
        takers.sort_unstable();
        grants.to.insert(giver, takers.into_iter().map(|(_, rank)| rank.into()).collect());
    }
    (!grants.from.is_empty()).then_some(grants)
}
