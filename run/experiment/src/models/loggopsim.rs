//! The model `loggopsim`: the rules and the order of events of LogGOPSim, literally, by the engine
//! `host::loggopsim`, which has one thread and runs programs that are known in advance.

use std::time::Instant;

use host::{Outcome, Record, Settings, Work};
use kernel::{Probe, Silent};
use results::Tables;

use super::{Model, Run, Simulated};
use crate::{
    job::Failure,
    settings::{
        configuration::Configuration,
        diagnostic::Diagnostic,
        keys::{self, Id},
        scope,
    },
};

/// The wire of LogGOPS by the rules of `LogGOPSim`.
#[derive(Clone, Copy, Debug)]
pub struct Loggopsim;

/// Refuses what `LogGOPSim` does not know: other values for large messages or for one of the two
/// sides, fractions of a picosecond per byte, and some words.
pub(crate) fn resolve(
    configuration: &Configuration,
) -> Result<(Loggopsim, Vec<String>), Vec<Diagnostic>> {
    let unknown = Id::all().filter(|id| {
        let scope = id.key().scope;
        let known = scope.has_model(scope::Model::Loggopsim);
        let is_other = !known && scope.has_model(scope::Model::Loggops);
        is_other && configuration.is_said(*id) && differs(configuration, *id)
    });
    if configuration.is_program() {
        let message = "LogGOPSim runs schedules, not programs";
        return Err(vec![configuration.mistake(keys::loggops::COMPAT, message)]);
    }
    let mut mistakes: Vec<_> = unknown
        .map(|id| {
            let message = format!("`{}` has no counterpart in LogGOPSim", id.key().name);
            configuration.mistake(id, message)
        })
        .collect();
    for key in [keys::loggops::GAP_PER_BYTE, keys::loggops::OVERHEAD_PER_BYTE] {
        if configuration.value(key).is_some_and(|rate| rate.parts().1 != 1) {
            let message = "LogGOPSim knows only whole picoseconds per byte";
            mistakes.push(configuration.mistake(key, message));
        }
    }
    let help = || "change it, or leave out loggops.compat = \"loggopsim\"".to_owned();
    let mistakes: Vec<_> = mistakes.into_iter().map(|mistake| mistake.help(help())).collect();
    if mistakes.is_empty() { Ok((Loggopsim, Vec::new())) } else { Err(mistakes) }
}

/// Returns whether a setting that `LogGOPSim` does not have differs from the one that it has
/// instead.
fn differs(configuration: &Configuration, id: Id) -> bool {
    let name = id.key().name;
    let base = ["large.", "-send", "-recv"]
        .iter()
        .fold(name.to_owned(), |name, part| name.replace(part, ""));
    let value = |name: &str| configuration.get(name).map(|(value, _)| value);
    if base == name { !configuration.is_default(id) } else { value(name) != value(&base) }
}

impl Model for Loggopsim {
    fn run<P: Work>(&self, program: &P, run: &Run<'_>) -> Result<Simulated, Failure> {
        run.watched(&|_, _, _| 0, |settings| {
            let start = Instant::now();
            let (outcome, tables) = if run.records() {
                let (outcome, probe) = imitated(program, settings, run.collector())?;
                (outcome, run.merge(vec![probe])?)
            } else {
                (imitated(program, settings, Silent)?.0, Tables::default())
            };
            Ok(Simulated::new(outcome, tables, start.elapsed()))
        })
    }

    fn is_sequential(&self) -> bool {
        true
    }
}

fn imitated<P: Work, B: Probe<Record>>(
    program: &P,
    settings: &Settings,
    probe: B,
) -> Result<(Outcome, B), host::Error> {
    program
        .by_loggopsim(settings, probe)
        .unwrap_or(Err(host::Error::Compat("a program that is known in advance".into())))
}
