//! Mistakes in what the user wrote, and how they are shown.

use std::{
    fmt, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

pub use units::text::reason;

use super::near_file::near_file;

/// A text that the user wrote.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The file's name, as the user gave it.
    pub name: String,
    /// The contents of the file.
    pub text: String,
}

/// The place at which something was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a text, at these bytes.
    Text(Arc<Source>, Range<usize>),
    /// In a file as a whole.
    File(PathBuf),
    /// On the command line, in this argument.
    Argument(String),
    /// Nowhere in particular.
    Nowhere,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub(crate) place: Place,
    /// The mistake.
    pub message: String,
    /// Advice on how to mend it.
    pub help: Option<String>,
    /// True if it lies in a file, although an argument may be what names the file.
    of_file: bool,
}

/// The number of mistakes that are shown; a file of the wrong kind has thousands.
const SHOWN: usize = 20;

/// Everything that is wrong with an experiment.
#[derive(Debug)]
pub struct Mistakes(pub(crate) Vec<Diagnostic>);

/// Returns the reason why a file cannot be read and, if it does not exist, advice on a further line
/// with the file of the nearest name.
pub fn unread(path: &Path, error: &io::Error) -> String {
    let help = advice(path, error).map(|help| format!("\n  help: {help}"));
    reason(error) + &help.unwrap_or_default()
}

/// Returns advice that names the file nearest to one that does not exist.
fn advice(path: &Path, error: &io::Error) -> Option<String> {
    let absent = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    let near = absent.then(|| near_file(path)).flatten()?;
    Some(format!("did you mean {}?", near.display()))
}

impl Place {
    /// A part of the same text.
    pub(crate) fn within(&self, part: &Range<usize>) -> Self {
        match self {
            Self::Text(source, _) => Self::Text(Arc::clone(source), part.clone()),
            other => other.clone(),
        }
    }

    /// The line, counted from 1, for a place in a text.
    pub(crate) fn line(&self) -> Option<usize> {
        match self {
            Self::Text(source, span) => {
                let before = source.text.get(..span.start).unwrap_or(&source.text);
                Some(before.matches('\n').count() + 1)
            }
            _ => None,
        }
    }
}

impl Diagnostic {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), help: None, of_file: false }
    }

    /// A file that cannot be read.
    pub(crate) fn unread(path: &Path, error: &io::Error) -> Self {
        Self::new(Place::File(path.to_owned()), reason(error)).help(advice(path, error))
    }

    /// A file that is named at a place, by a key if the place does not show it, and that is not
    /// there.
    pub(crate) fn absent(place: Place, key: Option<&str>, path: &Path, error: &io::Error) -> Self {
        let path_text = path.display().to_string();
        let is_shown = matches!(&place, Place::Argument(text) if text.ends_with(&path_text));
        let named = if is_shown { String::new() } else { format!("{path_text}: ") };
        let key = key.map_or_else(String::new, |key| format!("`{key}`: "));
        let mistake = Self::new(place, format!("{key}{named}{}", reason(error)));
        Self { of_file: true, ..mistake.help(advice(path, error)) }
    }

    pub(crate) fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }

    /// Returns whether the mistake lies on the command line rather than in a file.
    fn is_usage(&self) -> bool {
        matches!(self.place, Place::Argument(_)) && !self.of_file
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.place {
            Place::Text(source, span) => return self.excerpt(source, span, f),
            Place::File(path) => write!(f, "error: {}: {}", path.display(), self.message)?,
            Place::Argument(argument) => write!(f, "error: {argument}: {}", self.message)?,
            Place::Nowhere => write!(f, "error: {}", self.message)?,
        }
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl Diagnostic {
    fn excerpt(&self, source: &Source, span: &Range<usize>, f: &mut fmt::Formatter) -> fmt::Result {
        let mark = AnnotationKind::Primary.span(span.clone());
        let snippet = Snippet::source(&source.text).path(&source.name).annotation(mark);
        let group = Group::with_title(Level::ERROR.primary_title(&self.message)).element(snippet);
        let group = match &self.help {
            Some(help) => group.element(Level::HELP.message(help)),
            None => group,
        };
        f.write_str(&Renderer::plain().render(&[group]))
    }
}

impl Mistakes {
    /// Each mistake.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Returns whether all mistakes lie on the command line.
    pub fn are_usage(&self) -> bool {
        self.0.iter().all(Diagnostic::is_usage)
    }
}

/// Puts mistakes in the order of the file.
pub(crate) fn sort(mistakes: &mut [Diagnostic]) {
    mistakes.sort_by_key(|mistake| match &mistake.place {
        Place::Text(_, span) => span.start,
        _ => 0,
    });
}

/// Adds a mistake in the order of its file, or as the last one.
pub(crate) fn insert(mistakes: &mut Vec<Diagnostic>, mistake: Diagnostic) {
    let is_behind = |other: &Diagnostic| match (&mistake.place, &other.place) {
        (Place::Text(source, span), Place::Text(theirs, other)) => {
            source.name == theirs.name && span.start < other.start
        }
        _ => false,
    };
    let at = mistakes.iter().position(is_behind).unwrap_or(mistakes.len());
    mistakes.insert(at, mistake);
}

impl From<Diagnostic> for Mistakes {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().take(SHOWN).enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            diagnostic.fmt(f)?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nerror: {more} more mistakes are not shown"),
        }
    }
}

impl std::error::Error for Mistakes {}
