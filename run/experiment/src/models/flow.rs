//! The model `flow`: messages as flows that share links, over a platform of SimGrid or a topology
//! of ours. What it models and what not is in the crate `flow`; what messages cost their hosts is
//! in [`costs`].

mod costs;
mod items;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Instant};

use ::flow::{Link, Load, Loads, Network, Routes, Shared, Sharing};
use ::topology::{Imported, Topology as Wiring};
use host::{Outcome, Protocols, Record, Settings, Work, simulate_flow};
use kernel::{Probe, Silent};
use platform::{Platform, Rates};
use results::{LinkLoad, Tables};
use units::Time;

use super::{
    Calls, Model, Run, Simulated, hosts, infiniband, packet,
    places::{self, Places},
    stock::Stock,
    switched::{Loaded, Switches, Under},
    topologies,
    wiring::Needs,
};
use crate::{
    job::Failure,
    settings::{
        configuration::Configuration,
        diagnostic::Diagnostic,
        keys::{self, Id, Setting},
        value::{Topology, is_xml},
    },
};
use items::Items;
pub(crate) use items::TEST;

/// A platform, and what its messages and hosts cost.
#[derive(Debug)]
pub struct Flow {
    platform: Arc<Platform>,
    /// The file that describes it, if it has one of its own.
    file: Option<PathBuf>,
    /// The topology that it is made of, if it is.
    wired: Option<Wired>,
    items: Items,
    protocols: Protocols,
    places: Arc<Places>,
}

/// A topology of ours, for synthetic traffic over its cables.
#[derive(Debug)]
struct Wired {
    imported: Arc<Imported>,
    places: Arc<Places>,
    network: Result<Shared<Ways>, String>,
}

/// The traffic that a link carried.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Its name.
    pub link: String,
    /// Bytes, with what the model's factors add to them.
    pub bytes: f64,
    /// Bytes per second.
    pub bandwidth: f64,
}

type Mistakes = Vec<Diagnostic>;

/// Routes of a platform as flows need them.
#[derive(Clone, Debug)]
struct Ways {
    platform: Arc<Platform>,
    file: Option<PathBuf>,
}

impl Routes for Ways {
    fn route(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<f64, String> {
        let Self { platform, file } = self;
        platform.route(from, to, links).map_err(|error| match (file, error.place) {
            (Some(file), (line @ 1.., column)) => {
                format!("{}: line {line}, column {column}: {error}", file.display())
            }
            _ => error.to_string(),
        })
    }
}

pub(crate) fn resolve(
    configuration: &Configuration,
    stock: &mut Stock,
) -> Result<(Flow, Vec<String>), Mistakes> {
    let mut mistakes = stated_twice(configuration);
    let found = platform(configuration, stock).map_err(|found| mistakes.extend(found)).ok();
    let places = places::resolve(configuration).map_err(|found| mistakes.push(found)).ok();
    let (Some((mut platform, wiring, of_readers)), Some(mut places)) = (found, places) else {
        return Err(mistakes);
    };
    let names: Vec<_> = platform.hosts.iter().map(|host| host.name.as_str()).collect();
    places.out =
        wiring.iter().flat_map(|(imported, _)| imported.topology.graph.hosts_out()).collect();
    mistakes.extend(places::mistakes(configuration, &names, &places.out));
    let mut items = Items::default();
    let mut warnings: Vec<_> =
        platform.remarks.iter().map(|remark| remark.message.clone()).collect();
    mistakes.extend(costs::of_platform(configuration, &platform, &mut items, &mut warnings));
    let protocols = costs::of_hosts(configuration, &platform, &items, &mut mistakes);
    mistakes.extend(costs::keys(configuration, &mut items));
    let in_order = configuration.switch(keys::flow::IN_ORDER);
    let done_at_start = !hosts::is_left(configuration);
    let usual = items.protocol.clone();
    let mut protocols = Protocols { usual, others: protocols, in_order, done_at_start };
    mistakes.extend(costs::said_items(configuration, &mut items, &mut warnings));
    for protocol in protocols.others.values_mut() {
        protocol.eager_below = items.protocol.eager_below;
        protocol.detached_below = items.protocol.detached_below;
    }
    protocols.usual = items.protocol.clone();
    costs::variant(configuration, &mut items, &mut protocols);
    if items.protocol.eager_below > items.protocol.detached_below {
        let message = "eager messages must be detached: eager-below is larger than detached-below";
        let help = "these are smpi/async-small-thresh and smpi/send-is-detached-thresh of SimGrid";
        mistakes
            .push(configuration.mistake(keys::flow::EAGER_BELOW, message).help(help.to_owned()));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let (bandwidth, latency) = items.loopback;
    if let Some(link) = platform.links().last() {
        let figures = (bandwidth.unwrap_or(link.bandwidth), latency.unwrap_or(link.latency));
        platform.set_loopback(figures.0, figures.1);
    }
    let wtime = (items.calls.wtime > Time::ZERO)
        .then(|| "smpi/wtime has no effect: traces do not tell of MPI_Wtime".to_owned());
    warnings.extend(wtime.into_iter().chain(of_readers));
    let file = configuration.platform();
    let (platform, places) = (Arc::new(platform), Arc::new(places));
    let mut flow = Flow { platform, file, wired: None, items, protocols, places };
    flow.wired = wiring.map(|(imported, latency)| flow.wired(imported, latency));
    Ok((flow, warnings))
}

/// Settings of what a platform states itself.
fn stated_twice(configuration: &Configuration) -> Mistakes {
    if configuration.platform().is_none() {
        return Vec::new();
    }
    let workload = configuration.workload_kind();
    let stated = Id::all().filter(|id| {
        let scope = id.key().scope;
        scope.in_platform && workload.is_none_or(|workload| scope.has_workload(workload))
    });
    let said = stated.filter(|id| configuration.is_said_of_run(*id));
    let mistake = |id: Id| {
        configuration.mistake(id, format!("`{}`: the platform states it itself", id.key().name))
    };
    said.map(mistake).collect()
}

/// A platform, the topology that it is made of with the least latency between two hosts, and the
/// warnings of the readers.
type Found = (Platform, Option<(Arc<Imported>, f64)>, Vec<String>);

/// The platform, of a file, or a topology of ours with its forwarding tables.
fn platform(configuration: &Configuration, stock: &mut Stock) -> Result<Found, Mistakes> {
    const KEY: Setting<Topology> = keys::network::TOPOLOGY;
    if let Some(path) = configuration.platform() {
        let text = topologies::contents(&path)?;
        let read = if is_xml(&path) { Platform::read(&text) } else { Platform::read_toml(&text) };
        let read = read.map(|platform| (platform, None, Vec::new()));
        return read.map_err(|faults| topologies::faults(configuration, KEY, Some(&path), faults));
    }
    let imported = stock.topology(configuration, &Needs::NOTHING)?;
    let routed = stock.routes(configuration, &imported, 1)?;
    let (link, cable, switch) = if packet::takes(configuration) {
        let set = packet::parameters(configuration)?;
        (set.link, set.cable, set.pipeline())
    } else {
        let set = infiniband::parameters(configuration)?;
        (set.link, set.cable, set.latency_in.saturating_add(set.latency_out))
    };
    let seconds = |time: Time| time.ps() as f64 * 1e-12;
    let rates = Rates {
        bandwidth: link.bandwidth().bits_per_second() as f64 / 8.0,
        cable: seconds(cable),
        switch: seconds(switch),
        // Time-independent traces count in operations of `traces.speed`, the hosts' speed by
        // default.
        speed: costs::speed(configuration, keys::flow::host::SPEED)?
            .or_else(|| Some(configuration.value(keys::traces::SPEED)? as f64))
            .unwrap_or(1e9),
    };
    let platform = Platform::from_topology(&imported.topology, &routed.routes, rates);
    let graph = &imported.topology.graph;
    let cables = graph.links().iter();
    let at_hosts = cables.filter(|cable| cable.ends.iter().any(|end| graph.is_host(end.device)));
    let delays = at_hosts.map(|cable| cable.delay.map_or(rates.cable, seconds));
    // From a host to a switch, through it, and to a host.
    let latency = 2.0 * delays.fold(f64::INFINITY, f64::min) + rates.switch;
    let warnings = routed.warnings();
    Ok((platform, Some((imported, latency)), warnings))
}

impl Flow {
    /// The host of each rank.
    fn host_of_ranks(&self, ranks: u32) -> Result<Vec<u32>, String> {
        self.places.hosts(ranks, &self.host_names())
    }

    fn ways(&self) -> Ways {
        Ways { platform: Arc::clone(&self.platform), file: self.file.clone() }
    }

    fn wired(&self, imported: Arc<Imported>, latency: f64) -> Wired {
        let (hosts, parameters) = (self.platform.hosts.len() as u32, self.items.parameters.clone());
        let network = Shared::new(self.ways(), self.links(), parameters, hosts, latency);
        Wired { imported, places: Arc::clone(&self.places), network }
    }

    /// The links of the platform as the solver knows them.
    fn links(&self) -> Vec<Link> {
        let link = |link: &platform::Link| {
            let sharing = match link.sharing {
                platform::Sharing::Shared => Sharing::Shared,
                platform::Sharing::FatPipe => Sharing::FatPipe,
            };
            Link { bandwidth: link.bandwidth, sharing }
        };
        self.platform.links().iter().map(link).collect()
    }

    /// The names of all hosts.
    fn host_names(&self) -> Vec<&str> {
        self.platform.hosts.iter().map(|host| host.name.as_str()).collect()
    }

    /// Loads by link, for timelines.
    fn loads(&self, loads: &Loads) -> Vec<LinkLoad> {
        let mut links: BTreeMap<u32, Vec<(Time, u64)>> = BTreeMap::new();
        for Load { at, link, rate } in &loads.0 {
            #[expect(clippy::cast_sign_loss, reason = "rates are not negative")]
            let rate = rate.round() as u64;
            let loads = links.entry(*link).or_default();
            // Of several at one instant the last holds.
            loads.pop_if(|(before, _)| before == at);
            loads.push((*at, rate));
        }
        let named = |(link, loads): (u32, Vec<_>)| {
            let link = self.platform.links().get(link as usize)?;
            #[expect(clippy::cast_sign_loss, reason = "bandwidths are not negative")]
            let bandwidth = link.bandwidth.round() as u64;
            Some(LinkLoad { name: link.name.clone(), bandwidth, loads })
        };
        links.into_iter().filter_map(named).collect()
    }

    /// By rank, by how much longer computation takes here than on a machine of this speed, in
    /// operations per second.
    fn scale(&self, ranks: u32, speed: f64) -> Result<BTreeMap<u32, f64>, String> {
        let hosts = self.host_of_ranks(ranks)?;
        let speed_of = |host: u32| self.platform.hosts.get(host as usize).map(|host| host.speed);
        let factor = |host| speed_of(host).filter(|own| *own > 0.0).map_or(1.0, |own| speed / own);
        Ok((0..).zip(hosts).map(|(rank, host)| (rank, factor(host))).collect())
    }

    /// Simulates a program; also gives the bytes that each link had to carry. `watch` hears of
    /// loads over time.
    fn simulate<P: Work, W: Probe<Load>, B: Probe<Record>>(
        &self,
        program: &P,
        settings: &Settings,
        watch: W,
        probe: B,
    ) -> Result<(Outcome, B, Vec<Carried>, W), Failure> {
        let hosts = self.host_of_ranks(program.ranks()).map_err(Failure::Input)?;
        let mut counts = vec![0; self.platform.hosts.len()];
        for host in &hosts {
            counts[*host as usize] += 1;
        }
        let crowded = |(host, count): (&platform::Host, u32)| {
            (count.saturating_mul(program.cpus().max(1)) > host.cores).then_some(host.cores)
        };
        let cores: Vec<_> = self.platform.hosts.iter().zip(counts).map(crowded).collect();
        let parameters = self.items.parameters.clone();
        let mut network = Network::new(self.ways(), &self.links(), &cores, parameters, watch);
        let (outcome, probe) =
            simulate_flow(&mut network, &hosts, &self.protocols, program, settings, probe)?;
        let carried = |(number, link): (u32, &platform::Link)| {
            let bytes = network.carried(number);
            let (name, bandwidth) = (link.name.clone(), link.bandwidth);
            (bytes > 0.0).then_some(Carried { link: name, bytes, bandwidth })
        };
        let carried = (0..).zip(self.platform.links()).filter_map(carried).collect();
        Ok((outcome, probe, carried, network.into_probe()))
    }
}

impl Switches for Wired {
    fn topology(&self) -> &Wiring {
        &self.imported.topology
    }

    fn in_service(&self) -> u32 {
        self.topology().graph.hosts() - self.places.out.len() as u32
    }

    fn host_of_ranks(&self, ranks: u32) -> Result<Vec<u32>, String> {
        self.places.hosts(ranks, &self.topology().graph.host_names())
    }

    fn loaded(&self, _: u32) -> Result<Box<dyn Loaded>, String> {
        let (network, imported) = (self.network.clone()?, Arc::clone(&self.imported));
        Ok(Box::new(Under { network, imported, tells_links: false }))
    }
}

impl Model for Flow {
    fn run<P: Work>(&self, program: &P, run: &Run<'_>) -> Result<Simulated, Failure> {
        run.watched(&|_, _, _| 0, |settings| {
            let start = Instant::now();
            let probe = || run.collector();
            let (outcome, tables, links) = if !run.records() {
                let (outcome, _, links, _) = self.simulate(program, settings, Silent, Silent)?;
                (outcome, Tables::default(), links)
            } else if run.timeline {
                let (outcome, probe, links, loads) =
                    self.simulate(program, settings, Loads::default(), probe())?;
                let tables = run.merge(vec![probe])?;
                (outcome, Tables { links: self.loads(&loads), ..tables }, links)
            } else {
                let (outcome, probe, links, _) =
                    self.simulate(program, settings, Silent, probe())?;
                (outcome, run.merge(vec![probe])?, links)
            };
            Ok(Simulated { links, ..Simulated::new(outcome, tables, start.elapsed()) })
        })
    }

    fn hosts(&self, ranks: u32) -> Result<Option<live::Hosts>, String> {
        let names = self.host_names().into_iter().map(str::to_owned).collect();
        Ok(Some(live::Hosts { of: self.host_of_ranks(ranks)?, names }))
    }

    fn spare(&self, ranks: u32) -> Result<Option<u32>, String> {
        self.places.spare(ranks, &self.host_names()).map(Some)
    }

    fn switches(&self) -> Option<&dyn Switches> {
        self.wired.as_ref().map(|wired| wired as &dyn Switches)
    }

    fn slowdowns(&self, ranks: u32, recorded: Option<f64>) -> Result<BTreeMap<u32, f64>, String> {
        let speed = recorded.or(self.items.speed);
        speed.map_or_else(|| Ok(BTreeMap::new()), |speed| self.scale(ranks, speed))
    }

    fn calls(&self) -> Calls {
        let items::Calls { test, iprobe, wtime, init } = self.items.calls;
        Calls {
            test,
            iprobe,
            wtime,
            init,
            blocking: true,
            on_platform: self.file.is_some(),
            library: self.items.library,
            algorithms: self.items.algorithms.clone(),
        }
    }

    fn is_sequential(&self) -> bool {
        true
    }
}
