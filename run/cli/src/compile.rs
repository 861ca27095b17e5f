//! `heddle cc`, `heddle c++`, `heddle fort`: the compiler wrappers beside the libraries of MPI.

use std::{convert::Infallible, ffi::OsString, os::unix::process::CommandExt as _, process};

use crate::exit::{Ending, Exit};

/// The names of the commands, and of the wrappers.
const WRAPPERS: [(&str, &str); 3] = [("cc", "mpicc"), ("c++", "mpicxx"), ("fort", "mpifort")];

/// Becomes the compiler that a command line asks for, if it does; all that follows is the
/// compiler's own.
pub fn asked(line: &[OsString]) -> Option<Result<Infallible, Ending>> {
    let [_, command, rest @ ..] = line else { return None };
    let (_, wrapper) = WRAPPERS.iter().find(|(name, _)| command == name)?;
    Some(become_wrapper(wrapper, rest))
}

fn become_wrapper(name: &str, arguments: &[OsString]) -> Result<Infallible, Ending> {
    let folder = experiment::libraries().map_err(Ending::from)?;
    let path = folder.with_file_name("bin").join(name);
    let error = process::Command::new(&path).args(arguments).exec();
    let message = format!("error: {}: {}", path.display(), experiment::reason(&error));
    Err(Ending::new(Exit::Input, message))
}
