//! Helpers that the tests share: the compilers of installed MPI libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use layers::interface::Interface;

/// The compiler wrapper of an interface's library, if that is installed; otherwise a message says
/// what is not tested.
pub fn wrapper(interface: Interface) -> Option<&'static str> {
    let name = match interface {
        Interface::Standard => return None,
        Interface::Mpich => "mpicc.mpich",
        Interface::OpenMpi => "mpicc.openmpi",
    };
    let there =
        Command::new(name).arg("-show").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("skipped: no {name} (Debian: libmpich-dev, libopenmpi-dev)");
    }
    there.then_some(name)
}

/// Runs a command that must succeed; gives what it printed.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Writes a C file into a folder and compiles it with what the command says.
#[allow(dead_code)]
pub fn compile(command: &str, folder: &Path, name: &str, text: &str, flags: &[&str]) -> PathBuf {
    let (source, made) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&source, text).unwrap();
    run(Command::new(command).arg(&source).arg("-o").arg(&made).args(flags));
    made
}
