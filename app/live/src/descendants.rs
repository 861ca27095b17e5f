//! Processes that programs start and leave behind when they end.
//!
//! A process that a rank starts becomes a child of this process when the rank ends (Linux:
//! `PR_SET_CHILD_SUBREAPER`); so all of them are found and ended, whatever group or session they
//! are in.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::process::{Pid, Signal, WaitOptions};

/// Children of this process that are older than the ranks: a shell that became this process may
/// have started some.
static OTHERS: OnceLock<BTreeSet<i32>> = OnceLock::new();
/// A process may be started only while this is locked.
static STARTING: Mutex<()> = Mutex::new(());
static STOPPING: AtomicBool = AtomicBool::new(false);

/// The children of this process.
fn children() -> BTreeSet<i32> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

/// Makes this process the parent of what its children leave behind.
pub fn adopt() {
    OTHERS.get_or_init(children);
    // A system without subreapers leaves them to its first process.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Keeps [`stop`] from running while a process is being started.
pub fn starting() -> MutexGuard<'static, ()> {
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether [`stop`] has been called.
pub fn is_stopping() -> bool {
    STOPPING.load(Ordering::Acquire)
}

/// Ends all ranks and what they started, and keeps new ones from starting. For the end of this
/// process.
pub fn stop() {
    STOPPING.store(true, Ordering::Release);
    // No further rank starts.
    std::mem::forget(starting());
    end_all();
}

/// Ends all ranks, and all processes that they started and left behind.
pub fn end_all() {
    let Some(others) = OTHERS.get() else { return };
    loop {
        let ours: Vec<i32> = children().difference(others).copied().collect();
        if ours.is_empty() {
            return;
        }
        for child in ours.into_iter().filter_map(Pid::from_raw) {
            // A child that has ended meanwhile is only waited for. Its own children appear in the
            // next round.
            let _ = rustix::process::kill_process(child, Signal::KILL);
            let _ = rustix::process::waitpid(Some(child), WaitOptions::empty());
        }
    }
}
