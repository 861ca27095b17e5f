//! Carrying out a plan.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

use host::{Outcome, RankTotals, Record};
use kernel::{Probe, Silent};
use results::{
    Artifact, Collector, Pending, Performance, Recorded, RunDirectory, Summary, Wanted,
};
use schedule::{Program, goal};

use crate::{
    diagnostic::{Mistakes, reason},
    manifest,
    meter::Meter,
    plan::{Output, Plan, Timeline},
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
            let simulated = simulate(plan, &reading.image)?;
            let mut lines = lines(path, reading.form, &simulated.outcome).into_iter();
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
    goal::read(path).map_err(|error| Failure::Input(goal_errors(&path.display().to_string(), error)))
}

/// Everything that is wrong with a GOAL file of this name.
pub fn goal_errors(name: &str, error: goal::ReadError) -> String {
    match error {
        goal::ReadError::Io(error) => format!("error: {name}: {}", reason(&error)),
        goal::ReadError::Binary(error) => format!("error: {name}: {error}"),
        goal::ReadError::Text(diagnostics) => {
            diagnostics.iter().map(|diagnostic| diagnostic.render(name)).collect()
        }
    }
}

fn summary_of(warnings: &[goal::Diagnostic], path: &Path) -> Option<String> {
    let path = path.display();
    match warnings.len() {
        0 => None,
        count => Some(format!("{path}: {count} warnings; `heddle check {path}` shows them")),
    }
}

fn simulate(plan: &Plan, program: &impl Program) -> Result<Simulated, Failure> {
    let timeline = plan.output.as_ref().is_some_and(|output| output.timeline.is_some());
    let messages = plan.output.as_ref().is_some_and(|output| output.messages);
    let wanted = Wanted { messages: messages || timeline, slices: timeline };
    let meter = Meter::new(program);
    match (wanted == Wanted::default(), meter.is_watched()) {
        (true, false) => {
            let (outcome, _, took) = timed(plan, program, || Silent)?;
            Ok(Simulated { outcome, recorded: Recorded::default(), took })
        }
        (_, false) => {
            let (outcome, collectors, took) = timed(plan, program, || Collector::new(wanted))?;
            Ok(Simulated { outcome, recorded: Collector::merge(collectors), took })
        }
        (_, true) => {
            let probe = || meter.probe(Collector::new(wanted));
            let (outcome, probes, took) = meter.during(|| timed(plan, program, probe))?;
            let collectors = probes.into_iter().map(|probe| probe.inner).collect();
            Ok(Simulated { outcome, recorded: Collector::merge(collectors), took })
        }
    }
}

fn timed<B: Probe<Record>>(
    plan: &Plan,
    program: &impl Program,
    probe: impl Fn() -> B,
) -> Result<(Outcome, Vec<B>, Duration), host::Error> {
    let start = Instant::now();
    let (outcome, probes) = if plan.loggopsim {
        let (outcome, probe) = host::simulate_loggopsim(program, &plan.settings, probe())?;
        (outcome, vec![probe])
    } else {
        host::simulate(program, &plan.settings, probe)?
    };
    Ok((outcome, probes, start.elapsed()))
}

fn describe(program: &impl Program, op: &host::PendingOp) -> Pending {
    Pending::new(op, &program.op(op.rank, op.index))
}

/// The lines of the pending operations, if the schedule was a text and still is there.
fn lines(path: &Path, form: goal::Form, outcome: &Outcome) -> Vec<Option<(u64, String)>> {
    match (&outcome.deadlock, form) {
        (Some(deadlock), goal::Form::Text) => {
            let ops: Vec<_> = deadlock.pending.iter().map(|op| (op.rank, op.index)).collect();
            goal::source_line(&fs::read(path).unwrap_or_default(), &ops)
        }
        _ => Vec::new(),
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
        Some(Timeline::Perfetto) => directory
            .write(Artifact::Perfetto, |out| results::write_perfetto(out, ranks, recorded)),
        Some(Timeline::Paje) => {
            directory.write(Artifact::Paje, |out| results::write_paje(out, ranks, recorded))
        }
        None => Ok(()),
    }
}
