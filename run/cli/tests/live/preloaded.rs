//! Libraries and variables that are said for programs, beside those that our library wants.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Folder;
use crate::common::mpi::{compiled, mpi, mpirun};

const WAYS: [&str; 4] = ["", "--in-process", "--host-clock simulated", "--fold 1MB --in-process"];

/// A library of that source.
fn library(folder: &Folder, name: &str) -> PathBuf {
    let library = folder.path(&format!("lib{name}.so"));
    let mut makes = Command::new("cc");
    makes.args(["-shared", "-fPIC", "-fno-builtin", "-O1", "-o"]).arg(&library);
    makes.arg(source(&format!("{name}.c")));
    assert!(makes.status().expect("a compiler").success());
    library
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live").join(name)
}

/// A program of that source, linked with these libraries.
fn program(folder: &Folder, name: &str, libraries: &[&Path]) -> PathBuf {
    let program = folder.path(name);
    let mut makes = Command::new(mpi().join("bin/mpicc"));
    makes.args(["-Wl,--no-as-needed", "-o"]).arg(&program);
    makes.arg(source(&format!("{name}.c"))).args(libraries);
    assert!(makes.status().expect("a compiler").success());
    program
}

/// Three ranks say that.
fn says(options: &str, program: &Path, line: &str) {
    for how in WAYS {
        let ended = mpirun(&format!("-q -n 3 {how} {options}"), program, "");
        let said = (ended.code, ended.stdout.as_str());
        assert_eq!(said, (0, line.repeat(3).as_str()), "{how} {options}: {}", ended.stderr);
    }
}

/// A library that is loaded before a program is there beside our own libraries.
#[test]
fn libraries_before_the_program() {
    let folder = Folder::new("preloaded");
    let (library, program) =
        (library(&folder, "preloaded"), program(&folder, "uses_preloaded", &[]));
    says("", &program, "passive 0 3\n");
    says(&format!("-x LD_PRELOAD={}", library.display()), &program, "passive 1 3\n");
}

/// A tool that is loaded before the program has its variables for each rank.
#[test]
fn tools_before_the_program() {
    let folder = Folder::new("counts");
    let (library, program) = (folder.path("libcounts.so"), program(&folder, "barrier", &[]));
    let mut makes = Command::new(mpi().join("bin/mpicc"));
    makes.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source("counts.c"));
    assert!(makes.status().expect("a compiler").success());
    says(&format!("-x LD_PRELOAD={}", library.display()), &program, "barriers 1\n");
}

/// A library that the program loads itself is named where ranks share its variables.
#[test]
fn libraries_that_are_opened() {
    let folder = Folder::new("opened");
    let library = library(&folder, "library").display().to_string();
    let program = program(&folder, "opens", &[]);
    for (how, shared) in [("", false), ("--in-process", true)] {
        let ended = mpirun(&format!("-q -n 2 {how}"), &program, &library);
        assert_eq!((ended.code, ended.stderr.contains(&library)), (0, shared), "{}", ended.stderr);
    }
}

/// There is room for the thread-local variables of a program's libraries.
#[test]
fn thread_local_variables_at_fixed_places() {
    let folder = Folder::new("thread-locals");
    let library = library(&folder, "preloaded");
    says("", &program(&folder, "uses_preloaded", &[&library]), "passive 1 3\n");
}

/// A variable that is said for the program is not changed.
#[test]
fn variables_that_are_said() {
    let folder = Folder::new("said-variables");
    let program = program(&folder, "uses_preloaded", &[]);
    says("-x OMP_WAIT_POLICY=active", &program, "active 0 3\n");
    says("-x GOMP_SPINCOUNT=5", &program, "none 0 3\n");
}

/// A program may have an allocator of its own, which may look at clocks that are simulated, within
/// calls of MPI too.
#[test]
fn allocators_of_programs() {
    let folder = Folder::new("allocator");
    let library = library(&folder, "allocator");
    says("", &program(&folder, "allocates", &[&library]), "");
}

/// A handler of signals may look at clocks that are simulated, whatever it interrupts.
#[test]
fn clocks_in_handlers_of_signals() {
    let program = compiled("interrupted_calls");
    let ended = mpirun("-q -n 2 --host-clock simulated", &program, "");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
}
