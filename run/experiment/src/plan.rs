//! A checked experiment: everything in the types of those who carry it out.

use std::path::PathBuf;

use host::{Noise, Rendezvous, Settings, Transport};
use loggops::{Costs, Inject, Parameters};
use results::Artifact;
use units::{Time, TimePerByte};

use crate::{
    configuration::Configuration,
    diagnostic::{self, Diagnostic, Mistakes, Place},
    flow_machine::{self, FlowMachine},
    goal_input::Source,
    keys::KEYS,
    live_run,
    machine::{self, Machine},
    network_tables, noise, registry, trace_input,
    value::{Topology, Workload},
};

/// Keys that a schedule in a file does not have.
const PATTERN_KEYS: &[&str] = &[
    "workload.ranks",
    "workload.size",
    "workload.root",
    "workload.ways",
    "workload.segment",
    "workload.steps",
    "workload.compute",
    "workload.allreduce",
    "workload.grid",
    "workload.skew",
    "workload.seed",
    "workload.permute",
    "workload.algorithm",
    "workload.collectives",
    "workload.per-node",
    "workload.element",
    "workload.reduce-cost",
];

/// Keys of traces that a live program has not: all but the algorithms.
const OTHER_TRACE_KEYS: &[&str] = &[
    "traces.mode",
    "traces.clocks",
    "traces.recorded-on",
    "traces.scale",
    "traces.speed",
    "traces.map",
    "traces.copies",
    "traces.from",
    "traces.to",
    "traces.pin",
    "traces.connect",
];

/// An experiment that can be run.
#[derive(Debug)]
pub struct Plan {
    /// What runs.
    pub(crate) workload: registry::Workload,
    /// On what, if messages meet switches.
    pub(crate) machine: Option<Machine>,
    /// On what, if messages are flows.
    pub(crate) flow: Option<FlowMachine>,
    /// How it is simulated.
    pub settings: Settings,
    /// Whether by the rules of `LogGOPSim`.
    pub loggopsim: bool,
    /// What is written.
    pub output: Option<Output>,
    /// Whether a timeline is drawn on the terminal.
    pub gantt: bool,
    /// Where what live programs print goes.
    pub printing: live::Printing,
    /// Whether the report has the calls of traces, even if no table of them is written.
    pub(crate) calls: bool,
    /// What is odd about it, though it can be run.
    pub warnings: Vec<String>,
    /// The files that it reads.
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) configuration: Configuration,
}

/// What a run writes, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Output {
    /// The folder.
    pub directory: PathBuf,
    /// Whether it may hold something already.
    pub force: bool,
    /// Whether there is a table of ranks.
    pub ranks: bool,
    /// Whether there is a table of messages.
    pub messages: bool,
    /// Whether there is a table of MPI calls.
    pub calls: bool,
    /// Whether there is a table of the computation of live ranks.
    pub computation: bool,
    /// What is written of a network with switches.
    pub network: Vec<Artifact>,
    /// The timeline.
    pub timeline: Option<Timeline>,
}

/// What can be written of a network with switches.
const NETWORK: [(&str, Artifact); 4] = [
    ("lanes", Artifact::Lanes),
    ("flows", Artifact::Flows),
    ("hops", Artifact::Hops),
    ("links", Artifact::Links),
];

/// A format of timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeline {
    /// Perfetto's protobuf format.
    Perfetto,
    /// Pajé's text format.
    Paje,
}

impl Plan {
    /// Checks the settings against each other and against what they name. The error lists every
    /// mistake.
    pub fn new(configuration: Configuration) -> Result<Self, Mistakes> {
        let mut mistakes = Vec::new();
        let mut take =
            |found: Result<(), Vec<Diagnostic>>| mistakes.extend(found.err().into_iter().flatten());
        let mut noise = Noise::None;
        let mut workload = None;
        take(noise::resolve(&configuration).map(|found| noise = found));
        take(workload_of(&configuration).map(|found| workload = Some(found)));
        take(compatible(&configuration));
        take(without("traffic.", &configuration, "set the workload to traffic:NAME"));
        take(of_other_workloads(&configuration));
        let mut machine = None;
        take(machine::resolve(&configuration).map(|found| machine = found));
        let mut flow = None;
        take(flow_machine::resolve(&configuration).map(|found| flow = found));
        let output =
            output(&configuration).map_err(|mistake| mistakes.push(mistake)).ok().flatten();
        let mut warnings = Vec::new();
        let inputs = inputs(&configuration);
        unchanged(&configuration, &inputs, &mut warnings, &mut mistakes);
        let Some(workload) = workload.filter(|_| mistakes.is_empty()) else {
            diagnostic::sort(&mut mistakes);
            return Err(Mistakes(mistakes));
        };
        let traces = matches!(workload, registry::Workload::Traces(_));
        let live = matches!(workload, registry::Workload::Programs(_));
        tables(&configuration, output.as_ref(), (traces, live), machine.is_some())?;
        let loggopsim = configuration.word("loggops.compat") == "loggopsim";
        let in_process = live && configuration.switch("live.in-process");
        warnings.extend(without_effect(&configuration, loggopsim, flow.is_some(), live));
        warnings.extend(machine.iter_mut().flat_map(|machine| machine.warnings.drain(..)));
        warnings.extend(flow.iter_mut().flat_map(|flow| flow.warnings.drain(..)));
        let mut settings = settings(&configuration, noise);
        // Schedules made of traces count in picoseconds, and so do programs.
        settings.time_unit = if traces || live { Time::from_ps(1) } else { settings.time_unit };
        if in_process {
            // Ranks share the memory of the process: one runs at a time, and the simulator with it.
            settings.threads = 1;
        }
        let gantt = configuration.switch("output.gantt");
        Ok(Self {
            workload,
            machine,
            flow,
            settings,
            loggopsim,
            output,
            gantt,
            printing: live::Printing::Direct,
            calls: false,
            warnings,
            inputs,
            configuration,
        })
    }

    /// Whether the calls of traces are wanted.
    pub(crate) fn wants_calls(&self) -> bool {
        self.calls || self.output.as_ref().is_some_and(|output| output.calls)
    }

    /// The settings that it was made from.
    pub const fn configuration(&self) -> &Configuration {
        &self.configuration
    }
}

/// Whether a setting is one that live programs have.
pub fn is_of_programs(name: &str) -> bool {
    match name.split('.').next() {
        Some("workload") => trace_input::SHARED_KEYS.contains(&name),
        Some("traces") => !OTHER_TRACE_KEYS.iter().any(|other| name.starts_with(other)),
        Some("traffic") => false,
        _ => true,
    }
}

/// Refuses what belongs to traces or live programs where the workload is something else.
fn of_other_workloads(configuration: &Configuration) -> Result<(), Vec<Diagnostic>> {
    let tables: &[&str] = match (configuration.is_traces(), configuration.is_program()) {
        (true, _) => &[],
        (false, true) => OTHER_TRACE_KEYS,
        (false, false) => &["traces."],
    };
    let traces = "set the workload to the traces of a run";
    let refused = tables.iter().map(|table| without(table, configuration, traces));
    let mut mistakes: Vec<_> = refused.filter_map(Result::err).flatten().collect();
    if !configuration.is_program() {
        let live = without("live.", configuration, "heddle mpirun runs a program");
        mistakes.extend(live.err().into_iter().flatten());
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// What has no effect on a run, with a reason.
fn without_effect(
    configuration: &Configuration,
    loggopsim: bool,
    flow: bool,
    live: bool,
) -> Vec<String> {
    let in_process = live && configuration.switch("live.in-process");
    let alone = match (in_process, loggopsim, flow) {
        (true, ..) => Some("live.in-process = true"),
        (_, true, _) => Some("loggops.compat = \"loggopsim\""),
        // Of ranks that are processes, as many as there are threads compute at a time.
        (_, _, true) if !live => Some("network.model = \"flow\""),
        _ => None,
    };
    let mut warnings = Vec::new();
    if let Some(alone) = alone.filter(|_| configuration.count("run.threads") != Some(1)) {
        warnings.push(format!("run.threads has no effect: {alone} runs on one thread"));
    }
    if in_process && configuration.get("live.spawn").is_some() {
        warnings.push(
            "live.spawn has no effect: with live.in-process = true, no processes are started"
                .to_owned(),
        );
    }
    warnings
}

/// Refuses tables that the workload or the network does not have.
fn tables(
    configuration: &Configuration,
    output: Option<&Output>,
    (traces, live): (bool, bool),
    switches: bool,
) -> Result<(), Mistakes> {
    let wrong = |message| configuration.mistake("output.tables", message);
    let Some(output) = output else { return Ok(()) };
    if output.calls && !traces {
        return Err(Mistakes(vec![wrong("a table of calls needs traces as the workload")]));
    }
    if output.computation && !(live && configuration.word("live.compute") == "measured") {
        let message = "a table of computation needs a live program whose computation is measured";
        return Err(Mistakes(vec![wrong(message)]));
    }
    if !output.network.is_empty() && !switches {
        let help = "set network.model = \"infiniband\"".to_owned();
        let mistake = wrong("tables of the network need a network with switches").help(help);
        return Err(Mistakes(vec![mistake]));
    }
    if !output.network.is_empty() {
        network_tables::interval(configuration, "output.interval")
            .map_err(|mistake| Mistakes(vec![mistake]))?;
    }
    Ok(())
}

fn settings(configuration: &Configuration, noise: Noise) -> Settings {
    let default = Settings::default();
    Settings {
        parameters: parameters(configuration),
        rendezvous: match configuration.word("protocol.rendezvous") {
            "rts-cts" => Rendezvous::RtsCts,
            "" if configuration.word("network.model") != "loggops" => Rendezvous::RtsCts,
            _ => Rendezvous::Abstract,
        },
        noise,
        time_unit: configuration.time("workload.time-unit").unwrap_or(default.time_unit),
        threads: configuration.count("run.threads").map_or(1, |count| count as usize),
        transport: match configuration.word("run.transport") {
            "serialised" => Transport::Serialised,
            _ => Transport::Shared,
        },
        seed: configuration.count("run.seed").unwrap_or(default.seed),
        progress: None,
    }
}

fn parameters(configuration: &Configuration) -> Parameters {
    let time = |table: &str, key: &str| {
        configuration.time(&format!("{table}.{key}")).unwrap_or(Time::ZERO)
    };
    let fabric = configuration.word("network.model") != "loggops";
    let rate = |table: &str, key: &str| {
        if fabric
            && key == "G"
            && table != "loggops.local"
            && !configuration.is_said("loggops.G")
            && !configuration.is_said("loggops.large.G")
        {
            return TimePerByte::ZERO;
        }
        configuration.per_byte(&format!("{table}.{key}")).unwrap_or(TimePerByte::ZERO)
    };
    let costs = |table: &str| Costs {
        latency: time(table, "L"),
        send_overhead: time(table, "o-send"),
        receive_overhead: time(table, "o-recv"),
        gap: time(table, "g"),
        gap_per_byte: rate(table, "G"),
        send_overhead_per_byte: rate(table, "O-send"),
        receive_overhead_per_byte: rate(table, "O-recv"),
    };
    Parameters {
        small: costs("loggops"),
        large: costs("loggops.large"),
        local: costs("loggops.local"),
        eager_limit: configuration.bytes("loggops.S").map_or(u64::MAX, units::Bytes::get),
        inject: match configuration.word("loggops.inject") {
            "start" => Inject::Start,
            _ => Inject::End,
        },
    }
}

fn workload_of(configuration: &Configuration) -> Result<registry::Workload, Vec<Diagnostic>> {
    match configuration.workload() {
        None => Err(vec![
            Diagnostic::new(Place::Nowhere, "there is no workload")
                .help("set `source` in [workload] to a GOAL file or \"pattern:NAME\"".to_owned()),
        ]),
        Some(Workload::Pattern(name)) => {
            registry::build(&name, configuration).map(registry::Workload::Pattern)
        }
        Some(Workload::File(path)) if traces::source::Traces::names(&path) => {
            trace_input::check(configuration)?;
            without_pattern_keys(
                configuration,
                &trace_input::SHARED_KEYS,
                &format!("the workload is the traces {}", path.display()),
            )?;
            Ok(registry::Workload::Traces(path))
        }
        Some(Workload::Traffic(_)) => {
            let message = "traffic is measured, not simulated as a program";
            Err(vec![configuration.mistake("workload.source", message)])
        }
        Some(Workload::Collective(name)) => {
            let operation = registry::operation(&name, configuration)?;
            if operation.algorithm == registry::AUTOMATIC {
                return Ok(registry::Workload::Automatic(operation));
            }
            registry::collective(&name, configuration).map(registry::Workload::Collective)
        }
        Some(Workload::Program(text)) => {
            let programs = live_run::check(&text, configuration)?;
            without_pattern_keys(
                configuration,
                &trace_input::SHARED_KEYS,
                "the workload is a program",
            )?;
            Ok(registry::Workload::Programs(programs))
        }
        Some(Workload::File(path)) => goal(Source::File(path), configuration),
        Some(Workload::Standard) => {
            if configuration.is_from_manifest("workload.source") {
                let message =
                    "the schedule came from standard input, which a manifest does not keep";
                let help = "give it again: --set workload.source=FILE".to_owned();
                return Err(vec![configuration.mistake("workload.source", message).help(help)]);
            }
            goal(Source::Standard, configuration)
        }
    }
}

/// A schedule, which has none of the options of patterns.
fn goal(
    source: Source,
    configuration: &Configuration,
) -> Result<registry::Workload, Vec<Diagnostic>> {
    let help = match &source {
        Source::File(path) => format!("the workload is the file {}", path.display()),
        Source::Standard => "the workload is standard input".to_owned(),
    };
    without_pattern_keys(configuration, &[], &help)?;
    Ok(registry::Workload::Goal(source))
}

/// Refuses what belongs to another kind of workload: the keys of a table.
pub(crate) fn without(
    table: &str,
    configuration: &Configuration,
    help: &str,
) -> Result<(), Vec<Diagnostic>> {
    let keys = KEYS.iter().map(|key| key.name);
    // What looks cost, they cost in the replay of a live run, too.
    let replayed = |key: &str| key == "live.poll" && configuration.is_traces();
    let said = keys.filter(|key| {
        key.starts_with(table) && configuration.is_said_of_run(key) && !replayed(key)
    });
    let mistakes: Vec<_> = said
        .map(|key| {
            let message = format!("`{key}` is not used by this workload");
            configuration.mistake(key, message).help(help.to_owned())
        })
        .collect();
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// Refuses the options of patterns, but for some.
fn without_pattern_keys(
    configuration: &Configuration,
    allowed: &[&str],
    help: &str,
) -> Result<(), Vec<Diagnostic>> {
    let useless =
        PATTERN_KEYS.iter().filter(|key| configuration.is_said(key) && !allowed.contains(key));
    let mistakes: Vec<_> = useless
        .map(|key| {
            let message = format!("`{key}` applies to patterns only");
            configuration.mistake(key, message).help(help.to_owned())
        })
        .collect();
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// Refuses what `LogGOPSim` does not know: other values for large messages or for one of the two
/// sides, fractions of a picosecond per byte, and some words.
fn compatible(configuration: &Configuration) -> Result<(), Vec<Diagnostic>> {
    if configuration.word("loggops.compat") != "loggopsim" {
        return Ok(());
    }
    let value = |name: &str| configuration.get(name).map(|(value, _)| value);
    let base = |name: &str| {
        ["large.", "-send", "-recv"]
            .iter()
            .fold(name.to_owned(), |name, part| name.replace(part, ""))
    };
    let words = ["protocol.rendezvous", "loggops.inject", "run.transport"];
    let beyond = KEYS.iter().map(|key| key.name).filter(|name| {
        let differs = configuration.is_said(name) && value(name) != value(&base(name));
        differs || words.contains(name) && !configuration.is_default(name)
    });
    let mut mistakes: Vec<_> = beyond
        .map(|key| configuration.mistake(key, format!("`{key}` has no counterpart in LogGOPSim")))
        .collect();
    for key in ["loggops.G", "loggops.O"] {
        if configuration.per_byte(key).is_some_and(|rate| rate.parts().1 != 1) {
            let message = "LogGOPSim knows only whole picoseconds per byte";
            mistakes.push(configuration.mistake(key, message));
        }
    }
    let help = || "change it, or leave out loggops.compat = \"loggopsim\"".to_owned();
    let mistakes: Vec<_> = mistakes.into_iter().map(|mistake| mistake.help(help())).collect();
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

pub(crate) fn output(configuration: &Configuration) -> Result<Option<Output>, Diagnostic> {
    let Some(directory) = configuration.path("output.directory") else {
        // A manifest never names a folder; without one, its tables and timeline are not asked for.
        let wanted = ["output.tables", "output.timeline"]
            .into_iter()
            .find(|key| configuration.is_said(key) && !configuration.is_from_manifest(key));
        return wanted.map_or(Ok(None), |key| {
            let message = format!("`{key}` needs a folder to write to");
            Err(configuration
                .mistake(key, message)
                .help("add -o DIR, or set output.directory".to_owned()))
        });
    };
    let tables = configuration.words("output.tables");
    Ok(Some(Output {
        directory,
        force: configuration.switch("output.force"),
        ranks: tables.contains(&"ranks"),
        messages: tables.contains(&"messages"),
        calls: tables.contains(&"calls"),
        computation: tables.contains(&"computation"),
        network: NETWORK
            .into_iter()
            .filter(|(name, _)| tables.contains(name))
            .map(|(_, artifact)| artifact)
            .collect(),
        timeline: match configuration.word("output.timeline") {
            "perfetto" => Some(Timeline::Perfetto),
            "paje" => Some(Timeline::Paje),
            _ => None,
        },
    }))
}

/// The files that the run reads.
pub(crate) fn inputs(configuration: &Configuration) -> Vec<PathBuf> {
    let source = match configuration.workload() {
        Some(Workload::File(path)) if traces::source::Traces::names(&path) => {
            traces::source::Traces::find(&path).map_or_else(|_| Vec::new(), |traces| traces.files)
        }
        Some(Workload::File(path)) => vec![path],
        Some(Workload::Program(line)) => live_run::executables(&line),
        _ => Vec::new(),
    };
    let topology = match configuration.topology() {
        Some(Topology::File(path)) => Some(path),
        _ => None,
    };
    let paths = ["traces.map", "noise.trace", "network.tables", "placement.file", "live.times"];
    let paths = paths.into_iter().filter_map(|key| configuration.path(key));
    source.into_iter().chain(topology).chain(paths).collect()
}

/// Compares the inputs with what the manifest says of them.
fn unchanged(
    configuration: &Configuration,
    inputs: &[PathBuf],
    warnings: &mut Vec<String>,
    mistakes: &mut Vec<Diagnostic>,
) {
    let Some(manifest) = &configuration.manifest else {
        return;
    };
    // A file that cannot be read is reported where it is opened.
    for input in inputs.iter().filter(|input| matches!(manifest.vouches_for(input), Ok(false))) {
        let written = manifest.path.display();
        let message = format!("{} has changed since {written} was written", input.display());
        if configuration.switch("output.force") {
            warnings.push(message);
        } else {
            let help = "--force runs it with the file as it is now".to_owned();
            mistakes.push(Diagnostic::new(Place::Nowhere, message).help(help));
        }
    }
}
