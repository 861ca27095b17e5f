//! Networks of a chosen rate and delay between two hosts that are network namespaces of Linux: the
//! rails on which validation measures real MPI programs.
//!
//! Each rail is a pair of TAP devices, one in each namespace. A frame that the kernel sends on one
//! of them is read here, waits in a FIFO queue, takes its time on the wire, is delayed, and is
//! written to the other. A frame takes the wire for as long as on Ethernet: its own bytes, and
//! [`FRAMING`] more for preamble, check sequence and gap. The queue drops what does not fit.
//!
//! Not modelled: loss, errors and jitter, pause frames, and hardware that segments or merges; each
//! frame has at most the MTU's 1500 bytes.
//!
//! The shaper runs beside the programs that are measured, on the same processors, so that frames
//! are late at times. [`Lateness`] keeps by how much; it does not see how long a frame waited
//! before it was read, which only the measured round trip shows.

#[cfg(target_os = "linux")]
mod alarm;
#[cfg(target_os = "linux")]
pub mod control;
#[cfg(target_os = "linux")]
mod forward;
mod lateness;
mod link;
#[cfg(target_os = "linux")]
pub mod node;
mod rail;

#[cfg(target_os = "linux")]
pub use alarm::Alarm;
#[cfg(target_os = "linux")]
pub use forward::{Direction, Lane, Patience, Shared, start, usual_lateness};
pub use lateness::Lateness;
pub use link::{FRAMING, Link, MINIMUM, Offer};
pub use rail::{Mistake, Rail};

/// The rail that is always there, first of all: it carries what starts and ends programs, so that
/// the others carry only what is measured.
pub const CONTROL: &str = "ctl";
