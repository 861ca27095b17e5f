//! Writes the commands and files that users and build systems use: compilers with the flags for our
//! library, `mpirun`, files of pkg-config.
//!
//! `-show` and `-showme:…` are those of MPICH's and Open MPI's compilers, as CMake's FindMPI asks
//! them.

use std::path::Path;
use std::{fs, io};

const COMPILER: &str = include_str!("../scripts/compiler");
const MPIRUN: &str = include_str!("../scripts/mpirun");
const PKG_CONFIG: &str = include_str!("../scripts/mpi.pc");

/// The libraries that programs in C and in Fortran are linked with.
const C: &[&str] = &["mpi_abi"];
const FORTRAN: &[&str] = &["mpi_abi_fort", "mpi_abi"];

/// A compiler: the names it is found under, how the variables that name it end, what it is
/// otherwise, its libraries.
type Compiler = (&'static [&'static str], &'static str, &'static str, &'static [&'static str]);

const COMPILERS: &[Compiler] = &[
    (&["mpicc"], "CC", "cc", C),
    (&["mpicxx", "mpic++", "mpiCC"], "CXX", "c++", C),
    (&["mpifort", "mpif77", "mpif90"], "FC", "gfortran", FORTRAN),
];

/// Files of pkg-config: their names, the libraries that they link, and the flags that Fortran is
/// compiled with.
const DESCRIPTIONS: &[(&[&str], &[&str], &str)] = &[
    (&["mpi", "mpi-c", "mpi-cxx", "mpich", "ompi", "ompi-c", "ompi-cxx"], C, ""),
    (&["mpi-fort", "ompi-fort"], FORTRAN, " -fallow-argument-mismatch"),
];

fn flags(libraries: &[&str]) -> String {
    let all: Vec<String> = libraries.iter().map(|name| format!("-l{name}")).collect();
    all.join(" ")
}

fn filled(text: &str, libraries: &[&str]) -> String {
    text.replace("@LIBRARIES@", &flags(libraries))
        .replace("@NAMES@", &libraries.join(" "))
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
}

#[cfg(unix)]
fn executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes the scripts into `FOLDER/bin`, the files of pkg-config into `FOLDER/lib/pkgconfig`.
pub fn write(folder: &Path) -> io::Result<()> {
    let (bin, descriptions) = (folder.join("bin"), folder.join("lib/pkgconfig"));
    fs::create_dir_all(&bin)?;
    fs::create_dir_all(&descriptions)?;
    let put = |name: &str, text: &str| {
        let path = bin.join(name);
        fs::write(&path, text)?;
        executable(&path)
    };
    for (names, variable, default, libraries) in COMPILERS {
        for name in *names {
            let text = filled(COMPILER, libraries)
                .replace("@NAME@", name)
                .replace("@VARIABLE@", variable)
                .replace("@DEFAULT@", default);
            put(name, &text)?;
        }
    }
    for name in ["mpirun", "mpiexec"] {
        put(name, MPIRUN)?;
    }
    for (names, libraries, loose) in DESCRIPTIONS {
        let text = filled(PKG_CONFIG, libraries).replace("@LOOSE@", loose);
        for name in *names {
            fs::write(descriptions.join(name).with_extension("pc"), &text)?;
        }
    }
    Ok(())
}
