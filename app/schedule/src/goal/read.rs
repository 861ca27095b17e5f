//! Reading a file in either form.

use std::io;
use std::path::Path;

use super::bytes::Bytes;
use super::compile::compile;
use super::diagnostic::{Diagnostic, Severity};
use super::format::{BASE, MAGIC, MAGIC_CONSUMED};
use super::image::Image;
use super::validate::BinaryError;

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The text form, for people.
    Text,
    /// The binary form, for simulators.
    Binary,
}

impl Form {
    /// Tells by the first bytes: the binary form starts with its magic number, text is free of zero
    /// bytes and nearly free of others that nobody writes. `None` for what is neither.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let start = bytes.get(..BASE).unwrap_or(bytes);
        let is = |magic: u64| !start.is_empty() && magic.to_le_bytes().starts_with(start);
        if is(MAGIC) || is(MAGIC_CONSUMED) {
            return Some(Self::Binary);
        }
        is_text(bytes.get(..LOOKED_AT).unwrap_or(bytes)).then_some(Self::Text)
    }
}

/// The number of bytes that tell whether a file is text.
const LOOKED_AT: usize = 4096;

/// Returns whether these bytes are text. Comments in another encoding than UTF-8 are, noise is not:
/// up to one byte in eight may be a control character or no UTF-8, and none zero.
fn is_text(bytes: &[u8]) -> bool {
    let control = |c: &char| c.is_control() && !c.is_whitespace();
    let odd = |chunk: std::str::Utf8Chunk| {
        chunk.invalid().len() + chunk.valid().chars().filter(control).count()
    };
    !bytes.contains(&0) && bytes.utf8_chunks().map(odd).sum::<usize>() <= bytes.len() / 8
}

/// A file that was read.
#[derive(Debug)]
pub struct Reading {
    /// The program in the file.
    pub image: Image,
    /// The form of the file.
    pub form: Form,
    /// Warnings about a text.
    pub warnings: Vec<Diagnostic>,
}

/// The reason why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A binary file is damaged.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// The file has neither form.
    #[error("neither GOAL text nor its binary form, which starts with the magic number 4223")]
    Unknown,
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
    let form = Form::of(&bytes).ok_or(ReadError::Unknown)?;
    if form == Form::Binary {
        return Ok(Reading { image: Image::validated(bytes)?, form, warnings: Vec::new() });
    }
    let compiled = compile(&bytes, false).map_err(ReadError::Text)?;
    Ok(Reading { image: compiled.image, form, warnings: compiled.warnings })
}
