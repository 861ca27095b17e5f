//! The scope of a key: the models and workloads for which it means something, and its part.

/// Declares an enumeration with the list of its variants, so that none can be left out there.
macro_rules! counted {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$meaning:meta])* $variant:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$meaning])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];
        }
    };
}

counted! {
    /// The models that a key can belong to.
    pub enum Model {
        /// Messages take L and do not meet.
        Loggops,
        /// Messages take L, by the rules of `LogGOPSim`.
        Loggopsim,
        /// Packets through switches.
        Infiniband,
        /// Packets through routers with virtual channels.
        Packet,
        /// Flows that share links.
        Flow,
        /// Several networks, each by a model of its own.
        Rails,
    }
}

counted! {
    /// The kinds of workloads that a key can belong to.
    pub enum Workload {
        /// A schedule in a file.
        Goal,
        /// A pattern.
        Pattern,
        /// A collective operation.
        Collective,
        /// The traces of a run.
        Traces,
        /// A live program.
        Live,
        /// Synthetic traffic.
        Traffic,
    }
}

/// The part of an experiment that a key describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The workload. A generated schedule depends on nothing else.
    Program,
    /// The machine, which a file of its own can describe.
    Machine,
    /// Placement, simulation, and the tables that a run keeps.
    Run,
    /// The destination of results and the way in which they are shown. It stands in no manifest.
    Display,
}

/// The models and workloads that use a key, and the part of an experiment that it describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The part of an experiment.
    pub part: Part,
    /// True if a platform of the model `flow` states the value itself.
    pub in_platform: bool,
    models: u16,
    workloads: u16,
}

impl Model {
    /// The settings that choose it.
    pub const fn choice(self) -> &'static str {
        match self {
            Self::Loggops => "network.model = \"loggops\"",
            Self::Loggopsim => "loggops.compat = \"loggopsim\"",
            Self::Infiniband => "network.model = \"infiniband\"",
            Self::Packet => "network.model = \"packet\"",
            Self::Flow => "network.model = \"flow\"",
            Self::Rails => "tables [rail.NAME]",
        }
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loggops => "loggops",
            Self::Loggopsim => "loggopsim",
            Self::Infiniband => "infiniband",
            Self::Packet => "packet",
            Self::Flow => "flow",
            Self::Rails => "rails",
        }
    }
}

impl Workload {
    /// One of them, with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goal => "a schedule",
            Self::Pattern => "a pattern",
            Self::Collective => "a collective",
            Self::Traces => "traces",
            Self::Live => "a program",
            Self::Traffic => "traffic",
        }
    }
}

impl Scope {
    const fn in_platform(self) -> Self {
        Self { in_platform: true, ..self }
    }

    /// Returns whether the model uses the key.
    pub const fn has_model(self, model: Model) -> bool {
        self.models >> model as u16 & 1 == 1
    }

    /// Returns whether the workload uses the key.
    pub const fn has_workload(self, workload: Workload) -> bool {
        self.workloads >> workload as u16 & 1 == 1
    }

    /// The models that use the key.
    pub fn models(self) -> impl Iterator<Item = Model> {
        Model::ALL.iter().copied().filter(move |model| self.has_model(*model))
    }

    /// The workloads that use the key.
    pub fn workloads(self) -> impl Iterator<Item = Workload> {
        Workload::ALL.iter().copied().filter(move |workload| self.has_workload(*workload))
    }
}

const fn models(models: &[Model]) -> u16 {
    let (mut set, mut index) = (0, 0);
    while index < models.len() {
        set |= 1 << models[index] as u16;
        index += 1;
    }
    set
}

const fn workloads(workloads: &[Workload]) -> u16 {
    let (mut set, mut index) = (0, 0);
    while index < workloads.len() {
        set |= 1 << workloads[index] as u16;
        index += 1;
    }
    set
}

const fn scope(part: Part, models: u16, workloads: u16) -> Scope {
    Scope { part, in_platform: false, models, workloads }
}

use Model::{Flow, Infiniband, Loggops, Loggopsim, Packet, Rails};
use Workload::{Collective, Goal, Live, Pattern, Traces, Traffic};

const ANY_MODEL: u16 = models(Model::ALL);
const ANY_WORKLOAD: u16 = workloads(Workload::ALL);
/// Workloads with ranks.
const PROGRAMS: u16 = workloads(&[Goal, Pattern, Collective, Traces, Live]);
/// Models with hosts that ranks are placed on.
const PLACES: u16 = models(&[Infiniband, Packet, Flow]);
/// Hosts on several networks.
const RAILED: u16 = models(&[Rails]);
/// Models of packets.
const SWITCHES: u16 = models(&[Infiniband, Packet]);

/// The workload itself.
pub(super) const SOURCE: Scope = scope(Part::Program, ANY_MODEL, ANY_WORKLOAD);
/// Workloads that count time in a unit of their own.
pub(super) const SCHEDULED: Scope =
    scope(Part::Program, ANY_MODEL, workloads(&[Goal, Pattern, Collective]));
/// Workloads that are made from settings alone.
pub(super) const GENERATED: Scope =
    scope(Part::Program, ANY_MODEL, workloads(&[Pattern, Collective]));
/// Patterns.
pub(super) const PATTERN: Scope = scope(Part::Program, ANY_MODEL, workloads(&[Pattern]));
/// Collectives.
pub(super) const COLLECTIVE: Scope = scope(Part::Program, ANY_MODEL, workloads(&[Collective]));
/// Workloads that carry out collectives.
pub(super) const COLLECTIVES: Scope =
    scope(Part::Program, ANY_MODEL, workloads(&[Collective, Traces, Live]));
/// Workloads that call MPI.
pub(super) const CALLS: Scope = scope(Part::Run, ANY_MODEL, workloads(&[Traces, Live]));
/// Live programs.
pub(super) const LIVE: Scope = scope(Part::Run, ANY_MODEL, workloads(&[Live]));
/// Traces.
pub(super) const TRACES: Scope = scope(Part::Run, ANY_MODEL, workloads(&[Traces]));
/// Synthetic traffic of packets.
pub(super) const TRAFFIC_PACKETS: Scope = scope(Part::Run, SWITCHES, workloads(&[Traffic]));
/// Synthetic traffic.
pub(super) const TRAFFIC: Scope = scope(Part::Run, ANY_MODEL, workloads(&[Traffic]));

/// The origin of measured parameters.
pub(super) const CALIBRATED: Scope = scope(Part::Machine, ANY_MODEL, PROGRAMS);
/// The wire of LogGOPS.
pub(super) const WIRE: Scope = scope(Part::Machine, models(&[Loggops, Loggopsim]), PROGRAMS);
/// The wire of LogGOPS for large messages, of which LogGOPSim has no other.
pub(super) const LARGE_WIRE: Scope = scope(Part::Machine, models(&[Loggops]), PROGRAMS);
/// The costs of hosts.
pub(super) const HOSTS: Scope =
    scope(Part::Machine, models(&[Loggops, Loggopsim, Infiniband, Packet]), PROGRAMS);
/// The costs of hosts that LogGOPSim does not know.
pub(super) const BEYOND_LOGGOPSIM: Scope =
    scope(Part::Machine, models(&[Loggops, Infiniband, Packet]), PROGRAMS);
/// The ends of sends.
pub(super) const SENDS: Scope =
    scope(Part::Machine, models(&[Loggops, Infiniband, Packet, Flow, Rails]), PROGRAMS);
/// Buffers of hosts for what they send.
pub(super) const BUFFERS: Scope = scope(Part::Machine, PLACES | RAILED, PROGRAMS);
/// The costs of messages within a host.
pub(super) const SHARED_HOSTS: Scope = scope(Part::Machine, SWITCHES | RAILED, PROGRAMS);
/// The limit of eager messages, which all rails have in common.
pub(super) const EAGER: Scope = scope(Part::Machine, HOSTS.models | RAILED, PROGRAMS);
/// The protocol of messages, whichever rail they take.
pub(super) const PROTOCOL: Scope = scope(Part::Machine, BEYOND_LOGGOPSIM.models | RAILED, PROGRAMS);
/// Several networks, and each of them.
pub(super) const RAIL: Scope = scope(Part::Machine, RAILED, PROGRAMS);
/// The choice of the model.
pub(super) const MODEL: Scope = scope(Part::Machine, ANY_MODEL, ANY_WORKLOAD);
/// Models with a topology.
pub(super) const TOPOLOGY: Scope = scope(Part::Machine, PLACES, ANY_WORKLOAD);
/// Links and switches, which a platform has itself.
pub(super) const LINKS: Scope = TOPOLOGY.in_platform();
/// Times in switches, which a platform has itself.
pub(super) const SWITCH_TIMES: Scope =
    scope(Part::Machine, models(&[Infiniband, Flow]), ANY_WORKLOAD).in_platform();
/// Switches of InfiniBand, their lanes and buffers.
pub(super) const FABRIC: Scope = scope(Part::Machine, models(&[Infiniband]), ANY_WORKLOAD);
/// Packets, and the buffers that they wait in.
pub(super) const PACKETS: Scope = scope(Part::Machine, SWITCHES, ANY_WORKLOAD);
/// Routers with virtual channels.
pub(super) const ROUTERS: Scope = scope(Part::Machine, models(&[Packet]), ANY_WORKLOAD);
/// Flows.
pub(super) const FLOW: Scope = scope(Part::Machine, models(&[Flow]), ANY_WORKLOAD);
/// The costs of hosts over flows.
pub(super) const FLOW_HOSTS: Scope = scope(Part::Machine, models(&[Flow]), PROGRAMS);
/// The speed of hosts, to which computation of traces is scaled.
pub(super) const SPEED: Scope = scope(Part::Machine, models(&[Flow]), workloads(&[Traces]));
/// The speed of the hosts, which a platform states itself.
pub(super) const HOST_SPEED: Scope = SPEED.in_platform();
/// The speed of the hosts for time-independent traces.
pub(super) const TRACE_SPEED: Scope = TRACES.in_platform();

/// Placement.
pub(super) const PLACED: Scope = scope(Part::Run, PLACES | RAILED, ANY_WORKLOAD);
/// Placement of several ranks on a host.
pub(super) const SHARING: Scope = scope(Part::Run, PLACES | RAILED, PROGRAMS);
/// Noise.
pub(super) const NOISE: Scope = scope(Part::Run, ANY_MODEL, PROGRAMS);
/// Everything, generated schedules included.
pub(super) const SEED: Scope = scope(Part::Program, ANY_MODEL, ANY_WORKLOAD);
/// Every run.
pub(super) const RUN: Scope = scope(Part::Run, ANY_MODEL, ANY_WORKLOAD);
/// Every run but those by LogGOPSim's rules.
pub(super) const TRANSPORT: Scope =
    scope(Part::Run, models(&[Loggops, Infiniband, Packet, Flow, Rails]), ANY_WORKLOAD);
/// Tables and timelines of ranks.
pub(super) const RANKS: Scope = scope(Part::Run, ANY_MODEL, PROGRAMS);
/// The destination of results.
pub(super) const FOLDER: Scope = scope(Part::Display, ANY_MODEL, ANY_WORKLOAD);
/// Drawings of ranks.
pub(super) const DRAWN: Scope = scope(Part::Display, ANY_MODEL, PROGRAMS);
