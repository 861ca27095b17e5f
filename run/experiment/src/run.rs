//! Carrying out a plan.

use std::{
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

use collectives::program::Scheduled;
use flow::Loads;
use host::{Outcome, RankTotals, Record, Settings, Work};
use infiniband::Infiniband;
use kernel::{Probe, Silent};
use results::{
    Artifact, Call, Collector, MessageTable, Pending, Performance, Recorded, RunDirectory, Summary,
    Wanted, plural,
};
use schedule::Program;
use traffic::{Watch, Watched};

use crate::{
    diagnostic::{Mistakes, reason},
    flow_machine::{Carried, FlowMachine},
    goal_input::Input,
    live_run::{self, Held, Lived},
    manifest, memory,
    network_tables::{self, Both},
    plan::{Output, Plan, Timeline},
    progress,
    registry::{Operation, Workload},
    trace_input,
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
    /// The MPI calls of traces, if they were asked for.
    pub calls: Vec<Call>,
    /// What links had to carry, where the model tells.
    pub links: Vec<Carried>,
    /// The exit code of a live program.
    pub code: i32,
    /// Why some of what it printed was lost, if it was.
    pub unprinted: Option<io::Error>,
}

/// How a live program ended before its time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error: rank {rank} at {time}: {how}")]
pub struct Ending {
    /// The rank that ended it.
    pub rank: u32,
    /// When.
    pub time: units::Time,
    /// How, in words.
    pub how: String,
    /// The exit code.
    pub code: i32,
}

impl Ending {
    fn new(ended: &live::Ended) -> Self {
        let aborted = || format!("MPI_Abort with code {}", ended.code);
        let how = ended.how.clone().unwrap_or_else(aborted);
        Self { rank: ended.rank, time: units::Time::from_ps(ended.time), how, code: ended.code }
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
pub(crate) fn unreadable(error: results::ReadError) -> Failure {
    let text = match error {
        results::ReadError::Io { path, source } => {
            format!("{}: {}", path.display(), reason(&source))
        }
        wrong => wrong.to_string(),
    };
    Failure::Input(format!("error: {text}"))
}

/// A simulation that was carried out.
struct Simulated {
    outcome: Outcome,
    recorded: Recorded,
    /// The MPI calls of traces, if they are to be written.
    calls: Vec<Call>,
    /// The table of messages, if it is to be written and no timeline needs the messages.
    messages: Option<MessageTable>,
    /// What the records of a network say, if that is to be written, and of which one.
    watched: Option<(Watched, Infiniband)>,
    links: Vec<Carried>,
    /// Regions of computation of live ranks, if they are to be written.
    computed: Vec<Vec<u64>>,
    took: Duration,
}

/// Carries out a plan and writes what it asks for. Shows progress on standard error if that is a
/// terminal.
pub fn run(plan: &Plan) -> Result<Report, Failure> {
    run_held(plan, None)
}

/// The same; live programs are held by what `make` makes, or else each rank by a process.
pub fn run_held(plan: &Plan, make: Option<live::MakeRunner<'_>>) -> Result<Report, Failure> {
    let start = Instant::now();
    let directory = match &plan.output {
        Some(output) => Some(RunDirectory::create(&output.directory, output.force)?),
        None => None,
    };
    match &plan.workload {
        Workload::Pattern(pattern) => {
            let simulated = simulate(plan, pattern, 0)?;
            finish(plan, start, directory, simulated, None, |op| describe(pattern, op))
        }
        Workload::Traces(path) => {
            let wanted = plan.wants_calls();
            let compiled =
                trace_input::compile(path, &plan.configuration, plan.flow.as_ref(), wanted)?;
            let image = &compiled.image;
            let mut simulated = simulate(plan, image, image.bytes().len() as u64)?;
            simulated.calls = trace_input::calls(&compiled, &simulated.recorded);
            let mut report =
                finish(plan, start, directory, simulated, None, |op| describe(image, op))?;
            report.warnings.extend(compiled.warnings);
            Ok(report)
        }
        Workload::Programs(programs) => live(plan, programs, make, start, directory),
        Workload::Automatic(operation) => {
            let (collective, remark) = best(plan, operation)?;
            let mut simulated = simulate(plan, &collective, 0)?;
            simulated.outcome.remarks.push(remark);
            finish(plan, start, directory, simulated, None, |op| describe(&collective, op))
        }
        Workload::Collective(collective) => {
            let simulated = simulate(plan, collective, 0)?;
            finish(plan, start, directory, simulated, None, |op| describe(collective, op))
        }
        Workload::Goal(source) => {
            let input = Input::read(source, plan.output.is_some())?;
            goal(plan, &input, start, directory)
        }
    }
}

/// Carries out a plan whose schedule may have been read before: what cannot be read twice is kept
/// in `input`.
pub(crate) fn run_again(plan: &Plan, input: &mut Option<Input>) -> Result<Report, Failure> {
    let Workload::Goal(source) = &plan.workload else { return run(plan) };
    let start = Instant::now();
    let known = input.take().filter(|input| input.source == *source);
    let read = known.map_or_else(|| Input::read(source, false), Ok)?;
    goal(plan, input.insert(read), start, None)
}

/// Runs a schedule.
fn goal(
    plan: &Plan,
    input: &Input,
    start: Instant,
    directory: Option<RunDirectory>,
) -> Result<Report, Failure> {
    let image = &input.reading.image;
    let simulated = simulate(plan, image, image.bytes().len() as u64)
        .map_err(|failure| locate(failure, input))?;
    let pending = simulated.outcome.deadlock.iter().flat_map(|deadlock| &deadlock.pending);
    let pending: Vec<_> = pending.map(|op| (op.rank, op.index)).collect();
    let mut lines = input.lines(&pending).into_iter();
    let mut report = finish(plan, start, directory, simulated, input.sha256.as_deref(), |op| {
        let pending = describe(image, op);
        match lines.next().flatten() {
            Some((line, text)) => Pending { line: Some(line), text: Some(text), ..pending },
            None => pending,
        }
    })?;
    report.warnings.extend(input.warnings());
    Ok(report)
}

/// Runs live programs.
fn live(
    plan: &Plan,
    programs: &[live::Launch],
    make: Option<live::MakeRunner<'_>>,
    start: Instant,
    directory: Option<RunDirectory>,
) -> Result<Report, Failure> {
    let first = live_run::first(programs);
    let spare = match (&plan.machine, &plan.flow) {
        (Some(machine), _) => Some(machine.spare(first).map_err(Failure::Input)?),
        (None, Some(flow)) => Some(flow.spare(first).map_err(Failure::Input)?),
        (None, None) => None,
    };
    let room = match make {
        Some(_) => live::Room { more: 0, universe: first },
        None => live_run::room(&plan.configuration, first, spare),
    };
    let hosts = hosts(plan, first + room.more)?;
    let keep = plan.output.as_ref().is_some_and(|output| output.computation);
    let lived = live_run::with(
        programs,
        &plan.configuration,
        plan.flow.as_ref(),
        Held { make, room, printing: plan.printing, hosts, keep },
        |live| carry_out(plan, live, 0, |_| None),
        |simulated| simulated.outcome.deadlock.is_some(),
    )?;
    let Lived { outcome: mut simulated, ranks, strangers, ended, computed, code, unprinted } =
        lived;
    if let Some(ended) = ended {
        return Err(Failure::Ended(Ending::new(&ended)));
    }
    simulated.computed = computed;
    simulated.outcome.ranks.truncate(ranks as usize);
    let stuck = simulated.outcome.deadlock.as_ref();
    let places = stuck.map_or_else(Vec::new, |stuck| stuck.places.clone());
    let mut report = finish(plan, start, directory, simulated, None, |op| {
        Pending::of_call(op, places.iter().find(|place| place.rank == op.rank))
    })?;
    (report.code, report.unprinted) = (code, unprinted);
    if strangers > 0 {
        report.warnings.push(format!(
            "{strangers} of {} never used MPI; if their program does, it is by another library than Heddle's: one that was \
             linked statically, or of another kind than Open MPI 4, MPICH or the standard binary interface",
            plural(ranks.into(), "rank")
        ));
    }
    Ok(report)
}

/// The hosts of live ranks, where the machine has hosts.
fn hosts(plan: &Plan, ranks: u32) -> Result<Option<live::Hosts>, Failure> {
    let (of, names) = match (&plan.machine, &plan.flow) {
        (Some(machine), _) => (machine.hosts(ranks), machine.topology.graph.host_names()),
        (None, Some(flow)) => (flow.hosts(ranks), flow.host_names()),
        (None, None) => return Ok(None),
    };
    let of = of.map_err(Failure::Input)?;
    Ok(Some(live::Hosts { of, names: names.into_iter().map(str::to_owned).collect() }))
}

/// Tries all algorithms of a collective; the first of the fastest, and a remark on all.
fn best(plan: &Plan, operation: &Operation) -> Result<(Scheduled, String), Failure> {
    let built = |name: &str| {
        operation.by(name).map_err(|error| Failure::Input(format!("error: {name}: {error}")))
    };
    let mut found = Vec::new();
    for name in operation.candidates() {
        let outcome = alone(plan, &built(name)?)?;
        let end = outcome.ranks.iter().map(|rank| rank.finish).max().unwrap_or_default();
        found.push((end, name));
    }
    found.sort_by_key(|(end, _)| *end);
    let Some(&(_, name)) = found.first() else {
        let message = "error: there is no algorithm to choose from".to_owned();
        return Err(Failure::Input(message));
    };
    let all: Vec<_> = found.iter().map(|(end, name)| format!("{name} {end}")).collect();
    let remark = format!("the best of {} algorithms: {}", found.len(), all.join(", "));
    Ok((built(name)?, remark))
}

/// Simulates a program and keeps nothing of it but the outcome.
fn alone(plan: &Plan, program: &impl Program) -> Result<Outcome, Failure> {
    let settings = &plan.settings;
    if let Some(flow) = &plan.flow {
        return Ok(flow.simulate(program, settings, Silent, Silent)?.0);
    }
    Ok(match &plan.machine {
        Some(machine) => {
            let (network, hosts) = machine.with(program.ranks()).map_err(Failure::Input)?;
            host::simulate_over(&network, Some(&hosts), program, settings, || Silent)?.0
        }
        None => by_rules(plan.loggopsim, program, settings, || Silent)?.0,
    })
}

/// Simulates a program of which `schedule` bytes are in memory already.
fn simulate(plan: &Plan, program: &impl Program, schedule: u64) -> Result<Simulated, Failure> {
    let expected = |network: Option<&_>| Some(progress::estimate(program, &plan.settings, network));
    carry_out(plan, program, schedule, expected)
}

/// What is to be recorded.
fn wanted(plan: &Plan, timeline: bool) -> Wanted {
    let messages = plan.output.as_ref().is_some_and(|output| output.messages);
    let slices = match (timeline, plan.gantt) {
        (true, _) => u32::MAX,
        (false, true) => results::GANTT_RANKS,
        (false, false) => 0,
    };
    let computations = plan.wants_calls();
    Wanted { messages: messages || timeline, slices, computations }
}

/// The folder that messages move to when there are many: that of the results, if they become a
/// table and nothing else.
fn stream_to(plan: &Plan) -> Option<&Path> {
    let output = plan.output.as_ref()?;
    let streams = output.messages && output.timeline.is_none();
    streams.then_some(output.directory.as_path())
}

/// The probe of a worker.
fn collector(plan: &Plan, wanted: Wanted) -> Collector {
    stream_to(plan)
        .map_or_else(|| Collector::new(wanted), |folder| Collector::streaming(wanted, folder))
}

/// Joins the probes of all workers.
fn merge(plan: &Plan, probes: Vec<Collector>) -> Result<(Recorded, Option<MessageTable>), Failure> {
    let folder = stream_to(plan);
    Collector::merge(probes, folder).map_err(|source| {
        let path = folder.unwrap_or(Path::new("")).join(Artifact::Messages.file_name());
        Failure::Output(results::Error::Io { path, source })
    })
}

/// Simulates something; `expected` estimates the work.
fn carry_out(
    plan: &Plan,
    program: &impl Work,
    schedule: u64,
    expected: impl FnOnce(Option<&(Infiniband, Vec<u32>)>) -> Option<results::Work>,
) -> Result<Simulated, Failure> {
    memory::suffices(program.ranks(), schedule)
        .map_err(|message| Failure::Input(format!("error: {message}")))?;
    let timeline = plan.output.as_ref().is_some_and(|output| output.timeline.is_some());
    let wanted = wanted(plan, timeline);
    let network = match &plan.machine {
        Some(machine) => Some(machine.with(program.ranks()).map_err(Failure::Input)?),
        None => None,
    };
    let total = || expected(network.as_ref());
    progress::during(total, &plan.settings, |settings| {
        let start = Instant::now();
        let probe = || collector(plan, wanted);
        let silent = wanted == Wanted::default();
        let tables = plan.output.as_ref().filter(|output| !output.network.is_empty());
        let mut watched = None;
        if let Some(flow) = &plan.flow {
            return over_flows(plan, flow, program, settings, (wanted, timeline));
        }
        let (outcome, (recorded, messages)) = match (&network, silent) {
            (Some((network, hosts)), _) if tables.is_some() => {
                let interval = plan.configuration.time("output.interval").unwrap_or_default();
                let probe = || Both(collector(plan, wanted), Watch::new(interval));
                let (outcome, probes) =
                    host::simulate_over(network, Some(hosts), program, settings, probe)?;
                let (collectors, seen) = Both::merge(probes);
                watched = Some((seen, network.clone()));
                (outcome, merge(plan, collectors)?)
            }
            (Some((network, hosts)), true) => {
                let (outcome, _) =
                    host::simulate_over(network, Some(hosts), program, settings, || Silent)?;
                (outcome, (Recorded::default(), None))
            }
            (Some((network, hosts)), false) => {
                let (outcome, probes) =
                    host::simulate_over(network, Some(hosts), program, settings, probe)?;
                (outcome, merge(plan, probes)?)
            }
            (None, true) => {
                let (outcome, _) = by_rules(plan.loggopsim, program, settings, || Silent)?;
                (outcome, (Recorded::default(), None))
            }
            (None, false) => {
                let (outcome, probes) = by_rules(plan.loggopsim, program, settings, probe)?;
                (outcome, merge(plan, probes)?)
            }
        };
        let (calls, links) = (Vec::new(), Vec::new());
        let (computed, took) = (Vec::new(), start.elapsed());
        Ok(Simulated { outcome, recorded, calls, messages, watched, links, computed, took })
    })
}

/// Simulates a program over flows; a timeline has the loads of links.
fn over_flows(
    plan: &Plan,
    flow: &FlowMachine,
    program: &impl Work,
    settings: &Settings,
    (wanted, timeline): (Wanted, bool),
) -> Result<Simulated, Failure> {
    let start = Instant::now();
    let (outcome, (recorded, messages), links) = if wanted == Wanted::default() {
        let (outcome, _, links, _) = flow.simulate(program, settings, Silent, Silent)?;
        (outcome, (Recorded::default(), None), links)
    } else if timeline {
        let probe = collector(plan, wanted);
        let (outcome, probe, links, loads) =
            flow.simulate(program, settings, Loads::default(), probe)?;
        let (recorded, messages) = merge(plan, vec![probe])?;
        (outcome, (Recorded { links: flow.loads(&loads), ..recorded }, messages), links)
    } else {
        let (outcome, probe, links, _) =
            flow.simulate(program, settings, Silent, collector(plan, wanted))?;
        (outcome, merge(plan, vec![probe])?, links)
    };
    let (calls, computed, watched, took) = (Vec::new(), Vec::new(), None, start.elapsed());
    Ok(Simulated { outcome, recorded, calls, messages, watched, links, computed, took })
}

fn by_rules<B: Probe<Record>>(
    loggopsim: bool,
    program: &impl Work,
    settings: &Settings,
    probe: impl Fn() -> B,
) -> Result<(Outcome, Vec<B>), host::Error> {
    if loggopsim {
        let imitated = program
            .by_loggopsim(settings, probe())
            .unwrap_or_else(|| Err(host::Error::Compat("a program that is known in advance")));
        let (outcome, probe) = imitated?;
        Ok((outcome, vec![probe]))
    } else {
        host::simulate(program, settings, probe)
    }
}

fn describe(program: &impl Program, op: &host::PendingOp) -> Pending {
    Pending::new(op, &program.op(op.rank, op.index))
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

/// Sums up a simulation and writes what the plan asks for; `standard` is the hash of standard
/// input.
fn finish(
    plan: &Plan,
    start: Instant,
    directory: Option<RunDirectory>,
    simulated: Simulated,
    standard: Option<&str>,
    describe: impl FnMut(&host::PendingOp) -> Pending,
) -> Result<Report, Failure> {
    let Simulated { outcome, recorded, calls, messages, watched, links, computed, took } =
        simulated;
    let folder = plan.output.as_ref().map_or(Path::new("."), |output| &output.directory);
    let parameters = manifest::parameters(&plan.configuration, folder).map_err(|source| {
        Failure::Output(results::Error::Io { path: folder.to_owned(), source })
    })?;
    let summary = Summary { parameters, ..Summary::new(&outcome, describe) };
    let threads = if plan.loggopsim || plan.flow.is_some() { 1 } else { plan.settings.threads };
    if let (Some(mut directory), Some(output)) = (directory, &plan.output) {
        let manifest = |out: &mut dyn Write| {
            let inputs = &plan.inputs;
            let text = manifest::write(&plan.configuration, inputs, standard, &output.directory)?;
            out.write_all(text.as_bytes())
        };
        directory.write(Artifact::Manifest, |out| manifest(out))?;
        write(&mut directory, output, &outcome, (&recorded, messages), &summary)?;
        if output.computation {
            directory
                .write(Artifact::Computation, |out| results::write_computation(out, &computed))?;
        }
        if output.calls {
            directory
                .write(Artifact::Calls, |out| results::write_calls(out, calls.iter().cloned()))?;
        }
        if let (Some((watched, network)), Some(machine)) = (watched, &plan.machine) {
            let end = outcome.ranks.iter().map(|rank| rank.finish).max().unwrap_or_default();
            let on = (&network, &machine.topology);
            network_tables::write(&mut directory, &output.network, &watched, on, end)?;
        }
        let performance = performance(start, took, threads, &summary);
        directory.write(Artifact::Performance, |out| results::write_pretty(out, &performance))?;
        directory.finish()?;
    }
    Ok(Report {
        performance: performance(start, took, threads, &summary),
        summary,
        ranks: outcome.ranks,
        recorded,
        warnings: Vec::new(),
        calls,
        links,
        code: 0,
        unprinted: None,
    })
}

fn performance(start: Instant, took: Duration, threads: usize, summary: &Summary) -> Performance {
    let events = summary.events.saturating_add(summary.signals);
    Performance::measure(start, took, threads, Some(events), summary.messages)
}

fn write(
    directory: &mut RunDirectory,
    output: &Output,
    outcome: &Outcome,
    (recorded, messages): (&Recorded, Option<MessageTable>),
    summary: &Summary,
) -> Result<(), results::Error> {
    let ranks = outcome.ranks.len() as u32;
    directory.write(Artifact::Summary, |out| results::write_pretty(out, summary))?;
    if output.ranks {
        directory.write(Artifact::Ranks, |out| results::write_ranks(out, &outcome.ranks))?;
    }
    if output.messages {
        directory.write(Artifact::Messages, |out| match messages {
            Some(table) => table.write(out),
            None => results::write_messages(out, &recorded.messages),
        })?;
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
