//! The functions of MPI on grids and graphs.

use std::ffi::c_int;

use super::dims;
use super::{Graph, Grid, Topology};
use crate::abi::{self, Handle};
use crate::argument::{In, Out, count};
use crate::error::{Error, Result};
use crate::state::mpi;
use crate::{check, control, mpi_functions};

mpi_functions! {
    fn Cart_create(
        comm_old: Handle, ndims: c_int, dims: In<c_int>, periods: In<c_int>, reorder: c_int,
        comm_cart: Out<Handle>,
    ) about Comm(comm_old) {
        // Ranks keep their numbers, which `reorder` allows.
        let _ = reorder;
        comm_cart.check()?;
        let parent = mpi().intracomm(comm_old)?;
        let grid = Grid::new(&dims.list(ndims)?, &periods.list(ndims)?)?;
        let size = fitting(grid.size(), parent.size())?;
        control::meet(&parent)?;
        comm_cart.set(parent.with_topology(size, Topology::Cart(grid))?)
    }

    fn Dims_create(nnodes: c_int, ndims: c_int, dims: Out<c_int>) {
        let mut lengths = dims.slice(count(ndims)?)?.to_vec();
        check!(nnodes > 0, ERR_ARG, "{nnodes} ranks");
        if ndims > 0 {
            dims::fill(nnodes, &mut lengths)?;
        }
        dims.set_all(lengths)
    }

    local fn Cartdim_get(comm: Handle, ndims: Out<c_int>) about Comm(comm) {
        ndims.set(mpi().grid(comm)?.1.dimensions() as c_int)
    }

    local fn Cart_get(
        comm: Handle, maxdims: c_int, dims: Out<c_int>, periods: Out<c_int>, coords: Out<c_int>,
    ) about Comm(comm) {
        let (comm, grid) = mpi().grid(comm)?;
        let room = room(maxdims, grid.dimensions())?;
        dims.set_all(grid.sides().iter().map(|&(length, _)| length).take(room))?;
        periods.set_all(grid.sides().iter().map(|&(_, ring)| c_int::from(ring)).take(room))?;
        coords.set_all(grid.coordinates(comm.rank() as c_int).into_iter().take(room))
    }

    local fn Cart_rank(comm: Handle, coords: In<c_int>, rank: Out<c_int>) about Comm(comm) {
        let (_, grid) = mpi().grid(comm)?;
        let coords = coords.list(grid.dimensions() as c_int)?;
        match grid.rank(&coords) {
            Some(found) => rank.set(found),
            None => Err(Error::new(abi::ERR_ARG, format!("no rank at {coords:?} of the grid"))),
        }
    }

    local fn Cart_coords(
        comm: Handle, rank: c_int, maxdims: c_int, coords: Out<c_int>
    ) about Comm(comm) {
        let (comm, grid) = mpi().grid(comm)?;
        check!(
            (0..comm.size() as c_int).contains(&rank), ERR_RANK, "rank {rank} of {}",
            comm.size()
        );
        whole(maxdims, grid.dimensions())?;
        coords.set_all(grid.coordinates(rank))
    }

    local fn Cart_shift(
        comm: Handle, direction: c_int, disp: c_int, rank_source: Out<c_int>, rank_dest: Out<c_int>,
    ) about Comm(comm) {
        let (comm, grid) = mpi().grid(comm)?;
        check!(
            usize::try_from(direction).is_ok_and(|direction| direction < grid.dimensions()),
            ERR_ARG,
            "dimension {direction} of {}",
            grid.dimensions()
        );
        let (source, destination) = grid.shift(comm.rank() as c_int, direction as usize, disp);
        rank_source.set(source)?;
        rank_dest.set(destination)
    }

    fn Cart_sub(comm: Handle, remain_dims: In<c_int>, newcomm: Out<Handle>) about Comm(comm) {
        newcomm.check()?;
        let (comm, grid) = mpi().grid(comm)?;
        let kept: Vec<bool> =
            remain_dims
                .list(grid.dimensions() as c_int)?
                .into_iter()
                .map(|keep| keep != 0)
                .collect();
        let (part, which, within) = grid.part(comm.rank() as c_int, &kept);
        newcomm.set(comm.part_with_topology(which, within, Topology::Cart(part))?)
    }

    fn Cart_map(
        comm: Handle, ndims: c_int, dims: In<c_int>, periods: In<c_int>, newrank: Out<c_int>,
    ) about Comm(comm) {
        let comm = mpi().intracomm(comm)?;
        let grid = Grid::new(&dims.list(ndims)?, &periods.list(ndims)?)?;
        let size = fitting(grid.size(), comm.size())?;
        newrank.set(if comm.rank() < size { comm.rank() as c_int } else { abi::UNDEFINED })
    }

    fn Graph_create(
        comm_old: Handle, nnodes: c_int, index: In<c_int>, edges: In<c_int>, reorder: c_int,
        comm_graph: Out<Handle>,
    ) about Comm(comm_old) {
        let _ = reorder;
        comm_graph.check()?;
        let parent = mpi().intracomm(comm_old)?;
        let graph = whole_graph(nnodes, index, edges)?;
        let size = fitting(u64::from(nnodes as u32), parent.size())?;
        control::meet(&parent)?;
        comm_graph.set(parent.with_topology(size, Topology::Graph(graph))?)
    }

    fn Graphdims_get(comm: Handle, nnodes: Out<c_int>, nedges: Out<c_int>) about Comm(comm) {
        let graph = mpi().graph(comm)?;
        let (index, edges) = graph.lists();
        nnodes.set(index.len() as c_int)?;
        nedges.set(edges.len() as c_int)
    }

    fn Graph_get(
        comm: Handle, maxindex: c_int, maxedges: c_int, index: Out<c_int>, edges: Out<c_int>,
    ) about Comm(comm) {
        let graph = mpi().graph(comm)?;
        let (its_index, its_edges) = graph.lists();
        whole(maxindex, its_index.len())?;
        whole(maxedges, its_edges.len())?;
        index.set_all(its_index.iter().copied())?;
        edges.set_all(its_edges.iter().copied())
    }

    fn Graph_neighbors_count(comm: Handle, rank: c_int, nneighbors: Out<c_int>) about Comm(comm) {
        let graph = mpi().graph(comm)?;
        nneighbors.set(of_node(&graph, rank)?.len() as c_int)
    }

    fn Graph_neighbors(
        comm: Handle, rank: c_int, maxneighbors: c_int, neighbors: Out<c_int>
    ) about Comm(comm) {
        let graph = mpi().graph(comm)?;
        let found = of_node(&graph, rank)?;
        neighbors.set_all(found.iter().copied().take(room(maxneighbors, found.len())?))
    }

    fn Graph_map(
        comm: Handle, nnodes: c_int, index: In<c_int>, edges: In<c_int>, newrank: Out<c_int>,
    ) about Comm(comm) {
        let comm = mpi().intracomm(comm)?;
        whole_graph(nnodes, index, edges)?;
        let size = fitting(u64::from(nnodes as u32), comm.size())?;
        newrank.set(if comm.rank() < size { comm.rank() as c_int } else { abi::UNDEFINED })
    }

    local fn Topo_test(comm: Handle, status: Out<c_int>) about Comm(comm) {
        status.set(match mpi().comm(comm)?.topology() {
            Some(Topology::Cart(_)) => abi::CART,
            Some(Topology::Graph(_)) => abi::GRAPH,
            Some(Topology::DistGraph(_)) => abi::DIST_GRAPH,
            None => abi::UNDEFINED,
        })
    }
}

/// The number of places of a topology, which must not be more than the ranks.
fn fitting(places: u64, ranks: u32) -> Result<u32> {
    let fits = u32::try_from(places).ok().filter(|&places| places <= ranks);
    fits.ok_or_else(|| {
        Error::new(abi::ERR_ARG, format!("a topology of {places} places for {ranks} ranks"))
    })
}

/// The number of entries of a list that fit in the program's array.
fn room(most: c_int, length: usize) -> Result<usize> {
    Ok(count(most)?.min(length))
}

/// An error unless a list fits what the program has room for.
fn whole(most: c_int, length: usize) -> Result {
    check!(count(most)? >= length, ERR_ARG, "room for {most} of {length}");
    Ok(())
}

/// The graph that a program passes.
fn whole_graph(nodes: c_int, index: In<c_int>, edges: In<c_int>) -> Result<Graph> {
    let index = index.list(nodes)?;
    let edges = edges.list(index.last().copied().unwrap_or(0))?;
    Graph::new(index, edges)
}

/// The neighbours of a node that must be in the graph.
fn of_node(graph: &Graph, node: c_int) -> Result<&[c_int]> {
    let nodes = graph.lists().0.len();
    check!(
        usize::try_from(node).is_ok_and(|node| node < nodes),
        ERR_RANK,
        "rank {node} in a graph of {nodes}"
    );
    Ok(graph.neighbours(node))
}
