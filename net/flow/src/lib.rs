//! Messages as fluids: flows over links that share bandwidth max-min fairly.
//!
//! A [`Flow`] has a latency phase, in which it uses nothing, and then transfers its work at a rate
//! that the [`Fluid`] solver gives it. In the model of SimGrid (its *CM02*, Velho and Legrand 2009;
//! seed 002, section IV.B) the rates x are the max-min fair ones of the constraints
//!
//! - shared link l: sum over flows of weight × x ≤ bandwidth of l,
//! - fat pipe l: weight × x ≤ bandwidth of l for every flow,
//! - flow: x ≤ its bound,
//!
//! where a flow counts with the weight 1 / penalty: what is filled evenly is the *level* x ×
//! penalty. Progressive filling defines the result: all levels rise together from 0; a flow stops
//! at its bound, and all flows of a link stop when the link is full. A fat pipe is full when the
//! first of the flows that still rise reaches its bandwidth, and then stops the others as well; so
//! does SimGrid.
//!
//! Packets, buffers, losses and slow start are not modelled; they are in the latency and the
//! factors that the caller computes. Where SimGrid takes a link as full at 1e-5 of its bandwidth,
//! this solver is exact up to rounding; the two differ where two links become full within that of
//! each other. SimGrid also lets everything happen together that happens within a nanosecond; here
//! time has steps of a picosecond.

mod confined;
mod earliest;
mod ends;
mod fluid;
mod groups;
mod network;
mod parameters;
mod shared;
mod solve;
mod system;

pub use fluid::{Fluid, Load};
pub use network::{Idle, Loads, Network, Routes};
pub use parameters::{Contention, Factors, Parameters};
pub use shared::{Shared, Signal, Solver};
use units::Time;

/// The rule by which a link divides its bandwidth. A split-duplex link is two shared ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All flows together get the bandwidth.
    Shared,
    /// Each flow gets at most the bandwidth.
    FatPipe,
}

/// A link, or anything else that is shared: a limiter, the cores of a host.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Bytes per second, above 0.
    pub bandwidth: f64,
    /// The rule by which it is divided.
    pub sharing: Sharing,
}

/// One link of a flow's way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// The link's index.
    pub link: u32,
    /// Bytes on the link per byte of the flow's rate: 1 on the way there, 0.05 on the way back if
    /// there is cross traffic. A link that occurs several times has the sum, or the maximum on a
    /// fat pipe.
    pub weight: f64,
}

/// A flow to be started.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    /// The links it uses, in any order; none if nothing but the bound limits it.
    pub uses: &'a [Use],
    /// Seconds; the flow's share is proportional to 1 / penalty. With 0 the flow is not part of the
    /// sharing: its rate is its bound, and its uses count for nothing.
    pub penalty: f64,
    /// Bytes per second, the largest rate on the links; infinite if there is none.
    pub bound: f64,
    /// Progress per rate: of `rate` bytes a second on the links, `rate × factor` are work.
    pub factor: f64,
    /// The time from the start of the flow until it begins to use its links.
    pub latency: Time,
    /// Bytes to be transferred; with 0 the flow completes when its latency has passed.
    pub work: f64,
}

/// A flow in the solver: until it completes, then the name may be that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowId(u32);
