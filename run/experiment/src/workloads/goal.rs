//! The workload that is a schedule in GOAL, text or binary, from a file or standard input.

use std::{
    borrow::Cow,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Instant,
};

use results::{Lines, OwnCycle, Pending};
use schedule::goal::{self, Form, Image, ReadError, Reading};

use crate::{
    job::{Failure, Job, Report, Runs, pending},
    models::Model,
    settings::{
        configuration::Configuration,
        diagnostic::{Diagnostic, unread},
        keys, manifest, value,
    },
};

/// A schedule, which is read when it first runs and kept.
#[derive(Debug)]
pub struct Goal {
    pub(crate) source: Source,
    input: OnceLock<Input>,
}

pub(crate) fn resolve(configuration: &Configuration) -> Result<Goal, Vec<Diagnostic>> {
    let source = match configuration.workload() {
        Some(value::Workload::File(path)) => Source::File(path),
        _ => Source::Standard,
    };
    if source == Source::Standard && configuration.is_from_manifest(keys::workload::SOURCE) {
        let message = "the schedule came from standard input, which a manifest does not keep";
        let help = "give it again: --set workload.source=FILE".to_owned();
        return Err(vec![configuration.mistake(keys::workload::SOURCE, message).help(help)]);
    }
    Ok(Goal { source, input: OnceLock::new() })
}

impl Goal {
    fn input(&self) -> Result<&Input, Failure> {
        if let Some(input) = self.input.get() {
            return Ok(input);
        }
        let read = Input::read(&self.source).map_err(|failure| self.suggest(failure))?;
        Ok(self.input.get_or_init(|| read))
    }
}

impl Goal {
    /// Adds to a failure the workload that a plain name may have meant.
    fn suggest(&self, failure: Failure) -> Failure {
        let Source::File(path) = &self.source else { return failure };
        if path.exists() || path.components().count() > 1 {
            return failure;
        }
        let Some(help) = super::meant(path) else { return failure };
        Failure::Input(format!("{failure}\n  help: {help}"))
    }
}

impl Runs for Goal {
    fn run<M: Model>(&self, job: &Job<'_, Self, M>, start: Instant) -> Result<Report, Failure> {
        let input = self.input()?;
        if job.records.needs_text && input.reading.form == Form::Binary {
            let name = input.source.name();
            let message = format!("error: {name}: a binary schedule has no lines for `lines.csv`");
            let help = "\n  help: heddle convert writes it as text";
            return Err(Failure::Input(message + help));
        }
        let image = &input.reading.image;
        let simulated = job
            .simulate(image, image.bytes().len() as u64)
            .map_err(|failure| locate(failure, input))?;
        let stuck = simulated.outcome.deadlock.iter().flat_map(|deadlock| &deadlock.pending);
        let stuck: Vec<_> = stuck.map(|op| (op.rank, op.index)).collect();
        let own_cycles = input.own_cycles(&stuck);
        let mut lines = input.lines(&stuck).into_iter();
        let mut report = job.report(start, simulated, |op| {
            let pending = pending(image, op);
            match lines.next().flatten() {
                Some((line, text)) => Pending { line: Some(line), text: Some(text), ..pending },
                None => pending,
            }
        });
        if let Some(deadlock) = &mut report.summary.deadlock {
            deadlock.own_cycles = own_cycles;
        }
        report.warnings.extend(input.warnings());
        if job.records.lines {
            report.lines = input.all_lines(job.records.needs_text)?;
        }
        report.standard.clone_from(&input.sha256);
        Ok(report)
    }
}

/// Adds to an error that concerns one operation where that stands.
fn locate(failure: Failure, input: &Input) -> Failure {
    let Failure::Simulation(host::Error::Truncated { rank, receive, .. }) = &failure else {
        return failure;
    };
    match input.lines(&[(*rank, *receive)]).into_iter().flatten().next() {
        Some((line, text)) => {
            Failure::Input(format!("{failure}\n  at {}:{line}: {text}", input.source.name()))
        }
        None => failure,
    }
}

/// The origin of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Standard,
}

impl Source {
    /// Returns the name of the source in messages.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            Self::File(path) => path.to_string_lossy(),
            Self::Standard => "standard input".into(),
        }
    }
}

/// A schedule that was read.
#[derive(Debug)]
struct Input {
    source: Source,
    reading: Reading,
    /// The text of standard input or of a pipe, if it was a text, since it cannot be read again.
    text: Option<Vec<u8>>,
    /// SHA-256 of standard input, in hexadecimal.
    sha256: Option<String>,
}

impl Input {
    /// Reads a schedule in either form, and hashes it if it is lost then. The failure shows every
    /// error.
    fn read(source: &Source) -> Result<Self, Failure> {
        let read = match source {
            Source::File(path) if path.is_file() => goal::read(path).map(|reading| Self {
                source: source.clone(),
                reading,
                text: None,
                sha256: None,
            }),
            Source::File(path) => units::text::open(path)
                .map_err(ReadError::Io)
                .and_then(|file| Self::keep(source, file)),
            Source::Standard => Self::keep(source, io::stdin().lock()),
        };
        read.map_err(|error| Failure::Input(goal_errors(&source.name(), error)))
    }

    fn keep(source: &Source, mut input: impl Read) -> Result<Self, ReadError> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes)?;
        let sha256 = (*source == Source::Standard).then(|| manifest::hash_of(&bytes));
        let (reading, text) = if Form::of(&bytes) == Some(Form::Text) {
            let (image, warnings) = Image::from_text(&bytes).map_err(ReadError::Text)?;
            (Reading { image, form: Form::Text, warnings }, Some(bytes))
        } else {
            (goal::read_bytes(bytes)?, None)
        };
        Ok(Self { source: source.clone(), reading, text, sha256 })
    }

    /// The lines of operations, given as (rank, index), if the schedule was a text and still is
    /// there.
    fn lines(&self, ops: &[(u32, u32)]) -> Vec<Option<(u64, String)>> {
        if self.reading.form == Form::Binary || ops.is_empty() {
            return Vec::new();
        }
        self.text().map_or_else(|_| Vec::new(), |text| goal::source_line(&text, ops))
    }

    /// The operations that wait for each other within a rank, of the ranks of operations that can
    /// never finish, given as (rank, index) in order.
    fn own_cycles(&self, stuck: &[(u32, u32)]) -> Vec<OwnCycle> {
        let mut ranks: Vec<_> = stuck.iter().map(|(rank, _)| *rank).collect();
        ranks.dedup();
        let cycles = goal::cycles(&self.reading.image, ranks);
        let first = |cycle: &goal::Cycle| (cycle.rank, cycle.operations.first().copied());
        let places: Vec<_> =
            cycles.iter().map(first).map(|(rank, op)| (rank, op.unwrap_or(0))).collect();
        let mut lines = self.lines(&places).into_iter();
        let own = |goal::Cycle { rank, operations, stuck }| {
            let line = lines.next().flatten().map(|(number, _)| number);
            OwnCycle { rank, operations, stuck, line }
        };
        cycles.into_iter().map(own).collect()
    }

    /// The lines of all operations, if the schedule was a text. It is an error if this is not
    /// there any more, but only if the lines are `needed`.
    fn all_lines(&self, needed: bool) -> Result<Lines, Failure> {
        if self.reading.form == Form::Binary {
            return Ok(Lines::default());
        }
        match self.text() {
            Ok(text) => {
                let operations = goal::operation_lines(&text);
                Ok(Lines { operations, text: Some(text.into_owned()) })
            }
            Err(error) if needed => {
                Err(Failure::Input(goal_errors(&self.source.name(), ReadError::Io(error))))
            }
            Err(_) => Ok(Lines::default()),
        }
    }

    /// The text, read again unless it was kept.
    fn text(&self) -> io::Result<Cow<'_, [u8]>> {
        match (&self.text, &self.source) {
            (Some(text), _) => Ok(text.into()),
            (None, Source::File(path)) => units::text::bytes(path).map(Cow::from),
            (None, Source::Standard) => Ok(Cow::default()),
        }
    }

    /// Returns a warning that counts the schedule's warnings and names the command that shows them.
    fn warnings(&self) -> Option<String> {
        let name = self.source.name();
        let argument = if self.source == Source::Standard { "-".into() } else { name.clone() };
        match self.reading.warnings.len() {
            0 => None,
            count => {
                Some(format!("{name}: {count} warnings; `heddle check {argument}` shows them"))
            }
        }
    }
}

/// Everything that is wrong with a GOAL file of this name.
pub fn goal_errors(name: &str, error: ReadError) -> String {
    match error {
        ReadError::Io(error) => {
            format!("error: {name}: {}", unread(Path::new(name), &error))
        }
        ReadError::Text(diagnostics) => {
            diagnostics.iter().map(|diagnostic| diagnostic.render(name)).collect()
        }
        error => format!("error: {name}: {error}"),
    }
}
