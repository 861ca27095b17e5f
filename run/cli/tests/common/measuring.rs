//! `heddle measure`, with the programs that it starts.

use std::{path::Path, process::Command, sync::OnceLock};

use measure::programs::{self, Outcome, Program};
use recorder::launch::Mpi;

use super::{Ended, Folder, mpi};

/// The folder with the programs that measure.
pub fn programs() -> &'static Path {
    static BUILT: OnceLock<&'static Path> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = mpi::mpi().parent().expect("a folder");
        for program in Program::ALL {
            match programs::build(program, folder) {
                Outcome::Built(_) => {}
                Outcome::Missing(whence) if program != Program::Mpi(Mpi::Standard) => {
                    eprintln!("{program} is not measured here: {whence}");
                }
                other => panic!("{program}: {other:?}"),
            }
        }
        folder
    })
}

/// Runs `heddle measure` in a folder.
pub fn measure(folder: &Folder, arguments: &str) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_heddle"))
        .arg("measure")
        .args(arguments.split_whitespace())
        .current_dir(folder.path(""))
        .env(programs::FOLDER, programs())
        .env("HEDDLE_MPI", mpi::mpi().join("lib"))
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .output()
        .expect("heddle runs");
    Ended {
        code: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}
