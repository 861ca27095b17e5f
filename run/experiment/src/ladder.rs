//! One workload at every fidelity that its machine supports, side by side.

use std::{collections::BTreeMap, sync::Arc};

use results::DeadlockSummary;
use topology::Routing;
use units::Time;

use crate::{
    Carried, Failure, Mistakes, Plan, Report, Stock,
    compare::Spent,
    job::{Observer, Observers},
    settings::{
        configuration::{Configuration, Request},
        keys::{self, Id},
        scope, usage,
    },
    workloads::Workload,
};

/// A workload at one fidelity.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// The model.
    pub name: &'static str,
    /// The time at which the last rank finishes; `None` in a deadlock.
    pub makespan: Option<Time>,
    /// The times at which ranks finish.
    pub finish: Vec<Time>,
    /// The part of the ranks' time until they finish that is no computation, 0 to 1.
    pub communication: f64,
    /// Wall time of the simulation, in seconds.
    pub wall: f64,
    /// Events of the simulation.
    pub events: u64,
    /// Of traces: by call, how often and how long, over all ranks.
    pub calls: BTreeMap<Arc<str>, Spent>,
    /// The busiest links first, where the model tells.
    pub links: Vec<Carried>,
    /// Warnings about the rung.
    pub warnings: Vec<String>,
    /// The deadlock, if the ranks can never finish.
    pub deadlock: Option<DeadlockSummary>,
}

/// All rungs, from the coarsest model to the finest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ladder {
    /// Those that were run.
    pub rungs: Vec<Rung>,
    /// Those that the machine does not support, and what is missing.
    pub missing: Vec<(&'static str, &'static str)>,
    /// Remarks on what makes its models hard to compare.
    pub remarks: Vec<String>,
}

/// The number of the busiest links that are kept.
const LINKS: usize = 5;

/// The name of the rung without a network, by which the others' computation is known.
pub const NOTHING: &str = "no network";

/// The warning about a program whose computation each model measures anew.
const MEASURED: &str = "each model measures anew what the program computes, which differs from run \
                        to run; heddle mpirun -o FOLDER --tables computation keeps it, and --set \
                        live.compute=replayed --set live.times=FOLDER/computation.csv takes it";

/// A model: its name here, its settings, and what of the machine must be there.
struct Model {
    name: &'static str,
    settings: Vec<(Id, &'static str)>,
    missing: Option<&'static str>,
}

/// The settings that make messages free.
fn free() -> impl Iterator<Item = (Id, &'static str)> {
    Id::all().filter_map(|id| {
        let key = id.key();
        let cost =
            ["L", "o", "g", "G", "O"].contains(&key.short().split('-').next().unwrap_or_default());
        let value = if key.short().starts_with(['G', 'O']) { "0 ns/B" } else { "0 ns" };
        (matches!(key.table(), "loggops" | "loggops.large") && cost).then_some((id, value))
    })
}

fn models(configuration: &Configuration) -> Vec<Model> {
    const MODEL: Id = keys::network::MODEL.id();
    let topology = configuration.topology();
    let said = |table: &str| {
        Id::all().any(|id| id.key().name.starts_with(table) && configuration.is_said(id))
    };
    let no_topology = topology.is_none().then_some("network.topology is unset");
    let no_hosts =
        (topology.is_some() && !said("loggops.")).then_some("nothing is set in [loggops]");
    let no_cables =
        configuration.platform().map(|_| "a platform has no lanes, buffers and credits");
    let preset = configuration.word(keys::network::PRESET);
    let named = configuration.is_said(keys::network::PRESET);
    let of = |model: &str| named && preset.starts_with(model);
    let routers = of("packet").then_some("network.preset is one of the model packet");
    let routing = configuration.value(keys::network::ROUTING);
    let routing = routing.and_then(|name| name.parse::<Routing>().ok());
    let chosen = routing
        .filter(Routing::needs_routers)
        .map(|_| "network.routing needs routers with virtual channels");
    let cables = of("infiniband").then_some("network.preset is one of the model infiniband");
    let mut nothing = vec![(MODEL, "loggops"), (keys::loggops::COMPAT.id(), "heddle")];
    nothing.extend(free());
    if configuration.model() == scope::Model::Rails {
        let model = |name, settings| Model { name, settings, missing: None };
        return vec![model(NOTHING, nothing), model("rails", Vec::new())];
    }
    let flow = |variant| vec![(MODEL, "flow"), (keys::flow::VARIANT.id(), variant)];
    let model = |name, settings, missing| Model { name, settings, missing };
    vec![
        model(NOTHING, nothing, None),
        model("loggops", vec![(MODEL, "loggops")], no_hosts),
        model("flow, loggps", flow("loggps"), no_topology.or(chosen)),
        model("flow, fluid", flow("fluid"), no_topology.or(chosen)),
        model("flow, hybrid", flow("hybrid"), no_topology.or(chosen)),
        model("packet", vec![(MODEL, "packet")], no_topology.or(no_cables).or(cables)),
        model(
            "infiniband",
            vec![(MODEL, "infiniband")],
            no_topology.or(no_cables).or(routers).or(chosen),
        ),
    ]
}

/// Runs what is asked for at every fidelity that its machine supports. Tells `next` the name of
/// each before it runs.
pub fn ladder(
    request: &Request,
    progress: &dyn Observer,
    mut next: impl FnMut(&str),
) -> Result<Ladder, Failure> {
    let configuration = Configuration::read(request)?;
    climb(&configuration, &mut Known::default(), progress, &mut next)
}

/// A ladder for each value of a setting.
pub fn ladders(
    request: &Request,
    (key, values): (&str, &[&str]),
    progress: &dyn Observer,
    mut next: impl FnMut(&str),
) -> Result<Vec<Ladder>, Failure> {
    let mut known = Known::default();
    let one = |value: &&str| {
        let mut request = request.clone();
        request.over = Some(format!("{key}={value}"));
        let configuration = Configuration::read(&request)?;
        let mut next = |name: &str| next(&format!("{key} = {value}: {name}"));
        climb(&configuration, &mut known, progress, &mut next)
    };
    values.iter().map(one).collect()
}

/// The parts of earlier runs that others share.
#[derive(Default)]
pub(crate) struct Known {
    /// A schedule.
    schedule: Option<Arc<Workload>>,
    /// Topologies and routes.
    stock: Stock,
}

impl Known {
    /// Makes a plan of what is known already, and keeps what others can share.
    pub(crate) fn plan(&mut self, configuration: Configuration) -> Result<Plan, Mistakes> {
        let mut plan = Plan::of(configuration, &mut self.stock)?;
        reuse(&mut plan, &mut self.schedule);
        Ok(plan)
    }
}

/// Climbs a ladder. Schedules, topologies and routes are made once and kept in `known`.
fn climb(
    configuration: &Configuration,
    known: &mut Known,
    progress: &dyn Observer,
    next: &mut impl FnMut(&str),
) -> Result<Ladder, Failure> {
    refuse(configuration)?;
    let mut ladder = Ladder::default();
    let remark = used_somewhere(configuration)?;
    let mut computed = Vec::new();
    let in_process = configuration.is_in_process();
    for Model { name, mut settings, missing } in models(configuration) {
        if let Some(missing) = missing {
            ladder.missing.push((name, missing));
            continue;
        }
        next(name);
        if in_process {
            settings.push((keys::live::IN_PROCESS.id(), "false"));
        }
        let mut plan = known.plan(configuration.for_model(&settings)?)?;
        if configuration.is_program() && configuration.word(keys::live::COMPUTE) == "measured" {
            plan.warnings.push(MEASURED.to_owned());
        }
        if in_process {
            plan.warnings.push(
                "live.in-process has no effect: on a ladder, each rank is a process".to_owned(),
            );
        }
        plan.warnings.extend(remark.clone());
        if ladder.remarks.is_empty() {
            ladder.remarks.extend(free_hosts(&plan));
        }
        plan.records.calls = configuration.is_traces() || configuration.is_program();
        let report = plan.job(Observers { progress, ..Observers::default() }).run()?;
        if name == NOTHING {
            computed = report.ranks().iter().map(|rank| rank.busy).collect();
        }
        ladder.rungs.push(rung(name, report, &plan, &computed));
    }
    Ok(ladder)
}

/// Refuses settings of the run that a ladder cannot use: where it writes, and over which model.
fn refuse(configuration: &Configuration) -> Result<(), Mistakes> {
    // A manifest tells what its own run has written.
    let outputs = Id::all().filter(|id| {
        id.key().table() == "output"
            && *id != keys::run::output::FORCE.id()
            && configuration.is_said(*id)
            && !configuration.is_from_manifest(*id)
    });
    let outputs = outputs.map(|id| (id, "heddle run writes folders and draws timelines"));
    let model = keys::network::MODEL.id();
    let model = configuration.argument(model).map(|_| (model, "heddle run has one model"));
    let mistakes: Vec<_> = outputs
        .chain(model)
        .map(|(id, help)| {
            let message = format!("`{}` is not used by the ladder", id.key().name);
            configuration.mistake(id, message).help(help.to_owned())
        })
        .collect();
    if !mistakes.is_empty() {
        return Err(Mistakes(mistakes));
    }
    Ok(())
}

/// Refuses settings of the command line that the workload or no model of the ladder uses. Returns a
/// remark on those that only some models of a network use; without a network there is nothing that
/// most settings could describe.
fn used_somewhere(configuration: &Configuration) -> Result<Option<String>, Mistakes> {
    let run: Vec<_> =
        models(configuration).into_iter().filter(|model| model.missing.is_none()).collect();
    let kind = |model: &Model| {
        let word = model.settings.iter().find(|(id, _)| *id == keys::network::MODEL.id());
        let named = |word| scope::Model::ALL.iter().copied().find(|model| model.name() == word);
        word.map_or(Some(configuration.model()), |(_, word)| named(*word))
    };
    let networks = run.iter().filter(|model| model.name != NOTHING).filter_map(kind);
    let networks: Vec<_> = networks.collect();
    let kinds: Vec<_> = run.iter().filter_map(kind).collect();
    let workload = configuration.workload_kind();
    let (mut mistakes, mut partly) = (Vec::new(), Vec::new());
    for id in Id::all().filter(|id| configuration.argument(*id).is_some()) {
        let (key, scope) = (id.key(), id.key().scope);
        if let Some(workload) = workload.filter(|workload| !scope.has_workload(*workload)) {
            let (message, help) = usage::not_of_workload(id, workload);
            mistakes.push(configuration.mistake(id, message).help(help));
            continue;
        }
        let uses = |kind: &scope::Model| usage::is_used(configuration, id, *kind);
        if networks.iter().all(uses) {
            continue;
        }
        if kinds.iter().any(uses) {
            partly.push(key.name);
        } else {
            let message = format!("`{}` is not used by any model of this ladder", key.name);
            mistakes.push(configuration.mistake(id, message));
        }
    }
    if !mistakes.is_empty() {
        return Err(Mistakes(mistakes));
    }
    let some = (!partly.is_empty()).then(|| partly.join(", "));
    Ok(some.map(|names| format!("used by some models of the ladder only: {names}")))
}

/// A remark on flows that cost hosts nothing because nobody said what they cost, where packets do.
fn free_hosts(plan: &Plan) -> Option<String> {
    use keys::{flow, loggops::OVERHEAD};
    let configuration = plan.configuration();
    let costs = [flow::OS, flow::OIS, flow::OR].map(|key| configuration.is_said(key));
    let free = configuration.model() == scope::Model::Flow
        && configuration.platform().is_none()
        && !costs.contains(&true);
    let overhead = configuration.value(OVERHEAD).filter(|_| free)?;
    Some(format!(
        "hosts cost nothing over flow (os, ois, or unset), {overhead} (loggops.o) over packets"
    ))
}

/// Puts a schedule that was read before in the place of the plan's, or keeps that for others.
fn reuse(plan: &mut Plan, known: &mut Option<Arc<Workload>>) {
    let Workload::Goal(goal) = &*plan.workload else { return };
    match known.as_deref() {
        Some(Workload::Goal(other)) if other.source == goal.source => {
            plan.workload = known.clone().unwrap_or_else(|| Arc::clone(&plan.workload));
        }
        _ => *known = Some(Arc::clone(&plan.workload)),
    }
}

fn rung(name: &'static str, report: Report, plan: &Plan, computed: &[Time]) -> Rung {
    let finish: Vec<_> = report.ranks().iter().map(|rank| rank.finish).collect();
    let sum = |times: &[Time]| times.iter().map(|time| time.ps() as f64).sum::<f64>();
    let all = sum(&finish);
    let busy = finish.iter().zip(computed).map(|(end, busy)| *end.min(busy)).collect::<Vec<_>>();
    let mut calls: BTreeMap<Arc<str>, Spent> = BTreeMap::new();
    for call in report.calls.into_iter().filter(|call| call.leave != Time::MAX) {
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
