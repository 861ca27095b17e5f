//! The parameters as LogGOPSim has them: whole numbers of one unit of time.

use loggops::{Costs, Inject};
use schedule::{Kind as Operation, Op, Program};
use units::TimePerByte;

use crate::{Error, Settings};

/// Parameters in ticks.
pub struct Parameters {
    /// Picoseconds per tick.
    pub tick: u64,
    pub latency: u64,
    pub overhead: u64,
    pub gap: u64,
    pub gap_per_byte: u64,
    pub overhead_per_byte: u64,
    pub eager_limit: u64,
    /// Ticks per unit of computation.
    pub unit: u64,
    /// No message of so many bytes or fewer costs 2^62 ticks.
    pub most_bytes: u64,
}

impl Parameters {
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let costs: &Costs = &settings.parameters.small;
        let one = settings.parameters.large == *costs
            && costs.send_overhead == costs.receive_overhead
            && costs.send_overhead_per_byte == costs.receive_overhead_per_byte;
        if !one {
            return Err(Error::Compat(
                "one set of parameters for all messages and both sides".into(),
            ));
        }
        if settings.parameters.inject == Inject::Start {
            return Err(Error::Compat("loggops.inject = \"end\"".into()));
        }
        let whole = |rate: TimePerByte| match rate.parts() {
            (ps, 1) => Ok(ps),
            _ => Err(Error::Compat("G and O that are whole picoseconds per byte".into())),
        };
        let times = [
            costs.latency.ps(),
            costs.send_overhead.ps(),
            costs.gap.ps(),
            whole(costs.gap_per_byte)?,
            whole(costs.send_overhead_per_byte)?,
            settings.time_unit.ps(),
        ];
        let tick = if times.iter().all(|ps| ps % 1_000 == 0) { 1_000 } else { 1 };
        let [latency, overhead, gap, gap_per_byte, overhead_per_byte, unit] =
            times.map(|ps| ps / tick);
        let eager_limit = settings.parameters.eager_limit;
        Ok(Self {
            tick,
            latency,
            overhead,
            gap,
            gap_per_byte,
            overhead_per_byte,
            eager_limit,
            unit,
            most_bytes: most_bytes([latency, overhead, gap], gap_per_byte.max(overhead_per_byte)),
        })
    }

    /// Returns whether a message of no bytes can set a clock back.
    pub fn may_go_back(&self) -> bool {
        let per_byte = self.gap_per_byte.max(self.overhead_per_byte);
        self.gap < self.gap_per_byte || self.overhead < per_byte
    }
}

/// The bytes that cost less than 2^62 ticks at a rate of `per_byte` on top of each of `once`; none
/// if one of these is as large alone.
fn most_bytes(once: [u64; 3], per_byte: u64) -> u64 {
    let room = (1u64 << 62).saturating_sub(once.into_iter().fold(0, u64::saturating_add));
    room / per_byte.max(1)
}

/// Returns whether a program sends messages of no bytes.
pub fn has_empty_messages(program: &impl Program) -> bool {
    let empty = |op: Op| op.kind == Operation::Send && op.size == 0;
    (0..program.ranks())
        .any(|rank| (0..program.ops(rank)).any(|index| empty(program.op(rank, index))))
}
