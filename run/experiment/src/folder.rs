//! The folder of a run: what is asked to stand in it, and how it is written.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use results::{Artifact, GANTT_RANKS, RunDirectory, TableForm, Tables};

use crate::{
    job::{Failure, Records, Report},
    models::tables,
    plan::Plan,
    settings::{
        configuration::Configuration,
        diagnostic::{Diagnostic, Mistakes},
        keys, manifest, scope,
    },
};

/// The files that a run writes, and their folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Output {
    /// The folder.
    pub directory: PathBuf,
    /// The form of the tables.
    pub form: TableForm,
    /// True if the folder may hold files already.
    pub force: bool,
    /// True if a table of ranks is written.
    pub ranks: bool,
    /// True if a table of messages is written.
    pub messages: bool,
    /// True if a table of MPI calls is written.
    pub calls: bool,
    /// True if a table of the computation of live ranks is written.
    pub computation: bool,
    /// True if a table of the busy periods of CPUs is written.
    pub activity: bool,
    /// True if a table of the lines of the schedule's text is written.
    pub lines: bool,
    /// True if a table of the loads of links is written.
    pub loads: bool,
    /// The tables and drawings of a network with switches that are written.
    pub network: Vec<Artifact>,
    /// The timeline.
    pub timeline: Option<Timeline>,
    /// The report that is written at the end, if it is.
    pub report: Option<report::Options>,
}

/// The tables and drawings of a network with switches, by their names in `output.tables`.
const NETWORK: [(&str, Artifact); 7] = [
    ("lanes", Artifact::Lanes),
    ("flows", Artifact::Flows),
    ("hops", Artifact::Hops),
    ("losses", Artifact::Losses),
    ("links", Artifact::Links),
    ("devices", Artifact::Devices),
    ("connections", Artifact::Connections),
];

/// The tables among them that a report shows.
const REPORTED: [Artifact; 3] = [Artifact::Lanes, Artifact::Devices, Artifact::Connections];

/// A format of timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeline {
    /// Perfetto's protobuf format.
    Perfetto,
    /// Pajé's text format.
    Paje,
    /// The JSON format of Chrome's tracing.
    Chrome,
}

impl Output {
    /// Refuses tables that the workload or the network does not have.
    pub(crate) fn check(
        &self,
        configuration: &Configuration,
        kind: scope::Workload,
        records_network: bool,
    ) -> Result<(), Mistakes> {
        let wrong = |message| configuration.mistake(keys::run::output::TABLES, message);
        if self.calls && !has_calls(kind) {
            return Err(wrong("a table of calls needs traces or MPI programs").into());
        }
        if self.lines && kind != scope::Workload::Goal {
            return Err(wrong("a table of lines needs a schedule as the workload").into());
        }
        let live = kind == scope::Workload::Live;
        if self.computation && !(live && configuration.word(keys::live::COMPUTE) == "measured") {
            let message =
                "a table of computation needs a live program whose computation is measured";
            return Err(wrong(message).into());
        }
        if !self.network.is_empty() && !records_network {
            let help = "set network.model = \"infiniband\" or \"packet\"".to_owned();
            let mistake = wrong("tables of the network need a network with switches").help(help);
            return Err(mistake.into());
        }
        if !self.network.is_empty() {
            tables::interval(configuration, keys::run::output::INTERVAL)?;
        }
        Ok(())
    }

    /// Adds the tables that the report needs and this run can have.
    pub(crate) fn complete(&mut self, kind: scope::Workload, records_network: bool) {
        if self.report.is_none() {
            return;
        }
        (self.ranks, self.messages, self.activity, self.loads) = (true, true, true, true);
        self.calls |= has_calls(kind);
        if records_network {
            let missing = REPORTED.into_iter().filter(|artifact| !self.network.contains(artifact));
            self.network.extend(missing.collect::<Vec<_>>());
        }
    }

    /// Makes the folder, before anything is simulated.
    pub(crate) fn create(&self) -> Result<RunDirectory, Failure> {
        let directory = RunDirectory::create(&self.directory, self.force)?;
        Ok(directory.with_tables_as(self.form))
    }
}

/// Returns whether a workload consists of MPI calls.
fn has_calls(kind: scope::Workload) -> bool {
    matches!(kind, scope::Workload::Traces | scope::Workload::Live)
}

/// Returns the records that a job needs for the files and drawings of its run.
pub(crate) fn records(
    configuration: &Configuration,
    kind: scope::Workload,
    output: Option<&Output>,
) -> Records {
    let timeline = output.is_some_and(|output| output.timeline.is_some());
    let gantt = configuration.switch(keys::run::output::GANTT);
    let network = output.is_some_and(|output| !output.network.is_empty());
    let activity = output.is_some_and(|output| output.activity || output.lines);
    let has_lines = matches!(kind, scope::Workload::Goal | scope::Workload::Traces);
    Records {
        messages: timeline || output.is_some_and(|output| output.messages) || activity,
        slices: match (timeline || activity, gantt) {
            (true, _) => u32::MAX,
            (false, true) => GANTT_RANKS,
            (false, false) => 0,
        },
        lines: activity && has_lines,
        needs_text: output.is_some_and(|output| output.lines),
        loads: timeline || output.is_some_and(|output| output.loads),
        calls: output.is_some_and(|output| output.calls),
        computation: output.is_some_and(|output| output.computation),
        network: configuration.value(keys::run::output::INTERVAL).filter(|_| network),
    }
}

pub(crate) fn output(configuration: &Configuration) -> Result<Option<Output>, Diagnostic> {
    let Some(directory) = configuration.value(keys::run::output::DIRECTORY) else {
        // A manifest never names a folder; without one, its tables and timeline are not asked for.
        use keys::run::output::{
            REPORT, REPORT_DETAIL, REPORT_WINDOW, TABLES, TABLES_FORMAT, TIMELINE,
        };
        let report = [REPORT.id(), REPORT_DETAIL.id(), REPORT_WINDOW.id()];
        let wanted = [TABLES.id(), TABLES_FORMAT.id(), TIMELINE.id()]
            .into_iter()
            .chain(report)
            .find(|id| configuration.is_said(*id) && !configuration.is_from_manifest(*id));
        return wanted.map_or(Ok(None), |id| {
            let message = format!("`{}` needs a folder to write to", id.key().name);
            Err(configuration
                .mistake(id, message)
                .help("add -o DIR, or set output.directory".to_owned()))
        });
    };
    let tables = configuration.value(keys::run::output::TABLES).unwrap_or_default();
    Ok(Some(Output {
        directory,
        form: match configuration.word(keys::run::output::TABLES_FORMAT) {
            "parquet" => TableForm::Parquet,
            _ => TableForm::Csv,
        },
        force: configuration.switch(keys::run::output::FORCE),
        ranks: tables.contains(&"ranks"),
        messages: tables.contains(&"messages"),
        calls: tables.contains(&"calls"),
        computation: tables.contains(&"computation"),
        activity: tables.contains(&"activity"),
        lines: tables.contains(&"lines"),
        loads: tables.contains(&"loads"),
        network: NETWORK
            .into_iter()
            .filter(|(name, _)| tables.contains(name))
            .map(|(_, artifact)| artifact)
            .collect(),
        timeline: match configuration.word(keys::run::output::TIMELINE) {
            "perfetto" => Some(Timeline::Perfetto),
            "paje" => Some(Timeline::Paje),
            "chrome" => Some(Timeline::Chrome),
            _ => None,
        },
        report: report(configuration)?,
    }))
}

/// Returns the choices for the report, if one is asked for.
pub(crate) fn report(configuration: &Configuration) -> Result<Option<report::Options>, Diagnostic> {
    use keys::run::output::{REPORT, REPORT_DETAIL, REPORT_WINDOW};
    if !configuration.switch(REPORT) {
        let of_report = [REPORT_DETAIL.id(), REPORT_WINDOW.id()];
        let unused = of_report.into_iter().find(|id| configuration.is_said_of_run(*id));
        return unused.map_or(Ok(None), |id| {
            let message = format!("`{}` is of a report, and none is written", id.key().name);
            let help = "add --report, or set output.report = true".to_owned();
            Err(configuration.mistake(id, message).help(help))
        });
    }
    let windows = configuration.value(REPORT_WINDOW).unwrap_or_default();
    let windows = windows.split_whitespace().map(report::window).collect::<Result<_, _>>();
    let windows = windows.map_err(|message| configuration.mistake(REPORT_WINDOW, message))?;
    let detail = configuration.value(REPORT_DETAIL).unwrap_or(report::DETAIL);
    Ok(Some(report::Options { detail, windows, anonymous: false }))
}

/// Writes the report of a folder that is complete.
pub(crate) fn write_report(folder: &Path, options: &report::Options) -> Result<(), Failure> {
    let path = folder.join(Artifact::Report.file_name());
    report::write(&[folder.to_owned()], &path, options)
        .map_err(|error| Failure::Input(format!("error: {error}")))
}

/// Writes when CPUs were busy: as a timeline, and as tables.
fn write_busy(
    output: &Output,
    report: &Report,
    directory: &mut RunDirectory,
) -> Result<(), results::Error> {
    let (tables, count, lines) = (&report.tables, report.ranks().len() as u32, &report.lines);
    match output.timeline {
        Some(Timeline::Perfetto) => directory.write(Artifact::Perfetto, |out| {
            results::write_perfetto(out, count, &tables.recorded()?)
        })?,
        Some(Timeline::Paje) => directory
            .write(Artifact::Paje, |out| results::write_paje(out, count, &tables.recorded()?))?,
        Some(Timeline::Chrome) => directory.write(Artifact::Chrome, |out| {
            results::write_chrome(out, count, &tables.recorded()?)
        })?,
        None => {}
    }
    let slices = &tables.slices;
    if output.activity {
        directory.write(Artifact::Activity, |out| results::write_activity(out, slices, lines))?;
    }
    if (output.lines || output.report.is_some()) && lines.text.is_some() {
        directory.write(Artifact::Lines, |out| lines.write(out, slices))?;
    }
    Ok(())
}

/// Writes a report as a plan asks for.
pub(crate) fn write(
    plan: &Plan,
    output: &Output,
    report: &Report,
    mut directory: RunDirectory,
) -> Result<(), Failure> {
    let standard = report.standard.as_deref();
    directory.write(Artifact::Manifest, |out| {
        let folder = &output.directory;
        let text = manifest::write(&plan.configuration, &plan.inputs, standard, folder)?;
        out.write_all(text.as_bytes())
    })?;
    directory.write(Artifact::Summary, |out| results::write_pretty(out, &report.summary))?;
    let ranks = report.ranks();
    if output.ranks {
        directory.write(Artifact::Ranks, |out| results::write_ranks(out, ranks))?;
    }
    let Tables { messages, links, .. } = &report.tables;
    if output.messages {
        directory.write(Artifact::Messages, |out| results::write_messages(out, messages))?;
    }
    write_busy(output, report, &mut directory)?;
    if output.loads && !links.is_empty() {
        directory.write(Artifact::Loads, |out| results::write_loads(out, links))?;
    }
    if output.computation {
        let computed = &report.computed;
        directory.write(Artifact::Computation, |out| results::write_computation(out, computed))?;
    }
    if output.calls {
        let calls = || report.calls.iter().cloned();
        directory.write(Artifact::Calls, |out| results::write_calls(out, calls()))?;
    }
    if let Some(seen) = &report.network {
        seen.write(&mut directory, &output.network)?;
    }
    let performance = &report.performance;
    directory.write(Artifact::Performance, |out| results::write_pretty(out, performance))?;
    directory.finish()?;
    output.report.as_ref().map_or(Ok(()), |options| write_report(&output.directory, options))
}
