//! Builds the recorder's libraries: `heddle-record-libraries FOLDER`.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use recorder::launch::Mpi;
use recorder::libraries::{self, Outcome};

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1) else {
        eprintln!("usage: heddle-record-libraries FOLDER");
        return ExitCode::from(2);
    };
    let mut failed = false;
    for (mpi, outcome) in libraries::all(&Mpi::ALL, Path::new(&folder)) {
        match outcome {
            Outcome::Built(made) => println!("{}", made.display()),
            Outcome::Missing(whence) => {
                println!("no headers of {mpi}, so that its programs cannot be recorded; {whence}");
            }
            Outcome::Failed(error) => {
                eprintln!("{mpi}: {error}");
                failed = true;
            }
        }
    }
    for (mpi, outcome) in libraries::processes(Path::new(&folder)) {
        match outcome {
            Outcome::Built(made) => println!("{}", made.display()),
            Outcome::Missing(whence) => {
                println!("no headers of {mpi}, so that its launcher cannot spread a run; {whence}");
            }
            Outcome::Failed(error) => {
                eprintln!("{mpi}: {error}");
                failed = true;
            }
        }
    }
    ExitCode::from(u8::from(failed))
}
