//! Graphs of which a rank knows its own edges.

use std::ffi::c_int;

use crate::comm::Comm;
use crate::control;
use crate::error::Result;

/// A rank's edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// Rank and weight of those who send to it.
    pub(super) sources: Vec<(c_int, c_int)>,
    /// Rank and weight of those whom it sends to.
    pub(super) destinations: Vec<(c_int, c_int)>,
    /// The program gave weights.
    pub(super) weighted: bool,
}

/// An edge of a graph that somebody names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) source: c_int,
    pub(super) destination: c_int,
    pub(super) weight: c_int,
}

impl Edges {
    /// The ranks that send to the rank, and those that it sends to.
    pub(super) fn neighbours(&self) -> (Vec<c_int>, Vec<c_int>) {
        let ranks = |list: &[(c_int, c_int)]| list.iter().map(|&(rank, _)| rank).collect();
        (ranks(&self.sources), ranks(&self.destinations))
    }

    /// The edges of this rank among those that the ranks of a communicator name, each some of them.
    /// They come in the order of who names them. Weights are weights if any rank gives some.
    pub(super) fn gathered(comm: &Comm, named: &[Edge], weighted: bool) -> Result<Self> {
        let mine: Vec<u8> = std::iter::once(c_int::from(weighted))
            .chain(named.iter().flat_map(|edge| [edge.source, edge.destination, edge.weight]))
            .flat_map(c_int::to_le_bytes)
            .collect();
        let mut edges = Self { weighted, ..Self::default() };
        for said in control::exchange(comm, &mine)? {
            let (words, _) = said.as_chunks::<4>();
            let words: Vec<c_int> = words.iter().map(|word| c_int::from_le_bytes(*word)).collect();
            let Some((&its_weighted, named)) = words.split_first() else { continue };
            edges.weighted |= its_weighted != 0;
            let (named, _) = named.as_chunks::<3>();
            for &[source, destination, weight] in named {
                if destination == comm.rank() as c_int {
                    edges.sources.push((source, weight));
                }
                if source == comm.rank() as c_int {
                    edges.destinations.push((destination, weight));
                }
            }
        }
        Ok(edges)
    }
}
