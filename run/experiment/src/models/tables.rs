//! Tables and drawings made from the records of a network with switches.

use std::{fmt::Debug, io::Write, sync::Arc};

use ::topology::{Graph, Imported, Topology};
use host::Record;
use kernel::{Probe, TransportKind};
use network::Links;
use results::{Artifact, Collector, ConnectionRow, DeviceRow, Fixed, RunDirectory, Writer};
use traffic::{Watch, Watched};
use units::{DeviceId, Time};

use crate::settings::{configuration::Configuration, diagnostic::Diagnostic, keys::Setting};

/// The width of the intervals, by its key.
pub(crate) fn interval(
    configuration: &Configuration,
    key: Setting<Time>,
) -> Result<Time, Diagnostic> {
    match configuration.value(key) {
        Some(interval) if interval > Time::ZERO => Ok(interval),
        _ => Err(configuration.mistake(key, format!("`{}` must be above 0", key.name()))),
    }
}

/// The facts about a network that tables need, whichever model it is.
pub trait NetworkFacts: Debug + Send + Sync {
    /// The time of one flit on the link behind an output port; `None` if there is no link.
    fn flit_time(&self, device: DeviceId, port: u16) -> Option<Time>;

    /// Returns true if packets get lost and are sent again.
    fn is_lossy(&self) -> bool;
}

impl<N: Links + Debug + Send> NetworkFacts for N {
    fn flit_time(&self, device: DeviceId, port: u16) -> Option<Time> {
        Links::flit_time(self, device, port)
    }

    fn is_lossy(&self) -> bool {
        self.waits_for_answers()
    }
}

/// The records of a network in one run.
#[derive(Debug)]
pub struct Seen {
    /// The records.
    pub watched: Watched,
    /// The network.
    pub network: Box<dyn NetworkFacts>,
    /// Its topology.
    pub imported: Arc<Imported>,
    /// The end of the run, until which utilisation counts.
    pub end: Time,
}

impl Seen {
    /// Writes all that there is.
    pub(crate) fn write_all(&self, directory: &mut RunDirectory) -> Result<(), results::Error> {
        let always = [Artifact::Lanes, Artifact::Flows, Artifact::Hops, Artifact::Links];
        self.write(directory, &always)?;
        self.write(directory, &[Artifact::Devices, Artifact::Connections])?;
        if self.network.is_lossy() { self.write(directory, &[Artifact::Losses]) } else { Ok(()) }
    }

    /// Writes some tables and drawings.
    pub(crate) fn write(
        &self,
        directory: &mut RunDirectory,
        which: &[Artifact],
    ) -> Result<(), results::Error> {
        let Self { watched, network, imported, end } = self;
        let graph = &imported.topology.graph;
        let flit_time = |device, port| network.flit_time(device, port);
        for artifact in which {
            directory.write(*artifact, |out| match artifact {
                Artifact::Lanes => results::write_lanes(out, watched, |device, port| {
                    let flit = flit_time(DeviceId(device), port).unwrap_or_default();
                    (graph.name(device).to_owned().into(), flit)
                }),
                Artifact::Flows => results::write_flows(out, watched, |source, destination| {
                    [source, destination].map(|device| graph.name(device).to_owned().into())
                }),
                Artifact::Hops => results::write_hops(out, watched),
                Artifact::Losses => results::write_losses(out, watched, |device| {
                    graph.name(device).to_owned().into()
                }),
                Artifact::Devices => Writer::all(out, devices(&imported.topology)),
                Artifact::Connections => Writer::all(out, connections(graph)),
                _ => {
                    let used = watched.link_utilisation(flit_time, graph, *end);
                    out.write_all(draw::heat_map(&imported.topology, &used).as_bytes())
                }
            })?;
        }
        Ok(())
    }
}

/// The rows of `devices.csv`.
fn devices(topology: &Topology) -> impl Iterator<Item = DeviceRow> {
    let graph = &topology.graph;
    (0..graph.devices()).zip(draw::places(topology)).map(|(device, place)| DeviceRow {
        device: graph.name(device).to_owned().into(),
        host: graph.is_host(device),
        x: place.map(|(x, _)| Fixed(x)),
        y: place.map(|(_, y)| Fixed(y)),
    })
}

/// The rows of `connections.csv`.
fn connections(graph: &Graph) -> impl Iterator<Item = ConnectionRow> {
    graph.links().iter().map(|link| {
        let [first, second] = link.ends;
        ConnectionRow {
            first: first.device,
            first_port: first.port,
            second: second.device,
            second_port: second.port,
            up: link.up,
        }
    })
}

/// The probe of a program's run: records of the hosts go to the one, those of the network to the
/// other, if they are wanted.
pub(crate) struct Both(pub Collector, pub Option<Watch>);

impl Both {
    /// Takes the probes of all workers apart, and joins those of the network, of other processes
    /// that take part as well.
    pub fn merge(all: Vec<Self>, transport: TransportKind) -> (Vec<Collector>, Option<Watched>) {
        let (collectors, watches): (_, Vec<_>) =
            all.into_iter().map(|Self(one, other)| (one, other)).unzip();
        let watches: Option<Vec<Watch>> = watches.into_iter().collect();
        let watches = watches.map(|watches| Watch::gather(watches, transport));
        (collectors, watches.filter(|all| !all.is_empty()).map(Watch::merge))
    }
}

impl<D: Copy + Send> Probe<Record<D>> for Both {
    const LISTENS: bool = true;

    #[inline]
    fn record(&mut self, record: Record<D>) {
        if let Record::Network { device, at, record } = record {
            if let Some(watch) = &mut self.1 {
                watch.take(device, at, &record);
            }
        } else {
            self.0.record(record);
        }
    }
}
