//! Tables that have a name of the user's own: those of rails and of classes of pairs of hosts.

use std::path::{Path, PathBuf};

use super::{
    configuration::{Entry, Origin},
    diagnostic::Place,
    keys::{Id, KEYS},
    value::{Topology, Value},
};

/// The settings of a rail or of a class.
#[derive(Clone, Debug)]
pub(crate) struct NamedTable {
    /// Its name.
    pub name: String,
    /// The place at which a file begins it, even if it is empty there.
    pub declared: Option<Place>,
    /// A value for each key that has one, by the key's place.
    pub(super) entries: Vec<Option<Entry>>,
}

impl NamedTable {
    /// A table without settings.
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), declared: None, entries: vec![None; KEYS.len()] }
    }

    /// The files that its settings name.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.settings().filter_map(|(_, entry)| match &entry.value {
            Value::Path(path) | Value::Topology(Topology::File(path)) => Some(path.clone()),
            _ => None,
        })
    }

    /// The place at which it begins, or that of the first of its settings.
    pub fn place(&self) -> Place {
        let first = || self.settings().next().map(|(_, entry)| entry.place.clone());
        self.declared.clone().or_else(first).unwrap_or(Place::Nowhere)
    }

    /// Returns the argument of the command line that set a key, if one did.
    pub fn argument(&self, id: Id) -> Option<&str> {
        match &self.entries.get(id.place())?.as_ref()?.origin {
            Origin::Argument(argument) => Some(argument),
            _ => None,
        }
    }

    /// Returns whether a setting comes from this file.
    pub fn has_from(&self, file: &Path) -> bool {
        let is_from =
            |entry: &Entry| matches!(&entry.origin, Origin::File(path, _) if path == file);
        self.settings().any(|(_, entry)| is_from(entry))
    }

    /// The settings that have a value.
    pub(super) fn settings(&self) -> impl Iterator<Item = (Id, &Entry)> {
        Id::all().filter_map(|id| Some((id, self.entries.get(id.place())?.as_ref()?)))
    }
}
