//! Traces as a workload.

use std::{collections::BTreeMap, fs, path::Path, str::FromStr};

use calls::Table;
use collectives::{Algorithms, Collective, Nodes, Way};
use live::Costs;
use results::{Call, Recorded};
use traces::{
    Compiled, Mark,
    options::{CallCosts, Clocks, Flits, Ideal, Mode, Options, Scale, Window},
    pinning::Pinning,
    source::{Form, Traces},
};
use units::{Time, TimePerByte};

use crate::{
    configuration::{Configuration, Request},
    diagnostic::{Diagnostic, Mistakes, Place, reason},
    flow_machine::FlowMachine,
    live_run,
    run::Failure,
    simgrid_items::Calls,
};

/// Keys of `[workload]` that mean something for traces.
pub(crate) const SHARED_KEYS: [&str; 3] =
    ["workload.collectives", "workload.per-node", "workload.reduce-cost"];

/// Factors by number: `0=1.5,3=2`.
fn factors<N: FromStr + Ord>(
    configuration: &Configuration,
    key: &str,
) -> Result<BTreeMap<N, f64>, Box<Diagnostic>> {
    let text = configuration.name(key).unwrap_or_default();
    let pair = |part: &str| {
        let (number, factor) = part.split_once('=')?;
        let factor: f64 = factor.trim().parse().ok()?;
        let number = number.trim().parse().ok()?;
        (factor.is_finite() && factor >= 0.0).then_some((number, factor))
    };
    let parts = text.split(',').filter(|part| !part.trim().is_empty());
    parts
        .map(|part| {
            pair(part).ok_or_else(|| {
                let message = format!("expected NUMBER=FACTOR between commas, found `{part}`");
                Box::new(configuration.mistake(key, message))
            })
        })
        .collect()
}

/// The ranks that a file lists, one per line.
fn map(configuration: &Configuration) -> Result<Vec<u32>, Box<Diagnostic>> {
    let key = "traces.map";
    let Some(path) = configuration.path(key) else { return Ok(Vec::new()) };
    let wrong = |message: String| Box::new(Diagnostic::new(Place::File(path.clone()), message));
    let text = fs::read_to_string(&path).map_err(|error| wrong(reason(&error)))?;
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let rank = |(number, line): (u32, &str)| {
        line.parse().map_err(|_| wrong(format!("line {number}: expected a rank, found `{line}`")))
    };
    let ranks = lines.map(rank).collect::<Result<Vec<_>, _>>()?;
    if ranks.is_empty() {
        return Err(wrong("there are no ranks in it".to_owned()));
    }
    Ok(ranks)
}

/// Checks that the ranks whose computation is scaled are there.
fn scaled_ranks(configuration: &Configuration, ranks: u32) -> Result<(), Mistakes> {
    let key = "traces.scale-ranks";
    let scaled: BTreeMap<u32, f64> = factors(configuration, key).unwrap_or_default();
    let Some(rank) = scaled.into_keys().find(|rank| *rank >= ranks) else { return Ok(()) };
    let message = format!("there is no rank {rank}: the traces have {ranks} ranks, from 0");
    Err(Mistakes(vec![configuration.mistake(key, message)]))
}

/// Checks the settings of traces against each other.
pub(crate) fn check(configuration: &Configuration) -> Result<(), Vec<Diagnostic>> {
    let said =
        |names: &[&'static str]| names.iter().find(|name| configuration.is_said(name)).copied();
    let collectives = said(&["traces.from-collective", "traces.to-collective"]);
    let times = said(&["traces.from", "traces.to"]);
    let errors = [
        library(configuration).err(),
        factors::<u32>(configuration, "traces.scale-ranks").err(),
        factors::<i64>(configuration, "traces.scale-regions").err(),
        map(configuration).err(),
    ];
    let mut mistakes: Vec<_> = errors.into_iter().flatten().map(|mistake| *mistake).collect();
    mistakes.extend(algorithms(configuration).err().into_iter().flatten());
    if let (Some(_), Some(time)) = (collectives, times) {
        let message = "a window between collectives has no times";
        mistakes.push(configuration.mistake(time, message));
    }
    let order =
        |from: Option<u64>, to: Option<u64>| from.zip(to).is_some_and(|(from, to)| from >= to);
    let time = |name| configuration.time(name).map(Time::ps);
    let empty = [
        (
            "traces.to-collective",
            order(
                configuration.count("traces.from-collective"),
                configuration.count("traces.to-collective"),
            ),
        ),
        ("traces.to", order(time("traces.from"), time("traces.to"))),
    ];
    mistakes.extend(unused(configuration));
    for (name, _) in empty.into_iter().filter(|(_, empty)| *empty) {
        mistakes.push(configuration.mistake(name, "the window ends before it begins"));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// Settings without effect beside the others.
fn unused(configuration: &Configuration) -> Vec<Diagnostic> {
    let gaps = configuration.word("traces.mode") == "gaps";
    let costs = ["traces.pin-per-byte", "traces.pin-per-call"];
    let pins = costs.iter().any(|key| configuration.is_said(key));
    let others = "the modes \"durations\" and \"aligned\" use it";
    let only = "the mode \"gaps\" uses it";
    let keys = [
        ("traces.recorded-on", !gaps, others),
        ("traces.connect", gaps, only),
        (costs[0], gaps, only),
        (costs[1], gaps, only),
        (
            "traces.pin-limit",
            gaps && pins,
            "it bounds what pin-per-byte or pin-per-call cost in the mode \"gaps\"",
        ),
    ];
    let useless = keys.into_iter().filter(|(key, is_used, _)| {
        !is_used && configuration.is_said_of_run(key) && !configuration.is_from_manifest(key)
    });
    let mistake = |(key, _, help): (&str, bool, &str)| {
        let message = format!("`{key}` has no effect with these settings");
        configuration.mistake(key, message).help(help.to_owned())
    };
    useless.map(mistake).collect()
}

fn window(configuration: &Configuration) -> Window {
    let said = |name| configuration.is_said(name);
    let time = |name, default| configuration.time(name).map_or(default, Time::ps);
    if said("traces.from") || said("traces.to") {
        Window::Times(time("traces.from", 0), time("traces.to", u64::MAX))
    } else if said("traces.from-collective") || said("traces.to-collective") {
        let count = |name, default| configuration.count(name).unwrap_or(default);
        Window::Collectives(
            count("traces.from-collective", 0),
            count("traces.to-collective", u64::MAX),
        )
    } else {
        Window::All
    }
}

fn options(configuration: &Configuration) -> Options<'static> {
    let time = |name| configuration.time(name).unwrap_or(Time::ZERO).ps();
    let (picoseconds, bytes) =
        configuration.per_byte("traces.pin-per-byte").unwrap_or(TimePerByte::ZERO).parts();
    let pinning = Pinning {
        per_byte: picoseconds / bytes.max(1),
        per_call: time("traces.pin-per-call"),
        limit: configuration.bytes("traces.pin-limit").map(units::Bytes::get),
    };
    let costs = pinning.per_byte > 0 || pinning.per_call > 0;
    Options {
        mode: match configuration.word("traces.mode") {
            "durations" => Mode::Durations,
            "aligned" => Mode::Aligned,
            _ => Mode::Gaps,
        },
        clocks: match configuration.word("traces.clocks") {
            "init" => Clocks::Init,
            "recorded" => Clocks::Recorded,
            _ => Clocks::Default,
        },
        recorded_on: match configuration.word("traces.recorded-on") {
            "infiniband-ddr-simula" => &Flits,
            _ => &Ideal,
        },
        scale: Scale {
            all: configuration.factor("traces.scale").unwrap_or(1.0),
            ranks: factors(configuration, "traces.scale-ranks").unwrap_or_default(),
            regions: factors(configuration, "traces.scale-regions").unwrap_or_default(),
        },
        pinning: costs.then_some(pinning),
        connect: time("traces.connect"),
        map: map(configuration).unwrap_or_default(),
        copies: configuration.count("traces.copies").unwrap_or(1) as u32,
        window: window(configuration),
        threads: 0,
        ..Options::default()
    }
}

/// The name of Schedgen's algorithms, and of the library whose are taken if nothing is said.
const SCHEDGEN: &str = "schedgen";
const OPEN_MPI: &str = "openmpi";
/// SMPI's own choices, which the model flow takes if nothing is said.
const SMPI: &str = "default";

/// The library that chooses the algorithms of collectives, if the experiment names one.
fn library(configuration: &Configuration) -> Result<Option<&'static str>, Box<Diagnostic>> {
    let key = "workload.collectives";
    let name =
        configuration.name(key).filter(|name| configuration.is_said(key) && name != SCHEDGEN);
    let found = name.map(|name| collectives::library(&name)).transpose();
    found.map_err(|error| {
        let help = "of traces also \"schedgen\"".to_owned();
        Box::new(configuration.mistake(key, error.to_string()).help(help))
    })
}

/// By rank, how much longer computation takes on the hosts of a platform.
fn scale(
    flow: &FlowMachine,
    traces: &Traces,
    options: &Options,
) -> Result<BTreeMap<u32, f64>, Failure> {
    let speed = match traces.form {
        Form::Independent => Some(traces.speed as f64),
        Form::Heddle | Form::Allprof => flow.items.speed,
    };
    let Some(speed) = speed else { return Ok(options.scale.ranks.clone()) };
    let ranks = traces.ranks().saturating_mul(options.copies);
    let mut factors = flow.scale(ranks, speed).map_err(Failure::Input)?;
    for (rank, factor) in &mut factors {
        *factor *= options.scale.factor(*rank, None);
    }
    Ok(factors)
}

/// The algorithms that the experiment names for single collectives.
fn algorithms(
    configuration: &Configuration,
) -> Result<Vec<(Collective, &'static str)>, Vec<Diagnostic>> {
    let (mut found, mut mistakes) = (Vec::new(), Vec::new());
    for collective in collectives::WITH_ALGORITHMS {
        let key = format!("traces.algorithms.{}", collective.name().replace('_', "-"));
        let Some(name) = configuration.name(&key) else { continue };
        match collectives::find(collective, &name) {
            Ok(entry) if matches!(entry.way, Way::Automatic) => {
                let message = "in traces, an algorithm has to be named";
                let help = "heddle run collective:NAME tries all of them".to_owned();
                mistakes.push(configuration.mistake(&key, message).help(help));
            }
            Ok(entry) => found.push((collective, entry.name)),
            Err(error) => mistakes.push(configuration.mistake(&key, error.to_string())),
        }
    }
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
}

/// How collectives of traces and of live programs are carried out.
pub(crate) fn library_of(
    configuration: &Configuration,
    flow: Option<&FlowMachine>,
) -> Result<Algorithms, Failure> {
    let name = configuration.name("workload.collectives").unwrap_or_default();
    let named = library(configuration).map_err(|mistake| Mistakes(vec![*mistake]))?;
    let usual = if flow.is_some() { SMPI } else { OPEN_MPI };
    let of_items = flow.and_then(|flow| flow.items.library);
    let chooser = (name != SCHEDGEN).then(|| named.or(of_items).unwrap_or(usual));
    let mut chosen = algorithms(configuration).map_err(Mistakes)?;
    chosen.extend(flow.map_or(&[][..], |flow| &flow.items.algorithms));
    let per_node = configuration.count("workload.per-node").map_or(1, |count| count as u32);
    let mut library = Algorithms::new(chooser, &chosen);
    library.nodes = Nodes::Consecutive(per_node);
    library.reduction = configuration.per_byte("workload.reduce-cost").unwrap_or(TimePerByte::ZERO);
    Ok(library)
}

/// Reads traces and makes a schedule of them.
/// With it comes, if `marks` is set, where its calls are.
pub(crate) fn compile(
    path: &Path,
    configuration: &Configuration,
    flow: Option<&FlowMachine>,
    marks: bool,
) -> Result<Compiled, Failure> {
    let found = Traces::find(path).map_err(|error| Failure::Input(format!("error: {error}")))?;
    let speed = configuration.count("traces.speed").unwrap_or(found.speed);
    let traces = Traces { speed, ..found };
    scaled_ranks(configuration, traces.ranks())?;
    let library = library_of(configuration, flow)?;
    let mut options =
        Options { marks, blocking: flow.is_some(), expand: &library, ..options(configuration) };
    if let Some(flow) = flow {
        options.scale.ranks = scale(flow, &traces, &options)?;
        let Calls { test, iprobe, init, .. } = flow.items.calls;
        options.calls = CallCosts {
            test: test.ps(),
            iprobe: iprobe.ps(),
            init: init.ps(),
            ..CallCosts::default()
        };
    }
    let Costs { test, probe, clock, .. } = live_run::costs(configuration, flow);
    options.simulated_calls = CallCosts { test, iprobe: probe, clock, ..options.calls };
    traces::compile(&traces, &options).map_err(|error| Failure::Input(error.to_string()))
}

/// The calls of a schedule in simulated time.
pub(crate) fn calls(compiled: &Compiled, recorded: &Recorded) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut computations = recorded.computations.as_slice();
    for (rank, marks) in (0..).zip(&compiled.marks) {
        let behind = computations.partition_point(|computation| computation.rank <= rank);
        let (own, rest) = computations.split_at(behind);
        computations = rest;
        let of = |index: u32| {
            let found = own.binary_search_by_key(&index, |computation| computation.index);
            found.ok().and_then(|place| own.get(place))
        };
        let when = |mark: &Mark| {
            let start = of(mark.first).map_or(Time::MAX, |found| found.start);
            (start, of(mark.before).map_or(Time::MAX, |found| found.end))
        };
        // When the thread's next call begins, found from behind.
        let mut next: BTreeMap<u32, Time> = BTreeMap::new();
        let first = calls.len();
        for mark in marks.iter().rev() {
            let (start, enter) = when(mark);
            let leave = next.insert(mark.thread, start).unwrap_or(enter);
            let name = Table::get().by_id(mark.call).map_or("", |call| call.name);
            calls.push(Call { rank, thread: mark.thread, name, enter, leave });
        }
        if let Some(own) = calls.get_mut(first..) {
            own.reverse();
        }
    }
    calls
}

/// The schedule of the traces that a request names, with what is odd about them; `None` if it names
/// none.
pub fn compiled_traces(request: &Request) -> Result<Option<Compiled>, Failure> {
    let subject = request.subject.as_deref().unwrap_or_default();
    if !Traces::names(Path::new(subject)) {
        return Ok(None);
    }
    let configuration = Configuration::read(request)?;
    check(&configuration).map_err(Mistakes)?;
    compile(Path::new(subject), &configuration, None, false).map(Some)
}

/// Writes the traces that a request names as text into a folder, which will be called `shown`;
/// gives what is odd about them.
pub fn rewritten_traces(
    request: &Request,
    form: Form,
    folder: &Path,
    shown: &Path,
) -> Result<Vec<String>, Failure> {
    let configuration = Configuration::read(request)?;
    check(&configuration).map_err(Mistakes)?;
    let subject = request.subject.as_deref().unwrap_or_default();
    let found = Traces::find(Path::new(subject))
        .map_err(|error| Failure::Input(format!("error: {error}")))?;
    let speed = configuration.count("traces.speed").unwrap_or(found.speed);
    traces::text::convert(&Traces { speed, ..found }, form, folder).map_err(|error| match error {
        traces::Error::Write { path, error: source } => {
            let path = shown.join(path.file_name().unwrap_or_default());
            Failure::Output(results::Error::Io { path, source })
        }
        error => Failure::Input(error.to_string()),
    })
}
