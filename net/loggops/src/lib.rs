//! The LogGOPS model: a network on which a message takes L, whatever else travels, and the model's
//! parameter sets as the papers have them, of which all but L are costs of the hosts.

mod adapters;
mod classes;
mod network;
mod parameters;

pub use self::adapters::{Adapter, Adapters, Arrival, Loss};
pub use self::classes::{Class, Classes};
pub use self::network::Wire;
pub use parameters::{Costs, Inject, Parameters, Receive};
