//! Threads that ranks start themselves. While another rank runs, they would see its variables in
//! place of their own: they are stopped if their rank has asked for threads that call MPI
//! ([`own_threads`]); else, that is said.
//!
//! Threads of libraries whose variables all ranks share, such as OpenMP's and OpenBLAS's, wait
//! while their rank is in MPI, and see nothing.

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use heddle_mpi::threads::me;

use crate::own_threads::{self, Own};
use crate::{next, ranks};

type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Routine,
    *mut c_void,
) -> c_int;
/// The function of a thread of C11.
type Function = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type CreateOfC = unsafe extern "C" fn(*mut libc::c_ulong, Function, *mut c_void) -> c_int;

/// The threads of all ranks that have not ended, and those of each.
static ALL: AtomicUsize = AtomicUsize::new(0);
static OF: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The arguments of a new thread.
struct Begin<F> {
    rank: usize,
    function: F,
    argument: *mut c_void,
}

/// One thread of a rank more, or less.
fn count(rank: usize, change: impl Fn(usize) -> usize) {
    let mut of = OF.lock().unwrap_or_else(PoisonError::into_inner);
    let known = of.len();
    of.resize(known.max(rank + 1), 0);
    if let Some(own) = of.get_mut(rank) {
        *own = change(*own);
    }
    ALL.store(of.iter().sum(), Ordering::Relaxed);
}

/// The key whose value is, in a thread of a rank, the rank's number and one: when it is destructed
/// the thread ends, in whatever way.
fn key() -> Option<libc::pthread_key_t> {
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    unsafe extern "C" fn ended(value: *mut c_void) {
        let rank = value.addr() - 1;
        count(rank, |own| own.saturating_sub(1));
        // Nobody looks for those of other ranks.
        if let Some(own) = own_threads::of_rank(rank).filter(|own| !own.has_moved()) {
            own.members().remove(me());
        }
    }
    *KEY.get_or_init(|| {
        type Create = unsafe extern "C" fn(
            *mut libc::pthread_key_t,
            unsafe extern "C" fn(*mut c_void),
        ) -> c_int;
        let mut key = 0;
        // The C library's own, since ranks have their keys in common.
        let real = next::<Create>(c"pthread_key_create")?;
        // SAFETY: a place for the key.
        (unsafe { real(&raw mut key, ended) } == 0).then_some(key)
    })
}

/// True if a thread of this function is the program's: not if it is of a library whose variables
/// all ranks share. Threads of C++ run a function of its library, which is given an object of the
/// program's class.
fn is_of_program(function: Routine, argument: *mut c_void) -> bool {
    if ranks::is_of_program(function as *mut c_void) {
        return true;
    }
    let mut about = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: it only asks; the name is the linker's.
    let name = unsafe {
        if libc::dladdr(function as *const c_void, about.as_mut_ptr()) == 0 {
            return false;
        }
        CStr::from_ptr(about.assume_init().dli_fname).to_bytes()
    };
    let is_of_language = name.rsplit(|byte| *byte == b'/').next();
    let is_of_language = is_of_language.is_some_and(|name| name.starts_with(b"libstdc++."));
    // SAFETY: that library's object, which begins with the table of its class's functions.
    is_of_language && !argument.is_null() && ranks::is_of_program(unsafe { *argument.cast() })
}

/// The rank that the calling thread starts a thread of this function for, if it is the program's,
/// or its rank has threads of its own.
fn rank(is_of_program: impl FnOnce() -> bool) -> Option<usize> {
    if let Some(own) = own_threads::known() {
        return (own.has_moved() || is_of_program()).then_some(own.rank);
    }
    ranks::running().filter(|_| is_of_program())
}

/// The first of a thread of a rank.
fn begins<F: Copy>(given: *mut c_void) -> (F, *mut c_void) {
    // SAFETY: what was made for this thread.
    let Begin { rank, function, argument } = *unsafe { Box::from_raw(given.cast::<Begin<F>>()) };
    if let Some(own) = own_threads::of_rank(rank) {
        own_threads::join(own);
        own.members().arrived();
    }
    if let Some(key) = key() {
        // SAFETY: a key that was created.
        unsafe { libc::pthread_setspecific(key, ptr::without_provenance(rank + 1)) };
    }
    (function, argument)
}

unsafe extern "C-unwind" fn run(given: *mut c_void) -> *mut c_void {
    let (function, argument) = begins::<Routine>(given);
    // SAFETY: as the program has asked for.
    unsafe { function(argument) }
}

unsafe extern "C-unwind" fn run_of_c(given: *mut c_void) -> c_int {
    let (function, argument) = begins::<Function>(given);
    // SAFETY: as the program has asked for.
    unsafe { function(argument) }
}

/// Starts a thread of a rank, by what takes what it begins with.
fn start<F>(begin: Begin<F>, create: impl FnOnce(*mut c_void) -> c_int) -> c_int {
    let rank = begin.rank;
    let given = Box::into_raw(Box::new(begin));
    count(rank, |own| own + 1);
    let own = own_threads::of_rank(rank);
    if let Some(own) = own {
        own.members().announce();
    }
    let failed = create(given.cast());
    if failed != 0 {
        if let Some(own) = own {
            own.members().arrived();
        }
        count(rank, |own| own.saturating_sub(1));
        // SAFETY: made above; no thread has it.
        drop(unsafe { Box::from_raw(given) });
    }
    failed
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    function: Routine,
    argument: *mut c_void,
) -> c_int {
    let Some(real) = next::<Create>(c"pthread_create") else { return libc::EAGAIN };
    match rank(|| is_of_program(function, argument)) {
        Some(rank) => start(Begin { rank, function, argument }, |given| {
            // SAFETY: passed on, around the program's function.
            unsafe { real(thread, attributes, run, given) }
        }),
        // SAFETY: passed on as it came.
        None => unsafe { real(thread, attributes, function, argument) },
    }
}

/// Takes the place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_create(
    thread: *mut libc::c_ulong,
    function: Function,
    argument: *mut c_void,
) -> c_int {
    /// `thrd_error`.
    const FAILED: c_int = 2;
    let Some(real) = next::<CreateOfC>(c"thrd_create") else { return FAILED };
    match rank(|| ranks::is_of_program(function as *mut c_void)) {
        Some(rank) => start(Begin { rank, function, argument }, |given| {
            // SAFETY: as above.
            unsafe { real(thread, run_of_c, given) }
        }),
        // SAFETY: passed on as it came.
        None => unsafe { real(thread, function, argument) },
    }
}

/// Another rank runs from now on: says, once, if this one has threads that go on.
pub fn leaves(rank: usize) {
    static SAID: Once = Once::new();
    let has_moved = own_threads::of_rank(rank).is_some_and(Own::has_moved);
    if has_moved || ALL.load(Ordering::Relaxed) == 0 {
        return;
    }
    let own = OF.lock().unwrap_or_else(PoisonError::into_inner).get(rank).copied().unwrap_or(0);
    let (threads, go) = if own == 1 { ("thread", "goes") } else { ("threads", "go") };
    if own > 0 {
        SAID.call_once(|| {
            eprintln!(
                "warning: {own} {threads} of rank {rank} {go} on while other ranks run, and may \
                 see their variables: ranks share a process; without --in-process, each has its own"
            );
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C-unwind" fn answers(argument: *mut c_void) -> *mut c_void {
        argument.wrapping_byte_add(1)
    }

    /// Threads are counted by rank, and the count of none does not fall below zero.
    #[test]
    fn threads_are_counted_by_rank() {
        count(5, |own| own + 1);
        count(3, |own| own + 2);
        let of = |rank: usize| OF.lock().expect("counts").get(rank).copied().unwrap_or(0);
        assert_eq!((of(3), of(5), of(4)), (2, 1, 0));
        assert!(ALL.load(Ordering::Relaxed) >= 3);
        count(3, |own| own.saturating_sub(5));
        count(5, |own| own - 1);
        assert_eq!((of(3), of(5)), (0, 0));
    }

    /// Outside of ranks a thread is the C library's.
    #[test]
    fn threads_of_nobody() {
        let mut thread = 0;
        let mut result = ptr::null_mut();
        // SAFETY: a function that takes any argument, and places for what comes back.
        unsafe {
            let argument = ptr::without_provenance_mut(41);
            assert_eq!(pthread_create(&raw mut thread, ptr::null(), answers, argument), 0);
            assert_eq!(libc::pthread_join(thread, &raw mut result), 0);
        }
        assert_eq!(result.addr(), 42);
    }
}
