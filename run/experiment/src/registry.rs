//! The registry: what the names in an experiment stand for.

use std::{fmt::Write as _, path::PathBuf};

use collectives::{Blocks, Call, Collective, Nodes, program::Scheduled};
use schedule::pattern::{self, NAMES, Options, Pattern};
use units::{Time, TimePerByte};

use crate::{
    configuration::{Configuration, Request},
    diagnostic::{Diagnostic, Mistakes},
    goal_input::Source,
    keys::KEYS,
    value,
};

/// What runs.
#[derive(Debug)]
pub(crate) enum Workload {
    /// A schedule.
    Goal(Source),
    /// A pattern.
    Pattern(Pattern),
    /// Traces.
    Traces(PathBuf),
    /// A collective.
    Collective(Scheduled),
    /// A collective by the best of its algorithms.
    Automatic(Operation),
    /// Live programs.
    Programs(Vec<live::Launch>),
}

/// A program that is made from settings alone.
#[derive(Debug)]
pub enum Generated {
    /// A pattern.
    Pattern(Pattern),
    /// A collective.
    Collective(Scheduled),
}

/// Keys that only a collective has.
const COLLECTIVE_KEYS: [&str; 5] =
    ["algorithm", "collectives", "per-node", "element", "reduce-cost"];

/// Keys that only a pattern has.
const ONLY_PATTERN_KEYS: [&str; 8] =
    ["ways", "skew", "steps", "compute", "allreduce", "grid", "seed", "permute"];

/// A line on each pattern.
pub fn patterns() -> String {
    let mut text = String::new();
    for name in NAMES {
        let _ = writeln!(text, "{name:<30}{}", description(name));
    }
    text
}

/// What a pattern does.
fn description(name: &str) -> &'static str {
    match name {
        "dissemination" => "in round k, each rank sends to the one 2^k ahead",
        "binomial-bcast" => "broadcast from the root along a binomial tree",
        "binomial-reduce" => "reduction to the root along a binomial tree",
        "binary-bcast" => "broadcast from the root along a binary tree",
        "nway-dissemination" => "dissemination with several messages per round (--ways)",
        "linear-alltoall" => "everyone sends to everyone at once, in the order of distance",
        "pairwise-alltoall" => "everyone exchanges with everyone, one partner per step",
        "alltoallv" => "as linear-alltoall with random sizes (--skew, --root, --seed)",
        "allreduce-recursive-doubling" => "exchange of the whole vector with partners 2^k away",
        "allreduce-rabenseifner" => "reduce-scatter by halving, then allgather by doubling",
        "allreduce-ring" => "reduce-scatter, then allgather around a ring",
        "gather" => "everyone sends to the root",
        "scatter" => "the root sends to everyone",
        "pipelined-ring" => "broadcast along a line, in segments (--segment)",
        "double-ring" => "a message around a ring in each direction",
        "linear-barrier" => "everyone reports to rank 0 and is answered",
        "random-bisection" => "one half of the ranks sends to the other, in random pairs (--seed)",
        "halo1d" => "neighbours on a periodic line, step by step (--steps, --compute, --allreduce)",
        "halo2d" => "neighbours on a periodic grid of two dimensions (--grid)",
        "halo3d" => "neighbours on a periodic grid of three dimensions (--grid)",
        "random" => "in each step, everyone sends to a random other (--steps, --seed)",
        _ => "",
    }
}

/// Builds the pattern or collective that a request describes; settings that say nothing of either
/// are mistakes.
pub fn generated(request: &Request) -> Result<Generated, Mistakes> {
    let configuration = Configuration::read(request)?;
    let foreign = KEYS.iter().filter(|key| {
        key.table() != "workload" && key.name != "run.seed" && configuration.is_said(key.name)
    });
    let mut mistakes: Vec<_> = foreign
        .map(|key| {
            let message = format!("`{}` does not belong to a pattern", key.name);
            configuration.mistake(key.name, message)
        })
        .collect();
    let built = match configuration.workload() {
        Some(value::Workload::Pattern(name)) => {
            build(&name, &configuration).map(Generated::Pattern)
        }
        Some(value::Workload::Collective(name)) => {
            collective(&name, &configuration).map(Generated::Collective)
        }
        _ => Err(vec![configuration.mistake("workload.source", "this is no pattern")]),
    };
    match built {
        Ok(generated) if mistakes.is_empty() => Ok(generated),
        built => {
            mistakes.extend(built.err().unwrap_or_default());
            Err(Mistakes(mistakes))
        }
    }
}

/// Mistakes for keys of `[workload]` that mean nothing here.
fn useless(configuration: &Configuration, keys: &[&str], what: &str) -> Vec<Diagnostic> {
    let names = keys.iter().map(|key| format!("workload.{key}"));
    let said = names.filter(|name| configuration.is_said(name));
    said.map(|name| configuration.mistake(&name, format!("`{name}` does not belong to {what}")))
        .collect()
}

/// A collective operation of which the algorithm may still have to be chosen.
#[derive(Debug)]
pub(crate) struct Operation {
    collective: Collective,
    /// The algorithm; [`AUTOMATIC`] for the best.
    pub algorithm: &'static str,
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

/// The name of the best algorithm.
pub(crate) const AUTOMATIC: &str = "automatic";

impl Operation {
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

    /// The operation by an algorithm of this name.
    pub fn by(&self, algorithm: &str) -> Result<Scheduled, collectives::Error> {
        let cost = |bytes| (self.rate.cost(bytes).ps() + self.unit / 2) / self.unit;
        Scheduled::new(self.collective, algorithm, &self.call(), cost)
    }

    /// The algorithms that can be chosen.
    pub fn candidates(&self) -> Vec<&'static str> {
        let found = collectives::candidates(self.collective, &self.call());
        found.into_iter().map(|entry| entry.name).collect()
    }
}

/// The collective that an experiment describes.
pub(crate) fn operation(
    name: &str,
    configuration: &Configuration,
) -> Result<Operation, Vec<Diagnostic>> {
    let mut mistakes = useless(configuration, &ONLY_PATTERN_KEYS, "a collective");
    mistakes.extend(unused(name, configuration));
    let found = collectives::named(name)
        .map_err(|error| configuration.mistake("workload.source", error.to_string()))
        .and_then(|found| Ok((found, algorithm(found, configuration)?)));
    let count = |key: &str| configuration.count(key).unwrap_or(1) as u32;
    let bytes = |key: &str| configuration.bytes(key).map_or(1, units::Bytes::get);
    let (ranks, root) =
        (count("workload.ranks"), configuration.count("workload.root").unwrap_or(0));
    let is_rooted = found.as_ref().map_or(true, |(found, _)| found.is_rooted());
    if !is_rooted {
        mistakes.extend(useless(configuration, &["root"], "a collective without a root"));
    } else if root >= u64::from(ranks) {
        let message = format!("\"root\" is {root}, but the ranks are 0 to {}", ranks - 1);
        mistakes.push(configuration.mistake("workload.root", message));
    }
    let (size, element) = (bytes("workload.size"), bytes("workload.element"));
    if element == 0 || !size.is_multiple_of(element) {
        let message = format!("elements of {element} B do not fill {size} B");
        mistakes.push(configuration.mistake("workload.element", message));
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
        ranks,
        root: root as u32,
        element,
        segment: configuration.is_said("workload.segment").then(|| bytes("workload.segment")),
        blocks: Blocks::Same(size / element),
        nodes: Nodes::Consecutive(count("workload.per-node")),
        rate: configuration.per_byte("workload.reduce-cost").unwrap_or(TimePerByte::ZERO),
        unit: configuration.time("workload.time-unit").unwrap_or(Time::from_ps(1_000)).ps().max(1),
    })
}

/// Options that mean nothing to the collective of this name.
fn unused(name: &str, configuration: &Configuration) -> Vec<Diagnostic> {
    let Ok(collective) = collectives::named(name) else { return Vec::new() };
    let mut mistakes = Vec::new();
    if collective == Collective::Barrier {
        let keys = ["size", "element", "segment"];
        mistakes.extend(useless(configuration, &keys, "a collective without data"));
    }
    if !collective.reduces() {
        let what = "a collective that combines nothing";
        mistakes.extend(useless(configuration, &["reduce-cost"], what));
    }
    if configuration.bytes("workload.segment").map(units::Bytes::get) == Some(0) {
        mistakes.push(configuration.mistake("workload.segment", "\"segment\" must be at least 1"));
    }
    mistakes
}

/// The same by the algorithm that it names.
pub(crate) fn collective(
    name: &str,
    configuration: &Configuration,
) -> Result<Scheduled, Vec<Diagnostic>> {
    let operation = operation(name, configuration)?;
    operation
        .by(operation.algorithm)
        .map_err(|error| vec![configuration.mistake("workload.algorithm", error.to_string())])
}

/// The algorithm of a collective: the one that is named, or else the library's choice.
fn algorithm(
    collective: Collective,
    configuration: &Configuration,
) -> Result<&'static str, Diagnostic> {
    let wrong = |key: &str, error: collectives::Error| {
        configuration.mistake(&format!("workload.{key}"), error.to_string())
    };
    if configuration.is_said("workload.algorithm") {
        let name = configuration.name("workload.algorithm").unwrap_or_default();
        let found = collectives::find(collective, &name);
        return found.map(|entry| entry.name).map_err(|error| wrong("algorithm", error));
    }
    let name = configuration.name("workload.collectives").unwrap_or_default();
    let found = collectives::library(&name).map_err(|error| wrong("collectives", error))?;
    // A collective of which a library has no choice has only the default.
    Ok(collectives::find(collective, found).map_or("default", |entry| entry.name))
}

/// Builds the pattern that an experiment describes.
pub(crate) fn build(name: &str, configuration: &Configuration) -> Result<Pattern, Vec<Diagnostic>> {
    let useless = useless(configuration, &COLLECTIVE_KEYS, "a pattern");
    if !useless.is_empty() {
        return Err(useless);
    }
    let options = options(configuration).map_err(|mistake| vec![mistake])?;
    Pattern::build(name, &options).map_err(|error| {
        let option = match &error {
            pattern::Error::UnknownName { .. } | pattern::Error::TooLong { .. } => "source",
            pattern::Error::Unused { option, .. } | pattern::Error::Zero { option } => option,
            pattern::Error::Root { .. } => "root",
            pattern::Error::Dimensions { .. } | pattern::Error::Grid { .. } => "grid",
        };
        vec![configuration.mistake(&format!("workload.{option}"), error.to_string())]
    })
}

fn options(configuration: &Configuration) -> Result<Options, Diagnostic> {
    // The table of keys keeps counts of ranks, ways and steps within 32 bits.
    let count = |name| configuration.count(name).unwrap_or(1);
    let bytes = |name| configuration.bytes(name).map(units::Bytes::get);
    let size = bytes("workload.size").unwrap_or(1);
    Ok(Options {
        root: configuration.count("workload.root").unwrap_or(0) as u32,
        ways: count("workload.ways") as u32,
        segment: bytes("workload.segment").unwrap_or(1),
        skew: count("workload.skew"),
        steps: count("workload.steps") as u32,
        compute: compute(configuration)?,
        allreduce: bytes("workload.allreduce"),
        grid: configuration.grid("workload.grid").unwrap_or_default(),
        seed: count("workload.seed"),
        permute: configuration.count("workload.permute"),
        ..Options::new(count("workload.ranks") as u32, size)
    })
}

/// The computation of a step in the schedule's time unit.
fn compute(configuration: &Configuration) -> Result<u64, Diagnostic> {
    let time = configuration.time("workload.compute").unwrap_or(Time::ZERO);
    let unit = configuration.time("workload.time-unit").unwrap_or(Time::from_ps(1_000));
    if unit == Time::ZERO || !time.ps().is_multiple_of(unit.ps()) {
        let message = format!("{time} is no multiple of the time unit, {unit}");
        let help = "set workload.time-unit to a shorter one".to_owned();
        return Err(configuration.mistake("workload.compute", message).help(help));
    }
    Ok(time.ps() / unit.ps())
}
