//! One core for the simulator and the ranks that it takes turns with.
//!
//! Only one of them runs at a time. If each ran on a core of its own, every turn would begin with
//! waking a core that has gone to sleep.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use rank_ipc::Pinning;
use rustix::thread::sched_getcpu;

/// After this many turns, the simulator checks whether others use the core.
const LOOK: u64 = 256;
/// The longest average wait for the core, in nanoseconds per turn, that counts as undisturbed. A
/// rank that has woken the simulator keeps it waiting for a few microseconds; another program does
/// so for a slice of time.
const CROWDED: u64 = 100_000;

/// The core where the simulator runs while it takes turns with ranks. There is one only as long as
/// a single thread of the simulator takes turns; that thread is pinned to it.
#[derive(Debug, Default)]
pub struct SharedCore {
    /// Set for good when there is only one core, or when several threads take turns.
    apart: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    thread: Option<ThreadId>,
    pinned: Option<PinnedThread>,
}

#[derive(Debug)]
struct PinnedThread {
    _pinning: Pinning,
    core: usize,
    turns: u64,
    /// The kernel's account of how long the thread has run, and waited for the core (proc(5),
    /// `schedstat`).
    times: Option<File>,
    /// The wait in that account at the last check, in nanoseconds.
    waited: u64,
}

impl SharedCore {
    /// Returns the core that the calling thread, which is about to resume a rank, shares with
    /// ranks, and pins the thread there; `None` if they share none.
    pub fn core(&self) -> Option<usize> {
        if self.apart.load(Ordering::Relaxed) {
            return None;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let me = std::thread::current().id();
        if *state.thread.get_or_insert(me) != me {
            self.apart.store(true, Ordering::Relaxed);
            state.pinned = None;
            return None;
        }
        if state.pinned.as_mut().is_some_and(PinnedThread::is_crowded) {
            // The next turn pins it to the core where the system wakes it.
            state.pinned = None;
            return None;
        }
        if state.pinned.is_none() {
            state.pinned = PinnedThread::on(sched_getcpu());
            self.apart.store(state.pinned.is_none(), Ordering::Relaxed);
        }
        state.pinned.as_ref().map(|pinned| pinned.core)
    }

    /// Lets the simulator run anywhere until its next turn, and with it the processes that it
    /// starts.
    pub fn leave(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).pinned = None;
    }
}

impl PinnedThread {
    fn on(core: usize) -> Option<Self> {
        let pinning = Pinning::new(core)?;
        let times = File::open("/proc/thread-self/schedstat").ok();
        let mut pinned = Self { _pinning: pinning, core, turns: 0, times, waited: 0 };
        pinned.waited = pinned.waited();
        Some(pinned)
    }

    fn waited(&self) -> u64 {
        let mut text = [0; 64];
        let length =
            self.times.as_ref().and_then(|times| times.read_at(&mut text, 0).ok()).unwrap_or(0);
        let text =
            text.get(..length).and_then(|text| str::from_utf8(text).ok()).unwrap_or_default();
        text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
    }

    /// Counts a turn; returns whether others use the core.
    fn is_crowded(&mut self) -> bool {
        self.turns += 1;
        if !self.turns.is_multiple_of(LOOK) {
            return false;
        }
        let waited = self.waited();
        let since = waited.saturating_sub(self.waited);
        self.waited = waited;
        since > LOOK * CROWDED
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use rustix::thread::sched_getaffinity;

    use super::*;

    fn cores() -> u32 {
        sched_getaffinity(None).unwrap().count()
    }

    /// In threads of its own, as others of the test run beside it.
    #[test]
    fn one_thread_stays_on_a_core_and_leaves_it_when_another_comes() {
        let (shared_core, before, pinned) = (SharedCore::default(), cores(), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let core = shared_core.core();
                assert_eq!(core.is_some(), before > 1);
                assert_eq!((shared_core.core(), cores()), (core, 1));
                shared_core.leave();
                assert_eq!(cores(), before, "what it starts runs anywhere");
                assert_eq!(shared_core.core().is_some(), before > 1);
                pinned.wait();
                pinned.wait();
                assert_eq!((shared_core.core(), cores()), (None, before), "two take turns");
            });
            scope.spawn(|| {
                pinned.wait();
                assert_eq!((shared_core.core(), cores()), (None, before));
                pinned.wait();
            });
        });
    }
}
