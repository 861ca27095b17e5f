//! Collects the settings of all sources and the mistakes in them.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    configuration::{COMMAND_LINE, Configuration, Entry, Origin, Request},
    diagnostic::{self, Diagnostic, Mistakes, Place, Source},
    files,
    keys::{self, Id, KEYS, Setting},
    manifest::Manifest,
    named_table::NamedTable,
    scope::{Model, Part, Workload},
    toml_file::{self, Assignment, Contents, Group, RAIL},
    value::{Kind, Raw, Topology, Value, is_xml},
};

/// Settings that are being read, and what is wrong with them.
pub(super) struct Reader {
    configuration: Configuration,
    diagnostics: Vec<Diagnostic>,
    /// True if the workload may be a study file.
    is_study: bool,
    /// True if the topology is one of those of a study.
    varies_topology: bool,
}

impl Default for Reader {
    fn default() -> Self {
        let entries = vec![None; KEYS.len()];
        Self::of(Configuration {
            entries,
            rails: Vec::new(),
            classes: Vec::new(),
            intervals: Vec::new(),
            machine: None,
            lenient: false,
            manifest: None,
        })
    }
}

impl Reader {
    /// Goes on from settings that were read before.
    pub const fn of(configuration: Configuration) -> Self {
        Self { configuration, diagnostics: Vec::new(), is_study: false, varies_topology: false }
    }

    /// Reads everything that a request names, in the order of its layers.
    pub fn request(mut self, request: &Request) -> Result<Configuration, Mistakes> {
        self.layers(request);
        self.finish()
    }

    /// Reads what a request names, and then the assignments of one run of its study file, whose
    /// paths are relative to `base`.
    pub fn row(
        mut self,
        request: &Request,
        assignments: Vec<Assignment>,
        file: &Path,
    ) -> Result<Configuration, Mistakes> {
        self.is_study = true;
        let topology = keys::network::TOPOLOGY.id();
        self.varies_topology =
            assignments.iter().any(|it| it.key == topology && it.group.is_none());
        self.layers(request);
        self.assign_all(assignments, file);
        self.finish()
    }

    fn layers(&mut self, request: &Request) {
        let platform = |machine: &&String| is_xml(Path::new(machine));
        if let Some(machine) = request.machine.as_ref().filter(platform) {
            let shown = format!("--machine {machine}");
            let origin = Origin::Argument(shown.clone());
            self.argument(keys::network::TOPOLOGY, machine, Place::Argument(shown), origin);
        } else if let Some(machine) = &request.machine {
            self.experiment(machine, Place::Argument(format!("--machine {machine}")));
            self.configuration.machine = Some(PathBuf::from(machine));
            if self.configuration.is_set(keys::workload::SOURCE) {
                let place = self.configuration.place(keys::workload::SOURCE);
                let message = "a machine has no workload";
                self.diagnostics.push(Diagnostic::new(place, message));
            }
        }
        if let Some(subject) = &request.subject {
            self.subject(subject, request.machine.is_some());
        }
        for argument in &request.set {
            self.set("--set", argument);
        }
        if let Some(argument) = &request.over {
            self.set("--over", argument);
        }
        for (name, text) in &request.flags {
            let said = request.said.iter().find(|(key, _)| key == name);
            self.flag(name, text, said.map(|(_, said)| said.as_str()));
        }
    }

    /// The settings, or everything that is wrong with them, files that are not there included.
    pub fn finish(mut self) -> Result<Configuration, Mistakes> {
        self.model();
        for mistake in files::missing(&self.configuration) {
            diagnostic::insert(&mut self.diagnostics, mistake);
        }
        self.settled()
    }

    /// The settings, or everything that is wrong with their text.
    pub fn finish_text(mut self) -> Result<Configuration, Mistakes> {
        self.model();
        self.settled()
    }

    fn settled(self) -> Result<Configuration, Mistakes> {
        if self.diagnostics.is_empty() {
            Ok(self.configuration)
        } else {
            Err(Mistakes(self.diagnostics))
        }
    }

    /// Chooses the model if nothing else does: flows for a platform, and for a topology the model
    /// of the preset. A machine file that describes the wire of LogGOPS besides its topology serves
    /// both; it is a LogGOPS machine for all that LogGOPS can run.
    fn model(&mut self) {
        const TOPOLOGY: Setting<Topology> = keys::network::TOPOLOGY;
        let configuration = &self.configuration;
        if configuration.is_set(keys::network::MODEL) || !configuration.is_set(TOPOLOGY) {
            return;
        }
        let is_traffic = configuration.workload_kind() == Some(Workload::Traffic);
        let preset = configuration.word(keys::network::PRESET);
        let model = if configuration.platform().is_some() {
            "flow"
        } else if configuration.is_of_machine(TOPOLOGY) && self.has_wire() && !is_traffic {
            return;
        } else if preset.starts_with(Model::Packet.name()) {
            Model::Packet.name()
        } else {
            Model::Infiniband.name()
        };
        let place = configuration.place(TOPOLOGY);
        let of_study = self.varies_topology.then_some("[study]");
        let asked = configuration.argument(TOPOLOGY).or(of_study);
        let asked = asked.filter(|_| !configuration.rails.is_empty());
        // Asked for beside rails, the model takes their place.
        let origin =
            asked.map_or(Origin::Same(TOPOLOGY.name()), |asked| Origin::Argument(asked.to_owned()));
        self.argument(keys::network::MODEL, model, place, origin);
    }

    /// Returns whether a setting of the machine file belongs to LogGOPS alone.
    fn has_wire(&self) -> bool {
        let is_of_wire = |model| matches!(model, Model::Loggops | Model::Loggopsim);
        let said = Id::all().filter(|id| self.configuration.is_of_machine(*id));
        said.into_iter().any(|id| id.key().scope.models().all(is_of_wire))
    }

    /// Reads what is to be run; `machine` says whether the machine was described apart.
    fn subject(&mut self, subject: &str, machine: bool) {
        let path = Path::new(subject);
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension {
            Some("toml") => self.experiment(subject, Place::File(subject.into())),
            Some("json") => self.manifest(path, machine),
            _ if subject.starts_with("booksim:") => {
                let message = "a configuration of BookSim 2 says all of its run";
                let help = "heddle run takes it".to_owned();
                let place = Place::Argument(subject.to_owned());
                self.diagnostics.push(Diagnostic::new(place, message).help(help));
            }
            // The folder of an earlier run.
            _ if path.join("manifest.json").is_file() => {
                self.manifest(&path.join("manifest.json"), machine);
            }
            _ => {
                let place = Place::Argument(subject.to_owned());
                if is_xml(path) {
                    let mistake = Diagnostic::new(place, "this is a platform, not a workload")
                        .help(format!("give it with --machine {subject}, behind a workload"));
                    return self.diagnostics.push(mistake);
                }
                let origin = Origin::Argument(COMMAND_LINE.to_owned());
                self.argument(keys::workload::SOURCE, subject, place, origin);
            }
        }
    }

    /// Reads an experiment file that is named at a place.
    fn experiment(&mut self, name: &str, place: Place) {
        let path = Path::new(name);
        let text = units::text::read(path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => {
                Diagnostic::new(Place::File(path.to_owned()), "not a text in UTF-8")
            }
            _ if matches!(place, Place::File(_)) => Diagnostic::unread(path, &error),
            _ => Diagnostic::absent(place, None, path, &error),
        });
        match text {
            Ok(text) => self.text(name, text),
            Err(mistake) => self.diagnostics.push(mistake),
        }
    }

    /// Reads the text of an experiment file.
    pub fn text(&mut self, name: &str, text: String) {
        let path = Path::new(name);
        let source = Arc::new(Source { name: name.to_owned(), text });
        let Contents { tables, assignments, mistakes } = toml_file::read(&source, self.is_study);
        let before = self.diagnostics.len();
        for (group, place) in tables {
            self.configuration.named_table(&group).declared.get_or_insert(place);
        }
        self.diagnostics.extend(mistakes);
        self.assign_all(assignments, path);
        diagnostic::sort(&mut self.diagnostics[before..]);
    }

    /// Reads a manifest. Beside a machine it says nothing of the tables that describe one, nor of
    /// what the machine's file says.
    fn manifest(&mut self, path: &Path, machine: bool) {
        match Manifest::read(path) {
            Ok((manifest, mut assignments)) => {
                if machine {
                    assignments.retain(|Assignment { key, .. }| {
                        let of_machine = key.key().scope.part == Part::Machine;
                        !of_machine && !self.configuration.is_set(*key)
                    });
                }
                let own = assignments.iter().filter(|assignment| assignment.group.is_none());
                let keys: Vec<_> = own.map(|assignment| assignment.key).collect();
                self.assign_all(assignments, path);
                for id in keys {
                    let said = !manifest.is_default(id, self.configuration.is_default(id));
                    if let Some(Some(entry)) = self.configuration.entries.get_mut(id.place()) {
                        entry.said = said;
                    }
                }
                self.configuration.manifest = Some(manifest);
            }
            Err(mistakes) => self.diagnostics.extend(mistakes.0),
        }
    }

    fn assign_all(&mut self, assignments: Vec<Assignment>, path: &Path) {
        let base = path.parent().unwrap_or(Path::new(""));
        for Assignment { group, key, raw, place } in assignments {
            let origin = Origin::File(path.to_owned(), place.line());
            if let Some(value) = self.value(key, key.key().kind, &raw, &place, base) {
                self.enter(group.as_ref(), key, value, place, origin);
            }
        }
    }

    /// Reads a value from a file and takes down what is wrong with it.
    fn value(
        &mut self,
        key: Id,
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
                    Place::File(_) => format!("`{}`: {}", key.key().name, mistake.message),
                    _ => mistake.message,
                };
                let place = narrow(place.clone(), raw, mistake.offset);
                self.diagnostics.push(Diagnostic::new(place, message).help(mistake.help));
            })
            .ok()
    }

    fn set(&mut self, flag: &str, argument: &str) {
        let shown = format!("{flag} {argument}");
        let Some((name, text)) = argument.split_once('=') else {
            let mistake = Diagnostic::new(Place::Argument(shown), "there is no `=`")
                .help("write --set table.key=value, such as --set loggops.L=2500ns".to_owned());
            return self.diagnostics.push(mistake);
        };
        let name = name.trim();
        if let Some((group, key)) = Group::of(name) {
            return self.set_in_group((&group, key), text.trim(), shown);
        }
        let is_named = |id: &Id| id.key().table() == RAIL || id.is_of_class();
        let named = Id::named(name).or_else(|| Id::of_flag(name));
        if let Some(id) = named.filter(|id| !is_named(id)) {
            let origin = Origin::Argument(shown.clone());
            return self.argument(id, text.trim(), Place::Argument(shown), origin);
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

    fn set_in_group(&mut self, (group, key): (&Group, &str), text: &str, shown: String) {
        let place = Place::Argument(shown.clone());
        let mistake = match (group.check(), group.key(key)) {
            (Ok(()), Some(id)) => {
                let Some((message, help)) = self.undeclared(group) else {
                    return self.argument_of(Some(group), id, text, place, Origin::Argument(shown));
                };
                Diagnostic::new(place, message).help(help)
            }
            (Err(message), _) => Diagnostic::new(place, message),
            (_, None) => {
                let (message, help) = group.unknown(key);
                Diagnostic::new(place, message).help(help)
            }
        };
        self.diagnostics.push(mistake);
    }

    /// Says that no file declares the table of a rail or of a class, if files declare others of its
    /// kind: a misspelt name would be one more rail, which nobody describes.
    fn undeclared(&self, group: &Group) -> Option<(String, String)> {
        let (what, name, tables) = match group {
            Group::Rail(name) => ("rail", name, &self.configuration.rails),
            Group::Class(name) | Group::Intervals(name) => {
                ("class of pairs", name, &self.configuration.classes)
            }
        };
        let is_declared = |table: &&NamedTable| {
            let is_of_file = |entry: &Entry| !matches!(entry.origin, Origin::Argument(_));
            table.declared.is_some() || table.settings().any(|(_, entry)| is_of_file(entry))
        };
        let names: Vec<_> =
            tables.iter().filter(is_declared).map(|table| table.name.as_str()).collect();
        if names.is_empty() || names.contains(&name.as_str()) || name == "network" {
            return None;
        }
        let help = units::nearest(name, &names).map_or_else(
            || format!("declared in files: {}", names.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        Some((format!("there is no {what} `{name}`"), help))
    }

    fn flag(&mut self, name: &'static str, text: &str, said: Option<&str>) {
        let calls = self.configuration.is_traces() || self.configuration.is_program();
        let Some(id) = keys::of_flag(name, calls) else { return };
        let shown = match id.key().flag {
            _ if said.is_some() => said.unwrap_or_default().to_owned(),
            Some(flag) if flag.value.is_empty() => format!("--{}", flag.long),
            Some(flag) => format!("--{} {text}", flag.long),
            None => text.to_owned(),
        };
        if let Some(Entry { origin: Origin::Argument(other), .. }) = self.configuration.entry(id) {
            let message = format!("`{}` is already set by `{other}`", id.key().name);
            let mistake = Diagnostic::new(Place::Argument(shown), message);
            return self.diagnostics.push(mistake);
        }
        self.argument(id, text, Place::Argument(shown.clone()), Origin::Argument(shown));
    }

    /// Enters a value that is given as plain text.
    pub fn argument(&mut self, id: impl Into<Id>, text: &str, place: Place, origin: Origin) {
        self.argument_of(None, id.into(), text, place, origin);
    }

    /// Enters a value of a named table, or of the whole experiment.
    fn argument_of(
        &mut self,
        group: Option<&Group>,
        id: Id,
        text: &str,
        place: Place,
        origin: Origin,
    ) {
        match id.key().kind.parse(text, Path::new("")) {
            Ok(value) => self.enter(group, id, value, place, origin),
            Err(mistake) => {
                let mistake = Diagnostic::new(place, mistake.message).help(mistake.help);
                self.diagnostics.push(mistake);
            }
        }
    }

    fn enter(&mut self, group: Option<&Group>, id: Id, value: Value, place: Place, origin: Origin) {
        let entry = Entry { value, place, origin, said: true };
        match group {
            Some(group) => {
                self.configuration.named_table(group).entries[id.place()] = Some(entry);
            }
            None => self.configuration.entries[id.place()] = Some(entry),
        }
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
    Place::Text(Arc::clone(source), inner.start + offset..inner.end)
}
