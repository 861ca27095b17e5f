//! Programs that use MPI: compiled with our own `mpicc`, and run over a simulated network.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::Ended;

/// The folder with our libraries of MPI and the compiler wrappers: made once, from the libraries
/// that cargo builds beside this test.
pub fn mpi() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = std::env::current_exe().expect("this test");
        let core = test.with_file_name(layers::libraries::CORE);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live");
        layers::libraries::all(&core, &folder).expect("the layers are built");
        folder.join("mpi")
    })
}

/// Compiles a program of the folder `live`, or one named from there, once.
pub fn compiled(name: &str) -> PathBuf {
    static COMPILED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut known = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let own = Path::new(name).file_name().expect("a file").to_string_lossy();
    let made = mpi().join(format!("{}-{own}", env!("CARGO_CRATE_NAME")));
    if known.iter().any(|known| known == name) {
        return made;
    }
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live").join(name).with_extension("c");
    let mut compiler = Command::new(mpi().join("bin/mpicc"));
    let status = compiler
        .args(["-g", "-O1", "-Wall", "-Werror", "-pthread", "-o"])
        .arg(&made)
        .arg(source)
        .arg("-lm")
        .status();
    assert!(status.expect("mpicc runs").success(), "{name} compiles");
    known.push(name.to_owned());
    made
}

/// The outcome of a command.
pub fn ended(output: &Output) -> Ended {
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs a program with these options and arguments, without computation.
pub fn mpirun(options: &str, program: &Path, arguments: &str) -> Ended {
    mpirun_as_it_computes(&format!("--compute-time off {options}"), program, arguments)
}

/// Runs a program with these options and arguments.
pub fn mpirun_as_it_computes(options: &str, program: &Path, arguments: &str) -> Ended {
    let mut command = command(options);
    command.arg(program).args(arguments.split_whitespace());
    ended(&command.output().expect("heddle runs"))
}

/// The command that runs a program with these options, which is yet to be added.
pub fn command(options: &str) -> Command {
    // A program that does not end is a failure, not a wait.
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "100", env!("CARGO_BIN_EXE_heddle")]);
    command.arg("mpirun").args(options.split_whitespace());
    command.env("HEDDLE_MPI", mpi().join("lib"));
    command
}
