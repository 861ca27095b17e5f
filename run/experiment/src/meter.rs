//! Progress of a simulation, for a person who waits.

use std::{
    io::{self, IsTerminal},
    sync::atomic::{AtomicU64, Ordering},
};

use host::Record;
use kernel::Probe;
use results::Progress;
use schedule::Program;

/// How many operations a worker does before it says so.
const STRIDE: u64 = 4096;

/// Counts the operations of all workers.
pub(crate) struct Meter {
    operations: AtomicU64,
    simulated_ps: AtomicU64,
    /// Operations of the program; `None` if nobody watches.
    total: Option<u64>,
}

/// A probe that also counts operations. Every operation ends with its CPU being busy once, or
/// without.
pub(crate) struct Metered<'a, B> {
    meter: &'a Meter,
    count: u64,
    pub inner: B,
}

impl Meter {
    pub fn new(program: &impl Program) -> Self {
        let total = || (0..program.ranks()).map(|rank| u64::from(program.ops(rank))).sum();
        Self {
            operations: AtomicU64::new(0),
            simulated_ps: AtomicU64::new(0),
            total: io::stderr().is_terminal().then(total),
        }
    }

    /// Whether somebody sees the progress.
    pub const fn is_watched(&self) -> bool {
        self.total.is_some()
    }

    pub const fn probe<B>(&self, inner: B) -> Metered<'_, B> {
        Metered { meter: self, count: 0, inner }
    }

    /// Does `work` and shows how far it is.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let progress = Progress {
            operations: &self.operations,
            simulated_ps: &self.simulated_ps,
            total: self.total,
        };
        progress.during(work)
    }
}

impl<B: Probe<Record>> Probe<Record> for Metered<'_, B> {
    const LISTENS: bool = true;

    #[inline]
    fn record(&mut self, record: Record) {
        if let Record::Busy { end, .. } = record {
            self.count += 1;
            if self.count.is_multiple_of(STRIDE) {
                self.meter.operations.fetch_add(STRIDE, Ordering::Relaxed);
                self.meter.simulated_ps.fetch_max(end.ps(), Ordering::Relaxed);
            }
        }
        self.inner.record(record);
    }
}
