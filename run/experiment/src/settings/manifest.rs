//! The manifest of a run: its settings and the hashes of its inputs, so that it can be run again.

use std::{
    fs,
    io::{self, BufRead, BufReader},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    configuration::{Configuration, Origin},
    diagnostic::{Diagnostic, Mistakes, Place, Source},
    keys::{self, Id},
    scope::Part,
    toml_file::{Assignment, CLASS, Group, INTERVALS},
    value::{Raw, STANDARD, path_text},
};

/// The version of this program, which stands in every manifest.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The contents of `manifest.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    /// Version of the program that wrote it.
    heddle: String,
    /// The settings by full name. What is as another setting is not repeated.
    experiment: serde_json::Map<String, serde_json::Value>,
    /// The names of the rails in their order, which decides between equal ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rails: Vec<String>,
    /// The settings among them that nobody set. Manifests of earlier versions have no such list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    defaults: Option<Vec<String>>,
    /// The files that the run read.
    inputs: Vec<Input>,
}

/// A file that a run read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Its path, from the manifest's folder.
    path: String,
    /// SHA-256 of its contents, in hexadecimal; empty if it was a pipe.
    sha256: String,
    /// A note for the reader of the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// The note in the manifest of a run that read its schedule from standard input.
const LOST: &str =
    "standard input, which is not kept: to run this again, add --set workload.source=FILE";

/// The note about an input that cannot be read twice, whose hash is left empty.
const PIPE: &str = "a pipe, which is not kept: to run this again, name a file in its place";

/// A manifest that was read.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// Its path.
    pub path: PathBuf,
    inputs: Vec<Input>,
    defaults: Option<Vec<String>>,
}

impl Manifest {
    /// Reads a manifest and the settings in it.
    pub fn read(path: &Path) -> Result<(Self, Vec<Assignment>), Mistakes> {
        let text = units::text::read(path).map_err(|error| Diagnostic::unread(path, &error))?;
        let contents: Contents = serde_json::from_str(&text).map_err(|error| {
            let source = Source { name: path.display().to_string(), text: text.clone() };
            let span = position(&text, error.line(), error.column());
            Diagnostic::new(Place::Text(Arc::new(source), span), message(&error))
                .help("this is not a manifest as `heddle run -o` writes it".to_owned())
        })?;
        let mut assignments: Vec<Assignment> = Vec::new();
        let mut mistakes = Vec::new();
        for (name, value) in &contents.experiment {
            let (group, key) = match Group::of(name) {
                Some((group, key)) => {
                    let key = group.key(key);
                    (Some(group), key)
                }
                None => (None, Id::named(name)),
            };
            match key {
                Some(key) => assignments.push(Assignment {
                    group,
                    key,
                    raw: raw(value),
                    place: Place::File(path.to_owned()),
                }),
                None => mistakes.push(
                    Diagnostic::new(Place::File(path.to_owned()), format!("unknown key `{name}`"))
                        .help(format!(
                            "the manifest was written by heddle {}, this is heddle {VERSION}",
                            contents.heddle
                        )),
                ),
            }
        }
        assignments.sort_by_key(|assignment| match &assignment.group {
            Some(Group::Rail(name)) => contents.rails.iter().position(|rail| rail == name),
            _ => None,
        });
        let (inputs, defaults) = (contents.inputs, contents.defaults);
        let path = path.to_owned();
        if mistakes.is_empty() {
            Ok((Self { path, inputs, defaults }, assignments))
        } else {
            Err(Mistakes(mistakes))
        }
    }

    /// Returns whether nobody set a key of the manifest's run. Without a list of such keys, those
    /// are meant that have their default value.
    pub fn is_default(&self, id: Id, has_default_value: bool) -> bool {
        match &self.defaults {
            Some(defaults) => defaults.iter().any(|name| name == id.key().name),
            None => has_default_value,
        }
    }

    /// Returns whether a file is as it was when the manifest was written; a file that did not
    /// belong to that run is.
    pub fn vouches_for(&self, file: &Path) -> io::Result<bool> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        // Executables may be named by other paths than those that stand here.
        let plain = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let file = &plain(file);
        let same = |input: &&Input| plain(&folder.join(&input.path)) == *file;
        match self.inputs.iter().find(same) {
            Some(input) if file.is_file() => Ok(hash(file)? == input.sha256),
            _ => Ok(true),
        }
    }
}

/// The text of a manifest that will lie in `folder`, for a run that reads the files `inputs`, and
/// perhaps standard input, with this hash.
pub(crate) fn write(
    configuration: &Configuration,
    inputs: &[PathBuf],
    standard: Option<&str>,
    folder: &Path,
) -> io::Result<String> {
    let folder =
        std::path::absolute(folder).and_then(|folder| fs::canonicalize(&folder).or(Ok(folder)))?;
    let experiment = settings(configuration, &folder, |id| id.key().scope.part != Part::Display)?;
    // A setting of the run that has its default value is as if nobody had set it.
    let is_default = |id: Id| {
        let of_run = id.key().scope.part == Part::Run && configuration.is_default(id);
        of_run || !configuration.is_said(id)
    };
    let named = experiment.keys().filter_map(|name| Id::named(name));
    let defaults = named.filter(|id| is_default(*id)).map(|id| id.key().name.to_owned()).collect();
    let standard = standard.map(|sha256| {
        let (path, sha256) = (STANDARD.to_owned(), sha256.to_owned());
        Ok(Input { path, sha256, note: Some(LOST.to_owned()) })
    });
    let files = inputs.iter().map(|file| {
        if !file.is_file() {
            let (path, note) = (file.display().to_string(), Some(PIPE.to_owned()));
            return Ok(Input { path, sha256: String::new(), note });
        }
        let path = path_text(&fs::canonicalize(file)?, Some(&folder));
        Ok(Input { path, sha256: hash(file)?, note: None })
    });
    let contents = Contents {
        heddle: VERSION.to_owned(),
        experiment,
        rails: configuration.rails.iter().map(|rail| rail.name.clone()).collect(),
        defaults: Some(defaults),
        inputs: standard.into_iter().chain(files).collect::<io::Result<_>>()?,
    };
    Ok(serde_json::to_string_pretty(&contents)? + "\n")
}

/// The settings that `keeps` accepts, by full name; paths begin at `folder`.
fn settings(
    configuration: &Configuration,
    folder: &Path,
    keeps: impl Fn(Id) -> bool,
) -> io::Result<serde_json::Map<String, serde_json::Value>> {
    let mut settings = serde_json::Map::new();
    let is_kept = |id: &Id| keeps(*id) && !configuration.is_interval_of_another(None, *id);
    for id in Id::all().filter(is_kept) {
        let key = id.key();
        match configuration.found(id) {
            None | Some((_, Origin::Same(_))) => {}
            Some((value, _)) => {
                let value = value.absolute()?.json(Some(folder));
                settings.insert(key.name.to_owned(), value);
            }
        }
    }
    for rail in &configuration.rails {
        for (id, entry) in rail.settings() {
            let value = entry.value.clone().absolute()?.json(Some(folder));
            settings.insert(format!("rail.{}.{}", rail.name, id.name_in_rail()), value);
        }
    }
    for class in &configuration.classes {
        for (id, entry) in class.settings() {
            let value = entry.value.clone().absolute()?.json(Some(folder));
            settings.insert(format!("{CLASS}.{}.{}", class.name, id.name_in_class()), value);
        }
    }
    for class in &configuration.intervals {
        let is_own = |(id, _): &(Id, _)| !configuration.is_interval_of_another(Some(class), *id);
        for (id, entry) in class.settings().filter(is_own) {
            let name = format!("{INTERVALS}.{}.{}", class.name, id.name_in_intervals());
            settings.insert(name, entry.value.clone().absolute()?.json(Some(folder)));
        }
    }
    Ok(settings)
}

/// The settings that distinguish a run from one of which nothing was said, as they stand in a
/// manifest in `folder`: not where results go, nor how ranks are held or how many threads work.
pub(crate) fn parameters(
    configuration: &Configuration,
    folder: &Path,
) -> io::Result<serde_json::Map<String, serde_json::Value>> {
    const HOW: [Id; 2] = [keys::run::THREADS.id(), keys::live::IN_PROCESS.id()];
    let folder = fs::canonicalize(folder)?;
    settings(configuration, &folder, |id| {
        id.key().table() != "output" && !HOW.contains(&id) && !configuration.is_default(id)
    })
}

/// SHA-256 of a file's contents, in hexadecimal.
fn hash(file: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut reader = BufReader::with_capacity(1 << 16, units::text::open(file)?);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(hexadecimal(&hasher.finalize()));
        }
        hasher.update(bytes);
        let read = bytes.len();
        reader.consume(read);
    }
}

/// SHA-256 of these bytes, in hexadecimal.
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn raw(value: &serde_json::Value) -> Raw {
    match value {
        serde_json::Value::Null => Raw::Other("null"),
        serde_json::Value::Bool(value) => Raw::Switch(*value),
        serde_json::Value::Number(number) if number.is_f64() => Raw::Float(number.to_string()),
        serde_json::Value::Number(number) => Raw::Integer(number.to_string()),
        serde_json::Value::String(text) => Raw::Text(text.clone()),
        serde_json::Value::Array(list) => {
            Raw::List(list.iter().map(|item| (raw(item), 0..0)).collect())
        }
        serde_json::Value::Object(_) => Raw::Other("an object"),
    }
}

/// The character at a line and column, both from 1, as `serde_json` counts them: in bytes.
fn position(text: &str, line: usize, column: usize) -> Range<usize> {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start = before.map(str::len).sum::<usize>() + column.saturating_sub(1);
    let mut boundaries = text.char_indices().map(|(at, _)| at).skip_while(|&at| at < start);
    let first = boundaries.next().unwrap_or(text.len());
    first..boundaries.next().unwrap_or(text.len())
}

/// Returns the message of a JSON error without its place, which is shown apart.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
