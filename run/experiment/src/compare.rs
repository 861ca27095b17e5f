//! Comparing runs call by call: recorded ones, as traces, and simulated ones, as run directories.

use std::{
    collections::BTreeMap,
    io::Write,
    path::{Path, PathBuf},
};

use calls::Class;
use results::{Artifact, Call, CallRow, CallTimeline, Reader};
use traces::{record::Record, source::Traces};
use units::Time;

use crate::job::{Failure, unreadable};

/// A count of calls and the time that they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The number of calls.
    pub count: u64,
    /// The time, over all ranks.
    pub time: Time,
}

impl Spent {
    pub(crate) fn add(&mut self, time: Time) {
        self.count += 1;
        self.time = self.time.saturating_add(time);
    }
}

/// The calls of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankTime {
    /// The time at which it entered `MPI_Finalize`, or left its last call, since it left
    /// `MPI_Init`.
    pub end: Time,
    /// Its time in calls.
    pub calls: Spent,
}

/// A run, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The name of the run on the command line.
    pub name: String,
    /// True if the run was recorded, false if it was simulated.
    pub recorded: bool,
    /// By call.
    pub calls: BTreeMap<String, Spent>,
    /// By rank, of those that made a call. A rank's number may come from a table, and so says
    /// nothing about how many there are.
    pub ranks: BTreeMap<u32, RankTime>,
    /// Oddities of the input.
    pub warnings: Vec<String>,
}

impl Side {
    /// The number of ranks, as far as calls tell.
    pub fn rank_count(&self) -> u64 {
        self.ranks.last_key_value().map_or(0, |(rank, _)| u64::from(*rank) + 1)
    }

    /// The latest end of a rank.
    pub fn makespan(&self) -> Time {
        self.ranks.values().map(|rank| rank.end).max().unwrap_or(Time::ZERO)
    }

    /// Time in calls, over all ranks.
    pub fn in_calls(&self) -> Time {
        let times = self.ranks.values().map(|rank| rank.calls.time);
        times.fold(Time::ZERO, Time::saturating_add)
    }

    /// Time outside of calls until the ranks' ends, over all ranks.
    pub fn outside(&self) -> Time {
        let times = self.ranks.values().map(|rank| rank.end.saturating_sub(rank.calls.time));
        times.fold(Time::ZERO, Time::saturating_add)
    }

    fn add(&mut self, call: &Call<&str>) {
        let took = call.leave.saturating_sub(call.enter);
        let rank = self.ranks.entry(call.rank).or_default();
        rank.end = rank.end.max(call.leave);
        rank.calls.add(took);
        if let Some(spent) = self.calls.get_mut(call.name) {
            spent.add(took);
        } else {
            self.calls.insert(call.name.to_owned(), Spent { count: 1, time: took });
        }
    }
}

/// The origin of a run's calls.
enum Source {
    Traces(Traces),
    Table(PathBuf),
}

type Each<'a> = dyn FnMut(&Call<&str>) -> Result<(), Failure> + 'a;

impl Source {
    fn find(path: &Path) -> Result<Self, Failure> {
        let fail = |message: String| Failure::Input(format!("error: {message}"));
        let shown = path.display();
        let table = Artifact::Calls.path(path);
        if table.is_file() {
            return Ok(Self::Table(table));
        }
        if path.join(Artifact::Manifest.file_name()).is_file() {
            return Err(fail(format!(
                "{shown}: this run has no table of calls\n\
                 \x20 help: run it again with --tables ranks,calls, if it runs traces or a \
                 program; heddle report A B compares any runs"
            )));
        }
        let traces = Traces::find(path).map_err(|error| {
            fail(format!(
                "{error}\n  help: it is not the folder of a run either, which has a manifest.json"
            ))
        })?;
        Ok(Self::Traces(traces))
    }

    /// Looks at all calls, those of a thread in order, and returns what is odd about the input.
    fn visit(&self, each: &mut Each) -> Result<Vec<String>, Failure> {
        match self {
            Self::Traces(traces) => {
                let mut warnings = Vec::new();
                for rank in 0..traces.ranks() {
                    warnings.extend(visit_trace(traces, rank, each)?);
                }
                Ok(warnings)
            }
            Self::Table(path) => visit_table(path, each).map(|()| Vec::new()),
        }
    }
}

/// Looks at the calls of a recorded rank, from the moment at which it leaves `MPI_Init`, and
/// returns what is odd about its trace.
fn visit_trace(traces: &Traces, rank: u32, each: &mut Each) -> Result<Vec<String>, Failure> {
    let fail = |error| Failure::Input(format!("error: {error}"));
    let mut stream = traces.open(rank).map_err(fail)?;
    let mut record = Record::default();
    let mut start = 0;
    while stream.next(&mut record).map_err(fail)? {
        let Some(call) = record.call() else { continue };
        let since = |at: u64| Time::from_ps(at.saturating_sub(start));
        let (enter, mut leave) = (since(record.enter), since(record.leave));
        match call.class {
            Class::Init => start = record.leave,
            Class::Local | Class::WinSync | Class::Region | Class::Abort => {}
            _ => {
                // The schedule ends here.
                if call.class == Class::Finalize {
                    leave = enter;
                }
                let (thread, name) = (record.thread, call.name);
                each(&Call { rank, thread, name, place: "", enter, leave })?;
            }
        }
    }
    let (errors, warnings) = stream.findings();
    if errors.is_empty() { Ok(warnings) } else { Err(Failure::Input(errors.concat())) }
}

fn visit_table(path: &Path, each: &mut Each) -> Result<(), Failure> {
    for row in Reader::<CallRow>::open(path).map_err(unreadable)? {
        let CallRow { rank, thread, call, enter, leave, .. } = row.map_err(unreadable)?;
        // A deadlock kept the others from happening.
        if let (Some(enter), Some(leave)) = (enter, leave) {
            each(&Call { rank, thread, name: &call, place: "", enter, leave })?;
        }
    }
    Ok(())
}

/// Two runs side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The first.
    pub a: Side,
    /// The second.
    pub b: Side,
}

/// Reads both runs and sums them up; both go to the timeline, if there is one. Each is looked at
/// call by call, so that memory is enough for runs of any length.
pub fn compare(
    paths: [&Path; 2],
    timeline: Option<(&Path, &mut dyn Write)>,
) -> Result<Comparison, Failure> {
    let sources = [Source::find(paths[0])?, Source::find(paths[1])?];
    let file = timeline.as_ref().map_or(Path::new(""), |(file, _)| *file);
    let mut timeline = timeline.map(|(_, out)| CallTimeline::new(out));
    let failed = |source| Failure::Output(results::Error::Io { path: file.to_owned(), source });
    let mut sides = [Side::default(), Side::default()];
    for ((side, source), path) in sides.iter_mut().zip(&sources).zip(paths) {
        side.name = path.display().to_string();
        side.recorded = matches!(source, Source::Traces(_));
        if let Some(timeline) = &mut timeline {
            let kind = if side.recorded { "recorded" } else { "simulated" };
            timeline.run(&format!("{} ({kind})", side.name)).map_err(failed)?;
        }
        side.warnings = source.visit(&mut |call| {
            side.add(call);
            timeline.as_mut().map_or(Ok(()), |timeline| timeline.call(call)).map_err(failed)
        })?;
    }
    if let Some(timeline) = timeline {
        timeline.finish().map_err(failed)?;
    }
    let [a, b] = sides;
    if a.rank_count() != b.rank_count() {
        let message = format!(
            "error: {} has {} ranks, {} has {}: they are not the same run",
            a.name,
            a.rank_count(),
            b.name,
            b.rank_count()
        );
        return Err(Failure::Input(message));
    }
    Ok(Comparison { a, b })
}
