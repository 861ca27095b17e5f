//! Settings from all sources, in layers: defaults, a file, `--set`, flags.

use std::{
    fmt::{self, Write as _},
    path::{Path, PathBuf},
};

use live::Launch;
use traces::source::Traces;

use super::{
    diagnostic::{Diagnostic, Mistakes, Place},
    keys::{self, Fallback, Id, Setting, TABLES},
    launch,
    manifest::Manifest,
    named_table::NamedTable,
    reader::Reader,
    scope::{self, Model},
    toml_file::{self, Assignment, CLASS, Group, INTERVALS, PLATFORM, RAIL},
    value::{Topology, Typed, Value, Workload, is_xml},
};

/// The argument that says what is run, as the origin of a value.
pub(super) const COMMAND_LINE: &str = "command line";

/// The origin of a value.
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

/// A request as the user wrote it, not yet checked.
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
    /// A further one of these, by which ladders differ: a value of `--over`.
    pub over: Option<String>,
    /// Settings by flags: the key's name and the text of its value.
    pub flags: Vec<(&'static str, String)>,
    /// By the name of a key, the words of the command line that set it, where they are not those of
    /// its own flag.
    pub said: Vec<(&'static str, String)>,
}

/// A value with its origin.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub value: Value,
    pub place: Place,
    pub origin: Origin,
    /// True if the user set it. A manifest also lists defaults, which nobody set.
    pub said: bool,
}

/// The settings of an experiment, all of known type, not yet checked against each other.
#[derive(Debug)]
pub struct Configuration {
    /// A value for each key that has one, by the key's place.
    pub(super) entries: Vec<Option<Entry>>,
    /// The settings of each rail, in the order of the files.
    pub(crate) rails: Vec<NamedTable>,
    /// The settings of each class of pairs of hosts, in the order of the files.
    pub(crate) classes: Vec<NamedTable>,
    /// The intervals of the parameters of classes, by class.
    pub(crate) intervals: Vec<NamedTable>,
    /// The file that describes the machine, if there is one.
    pub(super) machine: Option<PathBuf>,
    /// True if settings that do not belong to the model are ignored.
    pub(super) lenient: bool,
    /// The manifest that the settings come from, if any.
    pub(crate) manifest: Option<Manifest>,
}

/// A key of the whole experiment, or that of one class of pairs of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// The place of the class.
    pub class: Option<usize>,
    /// The key; one of `loggops.class` for a class.
    pub id: Id,
}

impl From<Id> for Parameter {
    fn from(id: Id) -> Self {
        Self { class: None, id }
    }
}

impl Configuration {
    /// Reads everything that is asked for. The error lists every mistake.
    pub fn read(request: &Request) -> Result<Self, Mistakes> {
        Reader::default().request(request)
    }

    /// Reads one run of a study: what a request names, its subject being the study file, and the
    /// assignments of the run.
    pub(crate) fn of_row(request: &Request, row: Vec<Assignment>) -> Result<Self, Mistakes> {
        let file = request.subject.clone().unwrap_or_default();
        Reader::default().row(request, row, Path::new(&file))
    }

    /// Reads the text of an experiment file of this name. What it names need not be there.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Mistakes> {
        let mut reader = Reader::default();
        reader.text(name, text.to_owned());
        reader.finish_text()
    }

    /// The kind of the workload, if there is one.
    pub fn workload_kind(&self) -> Option<scope::Workload> {
        Some(match self.workload()? {
            Workload::Pattern(_) => scope::Workload::Pattern,
            Workload::Collective(_) => scope::Workload::Collective,
            Workload::Traffic(_) => scope::Workload::Traffic,
            Workload::Program(_) => scope::Workload::Live,
            Workload::File(path) if Traces::names(&path) => scope::Workload::Traces,
            Workload::File(_) | Workload::Standard => scope::Workload::Goal,
        })
    }

    /// The model of the network.
    pub fn model(&self) -> Model {
        // A model that is asked for takes the place of the rails.
        if !self.rails.is_empty() && self.argument(keys::network::MODEL).is_none() {
            return Model::Rails;
        }
        let word = self.word(keys::network::MODEL);
        let named = Model::ALL.iter().copied().find(|model| model.name() == word);
        match named {
            Some(Model::Loggops) | None if self.word(keys::loggops::COMPAT) == "loggopsim" => {
                Model::Loggopsim
            }
            named => named.unwrap_or(Model::Loggops),
        }
    }

    /// The settings of a named table, which are none if it is new.
    pub(super) fn named_table(&mut self, group: &Group) -> &mut NamedTable {
        let (tables, name) = match group {
            Group::Rail(name) => (&mut self.rails, name),
            Group::Class(name) => (&mut self.classes, name),
            Group::Intervals(name) => (&mut self.intervals, name),
        };
        let place = tables.iter().position(|table| table.name == *name).unwrap_or_else(|| {
            tables.push(NamedTable::new(name));
            tables.len() - 1
        });
        &mut tables[place]
    }

    /// Returns whether the table `[network]` is a rail beside others.
    pub(super) fn has_network_rail(&self) -> bool {
        let named = [keys::network::MODEL.id(), keys::network::TOPOLOGY.id()];
        !self.rails.is_empty() && named.into_iter().any(|id| self.is_said(id))
    }

    /// The settings of each rail as if it were the only network, with its name.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(crate) fn by_rail(&self) -> Result<Vec<(String, Self)>, Mistakes> {
        let network = self.has_network_rail().then(|| ("network".to_owned(), self.alone(None)));
        let tables = self.rails.iter().map(|rail| (rail.name.clone(), self.alone(Some(rail))));
        let all = network.into_iter().chain(tables);
        all.map(|(name, alone)| Ok((name, Reader::of(alone).finish()?))).collect()
    }

    /// These settings with those of one rail in place of those of the network.
    fn alone(&self, rail: Option<&NamedTable>) -> Self {
        let mut entries = self.entries.clone();
        if let Some(rail) = rail {
            for id in Id::all().filter(|id| id.is_of_rail()) {
                entries[id.place()].clone_from(&rail.entries[id.place()]);
            }
        }
        Self::of_entries(entries)
    }

    /// These settings with those of one class of pairs of hosts.
    pub(crate) fn of_class(&self, class: &NamedTable) -> Self {
        let mut entries = self.entries.clone();
        for (id, entry) in class.settings() {
            entries[id.place()] = Some(entry.clone());
        }
        Self::of_entries(entries)
    }

    /// The settings of a class with its intervals in place of those of the whole experiment.
    pub(crate) fn of_class_with(&self, class: &NamedTable, intervals: &NamedTable) -> Self {
        let mut own = self.of_class(class);
        for id in Id::all().filter(|id| id.is_of_interval()) {
            own.entries[id.place()].clone_from(&intervals.entries[id.place()]);
        }
        own
    }

    /// Returns whether a key is the end of an interval, of the whole experiment or of a class, and
    /// the parameter's value comes from elsewhere: then it is another one than what was measured.
    pub(super) fn is_interval_of_another(&self, class: Option<&NamedTable>, id: Id) -> bool {
        let Some(name) = id.key().table().strip_prefix("calibration.loggops.") else {
            return false;
        };
        let named = |table: &&NamedTable| class.is_some_and(|class| class.name == table.name);
        let (values, ends, parameter) = match class {
            Some(ends) => {
                let Some(values) = self.classes.iter().find(named) else { return false };
                (&values.entries, &ends.entries, keys::of_class(name))
            }
            None => (&self.entries, &self.entries, Id::named(&format!("loggops.{name}"))),
        };
        let entry = |entries: &[Option<Entry>], id: Id| -> Option<Origin> {
            Some(entries.get(id.place())?.as_ref()?.origin.clone())
        };
        let file = |origin: Option<Origin>| match origin {
            Some(Origin::File(path, _)) => Some(path),
            _ => None,
        };
        let value = parameter.and_then(|parameter| entry(values, parameter));
        value.is_some() && file(value) != file(entry(ends, id))
    }

    fn of_entries(entries: Vec<Option<Entry>>) -> Self {
        Self {
            entries,
            rails: Vec::new(),
            classes: Vec::new(),
            intervals: Vec::new(),
            machine: None,
            lenient: true,
            manifest: None,
        }
    }

    /// Returns whether the workload is synthetic traffic.
    pub fn is_traffic(&self) -> bool {
        self.workload_kind() == Some(scope::Workload::Traffic)
    }

    /// Returns whether the workload is a live program.
    pub fn is_program(&self) -> bool {
        self.workload_kind() == Some(scope::Workload::Live)
    }

    /// Returns whether the workload is traces.
    pub(crate) fn is_traces(&self) -> bool {
        self.workload_kind() == Some(scope::Workload::Traces)
    }

    /// Returns whether the ranks of a live program share one process.
    pub fn is_in_process(&self) -> bool {
        self.is_program() && self.switch(keys::live::IN_PROCESS)
    }

    /// The programs of the workload; none if it is something else.
    ///
    /// # Errors
    /// If the workload is no line of programs.
    pub fn programs(&self) -> Result<Vec<Launch>, Mistakes> {
        let Some(Workload::Program(text)) = self.workload() else { return Ok(Vec::new()) };
        let wrong = |message| Mistakes(vec![self.mistake(keys::workload::SOURCE, message)]);
        launch::programs(&text).map_err(wrong)
    }

    /// The value of a setting and where it comes from; `None` if it is unset.
    pub fn get(&self, name: &str) -> Option<(Value, Origin)> {
        self.found(Id::named(name)?)
    }

    /// Returns whether the workload and the model use the key of this name.
    pub fn is_used(&self, name: &str) -> bool {
        Id::named(name).is_some_and(|id| self.uses(id))
    }

    /// The value of a setting and where it comes from; `None` if it is unset.
    pub(crate) fn found(&self, id: Id) -> Option<(Value, Origin)> {
        if let Some(Some(entry)) = self.entries.get(id.place()) {
            return Some((entry.value.clone(), entry.origin.clone()));
        }
        match id.key().fallback {
            Fallback::Unset(_) => None,
            Fallback::Value(_) | Fallback::Hosts(..) => {
                Some((self.default_value(id)?, Origin::Default))
            }
            Fallback::Same(names) => {
                let is_set = |name: &&&str| Id::named(name).is_some_and(|id| self.is_set(id));
                let name = *names.iter().find(is_set).or(names.last())?;
                let (value, _) = self.get(name)?;
                Some((value, Origin::Same(name)))
            }
        }
    }

    /// The value of a setting; `None` if it is unset.
    pub(crate) fn value<T: Typed>(&self, setting: Setting<T>) -> Option<T> {
        T::of(self.found(setting.id())?.0)
    }

    /// The value of a setting, if the user said something about it.
    pub(crate) fn said<T: Typed>(&self, setting: Setting<T>) -> Option<T> {
        self.is_said(setting).then(|| self.value(setting)).flatten()
    }

    /// Returns whether a switch is on; one that is unset is off.
    pub(crate) fn switch(&self, setting: Setting<bool>) -> bool {
        self.value(setting).unwrap_or_default()
    }

    /// A word; an empty one if it is unset.
    pub(crate) fn word(&self, setting: Setting<&'static str>) -> &'static str {
        self.value(setting).unwrap_or_default()
    }

    /// The workload.
    pub(crate) fn workload(&self) -> Option<Workload> {
        self.value(keys::workload::SOURCE)
    }

    /// The topology of the network.
    pub(crate) fn topology(&self) -> Option<Topology> {
        self.value(keys::network::TOPOLOGY)
    }

    /// Returns whether a setting has a value of its own.
    pub(super) fn is_set(&self, id: impl Into<Id>) -> bool {
        self.entry(id).is_some()
    }

    /// Returns whether the user set a key. A manifest also repeats defaults, which says nothing.
    pub(crate) fn is_said(&self, id: impl Into<Id>) -> bool {
        self.entry(id).is_some_and(|entry| entry.said)
    }

    /// Returns whether the user set a key for this run. A machine file, which may describe the
    /// machine for several models, does not count, nor does a manifest, which has that of its own
    /// run.
    pub(crate) fn is_said_of_run(&self, id: impl Into<Id>) -> bool {
        let id = id.into();
        let described = self.is_of_machine(id) || self.is_from_manifest(id);
        !self.lenient && self.is_said(id) && !described
    }

    /// Returns whether the value of a setting comes from the machine file.
    pub(crate) fn is_of_machine(&self, id: impl Into<Id>) -> bool {
        self.entry(id).is_some_and(|entry| match &entry.origin {
            Origin::File(path, _) => self.machine.as_ref() == Some(path),
            _ => false,
        })
    }

    /// Returns the argument of the command line that set a key, if one did.
    pub(crate) fn argument(&self, id: impl Into<Id>) -> Option<&str> {
        match &self.entry(id)?.origin {
            Origin::Argument(argument) => Some(argument),
            _ => None,
        }
    }

    /// These settings with some others, for another model: what does not belong to it is left
    /// aside.
    pub(crate) fn for_model(&self, settings: &[(Id, &str)]) -> Result<Self, Mistakes> {
        let mut reader = Reader::of(self.with(&[]));
        for (id, text) in settings {
            let origin = Origin::Argument("this rung".to_owned());
            reader.argument(*id, text, Place::Argument((*text).to_owned()), origin);
        }
        reader.finish()
    }

    /// These settings with other values of some.
    pub(crate) fn with(&self, values: &[(Parameter, Value)]) -> Self {
        let (mut entries, mut classes) = (self.entries.clone(), self.classes.clone());
        for (Parameter { class, id }, value) in values {
            let origin = Origin::Argument("a replicate".to_owned());
            let (value, place) = (value.clone(), Place::Nowhere);
            let table = match class {
                Some(class) => &mut classes[*class].entries,
                None => &mut entries,
            };
            table[id.place()] = Some(Entry { value, place, origin, said: true });
        }
        let (rails, intervals) = (self.rails.clone(), self.intervals.clone());
        let machine = self.machine.clone();
        Self { entries, rails, classes, intervals, machine, lenient: true, manifest: None }
    }

    /// The value of a parameter, and where it comes from; `None` if it is unset.
    pub(crate) fn found_of(&self, Parameter { class, id }: Parameter) -> Option<(Value, Origin)> {
        match class {
            Some(class) => self.of_class(self.classes.get(class)?).found(id),
            None => self.found(id),
        }
    }

    /// The full name of a parameter.
    pub(crate) fn name_of(&self, Parameter { class, id }: Parameter) -> String {
        let class = class.and_then(|class| self.classes.get(class));
        class.map_or_else(
            || id.key().name.to_owned(),
            |class| format!("{CLASS}.{}.{}", class.name, id.name_in_class()),
        )
    }

    /// Returns the parameter of a class that a full name means; none if it means no class.
    ///
    /// # Errors
    /// If there is no such class, or no such key of classes: the mistake and advice.
    pub(crate) fn named_in_class(&self, name: &str) -> Result<Option<Parameter>, (String, String)> {
        let Some((group, key)) = Group::of(name) else { return Ok(None) };
        let Group::Class(class) = &group else { return Ok(None) };
        let place = self.class_named(class)?;
        let id = group.key(key).ok_or_else(|| group.unknown(key))?;
        Ok(Some(Parameter { class: Some(place), id }))
    }

    /// Returns the place of a class of pairs, or else a mistake and advice.
    pub(crate) fn class_named(&self, name: &str) -> Result<usize, (String, String)> {
        self.classes.iter().position(|class| class.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
            let help = match units::nearest(name, &names) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => format!("no table [{CLASS}.NAME] is there"),
                None => format!("known classes: {}", names.join(", ")),
            };
            (format!("there is no class of pairs `{name}`"), help)
        })
    }

    /// Returns whether a setting has its default value.
    pub(crate) fn is_default(&self, id: impl Into<Id>) -> bool {
        let id = id.into();
        self.entry(id).is_none_or(|entry| self.default_value(id).as_ref() == Some(&entry.value))
    }

    /// The default of a setting, if that is a value of its own.
    fn default_value(&self, id: Id) -> Option<Value> {
        let key = id.key();
        let has_preset = |model| keys::network::PRESET.id().key().scope.has_model(model);
        let spaces = |model| model == Model::Rails || has_preset(model);
        if matches!(key.fallback, Fallback::Hosts(..)) && spaces(self.model()) {
            key.default_with_preset()
        } else {
            key.default_value()
        }
    }

    /// Returns whether the value of a setting comes from a manifest.
    pub(crate) fn is_from_manifest(&self, id: impl Into<Id>) -> bool {
        self.entry(id).is_some_and(|entry| matches!(entry.origin, Origin::File(_, None)))
    }

    pub(super) fn entry(&self, id: impl Into<Id>) -> Option<&Entry> {
        self.entries.get(id.into().place())?.as_ref()
    }

    /// The place at which something was said about a setting.
    pub(crate) fn place(&self, id: impl Into<Id>) -> Place {
        self.entry(id).map_or(Place::Nowhere, |entry| entry.place.clone())
    }

    /// A mistake in what was said about a setting.
    pub(crate) fn mistake(&self, id: impl Into<Id>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.place(id), message)
    }

    /// The file that describes the network as a platform: SimGrid's, or one with a table
    /// `[platform]`.
    pub(crate) fn platform(&self) -> Option<PathBuf> {
        let Some(Topology::File(path)) = self.topology() else { return None };
        let has_table = || {
            path.extension() == Some("toml".as_ref())
                && units::text::read(&path).is_ok_and(|text| toml_file::has(&text, PLATFORM))
        };
        (is_xml(&path) || has_table()).then_some(path)
    }
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
    /// An experiment file of the settings that are set and used, each with its origin as a comment.
    /// All others are comments as a whole, with the values that they have.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let is_named = |table: &str| table == RAIL || table.starts_with(CLASS);
        let tables = TABLES.iter().filter(|(table, _)| !is_named(table));
        for (number, (table, _)) in tables.enumerate() {
            let blank = if number == 0 { "" } else { "\n" };
            writeln!(f, "{blank}[{table}]")?;
            for id in Id::all().filter(|id| id.key().table() == *table) {
                self.print(id, f)?;
            }
        }
        for rail in &self.rails {
            writeln!(f, "\n[{RAIL}.{}]", rail.name)?;
            for (id, Entry { value, origin, .. }) in rail.settings() {
                let line = format!("{} = {value}", id.name_in_rail());
                writeln!(f, "{line:<34} # {origin}")?;
            }
        }
        for class in &self.classes {
            writeln!(f, "\n[{CLASS}.{}]", class.name)?;
            for (id, Entry { value, origin, .. }) in class.settings() {
                let line = format!("{} = {value}", id.name_in_class());
                writeln!(f, "{line:<34} # {origin}")?;
            }
        }
        for class in &self.intervals {
            writeln!(f, "\n[{INTERVALS}.{}]", class.name)?;
            for (id, Entry { value, origin, .. }) in class.settings() {
                let line = format!("{} = {value}", id.name_in_intervals());
                writeln!(f, "{line:<34} # {origin}")?;
            }
        }
        Ok(())
    }
}

impl Configuration {
    fn print(&self, id: Id, f: &mut fmt::Formatter) -> fmt::Result {
        let key = id.key();
        let mut line = String::new();
        let Some((value, origin)) = self.found(id) else {
            let Fallback::Unset(meaning) = key.fallback else { return Ok(()) };
            write!(line, "# {} is unset", key.short())?;
            return writeln!(f, "{line:<34} # {meaning}");
        };
        let said = self.is_said(id);
        let mark = if said && self.uses(id) { "" } else { "# " };
        let unused = if said && !self.uses(id) { "; not used by this run" } else { "" };
        write!(line, "{mark}{} = {value}", key.short())?;
        writeln!(f, "{line:<34} # {origin}{unused}")
    }

    /// Returns whether the workload, if there is one, and the model use a key.
    pub(super) fn uses(&self, id: Id) -> bool {
        let scope = id.key().scope;
        let workload = self.workload_kind();
        let of_rail = self.has_network_rail() && id.is_of_rail();
        workload.is_none_or(|workload| scope.has_workload(workload))
            && (scope.has_model(self.model()) || of_rail)
    }
}
