//! Builds the programs that measure: `heddle-measure-programs FOLDER`.

use std::{env, path::Path, process::ExitCode};

use measure::programs::{self, Outcome, Program};

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1) else {
        eprintln!("usage: heddle-measure-programs FOLDER");
        return ExitCode::from(2);
    };
    let mut failed = false;
    for program in Program::ALL {
        match programs::build(program, Path::new(&folder)) {
            Outcome::Built(made) => println!("{}", made.display()),
            Outcome::Missing(whence) => {
                println!("no headers of {program}, so that it cannot be measured; {whence}");
            }
            Outcome::Failed(error) => {
                eprintln!("{program}: {error}");
                failed = true;
            }
        }
    }
    ExitCode::from(u8::from(failed))
}
