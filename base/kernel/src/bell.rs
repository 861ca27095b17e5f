//! Waiting for other workers: a waiting worker looks without a break for a moment, then now and
//! again, and then it sleeps.

use crate::sync::{
    AtomicUsize, Condvar, Mutex, Ordering, PoisonError, SPINS, YIELDS, fence, spin_loop, yield_now,
};

/// Wakes workers that wait for something another worker stores.
pub struct Bell {
    /// The number of workers that sleep or are about to.
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Bell {
    pub fn new() -> Self {
        Self { sleepers: AtomicUsize::new(0), lock: Mutex::new(()), wake: Condvar::new() }
    }

    /// Wakes the sleepers. The caller has stored what they wait for before: either this sees a
    /// sleeper, or the sleeper sees the store before it sleeps.
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// Returns when `is_there`, which must load what another worker stores before it rings.
    pub fn wait(&self, is_there: impl Fn() -> bool) {
        for look in 0..SPINS + YIELDS {
            if is_there() {
                return;
            }
            if look < SPINS { spin_loop() } else { yield_now() }
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while !is_there() {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}
