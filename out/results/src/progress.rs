//! A line on standard error that says how far a run has come.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use units::Time;

use crate::format;

/// Nothing is shown of runs shorter than this.
const QUIET: Duration = Duration::from_secs(1);
/// Time between two updates.
const PERIOD: Duration = Duration::from_millis(200);

/// Shows the progress that the simulation notes in two counters of the caller's.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Operations done so far.
    pub operations: &'a AtomicU64,
    /// Simulated time reached, in picoseconds.
    pub simulated_ps: &'a AtomicU64,
    /// Operations of the whole program, if known.
    pub total: Option<u64>,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Real time since the start.
    pub elapsed: Duration,
    /// Operations done so far.
    pub operations: u64,
    /// Simulated time reached, in picoseconds.
    pub simulated_ps: u64,
    /// Operations of the whole program, if known.
    pub total: Option<u64>,
}

impl Progress<'_> {
    /// Does `work`, and meanwhile shows its progress on standard error: from the second second on, five
    /// times a second, and only if standard error is a terminal. The line is wiped at the end.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        if io::stderr().is_terminal() {
            self.show(io::stderr(), QUIET, PERIOD, work)
        } else {
            work()
        }
    }

    fn show<T>(
        &self,
        out: impl Write + Send,
        quiet: Duration,
        period: Duration,
        work: impl FnOnce() -> T,
    ) -> T {
        std::thread::scope(|scope| {
            // Its end is dropped when the work is done, also by a panic; that stops the other thread.
            let (_done, wait) = mpsc::channel::<()>();
            scope.spawn(move || self.watch(out, quiet, period, &wait));
            work()
        })
    }

    /// Writes a line now and then until the channel closes. Where the line cannot be written, nobody
    /// reads it.
    fn watch(&self, mut out: impl Write, quiet: Duration, period: Duration, wait: &Receiver<()>) {
        let start = Instant::now();
        let mut pause = quiet;
        let mut shown = false;
        while wait.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let line = self.snapshot(start.elapsed()).to_string();
            let _ = write!(out, "\r{line}\x1b[K").and_then(|()| out.flush());
            shown = true;
            pause = period;
        }
        if shown {
            let _ = write!(out, "\r\x1b[K").and_then(|()| out.flush());
        }
    }

    /// The counters now.
    pub fn snapshot(&self, elapsed: Duration) -> Snapshot {
        Snapshot {
            elapsed,
            operations: self.operations.load(Ordering::Relaxed),
            simulated_ps: self.simulated_ps.load(Ordering::Relaxed),
            total: self.total,
        }
    }
}

/// The line: share done, simulated time, rate, remaining time. Share and remaining time need the
/// total; the remaining time supposes that the rate stays what it was on average.
impl std::fmt::Display for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let done = self.operations as f64;
        let rate = done / self.elapsed.as_secs_f64().max(1e-9);
        if let Some(total) = self.total {
            let share = 100.0 * done / (total as f64).max(1.0);
            write!(f, "{:.1} %, ", share.min(100.0))?;
        }
        let simulated = format::time(Time::from_ps(self.simulated_ps));
        write!(f, "{simulated} simulated, {} operations/s", format::count(rate))?;
        match self.total {
            Some(total) if rate > 0.0 => {
                let left = (total as f64 - done).max(0.0) / rate;
                write!(f, ", {} left", format::seconds(left))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
