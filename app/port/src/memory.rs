//! The memory that all ranks and the simulator share.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

use rustix::fs::{FlockOperation, MemfdFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::{Place, lane::Lane};

/// The environment variable that tells a rank's process where it is: file descriptor, number of lanes, rank, how many ranks the run
/// began with, how many there are said to be room for, and the how manieth of the programs that were started together this is.
pub const ENVIRONMENT: &str = "HEDDLE_PORT";

/// Memory for contents of messages, for each rank and for the simulator. Only what is used takes memory.
const ARENA: u64 = 1 << 36;

/// Memory for contents in all, if that of all ranks would be more: so a few hundred thousand ranks fit into the address space.
const ARENAS: u64 = 1 << 44;

/// Where the list of names that ranks have published begins; no block lies here.
pub const NAMES: Place = 64;

/// Where things are in the memory of so many ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    ranks: u32,
    private: bool,
}

impl Layout {
    /// For so many ranks.
    pub const fn new(ranks: u32) -> Self {
        Self { ranks, private: false }
    }

    /// How many ranks there are.
    pub const fn ranks(self) -> u32 {
        self.ranks
    }

    /// Whether all ranks are in this process. Then one runs at a time: they share one lane and one arena.
    pub const fn is_private(self) -> bool {
        self.private
    }

    const fn lane(self, rank: u32) -> u64 {
        // The first page has no more than `NAMES` and the place of the table of hosts: place 0 is none.
        4096 + if self.private { 0 } else { rank as u64 * size_of::<Lane>() as u64 }
    }

    /// Where an arena begins and ends: that of a rank, or behind them that of the simulator.
    pub const fn arena(self, number: u32) -> (Place, Place) {
        let share = ARENAS / self.ranks.next_power_of_two() as u64;
        let each = if share < ARENA { share } else { ARENA };
        if self.private {
            let start = 4096 + size_of::<Lane>() as u64;
            let middle = start + self.ranks as u64 * each;
            return if number < self.ranks { (start, middle) } else { (middle, middle + each) };
        }
        let start = self.lane(self.ranks) + number as u64 * each;
        (start, start + each)
    }

    const fn length(self) -> u64 {
        self.arena(self.ranks).1
    }
}

/// The memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it is a place and a size; what is there is shared by the rules of lanes and blocks.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Why a process has no part in the memory.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// Its descriptor is that of something else.
    #[error("its descriptor was closed")]
    Closed,
    /// Who made it has ended.
    #[error("heddle mpirun has ended")]
    Ended,
    /// It cannot be mapped.
    #[error("{0}")]
    Unmapped(#[from] io::Error),
}

impl Memory {
    /// New memory, and the file that other processes map it by.
    pub fn new(ranks: u32) -> io::Result<(Self, OwnedFd)> {
        let layout = Layout::new(ranks);
        let file = rustix::fs::memfd_create("heddle", MemfdFlags::empty())?;
        rustix::fs::ftruncate(&file, layout.length())?;
        // It is this process's alone, and gone when that ends, however it does.
        rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok((Self::map(layout, &file)?, file))
    }

    /// New memory for ranks that are all in this process.
    pub fn private(ranks: u32) -> io::Result<Self> {
        let layout = Layout { private: true, ..Layout::new(ranks) };
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        let length = layout.length() as usize;
        // SAFETY: a new mapping, at a place of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap_anonymous(ptr::null_mut::<c_void>(), length, protection, flags)
        }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, layout })
    }

    /// The memory behind a file descriptor that [`Memory::new`] made in a process that is still there.
    ///
    /// # Safety
    /// If the descriptor is open and that of such memory, it must belong to nobody else.
    pub unsafe fn open(descriptor: i32, ranks: u32) -> Result<Self, Lost> {
        let layout = Layout::new(ranks);
        // SAFETY: it is only asked; what is not open is an error.
        let known = rustix::fs::fstat(unsafe { BorrowedFd::borrow_raw(descriptor) });
        // Nothing else is as large.
        if descriptor < 0
            || !known.is_ok_and(|known| known.st_size.cast_unsigned() == layout.length())
        {
            return Err(Lost::Closed);
        }
        // SAFETY: by contract.
        let file = unsafe { OwnedFd::from_raw_fd(descriptor) };
        if rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            return Err(Lost::Ended);
        }
        Ok(Self::map(layout, &file)?)
    }

    fn map(layout: Layout, file: impl AsFd) -> io::Result<Self> {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
        let length = layout.length() as usize;
        // SAFETY: a new mapping, at a place of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap(ptr::null_mut::<c_void>(), length, protection, flags, file, 0)
        }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, layout })
    }

    /// Where things are.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// A rank's lane.
    pub fn lane(&self, rank: u32) -> Option<&Lane> {
        if rank >= self.layout.ranks {
            return None;
        }
        // SAFETY: it lies within the mapping, which is never unmapped, is aligned, and any bytes are a lane.
        Some(unsafe { &*self.base.as_ptr().add(self.layout.lane(rank) as usize).cast() })
    }

    /// The address of a place. It must be within the memory.
    pub fn at(&self, place: Place) -> *mut u8 {
        debug_assert!(place < self.layout.length(), "a place of the memory");
        self.base.as_ptr().wrapping_add(place as usize)
    }

    /// Gives whole pages between two places back to the system; they read as zeros then. Nobody may use them.
    pub(crate) fn release(&self, from: Place, to: Place) {
        let page = rustix::param::page_size() as u64;
        let (from, to) = (from.next_multiple_of(page), to / page * page);
        if from >= to {
            return;
        }
        let advice = if self.layout.private { Advice::LinuxDontNeed } else { Advice::LinuxRemove };
        // SAFETY: pages of the mapping, which by contract nobody uses. If the system keeps them, nothing is lost.
        let _ = unsafe { rustix::mm::madvise(self.at(from).cast(), (to - from) as usize, advice) };
    }

    /// A word of a block; it must lie in one.
    pub fn word(&self, place: Place) -> &AtomicU64 {
        debug_assert!(place.is_multiple_of(8), "words are aligned");
        // SAFETY: by contract a block's word, in a mapping that is never unmapped.
        unsafe { &*self.at(place).cast() }
    }
}
