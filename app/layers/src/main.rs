//! Builds the libraries of MPI that programs load:
//! `heddle-mpi-libraries FOLDER [libheddle_mpi.so]`.
//!
//! Without the second argument, the library under the layers is taken from beside this program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use layers::libraries::{self, CORE};

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let result = match arguments.as_slice() {
        [folder] => build(&beside(), folder),
        [folder, core] => build(core, folder),
        _ => {
            eprintln!("usage: heddle-mpi-libraries FOLDER [{CORE}]");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("heddle-mpi-libraries: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The library under the layers, where cargo puts it.
fn beside() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    program.parent().unwrap_or(Path::new(".")).join(CORE)
}

fn build(core: &Path, folder: &Path) -> Result<(), String> {
    for path in libraries::all(core, folder).map_err(|error| error.to_string())? {
        println!("{}", path.display());
    }
    Ok(())
}
