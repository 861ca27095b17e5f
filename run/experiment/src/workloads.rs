//! The workloads. Each has a file, with how it is made of settings (`resolve`) and how a job runs
//! it (`run`); they are joined here.

mod calls;
pub(crate) mod collective;
pub(crate) mod goal;
pub(crate) mod live;
mod names;
pub(crate) mod pattern;
pub(crate) mod traces;
pub(crate) mod traffic;

pub(crate) use names::meant;

use std::{sync::Arc, time::Instant};

use crate::{
    job::{Failure, Job, Report, Runs},
    models::Model,
    settings::{configuration::Configuration, diagnostic::Diagnostic, keys, scope},
};

/// The workloads with ranks that an experiment can choose, joined: each of the two matches has a
/// line for each. Traffic, which has none, is measured by a [`traffic::TrafficPlan`].
#[derive(Debug)]
pub enum Workload {
    /// A schedule.
    Goal(goal::Goal),
    /// A pattern.
    Pattern(pattern::Pattern),
    /// A collective operation.
    Collective(collective::Chosen),
    /// The traces of a run.
    Traces(traces::Recorded),
    /// A live program.
    Live(live::Programs),
}

/// Makes the workload that the settings choose.
///
/// # Errors
/// Everything that is wrong with its settings.
pub(crate) fn resolve(
    configuration: &Arc<Configuration>,
    kind: scope::Workload,
) -> Result<Workload, Vec<Diagnostic>> {
    match kind {
        scope::Workload::Goal => goal::resolve(configuration).map(Workload::Goal),
        scope::Workload::Pattern => pattern::resolve(configuration).map(Workload::Pattern),
        scope::Workload::Collective => collective::resolve(configuration).map(Workload::Collective),
        scope::Workload::Traces => traces::resolve(configuration).map(Workload::Traces),
        scope::Workload::Live => live::resolve(configuration).map(Workload::Live),
        scope::Workload::Traffic => {
            let message = "traffic is measured, not simulated as a program";
            Err(vec![configuration.mistake(keys::workload::SOURCE, message)])
        }
    }
}

impl Runs for Workload {
    fn run<M: Model>(&self, job: &Job<'_, Self, M>, start: Instant) -> Result<Report, Failure> {
        match self {
            Self::Goal(goal) => goal.run(&job.of(goal), start),
            Self::Pattern(pattern) => pattern.run(&job.of(pattern), start),
            Self::Collective(chosen) => chosen.run(&job.of(chosen), start),
            Self::Traces(traces) => traces.run(&job.of(traces), start),
            Self::Live(programs) => programs.run(&job.of(programs), start),
        }
    }
}
