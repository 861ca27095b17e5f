//! The report: one self-contained page of HTML that shows a run, or several side by side.
//!
//! It is made from what a result folder holds: [`write`] reads the tables one row after the other,
//! so that its memory grows with the page and not with the run. The page is a constant program
//! (`web/` holds its sources, `bundle/` what is made of them), a document in JSON, and compressed
//! columns of numbers that the program decodes when it shows them.
//!
//! A page makes no request. Its content security policy allows the program and the style sheet of
//! the bundle by their hashes and nothing else. All text from folders reaches it as escaped JSON.
//!
//! Up to [`Options::detail`] events, the page has each of them. Of larger runs it has tiles, which
//! are shares of time by rank and interval, and the events on the critical path and in
//! [`Options::windows`].

mod activity;
mod anonymous;
mod blob;
mod calls;
mod folder;
mod lines;
mod links;
mod messages;
mod network;
mod page;
mod path;
mod random;
mod ranks;

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use results::Temporary;
use serde_json::{Value, json};
use units::Time;

/// Most events that a page has one by one, unless told otherwise.
pub const DETAIL: u64 = 1_000_000;

/// A stretch of simulated time, from its start to its end.
pub type Window = (Time, Time);

/// The choices of a reader of reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Most events of a run that the page has one by one.
    pub detail: u64,
    /// Stretches of time of which it has every event, however many.
    pub windows: Vec<Window>,
    /// True if names of hosts and files, and arguments of programs, are left out.
    pub anonymous: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { detail: DETAIL, windows: Vec::new(), anonymous: false }
    }
}

/// The reason why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {}", path.display(), units::text::reason(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A table is wrong.
    #[error(transparent)]
    Table(#[from] results::ReadError),
    /// A file holds something else than its name says.
    #[error("{}: {message}", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// The place in it, and the expectation.
        message: String,
    },
    /// There is nothing to show.
    #[error(
        "{}: no results of Heddle: expected a folder of `heddle run -o`, `heddle study -o`, or \
         what `heddle ladder --format json` prints",
        .0.display()
    )]
    Nothing(PathBuf),
}

impl Error {
    /// Tells where something failed.
    fn at(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }
}

/// Reads a window: `FROM..TO`, two times with their units.
///
/// # Errors
/// A message that says what was expected.
pub fn window(text: &str) -> Result<Window, String> {
    let wrong =
        || format!("`{text}`: expected two times, the later one second, such as 1ms..1200us");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let time = |text: &str| text.trim().parse::<Time>().map_err(|_| wrong());
    let (from, to) = (time(from)?, time(to)?);
    if from < to { Ok((from, to)) } else { Err(wrong()) }
}

/// Writes the report of some result folders to a file, which gets its name when it is complete.
///
/// # Errors
/// If a folder has no results, one of its files is wrong, or the page cannot be written.
pub fn write(inputs: &[PathBuf], to: &Path, options: &Options) -> Result<(), Error> {
    let mut blobs = blob::Blobs::default();
    let runs = inputs.iter().enumerate();
    let runs = runs.map(|(number, input)| folder::read(input, number, options, &mut blobs));
    let runs: Vec<Value> = runs.collect::<Result<_, _>>()?;
    let document = json!({
        "heddle": env!("CARGO_PKG_VERSION"),
        "anonymous": options.anonymous,
        "runs": runs,
    });
    let fill = |file: File| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        page::write(&mut out, &document, &blobs)?;
        out.flush()
    };
    let written = Temporary::file(to).and_then(|(temporary, file)| {
        fill(file)?;
        results::hold().rename(&temporary, to)
    });
    written.map_err(Error::at(to))
}
