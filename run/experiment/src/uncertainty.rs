//! The doubt about a prediction: a workload under joint replicates of measured parameters, and the
//! rates at which its makespan follows one of them.
//!
//! Replicates are those of [`crate::calibration`]. A value that does not come from the calibrated
//! machine file is as it is in all of them.

use std::{
    path::PathBuf,
    sync::Mutex,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use host::Settings;
use units::{Time, TimePerByte};

use crate::{
    Job, Plan,
    calibration::{self, Replicates},
    job::{Failure, Observers, Records},
    models,
    settings::{
        configuration::{Configuration, Origin, Parameter},
        diagnostic::{Diagnostic, Mistakes, Place},
        keys::{self, Id},
        named_table::NamedTable,
        scope::Model,
        synonyms,
        value::{Kind, Value},
    },
};

/// The makespans under replicates, and the parameters to which their spread is due.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertainty {
    /// The number of replicates.
    pub replicates: usize,
    /// The median of the makespan, in picoseconds.
    pub median: f64,
    /// The lower end of the interval of 95 %.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// For each key that varies, the share of the variance that goes when it is known to be its
    /// median: the square of its correlation with the makespan. Parameters that were measured
    /// together depend on each other, so that the shares need not add up to 1.
    pub shares: Vec<(String, f64)>,
    /// The share of the variance that the error of the model brings, a factor that all times of a
    /// replicate have in common; it is not in the shares of the keys. 0 without such an error.
    pub model: f64,
}

/// The rates at which a makespan follows a parameter, and the range over which they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: Time,
    /// The makespan.
    pub makespan: Time,
    /// Change of the makespan for each unit by which the value falls and rises.
    pub rates: [i64; 2],
    /// Picoseconds by which the makespan jumps as soon as the value falls and rises: beside 0 where
    /// a CPU or an interface takes two activities in another order from this value on.
    pub jumps: [i64; 2],
    /// The least and the greatest value for which the makespan follows these rates. At the other
    /// end of an open range there is no bound up to there: 0, or a hundred times the value.
    pub range: [Time; 2],
}

/// The least share of the variance, times the number of replicates, that says that these have a
/// factor in common: the square of 3.2 standard deviations of what chance shows.
const LEAST_SHARE: f64 = 10.0;

/// The keys for which there are rates.
const RATED: [Id; 5] = [
    keys::loggops::LATENCY.id(),
    keys::loggops::OVERHEAD.id(),
    keys::loggops::SEND_OVERHEAD.id(),
    keys::loggops::RECEIVE_OVERHEAD.id(),
    keys::loggops::GAP.id(),
];

impl Plan {
    /// Runs the workload under `count` joint replicates of the machine's parameters.
    ///
    /// # Errors
    /// If there are not so many replicates or none of a class that was measured, if the workload is
    /// a live program, or if a run fails or ends in a deadlock.
    pub fn uncertainty(&self, count: usize) -> Result<Uncertainty, Failure> {
        self.is_repeatable("--uncertainty")?;
        let configuration = self.configuration();
        let Replicates { parameters, rows } = calibration::replicates(configuration)
            .map_err(|mistake| Mistakes(vec![mistake]))?
            .ok_or_else(|| {
                usage("--uncertainty", "the machine has no replicates of measured parameters")
                    .help("heddle fit SAMPLES -o MACHINE.toml writes them".to_owned())
            })
            .map_err(|mistake| Mistakes(vec![mistake]))?;
        if rows.len() < count {
            let message = format!("there are {} replicates of the parameters only", rows.len());
            let help = format!("heddle fit --replicates {count} makes more");
            let mistake = usage(&format!("--uncertainty {count}"), message).help(help);
            return Err(Mistakes(vec![mistake]).into());
        }
        let without = self.classes_without(&parameters);
        if !without.is_empty() {
            return Err(Mistakes(without).into());
        }
        let varies = |&column: &usize| {
            let parameter = parameters[column];
            is_measured(configuration, parameter) && self.is_used(parameter)
        };
        let varied: Vec<usize> = (0..parameters.len()).filter(varies).collect();
        if varied.is_empty() {
            let mistake = self.unused("--uncertainty", "any of the measured parameters");
            return Err(Mistakes(vec![mistake]).into());
        }
        let values = |row: &Vec<f64>| -> Vec<(Parameter, Value)> {
            let value = |&column: &usize| {
                let parameter = parameters[column];
                (parameter, value(parameter.id, row[column]))
            };
            varied.iter().map(value).collect()
        };
        let all: Vec<Vec<(Parameter, Value)>> = rows[..count].iter().map(values).collect();
        let makespans = self.makespans(&all)?;
        let named = |&column: &usize| {
            let values = rows[..count].iter().map(|row| row[column]).collect();
            (configuration.name_of(parameters[column]), values)
        };
        let (shares, model) = shares(varied.iter().map(named), &makespans);
        let mut sorted = makespans;
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| quantile(&sorted, part);
        let (median, low, high) = (at(0.5), at(0.025), at(0.975));
        Ok(Uncertainty { replicates: count, median, low, high, shares, model })
    }

    /// Mistakes for the classes of pairs that the calibrated file describes and of which there are
    /// no replicates: they would be as certain as if they had been set.
    fn classes_without(&self, parameters: &[Parameter]) -> Vec<Diagnostic> {
        let configuration = self.configuration();
        let Some(file) = calibrated(configuration).filter(|_| self.settings.classes.is_some())
        else {
            return Vec::new();
        };
        let is_without = |&(place, class): &(usize, &NamedTable)| {
            let has = parameters.iter().any(|parameter| parameter.class == Some(place));
            !has && class.has_from(&file)
        };
        let mistake = |(_, class): (usize, &NamedTable)| {
            let path = configuration.value(keys::calibration::REPLICATES).unwrap_or_default();
            let name = &class.name;
            let message =
                format!("{} has no column of the class of pairs `{name}`", path.display());
            let help = format!(
                "heddle fit SAMPLES -o MACHINE.toml writes columns such as loggops.class.{name}.L; \
                 without loggops.pairs, all pairs cost what [loggops] says"
            );
            Diagnostic::new(class.place(), message).help(help)
        };
        configuration.classes.iter().enumerate().filter(is_without).map(mistake).collect()
    }

    /// Returns whether the run uses a parameter.
    fn is_used(&self, Parameter { class, id }: Parameter) -> bool {
        let has_class = class.is_none() || self.settings.classes.is_some();
        has_class && id.key().scope.has_model(self.configuration().model())
    }

    /// The mistake of asking for the part of a parameter that has none.
    fn unused(&self, shown: &str, name: &str) -> Diagnostic {
        let model = self.configuration().model().name();
        usage(shown, format!("the model {model} does not use {name}"))
    }

    /// Finds how the makespan follows the setting `name`.
    ///
    /// # Errors
    /// If there is no such setting, if the workload is a live program, or if a run fails or ends in
    /// a deadlock.
    pub fn sensitivity(&self, name: &str) -> Result<Sensitivity, Failure> {
        let shown = format!("--sensitivity {name}");
        self.is_repeatable(&shown)?;
        let parameter = self
            .rated(name)
            .map_err(|(message, help)| Mistakes(vec![usage(&shown, message).help(help)]))?;
        if !self.is_used(parameter) {
            let mistake = match parameter.class {
                Some(_) if self.configuration().model() == Model::Loggops => {
                    let message = "no pairs of hosts belong to classes in this run";
                    let help = "loggops.pairs names the file that puts them into classes";
                    usage(&shown, message).help(help.to_owned())
                }
                _ => self.unused(&shown, name),
            };
            return Err(Mistakes(vec![mistake]).into());
        }
        let found = self.configuration().found_of(parameter);
        let Some((Value::Time(base), _)) = found else {
            return Err(Mistakes(vec![usage(&shown, "it has no value")]).into());
        };
        let run = |ps: u64| -> Result<i128, Failure> {
            let values = vec![vec![(parameter, Value::Time(Time::from_ps(ps)))]];
            Ok(self.makespans(&values)?.first().map_or(0, |makespan| *makespan as i128))
        };
        let (ps, makespan) = (base.ps(), run(base.ps())?);
        // The change by the first picosecond is a jump and a rate, that by the second a rate.
        let side = |first: u64, second: u64| -> Result<(i128, i128), Failure> {
            let (near, far) = (run(first)?, run(second)?);
            Ok((far - near, near - makespan - (far - near)))
        };
        let (above, up) = side(ps + 1, ps + 2)?;
        let (below, down) = match ps {
            0 => (-above, 0),
            1 => (run(0)? - makespan, 0),
            _ => side(ps - 1, ps - 2)?,
        };
        let below = -below;
        let top = ps.saturating_mul(100).max(1_000_000);
        let holds = |at: u64| -> Result<bool, Failure> {
            let (rate, jump) = if at < ps { (below, down) } else { (above, up) };
            Ok(run(at)? == makespan + jump + rate * (i128::from(at) - i128::from(ps)))
        };
        let range = [bound(ps, 0, &holds)?, bound(ps, top, &holds)?].map(Time::from_ps);
        let whole = |change: i128| i64::try_from(change).unwrap_or(i64::MAX);
        let (rates, jumps) = ([below, above].map(whole), [down, up].map(whole));
        let makespan = Time::from_ps(u64::try_from(makespan).unwrap_or(u64::MAX));
        Ok(Sensitivity { key: name.to_owned(), value: base, makespan, rates, jumps, range })
    }

    /// Returns the parameter of this full name, if there are rates for it, or else a mistake and
    /// advice.
    fn rated(&self, name: &str) -> Result<Parameter, (String, String)> {
        let of_class = self.configuration().named_in_class(name)?;
        // A class has the same keys.
        let own = of_class.map(|parameter| format!("loggops.{}", parameter.id.name_in_class()));
        let own = own.as_deref().unwrap_or(name);
        if let Some(id) = RATED.into_iter().find(|id| id.key().name == own) {
            return Ok(of_class.unwrap_or(id.into()));
        }
        let names: Vec<&str> = RATED.iter().map(|id| id.key().name).collect();
        let short = RATED.iter().map(|id| id.key()).find(|key| key.short() == name);
        let meant = short.or_else(|| synonyms::key_of("loggops", name)).map(|key| key.name);
        let meant = meant.filter(|meant| names.contains(meant) && of_class.is_none());
        let help = match meant.or_else(|| units::nearest(name, &names)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", names.join(", ")),
        };
        Err((format!("no rates for `{name}`"), help))
    }

    /// Refuses live programs, whose computation is not the same every time.
    fn is_repeatable(&self, argument: &str) -> Result<(), Failure> {
        if self.configuration().is_program() {
            let help = "record it, and run the traces".to_owned();
            let mistake = usage(argument, "a live program is not run again and again").help(help);
            return Err(Mistakes(vec![mistake]).into());
        }
        Ok(())
    }

    /// Runs the workload once for each set of values and returns the makespans in picoseconds, by
    /// number; as many at a time as there are processors.
    fn makespans(&self, sets: &[Vec<(Parameter, Value)>]) -> Result<Vec<f64>, Failure> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(vec![None; sets.len()]);
        let failure = Mutex::new(None);
        let work = || {
            while let Some((number, set)) = {
                let number = next.fetch_add(1, Ordering::Relaxed);
                sets.get(number).map(|set| (number, set))
            } {
                match self.makespan(set) {
                    Ok(makespan) => lock(&results)[number] = Some(makespan),
                    Err(found) => {
                        lock(&failure).get_or_insert(found);
                        next.store(sets.len(), Ordering::Relaxed);
                    }
                }
            }
        };
        let workers = thread::available_parallelism().map_or(1, usize::from).min(sets.len());
        thread::scope(|scope| {
            (1..workers).for_each(|_| {
                scope.spawn(work);
            });
            work();
        });
        if let Some(failure) = lock(&failure).take() {
            return Err(failure);
        }
        Ok(lock(&results).iter().flatten().copied().collect())
    }

    /// Runs the workload with other values of some settings.
    fn makespan(&self, values: &[(Parameter, Value)]) -> Result<f64, Failure> {
        let configuration = self.configuration().with(values);
        let classes = self.settings.classes.as_deref();
        let classes = classes.map(|classes| models::classes::again(&configuration, classes));
        let settings = models::hosts::settings_with(&configuration, classes).map_err(Mistakes)?;
        let settings = Settings { threads: 1, time_unit: self.settings.time_unit, ..settings };
        let job = Job {
            workload: &*self.workload,
            machine: &*self.machine,
            settings: &settings,
            records: Records::default(),
            spill: None,
            observers: Observers::default(),
        };
        let summary = job.run()?.summary;
        summary.makespan_ps.map(|ps| ps as f64).ok_or_else(|| {
            Failure::Input("error: the program can never finish: it has no makespan".to_owned())
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns the value nearest to `end` for which `holds` does, from `base`, for which it does, to
/// 0.1 % of `base`. What lies between is taken to hold too.
fn bound(
    base: u64,
    end: u64,
    holds: &impl Fn(u64) -> Result<bool, Failure>,
) -> Result<u64, Failure> {
    if holds(end)? {
        return Ok(end);
    }
    let step = (base / 1000).max(1);
    let (mut good, mut bad) = (base, end);
    // From near to far, since a makespan can follow its rate again behind another one.
    let mut reach = step;
    while reach < base.abs_diff(end) {
        let at = if end > base { base + reach } else { base - reach };
        if holds(at)? {
            good = at;
        } else {
            bad = at;
            break;
        }
        reach *= 2;
    }
    while good.abs_diff(bad) > step {
        let middle = u64::midpoint(good, bad);
        if holds(middle)? { good = middle } else { bad = middle }
    }
    Ok(good)
}

/// Returns the file that names the replicates.
fn calibrated(configuration: &Configuration) -> Option<PathBuf> {
    match configuration.found(keys::calibration::REPLICATES.id())?.1 {
        Origin::File(path, _) => Some(path),
        _ => None,
    }
}

/// Returns whether the value of a parameter is that of the calibration: both come from the same
/// file.
fn is_measured(configuration: &Configuration, parameter: Parameter) -> bool {
    match configuration.found_of(parameter) {
        Some((_, Origin::File(path, _))) => calibrated(configuration) == Some(path),
        _ => false,
    }
}

/// Returns the value of a key from a number of nanoseconds, or nanoseconds per byte, or bytes.
#[allow(clippy::cast_sign_loss, reason = "replicates are not negative")]
fn value(id: Id, number: f64) -> Value {
    match id.key().kind {
        Kind::TimePerByte => {
            let millionths = (number * 1e9).round() as u64;
            let rate = TimePerByte::new(millionths, 1_000_000);
            Value::TimePerByte(rate.unwrap_or(TimePerByte::ZERO))
        }
        Kind::Bytes => Value::Bytes(units::Bytes::new(number.round() as u64)),
        _ => Value::Time(Time::from_ps((number * 1e3).round() as u64)),
    }
}

fn usage(argument: &str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Place::Argument(argument.to_owned()), message)
}

/// Returns the share of the variance of `results` that a linear regression on `values` explains;
/// 0 where either is the same in all.
fn explained(values: &[f64], results: &[f64]) -> f64 {
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len().max(1) as f64;
    let (of_values, of_results) = (mean(values), mean(results));
    let (mut both, mut one, mut other) = (0.0, 0.0, 0.0);
    for (value, result) in values.iter().zip(results) {
        let (value, result) = (value - of_values, result - of_results);
        both += value * result;
        one += value * value;
        other += result * result;
    }
    if one > 0.0 && other > 0.0 { both * both / (one * other) } else { 0.0 }
}

/// Returns the share of the variance of the makespans that goes with each parameter, of which there
/// are its name and its values, and that which the error of the model brings.
fn shares(
    parameters: impl Iterator<Item = (String, Vec<f64>)>,
    makespans: &[f64],
) -> (Vec<(String, f64)>, f64) {
    let common: Vec<f64> = (0..makespans.len()).map(calibrate::common_deviate).collect();
    let found = explained(&common, &logarithms(makespans));
    let model = if found * (makespans.len() as f64) < LEAST_SHARE { 0.0 } else { found };
    let own = |values: &[f64]| {
        if model > 0.0 { without(&common, values) } else { values.to_vec() }
    };
    let results = own(makespans);
    let share = |values: Vec<f64>| explained(&own(&values), &results) * (1.0 - model);
    (parameters.map(|(name, values)| (name, share(values))).collect(), model)
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.max(f64::MIN_POSITIVE).ln()).collect()
}

/// Returns values without the factor that replicates have in common, of which `common` is the
/// logarithm but for its scale: that which leaves the least of it.
fn without(common: &[f64], values: &[f64]) -> Vec<f64> {
    let positive = || common.iter().zip(values).filter(|(_, value)| **value > 0.0);
    let count = positive().count().max(1) as f64;
    let middle = positive().map(|(deviate, _)| deviate).sum::<f64>() / count;
    let along = |(deviate, value): (&f64, &f64)| (deviate - middle) * value.ln();
    let square = positive().map(|(deviate, _)| (deviate - middle).powi(2)).sum::<f64>();
    let slope = positive().map(along).sum::<f64>() / square.max(f64::MIN_POSITIVE);
    common.iter().zip(values).map(|(deviate, value)| value * (-slope * deviate).exp()).collect()
}

/// Returns a quantile of sorted values, linear between neighbours.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = part * last as f64;
    #[allow(clippy::cast_sign_loss, reason = "places are positive")]
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A makespan of 3 a + b, where a and b are 100 with the deviations 4 and 5: nine times 16
    /// against 25, or 0.85 and 0.15 of the variance. A factor that all have in common, with the
    /// error 0.5, takes nearly all of it, and leaves them in the same proportion.
    #[test]
    fn a_common_factor_is_not_counted_with_each_parameter() {
        let random = kernel::Random::new(7, 1);
        let count = 2000;
        let drawn = |which: u32, deviation: f64| -> Vec<f64> {
            let uniform = |number| random.unit(number, which.into()) - 0.5;
            (0..count).map(|number| 100.0 + 12.0_f64.sqrt() * deviation * uniform(number)).collect()
        };
        let (a, b) = (drawn(0, 4.0), drawn(1, 5.0));
        for error in [0.0, 0.5] {
            let factor = |number| (calibrate::common_deviate(number) * error).exp();
            let times = |list: &[f64]| -> Vec<f64> {
                list.iter().enumerate().map(|(number, value)| value * factor(number)).collect()
            };
            let (a, b) = (times(&a), times(&b));
            let makespans: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 3.0 * a + b).collect();
            let named = [("a".to_owned(), a), ("b".to_owned(), b)];
            let (found, model) = shares(named.into_iter(), &makespans);
            let rest = 1.0 - model;
            assert!((model > 0.9) == (error > 0.0), "{model}");
            assert!((found[0].1 / rest - 0.85).abs() < 0.03, "{found:?} {model}");
            assert!((found[1].1 / rest - 0.15).abs() < 0.03, "{found:?} {model}");
        }
    }
}
