//! Several networks for each host, from tables `[rail.NAME]` and `[rails]`. What a rail is stands
//! in the files of the models; the choice among rails is in the crate `rails`.

mod network;

use std::{sync::Arc, time::Instant};

use ::network::{Network as _, Rails as Networks, Transfer};
use ::rails::{MOST_RAILS, Parameters, Policy, Stripes};
use host::{
    Costs, HostCosts, Settings, Work,
    rails::{Rail, Rails as Scheduled, ticks},
};
use loggops::{Adapters, Loss};
use units::{Bytes, HostId, Time, TimePerByte};

use self::network::AnyNetwork;
use super::{
    Model, Run, Simulated, hosts,
    infiniband::{self, Infiniband},
    packet::{self, Packet},
    stock::Stock,
    switched::Switches as _,
};
use crate::{
    job::Failure,
    settings::{
        configuration::Configuration,
        diagnostic::{Diagnostic, Mistakes, Place},
        keys::{self, Id, Setting},
        named_table::NamedTable,
        probability::Probability,
        scope, usage,
    },
};

/// Networks that all hosts are on, and how hosts choose among them.
#[derive(Debug)]
pub struct Rails {
    networks: Vec<Network>,
    scheduled: Arc<Scheduled>,
    /// The place that says which hosts a rail has, or else when one fails.
    limit: Place,
}

/// The network of a rail, before ranks are placed.
#[derive(Debug)]
enum Network {
    Loggops(Adapters),
    Infiniband(Infiniband),
    Packet(Packet),
}

pub(crate) fn resolve(
    configuration: &Configuration,
    stock: &mut Stock,
) -> Result<(Rails, Vec<String>), Vec<Diagnostic>> {
    let alone = configuration.by_rail().map_err(|mistakes| mistakes.0)?;
    if alone.len() > MOST_RAILS {
        let message = format!("{} rails: a host has at most {MOST_RAILS}", alone.len());
        return Err(vec![Diagnostic::new(Place::Nowhere, message)]);
    }
    let (mut networks, mut rails) = (Vec::new(), Vec::new());
    let (mut mistakes, mut remarks) = (Vec::new(), Vec::new());
    for (name, alone) in &alone {
        let table = configuration.rails.iter().find(|rail| rail.name == *name);
        let place = table.map_or_else(|| alone.place(keys::network::MODEL), NamedTable::place);
        mistakes.extend(without_parameters(name, place, alone));
        match rail(alone, stock) {
            Ok((network, rail, remarked)) => {
                networks.push(network);
                rails.push(rail);
                remarks.extend(remarked.into_iter().map(|it| format!("rail {name}: {it}")));
            }
            Err(found) => mistakes.extend(found),
        }
    }
    let names: Vec<&str> = alone.iter().map(|(name, _)| name.as_str()).collect();
    let policy = policy(configuration, &names).map_err(|found| mistakes.push(found)).ok();
    let (Some(policy), true) = (policy, mistakes.is_empty()) else { return Err(mistakes) };
    let stripes = match configuration.word(keys::rails::STRIPES) {
        "equal" => Stripes::Equal,
        "bandwidth" => Stripes::Bandwidth,
        "water-filling" => Stripes::WaterFilling,
        _ => Stripes::None,
    };
    let whole = configuration.value(keys::rails::WHOLE).map_or(u64::MAX, Bytes::get);
    let notices = configuration.switch(keys::rails::NOTICE);
    let scheduled = Scheduled { rails, policy, stripes, whole, notices };
    // Who takes part is known when the program runs.
    let may_be_common = |rail: &Rail| rail.hosts.as_ref().is_none_or(|on| !on.contains(&false));
    let limits = [keys::rails::rail::HOSTS.id(), keys::rails::rail::FAIL_AT.id()];
    let limits = limits.iter().flat_map(|id| alone.iter().map(|(_, alone)| alone.place(*id)));
    let limit = limits.into_iter().find(|at| *at != Place::Nowhere).unwrap_or(Place::Nowhere);
    if let Some(at) = without_common_rail(&scheduled.rails, may_be_common) {
        return Err(vec![uncommon(&limit, at, "all hosts")]);
    }
    remarks.extend(without_effect(configuration, &scheduled));
    Ok((Rails { networks, scheduled: Arc::new(scheduled), limit }, remarks))
}

/// Remarks on settings of this run that the policy does not use.
fn without_effect(configuration: &Configuration, scheduled: &Scheduled) -> Vec<String> {
    use keys::rails::{NOTICE, POLICY, WHOLE};
    let policy = configuration.value(POLICY).unwrap_or_default();
    let whole = configuration.is_said_of_run(WHOLE) && scheduled.stripes == Stripes::None;
    let notice = configuration.is_said_of_run(NOTICE)
        && scheduled.notices
        && !scheduled.policy.compares_times();
    let unused = [
        whole.then(|| "rails.whole has no effect: rails.stripes is none".to_owned()),
        notice.then(|| format!("rails.notice has no effect: {policy} compares no times")),
    ];
    let by_weight = matches!(scheduled.policy, Policy::Weighted | Policy::Fair)
        || scheduled.stripes == Stripes::Bandwidth;
    let weights = configuration
        .rails
        .iter()
        .filter(|rail| !by_weight && rail.argument(keys::rails::rail::WEIGHT.id()).is_some());
    let weights = weights.map(|rail| {
        let name = &rail.name;
        format!("rail.{name}.weight has no effect: {policy} does not go by weights")
    });
    unused.into_iter().flatten().chain(weights).collect()
}

/// A mistake if nothing is said of the wire of a rail, or not everything: its defaults would decide
/// which rail messages take.
fn without_parameters(name: &str, place: Place, alone: &Configuration) -> Option<Diagnostic> {
    use keys::loggops::{GAP, GAP_PER_BYTE, LATENCY, OVERHEAD, RECEIVE_OVERHEAD, SEND_OVERHEAD};
    if alone.model() != scope::Model::Loggops {
        return None;
    }
    let said = |id: Id| alone.is_said(id);
    let is_paid = said(OVERHEAD.id()) || said(SEND_OVERHEAD.id()) && said(RECEIVE_OVERHEAD.id());
    let known = [
        ("L", said(LATENCY.id())),
        ("o", is_paid),
        ("g", said(GAP.id())),
        ("G", said(GAP_PER_BYTE.id())),
    ];
    let missing = known.iter().filter(|(_, is_known)| !is_known).map(|(key, _)| *key);
    let missing: Vec<&str> = missing.collect();
    let message = format!("the rail `{name}` has no {}", missing.join(", "));
    let help = "say all four in its table `loggops`, as heddle measure writes them, or say the \
                topology of a rail with switches";
    (!missing.is_empty()).then(|| Diagnostic::new(place, message).help(help.to_owned()))
}

/// The mistake that at some time no rail works that these are all on.
fn uncommon(limit: &Place, at: Time, which: &str) -> Diagnostic {
    let message = format!("at {at} there is no rail that {which} are on and that works");
    let help = "leave rail.NAME.hosts or rail.NAME.fail-at out for one of them".to_owned();
    Diagnostic::new(limit.clone(), message).help(help)
}

/// Returns the policy that the settings name.
fn policy(configuration: &Configuration, names: &[&str]) -> Result<Policy, Diagnostic> {
    const POLICY: Setting<String> = keys::rails::POLICY;
    let word = configuration.value(POLICY).unwrap_or_default();
    let known = || {
        let policies = Policy::NAMES.iter().map(|(name, _)| (*name).to_owned());
        policies.chain(names.iter().map(|name| format!("single:{name}"))).collect::<Vec<_>>()
    };
    let single = word.strip_prefix("single:").and_then(|rail| {
        names.iter().zip(0..).find(|(name, _)| **name == rail).map(|(_, rail)| Policy::Single(rail))
    });
    single.or_else(|| Policy::named(&word)).ok_or_else(|| {
        let known = known();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let help = units::nearest(&word, &known).map_or_else(
            || format!("known policies: {}", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        configuration.mistake(POLICY, format!("unknown policy `{word}`")).help(help)
    })
}

/// Returns a time at which no rail works that is common to all hosts, if there is one.
fn without_common_rail(rails: &[Rail], is_common: impl Fn(&Rail) -> bool) -> Option<Time> {
    let starts = rails.iter().filter_map(|rail| rail.outage).map(|(from, _)| from);
    let works =
        |rail: &Rail, at: Time| rail.outage.is_none_or(|(from, until)| at < from || at >= until);
    let common = |at: Time| rails.iter().any(|rail| is_common(rail) && works(rail, at));
    std::iter::once(Time::ZERO).chain(starts).find(|at| !common(*at))
}

/// Makes a rail of its settings, with what is odd about them.
fn rail(
    alone: &Configuration,
    stock: &mut Stock,
) -> Result<(Network, Rail, Vec<String>), Vec<Diagnostic>> {
    let mut mistakes = unused(alone);
    let hosts = on(alone).map_err(|found| mistakes.push(found)).ok().flatten();
    let made = match alone.model() {
        scope::Model::Loggops => adapters(alone)
            .map(|adapters| (Network::Loggops(adapters), Vec::new()))
            .map_err(|found| vec![found]),
        scope::Model::Infiniband => infiniband::resolve(alone, stock)
            .map(|(network, remarks)| (Network::Infiniband(network), remarks)),
        scope::Model::Packet => packet::resolve(alone, stock)
            .map(|(network, remarks)| (Network::Packet(network), remarks)),
        other => {
            let message = format!("the model {} is no rail", other.name());
            let help = "a rail needs a network of its own clock: `loggops`, `infiniband` or \
                        `packet`"
                .to_owned();
            Err(vec![alone.mistake(keys::network::MODEL, message).help(help)])
        }
    };
    let made = made.map_err(|found| mistakes.extend(found)).ok();
    mistakes.extend(spaced_twice(alone));
    mistakes.extend(mistimed(alone));
    let (Some((network, remarks)), true) = (made, mistakes.is_empty()) else {
        return Err(mistakes);
    };
    let parameters = hosts::parameters(alone);
    let known = match &network {
        Network::Loggops(_) => known(alone, &parameters.small),
        Network::Infiniband(it) => {
            idle(alone, &parameters.small, &AnyNetwork::Infiniband(it.network_of_all()))
        }
        Network::Packet(it) => {
            idle(alone, &parameters.small, &AnyNetwork::Packet(it.network_of_all()))
        }
    };
    let at_host = |costs: &HostCosts| HostCosts {
        gap: Time::ZERO,
        gap_per_byte: TimePerByte::ZERO,
        ..*costs
    };
    let costs = Costs::from(&parameters);
    let costs = Costs { small: at_host(&costs.small), large: at_host(&costs.large), ..costs };
    let until = alone.value(keys::rails::rail::RECOVER_AT).unwrap_or(Time::MAX);
    let outage = alone.value(keys::rails::rail::FAIL_AT).map(|from| (from, until));
    Ok((network, Rail { costs, parameters: known, outage, hosts }, remarks))
}

/// Mistakes for the settings of a rail that its model does not use.
fn unused(alone: &Configuration) -> Vec<Diagnostic> {
    let model = alone.model();
    let of_rail = Id::all().filter(|id| id.is_of_rail() && alone.is_said(*id));
    let unused = of_rail.filter(|id| {
        let scope = id.key().scope;
        !scope.has_model(model) && !scope.has_model(scope::Model::Rails)
    });
    let mistake = |id: Id| {
        let (message, help) = usage::not_of_model(id, model);
        alone.mistake(id, message).help(help)
    };
    unused.map(mistake).collect()
}

/// A mistake if messages of a network with switches would be spaced at the hosts, too.
fn spaced_twice(alone: &Configuration) -> Option<Diagnostic> {
    const GAPS: [Id; 4] = [
        keys::loggops::GAP.id(),
        keys::loggops::GAP_PER_BYTE.id(),
        keys::loggops::large::GAP.id(),
        keys::loggops::large::GAP_PER_BYTE.id(),
    ];
    let said = GAPS.into_iter().find(|id| alone.is_said(*id))?;
    let switched = matches!(alone.model(), scope::Model::Infiniband | scope::Model::Packet);
    let message = format!("`{}`: the network of this rail spaces messages itself", said.key().name);
    switched.then(|| alone.mistake(said, message).help("leave it out".to_owned()))
}

/// Mistakes in the times at which a rail fails, becomes slower and is as before.
fn mistimed(alone: &Configuration) -> Vec<Diagnostic> {
    use keys::rails::rail::{DEGRADE_AT, DEGRADE_TO, FAIL_AT, RECOVER_AT};
    let mut mistakes = Vec::new();
    if alone.is_said(DEGRADE_AT) && alone.model() != scope::Model::Loggops {
        let message = "only a rail of the model loggops loses bandwidth";
        let help = "fail-at takes a rail of any model out of service".to_owned();
        mistakes.push(alone.mistake(DEGRADE_AT, message).help(help));
    }
    if alone.is_said(DEGRADE_TO) && !alone.is_said(DEGRADE_AT) {
        let mistake = alone.mistake(DEGRADE_TO, "the rail does not become slower");
        mistakes.push(mistake.help("set degrade-at, or leave this out".to_owned()));
    }
    let times = [FAIL_AT, DEGRADE_AT].map(|setting| alone.value(setting));
    let begins = times.into_iter().flatten().max();
    if let Some(ends) = alone.value(RECOVER_AT)
        && begins.is_none_or(|begins| ends <= begins)
    {
        let message = "a rail recovers after it has failed or become slower";
        let help = "set fail-at or degrade-at to an earlier time".to_owned();
        mistakes.push(alone.mistake(RECOVER_AT, message).help(help));
    }
    mistakes
}

/// The adapters of a rail of the model `loggops`.
fn adapters(alone: &Configuration) -> Result<Adapters, Diagnostic> {
    use keys::rails::rail::{DEGRADE_AT, DEGRADE_TO, RECOVER_AT};
    let parameters = hosts::parameters(alone);
    if parameters.small.latency.min(parameters.large.latency) == Time::ZERO {
        let message = "a rail needs a latency L of more than zero";
        return Err(alone.mistake(keys::loggops::LATENCY, message));
    }
    let left = alone.value(DEGRADE_TO).map_or(0, Probability::millionths);
    if left == 0 && alone.is_said(DEGRADE_AT) {
        let message = "a rail without bandwidth has failed: set fail-at";
        return Err(alone.mistake(DEGRADE_TO, message));
    }
    let until = alone.value(RECOVER_AT).unwrap_or(Time::MAX);
    let loss = alone.value(DEGRADE_AT).map(|from| Loss { from, until, left });
    Ok(Adapters::new(&parameters, loss))
}

/// Returns the parameters that schedulers know of a rail of the model `loggops`.
fn known(alone: &Configuration, costs: &loggops::Costs) -> Parameters {
    // Of a million bytes, in ps.
    let cost = u128::from(costs.gap_per_byte.cost(1_000_000).ps());
    Parameters {
        send_overhead: ticks(costs.send_overhead),
        receive_overhead: ticks(costs.receive_overhead),
        latency: ticks(costs.latency),
        gap: ticks(costs.gap),
        gap_per_byte: u64::try_from((cost << 20) / 1_000_000_000).unwrap_or(u64::MAX),
        weight: alone.value(keys::rails::rail::WEIGHT).unwrap_or(0) as u32,
    }
}

/// Returns the parameters that schedulers know of a rail with switches: those of an idle network
/// between its first host and its last, from the times of a byte and of a million of them.
fn idle(alone: &Configuration, costs: &loggops::Costs, network: &AnyNetwork) -> Parameters {
    const MANY: u64 = 1_000_001;
    let last = network.hosts().unwrap_or(1).saturating_sub(1);
    let times = |bytes| network.uncontended(Transfer::new(HostId(0), HostId(last), bytes));
    let (one, many) = (times(1), times(MANY));
    let slope = many.transit.saturating_sub(one.transit);
    let gap_per_byte = TimePerByte::new(slope.ps(), MANY - 1).unwrap_or(TimePerByte::ZERO);
    let costs = loggops::Costs { latency: one.transit, gap: one.leaving, gap_per_byte, ..*costs };
    known(alone, &costs)
}

/// The hosts that are on a rail; `None` if all are.
fn on(alone: &Configuration) -> Result<Option<Vec<bool>>, Diagnostic> {
    const HOSTS: Setting<String> = keys::rails::rail::HOSTS;
    const MOST: u32 = 1 << 24;
    let Some(text) = alone.value(HOSTS) else { return Ok(None) };
    let mut hosts = Vec::new();
    for item in text.split(',').map(str::trim) {
        let (from, to) = item.split_once('-').unwrap_or((item, item));
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|host| *host < MOST);
        let range = number(from).zip(number(to)).filter(|(from, to)| from <= to);
        let Some((from, to)) = range else {
            let message =
                format!("expected numbers of hosts such as `0-7,12` below {MOST}, found `{item}`");
            return Err(alone.mistake(HOSTS, message));
        };
        if hosts.len() <= to as usize {
            hosts.resize(to as usize + 1, false);
        }
        hosts.iter_mut().take(to as usize + 1).skip(from as usize).for_each(|on| *on = true);
    }
    Ok(Some(hosts))
}

impl Network {
    /// The number of its hosts; 0 if it has no topology.
    fn hosts(&self) -> u32 {
        match self {
            Self::Loggops(_) => 0,
            Self::Infiniband(it) => it.topology().graph.hosts(),
            Self::Packet(it) => it.topology().graph.hosts(),
        }
    }
}

impl Rails {
    /// The network on whose hosts ranks are placed: the first of those with most hosts. Without a
    /// topology each rank is alone, and there is none.
    fn placed(&self) -> Option<&Network> {
        let switched = self.networks.iter().filter(|network| network.hosts() > 0);
        // Of equals, the last one found.
        switched.rev().max_by_key(|network| network.hosts())
    }

    /// The host of each rank.
    fn host_of_ranks(&self, ranks: u32) -> Result<Option<Vec<u32>>, String> {
        match self.placed() {
            None | Some(Network::Loggops(_)) => Ok(None),
            Some(Network::Infiniband(it)) => it.host_of_ranks(ranks).map(Some),
            Some(Network::Packet(it)) => it.host_of_ranks(ranks).map(Some),
        }
    }

    /// The networks, for ranks on these hosts, and the choice among them.
    fn networks(&self, hosts: Option<&[u32]>) -> (Networks<AnyNetwork>, Arc<Scheduled>) {
        let hosts = hosts.unwrap_or(&[]);
        let each = self.networks.iter().map(|network| {
            let there = hosts.iter().copied().filter(|host| *host < network.hosts());
            let there: Vec<u32> = there.collect();
            match network {
                Network::Loggops(it) => AnyNetwork::Loggops(*it),
                Network::Infiniband(it) => AnyNetwork::Infiniband(it.network_on(&there)),
                Network::Packet(it) => AnyNetwork::Packet(it.network_on(&there)),
            }
        });
        let networks = Networks::new(each.collect());
        let mut scheduled = Arc::clone(&self.scheduled);
        let all = networks.hosts().unwrap_or(0);
        let lacking = |network: &AnyNetwork| network.hosts().is_some_and(|hosts| hosts < all);
        if networks.rails().iter().any(lacking) {
            // The last hosts are not on rails with fewer hosts.
            let rails = &mut Arc::make_mut(&mut scheduled).rails;
            for (rail, network) in rails.iter_mut().zip(networks.rails()) {
                let there = network.hosts().unwrap_or(all);
                let on = |host: u32| {
                    let listed = rail.hosts.as_ref();
                    let listed = listed.is_none_or(|on| on.get(host as usize) == Some(&true));
                    listed && host < there
                };
                let on: Vec<bool> = (0..all).map(on).collect();
                rail.hosts = Some(on).filter(|on| on.contains(&false));
            }
        }
        (networks, scheduled)
    }
}

impl Model for Rails {
    fn run<P: Work>(&self, program: &P, run: &Run<'_>) -> Result<Simulated, Failure> {
        if program.nics() > 1 {
            return Err(Failure::Input(
                "error: the schedule chooses among interfaces itself (`nic`), and so does \
                 rails.policy\n  help: leave the interfaces of its operations out"
                    .to_owned(),
            ));
        }
        let hosts = self.host_of_ranks(program.ranks()).map_err(Failure::Input)?;
        let hosts = hosts.as_deref();
        let (networks, scheduled) = self.networks(hosts);
        let used = |rank: u32| hosts.map_or(rank, |hosts| hosts[rank as usize]) as usize;
        let is_common = |rail: &Rail| {
            let is_on =
                |on: &Vec<bool>| (0..program.ranks()).all(|rank| on.get(used(rank)) == Some(&true));
            rail.hosts.as_ref().is_none_or(is_on)
        };
        if let Some(at) = without_common_rail(&scheduled.rails, is_common) {
            let mistake = uncommon(&self.limit, at, "the hosts of all ranks");
            return Err(Mistakes(vec![mistake]).into());
        }
        run.watched(&|_, _, _| 0, |settings| {
            let start = Instant::now();
            let settings = &Settings { rails: Some(Arc::clone(&scheduled)), ..settings.clone() };
            let probe = || run.collector();
            let (outcome, probes) =
                host::simulate_over(&networks, hosts, program, settings, probe)?;
            Ok(Simulated::new(outcome, run.merge(probes)?, start.elapsed()))
        })
    }

    fn hosts(&self, ranks: u32) -> Result<Option<live::Hosts>, String> {
        match self.placed() {
            None | Some(Network::Loggops(_)) => Ok(None),
            Some(Network::Infiniband(it)) => it.hosts(ranks),
            Some(Network::Packet(it)) => it.hosts(ranks),
        }
    }

    fn spare(&self, ranks: u32) -> Result<Option<u32>, String> {
        match self.placed() {
            None | Some(Network::Loggops(_)) => Ok(None),
            Some(Network::Infiniband(it)) => it.spare(ranks),
            Some(Network::Packet(it)) => it.spare(ranks),
        }
    }
}
