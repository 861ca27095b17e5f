//! The functions: each in three forms (blocking, non-blocking, persistent), and each of these with
//! counts of both widths.

use std::ffi::{c_int, c_void};

use rank_ipc::Collective;

use super::exchange::{self, Buffer};
use super::neighbor::{self, Sent};
use super::rooted::{self, Layout, even, is_root, own, peers, pieces, unless_in_place};
use super::{in_place, later, now, ready, reduction};
use crate::abi::{self, Handle};
use crate::argument::{In, Number, Out};
use crate::error::Result;
use crate::p2p::Data;
use crate::request::Starter;
use crate::{both_forms, check, mpi, mpi_functions};

/// The forms of a collective whose body gives its [`Starter`].
macro_rules! collectives {
    () => {};
    (fn $now:ident $now_c:ident $later:ident $later_c:ident $ready:ident $ready_c:ident
        ( $($argument:ident : $type:ty),* ; $comm:ident ) $body:block $($rest:tt)*) => {
        both_forms! {
            fn $now | $now_c ( $($argument: $type,)* $comm: Handle) about Comm($comm) {
                let starter: Starter = $body;
                now(&starter)
            }

            fn $later | $later_c (
                $($argument: $type,)* $comm: Handle, request: Out<Handle>
            ) about Comm($comm) {
                let starter: Starter = $body;
                later(&starter, request)
            }

            fn $ready | $ready_c (
                $($argument: $type,)* $comm: Handle, info: Handle, request: Out<Handle>
            ) about Comm($comm) {
                mpi().info_or_none(info)?;
                let starter: Starter = $body;
                ready($comm, starter, request)
            }
        }
        collectives!($($rest)*);
    };
}

/// Counts and displacements of blocks.
fn layout<C: Number, D: Number>(counts: In<C>, displacements: In<D>, ranks: u32) -> Result<Layout> {
    let (counts, places) = (counts.numbers(ranks)?, displacements.numbers(ranks)?);
    check!(counts.iter().all(|count| *count >= 0), ERR_COUNT, "a count is negative");
    Ok(counts.into_iter().zip(places).collect())
}

/// A buffer with blocks: checked as one of no elements, since they lie anywhere around its address.
fn blocks(address: *const c_void, datatype: Handle, layout: Layout) -> Result<(Data, Layout)> {
    let any = layout.iter().any(|(count, _)| *count > 0);
    let mut data = Data::new(address, c_int::from(any), datatype)?;
    data.count = 0;
    Ok((data, layout))
}

/// Elements for each of `ranks`: where there is nobody, none, wherever they are said to be.
fn for_each(
    address: *const c_void,
    count: impl Number,
    datatype: Handle,
    ranks: u32,
) -> Result<Data> {
    let count = count.wide();
    Data::new(address, if ranks == 0 { count.min(0) } else { count }, datatype)
}

/// Blocks of the same size for each of `ranks`.
fn even_blocks(
    address: *const c_void,
    count: impl Number,
    datatype: Handle,
    ranks: u32,
) -> Result<(Data, Layout)> {
    let data = for_each(address, count, datatype, ranks)?;
    let layout = even(data.count, ranks);
    Ok((data, layout))
}

fn of_blocks(blocks: (Data, Layout)) -> Buffer {
    Buffer::Uniform(blocks.0, blocks.1)
}

/// A block with a datatype of its own for each of `ranks`; displacements are in bytes.
fn each<C: Number, D: Number>(
    address: *const c_void,
    counts: In<C>,
    displacements: In<D>,
    types: In<Handle>,
    ranks: u32,
) -> Result<Buffer> {
    let layout = layout(counts, displacements, ranks)?;
    let types = types.slice(ranks)?;
    let any = layout.iter().any(|(count, _)| *count > 0);
    check!(address.addr() != abi::IN_PLACE || !any, ERR_BUFFER, "MPI_IN_PLACE is no buffer here");
    let block = |((count, place), datatype): (&(i64, i64), &Handle)| {
        Data::new(address.wrapping_byte_offset(*place as isize), *count, *datatype)
    };
    Ok(Buffer::Each(layout.iter().zip(types).map(block).collect::<Result<_>>()?))
}

/// Refuses a result that begins where a contribution begins.
fn apart(sent: &Data, received: &Data) -> Result {
    let same = sent.first().is_some() && sent.first() == received.first();
    check!(!same || mpi().hollow.get(), ERR_BUFFER, "the buffers must not be the same");
    Ok(())
}

/// Refuses a result that begins where one of several blocks begins, if both are there.
fn apart_from(one: Option<&Data>, blocks: Option<&(Data, Layout)>) -> Result {
    let (Some(one), Some((data, layout))) = (one, blocks) else { return Ok(()) };
    pieces(data, layout).try_for_each(|block| apart(one, &block))
}

/// Refuses results that begin where contributions begin, by the first two blocks that go to a rank
/// and come from it: buffers that are the same begin at the same place.
fn all_apart(sent: Option<&Buffer>, received: &Buffer) -> Result {
    let Some(sent) = sent else { return Ok(()) };
    let mut pairs = (0..).map_while(|rank| Some((sent.block(rank)?, received.block(rank)?)));
    let first = pairs.find(|(sent, received)| sent.bytes() > 0 && received.bytes() > 0);
    first.map_or(Ok(()), |(sent, received)| apart(&sent, &received))
}

/// The operand and the result of a reduction; in place, the operand is where the result goes.
fn operands(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: impl Number,
    datatype: Handle,
    comm: Handle,
) -> Result<(Data, Data)> {
    let known = mpi().comm(comm)?;
    let into = Data::new(recvbuf, count, datatype)?;
    if in_place(&known, sendbuf.addr()) {
        return Ok((into.clone(), into));
    }
    let from = Data::new(sendbuf, count, datatype)?;
    apart(&from, &into)?;
    Ok((from, into))
}

/// The operand of a reduction of which each rank gets a part; in place, it is where that part goes.
fn whole(sendbuf: *const c_void, into: &Data, count: i64, comm: Handle) -> Result<Data> {
    let datatype = into.datatype.handle();
    if in_place(&*mpi().comm(comm)?, sendbuf.addr()) {
        return Data::new(into.address.cast_const().cast(), count, datatype);
    }
    let from = Data::new(sendbuf, count, datatype)?;
    apart(&from, into)?;
    Ok(from)
}

mpi_functions! {
    fn Barrier(comm: Handle) about Comm(comm) {
        now(&exchange::meet(Collective::Barrier, comm)?)
    }

    fn Ibarrier(comm: Handle, request: Out<Handle>) about Comm(comm) {
        later(&exchange::meet(Collective::Barrier, comm)?, request)
    }

    fn Barrier_init(comm: Handle, info: Handle, request: Out<Handle>) about Comm(comm) {
        mpi().info_or_none(info)?;
        ready(comm, exchange::meet(Collective::Barrier, comm)?, request)
    }
}

collectives! {
    fn Bcast Bcast_c Ibcast Ibcast_c Bcast_init Bcast_init_c
        (buffer: *mut c_void, count: Count, datatype: Handle, root: c_int; comm) {
        // Where another rank of the group is the root, the buffer means nothing.
        let bystander = root == abi::PROC_NULL && mpi().comm(comm)?.is_inter();
        let data = if bystander {
            Data::new(std::ptr::null(), 0, abi::BYTE)?
        } else {
            Data::new(buffer, count, datatype)?
        };
        rooted::bcast(data, root, comm)?
    }

    fn Gather Gather_c Igather Igather_c Gather_init Gather_init_c
        (
            sendbuf: *const c_void, sendcount: Count, sendtype: Handle, recvbuf: *mut c_void,
            recvcount: Count, recvtype: Handle, root: c_int; comm
        ) {
        let root_here = is_root(comm, root)?;
        let into = if root_here {
            Some(even_blocks(recvbuf, recvcount, recvtype, peers(comm)?)?)
        } else {
            None
        };
        let from = own(comm, root, sendbuf, || Data::new(sendbuf, sendcount, sendtype))?;
        apart_from(from.as_ref(), into.as_ref())?;
        rooted::gather(Collective::Gather, from, into, root, comm)?
    }

    fn Gatherv Gatherv_c Igatherv Igatherv_c Gatherv_init Gatherv_init_c
        (
            sendbuf: *const c_void, sendcount: Count, sendtype: Handle, recvbuf: *mut c_void,
            recvcounts: In<Count>, displs: In<Displacement>, recvtype: Handle, root: c_int; comm
        ) {
        let root_here = is_root(comm, root)?;
        let into = if root_here {
            Some(blocks(recvbuf, recvtype, layout(recvcounts, displs, peers(comm)?)?)?)
        } else {
            None
        };
        let from = own(comm, root, sendbuf, || Data::new(sendbuf, sendcount, sendtype))?;
        apart_from(from.as_ref(), into.as_ref())?;
        rooted::gather(Collective::Gatherv, from, into, root, comm)?
    }

    fn Scatter Scatter_c Iscatter Iscatter_c Scatter_init Scatter_init_c
        (
            sendbuf: *const c_void, sendcount: Count, sendtype: Handle, recvbuf: *mut c_void,
            recvcount: Count, recvtype: Handle, root: c_int; comm
        ) {
        let root_here = is_root(comm, root)?;
        let from = if root_here {
            Some(even_blocks(sendbuf, sendcount, sendtype, peers(comm)?)?)
        } else {
            None
        };
        let into = own(comm, root, recvbuf, || Data::new(recvbuf, recvcount, recvtype))?;
        apart_from(into.as_ref(), from.as_ref())?;
        rooted::scatter(Collective::Scatter, from, into, root, comm)?
    }

    fn Scatterv Scatterv_c Iscatterv Iscatterv_c Scatterv_init Scatterv_init_c
        (
            sendbuf: *const c_void, sendcounts: In<Count>, displs: In<Displacement>,
            sendtype: Handle, recvbuf: *mut c_void, recvcount: Count, recvtype: Handle, root: c_int;
            comm
        ) {
        let root_here = is_root(comm, root)?;
        let from = if root_here {
            Some(blocks(sendbuf, sendtype, layout(sendcounts, displs, peers(comm)?)?)?)
        } else {
            None
        };
        let into = own(comm, root, recvbuf, || Data::new(recvbuf, recvcount, recvtype))?;
        apart_from(into.as_ref(), from.as_ref())?;
        rooted::scatter(Collective::Scatterv, from, into, root, comm)?
    }

    fn Allgather Allgather_c Iallgather Iallgather_c Allgather_init Allgather_init_c
        (
            sendbuf: *const c_void, sendcount: Count, sendtype: Handle, recvbuf: *mut c_void,
            recvcount: Count, recvtype: Handle; comm
        ) {
        let from = unless_in_place(comm, sendbuf, || Data::new(sendbuf, sendcount, sendtype))?;
        let into = even_blocks(recvbuf, recvcount, recvtype, peers(comm)?)?;
        apart_from(from.as_ref(), Some(&into))?;
        exchange::allgather(Collective::Allgather, from, into, comm)?
    }

    fn Allgatherv Allgatherv_c Iallgatherv Iallgatherv_c Allgatherv_init Allgatherv_init_c
        (
            sendbuf: *const c_void, sendcount: Count, sendtype: Handle, recvbuf: *mut c_void,
            recvcounts: In<Count>, displs: In<Displacement>, recvtype: Handle; comm
        ) {
        let from = unless_in_place(comm, sendbuf, || Data::new(sendbuf, sendcount, sendtype))?;
        let into = blocks(recvbuf, recvtype, layout(recvcounts, displs, peers(comm)?)?)?;
        apart_from(from.as_ref(), Some(&into))?;
        exchange::allgather(Collective::Allgatherv, from, into, comm)?
    }

    fn Alltoall Alltoall_c Ialltoall Ialltoall_c Alltoall_init Alltoall_init_c
        (
            sendbuf: *const c_void, sendcount: Count, sendtype: Handle, recvbuf: *mut c_void,
            recvcount: Count, recvtype: Handle; comm
        ) {
        let ranks = peers(comm)?;
        let from = if in_place(&*mpi().comm(comm)?, sendbuf.addr()) {
            None
        } else {
            Some(of_blocks(even_blocks(sendbuf, sendcount, sendtype, ranks)?))
        };
        let into = of_blocks(even_blocks(recvbuf, recvcount, recvtype, ranks)?);
        all_apart(from.as_ref(), &into)?;
        exchange::alltoall(Collective::Alltoall, from, into, comm)?
    }

    fn Alltoallv Alltoallv_c Ialltoallv Ialltoallv_c Alltoallv_init Alltoallv_init_c
        (
            sendbuf: *const c_void, sendcounts: In<Count>, sdispls: In<Displacement>,
            sendtype: Handle, recvbuf: *mut c_void, recvcounts: In<Count>,
            rdispls: In<Displacement>, recvtype: Handle; comm
        ) {
        let ranks = peers(comm)?;
        let from = if in_place(&*mpi().comm(comm)?, sendbuf.addr()) {
            None
        } else {
            Some(of_blocks(blocks(sendbuf, sendtype, layout(sendcounts, sdispls, ranks)?)?))
        };
        let into = of_blocks(blocks(recvbuf, recvtype, layout(recvcounts, rdispls, ranks)?)?);
        all_apart(from.as_ref(), &into)?;
        exchange::alltoall(Collective::Alltoallv, from, into, comm)?
    }

    fn Alltoallw Alltoallw_c Ialltoallw Ialltoallw_c Alltoallw_init Alltoallw_init_c
        (
            sendbuf: *const c_void, sendcounts: In<Count>, sdispls: In<Displacement>,
            sendtypes: In<Handle>, recvbuf: *mut c_void, recvcounts: In<Count>,
            rdispls: In<Displacement>, recvtypes: In<Handle>; comm
        ) {
        let ranks = peers(comm)?;
        let from = if in_place(&*mpi().comm(comm)?, sendbuf.addr()) {
            None
        } else {
            Some(each(sendbuf, sendcounts, sdispls, sendtypes, ranks)?)
        };
        let into = each(recvbuf, recvcounts, rdispls, recvtypes, ranks)?;
        all_apart(from.as_ref(), &into)?;
        exchange::alltoall(Collective::Alltoallw, from, into, comm)?
    }

    fn Reduce Reduce_c Ireduce Ireduce_c Reduce_init Reduce_init_c
        (
            sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: Handle,
            op: Handle, root: c_int; comm
        ) {
        let known = mpi().comm(comm)?;
        let root_here = is_root(comm, root)?;
        let (from, into) = if root_here && known.is_inter() {
            let into = Data::new(recvbuf, count, datatype)?;
            (into.clone(), Some(into))
        } else if root_here {
            let (from, into) = operands(sendbuf, recvbuf, count, datatype, comm)?;
            (from, Some(into))
        } else if root == abi::PROC_NULL && known.is_inter() {
            (Data::new(std::ptr::null(), 0, datatype)?, None)
        } else {
            check!(sendbuf.addr() != abi::IN_PLACE, ERR_BUFFER, "only the root reduces in place");
            (Data::new(sendbuf, count, datatype)?, None)
        };
        reduction::reduce(from, into, op, root, comm)?
    }

    fn Allreduce Allreduce_c Iallreduce Iallreduce_c Allreduce_init Allreduce_init_c
        (
            sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: Handle,
            op: Handle; comm
        ) {
        let (from, into) = operands(sendbuf, recvbuf, count, datatype, comm)?;
        reduction::allreduce(from, into, op, comm)?
    }

    fn Scan Scan_c Iscan Iscan_c Scan_init Scan_init_c
        (
            sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: Handle,
            op: Handle; comm
        ) {
        let (from, into) = operands(sendbuf, recvbuf, count, datatype, comm)?;
        reduction::scan(Collective::Scan, from, into, op, comm)?
    }

    fn Exscan Exscan_c Iexscan Iexscan_c Exscan_init Exscan_init_c
        (
            sendbuf: *const c_void, recvbuf: *mut c_void, count: Count, datatype: Handle,
            op: Handle; comm
        ) {
        let (from, into) = operands(sendbuf, recvbuf, count, datatype, comm)?;
        reduction::scan(Collective::Exscan, from, into, op, comm)?
    }

    fn Reduce_scatter Reduce_scatter_c Ireduce_scatter Ireduce_scatter_c Reduce_scatter_init
            Reduce_scatter_init_c
        (
            sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: In<Count>, datatype: Handle,
            op: Handle; comm
        ) {
        let known = mpi().comm(comm)?;
        let counts = recvcounts.numbers(known.size())?;
        check!(counts.iter().all(|count| *count >= 0), ERR_COUNT, "a count is negative");
        let counts: Vec<u64> = counts.into_iter().map(|count| count as u64).collect();
        let (all, mine) = (
            counts.iter().sum::<u64>() as i64,
            counts.get(known.rank as usize).copied().unwrap_or(0) as i64
        );
        let into = Data::new(recvbuf, mine, datatype)?;
        let from = whole(sendbuf, &into, all, comm)?;
        reduction::reduce_scatter(Collective::ReduceScatter, from, into, counts, (op, comm))?
    }

    fn Reduce_scatter_block Reduce_scatter_block_c Ireduce_scatter_block Ireduce_scatter_block_c
            Reduce_scatter_block_init Reduce_scatter_block_init_c
        (
            sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: Count, datatype: Handle,
            op: Handle; comm
        ) {
        let known = mpi().comm(comm)?;
        let into = Data::new(recvbuf, recvcount, datatype)?;
        let all = recvcount.wide().saturating_mul(i64::from(known.size()));
        let from = whole(sendbuf, &into, all, comm)?;
        let counts = vec![into.count; known.size() as usize];
        reduction::reduce_scatter(Collective::ReduceScatterBlock, from, into, counts, (op, comm))?
    }

    fn Neighbor_allgather Neighbor_allgather_c Ineighbor_allgather Ineighbor_allgather_c
            Neighbor_allgather_init Neighbor_allgather_init_c
        (
            sendbuf: *const c_void, sendcount: Count, sendtype: Handle, recvbuf: *mut c_void,
            recvcount: Count, recvtype: Handle; comm
        ) {
        let (sources, destinations) = neighbor::counts(comm)?;
        let from = Sent::All(for_each(sendbuf, sendcount, sendtype, destinations)?);
        neighbor::collective(
            Collective::NeighborAllgather, from,
            of_blocks(even_blocks(recvbuf, recvcount, recvtype, sources)?), comm
        )?
    }

    fn Neighbor_allgatherv Neighbor_allgatherv_c Ineighbor_allgatherv Ineighbor_allgatherv_c
            Neighbor_allgatherv_init Neighbor_allgatherv_init_c
        (
            sendbuf: *const c_void, sendcount: Count, sendtype: Handle, recvbuf: *mut c_void,
            recvcounts: In<Count>, displs: In<Displacement>, recvtype: Handle; comm
        ) {
        let (sources, destinations) = neighbor::counts(comm)?;
        let from = Sent::All(for_each(sendbuf, sendcount, sendtype, destinations)?);
        neighbor::collective(
            Collective::NeighborAllgatherv, from,
            of_blocks(blocks(recvbuf, recvtype, layout(recvcounts, displs, sources)?)?), comm
        )?
    }

    fn Neighbor_alltoall Neighbor_alltoall_c Ineighbor_alltoall Ineighbor_alltoall_c
            Neighbor_alltoall_init Neighbor_alltoall_init_c
        (
            sendbuf: *const c_void, sendcount: Count, sendtype: Handle, recvbuf: *mut c_void,
            recvcount: Count, recvtype: Handle; comm
        ) {
        let (sources, destinations) = neighbor::counts(comm)?;
        let from = Sent::Each(of_blocks(even_blocks(sendbuf, sendcount, sendtype, destinations)?));
        neighbor::collective(
            Collective::NeighborAlltoall, from,
            of_blocks(even_blocks(recvbuf, recvcount, recvtype, sources)?), comm
        )?
    }

    fn Neighbor_alltoallv Neighbor_alltoallv_c Ineighbor_alltoallv Ineighbor_alltoallv_c
            Neighbor_alltoallv_init Neighbor_alltoallv_init_c
        (
            sendbuf: *const c_void, sendcounts: In<Count>, sdispls: In<Displacement>,
            sendtype: Handle, recvbuf: *mut c_void, recvcounts: In<Count>,
            rdispls: In<Displacement>, recvtype: Handle; comm
        ) {
        let (sources, destinations) = neighbor::counts(comm)?;
        let from = Sent::Each(
            of_blocks(blocks(sendbuf, sendtype, layout(sendcounts, sdispls, destinations)?)?)
        );
        neighbor::collective(
            Collective::NeighborAlltoallv, from,
            of_blocks(blocks(recvbuf, recvtype, layout(recvcounts, rdispls, sources)?)?), comm
        )?
    }

    fn Neighbor_alltoallw Neighbor_alltoallw_c Ineighbor_alltoallw Ineighbor_alltoallw_c
            Neighbor_alltoallw_init Neighbor_alltoallw_init_c
        (
            sendbuf: *const c_void, sendcounts: In<Count>, sdispls: In<isize>,
            sendtypes: In<Handle>, recvbuf: *mut c_void, recvcounts: In<Count>, rdispls: In<isize>,
            recvtypes: In<Handle>; comm
        ) {
        let (sources, destinations) = neighbor::counts(comm)?;
        let from = Sent::Each(each(sendbuf, sendcounts, sdispls, sendtypes, destinations)?);
        neighbor::collective(
            Collective::NeighborAlltoallw, from,
            each(recvbuf, recvcounts, rdispls, recvtypes, sources)?, comm
        )?
    }
}
