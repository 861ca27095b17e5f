//! Single runs, measurements of traffic, and ladders.

use std::collections::BTreeMap;

use experiment::{
    Configuration, Failure, Measured, Observers, Plan, Report, Request, TrafficPlan, ladder::Ladder,
};
use host::Activity;
use pyo3::{exceptions::PyValueError, prelude::*};
use results::{CallRow, Columns, ComputationRow, MessageRow, PointRow, RankRow, Recorded, Values};
use serde_json::{Value, json};

use crate::{
    error,
    request::request,
    table::{self, Table},
    task::{self, Watch},
};

/// The results of a run: its figures as JSON, its warnings, and its tables.
#[pyclass(frozen, module = "heddle")]
pub struct Run {
    /// The summary, as JSON.
    #[pyo3(get)]
    summary: String,
    /// The figures that differ from time to time, as JSON.
    #[pyo3(get)]
    performance: String,
    /// The warnings about the inputs.
    #[pyo3(get)]
    warnings: Vec<String>,
    tables: BTreeMap<&'static str, Py<Table>>,
}

#[pymethods]
impl Run {
    /// The names of the tables that are there.
    #[getter]
    fn table_names(&self) -> Vec<&str> {
        self.tables.keys().copied().collect()
    }

    /// The table of this name, or None.
    fn table(&self, py: Python<'_>, name: &str) -> Option<Py<Table>> {
        self.tables.get(name).map(|table| table.clone_ref(py))
    }
}

/// The tables that are kept in memory, besides that of ranks.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
struct Kept {
    messages: bool,
    calls: bool,
    computation: bool,
    timeline: bool,
}

impl Kept {
    fn of(names: &[String]) -> PyResult<Self> {
        let mut kept = Self::default();
        for name in names {
            match name.as_str() {
                "ranks" => {}
                "messages" => kept.messages = true,
                "calls" => kept.calls = true,
                "computation" => kept.computation = true,
                "timeline" => kept.timeline = true,
                other => {
                    let known = ["ranks", "messages", "calls", "computation", "timeline"];
                    let near = units::nearest(other, &known);
                    let help = near.map(|near| format!("; did you mean `{near}`?"));
                    return Err(PyValueError::new_err(format!(
                        "no table `{other}` is kept in memory{}",
                        help.unwrap_or_default()
                    )));
                }
            }
        }
        Ok(kept)
    }
}

/// The results of the thread that ran, with tables that are not yet objects of Python.
struct Found {
    summary: String,
    performance: String,
    warnings: Vec<String>,
    tables: Vec<(&'static str, Table)>,
}

/// Runs a request. Returns None for a live program, which needs a process of its own.
#[pyfunction]
#[pyo3(signature = (subject, machine, set, flags, tables, progress=None))]
pub fn run(
    py: Python<'_>,
    subject: String,
    machine: Option<String>,
    set: Vec<String>,
    flags: Vec<(String, String)>,
    tables: Vec<String>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<Run>> {
    let request = request(subject, machine, set, flags)?;
    let kept = Kept::of(&tables)?;
    let found = task::carry_out(py, progress.as_ref(), move |watch| found(&request, kept, watch))?;
    let Some(found) = found.map_err(error)? else { return Ok(None) };
    let own = |(name, table): (&'static str, Table)| Ok((name, Py::new(py, table)?));
    let tables = found.tables.into_iter().map(own).collect::<PyResult<_>>()?;
    let Found { summary, performance, warnings, .. } = Found { tables: Vec::new(), ..found };
    Ok(Some(Run { summary, performance, warnings, tables }))
}

fn found(request: &Request, kept: Kept, watch: &Watch) -> Result<Option<Found>, Failure> {
    let configuration = Configuration::read(request)?;
    if configuration.is_program() {
        return Ok(None);
    }
    if configuration.is_traffic() {
        let plan = TrafficPlan::new(configuration)?;
        let measured = plan.run()?;
        return Ok(Some(of_traffic(&measured, plan.warnings)));
    }
    let mut plan = Plan::new(configuration)?;
    plan.records.messages |= kept.messages || kept.timeline;
    plan.records.calls |= kept.calls;
    plan.records.computation |= kept.computation;
    if kept.timeline {
        plan.records.slices = u32::MAX;
    }
    let report = plan.run(Observers { progress: watch, ..Observers::default() })?;
    let recorded = (kept.messages || kept.timeline).then(|| report.tables.recorded());
    let recorded = recorded.transpose().map_err(|source| {
        Failure::Input(format!("error: cannot read what the run has recorded: {source}"))
    })?;
    let warnings = plan.warnings.iter().chain(&report.warnings).cloned().collect();
    Ok(Some(of_report(&report, &recorded.unwrap_or_default(), kept, warnings)))
}

fn of_report(report: &Report, recorded: &Recorded, kept: Kept, warnings: Vec<String>) -> Found {
    let json = |value: serde_json::Result<String>| value.unwrap_or_default();
    let ranks = (0..).zip(report.ranks()).map(|(rank, totals)| RankRow::new(rank, totals));
    let mut tables: Vec<(&str, Table)> = vec![("ranks", Columns::of(ranks).into())];
    if kept.messages {
        let rows = (0..).zip(&recorded.messages).map(|(id, message)| MessageRow::new(id, message));
        tables.push(("messages", Columns::of(rows).into()));
    }
    if kept.timeline {
        tables.push(("timeline", timeline(recorded)));
    }
    if kept.calls {
        let rows = report.calls.iter().map(CallRow::new);
        tables.push(("calls", Columns::of(rows).into()));
    }
    if kept.computation {
        let regions = (0..).zip(&report.computed);
        let rows = regions
            .flat_map(|(rank, list)| list.iter().map(move |&cpu| ComputationRow { rank, cpu }));
        tables.push(("computation", Columns::of(rows).into()));
    }
    Found {
        summary: json(serde_json::to_string(&report.summary)),
        performance: json(serde_json::to_string(&report.performance)),
        warnings,
        tables,
    }
}

/// The busy periods of CPUs as a table.
fn timeline(recorded: &Recorded) -> Table {
    let slices = &recorded.slices;
    let numbers =
        |of: fn(&results::Slice) -> u64| Values::Unsigned(slices.iter().map(of).collect());
    let activity = slices.iter().map(|slice| match slice.activity {
        Activity::Compute => "compute".to_owned(),
        Activity::Send => "send".to_owned(),
        Activity::Receive => "receive".to_owned(),
    });
    let columns = vec![
        ("rank", "", numbers(|slice| slice.rank.into())),
        ("cpu", "", numbers(|slice| slice.cpu.into())),
        ("start_ps", "ps", numbers(|slice| slice.start.ps())),
        ("end_ps", "ps", numbers(|slice| slice.end.ps())),
        ("activity", "", Values::Text(activity.collect())),
    ];
    table::of(columns, slices.len())
}

fn of_traffic(measured: &Measured, warnings: Vec<String>) -> Found {
    let points = Columns::of(measured.points.iter().map(PointRow::new));
    let summary = serde_json::to_string(measured).unwrap_or_default();
    let tables = vec![("points", points.into())];
    Found { summary, performance: "{}".to_owned(), warnings, tables }
}

/// Runs a request at every fidelity; returns JSON.
#[pyfunction]
#[pyo3(signature = (subject, machine, set, flags, progress=None))]
pub fn ladder(
    py: Python<'_>,
    subject: String,
    machine: Option<String>,
    set: Vec<String>,
    flags: Vec<(String, String)>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let request = request(subject, machine, set, flags)?;
    let climbed = task::carry_out(py, progress.as_ref(), move |watch| {
        experiment::ladder::ladder(&request, watch, |_| {})
    })?;
    climbed.map(|ladder| of_ladder(&ladder).to_string()).map_err(error)
}

fn of_ladder(ladder: &Ladder) -> Value {
    let rungs = ladder.rungs.iter().map(|rung| {
        json!({
            "model": rung.name,
            "makespan_ps": rung.makespan.map(units::Time::ps),
            "finish_ps": rung.finish.iter().map(|time| time.ps()).collect::<Vec<_>>(),
            "communication": rung.communication,
            "events": rung.events,
            "wall_seconds": rung.wall,
            "warnings": rung.warnings,
        })
    });
    json!({ "rungs": rungs.collect::<Vec<_>>(), "missing": ladder.missing })
}
