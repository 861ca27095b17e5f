//! The ends of ranks: what they have registered, their destructors, and the streams of the
//! languages.

use std::ffi::{CStr, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{next, own_threads, ranks, symbol};

type Handler = unsafe extern "C" fn(*mut c_void);
type Register = unsafe extern "C" fn(Handler, *mut c_void, *mut c_void) -> c_int;

/// The functions that a rank has registered: for its end, and for that of its thread, which comes
/// first.
type Registered = [Vec<(Handler, usize)>; 2];

/// By rank.
static HANDLERS: Mutex<Vec<Registered>> = Mutex::new(Vec::new());

fn handlers() -> MutexGuard<'static, Vec<Registered>> {
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers for the running rank, if one runs that the object is of.
fn register(list: usize, handler: Handler, argument: *mut c_void, object: *mut c_void) -> bool {
    let rank = ranks::running().filter(|_| ranks::is_of_program(object));
    rank.is_some_and(|rank| {
        let mut handlers = handlers();
        if handlers.len() <= rank {
            handlers.resize_with(rank + 1, Default::default);
        }
        let own = handlers.get_mut(rank).and_then(|own| own.get_mut(list));
        own.map(|own| own.push((handler, argument.addr()))).is_some()
    })
}

/// Passes a function that is no rank's on to the C library.
fn pass_on(name: &CStr, handler: Handler, argument: *mut c_void, object: *mut c_void) -> c_int {
    let Some(real) = next::<Register>(name) else { return -1 };
    // SAFETY: passed on as it came.
    unsafe { real(handler, argument, object) }
}

/// Takes the place of the C library's, for destructors of thread-local variables.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_thread_atexit_impl(
    handler: Handler,
    argument: *mut c_void,
    object: *mut c_void,
) -> c_int {
    // Other threads of a rank end by themselves.
    let is_first = own_threads::known().is_none() || own_threads::is_first();
    if is_first && register(1, handler, argument, object) {
        return 0;
    }
    pass_on(c"__cxa_thread_atexit_impl", handler, argument, object)
}

/// Takes the place of the C library's, for `atexit` and destructors of variables: what ranks
/// register in the program runs when each of them ends, with its own variables in place.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_atexit(
    handler: Handler,
    argument: *mut c_void,
    object: *mut c_void,
) -> c_int {
    if register(0, handler, argument, object) {
        return 0;
    }
    if std::env::var_os(cli::INSIDE).is_some() {
        // Libraries, before there are ranks: their variables become those of ranks, and are
        // constructed once more for each.
        return 0;
    }
    pass_on(c"__cxa_atexit", handler, argument, object)
}

/// The running rank leaves its `main`, or has called `exit`.
pub fn leave(rank: usize, destructors: &[extern "C" fn()]) {
    let last = || {
        let mut handlers = handlers();
        let [own, of_thread] = handlers.get_mut(rank)?;
        of_thread.pop().or_else(|| own.pop())
    };
    while let Some((handler, argument)) = last() {
        // SAFETY: as the program has asked for. It may register more.
        unsafe { handler(argument as *mut c_void) };
    }
    for destructor in destructors {
        destructor();
    }
    flush_streams();
}

/// Flushes the streams of C++, of which a rank may have its own.
fn flush_streams() {
    // `std::ostream::flush`.
    let flush: Option<extern "C" fn(*mut c_void) -> *mut c_void> = symbol(c"_ZNSo5flushEv");
    let Some(flush) = flush else { return };
    for stream in [c"_ZSt4cout", c"_ZSt4cerr", c"_ZSt4clog"] {
        if let Some(stream) = symbol(stream) {
            flush(stream);
        }
    }
}

/// Constructs the streams of C++. Its library does that only once, for whoever comes first, but
/// each rank may have its own.
pub fn construct_streams() {
    // The constructor of `std::ios_base::Init`, which has no members.
    let init: Option<extern "C" fn(*mut u8)> = symbol(c"_ZNSt8ios_base4InitC1Ev");
    if let Some(init) = init {
        init(Box::leak(Box::new(0)));
    }
}

/// Takes the place of `std::ios_base::sync_with_stdio`, which would take away from all ranks but
/// the first what their streams write to: they stay as they are.
#[unsafe(export_name = "_ZNSt8ios_base15sync_with_stdioEb")]
extern "C" fn sync_with_stdio(_: bool) -> bool {
    true
}
