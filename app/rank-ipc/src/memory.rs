//! The memory that all ranks and the simulator share.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::FlockOperation;
#[cfg(not(miri))]
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};
use rustix::process::Resource;

use crate::{Offset, channel::Channel};

/// The environment variable by which a rank's process finds the memory: file descriptor, number of
/// channels, rank, number of ranks that the run began with, number for which there is said to be
/// room, and the number of its program among those that were started together.
pub const ENVIRONMENT: &str = "HEDDLE_PORT";

/// Size of the memory in bytes. Only pages that are used take memory of the machine.
const ALL: u64 = 1 << 40;

/// In a limited address space (`ulimit -v`), the memory takes one part in this many.
const PART: u64 = 4;

/// Memory is taken in chunks. Each rank can have this many before others have to go without.
const CHUNKS: u64 = 8;
const LEAST_CHUNK: u64 = 1 << 16;
const LARGEST_CHUNK: u64 = 1 << 26;
const PAGE: u64 = 4096;

/// Offset of the list of names that ranks have published; no block lies here.
pub const NAMES: Offset = 64;

/// Offset of the word that counts the bytes taken so far.
const TAKEN: Offset = 128;

/// Offset of the word that holds how many bytes can be taken: as many as every process has mapped.
const MAPPED: Offset = 192;

/// Offset of the flag that a program was refused.
const REFUSED: Offset = 256;

/// Offset of the flag that several ranks compute at once.
const AT_ONCE: Offset = 320;

/// Offset of the flag that ranks tell each call.
const CALLS: Offset = 384;

/// The layout of the memory: a page of its own, a channel for each rank, and behind them what is
/// taken as it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    ranks: u32,
    private: bool,
}

impl Layout {
    /// Makes the layout for this many ranks.
    pub const fn new(ranks: u32) -> Self {
        Self { ranks, private: false }
    }

    /// Returns the number of ranks.
    pub const fn ranks(self) -> u32 {
        self.ranks
    }

    /// Returns whether all ranks are in this process. Then one runs at a time, and they share one
    /// channel and one arena.
    pub const fn is_private(self) -> bool {
        self.private
    }

    const fn channel(self, rank: u32) -> u64 {
        // The first page holds only `NAMES`, the offset of the table of hosts, and the counters:
        // offset 0 stands for none.
        PAGE + if self.private { 0 } else { rank as u64 * size_of::<Channel>() as u64 }
    }

    /// Returns where the channels end.
    const fn start(self) -> u64 {
        self.channel(if self.private { 0 } else { self.ranks.saturating_sub(1) })
            + size_of::<Channel>() as u64
    }

    /// Returns the number of those that take memory: ranks, and the simulator.
    const fn owners(self) -> u64 {
        if self.private { 2 } else { self.ranks as u64 + 1 }
    }

    /// Returns the size of a chunk where this many bytes are mapped.
    fn chunk(self, mapped: u64) -> u64 {
        let share = mapped.saturating_sub(self.start()) / CHUNKS / self.owners();
        (share / PAGE * PAGE).clamp(LEAST_CHUNK, LARGEST_CHUNK)
    }

    /// Returns the least number of bytes that is of use: a chunk for each.
    const fn least(self) -> u64 {
        self.start() + self.owners() * LEAST_CHUNK
    }

    /// Returns the size of the file in bytes.
    const fn length(self) -> u64 {
        let least = self.least().next_multiple_of(PAGE);
        if least > ALL { least } else { ALL }
    }

    /// Maps as much as there is room for, up to a share of it, by a function that maps a number of
    /// bytes; returns how many it has mapped.
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
                // valgrind refuses such a size, with an error code of its own.
                Err(Errno::NOMEM | Errno::INVAL) => length = length / 2 / PAGE * PAGE,
                Err(error) => return Err(error.into()),
            }
        }
        let least = self.least().div_ceil(1 << 20);
        let text = format!(
            "the address space has no room for the {least} MiB that messages of {} ranks need at \
             least; is it limited (ulimit -v)?",
            self.ranks
        );
        Err(io::Error::new(io::ErrorKind::OutOfMemory, text))
    }
}

/// Returns how many bytes of the address space of this process may be mapped in advance, if it is
/// limited (`ulimit -v`).
pub fn share() -> Option<u64> {
    rustix::process::getrlimit(Resource::As).current.map(|limit| limit / PART / PAGE * PAGE)
}

/// The memory, mapped by this process.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    base: NonNull<u8>,
    /// Bytes of it that this process has mapped.
    mapped: u64,
    layout: Layout,
}

// SAFETY: it is an address and a size; the rules of channels and blocks decide who uses what lies
// there.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// The reason why a process cannot use the memory.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// Its descriptor belongs to something else.
    #[error("its descriptor was closed")]
    Closed,
    /// The process that made the memory has ended.
    #[error("heddle mpirun has ended")]
    Ended,
    /// The memory cannot be mapped.
    #[error("{0}")]
    Unmapped(#[from] io::Error),
}

impl Memory {
    /// Makes new memory; returns it with the file by which other processes map it.
    #[cfg(not(miri))]
    pub fn new(ranks: u32) -> io::Result<(Self, OwnedFd)> {
        let layout = Layout::new(ranks);
        let file = rustix::fs::memfd_create("heddle", MemfdFlags::empty())?;
        rustix::fs::ftruncate(&file, layout.length())?;
        // The file has no name: it is gone when this process and the ranks end, however they do.
        rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let memory = Self::map(layout, &file)?;
        memory.begin();
        Ok((memory, file))
    }

    /// Makes memory for ranks that are all in this process.
    #[cfg(not(miri))]
    pub fn private(ranks: u32) -> io::Result<Self> {
        let layout = Layout { private: true, ..Layout::new(ranks) };
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a new mapping, at an address of the kernel's choice.
        let map = |length| unsafe {
            rustix::mm::mmap_anonymous(ptr::null_mut(), length, protection, flags)
        };
        let (base, mapped) = layout.fit(share(), map)?;
        let memory = Self { base, mapped, layout };
        memory.begin();
        Ok(memory)
    }

    /// Initialises the counters: nothing has been taken yet.
    fn begin(&self) {
        self.word(TAKEN).store(self.layout.start(), Ordering::Relaxed);
        self.word(MAPPED).store(self.mapped, Ordering::Relaxed);
    }

    /// Maps the memory behind a file descriptor that [`Memory::new`] made in a process that still
    /// runs.
    ///
    /// # Safety
    /// If the descriptor is open and that of such memory, it must belong to nobody else.
    pub unsafe fn open(descriptor: i32, ranks: u32) -> Result<Self, Lost> {
        let layout = Layout::new(ranks);
        // SAFETY: the descriptor is only queried; one that is not open gives an error.
        let known = rustix::fs::fstat(unsafe { BorrowedFd::borrow_raw(descriptor) });
        // No other file has this size.
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
        // From now on, nobody takes memory that this process has not mapped.
        memory.word(MAPPED).fetch_min(memory.mapped, Ordering::SeqCst);
        if memory.word(TAKEN).load(Ordering::SeqCst) > memory.mapped {
            let text = "more of it is in use than this process has room for; is its address space \
                        limited (ulimit -v)?";
            return Err(Lost::Unmapped(io::Error::new(io::ErrorKind::OutOfMemory, text)));
        }
        Ok(memory)
    }

    fn map(layout: Layout, file: impl AsFd) -> io::Result<Self> {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
        // SAFETY: a new mapping, at an address of the kernel's choice.
        let map = |length| unsafe {
            rustix::mm::mmap(ptr::null_mut(), length, protection, flags, &file, 0)
        };
        let (base, mapped) = layout.fit(share(), map)?;
        Ok(Self { base, mapped, layout })
    }

    /// Returns the size of a chunk: how much is best taken at once.
    pub(crate) fn chunk(&self) -> u64 {
        self.layout.chunk(self.word(MAPPED).load(Ordering::Relaxed))
    }

    /// Takes whole pages for this many bytes, which nobody else has and which are zero. `None` if
    /// there is no room for them.
    pub(crate) fn take(&self, bytes: u64) -> Option<Offset> {
        let (taken, mapped) = (self.word(TAKEN), self.word(MAPPED));
        let end = |start: u64| {
            let end = start.checked_add(bytes)?.checked_next_multiple_of(PAGE)?;
            (end <= mapped.load(Ordering::SeqCst)).then_some(end)
        };
        let start = taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, end).ok()?;
        // A process that has mapped less may have started meanwhile.
        end(start).map(|_| start)
    }

    /// Notes that a program which wanted to be a rank was refused, as another one is or was that
    /// rank.
    pub fn refuse(&self) {
        self.word(REFUSED).store(1, Ordering::Relaxed);
    }

    /// Returns whether [`Memory::refuse`] was called.
    pub fn has_refused(&self) -> bool {
        self.word(REFUSED).load(Ordering::Relaxed) != 0
    }

    /// Notes that from now on several ranks may compute at once.
    pub fn compute_at_once(&self) {
        self.word(AT_ONCE).store(1, Ordering::Relaxed);
    }

    /// Returns whether several ranks may compute at once.
    pub fn computes_at_once(&self) -> bool {
        self.word(AT_ONCE).load(Ordering::Relaxed) != 0
    }

    /// Notes that ranks shall tell each call from now on.
    pub fn tell_calls(&self) {
        self.word(CALLS).store(1, Ordering::Relaxed);
    }

    /// Returns whether ranks shall tell each call.
    pub fn tells_calls(&self) -> bool {
        self.word(CALLS).load(Ordering::Relaxed) != 0
    }

    /// Returns the layout.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the channel of a rank.
    pub fn channel(&self, rank: u32) -> Option<&Channel> {
        if rank >= self.layout.ranks {
            return None;
        }
        // SAFETY: the channel lies within the mapping, which is never unmapped, and is aligned; any
        // bytes are a valid channel.
        Some(unsafe { &*self.base.as_ptr().add(self.layout.channel(rank) as usize).cast() })
    }

    /// Returns the address of an offset, which must lie within the memory.
    pub fn at(&self, place: Offset) -> *mut u8 {
        debug_assert!(place < self.mapped, "a place of the memory");
        self.base.as_ptr().wrapping_add(place as usize)
    }

    /// Gives whole pages between two offsets back to the system; they read as zeros then. Nobody
    /// may use them.
    pub(crate) fn release(&self, from: Offset, to: Offset) {
        let page = rustix::param::page_size() as u64;
        let (from, to) = (from.next_multiple_of(page), to / page * page);
        if from >= to {
            return;
        }
        let advice = if self.layout.private { Advice::LinuxDontNeed } else { Advice::LinuxRemove };
        if cfg!(miri) {
            // SAFETY: as below; these pages come from the allocator.
            return unsafe { self.at(from).write_bytes(0, (to - from) as usize) };
        }
        // SAFETY: pages of the mapping, which by contract nobody uses. If the system keeps them,
        // nothing is lost.
        let _ = unsafe { rustix::mm::madvise(self.at(from).cast(), (to - from) as usize, advice) };
    }

    /// Returns a word of a block; the offset must lie in one.
    pub fn word(&self, place: Offset) -> &'static AtomicU64 {
        debug_assert!(place.is_multiple_of(8), "words are aligned");
        // SAFETY: by contract a block's word, in a mapping that is never unmapped.
        unsafe { &*self.at(place).cast() }
    }
}

/// Memory for Miri, which interprets the tests to find undefined behaviour and knows neither files
/// in memory nor mappings that processes share. It comes from the allocator and is never freed, as
/// a mapping would be.
#[cfg(miri)]
impl Memory {
    /// Makes new memory; the file has nothing to do with it.
    pub fn new(ranks: u32) -> io::Result<(Self, OwnedFd)> {
        Ok((Self::allocated(Layout::new(ranks)), std::fs::File::open("/dev/null")?.into()))
    }

    /// Makes memory for ranks that are all in this process.
    pub fn private(ranks: u32) -> io::Result<Self> {
        Ok(Self::allocated(Layout { private: true, ..Layout::new(ranks) }))
    }

    fn allocated(layout: Layout) -> Self {
        let mapped = layout.least() + (16 << 20);
        let page = std::alloc::Layout::from_size_align(mapped as usize, PAGE as usize);
        // SAFETY: the size is not 0.
        let base = unsafe { std::alloc::alloc_zeroed(page.expect("a size")) };
        let memory = Self { base: NonNull::new(base).expect("memory"), mapped, layout };
        memory.begin();
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// The layout is a page, channels of a little more than 8 KiB, and chunks: few ranks take 64
    /// MiB at once, many ranks take less, so that there is enough for all.
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

    /// The size is halved until the memory fits. If it never does, the error names the limit.
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

    /// A process that has mapped less than others takes part as long as no more has been taken;
    /// nobody takes more from then on.
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
