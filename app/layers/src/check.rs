//! Finds out what a program needs of MPI before it is run: `heddle mpirun --check`.
//!
//! The program and the shared libraries it names are read, as the dynamic linker would find them
//! (ELF, 64 bits). What a program opens while it runs (`dlopen`) is not known beforehand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::elf::{Elf, linked, read, system_folders};
use crate::in_process::{Obstacle, obstacles, script};
use crate::interface::Interface;
use crate::libraries::CORE;
use crate::table::{self, Function};

/// The reason why a program could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// It is a script, or for another kind of machine.
    #[error("{path}: not a program in 64-bit ELF: {source}")]
    NotElf {
        /// The file.
        path: PathBuf,
        /// The error that the reader of ELF files reports.
        source: object::Error,
    },
}

/// A program's needs of MPI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The executable that was looked at: the interpreter, if the program is a script.
    pub executable: PathBuf,
    /// Obstacles to holding its ranks in one process.
    pub obstacles: Vec<Obstacle>,
    /// The interfaces it, or a library it loads, is linked with. More than one cannot work.
    pub interfaces: BTreeSet<Interface>,
    /// The files that use MPI: the program, libraries.
    pub users: Vec<PathBuf>,
    /// The names of MPI that they import.
    pub imports: BTreeSet<String>,
    /// Functions of MPI among them that the library does not implement: calling one raises
    /// `MPI_ERR_UNSUPPORTED_OPERATION`.
    pub unimplemented: BTreeSet<String>,
    /// Names that it cannot do without (which it can if they are weak) and that none of our
    /// libraries has: the program would not start, or fail at the call.
    pub unresolved: BTreeSet<String>,
    /// Libraries that were found nowhere.
    pub absent: BTreeSet<String>,
}

impl Report {
    /// True if it runs programs in a language of its own: what these load is not known.
    pub fn interprets(&self) -> bool {
        self.obstacles.contains(&Obstacle::Interpreter)
    }

    /// True if all is there that the program imports, as far as that is known.
    pub fn is_complete(&self) -> bool {
        let lists = [&self.unimplemented, &self.unresolved, &self.absent];
        let is_static = self.obstacles.contains(&Obstacle::Static);
        !is_static && self.interfaces.len() <= 1 && lists.into_iter().all(BTreeSet::is_empty)
    }

    /// True if its ranks can be held in one process, as far as that is known.
    pub fn fits_one_process(&self) -> bool {
        !self.obstacles.iter().any(Obstacle::is_certain)
    }

    /// The interfaces, in words.
    fn linked(&self) -> String {
        let interfaces: Vec<&str> = self.interfaces.iter().map(|one| one.name()).collect();
        match interfaces.as_slice() {
            [] if self.obstacles.contains(&Obstacle::Static) => {
                "linked statically: no library of ours takes the place of its own".to_owned()
            }
            [] if self.interprets() => {
                "an interpreter: what it loads while it runs is not known; extension modules \
                                        (.so) can be checked by themselves"
                    .to_owned()
            }
            [] => "not linked with an MPI library, unless it opens one while it runs".to_owned(),
            [one] => format!("binary interface: {one}"),
            several => {
                format!("binary interfaces: {}, which cannot work together", several.join(" and "))
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &BTreeSet<String>| {
            names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        writeln!(f, "{}: {}", self.executable.display(), self.linked())?;
        for user in self.users.iter().filter(|user| **user != self.executable) {
            writeln!(f, "  uses MPI: {}", user.display())?;
        }
        if !self.imports.is_empty() {
            writeln!(f, "  imports {} names of MPI", self.imports.len())?;
        }
        for (what, names) in [
            (
                "not implemented, each call raises MPI_ERR_UNSUPPORTED_OPERATION",
                &self.unimplemented,
            ),
            ("in none of the libraries", &self.unresolved),
            ("libraries not found", &self.absent),
        ] {
            if !names.is_empty() {
                writeln!(f, "  {what}: {}", list(names))?;
            }
        }
        let word = if self.fits_one_process() { "yes" } else { "no" };
        writeln!(f, "  --in-process: {word}")?;
        self.obstacles.iter().try_for_each(|obstacle| writeln!(f, "    {obstacle}"))
    }
}

/// The interface that a library belongs to, by its name.
fn interface_of(library: &str) -> Option<Interface> {
    Interface::ALL
        .into_iter()
        .find(|interface| interface.all_libraries().any(|name| name == library))
}

/// The modules of MPICH and Open MPI, as names of what is in them begin.
const MODULES: &[&str] = &[
    "__mpi_f08",
    "__pmpi_f08",
    "__mpi_constants_mod_",
    "__mpi_sizeofs_mod_",
    "__mpi_base_mod_",
    "__mpi_mod_",
];

/// Beginnings of the names of the C++ interface that MPI-3.0 removed: of functions, tables of
/// virtual functions and types.
const CLASSES: [&str; 5] = ["_zn3mpi", "_znk3mpi", "_ztvn3mpi", "_ztin3mpi", "_ztsn3mpi"];

fn is_of_class(lower: &str) -> bool {
    CLASSES.iter().any(|scope| lower.starts_with(scope))
}

fn is_mpi(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if is_of_class(&lower) || MODULES.iter().any(|scope| lower.starts_with(scope)) {
        return true;
    }
    let rest = lower.strip_prefix('p').unwrap_or(&lower);
    rest.starts_with("mpi_") || rest.starts_with("mpix_") || rest.starts_with("ompi_mpi_")
}

/// The function that an imported name stands for, in C or in Fortran.
fn function_of<'a>(name: &str, by_name: &BTreeMap<String, &'a Function>) -> Option<&'a Function> {
    let lower = name.to_ascii_lowercase();
    let plain = match by_name.get(&lower) {
        Some(_) => lower.as_str(),
        None => lower.strip_prefix('p').unwrap_or(&lower),
    };
    let plain = plain.trim_end_matches('_');
    let (plain, large) = match plain.strip_suffix("_large") {
        Some(plain) => (plain, "_c"),
        None => (plain, ""),
    };
    let plain = plain.trim_end_matches("_f08ts").trim_end_matches("_f08");
    by_name.get(&format!("{plain}{large}")).copied()
}

/// Looks at a program, given the folder of our libraries. Of a script, that is its interpreter.
pub fn check(program: &Path, libraries: &Path) -> Result<Report, Error> {
    let executable = script(program).unwrap_or_else(|| program.to_owned());
    let mut report = Report { executable: executable.clone(), ..Report::default() };
    let mut waiting = vec![executable.clone()];
    let mut seen = BTreeSet::new();
    let mut users: Vec<(PathBuf, Elf)> = Vec::new();
    let (mut required, mut ours) = (BTreeSet::new(), BTreeSet::new());
    let system = system_folders();
    while let Some(path) = waiting.pop() {
        let elf = match read(&path) {
            // A file that is no library for this machine is passed over, as the dynamic linker
            // does.
            Err(_) if path != executable => continue,
            other => other?,
        };
        for (name, interface) in
            elf.needed.iter().filter_map(|name| Some((name, interface_of(name)?)))
        {
            report.interfaces.insert(interface);
            ours.insert(name.clone());
        }
        for name in elf.needed.iter().filter(|name| interface_of(name).is_none()) {
            if seen.insert(name.clone()) {
                match elf.library(name, &path, &system) {
                    Some(found) => waiting.push(found),
                    None => drop(report.absent.insert(name.clone())),
                }
            }
        }
        let names: Vec<&String> = elf.imports.iter().filter(|name| is_mpi(name)).collect();
        if !names.is_empty() {
            report.users.push(path.clone());
            required.extend(
                names.iter().filter(|name| !elf.weak.contains(**name)).map(|name| (*name).clone()),
            );
            report.imports.extend(names.into_iter().cloned());
        } else if path != executable {
            continue;
        }
        users.push((path, elf));
    }
    report.obstacles = obstacles(&users);
    compare(&mut report, &required, &ours, libraries)?;
    Ok(report)
}

/// The libraries of MPI that a program, or a library that it is linked with, asks for by a name of
/// ours, and that are not in the folder of our libraries. It would load those of the system, by
/// which each rank is a world of its own. What cannot be read is left out.
pub fn missing_libraries(program: &Path, libraries: &Path) -> BTreeSet<String> {
    let files = linked(program, &[]);
    // What the libraries of another MPI need goes with them.
    let users = files.iter().filter(|(path, _)| {
        path.file_name().and_then(|name| interface_of(name.to_str()?)).is_none()
    });
    users
        .flat_map(|(_, elf)| &elf.needed)
        .filter(|name| interface_of(name).is_some() && !libraries.join(name).is_file())
        .cloned()
        .collect()
}

/// The names of classes that a program, or a library that it is linked with, cannot start without,
/// and that none of our libraries has: those of C++ that MPI-3.0 removed. What cannot be read is
/// left out.
pub fn missing_classes(program: &Path, libraries: &Path) -> BTreeSet<String> {
    let mut files = linked(program, &[]);
    // Ours take the place of these.
    files.retain(|(path, _)| {
        path.file_name().and_then(|name| interface_of(name.to_str()?)).is_none()
    });
    let mut missing = BTreeSet::new();
    let ours = |elf: &Elf| elf.needed.iter().any(|name| interface_of(name).is_some());
    for (path, _) in files.iter().filter(|(_, elf)| ours(elf)) {
        missing.extend(read(path).unwrap_or_default().at_start);
    }
    missing.retain(|name| is_of_class(&name.to_ascii_lowercase()));
    if !missing.is_empty() {
        let names = Interface::ALL.into_iter().flat_map(Interface::all_libraries);
        // A library of the program may have them. Copies in the executable are none of its own.
        let others = files.iter().filter(|(path, _)| path != program).map(|(path, _)| path.clone());
        for path in names.map(|name| libraries.join(name)).chain(others) {
            let there = read(&path).unwrap_or_default().exports;
            missing.retain(|name| !there.contains(name));
        }
    }
    missing
}

/// Compares what is imported with what our libraries have, and what is `required` of it. Of our
/// libraries, those that programs are `linked` with have to be there: those for Fortran may not
/// have been built.
fn compare(
    report: &mut Report,
    required: &BTreeSet<String>,
    linked: &BTreeSet<String>,
    libraries: &Path,
) -> Result<(), Error> {
    let implemented = read(&libraries.join(CORE))?.exports;
    let mut there = BTreeSet::new();
    for interface in &report.interfaces {
        for name in interface.all_libraries() {
            match read(&libraries.join(name)) {
                Ok(library) => there.extend(library.exports),
                Err(Error::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    if linked.contains(name) {
                        report.absent.insert(name.to_owned());
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
    let all = table::all();
    let by_name: BTreeMap<String, &Function> =
        all.iter().map(|function| (function.name.to_ascii_lowercase(), function)).collect();
    for name in &report.imports {
        if required.contains(name) && !there.contains(name) {
            report.unresolved.insert(name.clone());
        }
        let function = function_of(name, &by_name);
        let lacks = |core: &str| !implemented.contains(&format!("heddle_{core}"));
        report.unimplemented.extend(
            function.filter(|function| lacks(&function.core)).map(|function| function.name.clone()),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{function_of, is_mpi};
    use crate::table;

    /// Names as gfortran 12 makes them for `mpif.h`, and as MPICH's and Open MPI's modules
    /// `mpi_f08` have them.
    #[test]
    fn names_of_fortran_stand_for_functions() {
        let all = table::all();
        let by_name: BTreeMap<_, _> =
            all.iter().map(|function| (function.name.to_ascii_lowercase(), function)).collect();
        for (name, expected) in [
            ("MPI_Send", "MPI_Send"),
            ("PMPI_Send", "MPI_Send"),
            ("mpi_send_", "MPI_Send"),
            ("pmpi_send_", "MPI_Send"),
            ("mpi_send_f08ts_", "MPI_Send"),
            ("mpi_send_f08ts_large_", "MPI_Send_c"),
            ("mpi_comm_rank_f08_", "MPI_Comm_rank"),
            ("MPI_SEND", "MPI_Send"),
        ] {
            let found = function_of(name, &by_name).map(|function| function.name.as_str());
            assert_eq!(found, Some(expected), "{name}");
        }
        assert!(function_of("MPI_Nothing", &by_name).is_none());
    }

    /// Names in modules of MPICH 4.0 and Open MPI 4.1, and in one of a program.
    #[test]
    fn names_in_modules_are_of_mpi() {
        for (name, expected) in [
            ("__mpi_sizeofs_MOD_mpi_sizeof_d", true),
            ("__mpi_constants_MOD_commeq", true),
            ("__mpi_f08_types_MOD_ompi_comm_op_eq", true),
            ("__mpi_helpers_MOD_send", false),
        ] {
            assert_eq!(is_mpi(name), expected, "{name}");
        }
    }
}
