//! The end of a process, in words and as an exit code.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Returns whether a signal ended it that is meant for the whole run: a closed terminal, Ctrl-C, or
/// SIGTERM.
pub fn interrupted(status: ExitStatus) -> bool {
    matches!(status.signal(), Some(1 | 2 | 15))
}

/// Returns the exit code that a shell would give.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Describes the end of a rank that should have gone on.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "it exited without MPI_Finalize".to_owned(),
        (Some(code), _) => format!("it exited with code {code} before MPI_Finalize"),
        (None, Some(signal)) => format!("it was ended by {}", signal_name(signal)),
        (None, None) => "it ended".to_owned(),
    }
}

/// Returns the message about ranks that exited with these codes, if any is not 0.
pub fn exited(codes: impl Iterator<Item = (u32, i32)>) -> Option<String> {
    let mut failed = codes.filter(|(_, code)| *code != 0);
    let (rank, code) = failed.next()?;
    let others = match failed.count() {
        0 => String::new(),
        1 => ", and another rank with an error as well".to_owned(),
        others => format!(", and {others} other ranks with errors as well"),
    };
    Some(format!("error: rank {rank} exited with code {code}{others}"))
}

/// Returns the name of a signal: its number and its meaning (signal(7)).
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "hangup",
        2 => "interrupt",
        3 => "quit",
        4 => "illegal instruction",
        5 => "trap",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic error",
        9 => "killed, perhaps for lack of memory",
        10 => "user signal 1",
        11 => "segmentation fault",
        12 => "user signal 2",
        13 => "broken pipe",
        14 => "alarm",
        15 => "terminated",
        24 => "limit of processor time",
        25 => "limit of the size of files",
        31 => "bad system call",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}
