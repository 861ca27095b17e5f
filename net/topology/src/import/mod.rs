//! Topologies and forwarding tables from files.

mod draft;
mod ibnetdiscover;
mod own;
pub mod quantity;
mod simgrid;
mod tables;
pub mod xml;

pub use ibnetdiscover::ibnetdiscover;
pub use own::{csv, toml};
pub use simgrid::{simgrid, simgrid_parts};
pub use tables::{fdb_vectors, lft_dump};

use std::collections::BTreeMap;

use crate::{Fault, Faults, Topology};

/// A topology from a file, and what the file says of addresses.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The topology.
    pub topology: Topology,
    /// Hosts by their local identifiers; hosts are 1, 2, … where the file says nothing.
    pub lids: BTreeMap<u32, u32>,
}

impl From<Topology> for Imported {
    fn from(topology: Topology) -> Self {
        let lids = (0..topology.graph.hosts()).map(|host| (host + 1, host)).collect();
        Self { topology, lids }
    }
}

/// Reads a topology in the format that its text shows: XML is SimGrid's, lines that begin with
/// `Switch` or `Ca` are of `ibnetdiscover`, those that begin with `host,`, `switch,` or `link,` are
/// CSV, anything else is TOML. What no text has in it is a mistake of its own.
pub fn any(text: &str) -> Result<Imported, Faults> {
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

/// The line and column, from 1, of a byte of a text.
pub fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = text.get(..end).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before.get(start..).map_or(0, |rest| rest.chars().count()) + 1)
}
