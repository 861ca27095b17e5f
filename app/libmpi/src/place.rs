//! Finds the place in the program of a call of MPI.
//!
//! The stack is walked only when somebody asks, which is after a deadlock, so that calls cost
//! nothing more. Lines are known of programs that were compiled with `-g`, functions of those that
//! were not stripped.

use std::backtrace::Backtrace;

/// Beginnings of the names of functions between the program and this module.
const OURS: &[&str] =
    &["heddle_", "rank_ipc::", "core::", "std::", "alloc::", "rustix::", "__rust"];

/// True if a function is of the library or below it.
fn is_ours(name: &str) -> bool {
    let plain = name.trim_start_matches(['<', '&']);
    OURS.iter().any(|start| plain.starts_with(start)) || is_called(plain)
}

/// True if a function is one that programs call. What is below has names without paths where it was
/// put in line.
fn is_called(name: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    let core = begins(&["heddle_"]) && !begins(&["heddle_mpi"]);
    core || begins(&["MPI_", "PMPI_"]) || (begins(&["mpi_", "pmpi_"]) && name.ends_with('_'))
}

/// The place in the program from which the library was called, behind a space: ` at ring.c:42`, or
/// ` in solve`.
pub fn here() -> Option<String> {
    of(&Backtrace::force_capture().to_string())
}

/// The place in a list of frames: `N: NAME` lines, each followed by a line `at FILE:LINE` or
/// `at FILE:LINE:COLUMN` where that is known.
fn of(frames: &str) -> Option<String> {
    let name = |line: &str| line.split_once(": ").map(|(_, name)| name.to_owned());
    let mut lines = frames.lines().map(str::trim).peekable();
    let known = lines.clone().any(|line| name(line).is_some_and(|name| is_called(&name)));
    if known {
        while lines.next_if(|line| !name(line).is_some_and(|name| is_called(&name))).is_some() {}
    }
    while let Some(line) = lines.next() {
        let Some((number, name)) = line.split_once(": ") else { continue };
        if number.parse::<u32>().is_err() || is_ours(name) {
            continue;
        }
        let place = lines.peek().and_then(|next| next.strip_prefix("at "));
        let file = place.map(|place| place.rsplit('/').next().unwrap_or(place));
        if let Some(file) = file {
            let mut parts = file.split(':');
            if let (Some(name), Some(line)) = (parts.next(), parts.next()) {
                return Some(format!(" at {name}:{line}"));
            }
        }
        return (name != "<unknown>").then(|| format!(" in {name}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn the_first_frame_of_the_program() {
        let frames = "   0: std::backtrace::Backtrace::force_capture\n\
                      \x20  1: <heddle_mpi::p2p::Thing as core::ops::Fn>::call\n\
                      \x20            at /build/p2p.rs:7:3\n   2: PMPI_Recv\n   3: mpi_recv_\n";
        let with = |program: &str| of(&format!("{frames}{program}"));
        assert_eq!(
            with("   4: main\n             at ./src/ring.c:42:9\n").as_deref(),
            Some(" at ring.c:42")
        );
        assert_eq!(
            with("   4: main\n             at /a/ring.f90:7\n").as_deref(),
            Some(" at ring.f90:7")
        );
        assert_eq!(
            with("   4: solve\n   5: main\n             at ./a.c:1:1\n").as_deref(),
            Some(" in solve")
        );
        let inlined = "   0: here\n             at ./app/libmpi/src/place.rs:22:9\n\
                       \x20  1: {closure#0}\n   2: heddle_Recv\n   3: PMPI_Recv\n\x20  4: main\n\
                       \x20            at ./a.c:3:1\n";
        assert_eq!(of(inlined).as_deref(), Some(" at a.c:3"));
        assert_eq!(with("   4: <unknown>\n"), None);
        assert_eq!(with(""), None);
    }
}
