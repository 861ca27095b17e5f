//! What happens on Ctrl-C: temporary files are removed before the process ends.

/// From now on, SIGINT and SIGTERM remove the temporary files and folders that this process made. It
/// then ends with 128 and the number of the signal, as shells report it.
///
/// Before that, `end` is called.
#[cfg(unix)]
pub fn watch(end: fn()) {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        iterator::Signals,
    };
    // If this fails, the signals end the process as they always do, and its temporary files stay.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            end();
            let mut held = results::hold();
            held.remove_all();
            std::process::exit(128 + signal);
        }
    });
}

/// Elsewhere, nothing is told.
#[cfg(not(unix))]
pub const fn watch(_: fn()) {}
