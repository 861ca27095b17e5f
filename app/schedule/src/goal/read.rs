//! Reading a file in either form.

use std::io;
use std::path::Path;

use super::bytes::Bytes;
use super::compile::compile;
use super::diagnostic::{Diagnostic, Severity};
use super::format::{BASE, MAGIC};
use super::image::Image;
use super::validate::BinaryError;

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// For simulators.
    Binary,
}

impl Form {
    /// Tells by the first bytes. Text has no zero bytes; of the first eight bytes of the binary form
    /// most are zero.
    pub fn of(bytes: &[u8]) -> Self {
        let start = bytes.get(..BASE).unwrap_or(bytes);
        let magic = !start.is_empty() && MAGIC.to_le_bytes().starts_with(start);
        if magic || start.contains(&0) { Self::Binary } else { Self::Text }
    }
}

/// A file that was read.
#[derive(Debug)]
pub struct Reading {
    /// What it says.
    pub image: Image,
    /// Which form it has.
    pub form: Form,
    /// What is suspicious about a text.
    pub warnings: Vec<Diagnostic>,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A binary file is damaged.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// A text has errors; with them come its warnings.
    #[error("{}", list(.0))]
    Text(Vec<Diagnostic>),
}

fn list(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Reads a file in either form.
pub fn read(path: &Path) -> Result<Reading, ReadError> {
    from(Bytes::open(path)?)
}

/// Reads the contents of a file in either form.
pub fn read_bytes(bytes: Vec<u8>) -> Result<Reading, ReadError> {
    from(Bytes::Owned(bytes))
}

fn from(bytes: Bytes) -> Result<Reading, ReadError> {
    let form = Form::of(&bytes);
    if form == Form::Binary {
        return Ok(Reading { image: Image::validated(bytes)?, form, warnings: Vec::new() });
    }
    let compiled = compile(&bytes, false).map_err(ReadError::Text)?;
    Ok(Reading { image: compiled.image, form, warnings: compiled.warnings })
}
