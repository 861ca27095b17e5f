//! A job: a workload on a machine, and who watches it.

use std::{
    io,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use host::{Meter, Outcome, PendingOp, RankTotals, Settings, Work};
use results::{Call, Lines, Pending, Performance, Summary, Tables, Wanted};
use schedule::Program;
use units::Time;

use crate::{
    estimate, memory,
    models::{Carried, Machine, Model, Run, Seen, Signals, Simulated},
    settings::diagnostic::{Mistakes, unread},
    workloads::Workload,
};

/// One run: what runs, on what, what is recorded, and who watches.
///
/// A job is silent: it prints nothing, writes nothing and ends no process. It keeps nothing: the
/// same job gives the same results each time, and any number of jobs share a workload or a machine,
/// also at the same time in several threads. Live programs print where the observers say, and run
/// in processes of their own or where [`Observers::make`] puts them.
pub struct Job<'a, W = Workload, M = Machine> {
    /// The workload.
    pub workload: &'a W,
    /// On what. It was made for this many jobs: topology and routes are not made again.
    pub machine: &'a M,
    /// The settings of the simulation.
    pub settings: &'a Settings,
    /// The records that are kept.
    pub records: Records,
    /// The folder that messages go to when there are many, if nothing but their table needs them.
    pub spill: Option<&'a Path>,
    /// The observer.
    pub observers: Observers<'a>,
}

/// The records that a job keeps besides the totals of ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Records {
    /// Every message with its times.
    pub messages: bool,
    /// The number of ranks, from the first, of which activity over time is recorded for a timeline.
    pub slices: u32,
    /// The lines that operations come from.
    pub lines: bool,
    /// True if a schedule without text is refused.
    pub needs_text: bool,
    /// The loads of links over time, where the model tells.
    pub loads: bool,
    /// The MPI calls of traces.
    pub calls: bool,
    /// The regions of computation of a live program, as measured.
    pub computation: bool,
    /// The records of the network, in intervals of this width.
    pub network: Option<Time>,
}

/// The observer of a job, and the holder of the ranks of a live program.
#[derive(Clone, Copy)]
pub struct Observers<'a> {
    /// The observer that is told how far the simulation is.
    pub progress: &'a dyn Observer,
    /// The function that makes the holder of a live program's ranks; without it each rank is a
    /// process.
    pub make: Option<live::MakeRunner<'a>>,
    /// The destination of what they print.
    pub printing: live::Printing,
}

impl Default for Observers<'_> {
    fn default() -> Self {
        Self { progress: &(), make: None, printing: live::Printing::Direct }
    }
}

/// Is told how far a simulation is.
///
/// A job calls [`Observer::meter`] before each simulation. If there is one, it counts there while
/// it simulates, which costs a little, and calls [`Observer::begins`] before and [`Observer::ends`]
/// after, from the thread that runs the job. Nothing that an observer does changes the results.
pub trait Observer: Sync {
    /// The meter on which the simulation counts; `None` if nobody looks.
    fn meter(&self) -> Option<Arc<Meter>> {
        None
    }

    /// A simulation begins; `total` is about how much it is, if that is known.
    fn begins(&self, _total: Option<results::Work>) {}

    /// The simulation that began is over, or has failed.
    fn ends(&self) {}
}

/// Nobody.
impl Observer for () {}

/// The results of a job, in memory.
#[derive(Debug)]
pub struct Report {
    /// The figures that are the same every time.
    pub summary: Summary,
    /// The figures that differ from time to time: wall time, CPU time, memory.
    pub performance: Performance,
    /// The outcome of each rank.
    pub outcome: Outcome,
    /// The records of messages, busy periods and computation that were asked for.
    pub tables: Tables,
    /// Warnings about the inputs.
    pub warnings: Vec<String>,
    /// The MPI calls of traces, if they were asked for.
    pub calls: Vec<Call>,
    /// The lines that operations come from, if they were asked for.
    pub lines: Lines,
    /// The records of the network, if they were asked for.
    pub network: Option<Seen>,
    /// Regions of computation of live ranks in nanoseconds, by rank, if they were asked for.
    pub computed: Vec<Vec<u64>>,
    /// The bytes that links carried, where the model counts them.
    pub links: Vec<Carried>,
    /// The exit code of a live program.
    pub code: i32,
    /// Why some of what it printed was lost, if it was.
    pub unprinted: Option<io::Error>,
    /// SHA-256 of a schedule on standard input, in hexadecimal.
    pub standard: Option<String>,
}

impl Report {
    /// Totals, by rank.
    pub fn ranks(&self) -> &[RankTotals] {
        &self.outcome.ranks
    }
}

/// The early end of a live program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error: rank {rank} at {time}: {how}")]
pub struct Ending {
    /// The rank that ended it.
    pub rank: u32,
    /// The simulated time.
    pub time: Time,
    /// The reason, in words.
    pub how: String,
    /// The exit code.
    pub code: i32,
}

impl Ending {
    pub(crate) fn new(ended: &live::Ended) -> Self {
        let aborted = || format!("MPI_Abort with code {}", ended.code);
        let how = ended.how.clone().unwrap_or_else(aborted);
        Self { rank: ended.rank, time: Time::from_ps(ended.time), how, code: ended.code }
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The experiment is wrong.
    #[error("{0}")]
    Mistakes(#[from] Mistakes),
    /// An input is wrong or cannot be read; the text says where and why.
    #[error("{0}")]
    Input(String),
    /// The simulation could not be carried out.
    #[error("error: {0}")]
    Simulation(#[from] host::Error),
    /// Results could not be written.
    #[error("error: {0}")]
    Output(#[from] results::Error),
    /// A live program ended before its time.
    #[error("{0}")]
    Ended(Ending),
}

/// Describes why a table of an earlier run cannot be read.
pub fn unreadable(error: results::ReadError) -> Failure {
    let text = match error {
        results::ReadError::Io { path, source } => {
            format!("{}: {}", path.display(), unread(&path, &source))
        }
        wrong => wrong.to_string(),
    };
    Failure::Input(format!("error: {text}"))
}

/// A workload that a job can run: made once of settings, and run any number of times.
///
/// [`Runs::run`] makes a program for the machine, hands it to [`Job::simulate`] once (or more
/// often, to choose among several), and sums up with [`Job::report`]. It knows no model by name.
pub trait Runs: Sized + Sync {
    /// Runs it.
    ///
    /// # Errors
    /// If an input is wrong, or the simulation cannot be carried out.
    fn run<M: Model>(&self, job: &Job<'_, Self, M>, start: Instant) -> Result<Report, Failure>;
}

impl<W: Runs, M: Model> Job<'_, W, M> {
    /// Runs it.
    ///
    /// # Errors
    /// If an input is wrong, or the simulation cannot be carried out.
    pub fn run(&self) -> Result<Report, Failure> {
        let mut report = self.workload.run(self, Instant::now())?;
        let ranks = report.ranks().len() as u32;
        let hosts = self.machine.hosts(ranks).ok().flatten();
        report.summary.remarks.extend(hosts.and_then(|hosts| crowded(&hosts)));
        Ok(report)
    }
}

impl<W, M: Model> Job<'_, W, M> {
    /// Returns a job on the same machine for a part of the workload.
    pub fn of<'b, P>(&'b self, part: &'b P) -> Job<'b, P, M> {
        let Self { machine, settings, records, spill, observers, .. } = self;
        let (records, spill, observers) = (*records, *spill, *observers);
        Job { workload: part, machine, settings, records, spill, observers }
    }

    /// Simulates a program of which `schedule` bytes are in memory already.
    pub fn simulate(
        &self,
        program: &(impl Program + Work),
        schedule: u64,
    ) -> Result<Simulated, Failure> {
        let expected =
            |signals: &Signals<'_>| Some(estimate::work(program, self.settings, signals));
        self.carry_out(program, schedule, &expected)
    }

    /// Simulates something; `expected` estimates the work.
    pub fn carry_out(
        &self,
        program: &impl Work,
        schedule: u64,
        expected: &dyn Fn(&Signals<'_>) -> Option<results::Work>,
    ) -> Result<Simulated, Failure> {
        let ranks = Work::ranks(program);
        memory::suffices(ranks, schedule)
            .map_err(|message| Failure::Input(format!("error: {message}")))?;
        let Records { messages, slices, lines, loads, calls, network, .. } = self.records;
        self.machine.run(
            program,
            &Run {
                settings: self.settings,
                wanted: Wanted { messages, slices, operations: lines, computations: calls },
                timeline: loads,
                interval: network,
                spill: self.spill,
                observer: self.observers.progress,
                expected,
            },
        )
    }

    /// Simulates a program and keeps nothing of it but the outcome.
    pub fn alone(&self, program: &impl Work) -> Result<Outcome, Failure> {
        let run = Run {
            settings: self.settings,
            wanted: Wanted::default(),
            timeline: false,
            interval: None,
            spill: None,
            observer: &(),
            expected: &|_| None,
        };
        Ok(self.machine.run(program, &run)?.outcome)
    }

    /// Sums up a simulation; `describe` says what an operation that can never finish is.
    pub fn report(
        &self,
        start: Instant,
        simulated: Simulated,
        describe: impl FnMut(&PendingOp) -> Pending,
    ) -> Report {
        let Simulated { outcome, tables, calls, network, links, computed, took } = simulated;
        let summary = Summary::new(&outcome, describe);
        let threads = if self.machine.is_sequential() { 1 } else { self.settings.threads };
        Report {
            performance: performance(start, took, threads, &summary)
                .of_all(self.settings.transport),
            summary,
            outcome,
            tables,
            warnings: Vec::new(),
            calls,
            lines: Lines::default(),
            network,
            computed,
            links,
            code: 0,
            unprinted: None,
            standard: None,
        }
    }
}

/// A remark on how many ranks share a host, where there are more ranks than hosts.
fn crowded(hosts: &live::Hosts) -> Option<String> {
    let (ranks, names) = (hosts.of.len(), hosts.names.len());
    if ranks <= names {
        return None;
    }
    let mut counts = vec![0_u32; names];
    hosts.of.iter().for_each(|host| counts[*host as usize] += 1);
    let most = counts.into_iter().max().unwrap_or_default();
    Some(format!("{ranks} ranks on {names} hosts: up to {most} on each"))
}

/// An operation of a program that can never finish.
pub(crate) fn pending(program: &impl Program, op: &PendingOp) -> Pending {
    Pending::new(op, &program.op(op.rank, op.index))
}

/// Measures the time and memory that a run has taken until now.
pub(crate) fn performance(
    start: Instant,
    took: Duration,
    threads: usize,
    summary: &Summary,
) -> Performance {
    let events = summary.events.saturating_add(summary.signals);
    Performance::measure(start, took, threads, Some(events), summary.messages)
}
