//! The models of the network. Each has a file, with how it is made of settings (`resolve`) and how
//! a program runs over it (`run`); they are joined here.

pub(crate) mod classes;
pub(crate) mod flow;
pub(crate) mod hosts;
pub(crate) mod infiniband;
pub(crate) mod loggops;
pub(crate) mod loggopsim;
mod noise;
pub(crate) mod packet;
mod places;
pub(crate) mod rails;
pub(crate) mod stock;
pub(crate) mod switched;
pub(crate) mod tables;
pub(crate) mod topologies;
pub(crate) mod wiring;

use std::{collections::BTreeMap, path::Path, time::Duration};

use collectives::Collective;
use host::{Outcome, Settings, Work};
use results::{Artifact, Call, Collector, Tables, Wanted};
use units::Time;

use crate::{
    job::{Failure, Observer},
    settings::{configuration::Configuration, diagnostic::Diagnostic, scope},
};

pub use flow::Carried;
pub use stock::Stock;
pub use switched::{Loaded, Switches};
pub use tables::{NetworkFacts, Seen};

/// A network that programs run over, made once and used by any number of jobs at a time.
///
/// A job asks for the hosts of its ranks before it starts a live program, and calls [`Model::run`]
/// once for each simulation. A model keeps nothing of a run: the same program and settings give the
/// same results.
pub trait Model: Sync {
    /// Simulates a program. Everything that `run` asks to record is in the result; a network that
    /// cannot record it was refused when the job was made.
    ///
    /// # Errors
    /// If the program does not fit the network, or the simulation cannot be carried out.
    fn run<P: Work>(&self, program: &P, run: &Run<'_>) -> Result<Simulated, Failure>;

    /// The hosts of so many ranks; `None` if each rank is alone on a host without a name.
    ///
    /// # Errors
    /// If the ranks cannot be placed; the text says why.
    fn hosts(&self, _ranks: u32) -> Result<Option<live::Hosts>, String> {
        Ok(None)
    }

    /// Returns the number of hosts without a rank when `ranks` ranks are placed; `None` if hosts
    /// are unlimited.
    ///
    /// # Errors
    /// If the ranks cannot be placed; the text says why.
    fn spare(&self, _ranks: u32) -> Result<Option<u32>, String> {
        Ok(None)
    }

    /// The links that synthetic traffic can load; `None` if the model has no switches.
    fn switches(&self) -> Option<&dyn Switches> {
        None
    }

    /// By rank, how much longer computation takes on its host than on a machine of `recorded`
    /// operations per second, or than where it was recorded; empty if hosts have no speeds.
    ///
    /// # Errors
    /// If the ranks cannot be placed; the text says why.
    fn slowdowns(&self, _ranks: u32, _recorded: Option<f64>) -> Result<BTreeMap<u32, f64>, String> {
        Ok(BTreeMap::new())
    }

    /// Returns the costs and algorithms of calls.
    fn calls(&self) -> Calls {
        Calls::default()
    }

    /// Returns whether the model runs programs that are known in advance on one thread only.
    fn is_sequential(&self) -> bool {
        false
    }

    /// Returns whether the model can record what happens in the network.
    fn records_network(&self) -> bool {
        false
    }
}

/// The properties of MPI calls under a model: the costs of those that move no data, and how
/// collectives are carried out, where the experiment does not say so.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// Time of `MPI_Test` and its kin, if it is said.
    pub test: Option<Time>,
    /// Time of `MPI_Iprobe` and its kin.
    pub iprobe: Time,
    /// Time of `MPI_Wtime`.
    pub wtime: Time,
    /// Time of `MPI_Init`.
    pub init: Time,
    /// True if a blocking send of traces ends when its message has arrived.
    pub blocking: bool,
    /// True if the network is a platform of SimGrid.
    pub on_platform: bool,
    /// The library that chooses the algorithms of collectives, if the machine names one.
    pub library: Option<&'static str>,
    /// The algorithms of single collectives.
    pub algorithms: Vec<(Collective, &'static str)>,
}

/// One simulation: its settings, what is recorded, and who watches.
pub struct Run<'a> {
    /// The settings of the simulation.
    pub settings: &'a Settings,
    /// The records of ranks that are kept.
    pub wanted: Wanted,
    /// True if the loads of links are recorded for a timeline.
    pub timeline: bool,
    /// The width of the intervals in which the network is recorded, if it is.
    pub interval: Option<Time>,
    /// The folder that messages go to when there are many, if nothing else needs them.
    pub spill: Option<&'a Path>,
    /// The observer.
    pub observer: &'a dyn Observer,
    /// The work of the whole program, if it is known, from how many signals a message of so many
    /// bytes between two ranks takes.
    pub expected: &'a dyn Fn(&Signals<'_>) -> Option<results::Work>,
}

/// Returns the number of network signals of a message, from source rank, destination rank and
/// bytes.
pub type Signals<'a> = dyn Fn(u32, u32, u64) -> u64 + 'a;

/// A simulation that was carried out.
pub struct Simulated {
    /// The outcome of each rank.
    pub outcome: Outcome,
    /// The records of messages, busy periods and computation that were asked for.
    pub tables: Tables,
    /// The MPI calls of traces.
    pub calls: Vec<Call>,
    /// The records of the network.
    pub network: Option<Seen>,
    /// The bytes that links carried, where the model counts them.
    pub links: Vec<Carried>,
    /// Regions of computation of live ranks in nanoseconds, by rank.
    pub computed: Vec<Vec<u64>>,
    /// The wall time of the simulation.
    pub took: Duration,
}

impl Simulated {
    /// An outcome without anything else.
    pub fn new(outcome: Outcome, tables: Tables, took: Duration) -> Self {
        Self {
            outcome,
            tables,
            calls: Vec::new(),
            network: None,
            links: Vec::new(),
            computed: Vec::new(),
            took,
        }
    }
}

impl Run<'_> {
    /// Carries out `simulate` while the observer watches; `signals` tells it how much there is.
    pub fn watched<T>(
        &self,
        signals: &Signals<'_>,
        simulate: impl FnOnce(&Settings) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(meter) = self.observer.meter() else { return simulate(self.settings) };
        let settings = Settings { progress: Some(meter), ..self.settings.clone() };
        self.observer.begins((self.expected)(signals));
        let found = simulate(&settings);
        self.observer.ends();
        found
    }

    /// Returns the probe of a worker, which moves records to a folder if there are many.
    pub fn collector(&self) -> Collector {
        Collector::new(self.wanted, self.spill)
    }

    /// Joins the probes of all workers, and those of other processes that take part.
    pub fn merge(&self, probes: Vec<Collector>) -> Result<Tables, Failure> {
        let all = Collector::gather(probes, self.settings.transport);
        all.and_then(Collector::merge).map_err(|source| {
            let folder = self.spill.unwrap_or(Path::new(""));
            let path = folder.join(Artifact::Messages.file_name());
            Failure::Output(results::Error::Io { path, source })
        })
    }

    /// Returns whether anything is recorded of ranks.
    pub fn records(&self) -> bool {
        self.wanted != Wanted::default()
    }
}

/// The models that an experiment can choose, joined: each of the two matches has a line for each.
#[derive(Debug)]
pub enum Machine {
    /// Messages take L and do not meet.
    Loggops(loggops::Loggops),
    /// Messages take L, by the rules of `LogGOPSim`.
    Loggopsim(loggopsim::Loggopsim),
    /// Packets through switches.
    Infiniband(infiniband::Infiniband),
    /// Packets through routers with virtual channels.
    Packet(packet::Packet),
    /// Flows that share links.
    Flow(Box<flow::Flow>),
    /// Several networks for each host.
    Rails(rails::Rails),
}

/// Makes the model that the settings choose, with what is odd about it. Topologies and routes come
/// from the stock if they are there.
///
/// # Errors
/// Everything that is wrong with its settings.
pub(crate) fn resolve(
    configuration: &Configuration,
    stock: &mut Stock,
) -> Result<(Machine, Vec<String>), Vec<Diagnostic>> {
    match configuration.model() {
        scope::Model::Loggops => loggops::resolve().map(with(Machine::Loggops)),
        scope::Model::Loggopsim => loggopsim::resolve(configuration).map(with(Machine::Loggopsim)),
        scope::Model::Infiniband => {
            infiniband::resolve(configuration, stock).map(with(Machine::Infiniband))
        }
        scope::Model::Packet => packet::resolve(configuration, stock).map(with(Machine::Packet)),
        scope::Model::Flow => {
            flow::resolve(configuration, stock).map(with(|flow| Machine::Flow(Box::new(flow))))
        }
        scope::Model::Rails => rails::resolve(configuration, stock).map(with(Machine::Rails)),
    }
}

/// Joins a model to the others, with what is odd about it.
fn with<M>(join: impl Fn(M) -> Machine) -> impl Fn((M, Vec<String>)) -> (Machine, Vec<String>) {
    move |(model, remarks)| (join(model), remarks)
}

/// Evaluates an expression for the model that a machine is.
macro_rules! each {
    ($machine:expr, $model:ident => $value:expr) => {
        match $machine {
            Machine::Loggops($model) => $value,
            Machine::Loggopsim($model) => $value,
            Machine::Infiniband($model) => $value,
            Machine::Packet($model) => $value,
            Machine::Flow($model) => $value,
            Machine::Rails($model) => $value,
        }
    };
}

impl Model for Machine {
    #[cfg(not(one_simulator))]
    fn run<P: Work>(&self, program: &P, run: &Run<'_>) -> Result<Simulated, Failure> {
        each!(self, model => model.run(program, run))
    }

    /// Forgets the type of the program, but for the imitation of `LogGOPSim`, which is only for
    /// programs of some types.
    #[cfg(one_simulator)]
    fn run<P: Work>(&self, program: &P, run: &Run<'_>) -> Result<Simulated, Failure> {
        if let Self::Loggopsim(model) = self {
            return model.run(program, run);
        }
        let program = &host::AnyWork::new(program);
        each!(self, model => model.run(program, run))
    }

    fn hosts(&self, ranks: u32) -> Result<Option<live::Hosts>, String> {
        each!(self, model => model.hosts(ranks))
    }

    fn spare(&self, ranks: u32) -> Result<Option<u32>, String> {
        each!(self, model => model.spare(ranks))
    }

    fn switches(&self) -> Option<&dyn Switches> {
        each!(self, model => model.switches())
    }

    fn slowdowns(&self, ranks: u32, recorded: Option<f64>) -> Result<BTreeMap<u32, f64>, String> {
        each!(self, model => model.slowdowns(ranks, recorded))
    }

    fn calls(&self) -> Calls {
        each!(self, model => model.calls())
    }

    fn is_sequential(&self) -> bool {
        each!(self, model => model.is_sequential())
    }

    fn records_network(&self) -> bool {
        each!(self, model => model.records_network())
    }
}
