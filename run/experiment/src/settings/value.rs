//! Values of settings: how they are read from text and written back.

use std::{
    fmt,
    fs::{self, File},
    io::{self, Read},
    ops::Range,
    path::{Component, Path, PathBuf},
    str::FromStr,
};

use ::topology::{Faults, Routing, Shape};
use units::{Bytes, Time, TimePerByte};

use super::{launch::placed, probability::Probability};

/// The type of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A workload: a file, `pattern:NAME`, `collective:NAME` or `traffic:NAME`.
    Workload,
    /// A file or folder.
    Path,
    /// A topology: a kind with its keys, or a file.
    Topology,
    /// The name of a routing, with its options.
    Routing,
    /// A name that is checked where it is used.
    Name,
    /// Any number of such names, separated by spaces.
    Names,
    /// A time with its unit.
    Time,
    /// The length of a unit: a unit of time (`ps`), or a time (`10 ns`); not zero.
    TimeUnit,
    /// A time per byte, or a bandwidth.
    TimePerByte,
    /// A number of bytes with its unit.
    Bytes,
    /// A whole number between the two, inclusive.
    Count(u64, u64),
    /// A number that is not negative, with up to six decimals.
    Factor,
    /// A number from 0 to 1, with up to 18 decimals.
    Probability,
    /// Extents of a grid.
    Grid,
    /// Yes or no.
    Switch,
    /// One of some words, each with its meaning.
    Word(Words),
    /// Any number of these words.
    Words(Words),
}

/// Words that a setting can be, each with its meaning.
pub type Words = &'static [(&'static str, &'static str)];

/// The source of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A pattern of this name.
    Pattern(String),
    /// A collective of this name.
    Collective(String),
    /// Synthetic traffic of this name.
    Traffic(String),
    /// Live programs: the command line of `mpirun`.
    Program(String),
    /// A GOAL file, text or binary; or traces.
    File(PathBuf),
    /// A GOAL file on standard input.
    Standard,
}

/// The source of a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A kind with its keys.
    Spec(String),
    /// A file.
    File(PathBuf),
}

/// The name of standard input.
pub(crate) const STANDARD: &str = "-";

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A workload.
    Workload(Workload),
    /// A file or folder.
    Path(PathBuf),
    /// A topology.
    Topology(Topology),
    /// A name.
    Name(String),
    /// A time.
    Time(Time),
    /// A time per byte.
    TimePerByte(TimePerByte),
    /// A number of bytes.
    Bytes(Bytes),
    /// A whole number.
    Count(u64),
    /// A number, in millionths.
    Factor(u64),
    /// A probability.
    Probability(Probability),
    /// Extents of a grid.
    Grid(Vec<u32>),
    /// Yes or no.
    Switch(bool),
    /// One word.
    Word(&'static str),
    /// Several words.
    Words(Vec<&'static str>),
}

/// By the name of a kind, the type of its values.
#[allow(missing_docs)]
pub mod types {
    use units as u;

    pub type Workload = super::Workload;
    pub type Path = std::path::PathBuf;
    pub type Topology = super::Topology;
    pub type Routing = String;
    pub type Name = String;
    pub type Names = String;
    pub type Time = u::Time;
    pub type TimeUnit = u::Time;
    pub type TimePerByte = u::TimePerByte;
    pub type Bytes = u::Bytes;
    pub type Count = u64;
    pub type Factor = f64;
    pub type Probability = super::Probability;
    pub type Grid = Vec<u32>;
    pub type Switch = bool;
    pub type Word = &'static str;
    pub type Words = Vec<&'static str>;
}

/// A type of the values of settings.
pub(crate) trait Typed: Sized {
    /// The value as this type; `None` if it is of another one, which the table of keys excludes.
    fn of(value: Value) -> Option<Self>;
}

macro_rules! typed {
    ($($kind:ident: $type:ty = $value:ident => $typed:expr;)*) => {
        $(impl Typed for $type {
            fn of(value: Value) -> Option<Self> {
                match value {
                    Value::$kind($value) => Some($typed),
                    _ => None,
                }
            }
        })*
    };
}

typed! {
    Workload: Workload = value => value;
    Path: PathBuf = value => value;
    Topology: Topology = value => value;
    Name: String = value => value;
    Time: Time = value => value;
    TimePerByte: TimePerByte = value => value;
    Bytes: Bytes = value => value;
    Count: u64 = value => value;
    Factor: f64 = millionths => millionths as f64 / 1e6;
    Probability: Probability = value => value;
    Grid: Vec<u32> = value => value;
    Switch: bool = value => value;
    Word: &'static str = value => value;
    Words: Vec<&'static str> = value => value;
}

/// A value as it stands in a file: its type is that of the file's language.
#[derive(Clone, Debug)]
pub(crate) enum Raw {
    Text(String),
    /// A number, as written.
    Integer(String),
    /// A number with a fraction, as written.
    Float(String),
    Switch(bool),
    /// Values with their places in the file's text.
    List(Vec<(Raw, Range<usize>)>),
    /// Anything else, described with its article.
    Other(&'static str),
}

/// Why a text is not a value of the kind asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The mistake.
    pub message: String,
    /// The right form, if the message does not contain it.
    pub help: Option<String>,
    /// The place in the text at which it is wrong, in bytes, if it is not wrong as a whole.
    pub offset: Option<usize>,
}

impl Mistake {
    fn new(message: String, help: impl Into<Option<String>>) -> Self {
        Self { message, help: help.into(), offset: None }
    }

    /// All mistakes of a topology or a routing in one.
    fn of(Faults(faults): Faults) -> Self {
        let messages: Vec<_> = faults.iter().map(|fault| fault.message.as_str()).collect();
        let help: Vec<_> = faults.iter().filter_map(|fault| fault.help.as_deref()).collect();
        Self::new(messages.join("; "), (!help.is_empty()).then(|| help.join("; ")))
    }
}

impl Kind {
    /// Reads a value from plain text, as on a command line. Relative paths are relative to `base`.
    pub(crate) fn parse(self, text: &str, base: &Path) -> Result<Value, Mistake> {
        match self {
            Self::Path | Self::Workload | Self::Topology if text.is_empty() => {
                Err(Mistake::new("the path is empty".into(), None))
            }
            Self::Workload => Ok(Value::Workload(workload(text, base))),
            Self::Path => Ok(Value::Path(base.join(text))),
            Self::Topology => topology(text, base).map(Value::Topology),
            Self::Routing => match text.parse::<Routing>() {
                Ok(_) => Ok(Value::Name(text.to_owned())),
                Err(fault) => Err(Mistake::of(Faults::from(fault))),
            },
            Self::Name | Self::Names if text.is_empty() => Err(self.mismatch("an empty text")),
            Self::Name | Self::Names => Ok(Value::Name(text.to_owned())),
            Self::Time => quantity(text).map(Value::Time),
            Self::TimeUnit => time_unit(text),
            Self::TimePerByte => quantity(text).map(Value::TimePerByte),
            Self::Bytes => quantity(text).map(Value::Bytes),
            Self::Count(least, most) => count(text, least, most),
            Self::Factor => factor(text).ok_or_else(|| self.mismatch(text)),
            Self::Probability => {
                Probability::parse(text).map(Value::Probability).ok_or_else(|| self.mismatch(text))
            }
            Self::Grid => text
                .split('x')
                .map(|extent| extent.trim().parse().ok().filter(|&extent: &u32| extent > 0))
                .collect::<Option<_>>()
                .map(Value::Grid)
                .ok_or_else(|| self.mismatch(&format!("\"{text}\""))),
            Self::Switch => match text {
                "true" => Ok(Value::Switch(true)),
                "false" => Ok(Value::Switch(false)),
                _ => Err(self.mismatch(&format!("\"{text}\""))),
            },
            Self::Word(words) => word(text, words).map(Value::Word),
            Self::Words(words) => text
                .split(',')
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(|text| word(text, words))
                .collect::<Result<Vec<_>, _>>()
                .map(|list| Value::Words(unique(list))),
        }
    }

    /// Reads a value from a file, where its type must fit too.
    pub(crate) fn read(self, raw: &Raw, base: &Path) -> Result<Value, Mistake> {
        if let Some(help) = self.other_form(raw, base) {
            return Err(Mistake { help: Some(help), ..self.mismatch(&raw.describe()) });
        }
        match (self, raw) {
            (Self::Switch, Raw::Switch(value)) => Ok(Value::Switch(*value)),
            // A number where a quantity is meant lacks its unit, and the unit's reader says so.
            (Self::Count(..), Raw::Integer(number))
            | (
                Self::Factor
                | Self::Probability
                | Self::Time
                | Self::TimeUnit
                | Self::TimePerByte
                | Self::Bytes,
                Raw::Integer(number) | Raw::Float(number),
            ) => self.parse(number, base),
            (
                Self::Count(..) | Self::Factor | Self::Probability | Self::Switch | Self::Words(_),
                _,
            ) => Err(self.mismatch(&raw.describe())),
            (_, Raw::Text(text)) if text.is_empty() => Err(self.mismatch("an empty text")),
            (_, Raw::Text(text)) => self.parse(text, base),
            _ => Err(self.mismatch(&raw.describe())),
        }
    }

    /// Advice for a value that is right but for its quotes or brackets.
    fn other_form(self, raw: &Raw, base: &Path) -> Option<String> {
        match (self, raw) {
            (Self::Words(_), Raw::Text(text)) => match self.parse(text, base) {
                Ok(Value::Words(words)) => Some(format!("write a list: {words:?}")),
                _ => None,
            },
            (
                Self::Name | Self::Names | Self::Routing,
                Raw::Integer(number) | Raw::Float(number),
            ) => Some(format!("put it in quotes: \"{number}\"")),
            (
                Self::Count(..) | Self::Factor | Self::Probability | Self::Switch,
                Raw::Text(text),
            ) => {
                let is_right = self.parse(text, base).is_ok();
                is_right.then(|| format!("leave out the quotes: {text}"))
            }
            _ => None,
        }
    }

    fn mismatch(self, found: &str) -> Mistake {
        Mistake::new(format!("expected {}, found {found}", self.expects()), None)
    }

    /// Describes the values of this kind.
    pub fn expects(self) -> String {
        match self {
            Self::Workload => {
                "the path of a GOAL file or of traces, \"-\" for standard input, \"pattern:NAME\" \
                 or \"collective:NAME\""
                    .into()
            }
            Self::Path => "a path in quotes".into(),
            Self::Topology => "a topology such as \"star:hosts=8\", or the path of one".into(),
            Self::Name | Self::Names | Self::Routing => "a name in quotes".into(),
            Self::Time => "a time with its unit, such as \"2500 ns\"".into(),
            Self::TimeUnit => "a unit of time such as \"ps\", or a time such as \"10 ns\"".into(),
            Self::TimePerByte => {
                "a time per byte such as \"6 ns/B\", or a bandwidth such as \"100 Gb/s\"".into()
            }
            Self::Bytes => "a size with its unit, such as \"64 KiB\"".into(),
            Self::Count(least, u64::MAX) => format!("a whole number, at least {least}"),
            Self::Count(least, most) => format!("a whole number from {least} to {most}"),
            Self::Factor => {
                "a number such as 0.5, from 0 to 1000000, with at most six decimals".into()
            }
            Self::Probability => {
                "a probability from 0 to 1 such as 0.001 or 1e-12, with at most 18 decimals".into()
            }
            Self::Grid => "extents of a grid, such as \"8x4x4\"".into(),
            Self::Switch => "true or false".into(),
            Self::Word(words) => format!("one of {}", list(words)),
            Self::Words(words) => format!("a list of {}", list(words)),
        }
    }
}

impl Raw {
    /// Describes the value for an error message.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("the text \"{text}\""),
            Self::Integer(text) | Self::Float(text) => format!("the number {text}"),
            Self::Switch(value) => value.to_string(),
            Self::List(_) => "a list".into(),
            Self::Other(what) => (*what).into(),
        }
    }
}

/// A kind that is known, or anything with a colon and no file of that name, is meant as a kind.
fn topology(text: &str, base: &Path) -> Result<Topology, Mistake> {
    let kind = text.split(':').next().unwrap_or(text);
    let known = ::topology::KINDS.iter().any(|entry| entry.name == kind);
    let path = base.join(text);
    let plain = !text.contains(['/', '.']) || text.contains('=');
    if known || plain && !path.exists() {
        Shape::parse(text).map_err(Mistake::of)?;
        return Ok(Topology::Spec(text.to_owned()));
    }
    Ok(Topology::File(path))
}

fn workload(text: &str, base: &Path) -> Workload {
    if let Some(name) = text.strip_prefix("collective:") {
        return Workload::Collective(name.to_owned());
    }
    if let Some(name) = text.strip_prefix("traffic:") {
        return Workload::Traffic(name.to_owned());
    }
    if let Some(line) = text.strip_prefix("program:") {
        // The folders that a file names.
        let from = |folder: Option<PathBuf>| folder.map(|folder| base.join(folder));
        let is_of_file = !base.as_os_str().is_empty();
        return Workload::Program(if is_of_file { placed(line, from) } else { line.to_owned() });
    }
    match text.strip_prefix("pattern:") {
        None if text == STANDARD => Workload::Standard,
        Some(name) => Workload::Pattern(name.to_owned()),
        None => Workload::File(base.join(text)),
    }
}

/// A decimal number in millionths; at most a million.
fn factor(text: &str) -> Option<Value> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let millionths: u64 = format!("{fraction:0<6}").parse().ok()?;
    let whole: u64 = whole.parse().ok().filter(|whole| *whole <= 1_000_000)?;
    Some(Value::Factor(whole * 1_000_000 + millionths))
}

fn quantity<T: FromStr<Err = units::Error>>(text: &str) -> Result<T, Mistake> {
    text.parse().map_err(|error: units::Error| Mistake {
        message: error.to_string(),
        help: None,
        offset: Some(error.offset()),
    })
}

fn time_unit(text: &str) -> Result<Value, Mistake> {
    let name = text.trim();
    if name.starts_with(|first: char| first.is_alphabetic()) {
        // A mistake's offset counts from the start of what is read here.
        return quantity(&format!("1{name}"))
            .map(Value::Time)
            .map_err(|mistake| Mistake { offset: None, ..mistake });
    }
    match quantity(text)? {
        Time::ZERO => {
            Err(Mistake::new("a unit of time cannot be zero".into(), Kind::TimeUnit.expects()))
        }
        unit => Ok(Value::Time(unit)),
    }
}

fn count(text: &str, least: u64, most: u64) -> Result<Value, Mistake> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(Value::Count(number)),
        _ => Err(Kind::Count(least, most).mismatch(text)),
    }
}

fn word(text: &str, words: Words) -> Result<&'static str, Mistake> {
    let names: Vec<&'static str> = words.iter().map(|&(name, _)| name).collect();
    names.iter().find(|&&name| name == text).copied().ok_or_else(|| {
        let help = units::nearest(text, &names).map(|near| format!("did you mean \"{near}\"?"));
        Mistake { help, ..Kind::Word(words).mismatch(&format!("\"{text}\"")) }
    })
}

/// The words in their first order, each once.
fn unique(list: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
    let mut seen = Vec::new();
    for word in list {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen
}

fn list(words: Words) -> String {
    let quoted: Vec<String> = words.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    quoted.join(", ")
}

impl Workload {
    /// As it is written in an experiment file, a path relative to `base` if given.
    fn text(&self, base: Option<&Path>) -> String {
        match self {
            Self::Pattern(name) => format!("pattern:{name}"),
            Self::Collective(name) => format!("collective:{name}"),
            Self::Traffic(name) => format!("traffic:{name}"),
            Self::Program(line) if base.is_some() => {
                let from = |folder: PathBuf| PathBuf::from(path_text(&folder, base));
                format!("program:{}", placed(line, |folder| folder.map(from)))
            }
            Self::Program(line) => format!("program:{line}"),
            Self::File(path) => path_text(path, base),
            Self::Standard => STANDARD.to_owned(),
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text(None))
    }
}

impl Value {
    /// A list of words; `None` if one of them was not read.
    pub(crate) fn list(words: Vec<Option<Self>>) -> Option<Self> {
        let words: Option<Vec<_>> = words.into_iter().map(|word| word?.word()).collect();
        words.map(|words| Self::Words(unique(words)))
    }

    fn word(self) -> Option<&'static str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Makes a path absolute and free of links; other values stay as they are.
    pub(crate) fn absolute(self) -> io::Result<Self> {
        Ok(match self {
            Self::Path(path) => Self::Path(fs::canonicalize(path)?),
            Self::Topology(Topology::File(path)) => {
                Self::Topology(Topology::File(fs::canonicalize(path)?))
            }
            Self::Workload(Workload::File(path)) => {
                // The beginning of the names of traces is no file itself.
                let whole = fs::canonicalize(&path).or_else(|_| {
                    let (folder, name) = (path.parent(), path.file_name().unwrap_or_default());
                    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
                    Ok::<_, io::Error>(
                        fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(name),
                    )
                });
                Self::Workload(Workload::File(whole?))
            }
            // A program that names none runs here.
            Self::Workload(Workload::Program(line)) => {
                let here = fs::canonicalize(".")?;
                let whole = |folder: PathBuf| fs::canonicalize(&folder).unwrap_or(folder);
                Self::Workload(Workload::Program(placed(&line, |folder| {
                    Some(folder.map_or_else(|| here.clone(), whole))
                })))
            }
            other => other,
        })
    }

    /// The value in JSON, as it would stand in a file in the folder `base`.
    pub(crate) fn json(&self, base: Option<&Path>) -> serde_json::Value {
        match self {
            Self::Workload(workload) => workload.text(base).into(),
            Self::Path(path) | Self::Topology(Topology::File(path)) => path_text(path, base).into(),
            Self::Topology(Topology::Spec(spec)) => spec.as_str().into(),
            Self::Name(name) => name.as_str().into(),
            Self::Time(time) => time.to_string().into(),
            Self::TimePerByte(rate) => rate.to_string().into(),
            Self::Bytes(bytes) => bytes.to_string().into(),
            Self::Count(number) => (*number).into(),
            Self::Factor(millionths) => (*millionths as f64 / 1e6).into(),
            Self::Probability(value) => value.get().into(),
            Self::Grid(extents) => {
                let texts: Vec<_> = extents.iter().map(ToString::to_string).collect();
                texts.join("x").into()
            }
            Self::Switch(value) => (*value).into(),
            Self::Word(word) => (*word).into(),
            Self::Words(words) => words.clone().into(),
        }
    }
}

impl fmt::Display for Value {
    /// The value in TOML. JSON's texts, numbers, truth values and lists are also TOML's.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Words(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                write!(f, "[{}]", quoted.join(", "))
            }
            other => other.json(None).fmt(f),
        }
    }
}

/// A path as text, relative to the folder `base` if given; both must then be absolute.
pub(crate) fn path_text(path: &Path, base: Option<&Path>) -> String {
    let Some(base) = base else {
        return path.display().to_string();
    };
    let shared = path.components().zip(base.components()).take_while(|(a, b)| a == b).count();
    let up = base.components().skip(shared).map(|_| Path::new("..").as_os_str());
    let down = path.components().skip(shared).map(Component::as_os_str);
    let path: PathBuf = up.chain(down).collect();
    if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }
}

/// Returns whether a file is XML, as SimGrid's platforms are, by its name or else by its first
/// character.
pub(crate) fn is_xml(path: &Path) -> bool {
    let named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    named || path.is_file() && begins_as_xml(path).unwrap_or(false)
}

fn begins_as_xml(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(1 << 10).read_to_end(&mut start)?;
    let text = start.strip_prefix(units::text::MARK).unwrap_or(&start);
    Ok(text.trim_ascii_start().starts_with(b"<"))
}
