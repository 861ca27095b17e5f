//! The end of a process on Ctrl-C: temporary files are removed before it.

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
            end();
            results::end_status();
            let mut held = results::hold();
            held.remove_all();
            // Nothing runs any more that was to run at the end: a program may share this process.
            signal_hook::low_level::exit(128 + signal);
        }
    });
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
