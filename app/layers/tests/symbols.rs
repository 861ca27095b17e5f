//! The libraries against the real ones: every name of MPI that those export is there, and Open MPI's objects have their sizes.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use layers::interface::Interface;
use layers::libraries;

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

/// Where the compiler finds an installed library.
fn installed(compiler: &str, name: &str) -> Option<PathBuf> {
    let path = common::run(Command::new(compiler).arg(format!("-print-file-name={name}")));
    Some(PathBuf::from(path.trim())).filter(|path| path.is_absolute())
}

/// A library with nothing in it, in place of ours: the layers need no function of it to be built or loaded.
fn empty_core(folder: &Path) -> PathBuf {
    common::compile("cc", folder, libraries::CORE, "int heddle_nothing;\n", &["-shared", "-fPIC"])
}

/// Whether a name is one that programs use: functions of MPI in C, handles, predefined attribute functions.
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
    let folder = tempfile::tempdir().unwrap();
    let core = empty_core(folder.path());
    libraries::all(&core, folder.path()).unwrap();
    let ours = folder.path().join("mpi/lib");
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
