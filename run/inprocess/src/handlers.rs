//! Actions that ranks want to happen on the signals that end a command.
//!
//! They are those of the simulator, which ends all ranks: a rank that catches or ignores them finds
//! what it has asked for, but what it asked for happens only when it sends itself such a signal
//! (`raise`, `kill`).

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::{next, ranks};

/// The time within which the process has ended after such a signal.
const PATIENCE: Duration = Duration::from_secs(1);

const SIGNALS: [c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// An action for each of the signals, if one was asked for.
type Asked = [Option<libc::sigaction>; SIGNALS.len()];

/// By rank.
static ASKED: Mutex<Vec<Asked>> = Mutex::new(Vec::new());
/// True if the signals are the simulator's.
static KEPT: AtomicBool = AtomicBool::new(false);

/// From now on, the signals stay as they are.
pub fn keep() {
    KEPT.store(true, Ordering::Release);
}

/// The number of a signal among those that end a command, if they are the simulator's.
fn kept(signal: c_int) -> Option<usize> {
    let number = SIGNALS.iter().position(|known| *known == signal)?;
    KEPT.load(Ordering::Acquire).then_some(number)
}

/// Returns the action that the running rank has asked for, and puts the one in its place that it
/// asks for now. A thread that it has started itself is taken for one of rank 0.
fn exchange(number: usize, new: Option<libc::sigaction>) -> Option<libc::sigaction> {
    let rank = ranks::running().unwrap_or(0);
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if asked.len() <= rank {
        asked.resize(rank + 1, Asked::default());
    }
    let own = asked.get_mut(rank)?.get_mut(number)?;
    let old = *own;
    *own = new.or(old);
    old
}

/// Zeros are the action that the system takes by itself.
fn by_default() -> libc::sigaction {
    // SAFETY: all of it is numbers and pointers that may be null.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

type Action = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
type Handle = unsafe extern "C" fn(c_int, libc::sighandler_t) -> libc::sighandler_t;
type Ignore = unsafe extern "C" fn(c_int) -> c_int;
type Kill = unsafe extern "C" fn(libc::pid_t, c_int) -> c_int;

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    let Some(number) = kept(signal) else {
        // SAFETY: passed on as it came.
        return next::<Action>(c"sigaction").map_or(-1, |real| unsafe { real(signal, new, old) });
    };
    // SAFETY: by contract null or an action.
    let before = exchange(number, unsafe { new.as_ref() }.copied()).unwrap_or_else(by_default);
    // SAFETY: by contract null or room for an action.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = before;
    }
    0
}

fn handle(name: &CStr, signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    let Some(number) = kept(signal) else {
        // SAFETY: passed on as it came.
        return next::<Handle>(name).map_or(libc::SIG_ERR, |real| unsafe { real(signal, handler) });
    };
    let new = libc::sigaction { sa_sigaction: handler, ..by_default() };
    exchange(number, Some(new)).map_or(libc::SIG_DFL, |old| old.sa_sigaction)
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
extern "C" fn signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    handle(c"signal", signal, handler)
}

/// Acts as `signal` does.
#[unsafe(no_mangle)]
extern "C" fn bsd_signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    handle(c"bsd_signal", signal, handler)
}

/// Acts as `signal` does.
#[unsafe(no_mangle)]
extern "C" fn __sysv_signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    handle(c"__sysv_signal", signal, handler)
}

/// Acts as `signal` does.
#[unsafe(no_mangle)]
extern "C" fn sigset(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    handle(c"sigset", signal, handler)
}

/// Acts as `signal` does.
#[unsafe(no_mangle)]
extern "C" fn sigignore(signal: c_int) -> c_int {
    if kept(signal).is_some() {
        handle(c"signal", signal, libc::SIG_IGN);
        return 0;
    }
    // SAFETY: passed on as it came.
    next::<Ignore>(c"sigignore").map_or(-1, |real| unsafe { real(signal) })
}

/// Carries out what a rank has asked for, on a signal that it sends itself; tells whether it has
/// asked for anything.
fn is_handled(signal: c_int) -> bool {
    let asked = kept(signal).filter(|_| ranks::is_rank()).and_then(|number| exchange(number, None));
    let Some(action) = asked.filter(|action| action.sa_sigaction != libc::SIG_DFL) else {
        return false;
    };
    if action.sa_sigaction != libc::SIG_IGN {
        // SAFETY: the program's function, of this type: those that take less do not see the rest.
        let handler: extern "C" fn(c_int, *const libc::siginfo_t, *const u8) =
            unsafe { std::mem::transmute(action.sa_sigaction) };
        // SAFETY: zeros are what is not known.
        let about = unsafe { MaybeUninit::<libc::siginfo_t>::zeroed().assume_init() };
        handler(signal, &raw const about, ptr::null());
    }
    true
}

/// A signal is sent to this process.
fn send(signal: c_int, send: impl FnOnce() -> c_int) -> c_int {
    if is_handled(signal) {
        return 0;
    }
    let failed = send();
    if kept(signal).is_some() && ranks::is_rank() {
        // It ends all ranks meanwhile, if it is not ignored.
        thread::sleep(PATIENCE);
    }
    failed
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
extern "C" fn raise(signal: c_int) -> c_int {
    // SAFETY: passed on as it came.
    let real = || next::<Ignore>(c"raise").map_or(-1, |real| unsafe { real(signal) });
    send(signal, real)
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
extern "C" fn kill(process: libc::pid_t, signal: c_int) -> c_int {
    // SAFETY: passed on as it came.
    let real = || next::<Kill>(c"kill").map_or(-1, |real| unsafe { real(process, signal) });
    // SAFETY: it only asks.
    if process == unsafe { libc::getpid() } { send(signal, real) } else { real() }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn handler(_: c_int) {}

    /// Before there are ranks, an action is the C library's; then what is asked for is kept by
    /// rank, and comes back, and the signal's own action stays.
    #[test]
    fn actions_of_ranks() {
        let signal_number = libc::SIGHUP;
        let own = handler as extern "C" fn(c_int) as libc::sighandler_t;
        // Whoever started the test may have it ignored.
        signal(signal_number, libc::SIG_DFL);
        assert_eq!(signal(signal_number, libc::SIG_IGN), libc::SIG_DFL);
        assert_eq!(signal(signal_number, libc::SIG_DFL), libc::SIG_IGN);
        keep();
        assert_eq!(signal(signal_number, own), libc::SIG_DFL);
        assert_eq!(signal(signal_number, libc::SIG_IGN), own);
        let mut old = by_default();
        // SAFETY: a place for the action.
        assert_eq!(unsafe { sigaction(signal_number, ptr::null(), &raw mut old) }, 0);
        assert_eq!(old.sa_sigaction, libc::SIG_IGN);
        // Of others, nothing is kept.
        assert_eq!((kept(libc::SIGUSR1), kept(libc::SIGTERM)), (None, Some(2)));
    }
}
