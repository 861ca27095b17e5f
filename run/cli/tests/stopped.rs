//! Signals that end a command: nothing half-written stays behind.
#![cfg(unix)]

mod common;

use std::{
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::Folder;

/// Starts heddle, waits until `started`, sends it a signal, and returns its exit code.
fn stop(folder: &Folder, arguments: &str, signal: &str, started: impl Fn() -> bool) -> Option<i32> {
    // Whoever runs this test may ignore the end of a terminal, or have one.
    let mut child = Command::new("setsid")
        .args(["env", "--default-signal=HUP", env!("CARGO_BIN_EXE_heddle")])
        .args(arguments.split_whitespace())
        .current_dir(folder.path("."))
        .env("HEDDLE_MPI", concat!(env!("CARGO_TARGET_TMPDIR"), "/live/mpi/lib"))
        .env(recorder::launch::FOLDER, folder.path("."))
        .stdout(Stdio::null())
        .spawn()
        .expect("heddle starts");
    let patience = Instant::now() + Duration::from_secs(60);
    while !started() {
        assert!(Instant::now() < patience, "heddle makes no file");
        assert!(running(&mut child), "heddle ended too early");
        thread::sleep(Duration::from_millis(1));
    }
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    let patience = Instant::now() + Duration::from_secs(30);
    while running(&mut child) && Instant::now() < patience {
        thread::sleep(Duration::from_millis(1));
    }
    // One that has not ended has no exit code.
    let _ = child.kill();
    child.wait().expect("heddle ends").code()
}

fn running(child: &mut Child) -> bool {
    child.try_wait().expect("a child").is_none()
}

/// Takes minutes: 134 million operations, several gigabytes of text.
const LONG: &str = "linear-alltoall --ranks 8192";

#[test]
fn a_file_that_is_being_written() {
    let folder = Folder::new("stop-gen");
    folder.write("old.goal", "num_ranks 1\n");
    let started = || folder.names(".").len() > 1;
    for (signal, code) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        let ended = stop(&folder, &format!("gen {LONG} -o old.goal"), signal, started);
        assert_eq!(ended, Some(code));
        assert_eq!(folder.names("."), ["old.goal"]);
        assert_eq!(folder.read("old.goal"), b"num_ranks 1\n");
    }
}

#[test]
fn a_conversion() {
    let folder = Folder::new("stop-convert");
    assert_eq!(folder.heddle("gen linear-alltoall --ranks 2048 -o in.bin").code, 0);
    let started = || folder.names(".").len() > 1;
    assert_eq!(stop(&folder, "convert in.bin out.goal", "INT", started), Some(130));
    assert_eq!(folder.names("."), ["in.bin"]);
    std::fs::remove_file(folder.path("in.bin")).expect("330 MB less");
}

/// The folder and the one above it go, as the run made both.
#[test]
fn a_run_into_a_new_folder() {
    let folder = Folder::new("stop-run");
    let started = || folder.path("a/out").exists();
    assert_eq!(stop(&folder, &format!("run pattern:{LONG} -o a/out"), "INT", started), Some(130));
    assert!(folder.names(".").is_empty());
}

/// A recorder that is killed cannot pass anything on: the system tells the launcher to end, which
/// then ends its ranks.
#[test]
fn a_killed_recorder_takes_its_launcher_with_it() {
    let folder = Folder::new("stop-record-killed");
    folder.write("libheddle-record-mpich.so", "");
    folder.write(
        "launcher",
        "trap 'echo > ended; exit' TERM\necho > started\nwhile :; do sleep 0.05; done\n",
    );
    let line = "record --force -o traces --mpi mpich -- sh launcher";
    let started = folder.path("started");
    assert_eq!(stop(&folder, line, "KILL", || started.exists()), None);
    let patience = Instant::now() + Duration::from_secs(30);
    while !folder.path("ended").exists() {
        assert!(Instant::now() < patience, "the launcher goes on");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A signal that comes for the recorder alone ends what it records; Ctrl-C comes for both.
#[test]
fn a_recorded_program() {
    let folder = Folder::new("stop-record");
    folder.write("libheddle-record-mpich.so", "");
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let line = "record --force -o traces --mpi mpich -- sleep 60";
        // It is there before the program is, and a signal before that ends the recorder itself.
        let ended = stop(&folder, line, signal, || sleeps(&folder));
        assert_eq!(ended, Some(code), "{signal}");
    }
}

/// True if a program of this name runs that has the folder as its own.
fn sleeps(folder: &Folder) -> bool {
    let own = folder.path(".").canonicalize().expect("a folder");
    let mut processes = std::fs::read_dir("/proc").expect("processes").flatten();
    processes.any(|process| {
        let is = |name: &str| std::fs::read_to_string(process.path().join(name));
        std::fs::read_link(process.path().join("cwd")).is_ok_and(|folder| folder == own)
            && is("comm").is_ok_and(|name| name.trim() == "sleep")
    })
}

/// A program that catches, ignores or blocks the signals does not keep a run from its end, however
/// its ranks are held. What it was to write is not there.
#[test]
fn a_program_that_catches_signals() {
    let folder = Folder::new("stop-program");
    let program = common::mpi::compiled("own_signals");
    for how in ["", "--in-process"] {
        for (kind, signal, code) in [
            ("caught", "INT", 130),
            ("caught", "TERM", 143),
            ("ignored", "HUP", 129),
            ("ignored", "INT", 130),
            ("blocked", "TERM", 143),
        ] {
            for output in ["", "-o out"] {
                let line = format!("mpirun -q -n 2 {how} {output} {} {kind}", program.display());
                let ended = stop(&folder, &line, signal, || folder.path(kind).exists());
                assert_eq!(ended, Some(code), "{line} {signal}");
                assert_eq!(folder.names("."), [kind], "{line} {signal}");
                std::fs::remove_file(folder.path(kind)).expect("the program's own");
            }
        }
        let ended = common::mpi::mpirun(&format!("-q -n 2 {how}"), &program, "raised");
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{how}");
        let ended = common::mpi::mpirun(&format!("-q -n 2 {how}"), &program, "ended");
        assert_eq!(ended.code, 143, "{how}: {}", ended.stderr);
    }
}
