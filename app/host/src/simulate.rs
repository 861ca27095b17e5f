//! Running a program, and adding up what came of it.

use std::borrow::Cow;
use std::marker::PhantomData;

use kernel::{Config, Model, Probe, execute};
use loggops::Receive;
use network::{Harness, Network, Worker};
use serde::{Deserialize, Serialize};
use units::Time;

use crate::clocks::Shape;
use crate::costs::{ClassCosts, Costs};
use crate::endpoint::Watched;
use crate::engine::{Engine, WorkerState};
use crate::harvest::Harvest;
use crate::path::Clock;
use crate::places::Places;
use crate::source::{Operations as _, Source, Starts, Work};
use crate::{CriticalPath, Noise, Outcome, Record, Rendezvous, Settings};

/// Why a simulation could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Error {
    /// The executor stopped: simulated time left its range, or a model broke its promises.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// Something was asked for that LogGOPSim does not have.
    #[error("compat = \"loggopsim\" needs {0}: LogGOPSim knows nothing else")]
    Compat(Cow<'static, str>),
    /// A message of no bytes under the rules of LogGOPSim, whose words wrap below zero there.
    #[error(
        "compat = \"loggopsim\": rank {rank}, operation {send}: a send of 0 bytes costs -O or -G \
         there, which leads to a time before zero; what LogGOPSim makes of that cannot be imitated"
    )]
    BelowZero {
        /// Sending rank.
        rank: u32,
        /// Index of the send.
        send: u32,
    },
    /// A network has another number of hosts than the program has ranks, and nothing says where
    /// they are.
    #[error("{ranks} ranks on a network of {hosts} hosts: which is on which?")]
    Hosts {
        /// Ranks of the program.
        ranks: u32,
        /// Hosts of the network.
        hosts: u32,
    },
    /// Another number of ranks is placed than the program has.
    #[error("{placed} ranks are placed, but the program has {ranks}")]
    Placed {
        /// Ranks of the program.
        ranks: u32,
        /// Ranks that are placed.
        placed: u32,
    },
    /// A rank is placed on a host that is not there.
    #[error("rank {rank} is placed on host {host}, but there are only {hosts} hosts")]
    NoHost {
        /// The rank.
        rank: u32,
        /// Its host.
        host: u32,
        /// Hosts of the network.
        hosts: u32,
    },
    /// A host has too many ranks.
    #[error("{ranks} ranks on host {host}: a host has room for 256")]
    Crowded {
        /// The host.
        host: u32,
        /// Its ranks.
        ranks: u32,
    },
    /// Whoever watches asked for an early end, by [`crate::Meter::stop`].
    #[error("the simulation was stopped")]
    Stopped,
    /// There is no way between two hosts; the text says which.
    #[error("{0}")]
    Route(String),
    /// A message is larger than its receive: MPI's truncation error.
    #[error(
        "rank {rank}: operation {receive} receives {room} bytes, but the message from rank \
         {sender} that it matches has {size} (MPI_ERR_TRUNCATE)"
    )]
    Truncated {
        /// Receiving rank.
        rank: u32,
        /// Index of the receive.
        receive: u32,
        /// Sending rank.
        sender: u32,
        /// Bytes of the message.
        size: u64,
        /// Bytes of the receive.
        room: u64,
    },
}

/// Simulates a program. `probe` makes the probe of each worker; they come back with the outcome.
/// Where a run is spread over several processes of the system, all get the outcome of all ranks,
/// and each the probes of its own workers.
pub fn simulate<P: Work, B: Probe<Record>>(
    program: &P,
    settings: &Settings,
    probe: impl Fn() -> B,
) -> Result<(Outcome, Vec<B>), Error> {
    let wire = settings.parameters.wire(settings.classes.clone());
    simulate_over(&wire, None, program, settings, probe)
}

/// Simulates a program over a network. Rank r is on host `hosts[r]`; without `hosts`, and always on
/// a direct network, it is alone on host r. The hosts' costs are those of the settings; L belongs
/// to the network. Messages between ranks of one host do not enter it: they cost
/// `settings.parameters.local`.
pub fn simulate_over<N: Network, P: Work, B: Probe<Record<N::Detail>>>(
    network: &N,
    hosts: Option<&[u32]>,
    program: &P,
    settings: &Settings,
    probe: impl Fn() -> B,
) -> Result<(Outcome, Vec<B>), Error> {
    let ranks = program.ranks();
    let hosts = hosts.filter(|_| !N::DIRECT);
    let count = match (hosts, network.hosts()) {
        (None, Some(hosts)) if hosts != ranks => return Err(Error::Hosts { ranks, hosts }),
        (Some(hosts), _) if hosts.len() != ranks as usize => {
            return Err(Error::Placed { ranks, placed: hosts.len() as u32 });
        }
        (Some(hosts), None) => hosts.iter().max().map_or(0, |&host| host.saturating_add(1)),
        (_, count) => count.unwrap_or(ranks),
    };
    let places = || hosts.map(|hosts| Places::new(hosts, count)).transpose();
    let shape = Shape::new(program.cpus(), program.nics());
    let run = |source: P::Source<'_>| {
        let costs = Costs::from(&settings.parameters);
        let by_cpu = costs.receive == Receive::Cpu;
        let classes = || settings.classes.as_ref().filter(|_| N::DIRECT);
        let straight = by_cpu
            && settings.rails.is_none()
            && classes().is_none()
            && !B::LISTENS
            && !shape.several()
            && settings.noise == Noise::None;
        let plain = straight && source.starts() == Starts::Nothing && !source.wants_sends();
        let (hosts, places) = (count, places()?);
        let buffered = settings.send_done.buffered(costs.eager_limit);
        let engine = Engine {
            source,
            network,
            settings,
            costs,
            classes: classes().map(|classes| ClassCosts::new(classes, costs.eager_limit)),
            buffered,
            plain_limit: buffered.min(costs.eager_limit),
            ranks,
            hosts,
            places,
            shape,
            straight,
            plain,
        };
        run(engine, settings, &probe)
    };
    let (mut outcome, probes) = run(program.source())?;
    if outcome.deadlock.is_some()
        && let Some(source) = program.posting_all()
    {
        // Claimed receives leave no trace; posted ones can be named.
        outcome.deadlock = run(source)?.0.deadlock;
    }
    Ok((outcome, probes))
}

fn run<N: Network, S: Source, B: Probe<Record<N::Detail>>>(
    engine: Engine<'_, S, N>,
    settings: &Settings,
    probe: &impl Fn() -> B,
) -> Result<(Outcome, Vec<B>), Error> {
    let (network, hosts) = (engine.network, engine.hosts);
    let endpoint = Watched { engine, probe: PhantomData::<fn() -> B> };
    let model = Harness { network, endpoint, hosts };
    let config = Config { workers: settings.threads, transport: settings.transport };
    let count = hosts.saturating_add(network.devices());
    let worker = || Worker::new(WorkerState::new(probe()));
    let finished = execute(&model, count, config, worker)?;
    let (mut here, mut probes) = (Found::default(), Vec::new());
    for Worker { own, signals, .. } in finished.workers {
        let WorkerState { events, turns, error, harvest, probe, .. } = own;
        here.merge(Found { events, signals, turns, error, harvest });
        probes.push(probe);
    }
    let mut all = Found::default();
    settings.transport.exchange(here).into_iter().for_each(|found| all.merge(found));
    let Found { mut harvest, events, signals, turns, error } = all;
    if let Some((.., error)) = error {
        return Err(error);
    }
    let (last, ends_on) = harvest.last();
    let ranks = harvest.take_totals();
    let unreceived = harvest.unreceived;
    let deadlock = harvest.stuck.describe(model.endpoint.engine.ranks, last.free);
    if deadlock.is_some() && harvest.overflow {
        // What is to start on a clock that has left the range never does.
        return Err(kernel::Error::Overflow { at: finished.last }.into());
    }
    let windows = (finished.instants, finished.windows);
    let remarks = remarks(settings, model.lookahead(), windows, turns, unreceived);
    let path = critical_path(ends_on, last);
    Ok((Outcome { ranks, events, signals, path, deadlock, remarks }, probes))
}

/// The results of some of the workers of a run.
#[derive(Default, Serialize, Deserialize)]
struct Found {
    /// The number of operations and messages, and that of the network's signals.
    events: u64,
    signals: u64,
    /// True if a rank has waited for its turn.
    turns: bool,
    /// The first error, by time and rank.
    error: Option<(Time, u32, Error)>,
    harvest: Harvest,
}

impl Found {
    /// Adds the results of other workers.
    fn merge(&mut self, other: Self) {
        self.events += other.events;
        self.signals += other.signals;
        self.turns |= other.turns;
        let errors = self.error.take().into_iter().chain(other.error);
        self.error = errors.min_by_key(|(at, rank, _)| (*at, *rank));
        self.harvest.merge(other.harvest);
    }
}

/// The chain of causes that ends at a clock.
pub fn critical_path(rank: u32, end: Clock) -> CriticalPath {
    let path = end.path;
    let known = [path.compute, path.overhead, path.latency, path.bandwidth, path.contention];
    let known = known.into_iter().fold(0u64, u64::wrapping_add);
    CriticalPath {
        rank,
        compute: Time::from_ps(path.compute),
        overhead: Time::from_ps(path.overhead),
        latency: Time::from_ps(path.latency),
        bandwidth: Time::from_ps(path.bandwidth),
        contention: Time::from_ps(path.contention),
        waiting: end.free.saturating_sub(Time::from_ps(known)),
    }
}

/// Returns the remarks about a run in which `instants` of the windows were single instants, which
/// are worth a word if they are most of them.
fn remarks(
    settings: &Settings,
    lookahead: Time,
    (instants, windows): (u64, u64),
    turns: bool,
    unreceived: u64,
) -> Vec<String> {
    let mut remarks = Vec::new();
    let reason = match (settings.rendezvous, turns) {
        (_, true) => Some("locks and the like are taken in order of time"),
        (Rendezvous::Abstract, false) => Some("an abstract rendezvous frees its sender at once"),
        _ => None,
    };
    let alone = "single instants, which more threads hardly speed up";
    if lookahead == Time::ZERO {
        remarks.push(format!("no lookahead (L + o = 0): all steps were {alone}"));
    } else if let Some(reason) = reason.filter(|_| 2 * instants > windows) {
        remarks.push(format!("{reason}: {instants} of {windows} steps were {alone}"));
    }
    if unreceived > 0 {
        remarks.push(format!("messages that were never received: {unreceived}"));
    }
    remarks
}
