//! Processes that programs start: what goes wrong, where they are, and what the run says of them.

use std::process::Command;

use crate::common::mpi::{compiled, mpi, mpirun};

/// A child that fails ends the program as any rank does; that it cannot be started is an error of
/// the call.
#[test]
fn children_that_go_wrong() {
    let program = compiled("spawned");
    let cases = [
        ("abort", 9, "rank 3 at", "MPI_Abort with code 9"),
        ("exit", 4, "rank 3 at", "exited with code 4 before MPI_Finalize"),
        ("crash", 139, "rank 3 at", "signal 11 (segmentation fault)"),
        ("waits", 3, "deadlock at", "2 of 4 ranks can never finish"),
        ("waits", 3, "rank 3 waits in MPI_Recv", "spawned.c:"),
        ("absent", 53, "MPI_Comm_spawn on MPI_COMM_WORLD", "no-such-program: No such file"),
    ];
    for (word, code, what, how) in cases {
        let ended = mpirun("-n 2", &program, word);
        let said = &ended.stderr;
        assert_eq!(ended.code, code, "{word}: {said}");
        assert!(said.contains(what) && said.contains(how), "{word}: {said}");
    }
    // Whichever rank hears of it first says why.
    let ended = mpirun("-n 3", &compiled("nowhere"), "");
    assert_eq!(ended.code, 53, "{}", ended.stderr);
    assert!(ended.stderr.contains("./nowhere: No such file"), "{}", ended.stderr);
    // They end by themselves, though the thread of the simulator that had them started has ended
    // before.
    let ended = mpirun("-q -n 2 --jobs 2", &program, "late");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    // Three would be one too many.
    let ended = mpirun("-q -n 2 --spawn-at-most 2", &program, "none");
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
}

/// They print as ranks of the run, which count if they lived; nothing of them is there otherwise.
#[test]
fn ranks_of_the_run() {
    let program = compiled("spawned");
    let summary = |options: &str, word: &str| {
        let ended = mpirun(&format!("--format json {options}"), &program, word);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        // With JSON on standard output, programs print to standard error.
        let summary: serde_json::Value = serde_json::from_str(&ended.stdout).expect("a summary");
        (ended.stderr.trim_end().to_owned(), summary)
    };
    let (printed, run) = summary("-n 1 --tag-output", "fine");
    let mut lines: Vec<_> = printed.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["[1,1]<stdout>:child 0 says fine", "[1,2]<stdout>:child 1 says fine"]);
    assert_eq!(run["ranks"], 3);
    let (printed, alone) = summary("-n 2", "room");
    assert_eq!((printed.as_str(), &alone["ranks"]), ("2 of 2", &serde_json::json!(2)));
    let (printed, none) = summary("-n 2 --spawn-at-most 5", "room");
    assert_eq!(printed, "2 of 7");
    let times = |run: &serde_json::Value| (run["makespan_ps"].clone(), run["events"].clone());
    assert_eq!(times(&none), times(&alone));
    // A process takes the time that is said until it runs; where that is long, nothing else is
    // waited for.
    let late = |time: &str| {
        let (_, run) = summary(&format!("-n 1 --set live.spawn-time={time}"), "fine");
        run["makespan_ps"].as_u64().expect("a time")
    };
    assert_eq!(late("3ms") - late("2ms"), 1_000_000_000);
}

/// On a machine with hosts they are on those that come next, or where the program wants them.
#[test]
fn hosts_of_children() {
    let program = compiled("spawned");
    let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines/graphene.xml");
    let placed = |host: &str, options: &str| {
        let options = format!("-q -n 2 --machine {machine} {options}");
        mpirun(&options, &program, &format!("placed {host}"))
    };
    let ended = placed("graphene-9", "");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.stdout, "child 0 is on graphene-9\nchild 1 is on graphene-3\n");
    let full = placed("graphene-9", "--host graphene-1,graphene-2");
    assert!(full.code == 53 && full.stderr.contains("on graphene-9: 0 more"), "{}", full.stderr);
}

/// In Fortran, arguments are texts with blanks behind them, in an array up to a blank one; of
/// several programs, in its rows.
#[test]
fn from_fortran() {
    let program = mpi().join("live-spawned-fortran");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/live/spawned.f90");
    let mut compiler = Command::new(mpi().join("bin/mpifort"));
    let status = compiler.arg("-o").arg(&program).arg(source).status();
    if Command::new("gfortran").arg("--version").output().is_err() {
        return eprintln!("skipped: gfortran is missing");
    }
    assert!(status.is_ok_and(|status| status.success()), "it compiles");
    let ended = mpirun("-q -n 1", &program, "");
    let mut lines: Vec<&str> = ended.stdout.lines().collect();
    lines.sort_unstable();
    let expected = ["0 none.", "0 none.", "01 a.", "01 one two.", "02 -x.", "02 b."];
    let others = ["1 none.", "11 c.", "2 none.", "21 c."];
    assert_eq!((ended.code, lines), (0, [&expected[..], &others].concat()), "{}", ended.stderr);
}

/// One process can hold no others.
#[test]
fn not_in_one_process() {
    let program = compiled("spawned");
    let ended = mpirun("-q -n 2 --in-process", &program, "fine");
    assert_eq!(ended.code, 53);
    assert!(ended.stderr.contains("only ranks that are processes"), "{}", ended.stderr);
    let checked = mpirun("--check --in-process", &program, "");
    assert!(checked.stdout.contains("MPI_Comm_spawn"), "{}", checked.stdout);
}
