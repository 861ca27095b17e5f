//! The part of a rank's state that is reached without a guard, and the pointer to the state of the
//! rank that runs.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use rank_ipc::Client;

use super::Mpi;
use crate::extra::Folded;
use crate::threads::{Threads, me};

/// The fields of a rank's state that any thread may look at, in a call or outside of one: an
/// allocator and the clocks of the host are asked at any time.
#[derive(Debug, Default)]
pub struct Unguarded {
    /// The thread that holds the state, by its [`thread_pointer`]; 0 if none does.
    pub(super) holder: AtomicUsize,
    /// The rank's first thread, by the kernel's number; 0 before `MPI_Init`.
    main_thread: AtomicU32,
    /// The number of calls that the rank's first thread is in: more than one where a function that
    /// MPI calls, calls MPI. Only that thread changes it.
    depth: AtomicU32,
    /// The rank's threads.
    pub threads: Threads,
    /// The folded memory that the rank uses, if it has asked for any.
    pub folded: OnceLock<Box<Folded>>,
}

/// The state of the rank that is running. The holder of several ranks changes it.
#[cfg(not(test))]
static CURRENT: AtomicPtr<Mpi> = AtomicPtr::new(std::ptr::null_mut());

// Where ranks are threads.
#[cfg(test)]
thread_local! {
    static CURRENT: AtomicPtr<Mpi> = const { AtomicPtr::new(std::ptr::null_mut()) };
}

/// Does something with the place of the pointer to the running rank's state.
#[inline]
fn with_current<T>(act: impl FnOnce(&AtomicPtr<Mpi>) -> T) -> T {
    #[cfg(not(test))]
    return act(&CURRENT);
    #[cfg(test)]
    return CURRENT.with(act);
}

/// Makes `rank`, a state that is never freed, the state of the rank that runs. The holder of
/// several ranks calls it before it lets another one run.
pub fn run_as(rank: *mut Mpi) {
    with_current(|current| current.store(rank, Ordering::Release));
}

/// Returns the pointer to the state of the rank that runs; null if it has none yet.
#[inline]
pub(super) fn current() -> *mut Mpi {
    with_current(|current| current.load(Ordering::Acquire))
}

/// Returns the unguarded fields of the running rank's state, which is made if there is none.
#[inline]
pub fn unguarded() -> &'static Unguarded {
    unguarded_if_made().unwrap_or_else(first)
}

/// Returns the unguarded fields of the running rank's state, if it has a state.
#[inline]
pub fn unguarded_if_made() -> Option<&'static Unguarded> {
    // SAFETY: null, or a state that is never freed. These fields are atomic.
    unsafe { current().as_ref() }.map(|rank| &rank.unguarded)
}

/// Makes the state of a rank that has none yet. It is made by itself, as every function of MPI
/// would have room for it on its stack.
#[cold]
#[inline(never)]
fn first() -> &'static Unguarded {
    let made = Box::into_raw(Box::<Mpi>::default());
    let null = std::ptr::null_mut();
    let known = with_current(|current| {
        current.compare_exchange(null, made, Ordering::AcqRel, Ordering::Acquire)
    });
    let rank = match known {
        Ok(_) => made,
        Err(other) => {
            // SAFETY: made above, and nobody knows of it.
            drop(unsafe { Box::from_raw(made) });
            other
        }
    };
    // SAFETY: a state that is never freed, of which these fields are atomic.
    unsafe { &(*rank).unguarded }
}

/// Returns the simulated time of the last reply of the simulator, in picoseconds; 0 before there is
/// one. Any thread may ask at any time.
pub fn time_of_last_reply() -> u64 {
    // SAFETY: null, or a state that is never freed. The client is set once and for all, and its
    // time is atomic.
    unsafe { current().as_ref() }.and_then(|rank| rank.port.get()).map_or(0, Client::time)
}

/// Gives the running rank, which is in no call, a thread of its own if it needs one; returns
/// whether it has done so ([`Client`]).
#[inline(never)]
pub fn move_to_own_thread() -> bool {
    // SAFETY: null, or a state that is never freed. The client is set once and for all, and what is
    // called looks at nothing in it that changes.
    let port = unsafe { current().as_ref() }.and_then(|rank| rank.port.get());
    port.is_some_and(Client::move_to_own_thread)
}

impl Unguarded {
    /// True if the calling thread holds the state.
    #[inline(always)]
    pub fn is_held_here(&self) -> bool {
        self.holder.load(Ordering::Relaxed) == thread_pointer()
    }

    /// True if the calling thread is the one that called `MPI_Init`.
    pub fn is_main_thread(&self) -> bool {
        self.main_thread.load(Ordering::Relaxed) == me()
    }

    /// Makes the calling thread the rank's first.
    pub fn set_main_thread(&self) {
        self.main_thread.store(me(), Ordering::Relaxed);
    }

    /// True if the rank's first thread is in the library. If that thread asks, it is an allocator,
    /// say, or handles a signal.
    pub fn is_inside(&self) -> bool {
        self.depth.load(Ordering::Relaxed) > 0
    }

    /// Counts the calling thread, whose number is `me`, as one that is in the library, if it is the
    /// rank's first, as long as the result lives.
    #[inline]
    pub fn deeper(&'static self, me: u32) -> Deeper {
        let first = (self.main_thread.load(Ordering::Relaxed) == me).then_some(self);
        if let Some(first) = first {
            first.depth.store(first.depth.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        Deeper(first)
    }
}

/// The rank's first thread is in the library as long as this lives.
#[derive(Debug)]
pub struct Deeper(Option<&'static Unguarded>);

impl Drop for Deeper {
    fn drop(&mut self) {
        if let Some(first) = self.0 {
            let depth = first.depth.load(Ordering::Relaxed).saturating_sub(1);
            first.depth.store(depth, Ordering::Relaxed);
        }
    }
}

/// Returns a number that the calling thread has and no other thread that lives: the thread pointer
/// of the processor, which takes one instruction to read.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux", not(miri)))]
#[inline(always)]
pub(super) fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: on x86-64, the first word behind `fs` is the thread pointer itself, by the ABI for
    // storage of threads (ELF Handling For Thread-Local Storage, version 0.21, section 3.4.6); on
    // aarch64, the register holds it. Nothing is changed.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "mov {}, fs:0", out(reg) pointer, options(pure, readonly, nostack, preserves_flags)
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "mrs {}, tpidr_el0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags)
        );
    }
    pointer
}

/// Returns a number that the calling thread has and no other thread that lives: the address of a
/// variable of the thread.
#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_os = "linux",
    not(miri)
)))]
pub(super) fn thread_pointer() -> usize {
    thread_local! {
        static MINE: u8 = const { 0 };
    }
    MINE.with(|mine| std::ptr::from_ref(mine).addr())
}
