//! Processes that programs start, and leave behind when they are ended.
//!
//! What a rank starts becomes a child of this process when the rank ends (Linux:
//! `PR_SET_CHILD_SUBREAPER`); so all of them are found and ended, whatever group or session they
//! are in.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::process::{Pid, Signal, WaitOptions};

/// Children that were there before the ranks were: a shell that became this process had started
/// them.
static OTHERS: OnceLock<BTreeSet<i32>> = OnceLock::new();
/// Who holds this may start processes.
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

/// From now on, what the children leave behind comes to this process.
pub fn adopt() {
    OTHERS.get_or_init(children);
    // Where the system has no such thing, they are left behind.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Nothing is stopped as long as this is held.
pub fn starting() -> MutexGuard<'static, ()> {
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the end has come for everything.
pub fn is_stopping() -> bool {
    STOPPING.load(Ordering::Acquire)
}

/// Ends all ranks and what they started, from now on for good: for the end of this process.
pub fn stop() {
    STOPPING.store(true, Ordering::Release);
    // No further rank starts.
    std::mem::forget(starting());
    end_all();
}

/// Ends all that ranks started and left behind, and the ranks.
pub fn end_all() {
    let Some(others) = OTHERS.get() else { return };
    loop {
        let ours: Vec<i32> = children().difference(others).copied().collect();
        if ours.is_empty() {
            return;
        }
        for child in ours.into_iter().filter_map(Pid::from_raw) {
            // What has ended meanwhile is only waited for; and what it leaves behind comes with the
            // next round.
            let _ = rustix::process::kill_process(child, Signal::KILL);
            let _ = rustix::process::waitpid(Some(child), WaitOptions::empty());
        }
    }
}
