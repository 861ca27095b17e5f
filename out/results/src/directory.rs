//! The folder that a run leaves behind.
//!
//! Files are written under temporary names in the folder and put under their final names all
//! together, by [`RunDirectory::finish`]. Until then an older run's files stay as they are; a run
//! that fails or is stopped leaves them, and never a half-written file under a final name.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::temporary::{Temporary, hold};

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
    /// Timeline for Perfetto.
    Perfetto,
    /// Timeline in the Paje format.
    Paje,
    /// Loads and what they lead to.
    Points,
    /// The same with all figures.
    PointsJson,
    /// Links, queues, credits and marks over time, by port and lane.
    Lanes,
    /// Congestion notifications, by flow.
    Flows,
    /// Messages by the number of links they crossed.
    Hops,
    /// The topology with the utilisation of its links.
    Links,
}

impl Artifact {
    /// All that exist.
    pub const ALL: [Self; 15] = [
        Self::Manifest,
        Self::Summary,
        Self::Performance,
        Self::Ranks,
        Self::Messages,
        Self::Calls,
        Self::Computation,
        Self::Perfetto,
        Self::Paje,
        Self::Points,
        Self::PointsJson,
        Self::Lanes,
        Self::Flows,
        Self::Hops,
        Self::Links,
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
            Self::Perfetto => "timeline.pftrace",
            Self::Paje => "timeline.paje",
            Self::Points => "points.csv",
            Self::PointsJson => "points.json",
            Self::Lanes => "lanes.csv",
            Self::Flows => "flows.csv",
            Self::Hops => "hops.csv",
            Self::Links => "links.svg",
        }
    }

    fn temporary_name(self) -> String {
        format!(".{}.partial", self.file_name())
    }
}

/// Why a run directory could not be made or filled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder has something in it.
    #[error("{} is not empty; --force replaces the files of an earlier run in it", .0.display())]
    NotEmpty(PathBuf),
    /// The path leads to something else than a folder.
    #[error("{} exists and is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// A run directory that is being filled. Dropped before [`RunDirectory::finish`], it takes back
/// what it did.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    // Dropped in this order: a folder must be empty to be removed.
    written: Vec<(Artifact, Temporary)>,
    created: Vec<Temporary>,
}

impl RunDirectory {
    /// Makes the folder if it does not exist, with those above it. One that holds anything but what
    /// a stopped run left under temporary names is refused unless `force` is given.
    pub fn create(path: &Path, force: bool) -> Result<Self, Error> {
        let created = match fs::read_dir(path) {
            Ok(mut entries) => {
                let foreign = |entry: io::Result<fs::DirEntry>| {
                    !entry.is_ok_and(|entry| is_temporary(&entry.file_name()))
                };
                if !force && entries.any(foreign) {
                    return Err(Error::NotEmpty(path.to_owned()));
                }
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
        Ok(Self { path: path.to_owned(), written: Vec::new(), created })
    }

    /// Writes one file; `content` fills it. It gets its final name in [`RunDirectory::finish`].
    pub fn write(
        &mut self,
        artifact: Artifact,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Error> {
        self.written.retain(|(other, _)| *other != artifact);
        let fill = || {
            let (temporary, file) = Temporary::file(&self.path.join(artifact.temporary_name()))?;
            let mut file = BufWriter::with_capacity(1 << 16, file);
            content(&mut file)?;
            file.flush()?;
            file.get_ref().sync_all()?;
            Ok(temporary)
        };
        let temporary = fill().map_err(at(&self.path.join(artifact.file_name())))?;
        self.written.push((artifact, temporary));
        Ok(())
    }

    /// Removes what an earlier run left under the names that heddle uses (and nothing else), and
    /// gives the new files their final names.
    pub fn finish(self) -> Result<(), Error> {
        let mut held = hold();
        for artifact in Artifact::ALL {
            remove(&self.path.join(artifact.file_name()))?;
            if self.written.iter().all(|(other, _)| *other != artifact) {
                remove(&self.path.join(artifact.temporary_name()))?;
            }
        }
        for (artifact, temporary) in self.written.iter().rev() {
            let path = self.path.join(artifact.file_name());
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

fn is_temporary(name: &OsStr) -> bool {
    Artifact::ALL.iter().any(|artifact| name == artifact.temporary_name().as_str())
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
