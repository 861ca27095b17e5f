//! Ranks that share a process.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::mpi::{compiled, ended, mpi, mpirun, mpirun_as_it_computes};
use crate::common::{Ended, Folder};

/// Runs the folder of a run again.
fn again(folder: &Path, more: &str) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["run", "-q"]).arg(folder).args(more.split_whitespace());
    ended(&command.env("HEDDLE_MPI", mpi().join("lib")).output().expect("heddle runs"))
}

/// A manifest says that ranks share a process, and they do so again: of a thread that a rank leaves
/// behind, there is a warning only there.
#[test]
fn a_manifest_says_how_ranks_are_held() {
    let (program, folder) = (compiled("own_threads"), Folder::new("held"));
    let output = folder.path("run");
    let first = mpirun(&format!("-q -n 3 --in-process -o {}", output.display()), &program, "late");
    assert_eq!(first.code, 0, "{}", first.stderr);
    for (more, is_warned) in [("", true), ("--set live.in-process=false", false)] {
        let ran = again(&output, more);
        let said = ran.stderr.contains("goes on while other ranks run");
        assert_eq!((ran.code, said), (0, is_warned), "{more}: {}", ran.stderr);
    }
    let threads = again(&output, "--threads 2").stderr;
    assert!(threads.contains("live.in-process = true runs on one thread"), "{threads}");
}

/// A manifest runs its program again, or says that it has changed; and the exit code is the
/// program's.
#[test]
fn a_manifest_runs_its_program() {
    let (program, folder) = (compiled("launched"), Folder::new("ends"));
    let copy = folder.path("program");
    std::fs::copy(&program, &copy).expect("a copy");
    for how in ["", "--in-process"] {
        let output = folder.path(&format!("run{how}"));
        let first = mpirun(&format!("-q -n 2 {how} -o {}", output.display()), &copy, "code");
        assert_eq!((first.code, again(&output, "").code), (5, 5), "{how}: {}", first.stderr);
    }
    let mut bytes = std::fs::read(&program).expect("a program");
    bytes.push(0);
    std::fs::write(&copy, bytes).expect("written");
    let refused = again(&folder.path("run"), "");
    assert!(refused.stderr.contains("program has changed since"), "{}", refused.stderr);
    assert_eq!((refused.code, again(&folder.path("run"), "--force").code), (1, 5));
}

/// Each rank has a stack of its own, and finds it. Beyond the top of that of rank 1 is what guards
/// the next.
#[test]
fn stacks_of_ranks() {
    let program = compiled("own_stack");
    for how in ["", "--in-process"] {
        let ended = mpirun(&format!("-q -n 3 {how}"), &program, "");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{how}: {}", ended.stderr);
    }
    if Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        let ended = mpirun("-q -n 3 --in-process", &program, "small");
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
    }
    for (argument, is_full) in [("deep", true), ("above", false)] {
        let ended = mpirun("-q -n 3 --in-process", &program, argument);
        let said = "rank 1 at 12.500000 us: it was ended by a signal (segmentation fault";
        assert!(ended.stderr.contains(said), "{argument}: {}", ended.stderr);
        let full = ended.stderr.contains("its stack is full");
        assert_eq!(full, is_full, "{argument}: {}", ended.stderr);
    }
}

/// The system loads no library before a program that runs as somebody else, which would be alone
/// without a word.
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

/// A thread of a rank's own that goes on while others run is said once, as it would see their
/// variables; one that has ended is not.
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
    assert!(checked.stdout.contains("threads of its own"), "{}", checked.stdout);
}

/// Runs a program both ways, with some numbers of ranks: it says nothing.
fn says_nothing(program: &Path, argument: &str, ranks: &[u32], options: &str) {
    for how in ["", "--in-process"] {
        for ranks in ranks {
            let ended = mpirun(&format!("-q -n {ranks} {how} {options}"), program, argument);
            let said = (ended.code, ended.stdout.as_str(), ended.stderr.as_str());
            assert_eq!(said, (0, "", ""), "{argument}, {ranks} ranks {how} {options}");
        }
    }
}

/// Threads of ranks that share a process call MPI, whether all at once or in turn, and see their
/// rank's variables, whatever they wait for meanwhile.
#[test]
fn threads_that_call() {
    let program = compiled("threads_of_ranks");
    for argument in ["multiple", "serialized", "leaves"] {
        says_nothing(&program, argument, &[1, 2, 4], "");
    }
    says_nothing(&program, "flags", &[2], "");
    says_nothing(&program, "flags", &[2], "--host-clock simulated");
    says_nothing(&program, "works", &[2], "");
    let ended = mpirun_as_it_computes("-q -n 3 --in-process", &program, "multiple");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

/// A rank that asks for threads that call MPI, but whose program starts none, shares its thread.
#[test]
fn threads_that_are_asked_for_and_not_started() {
    says_nothing(&compiled("levels"), "", &[16], "");
}

/// The code with which a thread ends its rank is the rank's.
#[test]
fn threads_that_end_their_rank() {
    let program = compiled("threads_of_ranks");
    for how in ["", "--in-process"] {
        let ended = mpirun(&format!("-q -n 3 {how}"), &program, "exits");
        assert_eq!((ended.code, ended.stdout.as_str()), (3, ""), "{how}: {}", ended.stderr);
        assert!(ended.stderr.contains("rank 1 exited with code 3"), "{how}: {}", ended.stderr);
    }
}

/// Teams of OpenMP, and threads of C++, call MPI.
#[test]
fn threads_of_languages_that_call() {
    let folder = Folder::new("threads-of-languages");
    for (compiler, option, name) in
        [("mpicc", "-fopenmp", "threads_of_openmp.c"), ("mpicxx", "-pthread", "threads_of_cpp.cpp")]
    {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live").join(name);
        let program = folder.path(name);
        let mut compiler = Command::new(mpi().join("bin").join(compiler));
        compiler.args(["-g", "-O1", option, "-o"]).arg(&program).arg(source).arg("-lm");
        assert!(compiler.status().expect("a compiler").success(), "{name}");
        says_nothing(&program, "", &[1, 2, 4], "");
    }
}

/// A rank that closes all descriptors takes none of the simulator's away: its tables are written,
/// and a signal ends it.
#[test]
fn descriptors_that_a_rank_closes() {
    let (program, folder) = (compiled("closes"), Folder::new("closes"));
    for how in ["", "--in-process"] {
        let output = folder.path(&format!("run{how}"));
        let ended = mpirun(&format!("-q -n 2 {how} -o {}", output.display()), &program, "ends");
        let said = (ended.code, ended.stdout.as_str(), ended.stderr.as_str());
        assert_eq!(said, (0, "", ""), "{how}");
        assert!(output.join("summary.json").is_file(), "{how}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["mpirun", "-q", "-n", "2", "--in-process", "--compute-time", "off"]);
    command.arg(&program).arg("goes-on").env("HEDDLE_MPI", mpi().join("lib"));
    let mut child = command.spawn().expect("heddle starts");
    std::thread::sleep(std::time::Duration::from_secs(3));
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
    for _ in 0..300 {
        if let Some(status) = child.try_wait().expect("a child") {
            assert_eq!(status.code(), Some(128 + 15), "{status}");
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let _ = child.kill();
    panic!("SIGTERM has no effect");
}

/// A process that a rank forks ends by itself: by `exit` with what the rank has registered, and by
/// the end of `main` likewise.
#[test]
fn children_of_ranks() {
    let program = compiled("closes");
    for how in ["", "--in-process"] {
        let ended = mpirun(&format!("-q -n 1 {how}"), &program, "forks");
        let said = (ended.code, ended.stdout.as_str(), ended.stderr.as_str());
        // Two children, and the rank.
        assert_eq!(said, (0, "at the end\nat the end\nat the end\n", ""), "{how}");
    }
}
