//! A toy network and a toy workload, each in one file: the least that a model of a network and a
//! program need. They are here to be copied; `docs/contributing.md` says how to go on from them.
//!
//! The tests run the conformance suite of all networks on the bus, and the token on the bus
//! against its closed form.

mod bus;
mod token;

pub use bus::Bus;
pub use token::Token;
