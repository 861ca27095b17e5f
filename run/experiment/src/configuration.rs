//! Settings from all sources, in layers: defaults, a file, `--set`, flags.

use std::{
    fmt::{self, Write as _},
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use live::Launch;
use traces::source::Traces;
use units::{Bytes, Time, TimePerByte};

use crate::{
    diagnostic::{self, Diagnostic, Mistakes, Place, Source, reason},
    keys::{self, Fallback, KEYS, Key, TABLES},
    live_run, machine, manifest,
    toml_file::{self, Assignment, PLATFORM},
    value::{Kind, Raw, Topology, Value, Workload},
};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nothing was said, and there is a default.
    Default,
    /// Nothing was said, and it is as this other setting.
    Same(&'static str),
    /// A file, and the line in it if it is an experiment file.
    File(PathBuf, Option<usize>),
    /// An argument of the command line.
    Argument(String),
}

/// What the user asked for, not yet checked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// A GOAL file, `-` for one on standard input, `pattern:NAME`, `collective:NAME`, an experiment
    /// file (`.toml`) or a manifest (`.json`).
    pub subject: Option<String>,
    /// A machine: an experiment file that says nothing of the workload, or a platform of SimGrid.
    /// It is read before the subject; in place of what a manifest says of its machine.
    pub machine: Option<String>,
    /// Settings as `table.key=value`.
    pub set: Vec<String>,
    /// Settings by flags: the key's name and the text of its value.
    pub flags: Vec<(&'static str, String)>,
    /// By the name of a key, the words of the command line that set it, where they are not those of
    /// its own flag.
    pub said: Vec<(&'static str, String)>,
}

/// A value with its origin.
#[derive(Clone, Debug)]
struct Entry {
    value: Value,
    place: Place,
    origin: Origin,
}

/// The settings of an experiment, all of known type, not yet checked against each other.
#[derive(Debug)]
pub struct Configuration {
    entries: Vec<Option<Entry>>,
    /// The file that describes the machine, if there is one.
    machine: Option<PathBuf>,
    /// Whether settings that do not belong to the model are left aside.
    lenient: bool,
    /// The manifest that the settings come from, if any.
    pub(crate) manifest: Option<manifest::Manifest>,
}

impl Configuration {
    /// Reads everything that is asked for. The error lists every mistake.
    pub fn read(request: &Request) -> Result<Self, Mistakes> {
        let mut reader = Reader::new();
        let platform = |machine: &&String| machine::is_xml(Path::new(machine));
        if let Some(machine) = request.machine.as_ref().filter(platform) {
            let shown = format!("--machine {machine}");
            let origin = Origin::Argument(shown.clone());
            reader.argument("network.topology", machine, Place::Argument(shown), origin);
        } else if let Some(machine) = &request.machine {
            reader.experiment(machine);
            reader.configuration.machine = Some(PathBuf::from(machine));
            if reader.configuration.is_set("workload.source") {
                let place = reader.configuration.place("workload.source");
                let message = "a machine has no workload";
                reader.diagnostics.push(Diagnostic::new(place, message));
            }
        }
        if let Some(subject) = &request.subject {
            reader.subject(subject, request.machine.is_some());
        }
        for argument in &request.set {
            reader.set(argument);
        }
        for (name, text) in &request.flags {
            let said = request.said.iter().find(|(key, _)| key == name);
            reader.flag(name, text, said.map(|(_, said)| said.as_str()));
        }
        reader.finish()
    }

    /// Whether the workload is synthetic traffic: then a [`crate::TrafficPlan`] carries it out.
    pub fn is_traffic(&self) -> bool {
        matches!(self.workload(), Some(Workload::Traffic(_)))
    }

    /// Whether the workload is a live program.
    pub fn is_program(&self) -> bool {
        matches!(self.workload(), Some(Workload::Program(_)))
    }

    /// The programs of the workload; none if it is something else.
    ///
    /// # Errors
    /// If the workload is no line of programs.
    pub fn programs(&self) -> Result<Vec<Launch>, Mistakes> {
        let Some(Workload::Program(text)) = self.workload() else { return Ok(Vec::new()) };
        let wrong = |message| Mistakes(vec![self.mistake("workload.source", message)]);
        live_run::programs(&text).map_err(wrong)
    }

    /// Whether the workload is traces.
    pub(crate) fn is_traces(&self) -> bool {
        matches!(self.workload(), Some(Workload::File(path)) if Traces::names(&path))
    }

    /// Reads the text of an experiment file of this name.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Mistakes> {
        let mut reader = Reader::new();
        reader.text(name, text.to_owned());
        reader.finish()
    }

    /// The value of a setting and where it comes from; `None` if it is unset.
    pub fn get(&self, name: &str) -> Option<(Value, Origin)> {
        let index = keys::find(name)?;
        if let Some(Some(entry)) = self.entries.get(index) {
            return Some((entry.value.clone(), entry.origin.clone()));
        }
        let key = KEYS.get(index)?;
        match key.fallback {
            Fallback::Unset(_) => None,
            Fallback::Value(_) => Some((key.default_value()?, Origin::Default)),
            Fallback::Same(names) => {
                let set = names.iter().find(|name| self.is_set(name));
                let name = *set.or(names.last())?;
                let (value, _) = self.get(name)?;
                Some((value, Origin::Same(name)))
            }
        }
    }

    /// Whether a setting has a value of its own.
    fn is_set(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// Whether the user said something about a setting. A manifest also repeats defaults, which
    /// says nothing.
    pub(crate) fn is_said(&self, name: &str) -> bool {
        self.is_set(name) && !(self.is_from_manifest(name) && self.is_default(name))
    }

    /// The same, not counting what a machine file says: that may describe the machine for several
    /// models.
    pub(crate) fn is_said_of_run(&self, name: &str) -> bool {
        let of_machine = |entry: &Entry| match &entry.origin {
            Origin::File(path, _) => self.machine.as_ref() == Some(path),
            _ => false,
        };
        !self.lenient && self.is_said(name) && !self.entry(name).is_some_and(of_machine)
    }

    /// The same settings, but some that are given here, for another model: what does not belong to
    /// it is left aside.
    pub(crate) fn for_model(&self, settings: &[(&str, &str)]) -> Result<Self, Mistakes> {
        let (entries, machine) = (self.entries.clone(), self.machine.clone());
        let configuration = Self { entries, machine, lenient: true, manifest: None };
        let mut reader = Reader { configuration, diagnostics: Vec::new() };
        for (name, text) in settings {
            let origin = Origin::Argument("this rung".to_owned());
            reader.argument(name, text, Place::Argument((*text).to_owned()), origin);
        }
        reader.finish()
    }

    /// Whether a setting has the value that it would have if nothing was said.
    pub(crate) fn is_default(&self, name: &str) -> bool {
        let default = keys::find(name).and_then(|index| KEYS.get(index)?.default_value());
        self.entry(name).is_none_or(|entry| default.as_ref() == Some(&entry.value))
    }

    /// Whether the value of a setting comes from a manifest.
    pub(crate) fn is_from_manifest(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| matches!(entry.origin, Origin::File(_, None)))
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        keys::find(name).and_then(|index| self.entries.get(index)?.as_ref())
    }

    /// Where something was said about a setting.
    pub(crate) fn place(&self, name: &str) -> Place {
        self.entry(name).map_or(Place::Nowhere, |entry| entry.place.clone())
    }

    /// A mistake in what was said about a setting.
    pub(crate) fn mistake(&self, name: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.place(name), message)
    }

    pub(crate) fn time(&self, name: &str) -> Option<Time> {
        match self.get(name)?.0 {
            Value::Time(time) => Some(time),
            _ => None,
        }
    }

    pub(crate) fn per_byte(&self, name: &str) -> Option<TimePerByte> {
        match self.get(name)?.0 {
            Value::TimePerByte(rate) => Some(rate),
            _ => None,
        }
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<Bytes> {
        match self.get(name)?.0 {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn topology(&self) -> Option<Topology> {
        match self.get("network.topology")?.0 {
            Value::Topology(topology) => Some(topology),
            _ => None,
        }
    }

    /// The file that describes the network as a platform: SimGrid's, or one with a table
    /// `[platform]`.
    pub(crate) fn platform(&self) -> Option<PathBuf> {
        let Some(Topology::File(path)) = self.topology() else { return None };
        let has_table = || {
            path.extension() == Some("toml".as_ref())
                && fs::read_to_string(&path).is_ok_and(|text| toml_file::has(&text, PLATFORM))
        };
        (machine::is_xml(&path) || has_table()).then_some(path)
    }

    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        match self.get(name)?.0 {
            Value::Count(count) => Some(count),
            _ => None,
        }
    }

    pub(crate) fn factor(&self, name: &str) -> Option<f64> {
        match self.get(name)?.0 {
            Value::Factor(millionths) => Some(millionths as f64 / 1e6),
            _ => None,
        }
    }

    pub(crate) fn grid(&self, name: &str) -> Option<Vec<u32>> {
        match self.get(name)?.0 {
            Value::Grid(extents) => Some(extents),
            _ => None,
        }
    }

    /// Whether a switch is on; one that is unknown is not.
    pub fn switch(&self, name: &str) -> bool {
        matches!(self.get(name), Some((Value::Switch(true), _)))
    }

    pub(crate) fn word(&self, name: &str) -> &'static str {
        match self.get(name) {
            Some((Value::Word(word), _)) => word,
            _ => "",
        }
    }

    pub(crate) fn words(&self, name: &str) -> Vec<&'static str> {
        match self.get(name) {
            Some((Value::Words(words), _)) => words,
            _ => Vec::new(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        match self.get(name)?.0 {
            Value::Path(path) => Some(path),
            _ => None,
        }
    }

    pub(crate) fn name(&self, name: &str) -> Option<String> {
        match self.get(name)?.0 {
            Value::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn workload(&self) -> Option<Workload> {
        match self.get("workload.source")?.0 {
            Value::Workload(workload) => Some(workload),
            _ => None,
        }
    }
}

/// Collects values and mistakes.
struct Reader {
    configuration: Configuration,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn new() -> Self {
        let entries = vec![None; KEYS.len()];
        let configuration =
            Configuration { entries, machine: None, lenient: false, manifest: None };
        Self { configuration, diagnostics: Vec::new() }
    }

    fn finish(mut self) -> Result<Configuration, Mistakes> {
        self.platform();
        if self.diagnostics.is_empty() {
            Ok(self.configuration)
        } else {
            Err(Mistakes(self.diagnostics))
        }
    }

    /// The model of a platform is `flow` unless something else is said.
    fn platform(&mut self) {
        if self.configuration.platform().is_some() && !self.configuration.is_set("network.model") {
            let place = self.configuration.place("network.topology");
            self.argument("network.model", "flow", place, Origin::Same("network.topology"));
        }
    }

    /// Reads what is to be run; `machine` says whether the machine was described apart.
    fn subject(&mut self, subject: &str, machine: bool) {
        let path = Path::new(subject);
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension {
            Some("toml") => self.experiment(subject),
            Some("json") => self.manifest(path, machine),
            // The folder of an earlier run.
            _ if path.join("manifest.json").is_file() => {
                self.manifest(&path.join("manifest.json"), machine);
            }
            _ => {
                let place = Place::Argument(subject.to_owned());
                if machine::is_xml(path) {
                    let mistake = Diagnostic::new(place, "this is a platform, not a workload")
                        .help(format!("give it with --machine {subject}, behind a workload"));
                    return self.diagnostics.push(mistake);
                }
                let origin = Origin::Argument("command line".to_owned());
                self.argument("workload.source", subject, place, origin);
            }
        }
    }

    fn experiment(&mut self, name: &str) {
        let text = fs::read(name).map_err(|error| reason(&error)).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| "not a text in UTF-8".to_owned())
        });
        match text {
            Ok(text) => self.text(name, text),
            Err(message) => {
                self.diagnostics.push(Diagnostic::new(Place::File(name.into()), message));
            }
        }
    }

    fn text(&mut self, name: &str, text: String) {
        let path = Path::new(name);
        let source = Rc::new(Source { name: name.to_owned(), text });
        let (assignments, mistakes) = toml_file::read(&source);
        let before = self.diagnostics.len();
        self.diagnostics.extend(mistakes);
        self.assign_all(assignments, path);
        diagnostic::sort(&mut self.diagnostics[before..]);
    }

    /// Reads a manifest. Beside a machine it says nothing of the tables that describe one, nor of
    /// what the machine's file says.
    fn manifest(&mut self, path: &Path, machine: bool) {
        match manifest::Manifest::read(path) {
            Ok((manifest, mut assignments)) => {
                if machine {
                    assignments.retain(|Assignment { key, .. }| {
                        let Key { name, .. } = KEYS[*key];
                        !keys::describes_machine(name) && !self.configuration.is_set(name)
                    });
                }
                self.assign_all(assignments, path);
                self.configuration.manifest = Some(manifest);
            }
            Err(mistakes) => self.diagnostics.extend(mistakes.0),
        }
    }

    fn assign_all(&mut self, assignments: Vec<Assignment>, path: &Path) {
        let base = path.parent().unwrap_or(Path::new(""));
        for Assignment { key, raw, place } in assignments {
            let origin = Origin::File(path.to_owned(), place.line());
            if let Some(value) = self.value(key, KEYS[key].kind, &raw, &place, base) {
                self.enter(key, value, place, origin);
            }
        }
    }

    /// Reads a value from a file and takes down what is wrong with it.
    fn value(
        &mut self,
        key: usize,
        kind: Kind,
        raw: &Raw,
        place: &Place,
        base: &Path,
    ) -> Option<Value> {
        if let (Kind::Words(words), Raw::List(items)) = (kind, raw) {
            let read: Vec<_> = items
                .iter()
                .map(|(item, span)| {
                    let place = place.within(span);
                    self.value(key, Kind::Word(words), item, &place, base)
                })
                .collect();
            return Value::list(read);
        }
        kind.read(raw, base)
            .map_err(|mistake| {
                let message = match place {
                    Place::File(_) => format!("`{}`: {}", KEYS[key].name, mistake.message),
                    _ => mistake.message,
                };
                let place = narrow(place.clone(), raw, mistake.offset);
                self.diagnostics.push(Diagnostic::new(place, message).help(mistake.help));
            })
            .ok()
    }

    fn set(&mut self, argument: &str) {
        let shown = format!("--set {argument}");
        let Some((name, text)) = argument.split_once('=') else {
            let mistake = Diagnostic::new(Place::Argument(shown), "there is no `=`")
                .help("write --set table.key=value, such as --set loggops.L=2500ns".to_owned());
            return self.diagnostics.push(mistake);
        };
        let name = name.trim();
        if keys::find(name).is_some() {
            let origin = Origin::Argument(shown.clone());
            return self.argument(name, text.trim(), Place::Argument(shown), origin);
        }
        let (table, key) = name.rsplit_once('.').unwrap_or(("", name));
        let (table, key) = if table.is_empty() || keys::is_table(table) {
            (table, key)
        } else {
            name.split_once('.').map_or(("", name), |(table, _)| ("", table))
        };
        let mistake = Diagnostic::new(Place::Argument(shown), format!("unknown key `{name}`"))
            .help(keys::suggestion(table, key));
        self.diagnostics.push(mistake);
    }

    fn flag(&mut self, name: &'static str, text: &str, said: Option<&str>) {
        let calls = self.configuration.is_traces() || self.configuration.is_program();
        let name = keys::of_flag(name, calls);
        let flag = keys::find(name).and_then(|index| KEYS[index].flag);
        let shown = match flag {
            _ if said.is_some() => said.unwrap_or_default().to_owned(),
            Some(flag) if flag.value.is_empty() => format!("--{}", flag.long),
            Some(flag) => format!("--{} {text}", flag.long),
            None => text.to_owned(),
        };
        if let Origin::Argument(other) = self.origin(name) {
            let message = format!("`{name}` is already set by `{other}`");
            let mistake = Diagnostic::new(Place::Argument(shown), message);
            return self.diagnostics.push(mistake);
        }
        self.argument(name, text, Place::Argument(shown.clone()), Origin::Argument(shown));
    }

    fn origin(&self, name: &str) -> Origin {
        let entry = self.configuration.entry(name);
        entry.map_or(Origin::Default, |entry| entry.origin.clone())
    }

    fn argument(&mut self, name: &str, text: &str, place: Place, origin: Origin) {
        let Some(index) = keys::find(name) else {
            return;
        };
        match KEYS[index].kind.parse(text, Path::new("")) {
            Ok(value) => self.enter(index, value, place, origin),
            Err(mistake) => {
                let mistake = Diagnostic::new(place, mistake.message).help(mistake.help);
                self.diagnostics.push(mistake);
            }
        }
    }

    fn enter(&mut self, index: usize, value: Value, place: Place, origin: Origin) {
        self.configuration.entries[index] = Some(Entry { value, place, origin });
    }
}

/// The place within a text in quotes, if the text stands there as it is.
fn narrow(place: Place, raw: &Raw, offset: Option<usize>) -> Place {
    let (Place::Text(source, span), Raw::Text(text), Some(offset)) = (&place, raw, offset) else {
        return place;
    };
    let inner = span.start + 1..span.end.saturating_sub(1);
    if source.text.get(inner.clone()) != Some(text) || offset >= text.len() {
        return place;
    }
    Place::Text(Rc::clone(source), inner.start + offset..inner.end)
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Same(name) => write!(f, "as {name}"),
            Self::File(path, Some(line)) => write!(f, "{}:{line}", path.display()),
            Self::File(path, None) => write!(f, "{}", path.display()),
            Self::Argument(argument) => f.write_str(argument),
        }
    }
}

impl fmt::Display for Configuration {
    /// Every setting in TOML, with its origin as a comment; an unset one is a comment as a whole.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (number, (table, _)) in TABLES.iter().enumerate() {
            let blank = if number == 0 { "" } else { "\n" };
            writeln!(f, "{blank}[{table}]")?;
            for key in KEYS.iter().filter(|key| key.table() == *table) {
                self.print(key, f)?;
            }
        }
        Ok(())
    }
}

impl Configuration {
    fn print(&self, key: &Key, f: &mut fmt::Formatter) -> fmt::Result {
        let mut line = String::new();
        match (self.get(key.name), key.fallback) {
            (Some((value, origin)), _) => {
                write!(line, "{} = {value}", key.short())?;
                writeln!(f, "{line:<34} # {origin}")
            }
            (None, Fallback::Unset(meaning)) => {
                write!(line, "# {} is unset", key.short())?;
                writeln!(f, "{line:<34} # {meaning}")
            }
            (None, _) => Ok(()),
        }
    }
}
