//! Kernels of the NAS parallel benchmarks in C, C++ and Fortran, written anew: they know the
//! published results. Smaller programs of these languages.

use std::path::{Path, PathBuf};
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

/// Programs in C++ and Fortran use more than the functions of C, and find their results right.
#[test]
fn programs_in_other_languages_verify_themselves() {
    let programs = [
        ("thrown.cpp", "c++", "c++"),
        ("module.f90", "fort", "gfortran"),
        ("attributes.f90", "fort", "gfortran"),
        ("texts.f90", "fort", "gfortran"),
        ("both_modules.f90", "fort", "gfortran"),
        ("named.f90", "fort", "gfortran"),
        ("newer.f90", "fort", "gfortran"),
        ("requests.f90", "fort", "gfortran"),
        ("profiled.f90", "fort", "gfortran"),
    ];
    verify("languages", &programs);
}

/// Runs programs of a folder, with our compiler and the one that it needs, which say that they are
/// right.
fn verify(folder: &str, programs: &[(&str, &str, &str)]) {
    for program in programs {
        if let Some(program) = built(folder, *program) {
            is_right(&program);
        }
    }
}

/// Compiles a program of a folder with our compiler; nothing if the one that it needs is not there.
fn built(folder: &str, (source, wrapper, compiler): (&str, &str, &str)) -> Option<PathBuf> {
    if Command::new(compiler).arg("--version").output().is_err() {
        eprintln!("{source} skipped: no {compiler}");
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live").join(folder);
    let program = mpi().join(source).with_extension("kernel");
    let status = Command::new(env!("CARGO_BIN_EXE_heddle"))
        .args([wrapper, "-O2", "-o"])
        .args([&program, &folder.join(source)])
        // Where files of modules are written.
        .current_dir(mpi())
        .env("HEDDLE_MPI", mpi().join("lib"))
        .status();
    assert!(status.expect("heddle runs").success(), "{source}");
    Some(program)
}

/// Each rank has its own streams of C++, destructors, and functions for its end, however ranks are
/// held.
#[test]
fn streams_and_ends() {
    let Some(program) = built("languages", ("streams.cpp", "c++", "c++")) else { return };
    let of = |(rank, number): (u32, &str)| {
        ["at exit", "leaves local", "leaves global", "last"]
            .map(|what| format!("{rank} {what}"))
            .into_iter()
            .chain([format!("{rank} has {number}")])
            .collect::<Vec<_>>()
    };
    let mut wanted = [(0, "1.23"), (1, "1.235"), (2, "1.2346")].map(of).concat();
    wanted.sort_unstable();
    for options in ["-q -n 3", "-q -n 3 --in-process"] {
        for argument in ["", "without-stdio"] {
            let ended = mpirun(options, &program, argument);
            let mut lines: Vec<_> = ended.stdout.lines().collect();
            lines.sort_unstable();
            assert_eq!((ended.code, lines), (0, wanted.iter().map(String::as_str).collect()));
        }
    }
}

/// Files of Fortran hold all that was written to them at the end, closed or not; ranks have units
/// of their own.
#[test]
fn units_of_fortran() {
    let Some(program) = built("languages", ("units.f90", "fort", "gfortran")) else { return };
    for options in ["-q -n 3", "-q -n 3 --in-process"] {
        let file = program.with_extension("unit");
        let ended = mpirun(options, &program, &file.display().to_string());
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{options}");
        for rank in 0..3 {
            let file = format!("{}{rank}", file.display());
            let text = std::fs::read_to_string(&file).expect("a file");
            let wanted = format!("of rank {rank} 1\nof rank {rank} 2\nthe end\n");
            assert_eq!(text, wanted, "{options}");
            std::fs::remove_file(file).expect("it can be removed");
        }
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
    let Some(program) = compiled_by_mpich("sections") else { return };
    is_right(&program);
}

/// Our libraries have all that MPICH's modules have beside the functions of MPI.
#[test]
fn modules_of_mpich() {
    let Some(program) = compiled_by_mpich("of_mpich") else { return };
    is_right(&program);
    let checked = mpirun("--check", &program, "");
    assert!(!checked.stdout.contains("in none of"), "{}", checked.stdout);
}

/// Compiles a program in Fortran with MPICH; nothing if that is not there.
fn compiled_by_mpich(name: &str) -> Option<PathBuf> {
    let program = mpi().join(name).with_extension("kernel");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/languages");
    let source = folder.join(name).with_extension("f90");
    let mut compiler = Command::new("mpif90.mpich");
    // Where files of modules are written.
    compiler.args(["-O2", "-J"]).arg(program.parent().unwrap_or(&folder));
    let Ok(status) = compiler.arg("-o").args([&program, &source]).status() else {
        eprintln!("skipped: no mpif90.mpich");
        return None;
    };
    assert!(status.success(), "{name}");
    Some(program)
}
