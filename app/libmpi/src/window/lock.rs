//! Who holds the locks of a window, in memory that all its ranks share.
//!
//! Of each target: who holds it, and the queue of those who wait, from first to last; of each rank, who waits after it, and for what.
//! A rank waits for one lock at a time. Who gives a lock back hands it to those who are next.

use std::sync::atomic::{AtomicU64, Ordering};

use port::{Place, Port};

use crate::error::Result;
use crate::mpi;

/// A lock that one rank holds alone; other numbers are how many share it.
const ALONE: u64 = u64::MAX;
/// Words of a target: holders, first and last of the queue.
const OF_TARGET: u32 = 3;
/// Words of a rank: the next in the queue, and whether it wants to be alone.
const OF_RANK: u32 = 2;

/// The locks of a window.
#[derive(Clone, Copy, Debug)]
pub struct Locks {
    place: Place,
    ranks: u32,
}

impl Locks {
    /// Bytes for so many ranks.
    pub fn bytes(ranks: u32) -> u64 {
        8 * (1 + u64::from(ranks) * u64::from(OF_TARGET + OF_RANK))
    }

    /// The locks in a block of so many bytes.
    pub const fn new(place: Place, ranks: u32) -> Self {
        Self { place, ranks }
    }

    /// All are free.
    pub fn clear(self, port: &Port) {
        for number in 0..Self::bytes(self.ranks) / 8 {
            port.memory().word(self.place + 8 * number).store(0, Ordering::Relaxed);
        }
    }

    fn word(self, number: u32) -> Result<&'static AtomicU64> {
        Ok(mpi().port()?.memory().word(self.place + 8 * u64::from(number)))
    }

    fn of_target(self, target: u32) -> Result<[&'static AtomicU64; 3]> {
        let first = 1 + OF_TARGET * target;
        Ok([self.word(first)?, self.word(first + 1)?, self.word(first + 2)?])
    }

    fn of_rank(self, rank: u32) -> Result<[&'static AtomicU64; 2]> {
        let first = 1 + OF_TARGET * self.ranks + OF_RANK * rank;
        Ok([self.word(first)?, self.word(first + 1)?])
    }

    /// Takes a lock, or queues for it; tells whether it was free.
    pub fn take(self, target: u32, me: u32, alone: bool) -> Result<bool> {
        let [holders, first, last] = self.of_target(target)?;
        if first.load(Ordering::Relaxed) == 0 && join(holders, alone) {
            return Ok(true);
        }
        let [next, wish] = self.of_rank(me)?;
        next.store(0, Ordering::Relaxed);
        wish.store(alone.into(), Ordering::Relaxed);
        let mine = u64::from(me) + 1;
        match last.swap(mine, Ordering::Relaxed) {
            0 => first.store(mine, Ordering::Relaxed),
            before => self.of_rank(before as u32 - 1)?[0].store(mine, Ordering::Relaxed),
        }
        Ok(false)
    }

    /// Gives a lock back; gives those who hold it now instead.
    pub fn give_back(self, target: u32) -> Result<Vec<u32>> {
        let [holders, first, last] = self.of_target(target)?;
        let left = match holders.load(Ordering::Relaxed) {
            ALONE => 0,
            sharing => sharing.saturating_sub(1),
        };
        holders.store(left, Ordering::Relaxed);
        let mut granted = Vec::new();
        while let Some(rank) = first.load(Ordering::Relaxed).checked_sub(1) {
            let [next, wish] = self.of_rank(rank as u32)?;
            if !join(holders, wish.load(Ordering::Relaxed) != 0) {
                break;
            }
            let next = next.load(Ordering::Relaxed);
            first.store(next, Ordering::Relaxed);
            if next == 0 {
                last.store(0, Ordering::Relaxed);
            }
            granted.push(rank as u32);
        }
        Ok(granted)
    }

    /// A rank has no more to do with the window; tells whether it is the last.
    pub fn leave(self) -> Result<bool> {
        Ok(self.word(0)?.fetch_add(1, Ordering::AcqRel) + 1 == u64::from(self.ranks))
    }

    /// Where they are.
    pub const fn place(self) -> Place {
        self.place
    }
}

/// Adds a holder to a lock, if those who hold it let it.
fn join(holders: &AtomicU64, alone: bool) -> bool {
    let new = match (holders.load(Ordering::Relaxed), alone) {
        (0, true) => ALONE,
        (ALONE, _) | (_, true) => return false,
        (sharing, false) => sharing + 1,
    };
    holders.store(new, Ordering::Relaxed);
    true
}
