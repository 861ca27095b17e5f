//! The workload `pattern:NAME`: a schedule by a formula or ranks that answer messages as they come,
//! and what the names of patterns mean.

use std::{fmt::Write as _, time::Instant};

use collectives::program::Scheduled;
use host::{PendingOp, TwoWayRing};
use results::Pending;
use schedule::pattern::{self, NAMES, Options, REACTIVE};
use units::{Bytes, Time};

use super::collective;
use crate::{
    job::{Failure, Job, Report, Runs, pending},
    models::Model,
    settings::{
        configuration::{Configuration, Request},
        diagnostic::{Diagnostic, Mistakes},
        keys::{self, Id, Setting},
        scope::{self, Part},
        usage, value,
    },
};

/// A pattern.
#[derive(Debug)]
pub enum Pattern {
    /// One that is a schedule.
    Schedule(pattern::Pattern),
    /// One whose ranks answer messages as they come.
    TwoWayRing(TwoWayRing),
}

pub(crate) fn resolve(configuration: &Configuration) -> Result<Pattern, Vec<Diagnostic>> {
    let Some(value::Workload::Pattern(name)) = configuration.workload() else {
        return Err(vec![configuration.mistake(keys::workload::SOURCE, "this is no pattern")]);
    };
    if REACTIVE.contains(&name.as_str()) {
        let options = options(configuration).map_err(|mistake| vec![mistake])?;
        let ring = TwoWayRing::new(&options).map_err(|error| wrong(configuration, &error))?;
        return Ok(Pattern::TwoWayRing(ring));
    }
    build(&name, configuration).map(Pattern::Schedule)
}

impl Runs for Pattern {
    fn run<M: Model>(&self, job: &Job<'_, Self, M>, start: Instant) -> Result<Report, Failure> {
        match self {
            Self::Schedule(pattern) => {
                let simulated = job.simulate(pattern, 0)?;
                Ok(job.report(start, simulated, |op| pending(pattern, op)))
            }
            Self::TwoWayRing(ring) => {
                let simulated = job.carry_out(ring, 0, &|_| None)?;
                let describe =
                    |op: &PendingOp| Pending::new(op, &ring.operation(op.rank, op.index));
                Ok(job.report(start, simulated, describe))
            }
        }
    }
}

/// A program that is made from settings alone.
#[derive(Debug)]
pub enum Generated {
    /// A pattern.
    Pattern(pattern::Pattern),
    /// A collective.
    Collective(Scheduled),
}

/// A line on each pattern.
pub fn patterns() -> String {
    let mut text = String::new();
    for name in NAMES.into_iter().chain(REACTIVE) {
        let _ = writeln!(text, "{name:<30}{}", description(name));
    }
    text
}

/// Describes a pattern in one line.
fn description(name: &str) -> &'static str {
    match name {
        "dissemination" => "in round k, each rank sends to the one 2^k ahead",
        "binomial-bcast" => "broadcast from the root along a binomial tree",
        "binomial-reduce" => "reduction to the root along a binomial tree",
        "binary-bcast" => "broadcast from the root along a binary tree",
        "nway-dissemination" => "dissemination with several messages per round (--ways)",
        "linear-alltoall" => "everyone sends to everyone at once, in the order of distance",
        "pairwise-alltoall" => "everyone exchanges with everyone, one partner per step",
        "bruck-alltoall" => "all-to-all in the rounds of dissemination, blocks combined",
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
        "bulk-reply" => "pairs: several messages one way, then as many back (--ways)",
        "halo1d" => "neighbours on a periodic line, step by step (--steps, --compute, --allreduce)",
        "halo2d" => "neighbours on a periodic grid of two dimensions (--grid)",
        "halo3d" => "neighbours on a periodic grid of three dimensions (--grid)",
        "random-ring" => "both neighbours on a ring in random order, drawn anew (--steps, --seed)",
        "two-way-ring" => "a message around a ring in each direction from each rank, as they come",
        "random" => "in each step, everyone sends to a random other (--steps, --seed)",
        _ => "",
    }
}

/// Builds the pattern or collective that a request describes; settings that say nothing of either
/// are mistakes.
pub fn generated(request: &Request) -> Result<Generated, Mistakes> {
    let configuration = Configuration::read(request)?;
    let foreign =
        Id::all().filter(|id| id.key().scope.part != Part::Program && configuration.is_said(*id));
    let mut mistakes: Vec<_> = foreign
        .map(|id| {
            let message = format!("`{}` does not belong to a pattern", id.key().name);
            configuration.mistake(id, message)
        })
        .collect();
    let built = match configuration.workload() {
        Some(value::Workload::Pattern(name)) => {
            mistakes.extend(usage::mistakes(&configuration, scope::Workload::Pattern));
            build(&name, &configuration).map(Generated::Pattern)
        }
        Some(value::Workload::Collective(name)) => {
            mistakes.extend(usage::mistakes(&configuration, scope::Workload::Collective));
            collective::collective(&name, &configuration).map(Generated::Collective)
        }
        _ => Err(vec![configuration.mistake(keys::workload::SOURCE, "this is no pattern")]),
    };
    match built {
        Ok(generated) if mistakes.is_empty() => Ok(generated),
        built => {
            mistakes.extend(built.err().unwrap_or_default());
            Err(Mistakes(mistakes))
        }
    }
}

/// Builds the pattern that an experiment describes.
pub(crate) fn build(
    name: &str,
    configuration: &Configuration,
) -> Result<pattern::Pattern, Vec<Diagnostic>> {
    let options = options(configuration).map_err(|mistake| vec![mistake])?;
    pattern::Pattern::build(name, &options).map_err(|error| wrong(configuration, &error))
}

/// The mistake behind an error in a pattern.
fn wrong(configuration: &Configuration, error: &pattern::Error) -> Vec<Diagnostic> {
    let option = match error {
        pattern::Error::UnknownName { .. }
        | pattern::Error::TooLong { .. }
        | pattern::Error::Reactive { .. } => "source",
        pattern::Error::Unused { option, .. } | pattern::Error::Zero { option } => option,
        pattern::Error::Root { .. } => "root",
        pattern::Error::Dimensions { .. } | pattern::Error::Grid { .. } => "grid",
    };
    let id = Id::named(&format!("workload.{option}")).unwrap_or(keys::workload::SOURCE.id());
    let help = match error {
        pattern::Error::UnknownName { name, .. } => super::names::elsewhere("pattern", name),
        _ => None,
    };
    vec![configuration.mistake(id, error.to_string()).help(help)]
}

fn options(configuration: &Configuration) -> Result<Options, Diagnostic> {
    // The table of keys keeps counts of ranks, ways and steps within 32 bits.
    let count = |setting: Setting<u64>| configuration.value(setting).unwrap_or(1);
    let bytes = |setting| configuration.value(setting).map(Bytes::get);
    let size = bytes(keys::workload::SIZE).unwrap_or(1);
    Ok(Options {
        root: configuration.value(keys::workload::ROOT).unwrap_or(0) as u32,
        ways: count(keys::workload::WAYS) as u32,
        segment: bytes(keys::workload::SEGMENT).unwrap_or(1),
        skew: count(keys::workload::SKEW),
        steps: count(keys::workload::STEPS) as u32,
        compute: compute(configuration)?,
        allreduce: bytes(keys::workload::ALLREDUCE),
        grid: configuration.value(keys::workload::GRID).unwrap_or_default(),
        seed: count(keys::workload::SEED),
        permute: configuration.value(keys::workload::PERMUTE),
        ..Options::new(count(keys::workload::RANKS) as u32, size)
    })
}

/// The computation of a step in the schedule's time unit.
fn compute(configuration: &Configuration) -> Result<u64, Diagnostic> {
    let time = configuration.value(keys::workload::COMPUTE).unwrap_or(Time::ZERO);
    let unit = configuration.value(keys::workload::TIME_UNIT).unwrap_or(Time::from_ps(1_000));
    if unit == Time::ZERO || !time.ps().is_multiple_of(unit.ps()) {
        let message = format!("{time} is no multiple of the time unit, {unit}");
        let help = "set workload.time-unit to a shorter one".to_owned();
        return Err(configuration.mistake(keys::workload::COMPUTE, message).help(help));
    }
    Ok(time.ps() / unit.ps())
}
