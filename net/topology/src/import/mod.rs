//! Topologies and forwarding tables from files.

mod draft;
mod ibnetdiscover;
mod lines;
mod own;
pub mod quantity;
mod simgrid;
mod tables;
pub mod xml;

pub use ibnetdiscover::ibnetdiscover;
pub use lines::Lines;
pub use own::{csv, toml};
pub use simgrid::{simgrid, simgrid_parts};
pub use tables::{Tables, fdb_vectors, lft_dump};

use std::collections::{BTreeMap, BTreeSet};

use crate::{Fault, Faults, Topology};

/// A topology from a file, with the addresses that the file gives.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The topology.
    pub topology: Topology,
    /// Hosts by their local identifiers; hosts are 1, 2, … where the file says nothing.
    pub lids: BTreeMap<u32, u32>,
    /// Local identifiers of other devices, such as switches.
    pub other_lids: BTreeSet<u32>,
    /// Parts of the file that were left out.
    pub warnings: Faults,
}

impl From<Topology> for Imported {
    fn from(topology: Topology) -> Self {
        let lids = (0..topology.graph.hosts()).map(|host| (host + 1, host)).collect();
        Self { topology, lids, other_lids: BTreeSet::new(), warnings: Faults::default() }
    }
}

/// Reads a topology in the format that its text shows: XML is SimGrid's, lines that begin with
/// `Switch` or `Ca` are of `ibnetdiscover`, those that begin with `host,`, `switch,` or `link,` are
/// CSV, anything else is TOML. A byte order mark is passed over. Characters that no text has are a
/// mistake of their own.
pub fn any(text: &str) -> Result<Imported, Faults> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains(|letter: char| letter.is_control() && !letter.is_whitespace()) {
        let help = "a topology is TOML, CSV, the text of ibnetdiscover or SimGrid's XML".to_owned();
        return Err(Fault::new("this is not a text file").help(help).into());
    }
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let starts =
        |words: &[&str]| lines().any(|line| words.iter().any(|word| line.starts_with(word)));
    if lines().next().is_some_and(|line| line.starts_with('<')) {
        simgrid(text)
    } else if starts(&["Switch\t", "Switch ", "Ca\t", "Ca "]) {
        ibnetdiscover(text)
    } else if starts(&["host,", "switch,", "link,"]) {
        csv(text)
    } else {
        toml(text)
    }
}

/// Of a range such as `0-15`, the first number that is none of 32 bits.
pub fn too_large(range: &str) -> Option<&str> {
    let mut ends = range.split('-').map(str::trim);
    ends.find(|end| {
        let digits = !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
        digits && end.parse::<u32>().is_err()
    })
}
