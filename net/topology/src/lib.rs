//! Topologies of networks and the ways through them: hosts, switches and links, generators,
//! importers, routes.
//!
//! A [`Topology`] is a [`Graph`] with what is known of its [`Shape`]; [`Routes`] say for a packet
//! at a switch which port and lane it takes next. No simulated time passes here: a link may carry a
//! delay, but what it means is up to the network model.

mod bisection;
mod complete;
mod error;
mod fail;
mod graph;
pub mod import;
mod metrics;
pub mod place;
mod rate;
pub mod route;
mod shape;
#[cfg(test)]
mod tests;

pub use bisection::Bisection;
pub use complete::Complete;
pub use error::{Fault, Faults};
pub use fail::{Amount, Failure, OutOfService};
pub use graph::{End, Graph, Link, Plug};
pub use import::Imported;
pub use metrics::Metrics;
pub use place::Placement;
pub use rate::{Rate, Speed};
pub use route::{
    Algorithm, Alternatives, Bias, Bubble, Candidate, Candidates, Dateline, Header, Hop, Routes,
    Routing, Shared, Weights,
};
pub use shape::{
    Arrangement, Butterfly, Dragonfly, Entry, Grid, KINDS, Kind, Rails, Shape, Size, SlimFly,
    Topology, Tree, build, parse,
};
