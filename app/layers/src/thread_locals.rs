//! The room that thread-local variables of a program's libraries want at its start.
//!
//! The dynamic linker of glibc lays out these variables when it has found all libraries. Where it
//! is watched (`LD_AUDIT`), it does so before it looks for them, and leaves room for 512 bytes of
//! libraries that must have theirs at fixed places (`DF_STATIC_TLS`), unless `GLIBC_TUNABLES` says
//! how much there shall be. Those of allocators and sanitizers have more: up to some 800 kB.
//!
//! Source: glibc 2.36, `elf/rtld.c` (`load_audit_modules`) and `elf/dl-tls.c`; its manual, chapter
//! 39.

use std::path::{Path, PathBuf};

use crate::elf::linked;

/// The bytes that variables at fixed places take in the libraries that a program is linked with,
/// and in those that are loaded `before` it. Of a script, that is its interpreter. Files that
/// cannot be read have none.
pub fn fixed(program: &Path, before: &[PathBuf]) -> u64 {
    let each = linked(program, before).into_iter().map(|(_, elf)| elf.fixed_thread_locals);
    each.fold(0, u64::saturating_add)
}
