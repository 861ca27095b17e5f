//! Folded memory: the same memory for all ranks, so that what one writes, all read. Thousands of
//! ranks with large arrays need no more memory than one.
//!
//! A file without a name holds slots of 64 GiB each, of which only pages that are touched take
//! memory. Its first page says which block of the program has which slot; blocks are told apart by
//! a number that all ranks compute alike.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};

/// The environment variable with the descriptor of the file.
pub const FOLD: &str = "HEDDLE_FOLD";

/// Bytes of a slot.
const SLOT: usize = 1 << 36;
/// Number of slots: as many as there are words in a page.
const SLOTS: usize = 512;
const PAGE: usize = 4096;

/// The memory, mapped by a process.
#[derive(Debug)]
pub struct Fold {
    file: OwnedFd,
    base: *mut u8,
    owners: *const [AtomicU64; SLOTS],
    /// By slot, how many ranks of the process use it.
    used: Box<[AtomicU32]>,
}

// SAFETY: these are addresses of memory that lives as long as the process; what changes is atomic.
unsafe impl Send for Fold {}
// SAFETY: as above.
unsafe impl Sync for Fold {}

/// Makes a file for folded memory, which other processes may inherit.
pub fn file() -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("heddle-fold", MemfdFlags::empty())?;
    rustix::fs::ftruncate(&file, (PAGE + SLOTS * SLOT) as u64)?;
    Ok(file)
}

impl Fold {
    /// Maps the memory behind a descriptor that [`file`] made.
    ///
    /// # Safety
    /// The descriptor must be open and belong to nobody else.
    pub unsafe fn open(descriptor: i32) -> io::Result<Self> {
        // SAFETY: by contract.
        Self::new(unsafe { OwnedFd::from_raw_fd(descriptor) })
    }

    /// Maps the memory in a file that [`file`] made.
    pub fn new(file: OwnedFd) -> io::Result<Self> {
        let nothing = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: these are new mappings, at addresses of the kernel's choice.
        let (owners, base) = unsafe {
            let both = ProtFlags::READ | ProtFlags::WRITE;
            let owners = rustix::mm::mmap(ptr::null_mut(), PAGE, both, MapFlags::SHARED, &file, 0)?;
            let length = SLOTS * SLOT;
            (
                owners,
                rustix::mm::mmap_anonymous(ptr::null_mut(), length, ProtFlags::empty(), nothing)?,
            )
        };
        let used = (0..SLOTS).map(|_| AtomicU32::new(0)).collect();
        Ok(Self { file, base: base.cast(), owners: owners.cast(), used })
    }

    /// Returns the slot of a block: the same for all who ask with the same number, which is not 0.
    /// `None` if there are too many blocks.
    pub fn slot(&self, block: u64) -> Option<usize> {
        // SAFETY: the page is never unmapped, and all of it is words.
        let owners = unsafe { &*self.owners };
        let first = (block % SLOTS as u64) as usize;
        (first..first + SLOTS).map(|place| place % SLOTS).find(|place| {
            owners.get(*place).is_some_and(|owner| {
                let before = owner.compare_exchange(0, block, Ordering::AcqRel, Ordering::Acquire);
                before.map_or_else(|found| found == block, |_| true)
            })
        })
    }

    /// Maps this many bytes of a slot, for a rank that has none of it yet or wants another size.
    pub fn map(&self, slot: usize, bytes: usize, is_new: bool) -> io::Result<*mut u8> {
        let used =
            self.used.get(slot).filter(|_| bytes <= SLOT).ok_or(io::ErrorKind::OutOfMemory)?;
        let (protection, flags) = (
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED | MapFlags::NORESERVE | MapFlags::FIXED,
        );
        let (address, offset) = (self.base.wrapping_add(slot * SLOT), (PAGE + slot * SLOT) as u64);
        let length = bytes.max(1).next_multiple_of(PAGE);
        // SAFETY: the range lies within the mapping of this memory, which is for nothing else;
        // mapping again what is mapped already changes nothing.
        unsafe {
            rustix::mm::mmap(
                address.cast::<c_void>(),
                length,
                protection,
                flags,
                &self.file,
                offset,
            )
        }?;
        if is_new {
            used.fetch_add(1, Ordering::AcqRel);
        }
        Ok(address)
    }

    /// Notes that a rank no longer uses a slot.
    pub fn unmap(&self, slot: usize) {
        let Some(used) = self.used.get(slot) else { return };
        if used.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        let address = self.base.wrapping_add(slot * SLOT).cast();
        // SAFETY: as in `map`, and nobody uses the slot any more. If the kernel refuses, it stays
        // mapped, which does no harm.
        let _ = unsafe { rustix::mm::mmap_anonymous(address, SLOT, ProtFlags::empty(), flags) };
    }

    /// Returns the slot that an address lies in.
    pub fn holds(&self, address: *const u8) -> Option<usize> {
        let offset = (address as usize).checked_sub(self.base as usize)?;
        (offset < SLOTS * SLOT).then_some(offset / SLOT)
    }

    /// Returns the descriptor of the file.
    pub fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "files in memory")]
    fn blocks_are_the_same_for_all_who_map_them() -> io::Result<()> {
        let first = Fold::new(file()?)?;
        let second = Fold::new(first.file.try_clone()?)?;
        // 7 and 519 want the same slot: 7 = 519 % 512.
        let slots = [first.slot(7), second.slot(519), first.slot(519), second.slot(7)];
        assert_eq!(slots, [Some(7), Some(8), Some(8), Some(7)]);
        let (a, b) = (first.map(7, 10_000, true)?, second.map(7, 10_000, true)?);
        assert_ne!(a, b);
        // SAFETY: both are mapped for 10 000 bytes.
        unsafe {
            a.add(9999).write(42);
            assert_eq!(b.add(9999).read(), 42);
        }
        assert_eq!((first.holds(a), first.holds(b)), (Some(7), None));
        first.unmap(7);
        // The other has it still.
        // SAFETY: as above.
        assert_eq!(unsafe { b.add(9999).read() }, 42);
        Ok(())
    }

    #[test]
    #[cfg_attr(miri, ignore = "files in memory")]
    fn there_are_so_many_slots_and_no_more() -> io::Result<()> {
        let fold = Fold::new(file()?)?;
        let mut slots: Vec<_> = (1..=512).map(|block| fold.slot(block * 1000)).collect();
        slots.sort_unstable();
        assert_eq!(slots, (0..512).map(Some).collect::<Vec<_>>());
        assert_eq!(fold.slot(5), None);
        assert!(fold.map(0, SLOT + 1, true).is_err());
        Ok(())
    }
}
