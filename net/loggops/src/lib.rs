//! The LogGOPS model of a network: a message takes L, whatever else travels.

mod network;
mod parameters;

pub use self::network::Wire;
pub use parameters::{Costs, Inject, Parameters};
