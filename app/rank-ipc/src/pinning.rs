//! A core for threads that take turns.
//!
//! The simulator and its ranks run one at a time. Woken where they ran last, each would mostly meet
//! a core that has gone to sleep, and waking a core takes several times as long as a turn. So they
//! sleep and wake on one core.

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

/// Keeps a thread on one core as long as this value lives. Dropping it gives the thread back the
/// cores that it had.
#[derive(Debug)]
pub struct Pinning {
    thread: Pid,
    before: CpuSet,
}

impl Pinning {
    /// Moves the calling thread to a core, by the kernel's number; `None` if it may not run there,
    /// or nowhere else anyway.
    pub fn new(core: usize) -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        if core >= CpuSet::MAX_CPU || !before.is_set(core) || before.count() < 2 {
            return None;
        }
        let mut one = CpuSet::new();
        one.set(core);
        sched_setaffinity(None, &one).ok()?;
        Some(Self { thread: gettid(), before })
    }
}

impl Drop for Pinning {
    fn drop(&mut self) {
        // The thread may have ended.
        let _ = sched_setaffinity(Some(self.thread), &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It runs in a thread of its own, as other tests run beside it.
    #[test]
    #[cfg_attr(miri, ignore = "the cores of a thread")]
    fn a_thread_is_pinned_and_released() {
        let allowed = || sched_getaffinity(None).unwrap();
        std::thread::spawn(move || {
            let before = allowed();
            let cores: Vec<usize> =
                (0..CpuSet::MAX_CPU).filter(|core| before.is_set(*core)).collect();
            for core in &cores {
                let pinning = Pinning::new(*core);
                assert_eq!(pinning.is_some(), cores.len() > 1);
                assert!(
                    allowed().is_set(*core)
                        && allowed().count() == if pinning.is_some() { 1 } else { before.count() }
                );
                drop(pinning);
                assert!(allowed() == before);
            }
            let foreign = (0..CpuSet::MAX_CPU).find(|core| !cores.contains(core)).unwrap();
            assert!(Pinning::new(foreign).is_none() && Pinning::new(usize::MAX).is_none());
            assert!(allowed() == before);
        })
        .join()
        .unwrap();
    }
}
