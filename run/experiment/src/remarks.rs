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
    let of_rails = one_rail_each(configuration, summary);
    unset.into_iter().chain(of_rails).chain(measured_here(configuration, summary)).collect()
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
/// of the critical path.
fn unset_costs(configuration: &Configuration, summary: &Summary) -> Option<String> {
    let costs = much(configuration, summary);
    let each = costs.iter().map(|(what, share, said)| format!("{what} {share:.0} % ({said})"));
    let all = each.collect::<Vec<_>>().join(", ");
    let message = format!("defaults that nobody set make much of the critical path: {all}");
    (!costs.is_empty()).then_some(message)
}

/// Remarks on what the results of a run of a study rest on, in words that suit many runs.
pub(crate) fn on_results_of_study(configuration: &Configuration, summary: &Summary) -> Vec<String> {
    let costs = much(configuration, summary);
    let each = costs.iter().map(|(what, _, said)| format!("{what} ({said})"));
    let all = each.collect::<Vec<_>>().join(", ");
    let message =
        format!("defaults that nobody set make more than a tenth of the critical path: {all}");
    let unset = (!costs.is_empty()).then_some(message);
    unset.into_iter().chain(one_rail_each(configuration, summary)).collect()
}

/// A remark on large messages that take one rail each, although there are several.
fn one_rail_each(configuration: &Configuration, summary: &Summary) -> Option<String> {
    let whole = configuration.value(keys::rails::WHOLE)?.get();
    let mean = summary.bytes.checked_div(summary.messages)?;
    let is_spread = !configuration.value(keys::rails::POLICY)?.starts_with("single:");
    let is_whole = configuration.model() == scope::Model::Rails
        && configuration.word(keys::rails::STRIPES) == "none"
        && !configuration.is_said(keys::rails::STRIPES);
    (is_whole && is_spread && mean > whole).then(|| {
        "each large message takes one rail, as rails.stripes is none; water-filling splits those \
         of more than rails.whole"
            .to_owned()
    })
}

/// The costs that nobody set and that make more than a tenth of the critical path: their name,
/// share in per cent, and the key with its value. Where the network has switches, those are the
/// overheads of hosts.
fn much(configuration: &Configuration, summary: &Summary) -> Vec<(&'static str, f64, String)> {
    let (Some(path), Some(makespan)) = (summary.critical_path, summary.makespan_ps) else {
        return Vec::new();
    };
    let share = |part: u64| part as f64 * 100.0 / makespan.max(1) as f64;
    let of = |configuration: &Configuration, prefix: &str| -> Vec<_> {
        let costs = unset(configuration, path, prefix).into_iter();
        let costs = costs.map(|(what, part, said)| (what, share(part), said));
        costs.filter(|(_, share, _)| *share > 10.0).collect()
    };
    if configuration.model() != scope::Model::Rails {
        return of(configuration, "");
    }
    let rails = configuration.by_rail().unwrap_or_default().into_iter();
    let mut found = rails.map(|(name, alone)| of(&alone, &format!("rail.{name}.")));
    found.find(|costs| !costs.is_empty()).unwrap_or_default()
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
