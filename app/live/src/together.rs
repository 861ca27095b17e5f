//! The simulator on one core with the ranks that it takes turns with.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use rank_ipc::Pinning;
use rustix::thread::sched_getcpu;

/// After so many turns it is looked whether others use the core.
const LOOK: u64 = 256;
/// If the simulator has waited longer for it since, on average, in nanoseconds, another one is
/// looked for. A rank that has woken it keeps it waiting for a few microseconds, another program
/// for a slice of time.
const CROWDED: u64 = 100_000;

/// Where the simulator runs while it takes turns with the ranks, if only one of its threads does;
/// that thread moves as long as others are needed.
#[derive(Debug, Default)]
pub struct Together {
    /// There is but one core, or several threads take turns.
    apart: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    thread: Option<ThreadId>,
    seated: Option<Seated>,
}

#[derive(Debug)]
struct Seated {
    _seat: Pinning,
    core: usize,
    turns: u64,
    /// What the kernel says of the thread: for how long it has run, and waited for the core
    /// (proc(5), `schedstat`).
    times: Option<File>,
    /// The latter when it was looked last, in nanoseconds.
    waited: u64,
}

impl Together {
    /// The calling thread is about to give a rank its turn: the core where they are, if there is
    /// one.
    pub fn core(&self) -> Option<usize> {
        if self.apart.load(Ordering::Relaxed) {
            return None;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let me = std::thread::current().id();
        if *state.thread.get_or_insert(me) != me {
            self.apart.store(true, Ordering::Relaxed);
            state.seated = None;
            return None;
        }
        if state.seated.as_mut().is_some_and(Seated::is_crowded) {
            // It is woken where there is room, and sits down there.
            state.seated = None;
            return None;
        }
        if state.seated.is_none() {
            state.seated = Seated::on(sched_getcpu());
            self.apart.store(state.seated.is_none(), Ordering::Relaxed);
        }
        state.seated.as_ref().map(|seated| seated.core)
    }

    /// Until it takes turns again, the simulator may run anywhere, and so may what it starts.
    pub fn part(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).seated = None;
    }
}

impl Seated {
    fn on(core: usize) -> Option<Self> {
        let seat = Pinning::new(core)?;
        let times = File::open("/proc/thread-self/schedstat").ok();
        let mut seated = Self { _seat: seat, core, turns: 0, times, waited: 0 };
        seated.waited = seated.waited();
        Some(seated)
    }

    fn waited(&self) -> u64 {
        let mut text = [0; 64];
        let length =
            self.times.as_ref().and_then(|times| times.read_at(&mut text, 0).ok()).unwrap_or(0);
        let text =
            text.get(..length).and_then(|text| str::from_utf8(text).ok()).unwrap_or_default();
        text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
    }

    /// One more turn; tells whether others use the core.
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
        let (together, before, seated) = (Together::default(), cores(), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let core = together.core();
                assert_eq!(core.is_some(), before > 1);
                assert_eq!((together.core(), cores()), (core, 1));
                together.part();
                assert_eq!(cores(), before, "what it starts runs anywhere");
                assert_eq!(together.core().is_some(), before > 1);
                seated.wait();
                seated.wait();
                assert_eq!((together.core(), cores()), (None, before), "two take turns");
            });
            scope.spawn(|| {
                seated.wait();
                assert_eq!((together.core(), cores()), (None, before));
                seated.wait();
            });
        });
    }
}
