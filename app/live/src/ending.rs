//! How a process has ended, in words and as an exit code.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Whether it was ended by what ends everything: a terminal that is closed, Ctrl-C, or SIGTERM.
pub fn interrupted(status: ExitStatus) -> bool {
    matches!(status.signal(), Some(1 | 2 | 15))
}

/// The exit code that a shell would give.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// How a rank has ended that was to go on.
pub fn described(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "it exited without MPI_Finalize".to_owned(),
        (Some(code), _) => format!("it exited with code {code} before MPI_Finalize"),
        (None, Some(signal)) => format!("it was ended by {}", called(signal)),
        (None, None) => "it ended".to_owned(),
    }
}

/// What is to be said of ranks that exited with these codes, of which 0 is well, where nothing else
/// tells of them.
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

/// A signal, by its number and what it says (signal(7)).
pub fn called(signal: i32) -> String {
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
