//! Kernels of the NAS parallel benchmarks in C, C++ and Fortran, written anew: they know the published results.

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
    for (source, wrapper, compiler) in kernels {
        if Command::new(compiler).arg("--version").output().is_err() {
            eprintln!("{source} skipped: no {compiler}");
            continue;
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/kernels");
        let program = mpi().join(source).with_extension("kernel");
        let status = Command::new(env!("CARGO_BIN_EXE_heddle"))
            .args([wrapper, "-O2", "-o"])
            .args([&program, &folder.join(source)])
            .env("HEDDLE_MPI", mpi().join("lib"))
            .status();
        assert!(status.expect("heddle runs").success(), "{source}");
        for options in [
            "-n 1",
            "-n 4",
            "-n 8 --in-process",
            "-n 8 --network infiniband --topology torus:dims=2x4",
        ] {
            let ended = mpirun(&format!("-q {options}"), &program, "");
            let said = (ended.code, ended.stdout.trim());
            assert_eq!(said, (0, "verified"), "{source} {options}: {}", ended.stderr);
        }
    }
}
