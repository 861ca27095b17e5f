//! Builds the recorder's libraries, one per MPI library whose headers are there, and those over
//! which several processes are one simulation.
//!
//! `OPENMPI_CC` and `MPICH_CC` name the compiler wrappers (otherwise `mpicc.openmpi` and
//! `mpicc.mpich`, as on Debian, or `mpicc`, whichever it belongs to), `CC` the compiler. The
//! headers of the standard binary interface are those of our own library, which is built before.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use transport_mpi::Library as Processes;

use crate::{launch::Mpi, prototypes, wrappers};

/// The part of the recorder that is written by hand.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c");
const PARTS: &[&str] =
    &["calls.c", "clock.c", "computation.c", "handles.c", "requests.c", "trace.c"];

const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wno-deprecated-declarations",
    "-Wl,--exclude-libs,ALL",
    "-Wl,-z,now",
];

/// An MPI library.
struct Library {
    mpi: Mpi,
    variable: Option<&'static str>,
    wrappers: &'static [&'static str],
    /// A text that its headers hold, and those of the others do not.
    marker: &'static str,
    missing: &'static str,
}

const LIBRARIES: &[Library] = &[
    Library {
        mpi: Mpi::OpenMpi,
        variable: Some("OPENMPI_CC"),
        wrappers: &["mpicc.openmpi", "mpicc"],
        marker: "OMPI_MAJOR_VERSION",
        missing: "make setup installs them (Debian: apt-get install libopenmpi-dev openmpi-bin)",
    },
    Library {
        mpi: Mpi::Mpich,
        variable: Some("MPICH_CC"),
        wrappers: &["mpicc.mpich", "mpicc"],
        marker: "MPICH",
        missing: "make setup installs them (Debian: apt-get install libmpich-dev mpich)",
    },
    Library {
        mpi: Mpi::Standard,
        variable: None,
        wrappers: &[],
        marker: "MPI_Abi_get_version",
        missing: "heddle-mpi-libraries makes them, in the same folder",
    },
];

/// Finds the compiler wrapper of a library, and the folders of its headers as flags of the
/// compiler.
/// The wrapper and the headers of ours are in `folder/mpi`.
fn compiler(library: &Library, folder: &Path) -> Option<(String, Vec<String>)> {
    let named = library.variable.and_then(|name| env::var(name).ok());
    let own = folder.join("mpi/bin/mpicc").to_string_lossy().into_owned();
    let own = (library.mpi == Mpi::Standard).then_some(own.as_str());
    let wrappers = named.iter().map(String::as_str).chain(library.wrappers.iter().copied());
    wrappers.chain(own).find_map(|wrapper| {
        let output = Command::new(wrapper).arg("-show").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let folders = text.split_whitespace().filter(|word| word.starts_with("-I"));
        let folders: Vec<String> = folders.map(str::to_owned).collect();
        let is = |marker: &str| {
            folders.iter().any(|folder| {
                let header = Path::new(&folder[2..]).join("mpi.h");
                fs::read_to_string(header).is_ok_and(|text| text.contains(marker))
            })
        };
        let found = output.status.success() && is(library.marker) && is("MPI_VERSION");
        found.then(|| (wrapper.to_owned(), folders))
    })
}

/// Returns the compiler wrapper of an MPI library, or a text that says where it comes from. That of
/// ours is in `folder/mpi`.
pub fn wrapper(mpi: Mpi, folder: &Path) -> Result<String, &'static str> {
    let library = LIBRARIES.iter().find(|library| library.mpi == mpi);
    let found = library.map(|library| compiler(library, folder).ok_or(library.missing));
    found.unwrap_or(Err("")).map(|(wrapper, _)| wrapper)
}

fn build(library: &Library, headers: &[String], folder: &Path) -> io::Result<PathBuf> {
    let sources = folder.join("recorder");
    fs::create_dir_all(&sources)?;
    let all = prototypes::all();
    fs::write(sources.join("functions.h"), wrappers::header(&all))?;
    fs::write(sources.join("wrappers.c"), wrappers::source(&all))?;
    let made = folder.join(library.mpi.file());
    // Under its final name only when it is whole: a program may be loading the old one.
    let unfinished = made.with_extension(format!("so.{}", std::process::id()));
    let mut command = Command::new(env::var("CC").unwrap_or_else(|_| "cc".to_owned()));
    command.args(FLAGS).args(headers).arg("-I").arg(&sources).arg("-I").arg(SOURCES);
    for folder in env!("ZSTD_INCLUDE").split(';') {
        command.arg("-I").arg(folder);
    }
    if library.mpi == Mpi::Standard {
        command.arg("-DSTANDARD_INTERFACE");
    }
    command.arg(format!("-DHEDDLE_VERSION=\"{}\"", env!("CARGO_PKG_VERSION")));
    command.arg("-o").arg(&unfinished).arg(sources.join("wrappers.c"));
    command.args(PARTS.iter().map(|part| Path::new(SOURCES).join(part)));
    command.arg(Path::new(env!("ZSTD_ROOT")).join("libzstd.a")).args(["-lpthread", "-ldl"]);
    let status = command.status()?;
    if !status.success() {
        return Err(io::Error::other(format!("the compiler failed on {command:?}")));
    }
    fs::rename(&unfinished, &made)?;
    Ok(made)
}

/// Builds the small library over which several processes are one simulation into a folder.
fn build_processes(library: Processes, wrapper: &str, folder: &Path) -> io::Result<PathBuf> {
    let made = folder.join(library.file());
    let unfinished = made.with_extension(format!("so.{}", std::process::id()));
    let mut command = Command::new(wrapper);
    command.args(FLAGS).arg("-o").arg(&unfinished).arg(transport_mpi::SOURCE);
    if !command.status()?.success() {
        return Err(io::Error::other(format!("the compiler failed on {command:?}")));
    }
    fs::rename(&unfinished, &made)?;
    Ok(made)
}

/// Builds the small libraries over which several processes are one simulation into a folder.
pub fn processes(folder: &Path) -> Vec<(&'static str, Outcome)> {
    let outcome = |library: Processes| {
        let mpi = match library {
            Processes::OpenMpi => Mpi::OpenMpi,
            Processes::Mpich => Mpi::Mpich,
        };
        let made = match wrapper(mpi, folder) {
            Err(missing) => return (library.name(), Outcome::Missing(missing)),
            Ok(wrapper) => build_processes(library, &wrapper, folder),
        };
        (library.name(), made.map_or_else(Outcome::Failed, Outcome::Built))
    };
    Processes::ALL.into_iter().map(outcome).collect()
}

/// The outcome of building a recorder's library.
#[derive(Debug)]
pub enum Outcome {
    /// It was built, as this file.
    Built(PathBuf),
    /// The headers of its MPI library are nowhere; the text says where they come from.
    Missing(&'static str),
    /// It could not be built.
    Failed(io::Error),
}

/// Builds the libraries of these MPI libraries into a folder.
pub fn all(wanted: &[Mpi], folder: &Path) -> Vec<(Mpi, Outcome)> {
    let outcome = |library: &Library| match compiler(library, folder) {
        None => Outcome::Missing(library.missing),
        Some((_, headers)) => {
            build(library, &headers, folder).map_or_else(Outcome::Failed, Outcome::Built)
        }
    };
    let chosen = LIBRARIES.iter().filter(|library| wanted.contains(&library.mpi));
    chosen.map(|library| (library.mpi, outcome(library))).collect()
}
