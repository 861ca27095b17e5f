//! Blocks of shared memory that one rank allocates and others give back.
//!
//! Each rank, and the simulator, has an arena of its own in which nobody else allocates: parts of
//! the memory, taken as they are needed. The last reader of a block gives it back; its owner
//! notices when it next looks for memory. Ranks of one process have one arena, and give back to it
//! directly.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Offset, memory::Memory};

/// Bytes of a block's header: its state, its size, a label, and words beside its contents.
const HEADER: u64 = 64;
const FREE: u64 = 1;
/// State of a block that was given back with [`Arena::give_back`].
const DIRECT: u64 = 2;
/// Offset of the label in the header.
const LABEL: u64 = 16;
/// Bits of an offset that belong to the user of the block.
const MARKS: Offset = 0xffff << 48;
/// Size of the smallest block with contents, header included.
const SMALLEST: u64 = 128;
/// Number of block sizes between two powers of two.
const STEPS: u32 = 2;
/// Number of blocks in use that are checked for having been given back when memory is needed.
const LOOKED_AT: usize = 8;
/// The number of blocks that are checked when a large block is needed.
const MORE_LOOKED_AT: usize = 1024;
/// Blocks of this size and more are large: only some bytes of those that are free stay in memory.
const LARGE: u64 = 1 << 20;
/// Free large blocks of all ranks may take one part in this many of the machine's memory, but at
/// least [`KEPT_EACH`] for each rank.
const KEPT: u64 = 8;
const KEPT_EACH: u64 = 1 << 24;

/// The allocator of a rank, of all ranks of a process, or of the simulator.
#[derive(Debug)]
pub struct Arena {
    memory: Memory,
    /// The rest of the chunk of memory that was taken last.
    next: Offset,
    end: Offset,
    /// Free blocks by class of size.
    free: Vec<Vec<Offset>>,
    /// Free large blocks that may still be in memory, in the order in which they were given back,
    /// and the sum of their sizes.
    kept: VecDeque<Offset>,
    bytes_kept: u64,
    most_kept: u64,
    /// Blocks in use in the order of their allocation, if others give them back.
    used: VecDeque<Offset>,
    /// True if blocks come back through [`Arena::give_back`] only.
    direct: bool,
}

/// The error of an allocation for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no room for {0} bytes in flight")]
pub struct Full(pub u64);

/// Returns the size of the machine's memory in bytes.
fn memory_of_machine() -> u64 {
    if cfg!(miri) {
        return 0;
    }
    let system = rustix::system::sysinfo();
    system.totalram as u64 * u64::from(system.mem_unit)
}

impl Arena {
    /// Makes the arena of a rank; the number behind those of the ranks is the simulator's.
    pub fn new(memory: Memory, number: u32) -> Self {
        let layout = memory.layout();
        let direct = layout.is_private() && number < layout.ranks();
        let sharing = if layout.is_private() { 1 } else { layout.ranks().max(1) };
        Self {
            memory,
            next: 0,
            end: 0,
            free: Vec::new(),
            kept: VecDeque::new(),
            bytes_kept: 0,
            most_kept: KEPT_EACH.max(memory_of_machine() / KEPT / u64::from(sharing)),
            used: VecDeque::new(),
            direct,
        }
    }

    /// Allocates a block of at least this many bytes, aligned to 64, with arbitrary contents.
    pub fn allocate(&mut self, bytes: u64) -> Result<Offset, Full> {
        self.find(bytes).map(|(place, _)| place)
    }

    /// Allocates a block whose first bytes, this many, are zero.
    pub fn allocate_zeroed(&mut self, bytes: u64) -> Result<Offset, Full> {
        let (place, is_new) = self.find(bytes)?;
        if !is_new {
            // SAFETY: the block has room for this many bytes, and nobody uses it yet.
            unsafe { self.memory.at(place).write_bytes(0, bytes as usize) };
        }
        Ok(place)
    }

    /// Allocates a block; returns with it whether it has never been used and so is zero.
    fn find(&mut self, bytes: u64) -> Result<(Offset, bool), Full> {
        let (size, class) = class(bytes.checked_add(HEADER).ok_or(Full(bytes))?);
        self.collect(if size < LARGE { LOOKED_AT } else { MORE_LOOKED_AT });
        let listed = self.free.get_mut(class).and_then(Vec::pop);
        if size >= LARGE {
            self.keep_less(listed);
        }
        let is_new = listed.is_none();
        let block = match listed {
            Some(block) => block,
            None => self.new_block(size).ok_or(Full(bytes))?,
        };
        self.memory.word(block + LABEL).store(0, Ordering::Relaxed);
        self.memory.word(block).store(if self.direct { DIRECT } else { 0 }, Ordering::Relaxed);
        if !self.direct {
            self.used.push_back(block);
        }
        Ok((block + HEADER, is_new))
    }

    /// Returns a block that has never been used, from the chunk of memory that was taken last or
    /// from a new one. Large blocks lie elsewhere.
    fn new_block(&mut self, size: u64) -> Option<Offset> {
        let chunk = self.memory.chunk();
        let block = if size >= chunk {
            self.memory.take(size)?
        } else {
            if self.end - self.next < size {
                self.next = self.memory.take(chunk)?;
                self.end = self.next + chunk;
            }
            self.next += size;
            self.next - size
        };
        self.memory.word(block + 8).store(size, Ordering::Relaxed);
        Some(block)
    }

    /// Gives back a block of this arena or another. Nobody may use it afterwards.
    pub fn give_back(&mut self, place: Offset) {
        let block = place - HEADER;
        if self.direct && self.memory.word(block).load(Ordering::Relaxed) == DIRECT {
            self.list(block);
        } else {
            give_back(&self.memory, place);
        }
    }

    fn list(&mut self, block: Offset) {
        let (size, class) = class(self.memory.word(block + 8).load(Ordering::Relaxed));
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        if let Some(list) = self.free.get_mut(class) {
            list.push(block);
        }
        if size >= LARGE {
            self.kept.push_back(block);
            self.bytes_kept += size;
        }
    }

    /// Makes room for a large block that is allocated (`block`, if it was free): the other free
    /// ones give their memory back to the system, the oldest first, until no more is kept than may
    /// be.
    fn keep_less(&mut self, allocated: Option<Offset>) {
        let size = |block| self.memory.word(block + 8).load(Ordering::Relaxed);
        if let Some(index) = self.kept.iter().position(|block| Some(*block) == allocated) {
            self.bytes_kept -= self.kept.remove(index).map_or(0, size);
        }
        while self.bytes_kept > self.most_kept {
            let Some(block) = self.kept.pop_front() else { break };
            self.bytes_kept -= size(block);
            // The header stays; only what follows it is given back.
            self.memory.release(block + HEADER, block + size(block));
        }
    }

    /// Looks for blocks that were given back, among this many that were in use.
    fn collect(&mut self, most: usize) {
        for _ in 0..self.used.len().min(most) {
            let Some(block) = self.used.pop_front() else { return };
            if self.memory.word(block).load(Ordering::Acquire) == FREE {
                self.list(block);
            } else {
                self.used.push_back(block);
            }
        }
    }
}

/// Returns the size of the block that has room for this many bytes, and the number of its class.
fn class(bytes: u64) -> (u64, usize) {
    let bytes = if bytes > HEADER { bytes.max(SMALLEST) } else { HEADER };
    let shift = (bytes - 1).ilog2() - STEPS;
    let size = bytes.next_multiple_of(1 << shift);
    (size, (shift as usize) << (STEPS + 2) | (size >> shift) as usize)
}

/// Writes the label of a block.
pub fn label(memory: &Memory, place: Offset, label: u64) {
    memory.word(place - HEADER + LABEL).store(label, Ordering::Relaxed);
}

/// Returns the label that was written since the block was allocated, or 0.
pub fn labelled(memory: &Memory, place: Offset) -> u64 {
    memory.word(place - HEADER + LABEL).load(Ordering::Relaxed)
}

/// Returns one of the five words beside the contents of a block. It holds anything until it is set.
/// The block may have no contents.
pub fn beside(memory: &Memory, place: Offset, number: u64) -> &AtomicU64 {
    debug_assert!(number < 5, "so many words follow the label");
    memory.word(place - HEADER + LABEL + 8 * (1 + number))
}

/// Prefetches the header and the beginning of a block. Marks in the highest bits of its offset are
/// ignored.
pub fn prefetch(memory: &Memory, place: Offset) {
    let place = place & !MARKS;
    kernel::prefetch(memory.word(place - HEADER));
    kernel::prefetch(memory.word(place));
}

/// Marks a block as no longer used.
fn give_back(memory: &Memory, place: Offset) {
    memory.word(place - HEADER).store(FREE, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes go up in steps of a quarter, at most a quarter is lost, and each size has a number of
    /// its own.
    #[test]
    fn classes() {
        assert_eq!([class(1), class(64), class(65)], [(64, 56), (64, 56), (128, 72)]);
        assert_eq!([class(129).0, class(160).0, class(161).0, class(256).0], [160, 160, 192, 256]);
        assert_eq!([class(8256).0, class(16384).0, class(16385).0], [10240, 16384, 20480]);
        let numbers: std::collections::BTreeSet<_> =
            (1..5000).map(|bytes| class(bytes).1).collect();
        let sizes: std::collections::BTreeSet<_> = (1..5000).map(|bytes| class(bytes).0).collect();
        assert_eq!(numbers.len(), sizes.len());
        assert!((129..5000).all(|bytes| class(bytes).0 * 4 <= bytes * 5));
        assert!(sizes.iter().all(|size| class(*size).0 == *size));
    }

    /// Blocks that were given back are used again, and no others.
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
        // Blocks of other sizes do not matter, and a block larger than a chunk is taken by itself.
        let mut other = Arena::new(memory, 0);
        let theirs = other.allocate(100).expect("room");
        let more_than_a_chunk = if cfg!(miri) { 1 << 20 } else { 1 << 30 };
        let large = arena.allocate(more_than_a_chunk).expect("room");
        let three = arena.allocate(100).expect("room");
        assert!(two < three && three < theirs && theirs < large, "{three} {theirs} {large}");
    }

    /// Memory that was used is zeroed again where that is wanted, and only there.
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

    /// No more of the free large blocks stays in memory than may; blocks in use are left alone.
    #[test]
    #[cfg_attr(miri, ignore = "the size of a file in memory")]
    fn large() {
        let (memory, file) = Memory::new(64).expect("memory");
        let resident = || rustix::fs::fstat(&file).expect("a file").st_blocks.unsigned_abs() * 512;
        let mut arena = Arena { most_kept: KEPT_EACH, ..Arena::new(memory, 1) };
        let before = resident();
        let fill = |place: Offset, size: u64| {
            // SAFETY: the block has this size.
            unsafe { memory.at(place).write_bytes(7, size as usize) };
        };
        let stays = arena.allocate(LARGE).expect("room");
        fill(stays, LARGE);
        for round in 0..2 {
            for megabytes in 8..40 {
                let block = arena.allocate(megabytes << 20).expect("room");
                fill(block, megabytes << 20);
                give_back(&memory, block);
                // The block that was given back last, what may be kept, and two pages of each other
                // block for its header and its end.
                let most = (40 << 20) + KEPT_EACH + LARGE + 32 * 8192 + (1 << 16);
                assert!(resident() - before <= most, "round {round}, {megabytes}: {}", resident());
            }
        }
        assert!(resident() - before > KEPT_EACH);
        // SAFETY: the block is still allocated.
        let kept = unsafe { std::slice::from_raw_parts(memory.at(stays), LARGE as usize) };
        assert!(kept.iter().all(|byte| *byte == 7));
    }

    /// Ranks of one process use each other's blocks again at once; those of the simulator stay its
    /// own.
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
