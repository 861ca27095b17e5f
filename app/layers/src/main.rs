//! Builds the libraries of MPI that programs load:
//! `heddle-mpi-libraries FOLDER [libheddle_mpi.so] [--for-c]`.
//!
//! Without the second argument, the library under the layers is taken from beside this program.
//! With `--for-c`, there are only those that programs in C need which `mpicc` of the same folder
//! compiles.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use layers::libraries::{self, CORE};

fn main() -> ExitCode {
    let mut arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let for_c = arguments.pop_if(|last| last.as_os_str() == "--for-c").is_some();
    let build = if for_c { libraries::for_c } else { libraries::all };
    let result = match arguments.as_slice() {
        [folder] => build(&beside(), folder),
        [folder, core] => build(core, folder),
        _ => {
            eprintln!("usage: heddle-mpi-libraries FOLDER [{CORE}] [--for-c]");
            return ExitCode::from(2);
        }
    };
    match result {
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

/// The library under the layers, where cargo puts it.
fn beside() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    program.parent().unwrap_or(Path::new(".")).join(CORE)
}
