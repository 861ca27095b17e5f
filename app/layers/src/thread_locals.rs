//! The room that thread-local variables of a program's libraries want at its start.
//!
//! The dynamic linker of glibc lays out these variables when it has found all libraries. Where it is watched (`LD_AUDIT`), it does so before it
//! looks for them, and leaves room for 512 bytes of libraries that must have theirs at fixed places (`DF_STATIC_TLS`), unless
//! `GLIBC_TUNABLES` says how much there shall be. Those of allocators and sanitizers have more: up to some 800 kB.
//!
//! Source: glibc 2.36, `elf/rtld.c` (`load_audit_modules`) and `elf/dl-tls.c`; its manual, chapter 39.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::elf::{read_needs, system_folders};
use crate::holding::script;

/// How many bytes the variables at fixed places take in the libraries that a program is linked with, and in those that are loaded `before` it.
/// Of a script, that is its interpreter. Files that cannot be read have none.
pub fn fixed(program: &Path, before: &[PathBuf]) -> u64 {
    let system = system_folders();
    let named = before.iter().map(|library| {
        let mut places = system.iter().map(|folder| folder.join(library));
        places.find(|place| place.is_file()).unwrap_or_else(|| library.clone())
    });
    let mut waiting: Vec<PathBuf> = named.collect();
    waiting.push(script(program).unwrap_or_else(|| program.to_owned()));
    let mut seen = BTreeSet::new();
    let mut bytes = 0_u64;
    while let Some(path) = waiting.pop() {
        let Ok(elf) = read_needs(&path) else { continue };
        bytes = bytes.saturating_add(elf.fixed_thread_locals);
        let new = elf.needed.iter().filter(|name| seen.insert((*name).clone()));
        waiting.extend(new.filter_map(|name| elf.library(name, &path, &system)));
    }
    bytes
}
