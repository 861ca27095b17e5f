//! Signals that end the process: which rank was running is said first.

use std::ffi::c_int;
use std::fmt::Write;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::{handlers, stacks, traps};

/// The rank that runs, or none.
static RUNNING: AtomicU32 = AtomicU32::new(NOBODY);
const NOBODY: u32 = u32::MAX;
/// Since when, in picoseconds of simulated time.
static NOW: AtomicU64 = AtomicU64::new(0);

const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "segmentation fault"),
    (libc::SIGBUS, "bus error"),
    (libc::SIGFPE, "arithmetic error"),
    (libc::SIGILL, "illegal instruction"),
    (libc::SIGABRT, "abort"),
];

/// Bytes of the stack of the handler: the rank's own may be what is full.
const STACK: usize = 1 << 16;

/// This rank runs from a moment of simulated time on.
pub fn runs(rank: u32, now: u64) {
    RUNNING.store(rank, Ordering::Relaxed);
    NOW.store(now, Ordering::Relaxed);
}

/// Notes that no rank runs.
pub fn rests() {
    RUNNING.store(NOBODY, Ordering::Relaxed);
}

/// Watches for the signals; those that end a command are not the ranks'. Where the system refuses,
/// they end the process without a word.
pub fn watch() {
    handlers::keep();
    stand_apart();
    for (signal, _) in SIGNALS {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: zeroes are an action without flags; the handler does what handlers may.
        unsafe {
            (*action.as_mut_ptr()).sa_sigaction = said as Handler as usize;
            (*action.as_mut_ptr()).sa_flags =
                libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_SIGINFO;
            libc::sigaction(signal, action.as_ptr(), ptr::null_mut());
        }
    }
}

/// Gives this thread a stack for handlers of signals.
pub fn stand_apart() {
    let memory = Box::leak(vec![0_u8; STACK].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
    // SAFETY: the memory lives as long as the process.
    unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
}

/// True if an action is that of this module.
pub fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == said as Handler as usize
}

type Handler = extern "C" fn(c_int, *const libc::siginfo_t, *mut libc::ucontext_t);

/// Says which rank it was, and when, and lets the signal do what it does.
extern "C" fn said(signal: c_int, about: *const libc::siginfo_t, context: *mut libc::ucontext_t) {
    // SAFETY: the system tells of the signal.
    if signal == libc::SIGSEGV && unsafe { traps::sprung(&*about, &mut *context) } {
        return;
    }
    let rank = RUNNING.load(Ordering::Relaxed);
    if rank != NOBODY {
        let name =
            SIGNALS.iter().find(|(known, _)| *known == signal).map_or("signal", |(_, name)| name);
        // SAFETY: the system tells of the signal.
        let address = unsafe { (*about).si_addr() }.addr();
        let full = signal == libc::SIGSEGV && stacks::is_full(rank as usize, address);
        let hint = if full { ": its stack is full, `ulimit -s` makes it larger" } else { "" };
        // `Time` would take memory to print itself, which may be what has failed.
        let now = NOW.load(Ordering::Relaxed);
        let (us, ps) = (now / 1_000_000, now % 1_000_000);
        // If nobody reads it, nothing can be done.
        let _ = writeln!(
            StandardError,
            "error: rank {rank} at {us}.{ps:06} us: it was ended by a signal ({name}{hint}), and \
             with it all that share its process"
        );
    }
    let default = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: zeros are the action that the system takes by itself.
    unsafe { libc::sigaction(signal, default.as_ptr(), ptr::null_mut()) };
    // SAFETY: it only sends the signal.
    unsafe { libc::pthread_kill(libc::pthread_self(), signal) };
}

/// Written without memory or locks.
struct StandardError;

impl Write for StandardError {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        // SAFETY: so many bytes are there.
        let written = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        if written < 0 { Err(std::fmt::Error) } else { Ok(()) }
    }
}
