//! The start of the program, and the end of its ranks.

use std::cell::Cell;
use std::ffi::{CStr, CString, OsString, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use live::{Launch, Runner};

use crate::ranks::{self, Main, Ranks};
use crate::{descriptors, next};

type Init = extern "C" fn(c_int, *mut *mut i8, *mut *mut i8);
type Start = unsafe extern "C" fn(
    Main,
    c_int,
    *mut *mut i8,
    Option<Init>,
    Option<extern "C" fn()>,
    Option<extern "C" fn()>,
    *mut c_void,
) -> c_int;

/// The process in which ranks run.
static PROCESS: AtomicI32 = AtomicI32::new(0);

thread_local! {
    /// The program's `main`.
    static MAIN: Cell<Option<Main>> = const { Cell::new(None) };
}

/// Takes the place of the C library's: the program's `main` runs once for each rank.
#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_start_main(
    main: Main,
    number: c_int,
    words: *mut *mut i8,
    init: Option<Init>,
    fini: Option<extern "C" fn()>,
    rtld_fini: Option<extern "C" fn()>,
    stack_end: *mut c_void,
) -> c_int {
    let Some(real) = next::<Start>(c"__libc_start_main") else { std::process::abort() };
    if std::env::var_os(cli::INSIDE).is_none() {
        // SAFETY: passed on as it came.
        return unsafe { real(main, number, words, init, fini, rtld_fini, stack_end) };
    }
    MAIN.set(Some(main));
    // The executable's constructors run for each rank: with a function in their place, the C
    // library leaves them alone. SAFETY: passed on, with functions of the same types.
    unsafe { real(simulate, number, words, Some(nothing), None, rtld_fini, stack_end) }
}

extern "C" fn nothing(_: c_int, _: *mut *mut i8, _: *mut *mut i8) {}

/// Runs instead of the program's `main`.
extern "C" fn simulate(number: c_int, words: *mut *mut i8, _: *mut *mut i8) -> c_int {
    // SAFETY: it only asks.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
    descriptors::inherit();
    let line = std::env::var(cli::INSIDE).unwrap_or_default();
    if let Some(folder) = std::env::var_os(cli::FROM) {
        // If it is gone, so is what the command line names there.
        let _ = std::env::set_current_dir(folder);
    }
    let ours = [cli::INSIDE, cli::FROM, "LD_AUDIT", "LD_PRELOAD", "LD_BIND_NOW"];
    for name in ours.into_iter().chain(cli::ALLOCATOR) {
        // SAFETY: there is only this thread so far.
        unsafe { std::env::remove_var(name) };
    }
    let line: Vec<OsString> =
        shell_words::split(&line).unwrap_or_default().into_iter().map(OsString::from).collect();
    let argument = |place: usize| {
        // SAFETY: the program's arguments: so many strings.
        unsafe { CStr::from_ptr(*words.add(place)) }.to_owned()
    };
    let arguments: Vec<CString> = (0..usize::try_from(number).unwrap_or(0)).map(argument).collect();
    let Some(main) = MAIN.get() else { return 1 };
    let make = |programs: &[Launch]| {
        let ranks = Ranks::new(programs, main, &arguments)?.placed(programs)?;
        Ok(Box::new(ranks) as Box<dyn Runner>)
    };
    let code = cli::inside(&line, &make);
    heddle_mpi::simulator::flush_streams();
    // What the program has registered has run for each rank: nothing runs now.
    // SAFETY: it ends the process.
    unsafe { libc::_exit(c_int::from(code)) }
}

/// Takes the place of the C library's: a rank that exits ends alone.
#[unsafe(no_mangle)]
extern "C" fn exit(code: c_int) -> ! {
    if is_rank() {
        ranks::leave();
        ranks::end(code);
    }
    leave_forked(code);
    let Some(real) = next::<extern "C" fn(c_int) -> !>(c"exit") else { std::process::abort() };
    real(code)
}

/// Takes the place of the C library's: likewise, and nothing of what the rank has registered runs.
#[unsafe(no_mangle)]
extern "C" fn _exit(code: c_int) -> ! {
    at_once(c"_exit", code)
}

/// Acts as `_exit` does.
#[unsafe(no_mangle)]
extern "C" fn _Exit(code: c_int) -> ! {
    at_once(c"_Exit", code)
}

/// Acts as `_exit` does: what `at_quick_exit` registers is all ranks'.
#[unsafe(no_mangle)]
extern "C" fn quick_exit(code: c_int) -> ! {
    at_once(c"quick_exit", code)
}

/// Ends a process that a rank has forked with what the rank itself would do at its end, and with
/// nothing of the simulator, whose threads it does not have.
pub fn leave_forked(code: c_int) {
    if ranks::is_rank() && !is_rank() {
        ranks::leave();
        heddle_mpi::simulator::flush_streams();
        at_once(c"_exit", code);
    }
}

/// True if a rank runs here, and not a process that it has forked.
fn is_rank() -> bool {
    // SAFETY: it only asks.
    ranks::is_rank() && PROCESS.load(Ordering::Relaxed) == unsafe { libc::getpid() }
}

fn at_once(name: &CStr, code: c_int) -> ! {
    if is_rank() {
        ranks::end(code);
    }
    let Some(real) = next::<extern "C" fn(c_int) -> !>(name) else { std::process::abort() };
    real(code)
}
