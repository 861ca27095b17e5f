//! The stacks of ranks.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::{io, ptr};

use corosensei::stack::{Stack, StackPointer};

use crate::{large, next, ranks};

/// Bytes of a rank's stack at least, and of the stacks of all ranks together, if that is more for
/// each. Only what is used takes memory.
const STACK: usize = 1 << 20;
const STACKS: usize = 1 << 36;
/// A stack where the system sets no limit.
const UNLIMITED: usize = 1 << 30;
/// Bytes below a stack that cannot be touched.
const GUARD: usize = 1 << 16;
/// Guards that are mappings of their own, of which a process may not have many, are for at most so
/// many ranks.
const GUARDED: u32 = 8192;
/// `MADV_GUARD_INSTALL` of Linux 6.13: pages that cannot be touched, without a mapping of their
/// own.
const GUARD_INSTALL: c_int = 102;
const PAGE: usize = 4096;

thread_local! {
    /// The stacks of this thread's ranks.
    static OF_RANKS: Cell<Option<Stacks>> = const { Cell::new(None) };
}

/// A part of the memory of all stacks.
pub struct Part {
    base: StackPointer,
    limit: StackPointer,
}

// SAFETY: the memory from limit to base is this stack's alone, never unmapped, and below it is a
// guard where the system has such.
unsafe impl Stack for Part {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.limit
    }
}

/// Memory for stacks.
#[derive(Clone, Copy, Debug)]
pub struct Stacks {
    start: NonZeroUsize,
    ranks: u32,
    each: usize,
}

impl Stacks {
    /// For so many ranks: each as large as the system's limit of a process, as long as all together
    /// are not too large. Where a limited address space has no room for that, half of it, and so
    /// on, down to what each needs at least.
    pub fn new(ranks: u32) -> io::Result<Self> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a place for the limits.
        unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
        let most = usize::try_from(limit.rlim_cur).unwrap_or(UNLIMITED).min(UNLIMITED);
        let all = rank_ipc::share().and_then(|share| usize::try_from(share).ok());
        let share = all.unwrap_or(STACKS).min(STACKS) / ranks.max(1) as usize;
        let mut each = share.min(most).max(STACK).next_multiple_of(PAGE);
        let (start, length) = loop {
            let length = ranks as usize * each;
            if let Some(start) = mapped(length) {
                break (start, length);
            }
            if each <= STACK {
                let text = format!(
                    "the address space has no room for {} MiB of stacks of {ranks} ranks; is it \
                     limited (ulimit -v)?",
                    length >> 20
                );
                return Err(io::Error::new(io::ErrorKind::OutOfMemory, text));
            }
            each = (each / 2).max(STACK).next_multiple_of(PAGE);
        };
        // Where the system gives huge pages unasked, a stack that needs two pages would take two
        // MiB. SAFETY: the memory above. Systems without huge pages refuse.
        unsafe { libc::madvise(start, length, libc::MADV_NOHUGEPAGE) };
        let start = NonZeroUsize::new(start as usize).ok_or(io::ErrorKind::OutOfMemory)?;
        let stacks = Self { start, ranks, each };
        OF_RANKS.set(Some(stacks));
        Ok(stacks)
    }

    /// The address range of one of them, its guard included.
    const fn range(self, number: usize) -> Range<usize> {
        let start = self.start.get() + number * self.each;
        start..start + self.each
    }

    /// One of them.
    pub fn of(self, number: usize) -> io::Result<Part> {
        let Range { start, end } = self.range(number);
        let guard = start as *mut c_void;
        // SAFETY: the stack's lowest pages, which nobody uses. Older systems have no guards without
        // mappings: there, a stack that is too deep runs into the next if there are many.
        unsafe {
            if libc::madvise(guard, GUARD, GUARD_INSTALL) != 0 && self.ranks <= GUARDED {
                libc::mprotect(guard, GUARD, libc::PROT_NONE);
            }
        }
        let pointer = |address: usize| {
            StackPointer::new(address).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))
        };
        Ok(Part { base: pointer(end)?, limit: pointer(start + GUARD)? })
    }
}

/// So many bytes for stacks; `None` if there is no room.
fn mapped(length: usize) -> Option<*mut c_void> {
    let executable = if is_code() { libc::PROT_EXEC } else { 0 };
    let protection = libc::PROT_READ | libc::PROT_WRITE | executable;
    let map = |flags, file| {
        let flags = flags | libc::MAP_NORESERVE;
        // SAFETY: new memory, wherever the system likes.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, protection, flags, file, 0) };
        (start != libc::MAP_FAILED).then_some(start)
    };
    map(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).or_else(|| {
        // Where the system promises no more memory than it has (vm.overcommit_memory = 2), a file
        // counts as it is used.
        map(libc::MAP_SHARED, large::file(c"heddle-stacks", length).ok()?.as_raw_fd())
    })
}

/// True if the program or one of its libraries asks for stacks that can be executed: so compilers
/// call nested functions of C and internal procedures of Fortran that are handed on. What says
/// nothing of stacks asks for it as well.
fn is_code() -> bool {
    unsafe extern "C" fn asks(
        object: *mut libc::dl_phdr_info,
        _: usize,
        found: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader hands over a description of an object and its program headers.
        let headers = unsafe {
            let object = &*object;
            std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum))
        };
        let stack = headers.iter().find(|header| header.p_type == libc::PT_GNU_STACK);
        let asks = stack.is_none_or(|header| header.p_flags & libc::PF_X != 0);
        // SAFETY: what was handed to the loader below.
        unsafe { *found.cast::<bool>() |= asks };
        0
    }
    let mut found = false;
    // SAFETY: a function of this type, and what it writes to.
    unsafe { libc::dl_iterate_phdr(Some(asks), (&raw mut found).cast()) };
    found
}

/// True if a rank's stack is full, given that an address cannot be touched.
pub fn is_full(rank: usize, address: usize) -> bool {
    let range = OF_RANKS.get().map(|stacks| stacks.range(rank));
    range.is_some_and(|range| (range.start..range.start + GUARD).contains(&address))
}

/// The stacks of this thread's ranks.
pub fn known() -> Option<Stacks> {
    OF_RANKS.get()
}

/// This thread runs on one of these stacks.
pub fn know(stacks: Option<Stacks>) {
    OF_RANKS.set(stacks);
}

type Attributes = unsafe extern "C" fn(libc::pthread_t, *mut libc::pthread_attr_t) -> c_int;

/// Takes the place of the C library's: the stack of the thread that ranks run on is that of the
/// rank.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getattr_np(
    thread: libc::pthread_t,
    attributes: *mut libc::pthread_attr_t,
) -> c_int {
    let Some(real) = next::<Attributes>(c"pthread_getattr_np") else { return libc::ENOSYS };
    // SAFETY: passed on as it came.
    let failed = unsafe { real(thread, attributes) };
    // SAFETY: it only asks.
    let is_own = thread == unsafe { libc::pthread_self() };
    // Other threads of a rank have the stacks that the system gave them.
    let own = ranks::running().zip(OF_RANKS.get()).filter(|_| is_own && failed == 0);
    own.map_or(failed, |(rank, stacks)| {
        let Range { start, end } = stacks.range(rank);
        // SAFETY: attributes that were just filled in.
        unsafe {
            libc::pthread_attr_setstack(
                attributes,
                (start + GUARD) as *mut c_void,
                end - start - GUARD,
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stacks lie one behind the other, each with its guard below, and can be written from their
    /// limit to their base.
    #[test]
    fn stacks_are_apart() {
        let stacks = Stacks::new(3).expect("room for stacks");
        let mut end = 0;
        for rank in 0..3 {
            let part = stacks.of(rank).expect("a stack");
            let (base, limit) = (part.base().get(), part.limit().get());
            assert!(base - limit >= STACK - GUARD && limit - GUARD >= end, "rank {rank}");
            for place in [limit, base - 1] {
                let place = place as *mut u8;
                // SAFETY: a byte of the stack, which nobody uses.
                unsafe { *place = 1 };
            }
            assert!(is_full(rank, limit - 1) && is_full(rank, limit - GUARD));
            assert!(!is_full(rank, limit) && !is_full(rank, base));
            end = base;
        }
    }

    /// A rank's own stack is the thread's only while it runs: here the system's answer stays.
    #[test]
    fn attributes_of_a_thread() {
        let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::zeroed();
        let (mut start, mut length) = (ptr::null_mut(), 0);
        let here = 0_u8;
        // SAFETY: places for what is asked for.
        unsafe {
            assert_eq!(pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()), 0);
            let attributes = attributes.as_ptr();
            libc::pthread_attr_getstack(attributes, &raw mut start, &raw mut length);
        }
        assert!((start.addr()..start.addr() + length).contains(&ptr::from_ref(&here).addr()));
    }
}
