//! Starts programs under the recorder: finds the library that is loaded before them, and tells the
//! launcher to load it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fmt};

/// The variable that names the folder of the libraries.
pub const FOLDER: &str = "HEDDLE_RECORDER";
/// The variable by which the library in a rank learns where to write.
pub const TRACES: &str = "HEDDLE_RECORD";
/// The variable by which it learns that computation is to be told in processor time.
const COMPUTE: &str = "HEDDLE_RECORD_COMPUTE";
const PRELOAD: &str = "LD_PRELOAD";

/// A binary interface of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    /// Open MPI 4.
    OpenMpi,
    /// MPICH 3.1 and later, and what is compatible with it: Intel MPI, MVAPICH2, Cray MPICH.
    Mpich,
    /// The standard one of MPI 5, which programs compiled by our own wrappers have.
    Standard,
}

impl Mpi {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OpenMpi, Self::Mpich, Self::Standard];

    /// Its name in those of files and commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
            Self::Standard => "standard",
        }
    }

    /// The name of its recorder.
    pub fn file(self) -> String {
        format!("libheddle-record-{}.so", self.name())
    }

    /// Names of its libraries, by which an executable shows what it was built for.
    const fn needed(self) -> &'static [&'static [u8]] {
        match self {
            Self::OpenMpi => &[b"libmpi.so.40\0", b"libmpi_mpifh.so.40\0"],
            Self::Mpich => &[b"libmpich.so.12\0", b"libmpi.so.12\0", b"libmpichfort.so.12\0"],
            Self::Standard => &[b"libmpi_abi.so.1\0", b"libmpi_abi.so.0\0"],
        }
    }
}

impl fmt::Display for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
            Self::Standard => "the standard binary interface",
        })
    }
}

/// The reason why a program is not started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing to start.
    #[error("no command to record; write it behind `--`, as in `-- mpirun -n 8 ./app`")]
    NoCommand,
    /// The command does not begin with a program.
    #[error("{0}: there is no such program")]
    NoProgram(String),
    /// The command does not show its MPI library.
    #[error(
        "neither the launcher nor an executable of `{0}` shows whether this is Open MPI, MPICH or \
         the standard binary interface; say it with --mpi"
    )]
    Unknown(String),
    /// The recorder's library is nowhere.
    #[error(
        "{file} is not beside the heddle command, nor in ../lib/heddle from there, nor in the \
         folder that {FOLDER} names; `make build` builds it if the headers of {mpi} are there"
    )]
    NoLibrary {
        /// The name of the file.
        file: String,
        /// The MPI library.
        mpi: Mpi,
    },
    /// The dynamic linker separates names by spaces and colons.
    #[error("{}: LD_PRELOAD cannot name a file with a space or a colon in its path", .0.display())]
    Separator(PathBuf),
}

/// A launcher's way to set variables for the ranks alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launcher {
    /// Open MPI's: `-x NAME=VALUE`.
    OpenMpi,
    /// MPICH's, and those of its kin: `-genv NAME VALUE`.
    Hydra,
}

/// Returns the launcher that a command starts with, by what its `--version` says.
fn launcher(program: &OsStr) -> Option<Launcher> {
    let name = Path::new(program).file_name()?.to_string_lossy().into_owned();
    let names = ["mpirun", "mpiexec", "orterun", "prterun"];
    if !names.iter().any(|known| name.starts_with(known)) {
        return None;
    }
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    launcher_of(&text)
}

fn launcher_of(version: &str) -> Option<Launcher> {
    let says = |words: &[&str]| words.iter().any(|word| version.contains(word));
    if says(&["Open MPI", "OpenRTE", "open-mpi"]) {
        Some(Launcher::OpenMpi)
    } else if says(&["HYDRA", "Intel(R) MPI"]) {
        Some(Launcher::Hydra)
    } else {
        None
    }
}

/// Returns the program that a word of the command leads to: itself if it has a slash, else through
/// PATH.
fn program(word: &OsStr) -> Option<PathBuf> {
    let direct = PathBuf::from(word);
    if direct.components().count() > 1 {
        return direct.is_file().then_some(direct);
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(word)).find(|path| path.is_file())
}

/// The MPI library that a file needs, if it is an executable that needs one.
fn built_for(path: &Path) -> Option<Mpi> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).ok()?;
    file.by_ref().take(4).read_to_end(&mut bytes).ok()?;
    if bytes != b"\x7fELF" {
        return None;
    }
    file.read_to_end(&mut bytes).ok()?;
    let has = |name: &&[u8]| bytes.windows(name.len()).any(|window| window == *name);
    Mpi::ALL.into_iter().find(|mpi| mpi.needed().iter().any(has))
}

/// The MPI library of a command: its launcher's, or what the executables among its words were built
/// for.
fn detect(command: &[OsString], launcher: Option<Launcher>) -> Option<Mpi> {
    match launcher {
        Some(Launcher::OpenMpi) => Some(Mpi::OpenMpi),
        Some(Launcher::Hydra) => Some(Mpi::Mpich),
        // Our own command, as the launcher of a simulated run, holds the names of all libraries.
        None => {
            let own = env::current_exe().and_then(fs::canonicalize).ok();
            let is_own = |path: &PathBuf| fs::canonicalize(path).ok() == own;
            let programs = command.iter().filter_map(|word| program(word));
            programs.filter(|path| !is_own(path)).find_map(|path| built_for(&path))
        }
    }
}

/// Returns the MPI library of a command, by its launcher or by the executables among its words.
pub fn library_of(command: &[OsString]) -> Result<Mpi, Error> {
    let first = command.first().ok_or(Error::NoCommand)?;
    if program(first).is_none() {
        return Err(Error::NoProgram(first.to_string_lossy().into_owned()));
    }
    detect(command, launcher(first)).ok_or_else(|| unknown(command))
}

fn unknown(command: &[OsString]) -> Error {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    Error::Unknown(words.join(" "))
}

/// Finds a file that is installed with the command: in the folder that the user names, beside the
/// command, or in `../lib/heddle` from there.
pub fn installed(file: &str, named: Option<PathBuf>) -> Option<PathBuf> {
    let beside = env::current_exe().ok().and_then(|path| Some(path.parent()?.to_owned()));
    let installed = beside.as_ref().map(|folder| folder.join("../lib/heddle"));
    let folders = [named, beside, installed].into_iter().flatten();
    let found = folders.map(|folder| folder.join(file)).find(|path| path.is_file())?;
    Some(fs::canonicalize(&found).unwrap_or(found))
}

/// Finds the recorder for an MPI library, first in the folder that the user names.
fn library(mpi: Mpi, named: Option<PathBuf>) -> Result<PathBuf, Error> {
    let file = mpi.file();
    let path = installed(&file, named).ok_or(Error::NoLibrary { file, mpi })?;
    if path.to_string_lossy().contains([' ', ':']) {
        return Err(Error::Separator(path));
    }
    Ok(path)
}

/// The command that runs `command` and records it into `folder`. The library is loaded into the
/// ranks alone if the launcher is a known one, otherwise into all that it starts, where it does
/// nothing. `libraries` is the folder that the user names for the recorder's libraries;
/// `in_processor_time` is true if computation is told in the processor time that it took.
pub fn command(
    command: &[OsString],
    folder: &Path,
    mpi: Option<Mpi>,
    libraries: Option<PathBuf>,
    in_processor_time: bool,
) -> Result<Command, Error> {
    let (first, rest) = command.split_first().ok_or(Error::NoCommand)?;
    if program(first).is_none() {
        return Err(Error::NoProgram(first.to_string_lossy().into_owned()));
    }
    let launcher = launcher(first);
    let mpi = mpi.or_else(|| detect(command, launcher)).ok_or_else(|| unknown(command))?;
    let mut preload = library(mpi, libraries)?.into_os_string();
    if let Some(others) = env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let mut variables = vec![(PRELOAD, preload), (TRACES, folder.as_os_str().to_owned())];
    if in_processor_time {
        variables.push((COMPUTE, "cpu".into()));
    }
    let mut made = Command::new(first);
    match launcher {
        None => {
            made.args(rest).envs(variables);
        }
        Some(Launcher::Hydra) => {
            for (name, value) in variables {
                made.args([OsStr::new("-genv"), OsStr::new(name), &value]);
            }
            made.args(rest);
        }
        Some(Launcher::OpenMpi) => {
            // Each program of several, separated by colons, has variables of its own.
            let settings: Vec<OsString> = variables
                .iter()
                .flat_map(|(name, value)| {
                    let mut setting = OsString::from(format!("{name}="));
                    setting.push(value);
                    [OsString::from("-x"), setting]
                })
                .collect();
            made.args(&settings);
            for word in rest {
                made.arg(word);
                if word == ":" {
                    made.args(&settings);
                }
            }
        }
    }
    Ok(made)
}

/// Makes the folder if it is missing; it must hold nothing but with `force`. Gives its absolute
/// path; `None` if it holds something.
pub fn prepare(folder: &Path, force: bool) -> io::Result<Option<PathBuf>> {
    fs::create_dir_all(folder)?;
    if !force && fs::read_dir(folder)?.next().is_some() {
        return Ok(None);
    }
    fs::canonicalize(folder).map(Some)
}

/// Removes the traces in a folder.
pub fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if trace(&path) || path.extension().is_some_and(|extension| extension == "tail") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Returns whether a file is named as a trace.
fn trace(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("rank-") && name.ends_with(".hdl")
}

/// Returns the number of traces in a folder.
pub fn traces(folder: &Path) -> io::Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        count += usize::from(trace(&entry?.path()));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First lines of what the launchers say: Open MPI 4.1.4 and MPICH 4.0.2 of Debian 12, Intel
    /// MPI 2021, Slurm.
    #[test]
    fn launchers_are_told_apart() {
        assert_eq!(launcher_of("mpirun (Open MPI) 4.1.4\n"), Some(Launcher::OpenMpi));
        assert_eq!(
            launcher_of("HYDRA build details:\n    Version: 4.0.2\n"),
            Some(Launcher::Hydra)
        );
        let intel = "Intel(R) MPI Library for Linux* OS, Version 2021.9";
        assert_eq!(launcher_of(intel), Some(Launcher::Hydra));
        assert_eq!(launcher_of("slurm 23.02"), None);
    }

    #[test]
    fn an_executable_shows_its_library() {
        let folder = env::temp_dir().join(format!("heddle-built-for-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let check = |bytes: &[u8], expected| {
            let path = folder.join("program");
            fs::write(&path, bytes).expect("written");
            assert_eq!(built_for(&path), expected);
            let words = [OsString::from("srun"), path.into_os_string()];
            assert_eq!(detect(&words, None), expected);
        };
        check(b"\x7fELF..\0libc.so.6\0libmpi.so.40\0..", Some(Mpi::OpenMpi));
        check(b"\x7fELF..\0libmpich.so.12\0..", Some(Mpi::Mpich));
        check(b"\x7fELF..\0libmpi_abi.so.1\0..", Some(Mpi::Standard));
        check(b"\x7fELF..\0libmpi.so.400\0..", None);
        check(b"#!/bin/sh\0libmpi.so.40\0", None);
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused() {
        let folder = env::temp_dir().join(format!("heddle-prepare-{}", std::process::id()));
        assert!(prepare(&folder, false).expect("made").is_some());
        for name in ["rank-0.hdl", "rank-1.tail", "notes.txt"] {
            fs::write(folder.join(name), "x").expect("written");
        }
        assert_eq!(traces(&folder).expect("read"), 1);
        assert_eq!(prepare(&folder, false).expect("looked at"), None);
        assert!(prepare(&folder, true).expect("forced").is_some());
        clear(&folder).expect("emptied");
        assert_eq!(traces(&folder).expect("read"), 0);
        assert!(folder.join("notes.txt").exists());
        fs::remove_dir_all(&folder).expect("removed");
    }
}
