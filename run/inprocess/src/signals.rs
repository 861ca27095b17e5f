//! Signals that end the process: which rank was running is said first.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The rank that runs, or none.
static RUNNING: AtomicU32 = AtomicU32::new(NOBODY);
const NOBODY: u32 = u32::MAX;
/// From where to where the stacks of ranks are.
static STACKS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "segmentation fault"),
    (libc::SIGBUS, "bus error"),
    (libc::SIGFPE, "arithmetic error"),
    (libc::SIGILL, "illegal instruction"),
    (libc::SIGABRT, "abort"),
];

/// Bytes of the stack of the handler: the rank's own may be what is full.
const STACK: usize = 1 << 16;

/// This rank runs from now on, or none.
pub fn runs(rank: Option<u32>) {
    RUNNING.store(rank.unwrap_or(NOBODY), Ordering::Relaxed);
}

/// Watches for the signals. Where the system refuses, they end the process without a word.
pub fn watch(stacks: &Range<usize>) {
    for (known, place) in STACKS.iter().zip([stacks.start, stacks.end]) {
        known.store(place, Ordering::Relaxed);
    }
    let memory = Box::leak(vec![0_u8; STACK].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
    // SAFETY: the memory lives as long as the process.
    unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
    for (signal, _) in SIGNALS {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: zeroes are an action without flags; the handler does what handlers may.
        unsafe {
            (*action.as_mut_ptr()).sa_sigaction =
                said as extern "C" fn(c_int, *const libc::siginfo_t, *mut c_void) as usize;
            (*action.as_mut_ptr()).sa_flags =
                libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_SIGINFO;
            libc::sigaction(signal, action.as_ptr(), ptr::null_mut());
        }
    }
}

/// Says which rank it was and lets the signal do what it does.
extern "C" fn said(signal: c_int, about: *const libc::siginfo_t, _: *mut c_void) {
    let rank = RUNNING.load(Ordering::Relaxed);
    if rank != NOBODY {
        let name =
            SIGNALS.iter().find(|(known, _)| *known == signal).map_or("signal", |(_, name)| name);
        say("error: rank ");
        let mut digits = [0_u8; 10];
        let (mut rest, mut place) = (rank, digits.len());
        loop {
            place -= 1;
            if let Some(digit) = digits.get_mut(place) {
                *digit = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 || place == 0 {
                break;
            }
        }
        say(std::str::from_utf8(digits.get(place..).unwrap_or_default()).unwrap_or_default());
        say(" was ended by a signal (");
        say(name);
        let [start, end] = [&STACKS[0], &STACKS[1]].map(|place| place.load(Ordering::Relaxed));
        // SAFETY: the system tells of the signal.
        let address = unsafe { (*about).si_addr() }.addr();
        if signal == libc::SIGSEGV && (start..end).contains(&address) {
            say(": its stack is full, `ulimit -s` makes it larger");
        }
        say("), and with it all that share its process\n");
    }
    // SAFETY: the default action is back in place.
    unsafe { libc::raise(signal) };
}

/// Writes to standard error without memory or locks.
fn say(text: &str) {
    // SAFETY: so many bytes are there. If nobody reads them, nothing can be done.
    let _ = unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}
