//! Remarks: what a user should know about a run besides its results.

use results::{CriticalPathSummary, Summary};
use units::Time;

use crate::{
    models::{self, Stock},
    settings::{
        configuration::Configuration,
        keys::{self, Setting},
        scope, usage,
    },
};

/// Remarks on the settings; `measured` is that on measured parameters.
pub(crate) fn on_settings(
    configuration: &Configuration,
    measured: Option<String>,
    stock: &mut Stock,
) -> Vec<String> {
    let of_settings = usage::remark(configuration).into_iter();
    let remarks = of_settings.chain(models::classes::remark(configuration)).chain(measured);
    remarks.chain(models::topologies::out_of_service(configuration, stock)).collect()
}

/// Remarks on what the results rest on.
pub(crate) fn on_results(configuration: &Configuration, summary: &Summary) -> Vec<String> {
    let unset = unset_costs(configuration, summary);
    unset.into_iter().chain(measured_here(configuration, summary)).collect()
}

/// A remark on computation that was measured while the program ran, if it is more than a tenth of
/// the critical path.
fn measured_here(configuration: &Configuration, summary: &Summary) -> Option<String> {
    let is_measured =
        configuration.is_program() && configuration.word(keys::live::COMPUTE) == "measured";
    let (path, makespan) = (summary.critical_path?, summary.makespan_ps?);
    let share = path.compute_ps as f64 / makespan.max(1) as f64;
    (is_measured && share > 0.1).then(|| {
        let percent = share * 100.0;
        format!(
            "{percent:.0} % of the critical path is computation as this machine took for it just \
             now, which differs from run to run; --compute-time has other choices"
        )
    })
}

/// A remark on parameters of LogGOPS that nobody set although each of them makes more than a tenth
/// of the critical path. Where the network has switches, those are the overheads of hosts.
fn unset_costs(configuration: &Configuration, summary: &Summary) -> Option<String> {
    let (path, makespan) = (summary.critical_path?, summary.makespan_ps?);
    let costs = match configuration.model() {
        scope::Model::Rails => {
            let mut rails = configuration.by_rail().ok()?.into_iter();
            rails.find_map(|(name, alone)| {
                let costs = unset(&alone, path, &format!("rail.{name}."));
                (!costs.is_empty()).then_some(costs)
            })?
        }
        _ => unset(configuration, path, ""),
    };
    let share = |part: u64| part as f64 * 100.0 / makespan.max(1) as f64;
    let much: Vec<_> = costs
        .into_iter()
        .filter(|(_, part, _)| share(*part) > 10.0)
        .map(|(what, part, said)| format!("{what} {:.0} % ({said})", share(part)))
        .collect();
    (!much.is_empty()).then(|| {
        let much = much.join(", ");
        format!("defaults that nobody set make much of the critical path: {much}")
    })
}

/// The costs of a network that nobody set: their name, their part of a critical path, and the key
/// with its value.
fn unset(
    configuration: &Configuration,
    path: CriticalPathSummary,
    prefix: &str,
) -> Vec<(&'static str, u64, String)> {
    use keys::loggops::{GAP_PER_BYTE, LATENCY, OVERHEAD, RECEIVE_OVERHEAD, SEND_OVERHEAD};
    let said = |ids: &[keys::Id]| ids.iter().any(|id| configuration.is_said(*id));
    let (has_wire, has_hosts) = match configuration.model() {
        _ if !configuration.classes.is_empty() => (false, false),
        scope::Model::Loggops => (true, true),
        scope::Model::Infiniband | scope::Model::Packet => (false, true),
        _ => (false, false),
    };
    let time = |key: Setting<Time>| configuration.value(key).unwrap_or_default().to_string();
    let per_byte = configuration.value(GAP_PER_BYTE);
    let per_byte = per_byte.map_or_else(String::new, |it| it.to_string());
    let overheads = [OVERHEAD.id(), SEND_OVERHEAD.id(), RECEIVE_OVERHEAD.id()];
    let bandwidths = [GAP_PER_BYTE.id(), keys::loggops::PAIRS.id()];
    let costs = [
        (has_hosts && !said(&overheads), "overhead", path.overhead_ps, ("o", time(OVERHEAD))),
        (has_wire && !said(&[LATENCY.id()]), "latency", path.latency_ps, ("L", time(LATENCY))),
        (has_wire && !said(&bandwidths), "bandwidth", path.bandwidth_ps, ("G", per_byte)),
    ];
    let unset = costs.into_iter().filter(|(is_unset, ..)| *is_unset);
    let shown = |(key, value)| format!("{prefix}loggops.{key} = {value}");
    unset.map(|(_, what, part, said)| (what, part, shown(said))).collect()
}

/// Returns a remark on each setting that has no effect on the run, with the reason.
pub(crate) fn without_effect(configuration: &Configuration, sequential: bool) -> Vec<String> {
    let in_process = configuration.is_in_process();
    let alone = if in_process {
        Some("live.in-process = true")
    } else {
        // Of ranks that are processes, as many as there are threads compute at a time.
        (sequential && !configuration.is_program()).then(|| configuration.model().choice())
    };
    let mut warnings = Vec::new();
    if let Some(alone) = alone.filter(|_| configuration.value(keys::run::THREADS) != Some(1)) {
        warnings.push(format!("run.threads has no effect: {alone} runs on one thread"));
    }
    if in_process && configuration.value(keys::live::SPAWN).is_some() {
        warnings.push(
            "live.spawn has no effect: with live.in-process = true, no processes are started"
                .to_owned(),
        );
    }
    warnings
}
