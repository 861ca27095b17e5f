//! Options of the compilation of traces.

use std::collections::BTreeMap;

use crate::pinning::Pinning;
use calls::Expand;
use collectives::Schedgen;

/// The way in which recorded time becomes time in the schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Computation is the time between calls; what MPI takes is up to the model.
    #[default]
    Gaps,
    /// The time within calls, less what the recording network took, is local work too (seed 000,
    /// section 5.4).
    Durations,
    /// Takes times as `Durations` does, but time that a call spent waiting for a late partner is
    /// left to the schedule.
    Aligned,
}

/// The clocks that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clocks {
    /// The clocks of our own traces as they were measured; text traces as `Init`.
    #[default]
    Default,
    /// All ranks leave `MPI_Init` at the same time.
    Init,
    /// The clocks as they were measured against rank 0's.
    Recorded,
}

/// The time of a message on the idle network of the recording machine, in picoseconds.
pub trait Recorded: Sync {
    /// Returns the time until it has left the sender.
    fn leaving(&self, bytes: u64) -> u64;
    /// Returns the time that the receiver takes to take it in.
    fn draining(&self, bytes: u64) -> u64;
    /// Returns the time from the start of the send until it is received.
    fn transit(&self, bytes: u64) -> u64 {
        self.leaving(bytes) + self.draining(bytes)
    }
}

/// A network that takes no time: all time in calls is the host's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ideal;

impl Recorded for Ideal {
    fn leaving(&self, _: u64) -> u64 {
        0
    }

    fn draining(&self, _: u64) -> u64 {
        0
    }
}

/// The InfiniBand cluster of seed 000, by the analytical model of its section 5.4: flits of 64
/// bytes, a header of 20 bytes; the first flit leaves at once and each further one takes 32 ns; a
/// flit of 64 bytes is received in 33.6 ns, one of fewer in proportion, and each further one takes
/// 1.6 ns more than the one before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flits;

impl Flits {
    const fn count(bytes: u64) -> u64 {
        (bytes + 20).div_ceil(64)
    }
}

impl Recorded for Flits {
    fn leaving(&self, bytes: u64) -> u64 {
        32_000 * (Self::count(bytes) - 1)
    }

    fn draining(&self, bytes: u64) -> u64 {
        match Self::count(bytes) {
            1 => 33_600 * (bytes + 20) / 64,
            flits => 33_600 * flits + 1600 * (flits * (flits - 1) / 2),
        }
    }
}

/// The factors by which computation takes longer than recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Unless said otherwise.
    pub all: f64,
    /// On single ranks, in place of `all`.
    pub ranks: BTreeMap<u32, f64>,
    /// The factors of regions, by the level of `MPI_Pcontrol`, besides the factor of the rank.
    pub regions: BTreeMap<i64, f64>,
}

impl Default for Scale {
    fn default() -> Self {
        Self { all: 1.0, ranks: BTreeMap::new(), regions: BTreeMap::new() }
    }
}

impl Scale {
    /// The factor for a rank in a region.
    pub fn factor(&self, rank: u32, region: Option<i64>) -> f64 {
        let rank = self.ranks.get(&rank).unwrap_or(&self.all);
        rank * region.and_then(|region| self.regions.get(&region)).unwrap_or(&1.0)
    }
}

/// The part of a trace that is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// The whole trace.
    #[default]
    All,
    /// The calls from the end of one collective of the world to the end of another, counted from 1;
    /// 0 is `MPI_Init`.
    Collectives(u64, u64),
    /// The calls that start between two times, in picoseconds since `MPI_Init` returned.
    Times(u64, u64),
}

/// The cost of calls that move no data, for their caller, in picoseconds, in mode `Gaps`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCosts {
    /// `MPI_Test` and its kin.
    pub test: u64,
    /// `MPI_Iprobe` and `MPI_Improbe`.
    pub iprobe: u64,
    /// `MPI_Init`.
    pub init: u64,
    /// `MPI_Wtime`, in simulated runs.
    pub clock: u64,
}

/// Everything that can be chosen.
pub struct Options<'a> {
    /// The way in which recorded time becomes time in the schedule.
    pub mode: Mode,
    /// The clocks that are compared.
    pub clocks: Clocks,
    /// The network of the recording machine.
    pub recorded_on: &'a dyn Recorded,
    /// Algorithms of collectives.
    pub expand: &'a dyn Expand,
    /// Scaling of computation.
    pub scale: Scale,
    /// Cost of registering buffers, in mode `Gaps`.
    pub pinning: Option<Pinning>,
    /// Costs of single calls.
    pub calls: CallCosts,
    /// The costs in runs that were simulated, where of looks in a row (tests and probes that find
    /// nothing) the n-th costs n times as much.
    pub simulated_calls: CallCosts,
    /// Cost of the first message from a rank to another, in picoseconds, in mode `Gaps`.
    pub connect: u64,
    /// The rank of the schedule that each rank of the trace becomes; empty for the same.
    pub map: Vec<u32>,
    /// The number of copies of all ranks.
    pub copies: u32,
    /// The part that is compiled.
    pub window: Window,
    /// True if the beginning of each call is noted.
    pub marks: bool,
    /// True if blocking sends and computations that are sleep are noted.
    pub blocking: bool,
    /// Threads that compile; 0 for as many as there are processors.
    pub threads: usize,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            clocks: Clocks::default(),
            recorded_on: &Ideal,
            expand: &Schedgen,
            scale: Scale::default(),
            pinning: None,
            calls: CallCosts::default(),
            simulated_calls: CallCosts::default(),
            connect: 0,
            map: Vec::new(),
            copies: 1,
            window: Window::All,
            marks: false,
            blocking: false,
            threads: 0,
        }
    }
}
