//! Reads executables and shared libraries (ELF, 64 bits).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use object::elf::{
    DF_STATIC_TLS, DT_FLAGS, DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64, PT_INTERP, PT_TLS,
    R_AARCH64_COPY, R_AARCH64_JUMP_SLOT, R_X86_64_COPY, R_X86_64_JUMP_SLOT, RelocationType,
};
use object::read::elf::{
    Dyn as _, ElfFile, FileHeader as _, ProgramHeader as _, SectionHeader as _,
};
use object::{
    Endianness, Object as _, ObjectSymbol as _, ObjectSymbolTable as _, ReadCache, ReadRef,
    RelocationFlags, RelocationTarget,
};

use crate::check::Error;
use crate::in_process::script;

/// The parts of a file that matter here.
#[derive(Clone, Debug, Default)]
pub struct Elf {
    /// The libraries that it asks for.
    pub needed: Vec<String>,
    run_paths: Vec<String>,
    /// The names it imports.
    pub imports: Vec<String>,
    /// The names among them that it can do without.
    pub weak: BTreeSet<String>,
    /// The names it has for others.
    pub exports: BTreeSet<String>,
    /// The names it cannot start without: of functions that are found when they are first called,
    /// it can.
    pub at_start: BTreeSet<String>,
    /// The dynamic linker starts it: so with executables that are linked dynamically.
    pub is_started_by_linker: bool,
    /// Bytes of its thread-local variables that must be at fixed places from the start of a thread.
    pub fixed_thread_locals: u64,
}

impl Elf {
    /// The folders that it says its libraries are in; its own is `origin`.
    pub fn folders(&self, origin: &Path) -> impl Iterator<Item = PathBuf> {
        let origin = origin.to_string_lossy();
        self.run_paths.iter().flat_map(|paths| paths.split(':')).map(move |folder| {
            PathBuf::from(folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin))
        })
    }

    /// The path of a library that it asks for, if this was read of `path`; `system` are the folders
    /// that every program has.
    pub fn library(&self, name: &str, path: &Path, system: &[PathBuf]) -> Option<PathBuf> {
        let origin = path.parent().unwrap_or(Path::new("."));
        let mut places = self.folders(origin).chain(system.iter().cloned());
        places.find_map(|folder| Some(folder.join(name)).filter(|place| place.is_file()))
    }
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Elf, Error> {
    let data = fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    parse(&data).map_err(|source| Error::NotElf { path: path.to_owned(), source })
}

/// Reads what a file needs, without its names.
pub fn read_needs(path: &Path) -> Result<Elf, Error> {
    let file =
        fs::File::open(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    needs(&ReadCache::new(file)).map_err(|source| Error::NotElf { path: path.to_owned(), source })
}

fn parse(data: &[u8]) -> Result<Elf, object::Error> {
    let mut elf = needs(data)?;
    let file = ElfFile::<FileHeader64<Endianness>>::parse(data)?;
    for symbol in file.dynamic_symbols() {
        let name = symbol.name()?.to_owned();
        if symbol.is_undefined() {
            if symbol.is_weak() {
                elf.weak.insert(name.clone());
            }
            elf.imports.push(name);
        } else {
            elf.exports.insert(name);
        }
    }
    let symbols = file.dynamic_symbol_table();
    for (_, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        let RelocationTarget::Symbol(number) = relocation.target() else { continue };
        let symbol = symbols.and_then(|table| table.symbol_by_index(number).ok());
        let Some(symbol) = symbol.filter(|symbol| !symbol.is_weak()) else { continue };
        let name = symbol.name()?.to_owned();
        // A variable of a library, of which an executable has a copy.
        if COPIES.contains(&r_type) {
            elf.imports.push(name.clone());
        }
        if COPIES.contains(&r_type) || symbol.is_undefined() && !JUMPS.contains(&r_type) {
            elf.at_start.insert(name);
        }
    }
    Ok(elf)
}

/// Relocations that copy a variable, and those of functions that are found when they are called.
const COPIES: [RelocationType; 2] = [R_X86_64_COPY, R_AARCH64_COPY];
const JUMPS: [RelocationType; 2] = [R_X86_64_JUMP_SLOT, R_AARCH64_JUMP_SLOT];

fn needs<'data>(data: impl ReadRef<'data>) -> Result<Elf, object::Error> {
    let mut elf = Elf::default();
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let parts = header.program_headers(endian, data)?;
    elf.is_started_by_linker = parts.iter().any(|part| part.p_type(endian) == PT_INTERP);
    let locals = parts.iter().filter(|part| part.p_type(endian) == PT_TLS);
    let locals = locals.map(|part| part.p_memsz(endian).saturating_add(part.p_align(endian))).sum();
    let sections = header.sections(endian, data)?;
    for section in sections.iter() {
        let Some((entries, link)) = section.dynamic(endian, data)? else { continue };
        let strings = sections.strings(endian, data, link)?;
        for entry in entries {
            let into = match entry.tag(endian) {
                DT_NEEDED => &mut elf.needed,
                DT_RPATH | DT_RUNPATH => &mut elf.run_paths,
                DT_FLAGS if entry.d_val(endian) & DF_STATIC_TLS.0 != 0 => {
                    elf.fixed_thread_locals = locals;
                    continue;
                }
                _ => continue,
            };
            let text = entry.val32(endian).and_then(|place| strings.get(place).ok());
            into.extend(text.map(|text| String::from_utf8_lossy(text).into_owned()));
        }
    }
    Ok(elf)
}

/// Reads a program and the libraries that it is linked with, as the dynamic linker would find them;
/// `before` are libraries that are loaded before it. Of a script, that is its interpreter. Files
/// that cannot be read are left out.
pub fn linked(program: &Path, before: &[PathBuf]) -> Vec<(PathBuf, Elf)> {
    let system = system_folders();
    let named = before.iter().map(|library| {
        let mut places = system.iter().map(|folder| folder.join(library));
        places.find(|place| place.is_file()).unwrap_or_else(|| library.clone())
    });
    let mut waiting: Vec<PathBuf> = named.collect();
    waiting.push(script(program).unwrap_or_else(|| program.to_owned()));
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(path) = waiting.pop() {
        let Ok(elf) = read_needs(&path) else { continue };
        let new = elf.needed.iter().filter(|name| seen.insert((*name).clone()));
        waiting.extend(new.filter_map(|name| elf.library(name, &path, &system)));
        found.push((path, elf));
    }
    found
}

/// The folders that the dynamic linker searches for every program.
pub fn system_folders() -> Vec<PathBuf> {
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
