//! The contents of a file, mapped or owned.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

/// The contents of a file: mapped into memory, or owned.
#[derive(Debug)]
pub enum Bytes {
    /// Bytes in memory of our own.
    Owned(Vec<u8>),
    /// A file, mapped.
    Mapped(memmap2::Mmap),
}

impl Bytes {
    /// Maps a regular file; reads anything else (a pipe, a terminal) to its end.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = units::text::open(path)?;
        if file.metadata()?.is_file() {
            return Self::map(&file);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Self::Owned(bytes))
    }

    /// Maps a regular file.
    pub(super) fn map(file: &File) -> io::Result<Self> {
        map(file).map(Self::Mapped)
    }
}

#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the map is private and only read, as bytes, for which any value is valid. What
    // remains is the demand of every map that no one changes the file meanwhile: a program that
    // shortens it under us ends this process by a signal, one that overwrites it makes it compute
    // with the new contents, where every access is still checked against the length of the map.
    unsafe { memmap2::MmapOptions::new().map_copy_read_only(file) }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}
