//! What a program needs of MPI, before it is run: `heddle mpirun --check`.
//!
//! The program and the shared libraries it names are read, as the dynamic linker would find them (ELF, 64 bits). What a program
//! opens while it runs (`dlopen`) is not known beforehand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::{Dyn as _, ElfFile, FileHeader as _, SectionHeader as _};
use object::{Endianness, Object as _, ObjectSymbol as _};

use crate::interface::Interface;
use crate::libraries::CORE;
use crate::table::{self, Function};

/// Why a program could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is a script, or for another kind of machine.
    #[error("{path}: not a program in 64-bit ELF: {source}")]
    NotElf {
        /// Which file.
        path: PathBuf,
        /// What was wrong.
        source: object::Error,
    },
}

/// What a program needs of MPI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The interfaces it, or a library it loads, is linked with. More than one cannot work.
    pub interfaces: BTreeSet<Interface>,
    /// The files that use MPI: the program, libraries.
    pub users: Vec<PathBuf>,
    /// The names of MPI that they import.
    pub imports: BTreeSet<String>,
    /// Functions of MPI among them that the library does not implement: calling one raises `MPI_ERR_UNSUPPORTED_OPERATION`.
    pub unimplemented: BTreeSet<String>,
    /// Imported names that none of our libraries has: the program would not start, or fail at the call.
    pub unresolved: BTreeSet<String>,
    /// Libraries that were found nowhere.
    pub absent: BTreeSet<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &BTreeSet<String>| {
            names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let interfaces: Vec<&str> = self.interfaces.iter().map(|one| one.name()).collect();
        let linked = match interfaces.as_slice() {
            [] => "not linked with an MPI library (unless it opens one while it runs)".to_owned(),
            [one] => format!("interface: {one}"),
            several => {
                format!("interfaces: {}, which cannot work together", several.join(" and "))
            }
        };
        writeln!(f, "{linked}")?;
        for user in &self.users {
            writeln!(f, "uses MPI: {}", user.display())?;
        }
        writeln!(f, "{} names of MPI imported", self.imports.len())?;
        for (what, names) in [
            ("not implemented", &self.unimplemented),
            ("not known", &self.unresolved),
            ("libraries not found", &self.absent),
        ] {
            if !names.is_empty() {
                writeln!(f, "{what}: {}", list(names))?;
            }
        }
        Ok(())
    }
}

/// What is read of a file.
#[derive(Default)]
struct Elf {
    needed: Vec<String>,
    run_paths: Vec<String>,
    imports: Vec<String>,
    exports: BTreeSet<String>,
}

fn read(path: &Path) -> Result<Elf, Error> {
    let data = fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    parse(&data).map_err(|source| Error::NotElf { path: path.to_owned(), source })
}

fn parse(data: &[u8]) -> Result<Elf, object::Error> {
    let mut elf = Elf::default();
    let file = ElfFile::<FileHeader64<Endianness>>::parse(data)?;
    for symbol in file.dynamic_symbols() {
        let name = symbol.name()?.to_owned();
        if symbol.is_undefined() {
            elf.imports.push(name);
        } else {
            elf.exports.insert(name);
        }
    }
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    for section in sections.iter() {
        let Some((entries, link)) = section.dynamic(endian, data)? else { continue };
        let strings = sections.strings(endian, data, link)?;
        for entry in entries {
            let tag = entry.tag32(endian);
            let into = match tag {
                Some(DT_NEEDED) => &mut elf.needed,
                Some(DT_RPATH | DT_RUNPATH) => &mut elf.run_paths,
                _ => continue,
            };
            into.push(String::from_utf8_lossy(entry.string(endian, strings)?).into_owned());
        }
    }
    Ok(elf)
}

/// The folders that the dynamic linker searches for every program.
fn system_folders() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = env::var_os("LD_LIBRARY_PATH")
        .map(|paths| env::split_paths(&paths).collect())
        .unwrap_or_default();
    let mut files = vec![PathBuf::from("/etc/ld.so.conf")];
    if let Ok(entries) = fs::read_dir("/etc/ld.so.conf.d") {
        files.extend(entries.flatten().map(|entry| entry.path()));
    }
    files.sort();
    for file in files {
        let text = fs::read_to_string(file).unwrap_or_default();
        found.extend(
            text.lines().map(str::trim).filter(|line| line.starts_with('/')).map(PathBuf::from),
        );
    }
    found.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from));
    found
}

/// The interface that a library belongs to, by its name.
fn interface_of(library: &str) -> Option<Interface> {
    Interface::ALL
        .into_iter()
        .find(|interface| interface.all_libraries().any(|name| name == library))
}

fn is_mpi(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
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

/// Looks at a program, given the folder of our libraries.
pub fn check(program: &Path, libraries: &Path) -> Result<Report, Error> {
    let mut report = Report::default();
    let mut waiting = vec![program.to_owned()];
    let mut seen = BTreeSet::new();
    let system = system_folders();
    while let Some(path) = waiting.pop() {
        let elf = match read(&path) {
            // What is no library for this machine is passed over, as the dynamic linker does.
            Err(_) if path != program => continue,
            other => other?,
        };
        let names: Vec<&String> = elf.imports.iter().filter(|name| is_mpi(name)).collect();
        let linked = elf.needed.iter().filter_map(|name| interface_of(name));
        report.interfaces.extend(linked);
        if !names.is_empty() {
            report.users.push(path.clone());
            report.imports.extend(names.into_iter().cloned());
        }
        let origin = path.parent().unwrap_or(Path::new("."));
        let own = elf.run_paths.iter().flat_map(|paths| paths.split(':'));
        let own = own.map(|folder| {
            let origin = origin.to_string_lossy();
            PathBuf::from(folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin))
        });
        let folders: Vec<PathBuf> = own.chain(system.iter().cloned()).collect();
        for name in elf.needed.iter().filter(|name| interface_of(name).is_none()) {
            if seen.insert(name.clone()) {
                match folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()) {
                    Some(found) => waiting.push(found),
                    None => drop(report.absent.insert(name.clone())),
                }
            }
        }
    }
    compare(&mut report, libraries)?;
    Ok(report)
}

/// Compares what is imported with what our libraries have.
fn compare(report: &mut Report, libraries: &Path) -> Result<(), Error> {
    let implemented = read(&libraries.join(CORE))?.exports;
    let mut there = BTreeSet::new();
    for interface in &report.interfaces {
        for name in interface.all_libraries() {
            there.extend(read(&libraries.join(name))?.exports);
        }
    }
    let all = table::all();
    let by_name: BTreeMap<String, &Function> =
        all.iter().map(|function| (function.name.to_ascii_lowercase(), function)).collect();
    for name in &report.imports {
        if !there.contains(name) {
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

    use super::function_of;
    use crate::table;

    /// Names as gfortran 12 makes them for `mpif.h`, and as MPICH's and Open MPI's modules `mpi_f08` have them.
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
}
