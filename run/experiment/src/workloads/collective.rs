//! The workload `collective:NAME`: one collective operation by an algorithm that is named, that a
//! library chooses, or that is the fastest.

use std::time::Instant;

use collectives::{Blocks, Call, Collective, Nodes, program::Scheduled};
use units::{Bytes, Time, TimePerByte};

use crate::{
    job::{Failure, Job, Report, Runs, pending},
    memory,
    models::Model,
    settings::{
        configuration::Configuration,
        diagnostic::{Diagnostic, Place},
        keys::{self, Id, Setting},
        value,
    },
};

/// Mistakes for keys of `[workload]` that mean nothing here.
fn useless(configuration: &Configuration, keys: &[Id], what: &str) -> Vec<Diagnostic> {
    let said = keys.iter().filter(|id| configuration.is_said(**id));
    said.map(|id| {
        let message = format!("`{}` does not belong to {what}", id.key().name);
        configuration.mistake(*id, message)
    })
    .collect()
}

/// A collective by an algorithm.
#[derive(Debug)]
pub enum Chosen {
    /// By this one, with the remark that says so.
    By(Scheduled, Option<String>),
    /// By the fastest.
    Fastest(Operation),
}

pub(crate) fn resolve(configuration: &Configuration) -> Result<Chosen, Vec<Diagnostic>> {
    let Some(value::Workload::Collective(name)) = configuration.workload() else {
        return Err(vec![configuration.mistake(keys::workload::SOURCE, "this is no collective")]);
    };
    let operation = operation(&name, configuration)?;
    if operation.algorithm == AUTOMATIC {
        return Ok(Chosen::Fastest(operation));
    }
    let taken = operation.taken();
    scheduled(&operation).map(|collective| Chosen::By(collective, taken))
}

/// Says which algorithm the collective of an experiment takes and why, if it is one and that is
/// known before it runs.
pub fn taken(configuration: &Configuration) -> Option<String> {
    let Some(value::Workload::Collective(name)) = configuration.workload() else { return None };
    operation(&name, configuration).ok()?.taken()
}

/// The name of a library's choices as users know it.
pub(super) fn shown(choice: &str) -> &str {
    match choice {
        OPEN_MPI => "openmpi",
        choice if choice == SMPI.1 => SMPI.0,
        choice => choice,
    }
}

impl Runs for Chosen {
    fn run<M: Model>(&self, job: &Job<'_, Self, M>, start: Instant) -> Result<Report, Failure> {
        match self {
            Self::By(collective, taken) => {
                let mut simulated = job.simulate(collective, 0)?;
                simulated.outcome.remarks.extend(taken.clone());
                Ok(job.report(start, simulated, |op| pending(collective, op)))
            }
            Self::Fastest(operation) => {
                let (collective, remark) = fastest(job, operation)?;
                let mut simulated = job.simulate(&collective, 0)?;
                simulated.outcome.remarks.push(remark);
                Ok(job.report(start, simulated, |op| pending(&collective, op)))
            }
        }
    }
}

/// Tries all algorithms of a collective; the first of the fastest, and a remark on all.
fn fastest<M: Model>(
    job: &Job<'_, Chosen, M>,
    operation: &Operation,
) -> Result<(Scheduled, String), Failure> {
    let built = |name: &str| {
        operation.by(name).map_err(|error| Failure::Input(format!("error: {name}: {error}")))
    };
    let mut found = Vec::new();
    for name in operation.candidates() {
        let outcome = job.alone(&built(name)?)?;
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

/// A collective operation of which the algorithm may still have to be chosen.
#[derive(Debug)]
pub struct Operation {
    collective: Collective,
    /// The algorithm; [`AUTOMATIC`] for the best.
    algorithm: &'static str,
    /// True if the settings name the algorithm, false if a library chooses it.
    named: bool,
    ranks: u32,
    root: u32,
    element: u64,
    segment: Option<u64>,
    blocks: Blocks,
    nodes: Nodes,
    rate: TimePerByte,
    /// The schedule's time unit in picoseconds.
    unit: u64,
}

/// The library whose algorithms are taken if nothing is set.
pub(super) const OPEN_MPI: &str = "ompi";

/// The name of SMPI's own choices, and their name among the algorithms.
pub(super) const SMPI: (&str, &str) = ("smpi_default", "default");

/// The name that means the usual library.
const USUAL: &str = "default";

/// Returns the library that the settings name, by its name among the algorithms; `None` for the
/// usual one.
pub(super) fn library(
    configuration: &Configuration,
) -> Result<Option<&'static str>, collectives::Error> {
    let name = configuration.value(keys::workload::COLLECTIVES).unwrap_or_default();
    match name.as_str() {
        USUAL => Ok(None),
        name if name == SMPI.0 => Ok(Some(SMPI.1)),
        name => collectives::library(name).map(Some),
    }
}

/// The memory of a step of a schedule in bytes: its operation, and what depends on it.
const PER_STEP: u64 = 48;

/// The name of the best algorithm.
const AUTOMATIC: &str = "automatic";

impl Operation {
    /// Says which algorithm the operation takes, and why.
    fn taken(&self) -> Option<String> {
        let taken = collectives::resolve(self.collective, self.algorithm, &self.call()).ok()?;
        let why = if self.named && taken.name == self.algorithm {
            format!("workload.algorithm = \"{}\"", self.algorithm)
        } else if self.named {
            let said = self.algorithm;
            format!("what workload.algorithm = \"{said}\" takes for these ranks and this size")
        } else {
            format!("the choice of {}", shown(self.algorithm))
        };
        Some(format!("{} by {}: {why}", self.collective.name(), taken.name))
    }

    fn call(&self) -> Call<'_> {
        Call {
            ranks: self.ranks,
            rank: 0,
            root: self.root,
            element: self.element,
            commutative: true,
            segment: self.segment,
            blocks: &self.blocks,
            received: &self.blocks,
            nodes: &self.nodes,
            inside: &collectives::NO_CHOICES,
        }
    }

    /// The operation by an algorithm of this name; an error says why not, with an estimate of the
    /// memory if there is too little.
    fn by(&self, algorithm: &str) -> Result<Scheduled, String> {
        memory::suffices(self.ranks, 0)?;
        let root = self.steps(algorithm, self.root)?;
        let other = self.steps(algorithm, (self.root + self.ranks / 2) % self.ranks)?;
        let steps = other.saturating_mul(u64::from(self.ranks - 1)).saturating_add(root);
        memory::suffices(self.ranks, steps.saturating_mul(PER_STEP))?;
        self.scheduled(algorithm).map_err(|error| error.to_string())
    }

    /// Returns the number of steps of a rank.
    fn steps(&self, algorithm: &str, rank: u32) -> Result<u64, String> {
        let call = Call { rank, ..self.call() };
        let plan = collectives::plan(self.collective, algorithm, &call);
        plan.map(|plan| plan.len() as u64).map_err(|error| error.to_string())
    }

    fn scheduled(&self, algorithm: &str) -> Result<Scheduled, collectives::Error> {
        let cost = |bytes| (self.rate.cost(bytes).ps() + self.unit / 2) / self.unit;
        Scheduled::new(self.collective, algorithm, &self.call(), cost)
    }

    /// The algorithms that can be chosen.
    fn candidates(&self) -> Vec<&'static str> {
        let found = collectives::candidates(self.collective, &self.call());
        found.into_iter().map(|entry| entry.name).collect()
    }
}

/// The collective that an experiment describes.
fn operation(name: &str, configuration: &Configuration) -> Result<Operation, Vec<Diagnostic>> {
    let mut mistakes = unused(name, configuration);
    let found = collectives::named(name)
        .map_err(|error| {
            let help = super::names::elsewhere("collective", name);
            configuration.mistake(keys::workload::SOURCE, error.to_string()).help(help)
        })
        .and_then(|found| Ok((found, algorithm(found, configuration)?)));
    let count = |key| configuration.value(key).unwrap_or(1) as u32;
    let bytes = |key| configuration.value(key).map_or(1, Bytes::get);
    let (ranks, root) =
        (count(keys::workload::RANKS), configuration.value(keys::workload::ROOT).unwrap_or(0));
    let is_rooted = found.as_ref().map_or(true, |(found, _)| found.is_rooted());
    if !is_rooted {
        mistakes.extend(useless(
            configuration,
            &[keys::workload::ROOT.id()],
            "a collective without a root",
        ));
    } else if root >= u64::from(ranks) {
        let message = format!("\"root\" is {root}, but the ranks are 0 to {}", ranks - 1);
        mistakes.push(configuration.mistake(keys::workload::ROOT, message));
    }
    let (size, element) = (bytes(keys::workload::SIZE), bytes(keys::workload::ELEMENT));
    if element == 0 || !size.is_multiple_of(element) {
        let message = format!("elements of {element} B do not fill {size} B");
        mistakes.push(configuration.mistake(keys::workload::ELEMENT, message));
    }
    let (collective, algorithm) = match found {
        Ok(found) if mistakes.is_empty() => found,
        found => {
            mistakes.extend(found.err());
            return Err(mistakes);
        }
    };
    Ok(Operation {
        collective,
        algorithm,
        named: configuration.is_said(keys::workload::ALGORITHM),
        ranks,
        root: root as u32,
        element,
        segment: configuration
            .is_said(keys::workload::SEGMENT)
            .then(|| bytes(keys::workload::SEGMENT)),
        blocks: Blocks::Same(size / element),
        nodes: Nodes::Consecutive(count(keys::workload::PER_NODE)),
        rate: configuration.value(keys::workload::REDUCE_COST).unwrap_or(TimePerByte::ZERO),
        unit: configuration
            .value(keys::workload::TIME_UNIT)
            .unwrap_or(Time::from_ps(1_000))
            .ps()
            .max(1),
    })
}

/// Options that mean nothing to the collective of this name.
fn unused(name: &str, configuration: &Configuration) -> Vec<Diagnostic> {
    let Ok(collective) = collectives::named(name) else { return Vec::new() };
    let mut mistakes = Vec::new();
    if collective == Collective::Barrier {
        let keys =
            [keys::workload::SIZE.id(), keys::workload::ELEMENT.id(), keys::workload::SEGMENT.id()];
        mistakes.extend(useless(configuration, &keys, "a collective without data"));
    }
    if !collective.reduces() {
        let what = "a collective that combines nothing";
        mistakes.extend(useless(configuration, &[keys::workload::REDUCE_COST.id()], what));
    }
    if configuration.value(keys::workload::SEGMENT).map(Bytes::get) == Some(0) {
        mistakes
            .push(configuration.mistake(keys::workload::SEGMENT, "\"segment\" must be at least 1"));
    }
    mistakes
}

/// The operation by the algorithm that it names. What is wrong now is its size, for which no single
/// setting is to blame.
fn scheduled(operation: &Operation) -> Result<Scheduled, Vec<Diagnostic>> {
    let name = operation.collective.name();
    let wrong = |error| Diagnostic::new(Place::Nowhere, format!("collective:{name}: {error}"));
    operation.by(operation.algorithm).map_err(|error| vec![wrong(error)])
}

/// The collective that an experiment describes, by the algorithm that it names.
pub(super) fn collective(
    name: &str,
    configuration: &Configuration,
) -> Result<Scheduled, Vec<Diagnostic>> {
    scheduled(&operation(name, configuration)?)
}

/// The algorithm of a collective: the one that is named, or else the library's choice.
fn algorithm(
    collective: Collective,
    configuration: &Configuration,
) -> Result<&'static str, Diagnostic> {
    let wrong = |key: Setting<String>, error: collectives::Error| {
        configuration.mistake(key, error.to_string())
    };
    if configuration.is_said(keys::workload::ALGORITHM) {
        let name = configuration.value(keys::workload::ALGORITHM).unwrap_or_default();
        let found = collectives::find(collective, &name);
        return found
            .map(|entry| entry.name)
            .map_err(|error| wrong(keys::workload::ALGORITHM, error));
    }
    let found =
        library(configuration).map_err(|error| wrong(keys::workload::COLLECTIVES, error))?;
    let found = found.unwrap_or(OPEN_MPI);
    // A collective of which a library has no choice has only the default.
    Ok(collectives::find(collective, found).map_or("default", |entry| entry.name))
}
