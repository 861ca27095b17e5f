//! Builds the recorder's libraries, one per MPI library whose headers are there.
//!
//! `OPENMPI_CC` and `MPICH_CC` name the compiler wrappers (otherwise `mpicc.openmpi` and
//! `mpicc.mpich`, as on Debian, or `mpicc`, whichever it belongs to), `CC` the compiler.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::{launch::Mpi, prototypes, wrappers};

/// The part of the recorder that is written by hand.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c");
const PARTS: &[&str] = &["calls.c", "clock.c", "handles.c", "requests.c", "trace.c"];

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
    variable: &'static str,
    wrappers: &'static [&'static str],
    packages: &'static str,
}

const LIBRARIES: &[Library] = &[
    Library {
        mpi: Mpi::OpenMpi,
        variable: "OPENMPI_CC",
        wrappers: &["mpicc.openmpi", "mpicc"],
        packages: "libopenmpi-dev openmpi-bin",
    },
    Library {
        mpi: Mpi::Mpich,
        variable: "MPICH_CC",
        wrappers: &["mpicc.mpich", "mpicc"],
        packages: "libmpich-dev mpich",
    },
];

/// Returns the folders of a library's headers as flags of the compiler.
fn headers(library: &Library) -> Option<Vec<String>> {
    let named = env::var(library.variable).ok();
    let wrappers = named.iter().map(String::as_str).chain(library.wrappers.iter().copied());
    wrappers.into_iter().find_map(|wrapper| {
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
        let right = is("OMPI_MAJOR_VERSION") == (library.mpi == Mpi::OpenMpi);
        (output.status.success() && right && is("MPI_VERSION")).then_some(folders)
    })
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

/// The outcome of building a recorder's library.
#[derive(Debug)]
pub enum Outcome {
    /// It was built, as this file.
    Built(PathBuf),
    /// The headers of its MPI library are nowhere; these packages of Debian have them.
    Missing(&'static str),
    /// It could not be built.
    Failed(io::Error),
}

/// Builds the libraries into a folder.
pub fn all(folder: &Path) -> Vec<(Mpi, Outcome)> {
    let outcome = |library: &Library| match headers(library) {
        None => Outcome::Missing(library.packages),
        Some(headers) => {
            build(library, &headers, folder).map_or_else(Outcome::Failed, Outcome::Built)
        }
    };
    LIBRARIES.iter().map(|library| (library.mpi, outcome(library))).collect()
}
