//! The libraries, built over a stand-in for our own (`core.c`): their names against those of the
//! real libraries, and programs made for each interface (`program.c`), which the stand-in expects
//! to hear from in the terms of the standard interface.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use layers::interface::Interface;
use layers::libraries::{self, CORE};
use tempfile::TempDir;

/// The folder with the libraries, built once for all tests.
fn built() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        libraries::all(&core(folder.path()), folder.path()).unwrap();
        folder
    });
    folder.path()
}

/// Compiles the stand-in for our own library.
fn core(folder: &Path) -> PathBuf {
    let flags = ["-shared", "-fPIC", "-Wall", "-Werror"];
    common::compile("cc", folder, CORE, include_str!("core.c"), &flags)
}

/// Our compiler for C and a program that it has linked need nothing of the other libraries.
#[test]
fn c_alone() {
    let folder = tempfile::tempdir().unwrap();
    let made = libraries::for_c(&core(folder.path()), folder.path()).unwrap();
    assert!(made.iter().all(|path| path.is_file()) && !made.is_empty());
    assert!(!folder.path().join("mpi/lib/libmpi.so.40").exists());
    let source = folder.path().join("size.c");
    let main = "int main(void) { int size; return MPI_Comm_size(MPI_COMM_SELF, &size); }";
    std::fs::write(&source, format!("#include <mpi.h>\n{main}\n")).unwrap();
    let program = folder.path().join("size");
    let compiler = folder.path().join("mpi/bin/mpicc");
    common::run(Command::new(compiler).arg(&source).arg("-o").arg(&program));
    let needed = common::run(Command::new("readelf").arg("-d").arg(&program));
    assert!(needed.contains("[libmpi_abi.so.1]"), "{needed}");
}

/// Names that a library defines for others, with their sizes.
fn defined(library: &Path) -> BTreeMap<String, u64> {
    let text = common::run(Command::new("nm").args(["-DS", "--defined-only"]).arg(library));
    let symbol = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let size = (words.len() == 4).then(|| u64::from_str_radix(words[1], 16).ok()).flatten();
        Some(((*words.last()?).to_owned(), size.unwrap_or(0)))
    };
    text.lines().filter_map(symbol).collect()
}

/// The path at which the compiler finds an installed library.
fn installed(compiler: &str, name: &str) -> Option<PathBuf> {
    let path = common::run(Command::new(compiler).arg(format!("-print-file-name={name}")));
    Some(PathBuf::from(path.trim())).filter(|path| path.is_absolute())
}

/// True if a name is one that programs use: functions of MPI in C, handles, predefined attribute
/// functions.
fn public(name: &str) -> bool {
    let c = ["MPI_", "PMPI_", "MPIX_", "PMPIX_"].iter().any(|prefix| name.starts_with(prefix));
    // Fortran's names in capital letters, in Open MPI's library for C.
    let fortran = c && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let known =
        ["MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE", "MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"];
    (c && !fortran) || known.contains(&name) || name.starts_with("OMPI_C_MPI_")
}

#[test]
fn names_are_those_of_the_real_libraries() {
    let ours = built().join("mpi/lib");
    for (interface, name) in
        [(Interface::Mpich, "libmpich.so.12"), (Interface::OpenMpi, "libmpi.so.40")]
    {
        let Some(compiler) = common::wrapper(interface) else { continue };
        let Some(real) = installed(compiler, name) else { continue };
        let (real, ours) = (defined(&real), defined(&ours.join(name)));
        let missing: Vec<&String> =
            real.keys().filter(|name| public(name) && !ours.contains_key(*name)).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        for (object, size) in ours.iter().filter(|(name, _)| name.starts_with("ompi_")) {
            assert_eq!(real.get(object), Some(size), "{object}");
        }
    }
    // MPI-5.0 has 664 functions; MPICH 5's own handlers with a state are five more.
    let standard = defined(&ours.join("libmpi_abi.so.1"));
    let functions =
        standard.keys().filter(|name| name.starts_with("MPI_") || name.starts_with("MPIX_"));
    assert!(functions.count() > 664);
}

/// True if a name is one of Fortran's: of functions that exist for programs, and of predefined ones
/// in modules.
fn of_fortran(name: &str) -> bool {
    // Open MPI's that no program calls, and MPICH's own.
    let inside = name.ends_with("_f90_") || name.starts_with("mpi_delete_error_");
    let function = name.starts_with("mpi_") && name.ends_with('_') && !name.ends_with("__");
    let modules = ["__mpi_f08_callbacks_MOD_mpi_", "__mpi_f08_types_MOD_mpi_sizeof_"];
    function && !inside || modules.iter().any(|module| name.starts_with(module))
}

#[test]
fn fortran_names_are_those_of_the_real_libraries() {
    let ours = built().join("mpi/lib");
    for (interface, names) in [
        (Interface::Mpich, &["libmpichfort.so.12"][..]),
        (
            Interface::OpenMpi,
            &["libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"],
        ),
    ] {
        let Some(compiler) = common::wrapper(interface) else { continue };
        let known: BTreeMap<_, _> =
            names.iter().flat_map(|name| defined(&ours.join(name))).collect();
        for name in names {
            let Some(real) = installed(compiler, name) else { continue };
            let real = defined(&real);
            let missing: Vec<&String> =
                real.keys().filter(|name| of_fortran(name) && !known.contains_key(*name)).collect();
            assert!(missing.is_empty(), "{name}: {missing:?}");
        }
    }
}

#[test]
fn programs_and_library_understand_each_other() {
    let program = include_str!("program.c");
    let mut compilers =
        vec![("standard", built().join("mpi/bin/mpicc").to_string_lossy().into_owned())];
    for interface in [Interface::Mpich, Interface::OpenMpi] {
        if let Some(compiler) = common::wrapper(interface) {
            compilers.push((interface.stem(), compiler.to_owned()));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, compiler) in compilers {
        let made = common::compile(&compiler, folder.path(), name, program, &["-Wall"]);
        let said = common::run(Command::new(made).env("LD_LIBRARY_PATH", built().join("mpi/lib")));
        assert_eq!(said, "right\n", "{name}");
    }
}

/// Programs in Fortran are translated as well, with `mpif.h` and with `use mpi`.
#[test]
fn fortran_programs_are_understood_too() {
    let folder = tempfile::tempdir().unwrap();
    let own = built().join("mpi/bin/mpifort").to_string_lossy().into_owned();
    let mut compilers = vec![("standard", own)];
    for (interface, name) in
        [(Interface::Mpich, "mpif90.mpich"), (Interface::OpenMpi, "mpif90.openmpi")]
    {
        if common::wrapper(interface).is_some() {
            compilers.push((interface.stem(), name.to_owned()));
        }
    }
    if Command::new("gfortran").arg("--version").output().is_err() {
        eprintln!("skipped: no gfortran");
        return;
    }
    for (name, compiler) in compilers {
        for (used, included) in [("", "include 'mpif.h'"), ("use mpi", "")] {
            let text = include_str!("program.f90")
                .replace("HEADER_USE", used)
                .replace("HEADER_INCLUDE", included);
            let (source, made) = (folder.path().join("program.f90"), folder.path().join(name));
            std::fs::write(&source, text).unwrap();
            let mut command = Command::new(&compiler);
            command.args(["-w", "-fallow-argument-mismatch"]).arg(&source).arg("-o").arg(&made);
            common::run(&mut command);
            let mut command = Command::new(&made);
            command.env("LD_LIBRARY_PATH", built().join("mpi/lib"));
            assert_eq!(common::run(&mut command), "right\n", "{name} {used}");
        }
    }
}

/// CMake's FindMPI works with our compilers, and what it builds runs.
#[test]
fn cmake_finds_the_libraries() {
    if Command::new("cmake").arg("--version").output().is_err() {
        eprintln!("skipped: no cmake");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("program.c"), include_str!("program.c")).unwrap();
    let lists = "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nfind_package(MPI REQUIRED)\n\
                 add_executable(p program.c)\ntarget_link_libraries(p MPI::MPI_C)\n";
    std::fs::write(folder.path().join("CMakeLists.txt"), lists).unwrap();
    let build = folder.path().join("build");
    let bin = built().join("mpi/bin");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", bin.display());
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(folder.path()).arg("-B").arg(&build).env("PATH", &path);
    common::run(&mut configure);
    common::run(Command::new("cmake").arg("--build").arg(&build));
    assert_eq!(common::run(&mut Command::new(build.join("p"))), "right\n");
    let linked = common::run(Command::new("ldd").arg(build.join("p")));
    assert!(linked.contains("libmpi_abi.so.1"), "{linked}");
}
