//! The check that the files that settings name are there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use traces::source::Traces;

use super::{
    configuration::{COMMAND_LINE, Configuration, Entry, Origin},
    diagnostic::{Diagnostic, Place},
    keys::{self, Id},
    value::{Topology, Value, Workload},
};
use crate::workloads;

/// Returns a mistake for each file that a setting of this run names and that is not there, at the
/// place of the setting. A machine file may name files for other models, which nobody reads.
pub(super) fn missing(configuration: &Configuration) -> Vec<Diagnostic> {
    let folder = keys::run::output::DIRECTORY.id();
    let read = Id::all().filter(|id| *id != folder && configuration.uses(*id));
    let named = read.filter_map(|id| {
        let entry = configuration.entry(id)?;
        Some((id, entry, named(entry)?))
    });
    named.filter_map(|(id, entry, path)| mistake(id, entry, &path)).collect()
}

/// Returns the file that a setting names.
fn named(entry: &Entry) -> Option<PathBuf> {
    match &entry.value {
        Value::Path(path) | Value::Topology(Topology::File(path)) => Some(path.clone()),
        // Whoever reads the workload of the command line says so, and traces may be named by the
        // beginning of their names.
        Value::Workload(Workload::File(path)) => {
            let is_subject = entry.origin == Origin::Argument(COMMAND_LINE.to_owned());
            let is_index = path.extension().is_some_and(|extension| extension == "index");
            (is_index || !is_subject && !Traces::names(path)).then(|| path.clone())
        }
        _ => None,
    }
}

fn mistake(id: Id, entry: &Entry, path: &Path) -> Option<Diagnostic> {
    let error = match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            io::Error::new(io::ErrorKind::IsADirectory, "this is a folder, and not a file")
        }
        Ok(_) => return None,
        Err(error) => error,
    };
    let key = match entry.place {
        // A manifest has no lines to point at.
        Place::File(_) | Place::Nowhere => Some(id.key().name),
        Place::Text(..) | Place::Argument(_) => None,
    };
    let mistake = Diagnostic::absent(entry.place.clone(), key, path, &error);
    let is_workload = matches!(entry.value, Value::Workload(_));
    let meant = is_workload.then(|| workloads::meant(path)).flatten();
    Some(if meant.is_some() { mistake.help(meant) } else { mistake })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{keys::KEYS, reader::Reader, scope, value::Kind};

    /// A workload of a kind, in a file; `.` is a folder of traces as far as settings know.
    fn source(workload: scope::Workload) -> &'static str {
        match workload {
            scope::Workload::Goal => "-",
            scope::Workload::Pattern => "pattern:gather",
            scope::Workload::Collective => "collective:bcast",
            scope::Workload::Traffic => "traffic:uniform",
            scope::Workload::Traces => ".",
            scope::Workload::Live => "program:./app",
        }
    }

    #[test]
    fn every_file_that_is_absent_is_a_mistake_at_its_key() {
        let mut checked = Vec::new();
        for key in KEYS.iter().filter(|key| matches!(key.kind, Kind::Path | Kind::Topology)) {
            let model = key.scope.models().next().expect("a model");
            let source = source(key.scope.workloads().next().expect("a workload"));
            let (table, short) = key.name.split_once('.').expect("a table");
            let head =
                format!("workload.source = \"{source}\"\nnetwork.model = \"{}\"", model.name());
            let text = format!("{head}\n{table}.{short} = \"absent.csv\"\n");
            let mut reader = Reader::default();
            reader.text("e.toml", text);
            let found = reader.finish();
            if key.name == keys::run::output::DIRECTORY.name() {
                assert!(found.is_ok(), "a folder is made");
                continue;
            }
            let shown = found.expect_err(key.name).to_string();
            let expected = "error: absent.csv: No such file or directory\n --> e.toml:3:";
            assert!(shown.starts_with(expected), "{}: {shown}", key.name);
            checked.push(key.name);
        }
        assert!(checked.len() >= 8, "{checked:?}");
    }
}
