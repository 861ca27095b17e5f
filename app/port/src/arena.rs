//! Blocks of memory that one allocates and others give back.
//!
//! Each rank, and the simulator, has an arena of its own in which nobody else allocates. A block is given back by whoever has
//! read it last; its owner finds that out when it next looks for memory.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use crate::{Place, memory::Memory};

/// Bytes before a block: its state and the power of two of its size.
const HEADER: u64 = 64;
const FREE: u64 = 1;
/// The smallest block is 2^this, with its header.
const SMALLEST: u32 = 7;
/// So many blocks that are in use are looked at when memory is needed.
const LOOKED_AT: usize = 8;

/// An arena.
#[derive(Debug)]
pub struct Arena {
    memory: Memory,
    next: Place,
    end: Place,
    /// By power of two, blocks that are free.
    free: Vec<Vec<Place>>,
    /// Blocks in use, as they were allocated.
    used: VecDeque<Place>,
}

/// There is no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no room for {0} bytes in flight")]
pub struct Full(pub u64);

impl Arena {
    /// The arena of a rank, or behind them of the simulator.
    pub fn new(memory: Memory, number: u32) -> Self {
        let (start, end) = memory.layout().arena(number);
        let next = start.next_multiple_of(HEADER);
        Self { memory, next, end, free: vec![Vec::new(); 64], used: VecDeque::new() }
    }

    /// A block of at least so many bytes, aligned to 64; its contents are arbitrary.
    pub fn allocate(&mut self, bytes: u64) -> Result<Place, Full> {
        let power = (bytes + HEADER).next_power_of_two().ilog2().max(SMALLEST);
        self.collect();
        let listed = self.free.get_mut(power as usize).and_then(Vec::pop);
        let block = match listed {
            Some(block) => block,
            None => {
                let block = self.next;
                let next = block.checked_add(1 << power).filter(|next| *next <= self.end);
                self.next = next.ok_or(Full(bytes))?;
                self.memory.word(block + 8).store(u64::from(power), Ordering::Relaxed);
                block
            }
        };
        self.memory.word(block).store(0, Ordering::Relaxed);
        self.used.push_back(block);
        Ok(block + HEADER)
    }

    /// Finds blocks that were given back.
    fn collect(&mut self) {
        for _ in 0..self.used.len().min(LOOKED_AT) {
            let Some(block) = self.used.pop_front() else { return };
            if self.memory.word(block).load(Ordering::Acquire) == FREE {
                let power = self.memory.word(block + 8).load(Ordering::Relaxed) as usize;
                if let Some(list) = self.free.get_mut(power) {
                    list.push(block);
                }
            } else {
                self.used.push_back(block);
            }
        }
    }
}

/// Gives a block back. Nobody may use it any more.
pub fn give_back(memory: &Memory, place: Place) {
    memory.word(place - HEADER).store(FREE, Ordering::Release);
}
