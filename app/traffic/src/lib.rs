//! Synthetic traffic: hosts that make messages at random instead of running a program, to measure a
//! network.
//!
//! [`Settings`] say who sends to whom ([`Pattern`]), when ([`Arrivals`]), how much ([`Lengths`],
//! load) and for how long ([`Span`]); [`run`] measures one [`Point`], [`curve`] several loads,
//! [`saturation`] finds the load that the network no longer accepts. A saturated network is a
//! result, not a failure, and so is a [`Deadlock`].
//!
//! Loads are parts of the bandwidth of the hosts' links, headers and padding included, as means
//! over the hosts that send. Latency counts from when a message enters its host's interface, where
//! it may wait, to when its last flit has been taken. Every random number is a function of (seed,
//! host, purpose, number), so results are the same on any number of threads.
//!
//! [`Watch`] is a probe for what a network tells about links, queues, flow control and congestion
//! control, under this traffic or under a program ([`host::simulate_over`]).
//!
//! Method: Dally and Towles, "Principles and Practices of Interconnection Networks", 2004, chapters
//! 23 and 24.

mod arrivals;
mod bound;
mod followed;
mod lengths;
mod model;
mod pattern;
mod run;
mod settling;
mod statistics;
mod steady_state;
mod tables;
mod watch;

pub use arrivals::{Arrivals, OnOff};
pub use bound::{Bounds, bounds};
pub use followed::followed;
pub use lengths::{Lengths, Unreadable};
pub use model::Delivery;
pub use pattern::{Destinations, Misfit, PATTERNS, Pattern};
pub use run::{
    Deadlock, Error, Observed, Point, Saturation, Settings, curve, observe, run, saturation,
};
pub use settling::Settling;
pub use statistics::{Estimate, Histogram, student};
pub use steady_state::{Batch, Span};
pub use tables::{loads, write_table};
pub use watch::{Bin, Channel, Flow, Lane, Losses, MOST_ROWS, Watch, Watched};
