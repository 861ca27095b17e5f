//! Stops the other threads of a rank while another rank runs, whose variables are then where
//! theirs were.
//!
//! A thread rests if it waits in MPI, or sleeps until a thread of its rank wakes it at an address
//! that other ranks do not have. Any other is stopped by a signal, in whose handler it waits: in
//! the program's code, or in a system call that a handler may interrupt. Elsewhere it may have a
//! lock that all ranks share, such as that of the C library's allocator: so it goes on, is soon
//! asked again, and before long stops when it comes back to the program's code ([`traps`]).
//!
//! Not modelled: a thread that stays for longer than [`PATIENCE`] where it cannot be stopped. It
//! goes on, and that is said.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, PoisonError};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

use heddle_mpi::thread_members::NO_CALL;
use heddle_mpi::thread_states::Restless;

use crate::own_threads::{self, Own, change};
use crate::{ranks, symbol, traps};

/// The time for which threads are asked to stop: at first, and once that was in vain.
const PATIENCE: Duration = Duration::from_secs(10);
const IN_VAIN: Duration = Duration::from_millis(50);
/// The time between two looks, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));
/// The time after which threads are also stopped in libraries that compute, and by traps.
const SOON: Duration = Duration::from_millis(1);
/// The time within which a thread that was woken falls asleep again.
const FALLS_ASLEEP: Duration = Duration::from_millis(1);

/// States of [`Own::stopped`].
pub const GO_ON: u32 = 0;
const STOP: u32 = 1;
const STOP_ANYWHERE: u32 = 2;

/// Libraries that compute or wait, and in which a thread may be stopped if need be.
const COMPUTING: &[&str] =
    &["libm.", "libgomp.", "libomp.", "libiomp", "libtbb", "libopenblas", "libblis", "libmkl"];

/// Functions of the C library in which a thread has no lock of that library.
const HARMLESS: [&std::ffi::CStr; 4] =
    [c"sched_yield", c"pthread_spin_lock", c"pthread_spin_trylock", c"pthread_mutex_trylock"];
/// Bytes of such a function, at most.
const SHORT: usize = 48;
static HARMLESS_AT: [AtomicUsize; HARMLESS.len()] = [const { AtomicUsize::new(0) }; HARMLESS.len()];

/// The signal.
pub fn signal() -> c_int {
    libc::SIGRTMAX() - 2
}

/// Threads are going to be stopped.
pub fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        for (place, name) in HARMLESS_AT.iter().zip(HARMLESS) {
            let found = symbol::<*const u8>(name).map_or(0, <*const u8>::addr);
            place.store(found, Ordering::Relaxed);
        }
        ranks::add_computing(COMPUTING);
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: zeroes are an action without flags; the handler does what handlers may.
        unsafe {
            (*action.as_mut_ptr()).sa_sigaction =
                stop as extern "C" fn(c_int, *const libc::siginfo_t, *mut libc::ucontext_t)
                    as usize;
            (*action.as_mut_ptr()).sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
            libc::sigaction(signal(), action.as_ptr(), ptr::null_mut());
        }
    });
}

/// System calls that a handler may interrupt: what they do not do, they do when they are asked
/// again.
const CALLS: &[i64] = &[
    libc::SYS_futex,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_pwait,
    libc::SYS_read,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_rt_sigtimedwait,
];
/// Further ones, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[i64] =
    &[libc::SYS_poll, libc::SYS_select, libc::SYS_epoll_wait, libc::SYS_pause];
#[cfg(target_arch = "aarch64")]
const OLD_CALLS: &[i64] = &[];

/// Asks a thread to stop, if it can where it is.
fn ask(own: &Own, thread: Restless) {
    let Restless { member, call } = thread;
    if call != NO_CALL && ![CALLS, OLD_CALLS].iter().any(|calls| calls.contains(&call)) {
        return;
    }
    member.call.store(call, Ordering::Relaxed);
    // SAFETY: a thread of this process, or none any more.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), member.thread, signal()) };
    if call == libc::SYS_futex {
        let mut sleepers = own.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        if sleepers.iter().all(|known| known.thread != member.thread) {
            sleepers.push(member);
        }
    }
}

/// Returns when the other threads of a rank, whose lock in MPI the calling one has, rest.
pub fn stop_others(own: &Own) {
    if own.members().count() == Some(1) {
        return;
    }
    let is_apart = |address: usize| !ranks::is_variable(address);
    let (since, mut pause) = (Instant::now(), PAUSES.0);
    for look in 0_u32.. {
        match own.threads.restless(&is_apart) {
            Some(found) if found.is_empty() => break,
            Some(found) => {
                let is_late = since.elapsed() > SOON;
                own.stopped.store(if is_late { STOP_ANYWHERE } else { STOP }, Ordering::Release);
                if is_late {
                    traps::set();
                }
                for thread in found {
                    ask(own, thread);
                }
            }
            None => {}
        }
        if since.elapsed() > if SAID.is_completed() { IN_VAIN } else { PATIENCE } {
            say(own);
            break;
        }
        if look < 4 {
            yield_now();
        } else {
            sleep(pause);
            pause = (2 * pause).min(PAUSES.1);
        }
    }
    traps::lift();
}

static SAID: Once = Once::new();

fn say(own: &Own) {
    SAID.call_once(|| {
        eprintln!(
            "warning: a thread of rank {} goes on while other ranks run, and may see their \
             variables: ranks share a process; without --in-process, each has its own",
            own.rank
        );
    });
}

/// The threads of a rank that were stopped go on. Those that slept sleep again when this returns,
/// as if they had never been woken, unless they have reason to be awake.
pub fn let_go(own: &Own) {
    if own.stopped.load(Ordering::Acquire) == GO_ON {
        return;
    }
    change(&own.stopped, GO_ON);
    let sleepers =
        std::mem::take(&mut *own.sleepers.lock().unwrap_or_else(PoisonError::into_inner));
    let (threads, since) = (own.threads, Instant::now());
    let is_one =
        |thread: &Restless| sleepers.iter().any(|sleeper| sleeper.thread == thread.member.thread);
    let stopped_at = own.stopped.as_ptr().addr();
    while !sleepers.is_empty() && since.elapsed() < FALLS_ASLEEP {
        let found = threads.restless(&|address| address != stopped_at);
        if found.is_some_and(|found| !found.iter().any(is_one)) {
            return;
        }
        yield_now();
    }
}

/// Registers of the processor, as the system saves them.
#[cfg(target_arch = "x86_64")]
const REG_RIP: usize = libc::REG_RIP as usize;
#[cfg(target_arch = "x86_64")]
const REG_RAX: usize = libc::REG_RAX as usize;

/// The place in a thread's code at which a signal has interrupted it.
#[cfg(target_arch = "x86_64")]
pub fn interrupted_at(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[REG_RIP].cast_unsigned() as usize
}
#[cfg(target_arch = "aarch64")]
pub fn interrupted_at(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.pc as usize
}

/// The instruction of a system call.
const CALL: &[u8] =
    if cfg!(target_arch = "x86_64") { &[0x0f, 0x05] } else { &[0x01, 0x00, 0x00, 0xd4] };

fn is_call(at: usize) -> bool {
    // SAFETY: code that runs, or lies before code that runs.
    let found = unsafe { std::slice::from_raw_parts(at as *const u8, CALL.len()) };
    found == CALL
}

/// True if the calling thread may be stopped where it was interrupted.
fn may_stop(at: usize, call: i64, how: u32) -> bool {
    if ranks::is_of_program(at as *mut c_void) {
        return true;
    }
    if call != NO_CALL {
        // To be asked again, or over.
        return is_call(at) || is_call(at - CALL.len());
    }
    let is_in = |place: &AtomicUsize| {
        let start = place.load(Ordering::Relaxed);
        start != 0 && (start..start + SHORT).contains(&at)
    };
    HARMLESS_AT.iter().any(is_in) || how == STOP_ANYWHERE && ranks::is_computing(at)
}

/// A thread of a rank is interrupted: waits until the rank runs again, if it may be stopped here.
extern "C" fn stop(_: c_int, _: *const libc::siginfo_t, context: *mut libc::ucontext_t) {
    let Some((own, member)) = own_threads::known().zip(own_threads::member()) else { return };
    // SAFETY: the system's, and this thread's.
    let (context, error) = unsafe { (&mut *context, *libc::__errno_location()) };
    let call = member.call.load(Ordering::Relaxed);
    let mut has_stopped = false;
    loop {
        let how = own.stopped.load(Ordering::Acquire);
        if how == GO_ON || !may_stop(interrupted_at(context), call, how) {
            break;
        }
        has_stopped = true;
        own_threads::wait_while(&own.stopped, how);
    }
    if has_stopped {
        ask_again(context, call);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
}

/// A system call that was interrupted is asked again where that is what the program would have
/// waited for: its end is said in absolute time, or what is left of it is where it is asked from.
#[cfg(target_arch = "x86_64")]
fn ask_again(context: &mut libc::ucontext_t, call: i64) {
    let interrupted = -i64::from(libc::EINTR);
    let at = interrupted_at(context);
    let registers = &mut context.uc_mcontext.gregs;
    let register = |name: c_int| usize::try_from(name).map_or(0, |name| registers[name]);
    if call == NO_CALL || register(libc::REG_RAX) != interrupted || !is_call(at - CALL.len()) {
        return;
    }
    let third = register(libc::REG_RDX);
    let is_same = match call {
        libc::SYS_futex | libc::SYS_select | libc::SYS_ppoll | libc::SYS_pselect6 => true,
        libc::SYS_nanosleep => register(libc::REG_RDI) == register(libc::REG_RSI),
        libc::SYS_clock_nanosleep => {
            register(libc::REG_RSI) == i64::from(libc::TIMER_ABSTIME)
                || third == register(libc::REG_R10)
        }
        libc::SYS_poll => third as i32 == -1,
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => register(libc::REG_R10) as i32 == -1,
        _ => false,
    };
    if is_same {
        registers[REG_RIP] -= CALL.len().cast_signed() as i64;
        registers[REG_RAX] = call;
    }
}

/// The first argument of the call is gone.
#[cfg(target_arch = "aarch64")]
fn ask_again(_: &mut libc::ucontext_t, _: i64) {}
