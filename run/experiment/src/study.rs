//! Studies: one experiment with lists of values, a run for each combination.
//!
//! A [`Study`] is read from an experiment file with a table `[study]`. Its runs are numbered from
//! 0; the last list of the file varies fastest. [`Study::run`] carries out one of them; a
//! [`Folder`] keeps what is known of each, so that an interrupted study goes on where it was, and
//! writes the tables once all are known.

mod estimate;
mod folder;

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use results::Usage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use traffic::Point;

use crate::{
    Failure, Measured, Mistakes, Observers, Plan, TrafficPlan,
    ladder::Known,
    remarks,
    settings::{
        configuration::{Configuration, Request},
        diagnostic::{Diagnostic, Place, Source},
        keys::{self, Id},
        manifest,
        study::{self, Axis, MOST, Varied},
        toml_file::Assignment,
    },
};

pub use estimate::Estimate;
pub use folder::{Folder, Opening, finished};

/// A study that can be run.
#[derive(Debug)]
pub struct Study {
    request: Request,
    axes: Vec<Axis>,
    runs: usize,
    /// SHA-256 of the file and of what the command line adds.
    hash: String,
}

/// The parts of runs that others share.
#[derive(Default)]
pub struct Shared(Mutex<Known>);

/// The results of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done {
    /// Its number.
    pub run: usize,
    /// Its figures, by name: one set of them, or one for each load of synthetic traffic.
    pub figures: Vec<Map<String, Value>>,
    /// The reason why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The remarks on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The figures that differ from time to time.
    pub performance: Map<String, Value>,
}

/// The figures of a run, and the remarks on it.
type Found = (Vec<Map<String, Value>>, Vec<String>);

impl Study {
    /// Reads the study that a request names as its subject. The error lists every mistake, also
    /// those in the values of single runs.
    pub fn read(request: &Request) -> Result<Self, Mistakes> {
        let name = request.subject.clone().unwrap_or_default();
        let path = Path::new(&name);
        let text = units::text::read(path).map_err(|error| Diagnostic::unread(path, &error))?;
        let hash = hash(request, &text);
        let source = Arc::new(Source { name: name.clone(), text });
        let axes = study::read(&source).map_err(Mistakes)?;
        let product = axes.iter().try_fold(1_u64, |product, axis| {
            product.checked_mul(axis.levels.len() as u64).filter(|runs| *runs <= MOST)
        });
        let runs = product.ok_or_else(|| {
            let message = format!("the study has more than {MOST} runs");
            Diagnostic::new(Place::File(path.to_owned()), message)
        })?;
        let study = Self { request: request.clone(), axes, runs: runs as usize, hash };
        study.check()?;
        Ok(study)
    }

    /// Checks each value once, with the first values of all other lists, and that the command line
    /// sets nothing that varies.
    fn check(&self) -> Result<(), Mistakes> {
        let mut mistakes: Vec<Diagnostic> = Vec::new();
        let machine = self.varied().any(|varied| *varied == Varied::Machine);
        if machine && self.request.machine.is_some() {
            let place = Place::Argument("--machine".to_owned());
            mistakes.push(Diagnostic::new(place, "the machine varies in this study"));
        }
        match Configuration::of_row(&self.request, Vec::new()) {
            Ok(plain) => {
                let argued = self.varied().filter_map(|varied| match varied {
                    Varied::Key(id) if plain.argument(*id).is_some() => Some((*id, varied.name())),
                    _ => None,
                });
                mistakes.extend(
                    argued.map(|(id, name)| {
                        plain.mistake(id, format!("{name} varies in this study"))
                    }),
                );
                mistakes.extend(written(&plain));
            }
            Err(Mistakes(found)) => mistakes.extend(found),
        }
        for (number, axis) in self.axes.iter().enumerate() {
            if axis.varied == [Varied::Key(keys::run::SEED.id())] {
                continue;
            }
            for level in 0..axis.levels.len() {
                let mut levels = vec![0; self.axes.len()];
                levels[number] = level;
                for found in self.configuration(&levels).err().into_iter().flat_map(|found| found.0)
                {
                    if !mistakes.contains(&found) {
                        mistakes.push(found);
                    }
                }
            }
        }
        if mistakes.is_empty() { Ok(()) } else { Err(Mistakes(mistakes)) }
    }

    /// The number of runs.
    pub const fn runs(&self) -> usize {
        self.runs
    }

    fn varied(&self) -> impl Iterator<Item = &Varied> {
        self.axes.iter().flat_map(|axis| &axis.varied)
    }

    /// The names of what varies, in the order of the columns.
    pub fn columns(&self) -> Vec<String> {
        self.varied().map(Varied::name).collect()
    }

    /// The values of a run, in the order of the columns.
    pub fn values(&self, run: usize) -> Vec<String> {
        let levels = self.levels(run);
        self.axes.iter().zip(levels).flat_map(|(axis, level)| axis.shown(level)).collect()
    }

    /// The level of each axis in a run.
    fn levels(&self, run: usize) -> Vec<usize> {
        let mut rest = run;
        let mut levels: Vec<usize> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let level = rest % axis.levels.len();
                rest /= axis.levels.len();
                level
            })
            .collect();
        levels.reverse();
        levels
    }

    fn configuration(&self, levels: &[usize]) -> Result<Configuration, Mistakes> {
        let mut request = self.request.clone();
        let mut all: Vec<Assignment> = Vec::new();
        let folder = self.request.subject.as_deref().and_then(|file| Path::new(file).parent());
        for (axis, &level) in self.axes.iter().zip(levels) {
            let (assignments, machine) = axis.level(level);
            all.extend(assignments);
            if let Some((machine, place)) = machine {
                let path = folder.unwrap_or(Path::new("")).join(machine);
                fs::metadata(&path)
                    .map_err(|error| Diagnostic::absent(place.clone(), None, &path, &error))?;
                request.machine = Some(path.to_string_lossy().into_owned());
            }
        }
        Configuration::of_row(&request, all)
    }

    /// Carries out a run. A run that fails is a result as any other.
    pub fn run(&self, run: usize, shared: &Shared) -> Done {
        let usage = Usage::begin();
        let (figures, remarks, error) = match self.figures(run, shared) {
            Ok((figures, remarks)) => (figures, remarks, None),
            Err(failure) => (Vec::new(), Vec::new(), Some(failure.to_string())),
        };
        let used = usage.end();
        let mut performance = Map::new();
        performance.insert("wall_seconds".to_owned(), used.wall_seconds.into());
        performance.insert("cpu_seconds".to_owned(), used.cpu_seconds.into());
        if let Some(bytes) = used.peak_rss_bytes {
            performance.insert("peak_rss_bytes".to_owned(), bytes.into());
        }
        Done { run, figures, error, remarks, performance }
    }

    /// The figures of a run, and the remarks on it.
    fn figures(&self, run: usize, shared: &Shared) -> Result<Found, Failure> {
        let mut configuration = self.configuration(&self.levels(run))?;
        if configuration.is_traffic() {
            let measured = TrafficPlan::new(configuration)?.run()?;
            return Ok((of_traffic(&measured), measured.remarks));
        }
        if configuration.is_in_process() {
            configuration = configuration.for_model(&[(keys::live::IN_PROCESS.id(), "false")])?;
        }
        let plan = shared.plan(configuration)?;
        let summary = plan.job(Observers::default()).run()?.summary;
        let of_results = remarks::on_results_of_study(plan.configuration(), &summary);
        Ok((vec![flat(&summary)], [summary.remarks, plan.remarks, of_results].concat()))
    }
}

impl Shared {
    fn plan(&self, configuration: Configuration) -> Result<Plan, Mistakes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).plan(configuration)
    }
}

/// The figures of each load, or the load of saturation alone if that was asked for.
fn of_traffic(measured: &Measured) -> Vec<Map<String, Value>> {
    if let Some(found) = &measured.saturation {
        let [accepted, refused] = found.between;
        let figures = [
            ("saturation.accepted_load", accepted),
            ("saturation.refused_load", refused),
            ("saturation.throughput", found.throughput),
        ];
        return vec![
            figures.map(|(name, figure)| (name.to_owned(), figure.into())).into_iter().collect(),
        ];
    }
    let one = |point: &Point| {
        let mut figures = flat(point);
        let names = ["min", "median", "p95", "p99", "max"];
        for (name, time) in names.iter().zip(point.percentiles.into_iter().flatten()) {
            figures.insert(format!("latency.{name}"), time.into());
        }
        figures.into_iter().map(|(name, figure)| (with_unit(name), figure)).collect()
    };
    measured.points.iter().map(one).collect()
}

/// The name of a figure of a point as a column, with the unit of times.
fn with_unit(name: String) -> String {
    let times = ["deadlock.since", "measured", "warm_up", "zero_load"];
    if name.starts_with("latency.") || times.contains(&name.as_str()) {
        return name + "_ps";
    }
    name
}

/// Mistakes for settings of output: a study writes its own folder.
fn written(configuration: &Configuration) -> impl Iterator<Item = Diagnostic> {
    let said = Id::all().filter(|id| id.key().table() == "output" && configuration.is_said(*id));
    said.map(|id| {
        let message = format!("`{}` is not used by a study", id.key().name);
        let help = "heddle run writes the folder of a single run".to_owned();
        configuration.mistake(id, message).help(help)
    })
}

/// The scalars of a value by their names, those of inner structures with the outer name and a dot
/// before them. Lists and texts are left out.
fn flat(value: &impl Serialize) -> Map<String, Value> {
    fn add(name: &str, value: Value, into: &mut Map<String, Value>) {
        match value {
            Value::Object(inner) => {
                for (key, value) in inner {
                    let name = if name.is_empty() { key } else { format!("{name}.{key}") };
                    add(&name, value, into);
                }
            }
            Value::Number(_) | Value::Bool(_) => {
                into.insert(name.to_owned(), value);
            }
            Value::Null | Value::Array(_) | Value::String(_) => {}
        }
    }
    let mut all = Map::new();
    add("", serde_json::to_value(value).unwrap_or_default(), &mut all);
    all.retain(|name, _| !name.starts_with("parameters"));
    all
}

/// The hash of everything that a study is made of, but for the files that it names.
fn hash(request: &Request, text: &str) -> String {
    let more = format!("{:?} {:?} {:?}", request.machine, request.set, request.flags);
    manifest::hash_of(format!("{text}\0{more}").as_bytes())
}
