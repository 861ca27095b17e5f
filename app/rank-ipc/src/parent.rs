//! Processes that end with the one that started them.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// The way in which a process ends with its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The kernel ends it at once.
    Kill,
    /// The kernel asks it to end, so that it can end what it has started itself.
    Terminate,
}

/// Makes a command start a process that the kernel ends when the thread that started it ends,
/// however it does (Linux: `PR_SET_PDEATHSIG`). Where the system cannot do that, the process stays.
/// So does what the process starts itself.
pub fn end_with_parent(command: &mut Command, end: End) {
    let parent = getpid();
    let signal = match end {
        End::Kill => Signal::KILL,
        End::Terminate => Signal::TERM,
    };
    let tied = move || {
        let _ = set_parent_process_death_signal(Some(signal));
        // The parent may have ended before the signal was set.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: between fork and exec, it makes system calls only and allocates nothing.
    unsafe { command.pre_exec(tied) };
}
