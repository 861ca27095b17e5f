//! The time that the runs of a study will take, for a person who decides whether to start it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
};

use host::Meter;
use results::Work;

use super::{Shared, Study};
use crate::{Observer, Observers};

/// The most runs whose work is looked at; of more, so many at equal distances.
const SAMPLE: usize = 64;

/// The time that runs will take, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The time in seconds.
    pub seconds: f64,
    /// The number of finished runs that tell how fast runs are; 0 if none does.
    pub finished: usize,
    /// Is true if the work of runs is known before they start, and counts.
    pub by_work: bool,
}

/// Notes how much work a simulation is, and stops it where it begins.
#[derive(Default)]
struct Beginning(Mutex<Option<Work>>);

impl Observer for Beginning {
    fn meter(&self) -> Option<Arc<Meter>> {
        let meter = Meter::default();
        meter.stop.store(true, Ordering::Relaxed);
        Some(Arc::new(meter))
    }

    fn begins(&self, total: Option<Work>) {
        let mut work = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work.get_or_insert(total.unwrap_or(Work { operations: 0, signals: 0 }));
    }
}

impl Study {
    /// Returns the time that a run takes at the speed of a usual machine. It is not known of
    /// synthetic traffic and of live programs, nor where the settings are wrong.
    fn seconds(&self, run: usize, shared: &Shared) -> Option<f64> {
        let configuration = self.configuration(&self.levels(run)).ok()?;
        if configuration.is_traffic() || configuration.is_program() {
            return None;
        }
        let plan = shared.plan(configuration).ok()?;
        let beginning = Beginning::default();
        // It ends with an error, as it was stopped.
        let _ = plan.job(Observers { progress: &beginning, ..Observers::default() }).run();
        let work = beginning.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        work.map(Work::seconds).filter(|seconds| *seconds > 0.0)
    }

    /// Returns the time at that speed of some of the runs, taken together; none if it is unknown of
    /// one of them.
    fn sampled(&self, runs: &[usize], shared: &Shared) -> Option<f64> {
        let stride = runs.len().div_ceil(SAMPLE).max(1);
        let sample = runs.iter().step_by(stride);
        let count = sample.len();
        let seconds: Option<f64> = sample.map(|run| self.seconds(*run, shared)).sum();
        Some(seconds? * runs.len() as f64 / count.max(1) as f64)
    }

    /// Estimates the time of the runs in `missing`. `finished` has the wall times of others, by
    /// which the estimate is scaled. Schedules and topologies are made, and runs are
    /// stopped at the end of their first window.
    pub fn estimate(&self, missing: &[usize], finished: &BTreeMap<usize, f64>) -> Option<Estimate> {
        let shared = Shared::default();
        let took: f64 = finished.values().sum();
        let by_work = self.sampled(missing, &shared);
        let known: Vec<_> = finished.keys().copied().collect();
        let scale = by_work
            .and_then(|_| self.sampled(&known, &shared))
            .filter(|seconds| *seconds > 0.0)
            .map(|seconds| took / seconds);
        let mean = (!known.is_empty()).then(|| took / known.len() as f64);
        let (seconds, finished) = match (by_work, scale, mean) {
            (Some(seconds), Some(scale), _) => (seconds * scale, known.len()),
            (None, _, Some(mean)) => (mean * missing.len() as f64, known.len()),
            (seconds, ..) => (seconds?, 0),
        };
        Some(Estimate { seconds, finished, by_work: by_work.is_some() })
    }
}
