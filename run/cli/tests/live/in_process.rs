//! Ranks that share a process.

use std::os::unix::fs::PermissionsExt as _;

use crate::common::mpi::{compiled, mpirun};

/// Each rank has a stack of its own, and finds it. Beyond the top of that of rank 1 is what guards the next.
#[test]
fn stacks_of_ranks() {
    let program = compiled("own_stack");
    for how in ["", "--in-process"] {
        let ended = mpirun(&format!("-q -n 3 {how}"), &program, "");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{how}: {}", ended.stderr);
    }
    for (argument, is_full) in [("deep", true), ("above", false)] {
        let ended = mpirun("-q -n 3 --in-process", &program, argument);
        let said = "rank 1 at 12.500000 us: it was ended by a signal (segmentation fault";
        assert!(ended.stderr.contains(said), "{argument}: {}", ended.stderr);
        let full = ended.stderr.contains("its stack is full");
        assert_eq!(full, is_full, "{argument}: {}", ended.stderr);
    }
}

/// The system loads no library before a program that runs as somebody else, which would be alone without a word.
#[test]
fn rights_of_others() {
    let program = compiled("basics");
    let copy = program.with_extension("setuid");
    std::fs::copy(&program, &copy).expect("a copy");
    if std::os::unix::fs::chown(&copy, Some(65534), None).is_err() {
        eprintln!("skipped: only root gives files away");
        return;
    }
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o4755)).expect("its own");
    let ended = mpirun("-n 2 --in-process", &copy, "");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("the rights of another user"), "{}", ended.stderr);
}

/// The cores that a rank asks for are not another's.
#[test]
fn cores_that_a_rank_asks_for() {
    let program = compiled("own_cores");
    for how in ["", "--in-process"] {
        let ended = mpirun(&format!("-q -n 4 {how}"), &program, "");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{how}: {}", ended.stderr);
    }
}

/// A thread of a rank's own that goes on while others run is said once, as it would see their variables; one that has ended is not.
#[test]
fn threads_of_ranks() {
    let program = compiled("own_threads");
    for (how, argument, warnings) in
        [("", "late", 0), ("--in-process", "joined", 0), ("--in-process", "late", 1)]
    {
        let ended = mpirun(&format!("-q -n 3 {how}"), &program, argument);
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{argument}: {}", ended.stderr);
        let said = ended.stderr.matches("1 thread of rank 0 goes on while other ranks run").count();
        assert_eq!(said, warnings, "{how} {argument}: {}", ended.stderr);
    }
    let checked = mpirun("--check", &program, "");
    assert!(checked.stdout.contains("nor use variables of the program"), "{}", checked.stdout);
    let checked = mpirun("--check", &compiled("threads"), "");
    assert!(checked.stdout.contains("gives MPI_THREAD_FUNNELED"), "{}", checked.stdout);
}
