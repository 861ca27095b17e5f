//! A barrier that spins for a moment and then sleeps.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How often a worker looks before it goes to sleep: some ten microseconds.
const SPINS: u32 = 1_000;

pub struct Barrier {
    workers: usize,
    /// None where workers share cores: then whoever spins keeps another from coming.
    spins: u32,
    waiting: AtomicUsize,
    round: AtomicU32,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    pub fn new(workers: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            workers,
            spins: if workers <= cores { SPINS } else { 0 },
            waiting: AtomicUsize::new(0),
            round: AtomicU32::new(0),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// Returns when every worker has called it.
    pub fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.waiting.store(0, Ordering::Relaxed);
            // The lock orders this store before a sleeper's last look.
            let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            drop(guard);
            self.wake.notify_all();
            return;
        }
        for _ in 0..self.spins {
            if self.round.load(Ordering::Acquire) != round {
                return;
            }
            std::hint::spin_loop();
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.round.load(Ordering::Acquire) == round {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
