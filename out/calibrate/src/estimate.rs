//! Parameters of LogGOPS from samples, with intervals, refusals and diagnoses.

use std::collections::BTreeMap;

use kernel::Random;

use crate::{
    cells::{cells, resolution},
    diagnose::{self, Diagnosis},
    large::Large,
    limits::{Gaps, Kinds, Limit},
    model_error::ModelError,
    noise::Medians,
    overheads::{Curve, curves},
    plan::{Derived, Plan},
    protocols,
    resample::{Units, residuals},
    samples::{Operation, Sample},
    segments::{Point, Segment},
    statistics::{quantile, student},
};

/// The parameters, with their units.
pub const PARAMETERS: [(&str, &str); 8] = [
    ("L", "ns"),
    ("o", "ns"),
    ("o_send", "ns"),
    ("o_receive", "ns"),
    ("g", "ns"),
    ("G", "ns/B"),
    ("O", "ns/B"),
    ("S", "B"),
];

/// A value with its interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Options of an estimation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number of bootstrap replicates.
    pub replicates: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { replicates: 1000 }
    }
}

/// All that samples say of an interconnect.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// The parameters that the samples determine, by name.
    pub parameters: BTreeMap<&'static str, Estimate>,
    /// The pieces of the costs of each operation.
    pub segments: BTreeMap<String, Vec<Segment>>,
    /// The times of one message of each operation by size, with their deviations.
    pub points: BTreeMap<String, Vec<Point>>,
    /// The parameters that the samples do not determine, with the reasons.
    pub refused: BTreeMap<&'static str, String>,
    /// The properties of the samples that make parameters doubtful.
    pub diagnoses: Vec<Diagnosis>,
    /// The number of samples.
    pub samples: usize,
    /// The best guess of g where its value is refused, in nanoseconds.
    pub hidden_gap: Option<f64>,
    /// L and the overheads of both sides together, in nanoseconds, where no more is known.
    pub one_way: Option<Estimate>,
    /// The greatest size up to which messages are known to be of one kind.
    pub largest: u64,
    /// The greatest size of messages that do not wait for their receiver, by a step of their times:
    /// S, unless another size leaves a smaller error of the model.
    pub detached: Option<u64>,
    /// L and G of messages of more than S bytes, if S and enough sizes beyond it are known.
    pub large: Option<Large>,
    /// By how much times differ from those of the model, if that shows.
    pub model_error: Option<ModelError>,
    /// The joint replicates: for each the values of [`Calibration::columns`], the error of the
    /// model in them.
    pub replicates: Vec<Vec<f64>>,
    /// The parameters of the replicates' columns.
    pub columns: Vec<&'static str>,
}

/// Intervals are wider than the bootstrap's by this factor: percentiles of replicates are a little
/// too near each other for medians of few samples.
const CAUTION: f64 = 1.05;

/// Estimates what samples determine.
pub fn fit(samples: &[Sample], options: &Options) -> Calibration {
    fit_set(samples, 0, *options)
}

/// Estimates what samples determine, as [`fit`] does. Replicates of sets with other numbers are
/// independent.
pub(crate) fn fit_set(samples: &[Sample], set: u32, options: Options) -> Calibration {
    let (kept, modes) = diagnose::lower_modes(samples);
    let cells = cells(&kept);
    let units = Units::new(&kept, &cells);
    let medians = Medians::new(&cells, &units, set, options.replicates, resolution(samples));
    let curves = curves(&cells, &medians);
    let points = curves.iter().map(|(kind, of)| (kind.to_string(), of.points.clone())).collect();
    let found = Kinds::find(&curves, &Gaps::new(&cells, &medians));
    let (kinds, several) = protocols::choose(found, &cells, &medians, &curves, &points);
    let limit = kinds.limit;
    let detached = match found.limit {
        Limit::Step(size, ..) => Some(size),
        Limit::Bend(_) | Limit::None(_) => None,
    };
    let plan = Plan::new(&cells, &medians, &curves, &kinds);
    let mut fitted = Calibration {
        segments: named_segments(&curves),
        points,
        diagnoses: modes.into_iter().chain(diagnose::asymmetry(samples)).collect(),
        samples: samples.len(),
        detached,
        largest: limit.largest(),
        ..Calibration::default()
    };
    let shown = residuals(&cells, kept.len());
    fitted.diagnoses.extend(diagnose::others(&kept, &shown));
    fitted.diagnoses.extend(plan.near.iter().chain(&plan.disturbed).cloned());
    fitted.diagnoses.extend(several);
    let derived = plan.derive(&medians.measured, None);
    let (all, times): (Vec<Derived>, Vec<&[f64]>) = medians
        .replicates
        .iter()
        .map(|times| (plan.derive(times, Some(&derived)), times.as_slice()))
        .filter(|(replicate, _)| replicate.known() == derived.known())
        .unzip();
    // The noise of cells of one sample is known as well as the scatter of so many cells.
    let doubt = if medians.single {
        student(cells.len().saturating_sub(2)) / 1.96
    } else {
        units.widening()
    };
    let factor = CAUTION * doubt * derived.misfit();
    let estimates = intervals(&derived, &all, factor);
    // Where a time may be overhead or latency, each replicate has its own part of it in both.
    let parts = Random::new(u64::from(set), Derived::PARTS);
    let part =
        |(number, replicate): (usize, Derived)| replicate.with_part(parts.unit(number as u32, 0));
    let all: Vec<Derived> = all.into_iter().enumerate().map(part).collect();
    let trip = all.iter().map(|replicate| replicate.one_way).collect();
    fitted.one_way = interval(derived.one_way, trip, factor).map(clipped);
    fitted.hidden_gap = Some(derived.values[Derived::GAP]).filter(|gap| gap.is_finite());
    crate::refuse::judge(&mut fitted, estimates, &plan, &limit);
    fitted.large = Large::find(&fitted, &curves, &medians.measured, &times, doubt * CAUTION, &all);
    fitted.model_error = ModelError::find(&fitted.points, |bytes| fitted.one_way_of(bytes))
        .and_then(ModelError::shown);
    fitted.keep_replicates(&all);
    fitted
}

/// Returns the intervals of all parameters that follow, `factor` times as wide as replicates have.
fn intervals(derived: &Derived, all: &[Derived], factor: f64) -> BTreeMap<&'static str, Estimate> {
    let least = derived.with_part(0.0);
    let of = |(place, (name, _)): (usize, &(&'static str, &str))| {
        let value = derived.values[place];
        let column = all.iter().map(|replicate| replicate.values[place]).collect();
        let found = interval(value, column, factor)?;
        Some((*name, reaching(found, least.values[place] - value)))
    };
    PARAMETERS.iter().take(Derived::COUNT).enumerate().filter_map(of).collect()
}

fn named_segments(curves: &BTreeMap<Operation, Curve>) -> BTreeMap<String, Vec<Segment>> {
    let several = curves.iter().filter(|(_, curve)| curve.points.len() > 1);
    several.map(|(operation, curve)| (operation.to_string(), curve.segments())).collect()
}

/// Returns the interval about a value from its replicates, `factor` times as wide as theirs.
pub(crate) fn interval(value: f64, mut replicates: Vec<f64>, factor: f64) -> Option<Estimate> {
    if !value.is_finite() || replicates.len() < 20 {
        return None;
    }
    replicates.sort_by(f64::total_cmp);
    let away = |part| (quantile(&replicates, part) - value) * factor;
    // Delays are written with few digits too, and sums of floating-point numbers keep no more.
    let least = 1e-6 * value.abs().max(1e-3);
    Some(Estimate {
        value,
        low: value + away(0.025).min(-least),
        high: value + away(0.975).max(least),
    })
}

/// Returns an estimate whose value may be larger or smaller by `reach` for all that samples tell.
fn reaching(estimate: Estimate, reach: f64) -> Estimate {
    let Estimate { value, low, high } = estimate;
    let least = if reach < 0.0 { (low + reach).max(0.0) } else { low };
    Estimate { value, low: low.min(least), high: high + reach.max(0.0) }
}

/// Returns the interval about a value from its replicates, with the same caution as [`fit`]: wider
/// than theirs by what few units ask for.
pub(crate) fn interval_of(value: f64, replicates: Vec<f64>, widening: f64) -> Option<Estimate> {
    interval(value, replicates, CAUTION * widening)
}

/// Returns an estimate without what is below zero.
pub fn clipped(estimate: Estimate) -> Estimate {
    let Estimate { value, low, high } = estimate;
    Estimate { value: value.max(0.0), low: low.max(0.0), high: high.max(0.0) }
}

impl Calibration {
    /// Returns whether nothing was determined.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.one_way.is_none()
    }

    /// Keeps the columns of those parameters that were not refused, and of large messages. All
    /// times of a replicate are longer or shorter by the same factor, which the error of the model
    /// tells.
    fn keep_replicates(&mut self, all: &[Derived]) {
        let places: Vec<usize> = (0..Derived::COUNT)
            .filter(|&place| self.parameters.contains_key(PARAMETERS[place].0))
            .collect();
        self.columns = places.iter().map(|&place| PARAMETERS[place].0).collect();
        if self.large.is_some() && !places.is_empty() {
            self.columns.extend(Large::COLUMNS);
        }
        let row = |(number, replicate): (usize, &Derived)| {
            let large = self.large.iter().flat_map(|large| large.replicates[number]);
            let own = places.iter().map(|&place| replicate.values[place]);
            let factor = self.model_error.map_or(1.0, |error| error.factor(number));
            let count = self.columns.len();
            own.chain(large).take(count).map(|value| value.max(0.0) * factor).collect()
        };
        self.replicates = all.iter().enumerate().map(row).collect();
    }
}
