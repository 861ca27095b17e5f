//! The functions of MPI on graphs of which a rank knows its own edges.

use std::ffi::c_int;

use super::Topology;
use super::dist_graph::{Edge, Edges};
use crate::abi::{self, Handle};
use crate::argument::{In, Out, count};
use crate::error::{Error, Result};
use crate::state::mpi;
use crate::{check, control, mpi_functions};

mpi_functions! {
    fn Dist_graph_create_adjacent(
        comm_old: Handle, indegree: c_int, sources: In<c_int>, sourceweights: In<c_int>,
        outdegree: c_int, destinations: In<c_int>, destweights: In<c_int>, info: Handle,
        reorder: c_int, comm_dist_graph: Out<Handle>,
    ) about Comm(comm_old) {
        let _ = reorder;
        comm_dist_graph.check()?;
        let parent = mpi().intracomm(comm_old)?;
        mpi().info_or_none(info)?;
        let ranks = parent.size();
        let weighted = [sourceweights, destweights].iter().any(
            |list| list.address() as usize != abi::UNWEIGHTED
        );
        let edges = Edges {
            sources: nodes(sources, sourceweights, indegree, ranks)?,
            destinations: nodes(destinations, destweights, outdegree, ranks)?,
            weighted,
        };
        control::meet(&parent)?;
        comm_dist_graph.set(parent.with_topology(ranks, Topology::DistGraph(edges))?)
    }

    fn Dist_graph_create(
        comm_old: Handle, n: c_int, sources: In<c_int>, degrees: In<c_int>, destinations: In<c_int>,
        weights: In<c_int>, info: Handle, reorder: c_int, comm_dist_graph: Out<Handle>,
    ) about Comm(comm_old) {
        let _ = reorder;
        comm_dist_graph.check()?;
        let parent = mpi().intracomm(comm_old)?;
        mpi().info_or_none(info)?;
        let (sources, degrees) = (ranks(sources, n, parent.size())?, degrees.list(n)?);
        let mut total: c_int = 0;
        for degree in &degrees {
            check!(*degree >= 0, ERR_ARG, "a degree of {degree}");
            total = total.saturating_add(*degree);
        }
        let destinations = nodes(destinations, weights, total, parent.size())?;
        let of_edges = sources.iter().zip(&degrees).flat_map(
            |(&source, &degree)| (0..degree).map(move |_| source)
        );
        let named: Vec<Edge> = of_edges
            .zip(destinations)
            .map(|(source, (destination, weight))| Edge { source, destination, weight })
            .collect();
        let edges = Edges::gathered(
            &parent, &named, weights.address() as usize != abi::UNWEIGHTED
        )?;
        comm_dist_graph.set(parent.with_topology(parent.size(), Topology::DistGraph(edges))?)
    }

    fn Dist_graph_neighbors_count(
        comm: Handle, indegree: Out<c_int>, outdegree: Out<c_int>, weighted: Out<c_int>,
    ) about Comm(comm) {
        let edges = mpi().edges(comm)?;
        indegree.set(edges.sources.len() as c_int)?;
        outdegree.set(edges.destinations.len() as c_int)?;
        weighted.set(c_int::from(edges.weighted))
    }

    fn Dist_graph_neighbors(
        comm: Handle, maxindegree: c_int, sources: Out<c_int>, sourceweights: Out<c_int>,
        maxoutdegree: c_int, destinations: Out<c_int>, destweights: Out<c_int>,
    ) about Comm(comm) {
        let edges = mpi().edges(comm)?;
        for (list, most, ranks, weights) in [
            (&edges.sources, maxindegree, sources, sourceweights),
            (&edges.destinations, maxoutdegree, destinations, destweights),
        ] {
            let most = count(most)?;
            ranks.set_all(list.iter().map(|&(rank, _)| rank).take(most))?;
            if edges.weighted && weights.address() as usize != abi::UNWEIGHTED {
                weights.set_all(list.iter().map(|&(_, weight)| weight).take(most))?;
            }
        }
        Ok(())
    }
}

/// Ranks with the weights of their edges, 1 where the program gives none.
fn nodes(
    ranks: In<c_int>,
    weights: In<c_int>,
    number: c_int,
    size: u32,
) -> Result<Vec<(c_int, c_int)>> {
    let ranks = self::ranks(ranks, number, size)?;
    let given = ![0, abi::UNWEIGHTED, abi::WEIGHTS_EMPTY].contains(&(weights.address() as usize));
    let weights = if given { weights.list(number)? } else { vec![1; ranks.len()] };
    if let Some(weight) = weights.iter().find(|&&weight| weight < 0) {
        return Err(Error::new(abi::ERR_ARG, format!("a weight of {weight}")));
    }
    Ok(ranks.into_iter().zip(weights).collect())
}

/// A list of ranks of a communicator.
fn ranks(list: In<c_int>, number: c_int, size: u32) -> Result<Vec<c_int>> {
    let ranks = list.list(number)?;
    for rank in &ranks {
        check!(
            (0..size as c_int).contains(rank),
            ERR_RANK,
            "rank {rank} in a communicator of {size}"
        );
    }
    Ok(ranks)
}
