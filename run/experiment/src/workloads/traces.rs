//! The traces of a run as a workload: they become a schedule, by the settings of `[traces]`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Instant,
};

use collectives::{Algorithms, Collective, Nodes, Way};
use live::Costs;
use results::Lines;
use traces::{
    Compiled, Mark,
    options::{CallCosts, Clocks, Flits, Ideal, Mode, Options, Scale, Window},
    pinning::Pinning,
    source::{Form, Traces},
};
use units::{Time, TimePerByte};

use super::{
    collective::{self, OPEN_MPI, SMPI, shown},
    live::costs,
};
use crate::{
    job::{Failure, Job, Report, Runs, pending},
    memory,
    models::{Calls, Model, flow::TEST, loggops::Loggops},
    settings::{
        configuration::{Configuration, Request},
        diagnostic::{Diagnostic, Mistakes, Place},
        keys::{self, Id, Setting},
        value,
    },
};

/// The traces of a run.
#[derive(Debug)]
pub struct Recorded {
    path: PathBuf,
    configuration: Arc<Configuration>,
}

pub(crate) fn resolve(configuration: &Arc<Configuration>) -> Result<Recorded, Vec<Diagnostic>> {
    check(configuration)?;
    match configuration.workload() {
        Some(value::Workload::File(path)) => {
            Ok(Recorded { path, configuration: Arc::clone(configuration) })
        }
        _ => Err(vec![configuration.mistake(keys::workload::SOURCE, "these are no traces")]),
    }
}

impl Runs for Recorded {
    fn run<M: Model>(&self, job: &Job<'_, Self, M>, start: Instant) -> Result<Report, Failure> {
        let marks = job.records.calls || job.records.lines;
        let (compiled, taken) = compile(&self.path, &self.configuration, job.machine, marks)?;
        let image = &compiled.image;
        let mut simulated = job.simulate(image, image.bytes().len() as u64)?;
        if job.records.calls {
            simulated.calls = super::calls::of_traces(&compiled.marks, &simulated.tables);
        }
        simulated.outcome.remarks.extend(taken);
        let mut report = job.report(start, simulated, |op| pending(image, op));
        if job.records.lines {
            report.lines = lines(&compiled);
        }
        report.warnings.extend(compiled.warnings);
        Ok(report)
    }
}

/// Returns whether there are traces of a run: in a folder, or in files of which this is one.
pub fn are_traces(path: &Path) -> bool {
    Traces::find(path).is_ok()
}

/// Factors by number: `0=1.5,3=2`.
fn factors<N: FromStr + Ord>(
    configuration: &Configuration,
    key: Setting<String>,
) -> Result<BTreeMap<N, f64>, Box<Diagnostic>> {
    let text = configuration.value(key).unwrap_or_default();
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
    let key = keys::traces::MAP;
    let Some(path) = configuration.value(key) else { return Ok(Vec::new()) };
    let wrong = |message: String| Box::new(Diagnostic::new(Place::File(path.clone()), message));
    let text =
        units::text::read(&path).map_err(|error| Box::new(Diagnostic::unread(&path, &error)))?;
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
    let key = keys::traces::SCALE_RANKS;
    let scaled: BTreeMap<u32, f64> = factors(configuration, key).unwrap_or_default();
    let Some(rank) = scaled.into_keys().find(|rank| *rank >= ranks) else { return Ok(()) };
    let message = format!("there is no rank {rank}: the traces have {ranks} ranks, from 0");
    Err(Mistakes(vec![configuration.mistake(key, message)]))
}

/// Checks the settings of traces against each other.
fn check(configuration: &Configuration) -> Result<(), Vec<Diagnostic>> {
    let said = |ids: [Id; 2]| ids.into_iter().find(|id| configuration.is_said(*id));
    let collectives = said([keys::traces::FROM_COLLECTIVE.id(), keys::traces::TO_COLLECTIVE.id()]);
    let times = said([keys::traces::FROM.id(), keys::traces::TO.id()]);
    let errors = [
        library(configuration).err(),
        factors::<u32>(configuration, keys::traces::SCALE_RANKS).err(),
        factors::<i64>(configuration, keys::traces::SCALE_REGIONS).err(),
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
    let time = |setting| configuration.value(setting).map(Time::ps);
    let empty = [
        (
            keys::traces::TO_COLLECTIVE.id(),
            order(
                configuration.value(keys::traces::FROM_COLLECTIVE),
                configuration.value(keys::traces::TO_COLLECTIVE),
            ),
        ),
        (keys::traces::TO.id(), order(time(keys::traces::FROM), time(keys::traces::TO))),
    ];
    mistakes.extend(unused(configuration));
    for (id, _) in empty.into_iter().filter(|(_, empty)| *empty) {
        mistakes.push(configuration.mistake(id, "the window ends before it begins"));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// Settings without effect beside the others.
fn unused(configuration: &Configuration) -> Vec<Diagnostic> {
    let gaps = configuration.word(keys::traces::MODE) == "gaps";
    let costs = [keys::traces::PIN_PER_BYTE.id(), keys::traces::PIN_PER_CALL.id()];
    let pins = costs.into_iter().any(|id| configuration.is_said(id));
    let others = "the modes \"durations\" and \"aligned\" use it";
    let only = "the mode \"gaps\" uses it";
    let keys = [
        (keys::traces::RECORDED_ON.id(), !gaps, others),
        (keys::traces::CONNECT.id(), gaps, only),
        (costs[0], gaps, only),
        (costs[1], gaps, only),
        (
            keys::traces::PIN_LIMIT.id(),
            gaps && pins,
            "it bounds what pin-per-byte or pin-per-call cost in the mode \"gaps\"",
        ),
    ];
    let useless = keys.into_iter().filter(|(id, is_used, _)| {
        !is_used && configuration.is_said_of_run(*id) && !configuration.is_from_manifest(*id)
    });
    let mistake = |(id, _, help): (Id, bool, &str)| {
        let message = format!("`{}` has no effect with these settings", id.key().name);
        configuration.mistake(id, message).help(help.to_owned())
    };
    useless.map(mistake).collect()
}

fn window(configuration: &Configuration) -> Window {
    use keys::traces::{FROM, FROM_COLLECTIVE, TO, TO_COLLECTIVE};

    let said = |id: Id| configuration.is_said(id);
    let time = |setting, default| configuration.value(setting).map_or(default, Time::ps);
    let count = |setting, default| configuration.value(setting).unwrap_or(default);
    if said(FROM.id()) || said(TO.id()) {
        Window::Times(time(FROM, 0), time(TO, u64::MAX))
    } else if said(FROM_COLLECTIVE.id()) || said(TO_COLLECTIVE.id()) {
        Window::Collectives(count(FROM_COLLECTIVE, 0), count(TO_COLLECTIVE, u64::MAX))
    } else {
        Window::All
    }
}

fn options(configuration: &Configuration) -> Options<'static> {
    let time = |setting| configuration.value(setting).unwrap_or(Time::ZERO).ps();
    let (picoseconds, bytes) =
        configuration.value(keys::traces::PIN_PER_BYTE).unwrap_or(TimePerByte::ZERO).parts();
    let pinning = Pinning {
        per_byte: picoseconds / bytes.max(1),
        per_call: time(keys::traces::PIN_PER_CALL),
        limit: configuration.value(keys::traces::PIN_LIMIT).map(units::Bytes::get),
    };
    let costs = pinning.per_byte > 0 || pinning.per_call > 0;
    Options {
        mode: match configuration.word(keys::traces::MODE) {
            "durations" => Mode::Durations,
            "aligned" => Mode::Aligned,
            _ => Mode::Gaps,
        },
        clocks: match configuration.word(keys::traces::CLOCKS) {
            "init" => Clocks::Init,
            "recorded" => Clocks::Recorded,
            _ => Clocks::Default,
        },
        recorded_on: match configuration.word(keys::traces::RECORDED_ON) {
            "infiniband-ddr-simula" => &Flits,
            _ => &Ideal,
        },
        scale: Scale {
            all: configuration.value(keys::traces::SCALE).unwrap_or(1.0),
            ranks: factors(configuration, keys::traces::SCALE_RANKS).unwrap_or_default(),
            regions: factors(configuration, keys::traces::SCALE_REGIONS).unwrap_or_default(),
        },
        pinning: costs.then_some(pinning),
        connect: time(keys::traces::CONNECT),
        map: map(configuration).unwrap_or_default(),
        copies: configuration.value(keys::traces::COPIES).unwrap_or(1) as u32,
        window: window(configuration),
        threads: 0,
        ..Options::default()
    }
}

/// The name of Schedgen's algorithms.
const SCHEDGEN: &str = "schedgen";

/// The library that chooses the algorithms of collectives, if the experiment names one.
fn library(configuration: &Configuration) -> Result<Option<&'static str>, Box<Diagnostic>> {
    let key = keys::workload::COLLECTIVES;
    if configuration.value(key).is_some_and(|name| name == SCHEDGEN) {
        return Ok(None);
    }
    collective::library(configuration).map_err(|error| {
        let help = "of traces also \"schedgen\"".to_owned();
        Box::new(configuration.mistake(key, error.to_string()).help(help))
    })
}

/// By rank, how much longer computation takes on the hosts of a machine.
fn scale(
    machine: &impl Model,
    traces: &Traces,
    options: &Options,
) -> Result<BTreeMap<u32, f64>, Failure> {
    let speed = match traces.form {
        Form::Independent => Some(traces.speed as f64),
        Form::Heddle | Form::Allprof => None,
    };
    let ranks = traces.ranks().saturating_mul(options.copies);
    let mut factors = machine.slowdowns(ranks, speed).map_err(Failure::Input)?;
    if factors.is_empty() {
        return Ok(options.scale.ranks.clone());
    }
    for (rank, factor) in &mut factors {
        *factor *= options.scale.factor(*rank, None);
    }
    Ok(factors)
}

/// The setting of the algorithm of a collective.
const fn setting(collective: Collective) -> Option<Setting<String>> {
    use keys::traces::algorithms as key;
    Some(match collective {
        Collective::Barrier => key::BARRIER,
        Collective::Bcast => key::BCAST,
        Collective::Reduce => key::REDUCE,
        Collective::Allreduce => key::ALLREDUCE,
        Collective::Gather => key::GATHER,
        Collective::Scatter => key::SCATTER,
        Collective::Allgather => key::ALLGATHER,
        Collective::Allgatherv => key::ALLGATHERV,
        Collective::Alltoall => key::ALLTOALL,
        Collective::Alltoallv => key::ALLTOALLV,
        Collective::ReduceScatter => key::REDUCE_SCATTER,
        Collective::ReduceScatterBlock => key::REDUCE_SCATTER_BLOCK,
        Collective::Scan => key::SCAN,
        Collective::Exscan => key::EXSCAN,
        _ => return None,
    })
}

/// The algorithms that the experiment names for single collectives.
fn algorithms(
    configuration: &Configuration,
) -> Result<Vec<(Collective, &'static str)>, Vec<Diagnostic>> {
    let (mut found, mut mistakes) = (Vec::new(), Vec::new());
    for collective in collectives::WITH_ALGORITHMS {
        let Some(key) = setting(collective) else { continue };
        let Some(name) = configuration.value(key) else { continue };
        match collectives::find(collective, &name) {
            Ok(entry) if matches!(entry.way, Way::Automatic) => {
                let message = "in traces, an algorithm has to be named";
                let help = "heddle run collective:NAME tries all of them".to_owned();
                mistakes.push(configuration.mistake(key, message).help(help));
            }
            Ok(entry) => found.push((collective, entry.name)),
            Err(error) => mistakes.push(configuration.mistake(key, error.to_string())),
        }
    }
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
}

/// Returns the algorithms of the collectives of traces and of live programs.
pub(super) fn library_of(
    configuration: &Configuration,
    calls: &Calls,
    usual: &'static str,
) -> Result<Algorithms, Failure> {
    let name = configuration.value(keys::workload::COLLECTIVES).unwrap_or_default();
    let named = library(configuration).map_err(|mistake| Mistakes(vec![*mistake]))?;
    let chooser = (name != SCHEDGEN).then(|| named.or(calls.library).unwrap_or(usual));
    let mut chosen = algorithms(configuration).map_err(Mistakes)?;
    chosen.extend(&calls.algorithms);
    let per_node = configuration.value(keys::workload::PER_NODE).map_or(1, |count| count as u32);
    let mut library = Algorithms::new(chooser, &chosen);
    library.nodes = Nodes::Consecutive(per_node);
    library.reduction =
        configuration.value(keys::workload::REDUCE_COST).unwrap_or(TimePerByte::ZERO);
    Ok(library)
}

/// Reads traces and makes a schedule of them for a machine, with the places of its calls if `marks`
/// is set.
fn compile(
    path: &Path,
    configuration: &Configuration,
    machine: &impl Model,
    marks: bool,
) -> Result<(Compiled, Option<String>), Failure> {
    let found = Traces::find(path).map_err(|error| Failure::Input(format!("error: {error}")))?;
    let speed = configuration.value(keys::traces::SPEED).unwrap_or(found.speed);
    let traces = Traces { speed, ..found };
    scaled_ranks(configuration, traces.ranks())?;
    let copies = configuration.value(keys::traces::COPIES).unwrap_or(1) as u32;
    // Each copy of a trace takes about as much in memory as the trace in its files.
    let sizes = traces.files.iter().filter_map(|file| Some(file.metadata().ok()?.len()));
    let bytes = sizes.sum::<u64>().saturating_mul(copies.into());
    memory::suffices(traces.ranks().saturating_mul(copies), bytes)
        .map_err(|message| Failure::Input(format!("error: {message}")))?;
    let calls = machine.calls();
    // Time-independent traces on a platform are what `smpirun` replays.
    let imitates_smpi = traces.form == Form::Independent && calls.on_platform;
    let usual = if imitates_smpi { SMPI.1 } else { OPEN_MPI };
    let mut library = library_of(configuration, &calls, usual)?;
    library.imitates_smpi = imitates_smpi;
    let mut options =
        Options { marks, blocking: calls.blocking, expand: &library, ..options(configuration) };
    options.scale.ranks = scale(machine, &traces, &options)?;
    options.calls = CallCosts {
        test: calls.test.unwrap_or(if imitates_smpi { TEST } else { Time::ZERO }).ps(),
        iprobe: calls.iprobe.ps(),
        init: calls.init.ps(),
        ..CallCosts::default()
    };
    let Costs { test, probe, clock, .. } = costs(configuration, &calls);
    options.simulated_calls = CallCosts { test, iprobe: probe, clock, ..options.calls };
    let compiled = traces::compile(&traces, &options);
    let compiled = compiled.map_err(|error| Failure::Input(error.to_string()))?;
    Ok((compiled, taken(&library)))
}

/// Says which algorithms the collectives of a run took, and why.
pub(super) fn taken(library: &Algorithms) -> Option<String> {
    let taken = library.taken();
    if taken.is_empty() {
        return None;
    }
    let each = taken.into_iter().map(|((collective, algorithm), count)| {
        format!("{} by {algorithm} ({count})", collective.name())
    });
    let each: Vec<_> = each.collect();
    let why = library.chooser().map(|chooser| format!(": the choice of {}", shown(chooser)));
    Some(format!("{}{}", each.join(", "), why.unwrap_or_default()))
}

/// The lines of the operations of a schedule: each has that of the call that posts it, and
/// computation has none.
fn lines(compiled: &Compiled) -> Lines {
    let of_rank = |marks: &Vec<Mark>| {
        let mut lines = Vec::new();
        // What comes behind the last call belongs to none.
        for (mark, next) in marks.iter().zip(marks.iter().skip(1)) {
            lines.resize(mark.posted as usize, 0);
            lines.resize(next.posted as usize, mark.line);
            for computation in [mark.first, mark.before] {
                if let Some(line) = lines.get_mut(computation as usize) {
                    *line = 0;
                }
            }
        }
        lines
    };
    Lines { operations: compiled.marks.iter().map(of_rank).collect(), text: None }
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
    compile(Path::new(subject), &configuration, &Loggops, false).map(|(compiled, _)| Some(compiled))
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
    let speed = configuration.value(keys::traces::SPEED).unwrap_or(found.speed);
    traces::text::convert(&Traces { speed, ..found }, form, folder).map_err(|error| match error {
        traces::Error::Write { path, error: source } => {
            let path = shown.join(path.file_name().unwrap_or_default());
            Failure::Output(results::Error::Io { path, source })
        }
        error => Failure::Input(error.to_string()),
    })
}
