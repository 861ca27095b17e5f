//! Carrying out a plan.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

use host::{Outcome, RankTotals, Record, Settings};
use kernel::{Probe, Silent};
use results::{Artifact, Collector, Pending, Performance, Recorded, RunDirectory, Summary, Wanted};
use schedule::{Program, goal};

use crate::{
    diagnostic::{Mistakes, reason},
    manifest,
    plan::{Output, Plan, Timeline},
    progress,
    registry::Workload,
};

/// What a run found out.
#[derive(Debug)]
pub struct Report {
    /// What comes out the same every time.
    pub summary: Summary,
    /// What does not.
    pub performance: Performance,
    /// Totals, by rank.
    pub ranks: Vec<RankTotals>,
    /// What the tables and timelines that were asked for need, and nothing else.
    pub recorded: Recorded,
    /// What is odd about the inputs.
    pub warnings: Vec<String>,
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
}

/// A simulation that was carried out.
struct Simulated {
    outcome: Outcome,
    recorded: Recorded,
    took: Duration,
}

/// Carries out a plan and writes what it asks for. Shows progress on standard error if that is a
/// terminal.
pub fn run(plan: &Plan) -> Result<Report, Failure> {
    let start = Instant::now();
    let directory = match &plan.output {
        Some(output) => Some(RunDirectory::create(&output.directory, output.force)?),
        None => None,
    };
    match &plan.workload {
        Workload::Pattern(pattern) => {
            let simulated = simulate(plan, pattern)?;
            finish(plan, start, directory, simulated, |op| describe(pattern, op))
        }
        Workload::Goal(path) => {
            let reading = read_goal(path)?;
            let simulated = simulate(plan, &reading.image)
                .map_err(|error| locate(error, path, reading.form))?;
            let pending = simulated.outcome.deadlock.iter().flat_map(|deadlock| &deadlock.pending);
            let pending: Vec<_> = pending.map(|op| (op.rank, op.index)).collect();
            let mut lines = lines(path, reading.form, &pending).into_iter();
            let mut report = finish(plan, start, directory, simulated, |op| {
                let pending = describe(&reading.image, op);
                match lines.next().flatten() {
                    Some((line, text)) => Pending { line: Some(line), text: Some(text), ..pending },
                    None => pending,
                }
            })?;
            report.warnings.extend(summary_of(&reading.warnings, path));
            Ok(report)
        }
    }
}

/// Reads a GOAL file in either form. The failure shows every error.
pub fn read_goal(path: &Path) -> Result<goal::Reading, Failure> {
    goal::read(path)
        .map_err(|error| Failure::Input(goal_errors(&path.display().to_string(), error)))
}

/// Everything that is wrong with a GOAL file of this name.
pub fn goal_errors(name: &str, error: goal::ReadError) -> String {
    match error {
        goal::ReadError::Io(error) => format!("error: {name}: {}", reason(&error)),
        goal::ReadError::Text(diagnostics) => {
            diagnostics.iter().map(|diagnostic| diagnostic.render(name)).collect()
        }
        error => format!("error: {name}: {error}"),
    }
}

fn summary_of(warnings: &[goal::Diagnostic], path: &Path) -> Option<String> {
    let path = path.display();
    match warnings.len() {
        0 => None,
        count => Some(format!("{path}: {count} warnings; `heddle check {path}` shows them")),
    }
}

fn simulate(plan: &Plan, program: &impl Program) -> Result<Simulated, host::Error> {
    let timeline = plan.output.as_ref().is_some_and(|output| output.timeline.is_some());
    let messages = plan.output.as_ref().is_some_and(|output| output.messages);
    let slices = match (timeline, plan.gantt) {
        (true, _) => u32::MAX,
        (false, true) => results::GANTT_RANKS,
        (false, false) => 0,
    };
    let wanted = Wanted { messages: messages || timeline, slices };
    progress::during(program, &plan.settings, |settings| {
        let start = Instant::now();
        let (outcome, recorded) = if wanted == Wanted::default() {
            let (outcome, _) = by_rules(plan.loggopsim, program, settings, || Silent)?;
            (outcome, Recorded::default())
        } else {
            let probe = || Collector::new(wanted);
            let (outcome, collectors) = by_rules(plan.loggopsim, program, settings, probe)?;
            (outcome, Collector::merge(collectors))
        };
        Ok(Simulated { outcome, recorded, took: start.elapsed() })
    })
}

fn by_rules<B: Probe<Record>>(
    loggopsim: bool,
    program: &impl Program,
    settings: &Settings,
    probe: impl Fn() -> B,
) -> Result<(Outcome, Vec<B>), host::Error> {
    if loggopsim {
        let (outcome, probe) = host::simulate_loggopsim(program, settings, probe())?;
        Ok((outcome, vec![probe]))
    } else {
        host::simulate(program, settings, probe)
    }
}

fn describe(program: &impl Program, op: &host::PendingOp) -> Pending {
    Pending::new(op, &program.op(op.rank, op.index))
}

/// The lines of operations, given as (rank, index), if the schedule was a text and still is there.
fn lines(path: &Path, form: goal::Form, ops: &[(u32, u32)]) -> Vec<Option<(u64, String)>> {
    if form == goal::Form::Binary || ops.is_empty() {
        return Vec::new();
    }
    goal::source_line(&fs::read(path).unwrap_or_default(), ops)
}

/// Adds to an error that concerns one operation where that stands.
fn locate(error: host::Error, path: &Path, form: goal::Form) -> Failure {
    let host::Error::Truncated { rank, receive, .. } = error else {
        return error.into();
    };
    match lines(path, form, &[(rank, receive)]).into_iter().flatten().next() {
        Some((line, text)) => {
            Failure::Input(format!("error: {error}\n  at {}:{line}: {text}", path.display()))
        }
        None => error.into(),
    }
}

/// Sums up a simulation and writes what the plan asks for.
fn finish(
    plan: &Plan,
    start: Instant,
    directory: Option<RunDirectory>,
    simulated: Simulated,
    describe: impl FnMut(&host::PendingOp) -> Pending,
) -> Result<Report, Failure> {
    let Simulated { outcome, recorded, took } = simulated;
    let summary = Summary::new(&outcome, describe);
    let threads = if plan.loggopsim { 1 } else { plan.settings.threads };
    if let (Some(mut directory), Some(output)) = (directory, &plan.output) {
        write(&mut directory, plan, output, &outcome, &recorded, &summary)?;
        let performance = Performance::measure(start, took, threads, &summary);
        directory.write(Artifact::Performance, |out| results::write_pretty(out, &performance))?;
        directory.finish()?;
    }
    Ok(Report {
        performance: Performance::measure(start, took, threads, &summary),
        summary,
        ranks: outcome.ranks,
        recorded,
        warnings: Vec::new(),
    })
}

fn write(
    directory: &mut RunDirectory,
    plan: &Plan,
    output: &Output,
    outcome: &Outcome,
    recorded: &Recorded,
    summary: &Summary,
) -> Result<(), results::Error> {
    let ranks = outcome.ranks.len() as u32;
    directory.write(Artifact::Manifest, |out| {
        let text = manifest::write(&plan.configuration, &plan.inputs, &output.directory)?;
        io::Write::write_all(out, text.as_bytes())
    })?;
    directory.write(Artifact::Summary, |out| results::write_pretty(out, summary))?;
    if output.ranks {
        directory.write(Artifact::Ranks, |out| results::write_ranks(out, &outcome.ranks))?;
    }
    if output.messages {
        directory
            .write(Artifact::Messages, |out| results::write_messages(out, &recorded.messages))?;
    }
    match output.timeline {
        Some(Timeline::Perfetto) => {
            directory.write(Artifact::Perfetto, |out| results::write_perfetto(out, ranks, recorded))
        }
        Some(Timeline::Paje) => {
            directory.write(Artifact::Paje, |out| results::write_paje(out, ranks, recorded))
        }
        None => Ok(()),
    }
}
