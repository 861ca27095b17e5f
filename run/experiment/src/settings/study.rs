//! The table `[study]` of an experiment file: the settings that vary from run to run.

use std::{ops::Range, sync::Arc};

use toml::de::{DeTable, DeValue};

use super::{
    diagnostic::{self, Diagnostic, Place, Source},
    keys::{self, Id, KEYS, Key},
    synonyms,
    toml_file::{self, Assignment, Group, RAIL},
    value::Raw,
};

/// The name of the table.
pub(crate) const STUDY: &str = "study";

/// Something that varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Varied {
    /// The file that describes the machine.
    Machine,
    /// A setting.
    Key(Id),
    /// A setting of a named table, such as that of a rail.
    Named(Group, Id),
}

/// Settings that vary together.
#[derive(Debug)]
pub(crate) struct Axis {
    /// The settings.
    pub varied: Vec<Varied>,
    /// By level, the value of each of them with its place.
    pub levels: Vec<Vec<(Raw, Place)>>,
    /// The place of the first of them.
    place: Place,
}

impl Varied {
    /// The name of its column.
    pub fn name(&self) -> String {
        match self {
            Self::Machine => "machine".to_owned(),
            Self::Key(id) => id.key().name.to_owned(),
            Self::Named(group, id) => group.name_of(*id),
        }
    }

    /// The setting of a name: that of a named table by its full name.
    fn named(name: &str) -> Option<Self> {
        match Group::of(name) {
            Some((group, key)) => Some(Self::Named(group.clone(), group.key(key)?)),
            None if name == "machine" => Some(Self::Machine),
            // What has no name is of no rail.
            None => meant(name).filter(|id| id.key().table() != RAIL).map(Self::Key),
        }
    }

    fn id(&self) -> Option<Id> {
        match self {
            Self::Machine => None,
            Self::Key(id) | Self::Named(_, id) => Some(*id),
        }
    }
}

impl Axis {
    /// The values of a level as assignments, and the machine with its place if it varies.
    pub fn level(&self, level: usize) -> (Vec<Assignment>, Option<(String, &Place)>) {
        let (mut assignments, mut machine) = (Vec::new(), None);
        for (varied, (raw, place)) in self.varied.iter().zip(&self.levels[level]) {
            let group = match varied {
                Varied::Named(group, _) => Some(group.clone()),
                _ => None,
            };
            match varied.id() {
                None => machine = Some((shown(raw), place)),
                Some(key) => {
                    let (raw, place) = (raw.clone(), place.clone());
                    assignments.push(Assignment { group, key, raw, place });
                }
            }
        }
        (assignments, machine)
    }

    /// The values of a level as texts, in the order of the settings.
    pub fn shown(&self, level: usize) -> impl Iterator<Item = String> {
        self.levels[level].iter().map(|(raw, _)| shown(raw))
    }
}

/// A value as a text, as on a command line.
fn shown(raw: &Raw) -> String {
    match raw {
        Raw::Text(text) | Raw::Integer(text) | Raw::Float(text) => text.clone(),
        Raw::Switch(on) => on.to_string(),
        Raw::List(items) => items.iter().map(|(item, _)| shown(item)).collect::<Vec<_>>().join(","),
        Raw::Other(what) => (*what).to_owned(),
    }
}

/// Reads the axes of a study file, in the order of the file.
pub(crate) fn read(source: &Arc<Source>) -> Result<Vec<Axis>, Vec<Diagnostic>> {
    let (table, _) = DeTable::parse_recoverable(&source.text);
    let mut reader = Reader { source, axes: Vec::new(), zip: None, diagnostics: Vec::new() };
    match table.get_ref().get(STUDY).map(|value| (value.get_ref(), value.span())) {
        Some((DeValue::Table(inner), _)) => reader.table(inner, ""),
        Some((_, span)) => reader.wrong(span, "`study` is a table".to_owned(), None),
        None => {
            let message = "there is no table [study]".to_owned();
            let names: Vec<&str> =
                table.get_ref().keys().map(|key| key.get_ref().as_ref()).collect();
            let help = units::nearest(STUDY, &names).map_or_else(
                || "list in it what varies, such as `ranks = [64, 128]`".to_owned(),
                |near| format!("did you mean [study] by [{near}]?"),
            );
            let mistake = Diagnostic::new(Place::File((&source.name).into()), message);
            return Err(vec![mistake.help(help)]);
        }
    }
    reader.axes.sort_by_key(|axis| start(&axis.place));
    reader.join();
    diagnostic::sort(&mut reader.diagnostics);
    if reader.diagnostics.is_empty() { Ok(reader.axes) } else { Err(reader.diagnostics) }
}

fn start(place: &Place) -> usize {
    if let Place::Text(_, span) = place { span.start } else { 0 }
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    axes: Vec<Axis>,
    /// The value of `zip`, with its place.
    zip: Option<(Raw, Range<usize>)>,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        Place::Text(Arc::clone(self.source), span)
    }

    fn wrong(&mut self, span: Range<usize>, message: String, help: Option<String>) {
        let place = self.place(span);
        self.diagnostics.push(Diagnostic::new(place, message).help(help));
    }

    /// Reads a table of lists; `above` is its name below `[study]`.
    fn table(&mut self, table: &DeTable, above: &str) {
        for (key, value) in table {
            let name = match above {
                "" => key.get_ref().to_string(),
                _ => format!("{above}.{}", key.get_ref()),
            };
            match (name.as_str(), value.get_ref()) {
                ("zip", value_of) => self.zip = Some((toml_file::raw(value_of), value.span())),
                ("seeds", value_of) => self.seeds(value_of, key.span()),
                ("machine", value_of) => {
                    self.list(Varied::Machine, value_of, (key.span(), value.span()));
                }
                (_, DeValue::Table(inner)) if keys::is_table(&name) || Group::holds(&name) => {
                    self.table(inner, &name);
                }
                (_, value_of) => {
                    if let Some(varied) = Varied::named(&name) {
                        self.list(varied, value_of, (key.span(), value.span()));
                        continue;
                    }
                    if let Some((group, key_of)) = Group::of(&name) {
                        let (message, help) = group.unknown(key_of);
                        self.wrong(key.span(), message, Some(help));
                        continue;
                    }
                    let (parent, short) = name.rsplit_once('.').unwrap_or(("", &name));
                    let help = near(parent, short);
                    let message = format!("unknown key `{name}` in [study]");
                    self.wrong(key.span(), message, Some(help));
                }
            }
        }
    }

    /// Adds the axis of one setting.
    fn list(&mut self, varied: Varied, value: &DeValue, (key, at): (Range<usize>, Range<usize>)) {
        let items = match value {
            DeValue::Array(items) if !items.is_empty() => items,
            DeValue::Array(_) => {
                let message = format!("`{}` has no values", varied.name());
                return self.wrong(at, message, None);
            }
            other => {
                let found = toml_file::raw(other).describe();
                let message = format!("`{}` varies: expected a list, found {found}", varied.name());
                let help = "what does not vary stands in the table of its own, outside of [study]";
                return self.wrong(at, message, Some(help.to_owned()));
            }
        };
        if varied == Varied::Machine
            && let Some(item) = items.iter().find(|item| !item.get_ref().is_str())
        {
            return self.wrong(item.span(), "`machine` lists names of files".to_owned(), None);
        }
        if let Varied::Key(id) = &varied
            && (id.key().table() == "output" || id.key().name.starts_with("run.threads"))
        {
            let message = format!("`{}` does not vary in a study", id.key().name);
            return self.wrong(key, message, None);
        }
        if self.axes.iter().any(|axis| axis.varied.contains(&varied)) {
            return self.wrong(key, format!("`{}` varies already", varied.name()), None);
        }
        let mut levels = Vec::new();
        for item in items {
            let read = match varied.id() {
                Some(id) => toml_file::value(self.source, id, item),
                None => Ok(toml_file::raw(item.get_ref())),
            };
            match read {
                Ok(raw) => levels.push(vec![(raw, self.place(item.span()))]),
                Err(found) => self.diagnostics.extend(found),
            }
        }
        self.axes.push(Axis { varied: vec![varied], levels, place: self.place(key) });
    }

    /// Adds the axis of the seeds from 1 on.
    fn seeds(&mut self, value: &DeValue, span: Range<usize>) {
        let count = match toml_file::raw(value) {
            Raw::Integer(text) => text.parse().ok().filter(|count| (1..=MOST).contains(count)),
            _ => None,
        };
        let Some(count) = count else {
            let message = format!("`seeds` is the number of seeds, 1 to {MOST}");
            return self.wrong(span, message, None);
        };
        let varied = Varied::Key(keys::run::SEED.id());
        if self.axes.iter().any(|axis| axis.varied.contains(&varied)) {
            return self.wrong(span, format!("`{}` varies already", varied.name()), None);
        }
        let place = self.place(span);
        let levels = (1..=count).map(|seed| vec![(Raw::Integer(seed.to_string()), place.clone())]);
        let varied = vec![varied];
        self.axes.push(Axis { varied, levels: levels.collect(), place: place.clone() });
    }

    /// Joins the axes that `zip` names.
    fn join(&mut self) {
        let Some((raw, span)) = self.zip.take() else { return };
        let is_name = |(item, _): &(Raw, Range<usize>)| matches!(item, Raw::Text(_));
        let is_flat = matches!(&raw, Raw::List(items) if items.iter().all(is_name));
        let groups = match raw {
            list @ Raw::List(_) if is_flat => vec![(list, span)],
            Raw::List(groups) => groups,
            other => {
                let message = format!("`zip` lists names, found {}", other.describe());
                return self.wrong(span, message, None);
            }
        };
        for (group, span) in groups {
            self.join_group(&group, span);
        }
    }

    fn join_group(&mut self, group: &Raw, span: Range<usize>) {
        let Raw::List(names) = group else {
            return self.wrong(span, "`zip` lists names, or lists of names".to_owned(), None);
        };
        let mut found = Vec::new();
        for (name, span) in names {
            let name = shown(name);
            let varied = Varied::named(&name);
            let axis = self.axes.iter().position(|axis| varied.as_ref() == axis.varied.first());
            match axis {
                Some(axis) if !found.contains(&axis) => found.push(axis),
                _ => {
                    let message =
                        format!("`{name}` in `zip` is no list of [study], or in it twice");
                    return self.wrong(span.clone(), message, None);
                }
            }
        }
        found.sort_unstable();
        let Some((&first, rest)) = found.split_first() else { return };
        for &axis in rest.iter().rev() {
            let Axis { varied, levels, .. } = self.axes.remove(axis);
            let (these, those) = (self.axes[first].levels.len(), levels.len());
            if these != those {
                let message = format!(
                    "`zip` goes through lists in step: `{}` has {these} values, `{}` {those}",
                    self.axes[first].varied[0].name(),
                    varied[0].name()
                );
                return self.wrong(span, message, None);
            }
            self.axes[first].varied.extend(varied);
            for (level, more) in self.axes[first].levels.iter_mut().zip(levels) {
                level.extend(more);
            }
        }
    }
}

/// The most runs of a study.
pub(crate) const MOST: u64 = 1_000_000;

/// The key of a name: its full name, its flag, or its name in its table if only one table has it.
fn meant(name: &str) -> Option<Id> {
    if let Some(id) = Id::named(name) {
        return Some(id);
    }
    let flagged = Id::all().find(|id| id.key().flag.is_some_and(|flag| flag.long == name));
    let mut short = Id::all().filter(|id| id.key().short() == name);
    flagged.or_else(|| short.next().filter(|_| short.next().is_none()))
}

/// Advice on a name that no key has.
fn near(table: &str, name: &str) -> String {
    let same = Id::all().filter(|id| id.key().short() == name && !id.is_of_class());
    let several: Vec<_> = same.map(|id| format!("`{}`", id.key().name)).collect();
    if table.is_empty() && !several.is_empty() {
        return format!("write which one: {}", several.join(" or "));
    }
    let mut known: Vec<&'static str> = KEYS.iter().map(Key::short).collect();
    known.extend(["machine", "seeds", "zip"]);
    if let Some(meant) = synonyms::suggestion(table, name) {
        return meant;
    }
    match units::nearest(name, &known) {
        Some(near) if table.is_empty() => format!("did you mean `{near}`?"),
        _ => keys::suggestion(table, name),
    }
}
