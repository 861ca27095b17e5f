//! The values of a configuration: what is said, or else BookSim's defaults.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use units::nearest;

use super::{
    file::{self, Said},
    keys::{KEYS, Key},
};
use crate::settings::diagnostic::{Diagnostic, Place};

type Mistakes = Vec<Diagnostic>;

/// The value of each key.
#[derive(Debug)]
pub(super) struct Values {
    /// By the place of the key in the table, what was said last.
    said: Vec<Option<Said>>,
    /// The folder of the file, where the names of other files begin.
    folder: PathBuf,
}

impl Values {
    /// Reads a file and what the command line says besides, which counts more.
    pub fn read(path: &Path, arguments: &[String]) -> Result<Self, Mistakes> {
        let mut all = file::read(path)?;
        let mut wrong = Vec::new();
        for text in arguments {
            match file::argument(text) {
                Ok(said) => all.push(said),
                Err(mistake) => wrong.push(mistake),
            }
        }
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut values = Self { said: KEYS.iter().map(|_| None).collect(), folder };
        for said in all {
            match values.take(said) {
                Ok(()) => {}
                Err(mistake) => wrong.push(mistake),
            }
        }
        if wrong.is_empty() { Ok(values) } else { Err(wrong) }
    }

    fn take(&mut self, said: Said) -> Result<(), Diagnostic> {
        let Some(at) = KEYS.iter().position(|key| key.name == said.name) else {
            let names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
            let message = format!("BookSim 2 has no key `{}`", said.name);
            let near = nearest(&said.name, &names);
            let help = near.map(|near| format!("did you mean `{near}`?"));
            return Err(Diagnostic::new(said.name_place, message).help(help));
        };
        let Key { name, default, known } = &KEYS[at];
        if !known && !alike(&said.value, default) {
            let message = if default.is_empty() {
                format!("Heddle does not know BookSim's `{name}`: leave it out")
            } else {
                format!("Heddle knows BookSim's `{name}` at its default alone, {default}")
            };
            return Err(Diagnostic::new(said.place, message));
        }
        self.said[at] = Some(said);
        Ok(())
    }

    /// The folder of the file.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn said(&self, name: &str) -> Option<&Said> {
        let at = KEYS.iter().position(|key| key.name == name)?;
        self.said[at].as_ref()
    }

    /// The text of a key. A list of one value is that value.
    pub fn text(&self, name: &str) -> &str {
        let default = KEYS.iter().find(|key| key.name == name).map_or("", |key| key.default);
        let text = self.said(name).map_or(default, |said| &said.value);
        match file::list(text)[..] {
            [one] => one,
            _ => text,
        }
    }

    /// A mistake at the value of a key.
    pub fn wrong(&self, name: &str, message: impl Into<String>) -> Diagnostic {
        let place = self.said(name).map_or(Place::Nowhere, |said| said.place.clone());
        let message = message.into();
        match place {
            Place::Nowhere => Diagnostic::new(place, format!("{name}: {message}")),
            place => Diagnostic::new(place, message),
        }
    }

    /// A number between two.
    pub fn number<T: Copy + FromStr + PartialOrd + std::fmt::Display>(
        &self,
        name: &str,
        least: T,
        most: T,
    ) -> Result<T, Diagnostic> {
        let text = self.text(name);
        let number = text.parse().ok().filter(|number| (&least..=&most).contains(&number));
        number.ok_or_else(|| {
            self.wrong(name, format!("expected a number from {least} to {most}, found `{text}`"))
        })
    }

    /// A word that is one of some.
    pub fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<T, Diagnostic> {
        self.word_of(name, self.text(name), words)
    }

    /// A word in the value of a key that is one of some.
    pub fn word_of<T: Copy>(
        &self,
        name: &str,
        text: &str,
        words: &[(&str, T)],
    ) -> Result<T, Diagnostic> {
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Ok(*value);
        }
        let names: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("unknown {name} `{text}` (known: {})", names.join(", "));
        let near = nearest(text, &names).map(|near| format!("did you mean `{near}`?"));
        Err(self.wrong(name, message).help(near))
    }
}

/// True if two texts are the same word or number.
fn alike(one: &str, other: &str) -> bool {
    let one = match file::list(one)[..] {
        [one] => one,
        _ => one,
    };
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => (one - other).abs() < f64::EPSILON,
        _ => one == other,
    }
}
