//! The registry: what the names in an experiment stand for.

use std::{fmt::Write as _, path::PathBuf};

use schedule::pattern::{self, NAMES, Options, Pattern};
use units::Time;

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
}

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

/// Builds the pattern that a request describes; settings that say nothing of patterns are mistakes.
pub fn pattern(request: &Request) -> Result<Pattern, Mistakes> {
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
        Some(value::Workload::Pattern(name)) => build(&name, &configuration),
        _ => Err(vec![configuration.mistake("workload.source", "this is no pattern")]),
    };
    match built {
        Ok(pattern) if mistakes.is_empty() => Ok(pattern),
        built => {
            mistakes.extend(built.err().unwrap_or_default());
            Err(Mistakes(mistakes))
        }
    }
}

/// Builds the pattern that an experiment describes.
pub(crate) fn build(name: &str, configuration: &Configuration) -> Result<Pattern, Vec<Diagnostic>> {
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
