//! The cores that a rank asks to run on. Its threads, or the one of all ranks, stay where the
//! system has them: what a rank has asked for is what it is told, so that programs that divide the
//! cores among their ranks find what they expect.

use std::cell::RefCell;
use std::ffi::c_int;
use std::slice;

use crate::{next, ranks};

type Set<Of> = unsafe extern "C" fn(Of, usize, *const u8) -> c_int;
type Get<Of> = unsafe extern "C" fn(Of, usize, *mut u8) -> c_int;

thread_local! {
    /// By rank, a bit for each core, if it has asked on this thread.
    static ASKED: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

/// The cores that a rank has asked for on this thread; empty if it has not.
pub fn asked(rank: usize) -> Box<[u8]> {
    ASKED.with_borrow(|all| all.get(rank).cloned().unwrap_or_default())
}

/// Notes what a rank has asked for on this thread.
pub fn note(rank: usize, cores: Box<[u8]>) {
    ASKED.with_borrow_mut(|all| {
        all.resize_with(all.len().max(rank + 1), Box::default);
        if let Some(own) = all.get_mut(rank) {
            *own = cores;
        }
    });
}

/// Most bytes of a set of cores: as large a one as the system may have.
const MOST: usize = 8192;

fn fails(error: c_int) -> c_int {
    // SAFETY: this thread's.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// The error that a call has left, as functions of POSIX threads give it.
fn error_of(result: c_int) -> c_int {
    // SAFETY: this thread's.
    if result == 0 { 0 } else { unsafe { *libc::__errno_location() } }
}

/// The rank that runs, if it is asked for its own thread.
fn own(thread: libc::pid_t) -> Option<usize> {
    // SAFETY: it only asks.
    ranks::running().filter(|_| thread == 0 || thread == unsafe { libc::gettid() })
}

fn is_own(thread: libc::pthread_t) -> bool {
    // SAFETY: it only asks.
    ranks::is_rank() && thread == unsafe { libc::pthread_self() }
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_setaffinity(
    thread: libc::pid_t,
    size: usize,
    cores: *const u8,
) -> c_int {
    let Some(rank) = own(thread) else {
        let real = next::<Set<libc::pid_t>>(c"sched_setaffinity");
        // SAFETY: passed on as it came.
        return real
            .map_or_else(|| fails(libc::ENOSYS), |real| unsafe { real(thread, size, cores) });
    };
    if cores.is_null() {
        return fails(libc::EFAULT);
    }
    // SAFETY: the caller's promise.
    let asked = unsafe { slice::from_raw_parts(cores, size.min(MOST)) };
    let mut there = [0; MOST];
    let real = next::<Get<libc::pid_t>>(c"sched_getaffinity");
    // SAFETY: so many bytes.
    let known = real.is_some_and(|real| unsafe { real(0, MOST, there.as_mut_ptr()) } == 0);
    if known && asked.iter().zip(&there).all(|(asked, there)| asked & there == 0) {
        return fails(libc::EINVAL);
    }
    note(rank, asked.into());
    0
}

/// Takes the place of the C library's: of the cores there are, those that the rank has asked for.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getaffinity(thread: libc::pid_t, size: usize, cores: *mut u8) -> c_int {
    let Some(real) = next::<Get<libc::pid_t>>(c"sched_getaffinity") else {
        return fails(libc::ENOSYS);
    };
    // SAFETY: passed on as it came.
    let result = unsafe { real(thread, size, cores) };
    let Some(rank) = own(thread).filter(|_| result == 0) else { return result };
    ASKED.with_borrow(|all| {
        let Some(asked) = all.get(rank).filter(|asked| !asked.is_empty()) else { return };
        // SAFETY: so many bytes have been filled in.
        let cores = unsafe { slice::from_raw_parts_mut(cores, size) };
        let asked = asked.iter().copied().chain(std::iter::repeat(0));
        cores.iter_mut().zip(asked).for_each(|(core, asked)| *core &= asked);
    });
    result
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setaffinity_np(
    thread: libc::pthread_t,
    size: usize,
    cores: *const u8,
) -> c_int {
    if is_own(thread) {
        // SAFETY: passed on as it came.
        return error_of(unsafe { sched_setaffinity(0, size, cores) });
    }
    let real = next::<Set<libc::pthread_t>>(c"pthread_setaffinity_np");
    // SAFETY: passed on as it came.
    real.map_or(libc::ENOSYS, |real| unsafe { real(thread, size, cores) })
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_getaffinity_np(
    thread: libc::pthread_t,
    size: usize,
    cores: *mut u8,
) -> c_int {
    if is_own(thread) {
        // SAFETY: passed on as it came.
        return error_of(unsafe { sched_getaffinity(0, size, cores) });
    }
    let real = next::<Get<libc::pthread_t>>(c"pthread_getaffinity_np");
    // SAFETY: passed on as it came.
    real.map_or(libc::ENOSYS, |real| unsafe { real(thread, size, cores) })
}
