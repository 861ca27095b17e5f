//! Waiting for other workers: by looking for a moment, then by looking now and again, and then
//! asleep.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How often a worker looks without a break: about a microsecond.
const SPINS: u32 = 50;
/// How often it looks after that, before it goes to sleep; in between others may have its core, and
/// the one it waits for may be among them: there may be more workers than cores, or the system may
/// have put two on one core.
const YIELDS: u32 = 1_000;

pub struct Bell {
    /// How many sleep, or are about to.
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Bell {
    pub const fn new() -> Self {
        Self { sleepers: AtomicUsize::new(0), lock: Mutex::new(()), wake: Condvar::new() }
    }

    /// Wakes those who sleep. What they wait for must have been stored in sequentially consistent
    /// order: either this sees a sleeper, or the sleeper sees that before it sleeps.
    pub fn ring(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// Returns when `is_there`, which must load in sequentially consistent order.
    pub fn wait(&self, is_there: impl Fn() -> bool) {
        for look in 0..SPINS + YIELDS {
            if is_there() {
                return;
            }
            if look < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while !is_there() {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}
