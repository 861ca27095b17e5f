//! One workload at every fidelity that its machine supports, side by side.

use std::collections::BTreeMap;

use results::DeadlockSummary;
use units::Time;

use crate::{
    Carried, Failure, Mistakes, Plan, Report,
    compare::Spent,
    configuration::{Configuration, Request},
    goal_input::Input,
    keys::KEYS,
    run::run_again,
    value::Workload,
};

/// A workload at one fidelity.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// The model.
    pub name: &'static str,
    /// When the last rank finishes; `None` in a deadlock.
    pub makespan: Option<Time>,
    /// When each rank finishes.
    pub finish: Vec<Time>,
    /// The part of the ranks' time until they finish that is no computation, 0 to 1.
    pub communication: f64,
    /// Wall time of the simulation, in seconds.
    pub wall: f64,
    /// Events of the simulation.
    pub events: u64,
    /// Of traces: by call, how often and how long, over all ranks.
    pub calls: BTreeMap<&'static str, Spent>,
    /// The busiest links first, where the model tells.
    pub links: Vec<Carried>,
    /// What is odd about it.
    pub warnings: Vec<String>,
    /// Who can never finish.
    pub deadlock: Option<DeadlockSummary>,
}

/// All rungs, from the coarsest model to the finest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ladder {
    /// Those that were run.
    pub rungs: Vec<Rung>,
    /// Those that the machine does not support, and what is missing.
    pub missing: Vec<(&'static str, &'static str)>,
}

/// How many of the busiest links are kept.
const LINKS: usize = 5;

/// The name of the rung without a network, by which the others' computation is known.
pub const NOTHING: &str = "no network";

/// What is said of a program whose computation is measured for each model.
const MEASURED: &str = "each model measures anew what the program computes, which differs from run to run; heddle mpirun -o FOLDER \
                        --tables computation keeps it, and --set live.compute=replayed --set live.times=FOLDER/computation.csv takes it";

/// Keys of `[loggops]` that make messages free.
const FREE: [&str; 5] = ["L", "o", "g", "G", "O"];

/// A model: its name here, its settings, and what of the machine must be there.
struct Model {
    name: &'static str,
    settings: Vec<(&'static str, &'static str)>,
    missing: Option<&'static str>,
}

fn models(configuration: &Configuration) -> Vec<Model> {
    let topology = configuration.topology();
    let said = |prefix: &str| {
        KEYS.iter().any(|key| key.name.starts_with(prefix) && configuration.is_said(key.name))
    };
    let no_topology = topology.is_none().then_some("network.topology is unset");
    let no_hosts =
        (topology.is_some() && !said("loggops.")).then_some("nothing is set in [loggops]");
    let no_cables =
        configuration.platform().map(|_| "a platform has no lanes, buffers and credits");
    let free = KEYS.iter().map(|key| key.name).filter_map(|name| {
        let (table, key) = name.rsplit_once('.')?;
        let value = if key.starts_with('G') || key.starts_with('O') { "0 ns/B" } else { "0 ns" };
        let cost = FREE.iter().any(|free| key.split('-').next() == Some(free));
        (matches!(table, "loggops" | "loggops.large") && cost).then_some((name, value))
    });
    let mut nothing = vec![("network.model", "loggops"), ("loggops.compat", "heddle")];
    nothing.extend(free);
    let flow = |variant| vec![("network.model", "flow"), ("flow.variant", variant)];
    let model = |name, settings, missing| Model { name, settings, missing };
    vec![
        model(NOTHING, nothing, None),
        model("loggops", vec![("network.model", "loggops")], no_hosts),
        model("flow, loggps", flow("loggps"), no_topology),
        model("flow, fluid", flow("fluid"), no_topology),
        model("flow, hybrid", flow("hybrid"), no_topology),
        model("infiniband", vec![("network.model", "infiniband")], no_topology.or(no_cables)),
    ]
}

/// Runs what is asked for at every fidelity that its machine supports. Tells `next` the name of
/// each before it runs.
pub fn ladder(request: &Request, mut next: impl FnMut(&str)) -> Result<Ladder, Failure> {
    let configuration = Configuration::read(request)?;
    climb(&configuration, &mut None, &mut next)
}

/// A ladder for each value of a setting.
pub fn ladders(
    request: &Request,
    (key, values): (&str, &[&str]),
    mut next: impl FnMut(&str),
) -> Result<Vec<Ladder>, Failure> {
    let mut input = None;
    let one = |value: &&str| {
        let mut request = request.clone();
        request.set.push(format!("{key}={value}"));
        let configuration = Configuration::read(&request)?;
        climb(&configuration, &mut input, &mut |name| next(&format!("{key} = {value}: {name}")))
    };
    values.iter().map(one).collect()
}

/// Climbs a ladder. A schedule is read once and kept in `input`.
fn climb(
    configuration: &Configuration,
    input: &mut Option<Input>,
    next: &mut impl FnMut(&str),
) -> Result<Ladder, Failure> {
    let traces = matches!(configuration.workload(), Some(Workload::File(path))
        if traces::source::Traces::names(&path));
    // A manifest tells what its own run has written.
    let outputs = KEYS.iter().filter(|key| {
        key.table() == "output"
            && key.name != "output.force"
            && configuration.is_said(key.name)
            && !configuration.is_from_manifest(key.name)
    });
    let mistakes: Vec<_> = outputs
        .map(|key| {
            let message = format!("`{}` is not used by the ladder", key.name);
            let help = "heddle run writes folders and draws timelines".to_owned();
            configuration.mistake(key.name, message).help(help)
        })
        .collect();
    if !mistakes.is_empty() {
        return Err(Mistakes(mistakes).into());
    }
    let noise = KEYS.iter().any(|key| key.table() == "noise" && configuration.is_said(key.name));
    let mut ladder = Ladder::default();
    let mut computed = Vec::new();
    let in_process = configuration.is_program() && configuration.switch("live.in-process");
    for Model { name, mut settings, missing } in models(configuration) {
        if let Some(missing) = missing {
            ladder.missing.push((name, missing));
            continue;
        }
        next(name);
        if in_process {
            settings.push(("live.in-process", "false"));
        }
        let mut plan = Plan::new(configuration.for_model(&settings)?)?;
        if noise && plan.flow.is_some() {
            plan.warnings.push("[noise] has no part in the model flow".to_owned());
        }
        if configuration.is_program() && configuration.word("live.compute") == "measured" {
            plan.warnings.push(MEASURED.to_owned());
        }
        if in_process {
            plan.warnings.push(
                "live.in-process has no effect: on a ladder, each rank is a process".to_owned(),
            );
        }
        plan.calls = traces;
        let report = run_again(&plan, input)?;
        if name == NOTHING {
            computed = report.ranks.iter().map(|rank| rank.busy).collect();
        }
        ladder.rungs.push(rung(name, report, &plan, &computed));
    }
    Ok(ladder)
}

fn rung(name: &'static str, report: Report, plan: &Plan, computed: &[Time]) -> Rung {
    let finish: Vec<_> = report.ranks.iter().map(|rank| rank.finish).collect();
    let sum = |times: &[Time]| times.iter().map(|time| time.ps() as f64).sum::<f64>();
    let all = sum(&finish);
    let busy = finish.iter().zip(computed).map(|(end, busy)| *end.min(busy)).collect::<Vec<_>>();
    let mut calls: BTreeMap<&'static str, Spent> = BTreeMap::new();
    for call in report.calls.iter().filter(|call| call.leave != Time::MAX) {
        calls.entry(call.name).or_default().add(call.leave.saturating_sub(call.enter));
    }
    let mut links = report.links;
    links.sort_by(|a, b| (b.bytes / b.bandwidth).total_cmp(&(a.bytes / a.bandwidth)));
    links.truncate(LINKS);
    let warnings = plan.warnings.iter().chain(&report.warnings).cloned().collect();
    Rung {
        name,
        makespan: report.summary.makespan_ps.map(Time::from_ps),
        communication: if all > 0.0 { 1.0 - sum(&busy) / all } else { 0.0 },
        finish,
        wall: report.performance.simulation_seconds,
        events: report.summary.events,
        calls,
        links,
        warnings,
        deadlock: report.summary.deadlock,
    }
}
