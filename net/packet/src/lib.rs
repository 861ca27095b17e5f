//! Routers with virtual channels, exact to the flit.
//!
//! A router has a buffer per input channel and a pipeline of four stages: route computation,
//! virtual-channel allocation, switch allocation and switch traversal; links and credits follow.
//! Each stage is a file in `router`. Allocators, arbiters, switching (cut-through or wormhole) and
//! the routing are policies that a parameter chooses.
//!
//! A router acts only in cycles in which it has something to do. Its clock starts when the first
//! flit reaches the idle router and stands again when the last has left, so that routers need no
//! common clock and a packet alone never waits for one. Flits are switched one by one, and those of
//! several packets may take turns on a link. A packet that nothing delays is one event per link all
//! the same, and its credits another: the head's signal foretells the other flits (`stream`).
//!
//! A host's memory, DMA engine and channel adapter pass flits one after the other, on their way out
//! and in: each adds the time of a flit, and the slowest sets the pace of the host's links.
//!
//! Not modelled: losses, what the parts of a host do for others.
//!
//! Sources: Dally and Towles, "Principles and Practices of Interconnection Networks", 2004,
//! chapters 16 to 19, for the router; Jiang et al., "A detailed and flexible cycle-accurate
//! network-on-chip simulator", ISPASS 2013, whose BookSim 2 is compared in `docs/src/booksim.md`.
//! Range of validity: routers whose flits leave an input channel in the order in which they came.

mod allocator;
mod arbiter;
mod bits;
mod census;
mod fabric;
mod host;
mod model;
mod node;
mod parameters;
mod presets;
mod router;
mod signal;
mod stream;
mod uncontended;

pub use allocator::Allocation;
pub use arbiter::Arbitration;
pub use fabric::Fabric;
pub use host::Interface;
pub use model::{Out, Packets};
pub use parameters::{Choice, Delay, Injector, Invalid, Parameters, Switching};
pub use presets::{names, preset};
pub use router::Router;
pub use signal::{Packet, Signal};
