//! Blocks of memory that one allocates and others give back.
//!
//! Each rank, and the simulator, has an arena of its own in which nobody else allocates. A block is given back by whoever has
//! read it last; its owner finds that out when it next looks for memory. Ranks of one process have one arena, and give back to it directly.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use crate::{Place, memory::Memory};

/// Bytes before a block: its state, its size, and a label.
const HEADER: u64 = 64;
const FREE: u64 = 1;
/// Where in the header there is room for a label.
const LABEL: u64 = 16;
/// The smallest block, with its header.
const SMALLEST: u64 = 128;
/// Sizes of blocks between two powers of two.
const STEPS: u32 = 2;
/// So many blocks that are in use are looked at when memory is needed.
const LOOKED_AT: usize = 8;

/// An arena.
#[derive(Debug)]
pub struct Arena {
    memory: Memory,
    next: Place,
    end: Place,
    /// By class of size, blocks that are free.
    free: Vec<Vec<Place>>,
    /// Blocks in use, as they were allocated, if others give back.
    used: VecDeque<Place>,
    /// Whether those who give back do it with [`Arena::give_back`].
    direct: bool,
}

/// There is no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no room for {0} bytes in flight")]
pub struct Full(pub u64);

impl Arena {
    /// The arena of a rank, or behind them of the simulator.
    pub fn new(memory: Memory, number: u32) -> Self {
        let layout = memory.layout();
        let (start, end) = layout.arena(number);
        let next = start.next_multiple_of(HEADER);
        let direct = layout.is_private() && number < layout.ranks();
        Self { memory, next, end, free: Vec::new(), used: VecDeque::new(), direct }
    }

    /// A block of at least so many bytes, aligned to 64; its contents are arbitrary.
    pub fn allocate(&mut self, bytes: u64) -> Result<Place, Full> {
        self.find(bytes).map(|(place, _)| place)
    }

    /// The same, with so many bytes of zeros.
    pub fn allocate_zeroed(&mut self, bytes: u64) -> Result<Place, Full> {
        let (place, is_new) = self.find(bytes)?;
        if !is_new {
            // SAFETY: a block that has room for so many bytes, which nobody uses.
            unsafe { self.memory.at(place).write_bytes(0, bytes as usize) };
        }
        Ok(place)
    }

    /// A block, and whether it has never been used: then it has zeros.
    fn find(&mut self, bytes: u64) -> Result<(Place, bool), Full> {
        let (size, class) = class(bytes.checked_add(HEADER).ok_or(Full(bytes))?);
        self.collect();
        let listed = self.free.get_mut(class).and_then(Vec::pop);
        let is_new = listed.is_none();
        let block = if let Some(block) = listed {
            block
        } else {
            let block = self.next;
            let next = block.checked_add(size).filter(|next| *next <= self.end);
            self.next = next.ok_or(Full(bytes))?;
            self.memory.word(block + 8).store(size, Ordering::Relaxed);
            block
        };
        self.memory.word(block + LABEL).store(0, Ordering::Relaxed);
        if !self.direct {
            self.memory.word(block).store(0, Ordering::Relaxed);
            self.used.push_back(block);
        }
        Ok((block + HEADER, is_new))
    }

    /// Gives back a block of this arena or another. Nobody may use it any more.
    pub fn give_back(&mut self, place: Place) {
        let (start, end) = self.memory.layout().arena(0);
        if self.direct && (start..end).contains(&place) {
            self.list(place - HEADER);
        } else {
            give_back(&self.memory, place);
        }
    }

    fn list(&mut self, block: Place) {
        let (_, class) = class(self.memory.word(block + 8).load(Ordering::Relaxed));
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        if let Some(list) = self.free.get_mut(class) {
            list.push(block);
        }
    }

    /// Finds blocks that were given back.
    fn collect(&mut self) {
        for _ in 0..self.used.len().min(LOOKED_AT) {
            let Some(block) = self.used.pop_front() else { return };
            if self.memory.word(block).load(Ordering::Acquire) == FREE {
                self.list(block);
            } else {
                self.used.push_back(block);
            }
        }
    }
}

/// The size of a block in which so many bytes have room, and its number among the sizes.
fn class(bytes: u64) -> (u64, usize) {
    let bytes = bytes.max(SMALLEST);
    let shift = (bytes - 1).ilog2() - STEPS;
    let size = bytes.next_multiple_of(1 << shift);
    (size, (shift as usize) << (STEPS + 2) | (size >> shift) as usize)
}

/// Notes something with a block.
pub fn label(memory: &Memory, place: Place, label: u64) {
    memory.word(place - HEADER + LABEL).store(label, Ordering::Relaxed);
}

/// What was noted with a block since it was allocated, or 0.
pub fn labelled(memory: &Memory, place: Place) -> u64 {
    memory.word(place - HEADER + LABEL).load(Ordering::Relaxed)
}

/// Says that a block is no longer used.
fn give_back(memory: &Memory, place: Place) {
    memory.word(place - HEADER).store(FREE, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes go up in steps of a quarter, at most a quarter is lost, and each has a number of its own.
    #[test]
    fn classes() {
        assert_eq!(class(1), (128, 4 << 4 | 8));
        assert_eq!([class(129).0, class(160).0, class(161).0, class(256).0], [160, 160, 192, 256]);
        assert_eq!([class(8256).0, class(16384).0, class(16385).0], [10240, 16384, 20480]);
        let numbers: std::collections::BTreeSet<_> =
            (1..5000).map(|bytes| class(bytes).1).collect();
        let sizes: std::collections::BTreeSet<_> = (1..5000).map(|bytes| class(bytes).0).collect();
        assert_eq!(numbers.len(), sizes.len());
        assert!((129..5000).all(|bytes| class(bytes).0 * 4 <= bytes * 5));
        assert!(sizes.iter().all(|size| class(*size).0 == *size));
    }

    /// What was given back is used again, and nothing else is.
    #[test]
    fn blocks() {
        let (memory, _file) = Memory::new(2).expect("memory");
        let mut arena = Arena::new(memory, 1);
        let one = arena.allocate(100).expect("room");
        let two = arena.allocate(100).expect("room");
        assert_ne!(one, two);
        give_back(&memory, one);
        assert_eq!(arena.allocate(120), Ok(one));
        assert_ne!(arena.allocate(100), Ok(two));
        assert_eq!(arena.allocate(1 << 40), Err(Full(1 << 40)));
        let (start, end) = memory.layout().arena(1);
        assert!(one > start && two < end);
    }

    /// Memory that was used has zeros again if that is wanted, and only then.
    #[test]
    fn zeroed() {
        let (memory, _file) = Memory::new(1).expect("memory");
        let mut arena = Arena::new(memory, 0);
        let one = arena.allocate(100).expect("room");
        memory.word(one + 96).store(7, Ordering::Relaxed);
        give_back(&memory, one);
        assert_eq!(arena.allocate(100), Ok(one));
        assert_eq!(memory.word(one + 96).load(Ordering::Relaxed), 7);
        give_back(&memory, one);
        assert_eq!(arena.allocate_zeroed(104), Ok(one));
        assert_eq!(memory.word(one + 96).load(Ordering::Relaxed), 0);
    }

    /// Ranks of one process use each other's blocks again at once; those of the simulator stay its own.
    #[test]
    fn direct() {
        let memory = Memory::private(2).expect("memory");
        let (mut ranks, mut simulator) = (Arena::new(memory, 1), Arena::new(memory, 2));
        let block = ranks.allocate(100).expect("room");
        ranks.give_back(block);
        assert_eq!(ranks.allocate(100), Ok(block));
        let other = simulator.allocate(100).expect("room");
        ranks.give_back(other);
        assert_ne!(ranks.allocate(100), Ok(other));
        assert_eq!(simulator.allocate(100), Ok(other));
    }
}
