//! The part of a model with switches that all such models share: the hosts of ranks, how programs
//! and synthetic traffic run, and what is recorded of the links.

use std::{fmt::Debug, sync::Arc, time::Instant};

use ::topology::{Imported, Routes, Topology};
use host::Work;
use kernel::Silent;
use network::Links;
use results::Tables;
use traffic::{Bounds, Point, Saturation, Settings, Watch};
use units::{HostId, MessageId, Time};

use super::{
    Model, Run, Simulated,
    places::{self, Places},
    tables::{Both, Seen},
};
use crate::{
    job::Failure,
    settings::{configuration::Configuration, diagnostic::Diagnostic},
};

/// The wires of a model: what its settings say besides topology and placement.
///
/// [`Wires::network`] is called once for each simulation, with the host of each rank. It is cheap:
/// ports, links and routes are made before.
pub trait Wires: Debug + Send + Sync {
    /// The network that signals pass.
    type Network: Links + Clone + Debug + Send + 'static;

    /// Returns the network for ranks on these hosts, of which there are `all`.
    fn network(&self, hosts: &[u32], all: u32) -> Self::Network;
}

/// A model with switches: its topology, where its ranks are, and its wires.
#[derive(Debug)]
pub struct Switched<W> {
    imported: Arc<Imported>,
    places: Places,
    wires: W,
}

/// A network whose links synthetic traffic can load, whichever model it is.
///
/// A measurement asks for the hosts that take part, places its pattern on them, and calls
/// [`Switches::loaded`] with their number.
pub trait Switches {
    /// The topology, without what has failed.
    fn topology(&self) -> &Topology;

    /// The number of hosts in service.
    fn in_service(&self) -> u32;

    /// The host of each rank.
    ///
    /// # Errors
    /// If the ranks cannot be placed; the text says why.
    fn host_of_ranks(&self, ranks: u32) -> Result<Vec<u32>, String>;

    /// The network for traffic between so many hosts.
    ///
    /// # Errors
    /// If the ranks cannot be placed; the text says why.
    fn loaded(&self, ranks: u32) -> Result<Box<dyn Loaded>, String>;
}

/// A network under synthetic traffic.
pub trait Loaded: Debug + Send + Sync {
    /// Returns the network's lookahead, an eighth of the shortest batch.
    fn lookahead(&self) -> Time;

    /// Measures one load.
    ///
    /// # Errors
    /// If the settings do not fit the network.
    fn point(&self, settings: &Settings) -> Result<Point, traffic::Error>;

    /// Measures several loads.
    ///
    /// # Errors
    /// If the settings do not fit the network.
    fn curve(&self, settings: &Settings, loads: &[f64]) -> Result<Vec<Point>, traffic::Error>;

    /// Finds the load at which the network saturates, to this precision.
    ///
    /// # Errors
    /// If the settings do not fit the network.
    fn saturation(&self, settings: &Settings, within: f64) -> Result<Saturation, traffic::Error>;

    /// Measures one load and records the network in intervals of this width. There is no record of
    /// a network without packets.
    ///
    /// # Errors
    /// If the settings do not fit the network.
    fn observe(
        &self,
        settings: &Settings,
        interval: Time,
    ) -> Result<(Point, Option<Seen>), traffic::Error>;

    /// Counts what the routes say of traffic.
    fn bounds(&self, settings: &Settings) -> Bounds;

    /// Says why there is no measurement, with the names of hosts.
    fn explained(&self, error: &traffic::Error) -> String;
}

/// The network of a model and its topology.
#[derive(Debug)]
pub(super) struct Under<N> {
    pub network: N,
    pub imported: Arc<Imported>,
    /// True if it tells of packets on its links.
    pub tells_links: bool,
}

impl<N: Links + Clone + Debug + Send + 'static> Loaded for Under<N> {
    fn lookahead(&self) -> Time {
        self.network.lookahead()
    }

    fn point(&self, settings: &Settings) -> Result<Point, traffic::Error> {
        traffic::run(&self.network, settings)
    }

    fn curve(&self, settings: &Settings, loads: &[f64]) -> Result<Vec<Point>, traffic::Error> {
        traffic::curve(&self.network, settings, loads)
    }

    fn saturation(&self, settings: &Settings, within: f64) -> Result<Saturation, traffic::Error> {
        traffic::saturation(&self.network, settings, within)
    }

    fn observe(
        &self,
        settings: &Settings,
        interval: Time,
    ) -> Result<(Point, Option<Seen>), traffic::Error> {
        if !self.tells_links {
            return Ok((self.point(settings)?, None));
        }
        let observed = traffic::observe(&self.network, settings, false, || Watch::new(interval))?;
        let (network, imported) = (Box::new(self.network.clone()), Arc::clone(&self.imported));
        let watched = Watch::merge(Watch::gather(observed.probes, settings.transport));
        let seen = Seen { watched, network, imported, end: observed.span.1 };
        Ok((observed.point, Some(seen)))
    }

    fn bounds(&self, settings: &Settings) -> Bounds {
        traffic::bounds(&self.network, settings)
    }

    fn explained(&self, error: &traffic::Error) -> String {
        let text = match error {
            traffic::Error::Kernel(error) => given_up(&self.imported.topology, error),
            _ => None,
        };
        text.unwrap_or_else(|| format!("error: {error}"))
    }
}

/// Explains that a host has given up sending to another one; `None` for other errors.
fn given_up(topology: &Topology, error: &kernel::Error) -> Option<String> {
    let kernel::Error::Unreachable { at, sender, receiver } = *error else { return None };
    let [sender, receiver] = [sender, receiver].map(|host| topology.graph.name(host));
    Some(format!(
        "error: at {at}, {sender} gave up sending to {receiver}: at each attempt a packet or its \
         acknowledgement was lost\n  help: allow more attempts (network.retry-count) or fewer \
         losses (network.loss, network.bit-error-rate)"
    ))
}

impl<W: Wires> Switched<W> {
    /// Joins wires, topology and placement. The places must be known to be those of the topology
    /// ([`places_on`]).
    pub(super) const fn new(imported: Arc<Imported>, places: Places, wires: W) -> Self {
        Self { imported, places, wires }
    }

    /// The network for ranks on these hosts.
    pub(super) fn network_on(&self, hosts: &[u32]) -> W::Network {
        self.wires.network(hosts, self.topology().graph.hosts())
    }

    /// The network, for a look at it at rest.
    pub(super) fn network_of_all(&self) -> W::Network {
        self.network_on(&[])
    }

    /// Names the hosts in a failure.
    fn named(&self, failure: Failure) -> Failure {
        let text = match &failure {
            Failure::Simulation(host::Error::Kernel(error)) => given_up(self.topology(), error),
            _ => None,
        };
        text.map_or(failure, Failure::Input)
    }

    /// The network, and the host of each of `ranks` ranks.
    fn with(&self, ranks: u32) -> Result<(W::Network, Vec<u32>), String> {
        let hosts = self.host_of_ranks(ranks)?;
        let all = self.topology().graph.hosts();
        let mut counts = vec![0; all as usize];
        for &host in &hosts {
            counts[host as usize] += 1;
        }
        if let Some((host, count)) = (0..).zip(counts).find(|(_, count)| *count > ROOM) {
            return Err(format!(
                "error: {count} ranks on {}: a host has room for {ROOM}\n  help: choose a larger \
                 topology (network.topology), another placement, or fewer ranks",
                self.topology().graph.name(host)
            ));
        }
        Ok((self.wires.network(&hosts, all), hosts))
    }
}

impl<W: Wires> Switches for Switched<W> {
    fn topology(&self) -> &Topology {
        &self.imported.topology
    }

    fn in_service(&self) -> u32 {
        self.topology().graph.hosts() - self.places.out.len() as u32
    }

    fn host_of_ranks(&self, ranks: u32) -> Result<Vec<u32>, String> {
        self.places.hosts(ranks, &self.topology().graph.host_names())
    }

    fn loaded(&self, ranks: u32) -> Result<Box<dyn Loaded>, String> {
        let (network, _) = self.with(ranks)?;
        let imported = Arc::clone(&self.imported);
        Ok(Box::new(Under { network, imported, tells_links: true }))
    }
}

impl<W: Wires> Model for Switched<W> {
    fn run<P: Work>(&self, program: &P, run: &Run<'_>) -> Result<Simulated, Failure> {
        let (network, hosts) = self.with(program.ranks()).map_err(Failure::Input)?;
        let (network, hosts) = (&network, hosts.as_slice());
        let signals =
            |source, destination, bytes| crossings((network, hosts), (source, destination), bytes);
        let watched = run.watched(&signals, |settings| {
            let start = Instant::now();
            if run.interval.is_none() && !run.records() {
                let silent = || Silent;
                let (outcome, _) =
                    host::simulate_over(network, Some(hosts), program, settings, silent)?;
                return Ok(Simulated::new(outcome, Tables::default(), start.elapsed()));
            }
            let probe = || Both(run.collector(), run.interval.map(Watch::new));
            let (outcome, probes) =
                host::simulate_over(network, Some(hosts), program, settings, probe)?;
            let (collectors, watched) = Both::merge(probes, settings.transport);
            let tables = run.merge(collectors)?;
            let end = outcome.ranks.iter().map(|rank| rank.finish).max().unwrap_or_default();
            let seen = watched.map(|watched| {
                let (network, imported) = (Box::new(network.clone()), Arc::clone(&self.imported));
                Seen { watched, network, imported, end }
            });
            let simulated = Simulated::new(outcome, tables, start.elapsed());
            Ok(Simulated { network: seen, ..simulated })
        });
        watched.map_err(|failure| self.named(failure))
    }

    fn hosts(&self, ranks: u32) -> Result<Option<live::Hosts>, String> {
        let names = self.topology().graph.host_names().into_iter().map(str::to_owned).collect();
        Ok(Some(live::Hosts { of: self.host_of_ranks(ranks)?, names }))
    }

    fn records_network(&self) -> bool {
        true
    }

    fn switches(&self) -> Option<&dyn Switches> {
        Some(self)
    }

    fn spare(&self, ranks: u32) -> Result<Option<u32>, String> {
        self.places.spare(ranks, &self.topology().graph.host_names()).map(Some)
    }
}

/// Completes the rule of placement by what the topology says of its hosts.
///
/// # Errors
/// If the rule names hosts that are not there.
pub(super) fn places_on(
    configuration: &Configuration,
    topology: &Topology,
    places: &mut Places,
) -> Result<(), Vec<Diagnostic>> {
    places.out = topology.graph.hosts_out();
    let nowhere = places::mistakes(configuration, &topology.graph.host_names(), &places.out);
    if nowhere.is_empty() { Ok(()) } else { Err(nowhere) }
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

/// Warns if packets can wait for each other in a circle.
pub(super) fn deadlock(imported: &Imported, routes: &Routes) -> Vec<String> {
    circles(&imported.topology, routes)
}

/// Warns if packets on a topology can wait for each other in a circle.
pub(crate) fn circles(topology: &Topology, routes: &Routes) -> Vec<String> {
    let analysis = topology::route::analyse(&topology.graph, routes);
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
