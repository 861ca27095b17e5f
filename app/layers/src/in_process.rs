//! Finds out, as far as the files of a program tell, if its ranks can be held in one process.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::{env, fmt};

use crate::check::Error;
use crate::elf::{Elf, read};

/// Names of executables that run programs in a language of their own, up to a version
/// (`python3.11`).
const INTERPRETERS: &[&str] = &[
    "ash",
    "bash",
    "dash",
    "env",
    "guile",
    "java",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "node",
    "octave",
    "octave-cli",
    "perl",
    "php",
    "pypy",
    "python",
    "R",
    "Rscript",
    "ruby",
    "sh",
    "tclsh",
    "zsh",
];

/// Functions after which a process is two, or another.
const FORKS: &[&str] = &[
    "fork", "vfork", "daemon", "execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe",
    "fexecve",
];

/// Functions that start threads: of POSIX, C11, C++.
const THREADS: &[&str] = &[
    "pthread_create",
    "thrd_create",
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
];

/// Functions that let threads of OpenMP work until they return.
const REGIONS: &[&str] = &["GOMP_parallel", "__kmpc_fork_call"];

/// Functions that ask how threads may call MPI, in C and in Fortran.
const LEVELS: &[&str] = &["MPI_Init_thread", "mpi_init_thread_", "mpi_init_thread_f08_"];

/// Functions that start processes, in C and in Fortran.
const STARTS: &[&str] = &[
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
    "mpi_comm_spawn_",
    "mpi_comm_spawn_multiple_",
    "mpi_comm_spawn_f08_",
    "mpi_comm_spawn_multiple_f08_",
];

/// An obstacle to holding ranks in one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// An interpreter keeps the state of its one program in libraries.
    Interpreter,
    /// The library that holds the ranks cannot be put before one that is linked statically.
    Static,
    /// It runs with the rights of another user or group, and the system loads no library before
    /// such a program.
    Rights,
    /// The address sanitizer guards what is between variables, of which ranks have copies.
    Sanitizer,
    /// It can fork, or become another program: all ranks would.
    Forks {
        /// The file.
        file: PathBuf,
        /// The function that shows it.
        function: String,
    },
    /// It can start threads, which must not call MPI unless that is asked for, and see then the
    /// variables of the rank that runs.
    Threads {
        /// The file.
        file: PathBuf,
        /// The function that shows it.
        function: String,
    },
    /// It has parallel regions of OpenMP, in which only the first thread of a team may call MPI
    /// unless more is asked for.
    Regions {
        /// The file.
        file: PathBuf,
        /// The function that shows it.
        function: String,
    },
    /// It can ask for `MPI_THREAD_MULTIPLE`, for which ranks are moved to threads of their own.
    Levels {
        /// The file.
        file: PathBuf,
        /// The function that shows it.
        function: String,
    },
    /// It can start processes, which only processes can.
    Starts {
        /// The file.
        file: PathBuf,
        /// The function that shows it.
        function: String,
    },
}

impl Obstacle {
    /// True if the program cannot work at all in one process; the other obstacles only show that it
    /// may not.
    pub fn is_certain(&self) -> bool {
        matches!(self, Self::Interpreter | Self::Static | Self::Rights | Self::Sanitizer)
    }

    /// True if the run tells of it when it happens: MPI by its answer, the holder of the ranks with
    /// a warning or an error.
    pub fn is_noticed(&self) -> bool {
        matches!(self, Self::Levels { .. } | Self::Threads { .. } | Self::Regions { .. })
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interpreter => {
                f.write_str("it is an interpreter, which keeps what it runs in its libraries")
            }
            Self::Static => f.write_str("it is linked statically"),
            Self::Rights => f.write_str(
                "it runs with the rights of another user or group (setuid, setgid), for which the \
                 system loads no library before it",
            ),
            Self::Sanitizer => f.write_str(
                "it is compiled with -fsanitize=address, which guards what lies between variables",
            ),
            Self::Forks { file, function } => {
                write!(f, "must not call {function}, which {} imports", file.display())
            }
            Self::Threads { file, function } => write!(
                f,
                "threads of a rank that does not ask for MPI_THREAD_SERIALIZED or \
                 MPI_THREAD_MULTIPLE must not call MPI, nor use variables of the program while \
                 another rank runs, whose they are then: {} imports {function}",
                file.display()
            ),
            Self::Regions { file, function } => write!(
                f,
                "only the first thread of a team may call MPI, where a rank does not ask for \
                 MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE: {} imports {function}",
                file.display()
            ),
            Self::Levels { file, function } => write!(
                f,
                "{function}, which {} imports, moves a rank that asks for MPI_THREAD_SERIALIZED or \
                 MPI_THREAD_MULTIPLE to threads of its own, which take longer to change",
                file.display()
            ),
            Self::Starts { file, function } => {
                write!(f, "{function}, which {} imports, fails", file.display())
            }
        }
    }
}

/// The interpreter of a script, from its first line; `None` if it is none.
pub fn script(path: &Path) -> Option<PathBuf> {
    let mut start = [0; 256];
    let length = File::open(path).ok()?.read(&mut start).ok()?;
    let text = String::from_utf8_lossy(start.get(..length)?).into_owned();
    let mut words = text.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let interpreter = Path::new(words.next()?);
    if interpreter.file_name()? != "env" {
        return Some(interpreter.to_owned());
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    Some(found(Path::new(name)))
}

/// The file that a program's name means: it is looked for on `PATH` if it has no folder.
pub fn found(program: &Path) -> PathBuf {
    if program.components().count() != 1 || program.is_absolute() || program.starts_with(".") {
        return program.to_owned();
    }
    let paths = env::var_os("PATH").unwrap_or_default();
    let mut candidates = env::split_paths(&paths).map(|folder| folder.join(program));
    candidates.find(|path| path.is_file()).unwrap_or_else(|| program.to_owned())
}

fn is_interpreter(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    INTERPRETERS.contains(&plain)
}

/// True if whoever runs a program, runs it as another user or group.
#[cfg(unix)]
fn changes_rights(program: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(of), Ok(own)) = (program.metadata(), Path::new("/proc/self").metadata()) else {
        return false;
    };
    let is_set = |bit: u32| of.mode() & bit != 0;
    (is_set(0o4000) && of.uid() != own.uid()) || (is_set(0o2000) && of.gid() != own.gid())
}

#[cfg(not(unix))]
fn changes_rights(_: &Path) -> bool {
    false
}

/// The obstacles in the executable and the libraries that use MPI, of which the executable comes
/// first.
pub(crate) fn obstacles(users: &[(PathBuf, Elf)]) -> Vec<Obstacle> {
    let mut found = Vec::new();
    for (place, (file, elf)) in users.iter().enumerate() {
        if place == 0 && elf.needed.is_empty() && !elf.is_started_by_linker {
            found.push(Obstacle::Static);
        } else if place == 0 && is_interpreter(file) {
            found.push(Obstacle::Interpreter);
            return found;
        }
        if place == 0 && changes_rights(file) {
            found.push(Obstacle::Rights);
        }
        // The library for that is linked to the executable, or part of it.
        if elf.imports.iter().chain(&elf.exports).any(|name| name == "__asan_init") {
            found.push(Obstacle::Sanitizer);
        }
        let imported = |names: &[&str]| {
            elf.imports.iter().find(|name| names.contains(&name.as_str())).cloned()
        };
        if let Some(function) = imported(FORKS) {
            found.push(Obstacle::Forks { file: file.clone(), function });
        }
        if let Some(function) = imported(THREADS) {
            found.push(Obstacle::Threads { file: file.clone(), function });
        }
        if let Some(function) = imported(REGIONS) {
            found.push(Obstacle::Regions { file: file.clone(), function });
        }
        if let Some(function) = imported(LEVELS) {
            found.push(Obstacle::Levels { file: file.clone(), function });
        }
        if let Some(function) = imported(STARTS) {
            found.push(Obstacle::Starts { file: file.clone(), function });
        }
    }
    found
}

/// The obstacles to holding the ranks of a program in one process that its executable shows; its
/// libraries are not looked at.
pub fn of_executable(program: &Path) -> Result<Vec<Obstacle>, Error> {
    match script(program) {
        Some(_) => Ok(vec![Obstacle::Interpreter]),
        None => Ok(obstacles(&[(program.to_owned(), read(program)?)])),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_interpreter;

    #[test]
    fn interpreters_by_their_names() {
        for name in ["python3", "/usr/bin/python3.11", "bash", "/opt/R", "julia-1.10"] {
            assert!(is_interpreter(Path::new(name)), "{name}");
        }
        for name in ["./pythonic", "ring", "a.out", "shallow"] {
            assert!(!is_interpreter(Path::new(name)), "{name}");
        }
    }
}
