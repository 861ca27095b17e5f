//! Ends before the end, on signals and after a time: temporary files are removed before.

use std::time::Duration;

use crate::exit::{Exit, complain};

/// The signals that ask a command to end. One that is started to outlive its terminal (`nohup`) is
/// not asked by SIGHUP.
#[cfg(unix)]
pub fn signals() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// Says whether this process ignores a signal, as far as the system tells (proc(5), `SigIgn`).
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// From now on, the signals wipe the status line and remove the temporary files and folders that
/// this process made. It
/// then ends with 128 and the number of the signal, as shells report it.
///
/// Before that, `end` is called.
#[cfg(unix)]
pub fn watch(end: fn()) {
    // If this fails, the signals end the process as they always do, and its temporary files stay.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(signals()) else {
        return;
    };
    // Where the system has no room for a thread, neither.
    let _ = std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            leave(end, 128 + signal);
        }
    });
}

/// Calls `end`, removes the temporary files and folders that this process made, and ends it with a
/// code.
#[cfg(unix)]
fn leave(end: fn(), code: i32) -> ! {
    end();
    results::end_status();
    let mut held = results::hold();
    held.remove_all();
    // Nothing runs any more that was to run at the end: a program may share this process.
    signal_hook::low_level::exit(code);
}

/// After so long, this process says why, calls `end`, removes its temporary files and folders, and
/// ends with [`Exit::TimedOut`].
#[cfg(unix)]
pub fn after(limit: Duration, end: fn(), why: String) {
    // Where the system has no room for a thread, there is no limit, which is said.
    let thread = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(limit);
        complain(&why);
        leave(end, Exit::TimedOut as i32);
    });
    if let Err(error) = thread {
        complain(&format!("warning: the time limit has no effect: {error}"));
    }
}

/// Elsewhere, nothing is ended.
#[cfg(not(unix))]
pub fn after(_: Duration, _: fn(), _: String) {
    complain("warning: the time limit has no effect on this system");
}

/// Elsewhere, nothing is told.
#[cfg(not(unix))]
pub const fn watch(_: fn()) {}

/// From now on, a file that would become larger than allowed (`ulimit -f`) fails to be written,
/// which is said, and does not end this process. Programs that it starts are ended as ever.
#[cfg(unix)]
pub fn write_to_the_limit() {
    // A handler, unlike a signal that is ignored, is not handed on to programs. If this fails, the
    // limit ends the process.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// Elsewhere, there is no such limit.
#[cfg(not(unix))]
pub const fn write_to_the_limit() {}
