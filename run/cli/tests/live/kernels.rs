//! Kernels of the NAS parallel benchmarks in C, C++ and Fortran, written anew: they know the published results. Smaller programs of
//! these languages.

use std::path::Path;
use std::process::Command;

use crate::common::mpi::{mpi, mpirun};

#[test]
fn kernels_verify_themselves() {
    let kernels = [
        ("ep.f", "fort", "gfortran"),
        ("ft.f90", "fort", "gfortran"),
        ("is.c", "cc", "cc"),
        ("cg.cpp", "c++", "c++"),
    ];
    verify("kernels", &kernels);
}

/// What C++ and Fortran have beside the functions of C.
#[test]
fn programs_in_other_languages_verify_themselves() {
    verify("languages", &[("thrown.cpp", "c++", "c++"), ("module.f90", "fort", "gfortran")]);
}

/// Runs programs of a folder, with our compiler and the one that it needs, which say that they are right.
fn verify(folder: &str, programs: &[(&str, &str, &str)]) {
    for &(source, wrapper, compiler) in programs {
        if Command::new(compiler).arg("--version").output().is_err() {
            eprintln!("{source} skipped: no {compiler}");
            continue;
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live").join(folder);
        let program = mpi().join(source).with_extension("kernel");
        let status = Command::new(env!("CARGO_BIN_EXE_heddle"))
            .args([wrapper, "-O2", "-o"])
            .args([&program, &folder.join(source)])
            .env("HEDDLE_MPI", mpi().join("lib"))
            .status();
        assert!(status.expect("heddle runs").success(), "{source}");
        is_right(&program);
    }
}

/// Runs a program, which says that it is right.
fn is_right(program: &Path) {
    for options in
        ["-n 1", "-n 4", "-n 8 --in-process", "-n 8 --network infiniband --topology torus:dims=2x4"]
    {
        let ended = mpirun(&format!("-q {options}"), program, "");
        let said = (ended.code, ended.stdout.trim());
        assert_eq!(said, (0, "verified"), "{} {options}: {}", program.display(), ended.stderr);
    }
}

/// MPICH's module `mpi_f08` takes sections of arrays that are not contiguous.
#[test]
fn sections_of_arrays() {
    let program = mpi().join("sections.kernel");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/live/languages/sections.f90");
    match Command::new("mpif90.mpich")
        .args(["-O2", "-o"])
        .args([program.as_path(), source.as_ref()])
        .status()
    {
        Ok(status) => assert!(status.success()),
        Err(_) => return eprintln!("skipped: no mpif90.mpich"),
    }
    is_right(&program);
}
