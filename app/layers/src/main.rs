//! Builds the libraries of MPI that programs load: `heddle-mpi-libraries FOLDER [libheddle_mpi.so]`.
//!
//! Without the second argument, the library under the layers is taken from beside this program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use layers::libraries::{self, CORE};

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: heddle-mpi-libraries FOLDER [{CORE}]");
        return ExitCode::from(2);
    };
    let beside = || env::current_exe().ok()?.parent().map(|folder| folder.join(CORE));
    let core = arguments.next().or_else(beside).unwrap_or_else(|| Path::new(CORE).to_owned());
    match libraries::all(&core, &folder) {
        Ok(made) => {
            for path in made {
                println!("{}", path.display());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("heddle-mpi-libraries: {error}");
            ExitCode::FAILURE
        }
    }
}
