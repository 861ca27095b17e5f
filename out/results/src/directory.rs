//! The folder that a run leaves behind.
//!
//! Files are written under temporary names in the folder and put under their final names all
//! together, by [`RunDirectory::finish`]. Until then an older run's files stay as they are; a run
//! that fails or is stopped leaves them, and never a half-written file under a final name.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::table::{TableForm, TableOutput};
use crate::temporary::{self, Temporary, hold, is_stale};

/// A file of a run directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Artifact {
    /// The experiment as it was run.
    Manifest,
    /// [`Summary`](crate::Summary).
    Summary,
    /// [`Performance`](crate::Performance).
    Performance,
    /// Table of ranks.
    Ranks,
    /// Table of messages.
    Messages,
    /// Table of MPI calls.
    Calls,
    /// Regions of computation of live ranks.
    Computation,
    /// Busy periods of CPUs.
    Activity,
    /// Lines of the schedule's text.
    Lines,
    /// Loads of links over time.
    Loads,
    /// Timeline for Perfetto.
    Perfetto,
    /// Timeline in the Paje format.
    Paje,
    /// Timeline in the JSON format of Chrome's tracing.
    Chrome,
    /// Loads and what they lead to.
    Points,
    /// The loads of `Points` with all their figures.
    PointsJson,
    /// Links, queues, credits and marks over time, by port and lane.
    Lanes,
    /// Congestion notifications, by flow.
    Flows,
    /// Messages by the number of links they crossed.
    Hops,
    /// Packets that were discarded or sent again.
    Losses,
    /// The topology with the utilisation of its links.
    Links,
    /// The devices of the topology, with their places in a drawing.
    Devices,
    /// The links of the topology.
    Connections,
    /// All of it as a page for people.
    Report,
}

impl Artifact {
    /// All that exist.
    pub const ALL: [Self; 23] = [
        Self::Manifest,
        Self::Summary,
        Self::Performance,
        Self::Ranks,
        Self::Messages,
        Self::Calls,
        Self::Computation,
        Self::Activity,
        Self::Lines,
        Self::Loads,
        Self::Perfetto,
        Self::Paje,
        Self::Chrome,
        Self::Points,
        Self::PointsJson,
        Self::Lanes,
        Self::Flows,
        Self::Hops,
        Self::Losses,
        Self::Links,
        Self::Devices,
        Self::Connections,
        Self::Report,
    ];

    /// Its name in the folder.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Manifest => "manifest.json",
            Self::Summary => "summary.json",
            Self::Performance => "performance.json",
            Self::Ranks => "ranks.csv",
            Self::Messages => "messages.csv",
            Self::Calls => "calls.csv",
            Self::Computation => "computation.csv",
            Self::Activity => "activity.csv",
            Self::Lines => "lines.csv",
            Self::Loads => "loads.csv",
            Self::Perfetto => "timeline.pftrace",
            Self::Paje => "timeline.paje",
            Self::Chrome => "timeline.json",
            Self::Points => "points.csv",
            Self::PointsJson => "points.json",
            Self::Lanes => "lanes.csv",
            Self::Flows => "flows.csv",
            Self::Hops => "hops.csv",
            Self::Losses => "losses.csv",
            Self::Links => "links.svg",
            Self::Devices => "devices.csv",
            Self::Connections => "connections.csv",
            Self::Report => "report.html",
        }
    }

    /// Its name in the folder if tables have this form.
    fn name_as(self, form: TableForm) -> Cow<'static, str> {
        let name = self.file_name();
        match (name.strip_suffix(".csv"), form) {
            (Some(stem), TableForm::Parquet) => format!("{stem}.parquet").into(),
            _ => name.into(),
        }
    }

    /// Its path in a folder, in the form in which it is there.
    pub fn path(self, folder: &Path) -> PathBuf {
        let [csv, parquet] = FORMS.map(|form| folder.join(self.name_as(form).as_ref()));
        if parquet.is_file() && !csv.is_file() { parquet } else { csv }
    }
}

/// Returns the path of the table of a study, in the form in which it is there.
pub fn study_table(folder: &Path) -> PathBuf {
    let [csv, parquet] = ["runs.csv", "runs.parquet"].map(|name| folder.join(name));
    if parquet.is_file() && !csv.is_file() { parquet } else { csv }
}

/// The forms of tables.
const FORMS: [TableForm; 2] = [TableForm::Csv, TableForm::Parquet];

/// A file of a run directory that is being written.
#[derive(Debug)]
pub struct OutputFile {
    out: BufWriter<File>,
    form: TableForm,
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl TableOutput for OutputFile {
    fn form(&self) -> TableForm {
        self.form
    }
}

/// An error in making or filling a run directory.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder has something in it.
    #[error("{} is not empty; --force replaces the files of an earlier run in it", .0.display())]
    NotEmpty(PathBuf),
    /// The path leads to something else than a folder.
    #[error("{} exists and is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The system refused.
    #[error("{}: {}", path.display(), units::text::reason(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// A run directory that is being filled. Dropped before [`RunDirectory::finish`], it takes back
/// what it did.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    /// The form of its tables.
    form: TableForm,
    // Dropped in this order: a folder must be empty to be removed.
    written: Vec<(Artifact, Temporary)>,
    created: Vec<Temporary>,
}

impl RunDirectory {
    /// Makes the folder if it does not exist, with those above it. What runs left in it that were
    /// killed is removed. A folder that holds anything else, hidden or not, is refused unless
    /// `force` is given.
    pub fn create(path: &Path, force: bool) -> Result<Self, Error> {
        let created = match fs::read_dir(path) {
            Ok(mut entries) => {
                let stale = |entry: &fs::DirEntry| is_stale(&entry.path(), is_artifact);
                let foreign = |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|e| !stale(&e));
                if !force && entries.any(foreign) {
                    return Err(Error::NotEmpty(path.to_owned()));
                }
                remove_stale(path);
                Vec::new()
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Temporary::folders(path).map_err(at(path))?
            }
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                let file = path.ancestors().find(|path| path.exists());
                return Err(Error::NotAFolder(file.unwrap_or(path).to_owned()));
            }
            Err(error) => return Err(at(path)(error)),
        };
        Ok(Self { path: path.to_owned(), form: TableForm::Csv, written: Vec::new(), created })
    }

    /// Writes tables in this form from now on.
    #[must_use]
    pub fn with_tables_as(self, form: TableForm) -> Self {
        Self { form, ..self }
    }

    /// Writes one file; `content` fills it. It gets its final name in [`RunDirectory::finish`].
    pub fn write(
        &mut self,
        artifact: Artifact,
        content: impl FnOnce(&mut OutputFile) -> io::Result<()>,
    ) -> Result<(), Error> {
        self.written.retain(|(other, _)| *other != artifact);
        let path = self.path.join(artifact.name_as(self.form).as_ref());
        let fill = || {
            let (temporary, file) = Temporary::file(&path)?;
            let out = BufWriter::with_capacity(1 << 16, file);
            let mut file = OutputFile { out, form: self.form };
            content(&mut file)?;
            file.flush()?;
            file.out.get_ref().sync_all()?;
            Ok(temporary)
        };
        let temporary = fill().map_err(at(&path))?;
        self.written.push((artifact, temporary));
        Ok(())
    }

    /// Removes what an earlier run left under the names that heddle uses (and nothing else), and
    /// gives the new files their final names.
    pub fn finish(self) -> Result<(), Error> {
        let mut held = hold();
        for artifact in Artifact::ALL {
            for form in FORMS {
                remove(&self.path.join(artifact.name_as(form).as_ref()))?;
            }
        }
        for (artifact, temporary) in self.written.iter().rev() {
            let path = self.path.join(artifact.name_as(self.form).as_ref());
            held.rename(temporary, &path).map_err(at(&path))?;
        }
        // The folder's entries are on disk once the folder itself is synced, where that is
        // possible.
        #[cfg(unix)]
        File::open(&self.path).and_then(|folder| folder.sync_all()).map_err(at(&self.path))?;
        self.created.iter().for_each(|folder| held.keep(folder));
        Ok(())
    }
}

/// Says whether a name is one that heddle gives to a file of a run directory.
fn is_artifact(name: &str) -> bool {
    FORMS.iter().any(|form| Artifact::ALL.iter().any(|artifact| artifact.name_as(*form) == name))
}

/// Removes what runs left behind that were killed.
fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_stale(&entry.path(), is_artifact) {
            temporary::remove(&entry.path());
        }
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { path: path.clone(), source }
}
