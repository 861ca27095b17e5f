//! The model `infiniband`: packets through switches, flit by flit, from the tables `[network]` and
//! `[placement]`. What it models and what not is in the crate `infiniband`.

mod parameters;
pub(crate) mod tables;

use std::{sync::Arc, time::Instant};

use ::infiniband::Fabric;
use ::topology::{Imported, Routes};
use host::Work;
use kernel::Silent;
use network::Links;
use traffic::Watch;
use units::{HostId, MessageId};

use super::{
    Model, Run, Simulated,
    places::{self, Places},
    topologies,
};
use crate::{
    job::Failure,
    settings::{
        configuration::Configuration,
        diagnostic::Diagnostic,
        keys::{self, Setting},
    },
};
use tables::{Both, Seen};

pub(super) use parameters::resolve as parameters;

/// A network with switches, and where its ranks are.
#[derive(Debug)]
pub struct Infiniband {
    /// Its topology.
    pub(crate) topology: Arc<::topology::Topology>,
    fabric: Arc<Fabric>,
    levels: Vec<u8>,
    places: Places,
}

/// The network, and the host of each rank.
type Placed = (::infiniband::Infiniband, Vec<u32>);

type Mistakes = Vec<Diagnostic>;

pub(crate) fn resolve(
    configuration: &Configuration,
) -> Result<(Infiniband, Vec<String>), Mistakes> {
    let mut mistakes = Vec::new();
    if configuration.word(keys::loggops::COMPAT) == "loggopsim" {
        let message = "LogGOPSim's rules know no switches";
        mistakes.push(configuration.mistake(keys::loggops::COMPAT, message));
    }
    let imported = topologies::topology(configuration).map_err(|found| mistakes.extend(found)).ok();
    let parameters =
        parameters::resolve(configuration).map_err(|found| mistakes.extend(found)).ok();
    let places = places::resolve(configuration).map_err(|found| mistakes.push(found)).ok();
    let (Some(imported), Some(parameters), Some(mut places), true) =
        (imported, parameters, places, mistakes.is_empty())
    else {
        return Err(mistakes);
    };
    let graph = &imported.topology.graph;
    places.out = graph.hosts_out();
    let nowhere = places::mistakes(configuration, &graph.host_names(), &places.out);
    if !nowhere.is_empty() {
        return Err(nowhere);
    }
    let levels = levels(configuration).map_err(|found| vec![found])?;
    let count = levels.iter().max().unwrap_or(&0) + 1;
    let (routes, mut warnings) = topologies::routes(configuration, &imported, count)?;
    warnings.extend(deadlock(&imported, &routes));
    let topology = Arc::new(imported.topology);
    let fabric = Fabric::new(&topology.graph, routes, parameters).map_err(|wrong| {
        wrong.iter().map(|wrong| parameters::wrong(configuration, wrong)).collect::<Vec<_>>()
    })?;
    Ok((Infiniband { topology, fabric: Arc::new(fabric), levels, places }, warnings))
}

impl Infiniband {
    /// The host of each rank.
    pub(crate) fn host_of_ranks(&self, ranks: u32) -> Result<Vec<u32>, String> {
        self.places.hosts(ranks, &self.topology.graph.host_names())
    }

    /// Returns the number of hosts in service.
    pub(crate) fn in_service(&self) -> u32 {
        self.topology.graph.hosts() - self.places.out.len() as u32
    }

    /// The network, and the host of each of `ranks` ranks. Service levels go in turn to the hosts
    /// that have ranks, in the order of their first ranks.
    pub(crate) fn with(&self, ranks: u32) -> Result<Placed, String> {
        let hosts = self.host_of_ranks(ranks)?;
        let mut counts = vec![0; self.topology.graph.hosts() as usize];
        for &host in &hosts {
            counts[host as usize] += 1;
        }
        if let Some((host, count)) = (0..).zip(counts).find(|(_, count)| *count > ROOM) {
            return Err(format!(
                "error: {count} ranks on {}: a host has room for {ROOM}\n  help: choose a larger \
                 topology (network.topology), another placement, or fewer ranks",
                self.topology.graph.name(host)
            ));
        }
        let mut levels = vec![0; self.topology.graph.hosts() as usize];
        let mut seen = vec![false; levels.len()];
        let first = hosts.iter().map(|host| *host as usize);
        let first = first.filter(|host| !std::mem::replace(&mut seen[*host], true));
        first.zip(self.levels.iter().cycle()).for_each(|(host, level)| levels[host] = *level);
        let network = ::infiniband::Infiniband::new(Arc::clone(&self.fabric), 0);
        Ok((network.with_levels(levels), hosts))
    }
}

impl Model for Infiniband {
    fn run<P: Work>(&self, program: &P, run: &Run<'_>) -> Result<Simulated, Failure> {
        let (network, hosts) = self.with(program.ranks()).map_err(Failure::Input)?;
        let (network, hosts) = (&network, hosts.as_slice());
        let signals =
            |source, destination, bytes| crossings((network, hosts), (source, destination), bytes);
        run.watched(&signals, |settings| {
            let start = Instant::now();
            let Some(interval) = run.interval else {
                let (outcome, recorded) = if run.records() {
                    let probe = || run.collector();
                    let (outcome, probes) =
                        host::simulate_over(network, Some(hosts), program, settings, probe)?;
                    (outcome, run.merge(probes)?)
                } else {
                    let silent = || Silent;
                    let (outcome, _) =
                        host::simulate_over(network, Some(hosts), program, settings, silent)?;
                    (outcome, Default::default())
                };
                return Ok(Simulated::new(outcome, recorded, start.elapsed()));
            };
            let probe = || Both(run.collector(), Watch::new(interval));
            let (outcome, probes) =
                host::simulate_over(network, Some(hosts), program, settings, probe)?;
            let (collectors, watched) = Both::merge(probes);
            let recorded = run.merge(collectors)?;
            let end = outcome.ranks.iter().map(|rank| rank.finish).max().unwrap_or_default();
            let topology = Arc::clone(&self.topology);
            let seen = Seen { watched, network: network.clone(), topology, end };
            let simulated = Simulated::new(outcome, recorded, start.elapsed());
            Ok(Simulated { network: Some(seen), ..simulated })
        })
    }

    fn hosts(&self, ranks: u32) -> Result<Option<live::Hosts>, String> {
        let names = self.topology.graph.host_names().into_iter().map(str::to_owned).collect();
        Ok(Some(live::Hosts { of: self.host_of_ranks(ranks)?, names }))
    }

    fn records_network(&self) -> bool {
        true
    }

    fn spare(&self, ranks: u32) -> Result<Option<u32>, String> {
        self.places.spare(ranks, &self.topology.graph.host_names()).map(Some)
    }
}

/// The packets and credits of a message between two ranks on its way.
pub(crate) fn crossings(
    (network, hosts): (&impl Links, &[u32]),
    ranks: (u32, u32),
    bytes: u64,
) -> u64 {
    let host = |rank: u32| hosts.get(rank as usize).copied();
    let (Some(source), Some(destination)) = (host(ranks.0), host(ranks.1)) else { return 0 };
    if source == destination {
        return 0;
    }
    let (packets, _) = network.packets_and_flits(bytes);
    let hops = u64::from(network.hops(HostId(source), HostId(destination), MessageId(0)));
    packets.saturating_mul(2 * hops)
}

/// Most ranks of a host.
const ROOM: u32 = 256;

/// The service levels of the hosts' messages, in turn.
fn levels(configuration: &Configuration) -> Result<Vec<u8>, Diagnostic> {
    const KEY: Setting<String> = keys::network::LEVELS;
    let one = configuration.value(keys::network::LEVEL).unwrap_or(0) as u8;
    let Some(text) = configuration.value(KEY) else { return Ok(vec![one]) };
    if configuration.is_said(keys::network::LEVEL) {
        let message = "there are `network.levels` too";
        return Err(configuration.mistake(keys::network::LEVEL, message));
    }
    let level = |item: &str| {
        let level = item.trim().parse::<u8>().ok().filter(|level| *level <= 14);
        let message = || format!("expected service levels from 0 to 14, found `{item}`");
        level.ok_or_else(|| configuration.mistake(KEY, message()))
    };
    text.split(',').map(level).collect()
}

/// Warns if packets can wait for each other in a circle.
fn deadlock(imported: &Imported, routes: &Routes) -> Vec<String> {
    let analysis = topology::route::analyse(&imported.topology.graph, routes);
    match (analysis.cycle, analysis.sample) {
        (Some(cycle), _) => vec![format!(
            "packets can wait for each other in a circle of {} channels; heddle topology shows it",
            cycle.len()
        )],
        (None, Some(sample)) => vec![format!(
            "the deadlock check found no circle on the ways to {} of {} destinations, and did not \
             look at the others",
            sample.destinations, sample.of
        )],
        (None, None) => Vec::new(),
    }
}
