//! The traces of a run: finds their files and opens the reader of each.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::definitions::Definitions;
use crate::format::{self, Reader};
use crate::record::{Between, Record};
use crate::text::allprof::{self, AllprofReader};
use crate::text::independent::{self, IndependentReader, SPEED, Spans};
use crate::text::lines::Span;

/// The format of a run's traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Ours.
    Heddle,
    /// The text of liballprof.
    Allprof,
    /// Time-independent text of SMPI.
    Independent,
}

/// The traces of a run: a file per rank, or one for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// The format of the traces.
    pub form: Form,
    /// The file of each rank.
    pub files: Vec<PathBuf>,
    /// Operations per second of a host, for time-independent traces.
    pub speed: u64,
    /// The lines of each rank, if all ranks share one file.
    pub spans: Option<Spans>,
}

/// The reason why there are no traces.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file cannot be read.
    #[error("{}: {}", path.display(), units::text::reason(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// No file or folder has this name, and no rank files start with it.
    #[error("{}: no traces: neither a folder, nor an index, nor the beginning of the names of one \
             file per rank", .0.display())]
    Missing(PathBuf),
    /// A folder holds no traces.
    #[error("{}: no traces in this folder: there is no file whose name ends in the number of a \
             rank", .0.display())]
    Empty(PathBuf),
    /// Ranks are missing.
    #[error("{}: no trace of rank {rank}, but one of rank {next}", folder.display())]
    Gap {
        /// The folder or file.
        folder: PathBuf,
        /// The first that is missing.
        rank: usize,
        /// A rank whose file is there.
        next: usize,
    },
    /// Two files are of one rank.
    #[error("{} and {} are both of rank {rank}", first.display(), second.display())]
    Twice {
        /// The rank of both.
        rank: usize,
        /// A file of that rank.
        first: PathBuf,
        /// Another.
        second: PathBuf,
    },
    /// An index is empty.
    #[error("{}: this index lists no files", .0.display())]
    NoFiles(PathBuf),
    /// A file of all ranks is empty.
    #[error("{}: there are no actions in it", .0.display())]
    NoActions(PathBuf),
    /// A file is of an unknown format.
    #[error("{}: neither one of Heddle's traces nor liballprof's text", .0.display())]
    Unknown(PathBuf),
    /// A file of ours cannot be read.
    #[error("{}: {error}", path.display())]
    Heddle {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: format::Error,
    },
}

/// Extensions that trace files have.
const EXTENSIONS: [&str; 4] = ["hdl", "txt", "dat", "trace"];

/// The text before a file's rank, and the rank.
fn rank_of(path: &Path) -> Option<(String, usize)> {
    let extension = path.extension().map(|extension| extension.to_str().unwrap_or("?"));
    let stem = path.file_stem()?.to_str()?;
    let prefix = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let rank = stem.get(prefix.len()..)?.parse().ok()?;
    extension.is_none_or(|known| EXTENSIONS.contains(&known)).then(|| (prefix.to_owned(), rank))
}

impl Traces {
    /// Returns whether a name can be one of traces: a folder, an index, or the beginning of rank
    /// files.
    pub fn names(path: &Path) -> bool {
        path.is_dir()
            || path.extension().is_some_and(|extension| extension == "index")
            || (!path.exists() && Self::with_prefix(path).is_ok_and(|found| !found.is_empty()))
    }

    /// Finds the traces of a run. `path` is a folder with one file per rank, the beginning of the
    /// names of such files, one of them, or an index of time-independent traces.
    pub fn find(path: &Path) -> Result<Self, OpenError> {
        if path.extension().is_some_and(|extension| extension == "index") {
            let (files, spans) = independent::index(path)?;
            return Ok(Self { form: Form::Independent, files, speed: SPEED, spans });
        }
        let ranked = if path.is_dir() {
            let indices = Self::listed(path, |name| {
                Path::new(name).extension().is_some_and(|extension| extension == "index")
            })?;
            if let [index] = indices.as_slice() {
                return Self::find(index);
            }
            Self::ranked(Self::listed(path, |_| true)?)
        } else if path.is_file() {
            // One file stands for all that differ from it in the rank only.
            let start = rank_of(path).map_or(String::new(), |(start, _)| start);
            Self::ranked(Self::with_prefix(&path.with_file_name(start))?)
        } else {
            Self::ranked(Self::with_prefix(path)?)
        };
        let files = Self::complete(path, ranked)?;
        let first = files.first().ok_or_else(|| {
            if path.is_dir() {
                OpenError::Empty(path.to_owned())
            } else {
                OpenError::Missing(path.to_owned())
            }
        })?;
        let form = Self::form(first)?;
        Ok(Self { form, files, speed: SPEED, spans: None })
    }

    fn with_prefix(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let start = path.file_name().unwrap_or_default().to_string_lossy();
        Self::listed(folder, |name| name.starts_with(&*start) && rank_of(Path::new(name)).is_some())
    }

    fn listed(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, OpenError> {
        let fail = |error| OpenError::Io { path: folder.to_owned(), error };
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if wanted(&name) && path.is_file() {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }

    fn ranked(files: Vec<PathBuf>) -> Vec<(usize, PathBuf)> {
        let rank = |path: PathBuf| rank_of(&path).map(|(_, rank)| (rank, path));
        let mut ranked: Vec<_> = files.into_iter().filter_map(rank).collect();
        // Files without an extension are traces where no others are.
        let has_extension = |(_, path): &(usize, PathBuf)| path.extension().is_some();
        if ranked.iter().any(has_extension) {
            ranked.retain(has_extension);
        }
        ranked.sort();
        ranked
    }

    fn complete(folder: &Path, ranked: Vec<(usize, PathBuf)>) -> Result<Vec<PathBuf>, OpenError> {
        let mut files: Vec<PathBuf> = Vec::with_capacity(ranked.len());
        for (rank, path) in ranked {
            match files.last() {
                Some(first) if rank + 1 == files.len() => {
                    let first = first.clone();
                    return Err(OpenError::Twice { rank, first, second: path });
                }
                _ if rank != files.len() => {
                    let folder = folder.to_owned();
                    return Err(OpenError::Gap { folder, rank: files.len(), next: rank });
                }
                _ => files.push(path),
            }
        }
        Ok(files)
    }

    fn form(path: &Path) -> Result<Form, OpenError> {
        let fail = |error| OpenError::Io { path: path.to_owned(), error };
        let mut start = [0; 64];
        let mut file = units::text::open(path).map_err(fail)?;
        let got = format::fill(&mut file, &mut start).map_err(fail)?;
        let start = start.get(..got).unwrap_or_default();
        let start = start.strip_prefix(units::text::MARK).unwrap_or(start);
        if start.starts_with(&format::MAGIC) {
            Ok(Form::Heddle)
        } else if start.starts_with(b"#") || start.starts_with(b"MPI_") {
            Ok(Form::Allprof)
        } else {
            Err(OpenError::Unknown(path.to_owned()))
        }
    }

    /// Returns how many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.files.len() as u32
    }

    /// Opens the trace of a rank.
    pub fn open(&self, rank: u32) -> Result<Stream, OpenError> {
        let path = self.files.get(rank as usize).cloned().unwrap_or_default();
        let spans = self.spans.as_ref().and_then(|spans| spans.get(rank as usize)).cloned();
        let file = Closed { path: path.clone(), at: 0, spans: spans.clone(), span: 0 };
        Ok(match self.form {
            Form::Heddle => {
                let reader = Reader::new(file);
                let heddle = |error| OpenError::Heddle { path: path.clone(), error };
                let reader = reader.map_err(heddle)?;
                let header = reader.header();
                if (header.rank, header.ranks) != (rank, self.ranks()) {
                    let what = "names another rank, or a world of another size, than the files";
                    return Err(heddle(format::Error::Header { at: 16, what }));
                }
                Stream { path, input: Input::Heddle(Box::new(reader)) }
            }
            Form::Allprof => {
                let input = AllprofReader::new(file, rank, self.ranks());
                Stream { path, input: Input::Allprof(Box::new(input)) }
            }
            Form::Independent => {
                let mut input = IndependentReader::new(file, rank, self.ranks());
                input.set_speed(self.speed as f64);
                if let Some(spans) = spans {
                    input.set_spans(spans);
                }
                Stream { path, input: Input::Independent(Box::new(input)) }
            }
        })
    }
}

/// A file that is open only while something is read from it: a run has as many as ranks, more than
/// a process may have open.
struct Closed {
    path: PathBuf,
    at: u64,
    /// The parts of the file that are read; all of it, if there are none.
    spans: Option<Arc<[Span]>>,
    /// The part that is read next.
    span: usize,
}

impl Read for Closed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut file = File::open(&self.path)?;
        let Some(spans) = &self.spans else {
            file.seek(SeekFrom::Start(self.at))?;
            let got = file.read(into)?;
            self.at += got as u64;
            return Ok(got);
        };
        let mut filled = 0;
        while let (Some(span), Some(rest)) =
            (spans.get(self.span), into.get_mut(filled..).filter(|rest| !rest.is_empty()))
        {
            self.at = self.at.max(span.start);
            file.seek(SeekFrom::Start(self.at))?;
            let left = span.end.saturating_sub(self.at);
            let got = file.by_ref().take(left).read(rest)?;
            if got == 0 && left > 0 {
                // The file has become shorter.
                break;
            }
            (self.at, filled) = (self.at + got as u64, filled + got);
            if self.at >= span.end {
                self.span += 1;
            }
        }
        Ok(filled)
    }
}

/// The calls of a rank, one after the other.
pub struct Stream {
    path: PathBuf,
    input: Input,
}

enum Input {
    Heddle(Box<Reader<Closed>>),
    Allprof(Box<AllprofReader<Closed>>),
    Independent(Box<IndependentReader<Closed>>),
}

impl Stream {
    /// Fetches the next call; false at the end.
    #[inline]
    pub fn next(&mut self, record: &mut Record) -> Result<bool, OpenError> {
        let next = match &mut self.input {
            Input::Heddle(reader) => reader.next(record),
            Input::Allprof(reader) => reader.next(record),
            Input::Independent(reader) => reader.next(record),
        };
        next.map_err(|error| OpenError::Io { path: self.path.clone(), error })
    }

    /// The calls that are still to come, for who wants to look at them before; not of text traces.
    pub fn ahead(&self) -> Option<Self> {
        let Input::Heddle(reader) = &self.input else { return None };
        let path = self.path.clone();
        let rest = Closed { path, at: reader.next_block(), spans: None, span: 0 };
        let input = Input::Heddle(Box::new(reader.ahead(rest)));
        Some(Self { path: self.path.clone(), input })
    }

    /// Returns what the trace has defined so far.
    pub fn definitions(&self) -> &Definitions {
        match &self.input {
            Input::Heddle(reader) => reader.definitions(),
            Input::Allprof(reader) => reader.definitions(),
            Input::Independent(reader) => reader.definitions(),
        }
    }

    /// Returns the name of a call, also of one outside the table.
    pub fn name(&self, id: u32) -> &str {
        let known = calls::Table::get().by_id(id).map(|call| call.name);
        known.or_else(|| self.definitions().names.get(&id).map(String::as_str)).unwrap_or("a call")
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where the last call stands: a line, or the number of a call, from 1.
    pub fn place(&self) -> Position {
        match &self.input {
            Input::Heddle(reader) => Position::Call(reader.calls()),
            Input::Allprof(reader) => Position::Line(reader.line()),
            Input::Independent(reader) => Position::Line(reader.line()),
        }
    }

    /// Returns the line of the last call, from 1; 0 if the trace is no text, or longer than
    /// 2^32 - 1 lines.
    pub fn line(&self) -> u32 {
        match self.place() {
            Position::Line(line) => line.try_into().unwrap_or(0),
            Position::Call(_) => 0,
        }
    }

    /// Returns when the trace started: the rank's clock then, in nanoseconds.
    pub fn start(&self) -> u64 {
        match &self.input {
            Input::Heddle(reader) => reader.header().start / (1000 / reader.header().unit.ps()),
            Input::Allprof(reader) => reader.start(),
            Input::Independent(_) => 0,
        }
    }

    /// Returns whether the run was simulated.
    pub fn is_simulated(&self) -> bool {
        matches!(
            &self.input, Input::Heddle(reader) if reader.header().unit == format::Unit::Picosecond
        )
    }

    /// Returns what the rank did between the last two calls, if the trace tells amounts; otherwise
    /// their times tell.
    pub fn between(&self) -> Option<Between> {
        match &self.input {
            Input::Heddle(_) | Input::Allprof(_) => None,
            Input::Independent(reader) => Some(reader.between()),
        }
    }

    /// Returns what is wrong with the file so far: errors, rendered, and warnings.
    pub fn findings(&self) -> (Vec<String>, Vec<String>) {
        let name = self.path.display().to_string();
        let text = |findings: &allprof::Findings| findings.rendered(&name);
        match &self.input {
            Input::Heddle(reader) => {
                let warning = |warning| format!("{name}: {warning}");
                (Vec::new(), reader.warning().map(warning).into_iter().collect())
            }
            Input::Allprof(reader) => text(reader.findings()),
            Input::Independent(reader) => text(reader.findings()),
        }
    }
}

/// The position of a call in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// On this line.
    Line(u64),
    /// The number of the call.
    Call(u64),
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Call(call) => write!(f, "call {call}"),
        }
    }
}
