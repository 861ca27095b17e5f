//! Process topologies (MPI 4.1, chapter 8): who is whose neighbour.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::{self, Handle};
use crate::comm::Comm;
use crate::error::{Error, Result};
use crate::state::Mpi;

mod cart;
mod dims;
mod dist_functions;
mod dist_graph;
mod functions;
mod graph;
#[cfg(test)]
mod tests;

pub use cart::Grid;
pub use dist_graph::Edges;
pub use graph::Graph;

/// A topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A grid.
    Cart(Grid),
    /// A graph that every rank knows whole.
    Graph(Graph),
    /// A graph of which a rank knows its own edges.
    DistGraph(Edges),
}

impl Topology {
    /// The ranks that a rank receives from and sends to in neighbourhood collectives, in the order
    /// of their buffers.
    pub fn neighbours(&self, rank: u32) -> (Vec<c_int>, Vec<c_int>) {
        match self {
            Self::Cart(grid) => {
                let both = grid.neighbours(rank as c_int);
                (both.clone(), both)
            }
            Self::Graph(graph) => {
                let both = graph.neighbours(rank as c_int).to_vec();
                (both.clone(), both)
            }
            Self::DistGraph(edges) => edges.neighbours(),
        }
    }
}

impl Mpi {
    /// The grid of a communicator.
    fn grid(&self, handle: Handle) -> Result<(Rc<Comm>, Grid)> {
        let comm = self.comm(handle)?;
        match comm.topology() {
            Some(Topology::Cart(grid)) => {
                let grid = grid.clone();
                Ok((comm, grid))
            }
            _ => Err(without(&comm, "grid")),
        }
    }

    /// The graph of a communicator.
    fn graph(&self, handle: Handle) -> Result<Graph> {
        let comm = self.comm(handle)?;
        match comm.topology() {
            Some(Topology::Graph(graph)) => Ok(graph.clone()),
            _ => Err(without(&comm, "graph")),
        }
    }

    /// The edges of this rank in the distributed graph of a communicator.
    fn edges(&self, handle: Handle) -> Result<Edges> {
        let comm = self.comm(handle)?;
        match comm.topology() {
            Some(Topology::DistGraph(edges)) => Ok(edges.clone()),
            _ => Err(without(&comm, "distributed graph")),
        }
    }
}

fn without(comm: &Comm, what: &str) -> Error {
    Error::new(abi::ERR_TOPOLOGY, format!("{} has no {what}", comm.display_name()))
}
