//! The GOAL schedule that a run reads.

use std::{
    borrow::Cow,
    fs,
    io::{self, Read},
    path::PathBuf,
};

use schedule::goal::{self, Form, Image, ReadError, Reading};

use crate::{diagnostic::reason, manifest, run::Failure};

/// Where a schedule comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Standard,
}

impl Source {
    /// What it is called in messages.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            Self::File(path) => path.to_string_lossy(),
            Self::Standard => "standard input".into(),
        }
    }
}

/// A schedule that was read.
pub(crate) struct Input {
    pub source: Source,
    pub reading: Reading,
    /// What standard input said, if that was a text: it cannot be read again.
    text: Vec<u8>,
    /// SHA-256 of standard input, in hexadecimal, if it was asked for.
    pub sha256: Option<String>,
}

impl Input {
    /// Reads a schedule in either form, and hashes it if it is lost then. The failure shows every
    /// error.
    pub fn read(source: &Source, hash: bool) -> Result<Self, Failure> {
        let read = match source {
            Source::File(path) => goal::read(path).map(|reading| Self {
                source: source.clone(),
                reading,
                text: Vec::new(),
                sha256: None,
            }),
            Source::Standard => Self::read_standard(hash),
        };
        read.map_err(|error| Failure::Input(goal_errors(&source.name(), error)))
    }

    fn read_standard(hash: bool) -> Result<Self, ReadError> {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        let sha256 = hash.then(|| manifest::hash_of(&bytes));
        let (reading, text) = if Form::of(&bytes) == Some(Form::Text) {
            let (image, warnings) = Image::from_text(&bytes).map_err(ReadError::Text)?;
            (Reading { image, form: Form::Text, warnings }, bytes)
        } else {
            (goal::read_bytes(bytes)?, Vec::new())
        };
        Ok(Self { source: Source::Standard, reading, text, sha256 })
    }

    /// The lines of operations, given as (rank, index), if the schedule was a text and still is
    /// there.
    pub fn lines(&self, ops: &[(u32, u32)]) -> Vec<Option<(u64, String)>> {
        if self.reading.form == Form::Binary || ops.is_empty() {
            return Vec::new();
        }
        match &self.source {
            Source::File(path) => goal::source_line(&fs::read(path).unwrap_or_default(), ops),
            Source::Standard => goal::source_line(&self.text, ops),
        }
    }

    /// That there are warnings, and how to see them.
    pub fn warnings(&self) -> Option<String> {
        let name = self.source.name();
        let argument = if self.source == Source::Standard { "-".into() } else { name.clone() };
        match self.reading.warnings.len() {
            0 => None,
            count => {
                Some(format!("{name}: {count} warnings; `heddle check {argument}` shows them"))
            }
        }
    }
}

/// Everything that is wrong with a GOAL file of this name.
pub fn goal_errors(name: &str, error: ReadError) -> String {
    match error {
        ReadError::Io(error) => format!("error: {name}: {}", reason(&error)),
        ReadError::Text(diagnostics) => {
            diagnostics.iter().map(|diagnostic| diagnostic.render(name)).collect()
        }
        error => format!("error: {name}: {error}"),
    }
}
