//! A core for those that take turns.
//!
//! The simulator and its ranks run one at a time. Woken where they ran last, each would mostly meet
//! a core that has gone to sleep, and waking that takes several times as long as a turn. So they
//! fall asleep on one core, and are woken there while it is awake.

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

/// While this is there, a thread runs on one core; then on those again where it could before.
#[derive(Debug)]
pub struct Pinning {
    thread: Pid,
    before: CpuSet,
}

impl Pinning {
    /// The calling thread moves to a core, by the kernel's number; nothing if it may not run there,
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
        // It may have ended.
        let _ = sched_setaffinity(Some(self.thread), &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread of its own, as others of the test run beside it.
    #[test]
    fn a_seat_is_taken_and_left() {
        let allowed = || sched_getaffinity(None).unwrap();
        std::thread::spawn(move || {
            let before = allowed();
            let cores: Vec<usize> =
                (0..CpuSet::MAX_CPU).filter(|core| before.is_set(*core)).collect();
            for core in &cores {
                let seat = Pinning::new(*core);
                assert_eq!(seat.is_some(), cores.len() > 1);
                assert!(
                    allowed().is_set(*core)
                        && allowed().count() == if seat.is_some() { 1 } else { before.count() }
                );
                drop(seat);
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
