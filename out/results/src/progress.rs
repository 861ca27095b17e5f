//! A line on standard error that says how far a run has come.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use units::Time;

use crate::format::{self, printable};

/// Nothing is shown of runs shorter than this.
const QUIET: Duration = Duration::from_secs(1);
/// Time between two updates.
const PERIOD: Duration = Duration::from_millis(200);

/// Operations and signals that a run does in a second, before anything is known of it: between
/// a slow machine and a fast one.
const SPEED: f64 = 5e6;
/// A run that will take longer than this is announced.
const LONG: f64 = 2.0;
/// The estimate of the number of signals before the run counts as much as this part of it.
const BELIEF: f64 = 0.02;

/// Is true while a status line is shown. Whoever writes to it holds the lock.
static SHOWN: Mutex<bool> = Mutex::new(false);

fn shown() -> MutexGuard<'static, bool> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows a status line in place of the one before; an empty one wipes it. If it cannot be written,
/// nobody reads it.
pub fn show_status(mut out: impl Write, line: &str) {
    let mut shown = shown();
    let _ = write!(out, "\r{}\x1b[K", printable(line)).and_then(|()| out.flush());
    *shown = !line.is_empty();
}

/// Wipes the status line, if there is one, for a process that ends: none is shown from now on.
pub fn end_status() {
    let shown = shown();
    if *shown {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    // Whoever waits for the lock waits for the end of the process.
    std::mem::forget(shown);
}

/// Shows the progress that the simulation notes in counters of the caller's.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Operations done so far.
    pub operations: &'a AtomicU64,
    /// Signals of the network so far.
    pub signals: &'a AtomicU64,
    /// Simulated time reached, in picoseconds.
    pub simulated_ps: &'a AtomicU64,
    /// The work of the whole program, if known.
    pub total: Option<Work>,
}

/// The work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Operations.
    pub operations: u64,
    /// Signals of the network, as far as routes and sizes tell; 0 if there are none.
    pub signals: u64,
}

impl Work {
    /// Returns the time in seconds that it takes at the speed that is expected before anything is
    /// known of a run.
    pub fn seconds(self) -> f64 {
        (self.operations as f64 + self.signals as f64) / SPEED
    }

    /// Returns the share of the work that is done after so many operations and signals. How many
    /// signals an operation takes is learned from those that are done; 1 when all operations are,
    /// and then only.
    pub fn share(&self, operations: u64, signals: u64) -> f64 {
        let all = (self.operations as f64).max(1.0);
        let done = (operations as f64).min(all);
        let (part, signals) = (done / all, signals as f64);
        let believed = self.signals as f64;
        // Of those that are to come: as many as routes and sizes tell, times what that was wrong by
        // so far.
        let rest = (signals + BELIEF * believed) / (part + BELIEF) * (1.0 - part);
        let share = (done + signals) / (all + signals + rest);
        if part < 1.0 { share.min(0.999) } else { 1.0 }
    }
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Real time since the start.
    pub elapsed: Duration,
    /// Operations and signals done so far.
    pub done: u64,
    /// Simulated time reached, in picoseconds.
    pub simulated_ps: u64,
    /// The share of the work that is done, if that is known.
    pub share: Option<f64>,
}

impl Progress<'_> {
    /// Does `work`, and meanwhile shows its progress on standard error: from the second second on,
    /// five times a second, and only if standard error is a terminal. The line is wiped at the end.
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
            // Its end is dropped when the work is done, also by a panic; that stops the other
            // thread.
            let (_done, wait) = mpsc::channel::<()>();
            scope.spawn(move || self.watch(out, quiet, period, &wait));
            work()
        })
    }

    /// Writes a line now and then until the channel closes. Where the line cannot be written,
    /// nobody reads it.
    fn watch(&self, mut out: impl Write, quiet: Duration, period: Duration, wait: &Receiver<()>) {
        let start = Instant::now();
        let mut pause = quiet;
        let mut shown = false;
        let mut least = 0.0;
        let mut show = |line: &str| show_status(&mut out, line);
        if let Some(seconds) = self.expected().filter(|seconds| *seconds > LONG) {
            show(&format!("about {} expected", format::seconds(seconds)));
            shown = true;
        }
        while wait.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let snapshot = self.snapshot(start.elapsed(), least);
            least = snapshot.share.unwrap_or(least);
            show(&snapshot.to_string());
            shown = true;
            pause = period;
        }
        if shown {
            show("");
        }
    }

    /// Estimates the seconds that the run takes, before anything is known of it.
    fn expected(&self) -> Option<f64> {
        let work = self.total?;
        Some((work.operations as f64 + work.signals as f64) / SPEED)
    }

    /// The counters now. Of the work no less is done than `least`, the share that was done before.
    pub fn snapshot(&self, elapsed: Duration, least: f64) -> Snapshot {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (operations, signals) = (count(self.operations), count(self.signals));
        Snapshot {
            elapsed,
            done: operations.saturating_add(signals),
            simulated_ps: count(self.simulated_ps),
            share: self.total.map(|work| work.share(operations, signals).max(least)),
        }
    }
}

/// The line: share done, simulated time, rate, remaining time. The remaining time supposes that the
/// rest goes as fast as the part that is done.
impl std::fmt::Display for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let elapsed = self.elapsed.as_secs_f64();
        let rate = self.done as f64 / elapsed.max(1e-9);
        if let Some(share) = self.share {
            // The line is there until the run has ended: the whole is never done before.
            write!(f, "{:.1} %, ", (100.0 * share).min(99.9))?;
        }
        let simulated = format::time(Time::from_ps(self.simulated_ps));
        write!(f, "{simulated} simulated, {} events/s", format::count(rate))?;
        match self.share {
            Some(share) if share > 0.0 => {
                write!(f, ", {} left", format::seconds(elapsed * (1.0 - share) / share))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
