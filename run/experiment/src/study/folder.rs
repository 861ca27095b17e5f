//! The folder of a study: what is known of each run, and the tables of all.
//!
//! `study.json` says which study it is. Each process that runs a part appends what it found to a
//! file of its own, `found-FROM-TO.jsonl`, a line per run. A line that was cut off when its process
//! was killed is left aside. `runs.csv` and `performance.csv` are written once all runs are known.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use results::{Columns, TableForm, Temporary};
use serde_json::{Map, Value, json};

use super::{Done, Study};
use crate::Failure;

/// The treatment of a folder that has results already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The folder must be new, empty, or without results.
    New,
    /// Runs that are known are not run again.
    Resume,
    /// Runs that are known are not run again unless they failed.
    Retry,
}

/// The folder of a study.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The file to which this process appends.
    journal: Mutex<File>,
    /// The runs that earlier processes, or this one, found.
    known: Mutex<BTreeMap<usize, Done>>,
    /// The first run of this process and the one after its last.
    part: Range<usize>,
}

/// The form of `study.json`.
const FORM: u64 = 2;

impl Folder {
    /// Opens the folder of a study, or makes it, for the runs of `part`.
    ///
    /// # Errors
    /// If the folder holds something else, another study, or results that are not to be used.
    pub fn open(
        path: &Path,
        study: &Study,
        part: Range<usize>,
        opening: Opening,
    ) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(at(path))?;
        describe(path, study)?;
        let mut known = known(path)?;
        known.retain(|run, _| *run < study.runs());
        let here = known.range(part.clone()).count();
        if opening == Opening::New && here > 0 {
            return Err(Failure::Input(format!(
                "error: {}: {here} of {} runs are known already\n  help: --resume goes on with the \
                 others; --retry-failed runs those again, too, that failed",
                path.display(),
                part.len()
            )));
        }
        if opening == Opening::Retry {
            known.retain(|_, done| done.error.is_none());
        }
        let name = path.join(format!("found-{}-{}.jsonl", part.start, part.end));
        let journal = journal(&name).map_err(at(&name))?;
        Ok(Self {
            path: path.to_owned(),
            journal: Mutex::new(journal),
            known: Mutex::new(known),
            part,
        })
    }

    /// The runs of its part that are not known.
    pub fn missing(&self) -> Vec<usize> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.part.clone().filter(|run| !known.contains_key(run)).collect()
    }

    /// Keeps what was found.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, done: Done) -> Result<(), Failure> {
        let mut line = serde_json::to_string(&done).unwrap_or_default();
        line.push('\n');
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.write_all(line.as_bytes()).map_err(at(&self.path))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(done.run, done);
        Ok(())
    }

    /// The numbers of known runs and, of these, of those that failed.
    pub fn counts(&self) -> (usize, usize) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        (known.len(), known.values().filter(|done| done.error.is_some()).count())
    }

    /// The reasons why runs failed, each with these runs, in their order.
    pub fn failures(&self) -> Vec<(String, Vec<usize>)> {
        self.told(|done| done.error.as_slice())
    }

    /// The remarks on runs, each with these runs, in their order.
    pub fn remarks(&self) -> Vec<(String, Vec<usize>)> {
        self.told(|done| &done.remarks)
    }

    fn told(&self, texts: impl Fn(&Done) -> &[String]) -> Vec<(String, Vec<usize>)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut places, mut all) = (BTreeMap::new(), Vec::<(String, Vec<usize>)>::new());
        for (run, text) in
            known.values().flat_map(|done| texts(done).iter().map(|text| (done.run, text)))
        {
            let place = *places.entry(text).or_insert_with(|| {
                all.push((text.clone(), Vec::new()));
                all.len() - 1
            });
            all[place].1.push(run);
        }
        all
    }

    /// Writes the tables in one of their forms if all runs are known; returns whether they are.
    ///
    /// # Errors
    /// If a table cannot be written.
    pub fn finish(&self, study: &Study, form: TableForm) -> Result<bool, Failure> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < study.runs() {
            return Ok(false);
        }
        let figures = |done: &Done| done.figures.clone();
        self.write("runs", form, &table(study, &known, figures, true))?;
        let performance = |done: &Done| vec![done.performance.clone()];
        self.write("performance", form, &table(study, &known, performance, false))?;
        Ok(true)
    }

    /// Writes a table in one of its forms, and removes it in the other.
    fn write(&self, name: &str, form: TableForm, text: &str) -> Result<(), Failure> {
        let [csv, parquet] = ["csv", "parquet"].map(|end| self.path.join(name).with_extension(end));
        let (path, other) = match form {
            TableForm::Csv => (csv, parquet),
            TableForm::Parquet => (parquet, csv),
        };
        let write = |mut file: File| match form {
            TableForm::Csv => file.write_all(text.as_bytes()),
            TableForm::Parquet => Columns::parse(text, &path)
                .map_err(io::Error::other)?
                .write_parquet(&mut BufWriter::new(file)),
        };
        let written = Temporary::file(&path).and_then(|(temporary, file)| {
            write(file)?;
            results::hold().rename(&temporary, &path)?;
            match fs::remove_file(&other) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        });
        written.map_err(at(&path))
    }
}

/// Returns a table as CSV: the number of the run, what varies, its figures, and the reason if it
/// failed.
fn table(
    study: &Study,
    known: &BTreeMap<usize, Done>,
    figures: impl Fn(&Done) -> Vec<Map<String, Value>>,
    errors: bool,
) -> String {
    let columns: BTreeSet<String> = known
        .values()
        .flat_map(&figures)
        .flat_map(|set| set.into_iter().map(|(name, _)| name))
        .collect();
    let mut out = csv::Writer::from_writer(Vec::new());
    let head = ["run".to_owned()].into_iter().chain(study.columns());
    let head = head.chain(columns.iter().cloned());
    let mut rows = vec![head.chain(errors.then(|| "error".to_owned())).collect()];
    for done in known.values() {
        let failed = [Map::new()];
        let sets = figures(done);
        for set in if sets.is_empty() { &failed[..] } else { &sets } {
            let mut row: Vec<String> = vec![done.run.to_string()];
            row.extend(study.values(done.run));
            let cell = |column| set.get(column).map_or_else(String::new, Value::to_string);
            row.extend(columns.iter().map(cell));
            row.extend(errors.then(|| done.error.clone().unwrap_or_default()));
            rows.push(row);
        }
    }
    // Writing to memory cannot fail, and all rows have as many cells.
    for row in &rows {
        drop(out.write_record(row));
    }
    String::from_utf8(out.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Says in the folder which study it is, or compares with what stands there.
fn describe(path: &Path, study: &Study) -> Result<(), Failure> {
    let file = path.join("study.json");
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let entries = fs::read_dir(path).map_err(at(path))?;
            if entries.count() > 0 {
                return Err(Failure::Output(results::Error::NotEmpty(path.to_owned())));
            }
            let description = json!({
                "form": FORM,
                "sha256": study.hash,
                "runs": study.runs(),
                "columns": study.columns(),
            });
            let text = format!("{description:#}\n");
            let written = Temporary::file(&file).and_then(|(temporary, mut out)| {
                out.write_all(text.as_bytes())?;
                results::hold().rename(&temporary, &file)
            });
            return written.map_err(at(&file));
        }
        Err(error) => return Err(at(&file)(error)),
    };
    let found: Value = serde_json::from_str(&text).unwrap_or_default();
    if found["form"] == FORM && found["sha256"] == *study.hash {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "error: {}: the folder holds another study\n  help: the study file, --machine, --set and \
         flags must be those with which it began; name another folder otherwise",
        path.display()
    )))
}

/// Returns the wall times in seconds of the runs of a study that succeeded, as far as a folder
/// holds them. A folder that is not there, or that is of another study, holds none.
pub fn finished(path: &Path, study: &Study) -> BTreeMap<usize, f64> {
    let text = fs::read_to_string(path.join("study.json")).unwrap_or_default();
    let described: Value = serde_json::from_str(&text).unwrap_or_default();
    if described["sha256"] != *study.hash {
        return BTreeMap::new();
    }
    let known = known(path).unwrap_or_default().into_values();
    let succeeded = known.filter(|done| done.error.is_none() && done.run < study.runs());
    let took = |done: Done| Some((done.run, done.performance.get("wall_seconds")?.as_f64()?));
    succeeded.filter_map(took).collect()
}

/// Reads the journals of a folder.
fn known(path: &Path) -> Result<BTreeMap<usize, Done>, Failure> {
    let entries = fs::read_dir(path).map_err(at(path))?;
    let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    names.sort();
    let mut known = BTreeMap::new();
    for name in names.iter().filter(|name| name.extension().is_some_and(|end| end == "jsonl")) {
        let file = units::text::open(name).map_err(at(name))?;
        for line in BufReader::new(file).split(b'\n') {
            let line = line.map_err(at(name))?;
            if let Ok(done) = serde_json::from_slice::<Done>(&line) {
                let better = |old: &Done| old.error.is_some() || done.error.is_none();
                if known.get(&done.run).is_none_or(better) {
                    known.insert(done.run, done);
                }
            }
        }
    }
    Ok(known)
}

/// Opens a journal at its end, and ends a line that was cut off.
fn journal(name: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(name)?;
    let length = file.seek(SeekFrom::End(0))?;
    if length > 0 {
        file.seek(SeekFrom::Start(length - 1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let path = path.to_owned();
    move |source| Failure::Output(results::Error::Io { path, source })
}
