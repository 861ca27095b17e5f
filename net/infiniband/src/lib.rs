//! InfiniBand at flit level.
//!
//! Hosts ([`Hca`]) and switches ([`Switch`]) with credits per virtual lane, virtual output queues,
//! arbiters with high and low tables, a crossbar with limited speed-up, sinks that pause, and
//! congestion control after annex A10. Packets cut through; every flit's time on every link is
//! exact, though the cost is one event per packet and link ([`Shape`] says why), and what is idle
//! costs nothing.
//!
//! Packets may be damaged on their way; then reliable connections send them again ([`Losses`]).
//!
//! Not modelled: adaptive routing, recovery from dead-locks, multicast. Without losses,
//! acknowledgements only use bandwidth and carry BECN.
//!
//! Sources: InfiniBand Architecture Specification, volume 1 (chapters 7 and A10); the thesis of
//! `docs/src/infiniband.md`, sections 3.2 and 5.4, for how its components work together and for the
//! figures of the preset. Range of validity: links of SDR to NDR, packets of up to 255 flits.
//!
//! The devices have no queue of events of their own: [`network::Harness`] hands over signals in
//! order of (time, source device, the source's sequence) and lets the devices act up to the time of
//! the next one.

mod arbiter;
mod congestion;
mod credits;
mod fabric;
mod hca;
mod losses;
mod model;
mod outlet;
mod parameters;
mod presets;
mod signal;
mod sink;
mod switch;
mod train;
mod uncontended;
mod updates;

pub use arbiter::{Share, Tables};
pub use congestion::{Control, Delay, Scope, Victims, quadratic};
pub use fabric::{Fabric, MANAGEMENT};
pub use hca::Hca;
pub use losses::Losses;
pub use model::Infiniband;
pub use outlet::{Detail, Record};
pub use parameters::{Choice, FLIT, Invalid, Parameters, flit_time};
pub use presets::{names, preset};
pub use signal::{Credit, Kind, Packet, Signal};
pub use sink::{Hiccups, Spread};
pub use switch::Switch;
pub use train::Shape;
