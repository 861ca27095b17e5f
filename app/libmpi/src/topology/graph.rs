//! Graphs that every rank knows whole.

use std::ffi::c_int;

use crate::check;
use crate::error::Result;

/// A graph in MPI's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The end of each node's neighbours in the list of edges.
    index: Vec<c_int>,
    edges: Vec<c_int>,
}

impl Graph {
    /// A graph, whose index must not fall and whose edges must lead to its nodes.
    pub(super) fn new(index: Vec<c_int>, edges: Vec<c_int>) -> Result<Self> {
        let nodes = index.len() as c_int;
        let mut before = 0;
        for &end in &index {
            check!(end >= before, ERR_ARG, "the graph's index falls from {before} to {end}");
            before = end;
        }
        check!(before as usize == edges.len(), ERR_ARG, "{} edges of {before}", edges.len());
        for edge in &edges {
            check!((0..nodes).contains(edge), ERR_ARG, "an edge to node {edge} of {nodes}");
        }
        Ok(Self { index, edges })
    }

    /// The end of each node's neighbours, and the neighbours of all.
    pub(super) fn lists(&self) -> (&[c_int], &[c_int]) {
        (&self.index, &self.edges)
    }

    /// The neighbours of a node.
    pub(super) fn neighbours(&self, node: c_int) -> &[c_int] {
        let end = |node: c_int| {
            usize::try_from(node).ok().and_then(|node| self.index.get(node)).map_or(0, |&end| end)
        };
        self.edges.get(end(node - 1) as usize..end(node) as usize).unwrap_or_default()
    }
}
