//! Waiting for other workers: by looking for a moment, and then asleep.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How often a worker looks before it goes to sleep: some ten microseconds.
const SPINS: u32 = 1_000;

pub struct Bell {
    /// None where workers share cores: then whoever spins keeps another from coming.
    spins: u32,
    /// How many sleep, or are about to.
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Bell {
    pub fn new(workers: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            spins: if workers <= cores { SPINS } else { 0 },
            sleepers: AtomicUsize::new(0),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// Wakes those who sleep. What they wait for must have been stored in sequentially consistent order: either this
    /// sees a sleeper, or the sleeper sees that before it sleeps.
    pub fn ring(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// Returns when `is_there`, which must load in sequentially consistent order.
    pub fn wait(&self, is_there: impl Fn() -> bool) {
        for _ in 0..self.spins {
            if is_there() {
                return;
            }
            std::hint::spin_loop();
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while !is_there() {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}
