//! The locks of a window, in memory that all its ranks share.
//!
//! Of each target: who holds it, and the queue of those who wait, from first to last. Each who
//! waits has a place in the queue of its own, as threads of a rank may wait for several targets.
//! A rank that gives a lock back hands it to those who are next.

use std::sync::atomic::{AtomicU64, Ordering};

use rank_ipc::{Client, Offset};

use crate::error::Result;
use crate::{mpi, p2p};

/// A lock that one rank holds alone; other numbers are how many share it.
const ALONE: u64 = u64::MAX;
/// Words of all: ranks that have left, and turns.
const OF_ALL: u32 = 2;
/// Words of a target: holders, first and last of the queue.
const OF_TARGET: u32 = 3;
/// Words of a place in a queue: the next place, the rank, and whether it wants to be alone.
const OF_PLACE: u64 = 3;

/// The locks of a window.
#[derive(Clone, Copy, Debug)]
pub struct Locks {
    place: Offset,
    ranks: u32,
}

impl Locks {
    /// Bytes for so many ranks.
    pub fn bytes(ranks: u32) -> u64 {
        8 * (u64::from(OF_ALL) + u64::from(ranks) * u64::from(OF_TARGET))
    }

    /// The locks in a block of so many bytes.
    pub const fn new(place: Offset, ranks: u32) -> Self {
        Self { place, ranks }
    }

    /// All are free.
    pub fn clear(self, port: &Client) {
        for number in 0..Self::bytes(self.ranks) / 8 {
            port.memory().word(self.place + 8 * number).store(0, Ordering::Relaxed);
        }
    }

    fn word(self, number: u32) -> Result<&'static AtomicU64> {
        Ok(mpi().port()?.memory().word(self.place + 8 * u64::from(number)))
    }

    fn of_target(self, target: u32) -> Result<[&'static AtomicU64; 3]> {
        let first = OF_ALL + OF_TARGET * target;
        Ok([self.word(first)?, self.word(first + 1)?, self.word(first + 2)?])
    }

    /// Takes a lock, or queues for it: gives the place in the queue, to be given back when the lock
    /// is there.
    pub fn take(self, target: u32, me: u32, alone: bool) -> Result<Option<Offset>> {
        let [holders, first, last] = self.of_target(target)?;
        if first.load(Ordering::Relaxed) == 0 && join(holders, alone) {
            return Ok(None);
        }
        let mine = p2p::block(8 * OF_PLACE)?;
        let [next, rank, wish] = waiting(mine)?;
        next.store(0, Ordering::Relaxed);
        rank.store(me.into(), Ordering::Relaxed);
        wish.store(alone.into(), Ordering::Relaxed);
        match last.swap(mine, Ordering::Relaxed) {
            0 => first.store(mine, Ordering::Relaxed),
            before => waiting(before)?[0].store(mine, Ordering::Relaxed),
        }
        Ok(Some(mine))
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
        while let place @ 1.. = first.load(Ordering::Relaxed) {
            let [next, rank, wish] = waiting(place)?;
            if !join(holders, wish.load(Ordering::Relaxed) != 0) {
                break;
            }
            let next = next.load(Ordering::Relaxed);
            first.store(next, Ordering::Relaxed);
            if next == 0 {
                last.store(0, Ordering::Relaxed);
            }
            granted.push(rank.load(Ordering::Relaxed) as u32);
        }
        Ok(granted)
    }

    /// Returns the number, from 1, of a call that takes locks or gives some back, among those of
    /// all ranks.
    pub fn turn(self) -> Result<u64> {
        Ok(self.word(1)?.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// A rank has no more to do with the window; tells whether it is the last.
    pub fn leave(self) -> Result<bool> {
        Ok(self.word(0)?.fetch_add(1, Ordering::AcqRel) + 1 == u64::from(self.ranks))
    }

    /// The place of the locks in the memory that all ranks share.
    pub const fn place(self) -> Offset {
        self.place
    }
}

/// The words of a place in a queue.
fn waiting(place: Offset) -> Result<[&'static AtomicU64; OF_PLACE as usize]> {
    let memory = *mpi().port()?.memory();
    Ok([memory.word(place), memory.word(place + 8), memory.word(place + 16)])
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
