//! Processes that end with the one that started them.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// The process that a command starts is ended when the thread that starts it ends, however it does
/// (Linux: `PR_SET_PDEATHSIG`). Where the system cannot do that, it stays; so does what the process
/// starts itself.
pub fn end_with_parent(command: &mut Command) {
    let parent = getpid();
    let tied = move || {
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // It may have ended before that.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: between fork and exec it calls the system only, and takes no memory.
    unsafe { command.pre_exec(tied) };
}
