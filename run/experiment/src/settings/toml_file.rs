//! Reading of experiment files: all mistakes at once, each with its place.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::Path,
    sync::Arc,
};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    diagnostic::{Diagnostic, Place, Source},
    keys::{self, Id, KEYS},
    study::STUDY,
    value::{Kind, Raw},
};

/// A key of the table of settings, with the value that a file gives it.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    /// The named table whose setting it is; `None` for those of the whole experiment.
    pub group: Option<Group>,
    pub key: Id,
    pub raw: Raw,
    pub place: Place,
}

/// The table that describes a network as SimGrid's platform files do.
pub(crate) const PLATFORM: &str = "platform";

/// The table whose tables describe rails.
pub(crate) const RAIL: &str = "rail";

/// The table whose tables describe classes of pairs of hosts.
pub(crate) const CLASS: &str = "loggops.class";

/// The table whose tables have the intervals of the parameters of classes.
pub(crate) const INTERVALS: &str = "calibration.loggops.class";

/// A table with a name of the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// `[rail.NAME]`.
    Rail(String),
    /// `[loggops.class.NAME]`.
    Class(String),
    /// `[calibration.loggops.class.NAME]`, whose tables are those of the class's keys.
    Intervals(String),
}

impl Group {
    /// Returns the table that a full name of a key stands in, if that is a named one, and the rest
    /// of the name.
    pub fn of(name: &str) -> Option<(Self, &str)> {
        let rest = |table: &str| name.strip_prefix(table)?.strip_prefix('.')?.split_once('.');
        let of = |table, make: fn(String) -> Self| {
            rest(table).map(|(name, key)| (make(name.to_owned()), key))
        };
        let class = || of(CLASS, Self::Class).or_else(|| of(INTERVALS, Self::Intervals));
        of(RAIL, Self::Rail).or_else(class)
    }

    /// Returns whether a table of this full name may be a named one, or one in it.
    pub fn holds(name: &str) -> bool {
        let is_one = |table: &str| {
            let rest = name.strip_prefix(table).and_then(|rest| rest.strip_prefix('.'));
            rest.is_some_and(|rest| !rest.contains('.'))
        };
        [RAIL, CLASS, INTERVALS].into_iter().any(is_one)
            || Self::of(name).is_some_and(|(group, rest)| group.is_table(rest))
    }

    /// The full name of a key of such a table.
    pub fn name_of(&self, key: Id) -> String {
        match self {
            Self::Rail(name) => format!("{RAIL}.{name}.{}", key.name_in_rail()),
            Self::Class(name) => format!("{CLASS}.{name}.{}", key.name_in_class()),
            Self::Intervals(name) => format!("{INTERVALS}.{name}.{}", key.name_in_intervals()),
        }
    }

    /// Checks the name.
    ///
    /// # Errors
    /// If it is no word.
    pub fn check(&self) -> Result<(), String> {
        let (what, name) = match self {
            Self::Rail(name) => ("rail", name),
            Self::Class(name) | Self::Intervals(name) => ("class", name),
        };
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(is_letter) {
            return Err(format!(
                "the name of a {what} consists of letters, digits, `-` and `_`, found `{name}`"
            ));
        }
        Ok(())
    }

    /// Returns the key of this name in such a table.
    pub fn key(&self, name: &str) -> Option<Id> {
        match self {
            Self::Rail(_) => keys::of_rail(name),
            Self::Class(_) => keys::of_class(name),
            Self::Intervals(_) => keys::of_interval(name),
        }
    }

    fn is_table(&self, name: &str) -> bool {
        match self {
            Self::Rail(_) => keys::is_table_of_rail(name),
            Self::Class(_) => name == "large",
            Self::Intervals(_) => {
                name == "large" || keys::of_interval(&format!("{name}.low")).is_some()
            }
        }
    }

    /// Says that such a table has no key of this name, with advice.
    pub fn unknown(&self, name: &str) -> (String, String) {
        match self {
            Self::Rail(_) => {
                (format!("unknown key `{name}` of a rail"), keys::suggestion_in_rail(name))
            }
            Self::Class(_) => (
                format!("unknown key `{name}` of a class of pairs"),
                keys::suggestion_in_class(name),
            ),
            Self::Intervals(_) => (
                format!("unknown interval `{name}` of a class of pairs"),
                keys::suggestion_of_interval(name),
            ),
        }
    }
}

/// The names of a text's tables.
pub(crate) fn tables(text: &str) -> Vec<String> {
    let (table, _) = DeTable::parse_recoverable(text);
    let is_table = |value: &DeValue| value.is_table();
    let tables = table.get_ref().iter().filter(|(_, value)| is_table(value.get_ref()));
    tables.map(|(name, _)| name.get_ref().to_string()).collect()
}

/// Returns whether a text has a table of this name.
pub(crate) fn has(text: &str, table: &str) -> bool {
    DeTable::parse_recoverable(text)
        .0
        .get_ref()
        .get(table)
        .is_some_and(|value| value.get_ref().is_table())
}

/// The contents of a file.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Its named tables, in its order.
    pub tables: Vec<(Group, Place)>,
    pub assignments: Vec<Assignment>,
    pub mistakes: Vec<Diagnostic>,
}

/// Reads a file. The table `[study]` belongs to files of which `is_study` is true, and is read by
/// [`super::study`].
pub(crate) fn read(source: &Arc<Source>, is_study: bool) -> Contents {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let syntax: Vec<_> = errors.iter().map(|error| syntax(source, error)).collect();
    let mut reader = Reader::new(source, is_study);
    reader.table(table.get_ref(), "");
    if !syntax.is_empty() {
        // The parser recovers from a broken line; errors that follow from the recovery are dropped.
        let broken = broken(&source.text, syntax.iter().map(|found| line_start(&found.place)));
        let sound = |place: &Place| {
            let at = line_start(place);
            broken.range(..=at).next_back().is_none_or(|(_, end)| *end <= at)
        };
        let Contents { tables, assignments, mistakes } = &mut reader.contents;
        tables.retain(|(_, place)| sound(place));
        assignments.retain(|assignment| sound(&assignment.place));
        mistakes.retain(|mistake| sound(&mistake.place));
    }
    reader.contents.mistakes.extend(syntax);
    reader.contents
}

/// Reads a single value of a key, or what is wrong with it.
pub(super) fn value(
    source: &Arc<Source>,
    id: Id,
    value: &Spanned<DeValue>,
) -> Result<Raw, Vec<Diagnostic>> {
    let mut reader = Reader::new(source, true);
    reader.value(id, value).ok_or(reader.contents.mistakes)
}

/// Returns the start of the line of a place in a text.
fn line_start(place: &Place) -> usize {
    let Place::Text(source, span) = place else { return 0 };
    source.text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// Returns the parts of a text, from start to end, of which nothing is known, given the starts of
/// broken lines: each of these lines, and all settings below it if it is the header of a table.
fn broken(text: &str, lines: impl Iterator<Item = usize>) -> BTreeMap<usize, usize> {
    let mut parts: BTreeMap<usize, usize> = BTreeMap::new();
    let is_header = |line: &str| line.trim_start().starts_with('[');
    for start in lines.collect::<BTreeSet<_>>() {
        if parts.last_key_value().is_some_and(|(_, end)| start < *end) {
            continue;
        }
        let mut rest = text.get(start..).unwrap_or_default().split_inclusive('\n');
        let first = rest.next().unwrap_or_default();
        let below = rest.take_while(|line| is_header(first) && !is_header(line));
        let length = first.len().max(1) + below.map(str::len).sum::<usize>();
        parts.insert(start, start + length);
    }
    parts
}

/// So many mistakes of a file are compared with what is known; of more, at most a few are shown.
const COMPARED: usize = 1000;

struct Reader<'a> {
    source: &'a Arc<Source>,
    is_study: bool,
    /// The named table that is read.
    group: Option<Group>,
    contents: Contents,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Arc<Source>, is_study: bool) -> Self {
        Self { source, is_study, group: None, contents: Contents::default() }
    }

    fn table(&mut self, table: &DeTable, name: &str) {
        for (key, value) in table {
            let full = match name {
                "" => key.get_ref().to_string(),
                _ => format!("{name}.{}", key.get_ref()),
            };
            if let (true, DeValue::Table(rails)) = (full == RAIL, value.get_ref()) {
                self.groups(rails, "rail", &|name| Group::Rail(name));
            } else if let (true, DeValue::Table(classes)) = (full == CLASS, value.get_ref()) {
                self.groups(classes, "class", &|name| Group::Class(name));
            } else if let (true, DeValue::Table(classes)) = (full == INTERVALS, value.get_ref()) {
                self.groups(classes, "class", &|name| Group::Intervals(name));
            } else if let Some(id) = Id::named(&full) {
                let raw = self.value(id, value);
                let place = self.place(value.span());
                self.assign(id, raw, place);
            } else if full == PLATFORM && value.get_ref().is_table() {
                self.platform(key.span());
            } else if full == STUDY {
                self.study(key.span());
            } else if !keys::is_table(&full) {
                self.unknown(name, key.get_ref(), value.get_ref(), key.span());
            } else if let DeValue::Table(inner) = value.get_ref() {
                self.table(inner, &full);
            } else {
                let found = raw(value.get_ref()).describe();
                let message = format!("`{full}` is a table of settings, found {found}");
                let keys: Vec<_> = KEYS.iter().filter(|key| key.table() == full).collect();
                let example = keys.first().map(|key| key.short()).unwrap_or_default();
                let help =
                    format!("write [{full}] on a line of its own, and `{example} = …` below it");
                let place = self.place(value.span());
                self.contents.mistakes.push(Diagnostic::new(place, message).help(help));
            }
        }
    }

    fn assign(&mut self, key: Id, raw: Option<Raw>, place: Place) {
        let group = self.group.clone();
        self.contents.assignments.extend(raw.map(|raw| Assignment { group, key, raw, place }));
    }

    /// Reads named tables of a kind.
    fn groups(&mut self, tables: &DeTable, kind: &str, make: &dyn Fn(String) -> Group) {
        // They come in the order of the alphabet.
        let mut tables: Vec<_> = tables.iter().collect();
        tables.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in tables {
            let found = raw(value.get_ref()).describe();
            let place = self.place(name.span());
            let DeValue::Table(table) = value.get_ref() else {
                let name = name.get_ref();
                let message = format!("a {kind} is a table, found `{name}`, which is {found}");
                let table = match make(String::new()) {
                    Group::Rail(_) => RAIL,
                    Group::Class(_) => CLASS,
                    Group::Intervals(_) => INTERVALS,
                };
                let help =
                    format!("write [{table}.NAME] on a line of its own, and its keys below it");
                self.contents.mistakes.push(Diagnostic::new(place, message).help(help));
                continue;
            };
            let group = make(name.get_ref().to_string());
            if let Err(message) = group.check() {
                self.contents.mistakes.push(Diagnostic::new(place, message));
                continue;
            }
            self.contents.tables.push((group.clone(), place));
            self.group = Some(group.clone());
            self.in_group(&group, table, "");
            self.group = None;
        }
    }

    /// Reads a named table, or one in it.
    fn in_group(&mut self, group: &Group, table: &DeTable, name: &str) {
        for (key, value) in table {
            let full = match name {
                "" => key.get_ref().to_string(),
                _ => format!("{name}.{}", key.get_ref()),
            };
            if let DeValue::Table(inner) = value.get_ref()
                && group.is_table(&full)
            {
                self.in_group(group, inner, &full);
            } else if let Some(id) = group.key(&full) {
                let raw = self.value(id, value);
                let place = self.place(value.span());
                self.assign(id, raw, place);
            } else {
                let (message, help) = group.unknown(&full);
                let place = self.place(key.span());
                self.contents.mistakes.push(Diagnostic::new(place, message).help(help));
            }
        }
    }

    /// Reads a value of a key; `None` if it is no topology although it should be.
    fn value(&mut self, id: Id, value: &Spanned<DeValue>) -> Option<Raw> {
        match value.get_ref() {
            DeValue::Table(inner) if id.key().kind == Kind::Topology => {
                self.topology(inner, value.span())
            }
            value => Some(raw(value)),
        }
    }

    /// Refuses what varies, which is no part of one run.
    fn study(&mut self, span: Range<usize>) {
        if !self.is_study {
            let message = "a table [study] says what varies from run to run";
            let mistake = Diagnostic::new(self.place(span), message);
            self.contents.mistakes.push(mistake.help("heddle study runs such a file".to_owned()));
        }
    }

    /// The network is what the file itself describes; its table is read with it.
    fn platform(&mut self, span: Range<usize>) {
        let name = Path::new(&self.source.name).file_name().unwrap_or_default();
        let (raw, place) = (Raw::Text(name.to_string_lossy().into_owned()), self.place(span));
        let key = keys::network::TOPOLOGY.id();
        // Tables come in the order of the alphabet.
        let is_it = |it: &Assignment| it.key == key && it.group.is_none();
        if self.contents.assignments.iter().any(is_it) {
            let message = "the network is described here and by network.topology";
            return self.contents.mistakes.push(Diagnostic::new(place, message));
        }
        self.assign(key, Some(raw), place);
    }

    /// A topology as a table, `{ kind = "torus", dims = [4, 4] }`, is what it is as a text:
    /// `torus:dims=4x4`.
    fn topology(&mut self, table: &DeTable, span: Range<usize>) -> Option<Raw> {
        let word = |raw: &Raw| match raw {
            Raw::Text(text) | Raw::Integer(text) | Raw::Float(text) => Some(text.clone()),
            _ => None,
        };
        let text = |raw: &Raw| match raw {
            Raw::List(items) => {
                let words: Option<Vec<_>> = items.iter().map(|(item, _)| word(item)).collect();
                words.map(|words| words.join("x"))
            }
            raw => word(raw),
        };
        let (mut kind, mut options) = (None, Vec::new());
        let mut sound = true;
        for (key, value) in table {
            let (name, raw) = (key.get_ref(), raw(value.get_ref()));
            match text(&raw) {
                Some(text) if name == "kind" => kind = Some(text),
                Some(text) => options.push(format!("{name}={text}")),
                None => {
                    let found = raw.describe();
                    let message = format!(
                        "`{name}`: expected a number, a text or a list of numbers, found {found}"
                    );
                    self.contents.mistakes.push(Diagnostic::new(self.place(value.span()), message));
                    sound = false;
                }
            }
        }
        if kind.is_none() && sound {
            let help = "such as { kind = \"fat-tree\", levels = 2, radix = 36 }".to_owned();
            let mistake = Diagnostic::new(self.place(span), "a topology needs its `kind`");
            self.contents.mistakes.push(mistake.help(help));
        }
        let kind = kind.filter(|_| sound)?;
        Some(Raw::Text(if options.is_empty() {
            kind
        } else {
            format!("{kind}:{}", options.join(","))
        }))
    }

    fn unknown(&mut self, table: &str, name: &str, value: &DeValue, span: Range<usize>) {
        let what = if value.is_table() { "table" } else { "key" };
        let message = match table {
            "" => format!("unknown {what} `{name}`"),
            _ => format!("unknown {what} `{name}` in [{table}]"),
        };
        let compared = self.contents.mistakes.len() < COMPARED;
        let help = compared.then(|| keys::suggestion(table, name));
        let place = self.place(span);
        self.contents.mistakes.push(Diagnostic::new(place, message).help(help));
    }

    fn place(&self, span: Range<usize>) -> Place {
        Place::Text(Arc::clone(self.source), span)
    }
}

/// A mistake in the file's TOML.
fn syntax(source: &Arc<Source>, error: &toml::de::Error) -> Diagnostic {
    let end = source.text.len();
    let span = error.span().unwrap_or(end..end);
    let help = unquoted(&source.text, span.start);
    Diagnostic::new(Place::Text(Arc::clone(source), span), error.message()).help(help)
}

/// Returns advice if the line gives a key a text without quotes.
fn unquoted(text: &str, at: usize) -> Option<String> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..)?.lines().next()?;
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next()?.trim();
    let plain = |c: char| c.is_alphanumeric() || " ./:_-".contains(c);
    (!value.is_empty() && value.chars().all(plain))
        .then(|| format!("a text stands in quotes: {} = \"{value}\"", key.trim()))
}

pub(super) fn raw(value: &DeValue) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(number) => Raw::Integer(integer(number.as_str(), number.radix())),
        DeValue::Float(number) => Raw::Float(number.as_str().to_owned()),
        DeValue::Boolean(value) => Raw::Switch(*value),
        DeValue::Datetime(_) => Raw::Other("a date or time of day"),
        DeValue::Array(list) => {
            Raw::List(list.iter().map(|item| (raw(item.get_ref()), item.span())).collect())
        }
        DeValue::Table(_) => Raw::Other("a table"),
    }
}

/// The number in decimal, or as it stands if it is too large for that.
fn integer(text: &str, radix: u32) -> String {
    u64::from_str_radix(text, radix).map_or_else(|_| text.to_owned(), |number| number.to_string())
}
