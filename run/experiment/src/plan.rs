//! A checked experiment: everything in the types of those who carry it out.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use host::Settings;
use kernel::{Peers, TransportKind};
use traces::source::Traces;
use units::Time;

use crate::{
    calibration,
    folder::{self, Output},
    job::{Failure, Job, Observers, Records, Report},
    models::{self, Machine, Model, Stock},
    remarks,
    settings::{
        configuration::Configuration,
        diagnostic::{self, Diagnostic, Mistakes, Place},
        keys, manifest,
        named_table::NamedTable,
        scope, usage,
        value::{self, Topology},
    },
    workloads::{self, Workload, live},
};

/// An experiment that can be run.
#[derive(Debug)]
pub struct Plan {
    /// The workload.
    pub workload: Arc<Workload>,
    /// On what.
    pub machine: Arc<Machine>,
    /// The settings of the simulation.
    pub settings: Settings,
    /// The records that are kept.
    pub records: Records,
    /// The files that are written.
    pub output: Option<Output>,
    /// True if a timeline is drawn on the terminal.
    pub gantt: bool,
    /// Remarks on the settings, which stand in the summary.
    pub remarks: Vec<String>,
    /// Warnings about an experiment that can be run nevertheless.
    pub warnings: Vec<String>,
    /// The files that it reads.
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) configuration: Arc<Configuration>,
}

impl Plan {
    /// Checks the settings against each other and against what they name. The error lists every
    /// mistake.
    pub fn new(configuration: Configuration) -> Result<Self, Mistakes> {
        Self::of(configuration, &mut Stock::default())
    }

    /// Does the same as [`Plan::new`], and shares topologies and routes with the plans that were
    /// made with this stock before.
    pub fn of(configuration: Configuration, stock: &mut Stock) -> Result<Self, Mistakes> {
        let configuration = Arc::new(configuration);
        let mut mistakes = Vec::new();
        let mut warnings = Vec::new();
        let settings = models::hosts::settings(&configuration);
        let settings = settings.map_err(|found| mistakes.extend(found)).ok();
        let kind = configuration.workload_kind();
        let workload = match kind {
            Some(kind) => {
                mistakes.extend(usage::mistakes(&configuration, kind));
                workloads::resolve(&configuration, kind)
            }
            None => Err(vec![no_workload()]),
        };
        let workload = workload.map_err(|found| mistakes.extend(found)).ok();
        let machine = models::resolve(&configuration, stock);
        let machine = machine.map_err(|found| mistakes.extend(found)).ok();
        let mut output =
            folder::output(&configuration).map_err(|mistake| mistakes.push(mistake)).ok().flatten();
        let measured =
            calibration::check(&configuration).map_err(|found| mistakes.extend(found)).ok();
        let inputs = inputs(&configuration);
        unchanged(&configuration, &inputs, &mut warnings, &mut mistakes);
        let (Some(workload), Some(kind), Some((machine, remarks)), Some(mut settings), true) =
            (workload, kind, machine, settings, mistakes.is_empty())
        else {
            diagnostic::sort(&mut mistakes);
            return Err(Mistakes(mistakes));
        };
        if let Some(output) = &mut output {
            output.complete(kind, machine.records_network());
            output.check(&configuration, kind, machine.records_network())?;
        }
        warnings.extend(remarks::without_effect(&configuration, machine.is_sequential()));
        warnings.extend(remarks);
        if matches!(kind, scope::Workload::Traces | scope::Workload::Live) {
            // Schedules made of traces count in picoseconds, and so do programs.
            settings.time_unit = Time::from_ps(1);
        }
        if configuration.is_in_process() {
            // Ranks share the memory of the process: one runs at a time, and the simulator with it.
            settings.threads = 1;
        }
        Ok(Self {
            workload: Arc::new(workload),
            machine: Arc::new(machine),
            settings,
            records: folder::records(&configuration, kind, output.as_ref()),
            gantt: configuration.switch(keys::run::output::GANTT),
            output,
            remarks: remarks::on_settings(&configuration, measured.flatten(), stock),
            warnings,
            inputs,
            configuration,
        })
    }

    /// Makes it the plan of one of several processes that carry it out together. The first of them
    /// writes the folder.
    ///
    /// # Errors
    /// If it is for one process only.
    pub fn spread(&mut self, peers: &'static dyn Peers) -> Result<(), Mistakes> {
        let alone = if self.configuration.is_program() {
            Some("a live program")
        } else {
            self.machine.is_sequential().then(|| self.configuration.model().choice())
        };
        if let Some(alone) = alone {
            let message = format!("{alone} is simulated in one process, not in {}", peers.count());
            let help = "start heddle without the launcher; --threads N uses several cores";
            let mistake = Diagnostic::new(Place::Nowhere, message).help(help.to_owned());
            return Err(Mistakes(vec![mistake]));
        }
        self.settings.transport = TransportKind::Spread(peers);
        if peers.me() > 0 {
            self.output = None;
        }
        Ok(())
    }

    /// The job that it plans, watched by `observers`.
    pub fn job<'a>(&'a self, observers: Observers<'a>) -> Job<'a> {
        Job {
            workload: &self.workload,
            machine: &self.machine,
            settings: &self.settings,
            records: self.records,
            spill: self.output.as_ref().map(|output| output.directory.as_path()),
            observers,
        }
    }

    /// Runs its job, and writes the folder that it asks for.
    pub fn run(&self, observers: Observers<'_>) -> Result<Report, Failure> {
        let directory = self.output.as_ref().map(Output::create).transpose()?;
        let mut report = self.job(observers).run()?;
        let folder = self.output.as_ref().map_or(Path::new("."), |output| &output.directory);
        let parameters = manifest::parameters(&self.configuration, folder);
        report.summary.parameters = parameters.map_err(|source| {
            Failure::Output(results::Error::Io { path: folder.to_owned(), source })
        })?;
        let of_results = remarks::on_results(&self.configuration, &report.summary);
        report.summary.remarks.extend(self.remarks.iter().cloned().chain(of_results));
        if let (Some(output), Some(directory)) = (&self.output, directory) {
            folder::write(self, output, &report, directory)?;
        }
        Ok(report)
    }

    /// The settings that it was made from.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }
}

fn no_workload() -> Diagnostic {
    let help = "set `source` in [workload] to a GOAL file or \"pattern:NAME\"; if the file \
                describes a machine: heddle run WORKLOAD --machine FILE";
    Diagnostic::new(Place::Nowhere, "there is no workload").help(help.to_owned())
}

/// The files that the run reads.
pub(crate) fn inputs(configuration: &Configuration) -> Vec<PathBuf> {
    let source = match configuration.workload() {
        Some(value::Workload::File(path)) if Traces::names(&path) => {
            Traces::find(&path).map_or_else(|_| Vec::new(), |traces| traces.files)
        }
        Some(value::Workload::File(path)) => vec![path],
        Some(value::Workload::Program(line)) => live::executables(&line),
        _ => Vec::new(),
    };
    let topology = match configuration.topology() {
        Some(Topology::File(path)) => Some(path),
        _ => None,
    };
    let paths = [
        keys::traces::MAP,
        keys::loggops::PAIRS,
        keys::noise::TRACE,
        keys::calibration::REPLICATES,
        keys::network::TABLES,
        keys::placement::FILE,
        keys::live::TIMES,
    ];
    let paths = paths.into_iter().filter_map(|key| configuration.value(key));
    let of_rails = configuration.rails.iter().flat_map(NamedTable::files);
    source.into_iter().chain(topology).chain(paths).chain(of_rails).collect()
}

/// Compares the inputs with what the manifest says of them.
fn unchanged(
    configuration: &Configuration,
    inputs: &[PathBuf],
    warnings: &mut Vec<String>,
    mistakes: &mut Vec<Diagnostic>,
) {
    let Some(manifest) = &configuration.manifest else {
        return;
    };
    // A file that cannot be read is reported where it is opened.
    for input in inputs.iter().filter(|input| matches!(manifest.vouches_for(input), Ok(false))) {
        let written = manifest.path.display();
        let message = format!("{} has changed since {written} was written", input.display());
        if configuration.switch(keys::run::output::FORCE) {
            warnings.push(message);
        } else {
            let help = "--force runs it with the file as it is now".to_owned();
            mistakes.push(Diagnostic::new(Place::Nowhere, message).help(help));
        }
    }
}
