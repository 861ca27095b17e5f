//! The memory that all ranks and the simulator share.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, MemfdFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};
use rustix::process::Resource;

use crate::{Offset, channel::Channel};

/// The environment variable that tells a rank's process where it is: file descriptor, number of
/// channels, rank, how many ranks the run began with, how many there are said to be room for, and the
/// how manieth of the programs that were started together this is.
pub const ENVIRONMENT: &str = "HEDDLE_PORT";

/// Bytes of the memory in all. Only what is used takes memory of the machine.
const ALL: u64 = 1 << 40;

/// Of an address space that is limited (`ulimit -v`), the memory takes one part in so many.
const PART: u64 = 4;

/// Memory is taken in chunks, of which each rank can have so many before others have to go without.
const CHUNKS: u64 = 8;
const LEAST_CHUNK: u64 = 1 << 16;
const LARGEST_CHUNK: u64 = 1 << 26;
const PAGE: u64 = 4096;

/// Where the list of names that ranks have published begins; no block lies here.
pub const NAMES: Offset = 64;

/// Where it stands how much has been taken.
const TAKEN: Offset = 128;

/// Where it stands how much can be: as much as every process has mapped.
const MAPPED: Offset = 192;

/// Where it stands whether a program was refused.
const REFUSED: Offset = 256;

/// Where it stands whether several ranks compute at once.
const AT_ONCE: Offset = 320;

/// Where things are in the memory of so many ranks: a page of its own, a channel for each rank, and
/// what is taken as it is needed.
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

    /// Whether all ranks are in this process. Then one runs at a time: they share one channel and one
    /// arena.
    pub const fn is_private(self) -> bool {
        self.private
    }

    const fn channel(self, rank: u32) -> u64 {
        // The first page has no more than `NAMES`, the place of the table of hosts, and what has
        // been taken: place 0 is none.
        PAGE + if self.private { 0 } else { rank as u64 * size_of::<Channel>() as u64 }
    }

    /// Where the channels end.
    const fn start(self) -> u64 {
        self.channel(if self.private { 0 } else { self.ranks.saturating_sub(1) })
            + size_of::<Channel>() as u64
    }

    /// How many take memory: ranks, and the simulator.
    const fn owners(self) -> u64 {
        if self.private { 2 } else { self.ranks as u64 + 1 }
    }

    /// How much is taken at once where so much is mapped.
    fn chunk(self, mapped: u64) -> u64 {
        let share = mapped.saturating_sub(self.start()) / CHUNKS / self.owners();
        (share / PAGE * PAGE).clamp(LEAST_CHUNK, LARGEST_CHUNK)
    }

    /// Bytes with which it is of use: a chunk for each.
    const fn least(self) -> u64 {
        self.start() + self.owners() * LEAST_CHUNK
    }

    /// Bytes of the file.
    const fn length(self) -> u64 {
        let least = self.least().next_multiple_of(PAGE);
        if least > ALL { least } else { ALL }
    }

    /// Maps as much as there is room for, and no more than a share, by a function that maps so many
    /// bytes; tells how many these are.
    fn fit(
        self,
        share: Option<u64>,
        map: impl Fn(usize) -> rustix::io::Result<*mut c_void>,
    ) -> io::Result<(NonNull<u8>, u64)> {
        let mut length = share.map_or(self.length(), |share| share.min(self.length()));
        while length >= self.least() {
            match map(length as usize) {
                Ok(base) => {
                    let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
                    return Ok((base, length));
                }
                // valgrind has no room for it, but another name for that.
                Err(Errno::NOMEM | Errno::INVAL) => length = length / 2 / PAGE * PAGE,
                Err(error) => return Err(error.into()),
            }
        }
        let least = self.least().div_ceil(1 << 20);
        let text = format!(
            "the address space has no room for the {least} MiB that messages of {} ranks need at least; is it limited (ulimit -v)?",
            self.ranks
        );
        Err(io::Error::new(io::ErrorKind::OutOfMemory, text))
    }
}

/// Bytes that what is mapped in advance may take of the address space of this process, if that is
/// limited (`ulimit -v`).
pub fn share() -> Option<u64> {
    rustix::process::getrlimit(Resource::As).current.map(|limit| limit / PART / PAGE * PAGE)
}

/// The memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    base: NonNull<u8>,
    /// How many bytes of it this process has.
    mapped: u64,
    layout: Layout,
}

// SAFETY: it is a place and a size; what is there is shared by the rules of channels and blocks.
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
        let memory = Self::map(layout, &file)?;
        memory.begin();
        Ok((memory, file))
    }

    /// New memory for ranks that are all in this process.
    pub fn private(ranks: u32) -> io::Result<Self> {
        let layout = Layout { private: true, ..Layout::new(ranks) };
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a new mapping, at a place of the kernel's choice.
        let map = |length| unsafe {
            rustix::mm::mmap_anonymous(ptr::null_mut(), length, protection, flags)
        };
        let (base, mapped) = layout.fit(share(), map)?;
        let memory = Self { base, mapped, layout };
        memory.begin();
        Ok(memory)
    }

    /// Nothing has been taken yet.
    fn begin(&self) {
        self.word(TAKEN).store(self.layout.start(), Ordering::Relaxed);
        self.word(MAPPED).store(self.mapped, Ordering::Relaxed);
    }

    /// The memory behind a file descriptor that [`Memory::new`] made in a process that is still
    /// there.
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
        let memory = Self::map(layout, &file)?;
        // From now on, nobody takes what this process does not have.
        memory.word(MAPPED).fetch_min(memory.mapped, Ordering::SeqCst);
        if memory.word(TAKEN).load(Ordering::SeqCst) > memory.mapped {
            let text = "more of it is in use than this process has room for; is its address space limited (ulimit -v)?";
            return Err(Lost::Unmapped(io::Error::new(io::ErrorKind::OutOfMemory, text)));
        }
        Ok(memory)
    }

    fn map(layout: Layout, file: impl AsFd) -> io::Result<Self> {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
        // SAFETY: a new mapping, at a place of the kernel's choice.
        let map = |length| unsafe {
            rustix::mm::mmap(ptr::null_mut(), length, protection, flags, &file, 0)
        };
        let (base, mapped) = layout.fit(share(), map)?;
        Ok(Self { base, mapped, layout })
    }

    /// How much is best taken at once.
    pub(crate) fn chunk(&self) -> u64 {
        self.layout.chunk(self.word(MAPPED).load(Ordering::Relaxed))
    }

    /// Whole pages that nobody else has, for so many bytes: zeros. `None` if there is no room for
    /// them.
    pub(crate) fn take(&self, bytes: u64) -> Option<Offset> {
        let (taken, mapped) = (self.word(TAKEN), self.word(MAPPED));
        let end = |start: u64| {
            let end = start.checked_add(bytes)?.checked_next_multiple_of(PAGE)?;
            (end <= mapped.load(Ordering::SeqCst)).then_some(end)
        };
        let start = taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, end).ok()?;
        // A process that has mapped less may have come meanwhile.
        end(start).map(|_| start)
    }

    /// A program that wanted to be a rank was told that another one is or was this rank.
    pub fn refuse(&self) {
        self.word(REFUSED).store(1, Ordering::Relaxed);
    }

    /// Whether that has happened.
    pub fn has_refused(&self) -> bool {
        self.word(REFUSED).load(Ordering::Relaxed) != 0
    }

    /// From now on, several ranks may compute at once.
    pub fn compute_at_once(&self) {
        self.word(AT_ONCE).store(1, Ordering::Relaxed);
    }

    /// Whether they may.
    pub fn computes_at_once(&self) -> bool {
        self.word(AT_ONCE).load(Ordering::Relaxed) != 0
    }

    /// Where things are.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// A rank's channel.
    pub fn channel(&self, rank: u32) -> Option<&Channel> {
        if rank >= self.layout.ranks {
            return None;
        }
        // SAFETY: it lies within the mapping, which is never unmapped, is aligned, and any bytes
        // are a channel.
        Some(unsafe { &*self.base.as_ptr().add(self.layout.channel(rank) as usize).cast() })
    }

    /// The address of a place. It must be within the memory.
    pub fn at(&self, place: Offset) -> *mut u8 {
        debug_assert!(place < self.mapped, "a place of the memory");
        self.base.as_ptr().wrapping_add(place as usize)
    }

    /// Gives whole pages between two places back to the system; they read as zeros then. Nobody may
    /// use them.
    pub(crate) fn release(&self, from: Offset, to: Offset) {
        let page = rustix::param::page_size() as u64;
        let (from, to) = (from.next_multiple_of(page), to / page * page);
        if from >= to {
            return;
        }
        let advice = if self.layout.private { Advice::LinuxDontNeed } else { Advice::LinuxRemove };
        // SAFETY: pages of the mapping, which by contract nobody uses. If the system keeps them,
        // nothing is lost.
        let _ = unsafe { rustix::mm::madvise(self.at(from).cast(), (to - from) as usize, advice) };
    }

    /// A word of a block; it must lie in one.
    pub fn word(&self, place: Offset) -> &AtomicU64 {
        debug_assert!(place.is_multiple_of(8), "words are aligned");
        // SAFETY: by contract a block's word, in a mapping that is never unmapped.
        unsafe { &*self.at(place).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// A page, channels of 8 KiB and a bit, and chunks: few ranks take 64 MiB at once, many take so
    /// much that there is enough for all.
    #[test]
    fn chunks() {
        let channel = size_of::<Channel>() as u64;
        assert_eq!(Layout::new(4).start(), 4096 + 4 * channel);
        assert_eq!(Layout::new(4).chunk(1 << 40), 64 << 20);
        assert_eq!(Layout { private: true, ..Layout::new(1 << 20) }.chunk(1 << 40), 64 << 20);
        let many = Layout::new(65_536);
        let chunk = many.chunk(1 << 40);
        assert!((1 << 20..2 << 20).contains(&chunk), "{chunk}");
        assert!(many.start() + CHUNKS * 65_537 * chunk <= 1 << 40);
        assert_eq!(many.chunk(many.least()), 64 << 10);
    }

    /// Memory is halved until it fits. If it never does, the limit is named.
    #[test]
    fn as_much_as_fits() {
        let page = NonNull::<u64>::dangling();
        let map = |most: u64| {
            move |length| {
                if length as u64 <= most { Ok(page.as_ptr().cast()) } else { Err(Errno::NOMEM) }
            }
        };
        let fit = |ranks, share, most| Layout::new(ranks).fit(share, map(most)).map(|fit| fit.1);
        for ranks in [1, 4, 65_536, 1 << 20] {
            assert_eq!(fit(ranks, None, u64::MAX).unwrap(), 1 << 40, "{ranks}");
        }
        assert_eq!(fit(4, None, 60 * GIB).unwrap(), 32 * GIB);
        assert_eq!(fit(4, Some(2 * GIB), u64::MAX).unwrap(), 2 * GIB);
        assert_eq!(fit(4, Some(2 * GIB), GIB).unwrap(), GIB);
        // 4 channels of 8 KiB, a page and five chunks of 64 KiB: 356 KiB and a bit.
        assert!(fit(4, Some(357 << 10), u64::MAX).is_ok());
        let error = fit(4, Some(355 << 10), u64::MAX).unwrap_err().to_string();
        assert!(error.contains("1 MiB") && error.contains("ulimit -v"), "{error}");
        assert!(fit(65_536, None, GIB).is_err());
    }

    /// Who has mapped less than others takes part, as long as no more has been taken; nobody takes
    /// more from then on.
    #[test]
    fn processes_that_map_less() {
        let (memory, _file) = Memory::new(2).expect("memory");
        let first = memory.take(1).expect("room");
        assert_eq!(first, memory.layout.start().next_multiple_of(PAGE));
        assert_eq!(memory.take(4097), Some(first + 4096));
        assert_eq!(memory.take(1), Some(first + 3 * 4096));
        memory.word(MAPPED).fetch_min(1 << 20, Ordering::SeqCst);
        assert_eq!(memory.chunk(), 64 << 10);
        assert_eq!(memory.take(1 << 20), None);
        assert_eq!(memory.take(64 << 10), Some(first + 4 * 4096));
        assert_eq!(memory.take(u64::MAX), None);
    }
}
