//! A platform for the model `flow`, from the tables `[network]`, `[flow]`, `[host]` and `[placement]`.

use std::{fs, path::Path};

use flow::{Contention, Factors, Network, Routes};
use host::{Piece, Pieces, Protocol, Protocols};
use platform::Platform;
use topology::{Placement, place};
use units::{Bytes, Time, TimePerByte};

use crate::{
    configuration::Configuration,
    diagnostic::Diagnostic,
    machine::{self, Places},
    simgrid_items::{self, Calls, Items},
    value::Topology,
};

/// A platform and what its messages and hosts cost.
#[derive(Debug)]
pub(crate) struct FlowMachine {
    platform: Platform,
    items: Items,
    protocols: Protocols,
    places: Places,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

type Mistakes = Vec<Diagnostic>;

/// Routes of a platform as flows need them.
struct Ways<'a>(&'a Platform);

impl Routes for Ways<'_> {
    fn route(&self, from: u32, to: u32, links: &mut Vec<u32>) -> Result<f64, String> {
        self.0.route(from, to, links).map_err(|error| error.to_string())
    }
}
