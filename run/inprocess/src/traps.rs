//! Traps in the program's code: while they are set, a thread that comes back to the code from a
//! library is interrupted there.
//!
//! A thread that is mostly in the C library is seldom found anywhere else by a signal that comes at
//! any time. The code cannot be run while traps are set; so nobody sets them while a thread runs
//! that is not to stop.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use heddle_mpi::threads::me;

use crate::own_threads::{self, Own};
use crate::{ranks, signals, stops};

/// The thread that has set the traps, by the kernel's number; 0 if they are not set.
static SET_BY: AtomicU32 = AtomicU32::new(0);

/// The parts of the code in which traps are not set, a bit for each: the thread that sets them runs
/// there itself, where a library stands in for functions of the C library.
static WITHOUT: AtomicU64 = AtomicU64::new(0);

/// The code of an address that cannot be run.
const NOT_ALLOWED: c_int = 2;

/// Sets the traps, for other threads than the calling one, unless the program handles the signal
/// itself.
pub fn set() {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a place for the action, of which zeros are one.
    let action = unsafe {
        libc::sigaction(libc::SIGSEGV, ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    if SET_BY.load(Ordering::Acquire) == 0 && signals::is_ours(&action) {
        SET_BY.store(me(), Ordering::Release);
        protect(libc::PROT_READ);
    }
}

/// Lifts the traps, if they are set.
pub fn lift() {
    if SET_BY.load(Ordering::Acquire) != 0 {
        protect(libc::PROT_READ | libc::PROT_EXEC);
        SET_BY.store(0, Ordering::Release);
    }
}

fn protect(how: c_int) {
    let without = WITHOUT.load(Ordering::Relaxed);
    for (number, code) in ranks::code().iter().enumerate() {
        if number >= 64 || without & 1 << number != 0 {
            continue;
        }
        // SAFETY: pages of the program's code, which is not changed.
        unsafe { libc::mprotect(code.start as *mut c_void, code.len(), how) };
    }
}

/// A thread was interrupted at an address: true if that was by a trap, and then it has stopped
/// until its rank goes on.
pub fn sprung(about: &libc::siginfo_t, context: &mut libc::ucontext_t) -> bool {
    let at = stops::interrupted_at(context);
    // SAFETY: the system tells of the signal.
    let address = unsafe { about.si_addr() }.addr();
    let part = ranks::code().iter().position(|code| code.contains(&at));
    let Some(part) = part.filter(|_| about.si_code == NOT_ALLOWED && at == address) else {
        return false;
    };
    if SET_BY.load(Ordering::Acquire) == me() {
        lift();
        WITHOUT.fetch_or(1 << part.min(63), Ordering::Relaxed);
    } else if let Some(own) = own_threads::known() {
        stop(own);
    }
    true
}

fn stop(own: &Own) {
    loop {
        let how = own.stopped.load(Ordering::Acquire);
        if how == stops::GO_ON {
            break;
        }
        own_threads::wait_while(&own.stopped, how);
    }
}
