//! Neighbourhood collectives, on Cartesian and graph communicators: all messages at once, as both
//! Open MPI and MPICH do.

use crate::plan::{Plan, Region};

/// Returns one rank's part of a `neighbor_allgather` or `neighbor_alltoall` (and their v- and
/// w-forms): receives from the `sources`, sends to the `destinations`, in this order. The same
/// neighbour may stand in both lists, and several times in one: then its messages match in the
/// order of the lists. (A caller with a periodic dimension of two ranks, where left and right are
/// the same one, lists the destinations of that dimension in the other order than the sources.) An
/// allgather names the same region for all destinations.
pub fn exchange(sources: &[(u32, Region)], destinations: &[(u32, Region)]) -> Plan {
    let mut plan = Plan::new();
    for &(rank, into) in sources {
        plan.irecv(rank, into);
    }
    for &(rank, from) in destinations {
        plan.isend(rank, from);
    }
    plan.wait_all();
    plan
}
