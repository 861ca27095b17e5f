//! Broadcast, gather and scatter.

use std::rc::Rc;

use rank_ipc::{Amount, Collective};

use super::board::Blocks;
use super::{Call, Contribution, Role, begin, in_place, role};
use crate::abi::Handle;
use crate::error::Result;
use crate::mpi;
use crate::p2p::Data;
use crate::request::Starter;

/// The blocks of a buffer: count and displacement, in elements.
pub type Layout = Vec<(i64, i64)>;

/// A layout of `ranks` blocks of `count` elements, one behind the other.
pub fn even(count: u64, ranks: u32) -> Layout {
    (0..i64::from(ranks)).map(|rank| (count as i64, rank.saturating_mul(count as i64))).collect()
}

/// One of them.
pub fn piece(data: &Data, (count, displacement): (i64, i64)) -> Data {
    data.at(displacement, count.max(0) as u64)
}

/// All of them.
pub fn pieces(data: &Data, layout: &Layout) -> impl Iterator<Item = Data> {
    layout.iter().map(|block| piece(data, *block))
}

/// Bytes of each block.
pub fn lengths(data: &Data, layout: &Layout) -> Vec<u64> {
    pieces(data, layout).map(|block| block.bytes()).collect()
}

pub fn pack(data: &Data, block: (i64, i64), into: &mut [u8]) {
    piece(data, block).pack(into);
}

pub fn unpack(data: &Data, block: (i64, i64), from: &[u8]) -> Result {
    piece(data, block).fill(from)
}

pub fn bcast(data: Data, root: i32, comm: Handle) -> Result<Starter> {
    let comm = mpi().comm(comm)?;
    let (role, number) = role(&comm, root)?;
    Ok(Box::new(move || {
        let call = Call { root: number, ..Call::new(Collective::Bcast) };
        let bytes = data.bytes();
        let amounts = (Amount::Each(bytes), Amount::Each(bytes));
        let contribution = match role {
            Role::Root => Contribution::new(bytes, |room| data.pack(room))?,
            _ => Contribution::none(),
        };
        let data = data.clone();
        begin(&comm, &call, amounts, contribution, move |board| match role {
            // Nothing is sent if there is nothing to send: nobody can tell then whether the root
            // has come.
            Role::Member(root) if bytes > 0 => {
                board.peer(root).and_then(|contents| data.fill(contents))
            }
            _ => Ok(()),
        })
    }))
}

/// Gather and gatherv: `into` is the root's buffer with its blocks.
pub fn gather(
    class: Collective,
    from: Option<Data>,
    into: Option<(Data, Layout)>,
    root: i32,
    comm: Handle,
) -> Result<Starter> {
    let comm = mpi().comm(comm)?;
    let (role, number) = role(&comm, root)?;
    Ok(Box::new(move || {
        let call = Call { root: number, ..Call::new(class) };
        let sends = Amount::Each(from.as_ref().map_or(0, Data::bytes));
        let own = into.as_ref().map(|(data, layout)| lengths(data, layout));
        let receives = of_root(class, own);
        let contribution = match &from {
            Some(data) => Contribution::new(data.bytes(), |room| data.pack(room))?,
            None => Contribution::of(&[])?,
        };
        let (into, me, keeps) = (into.clone(), comm.rank, from.is_none() && !comm.is_inter());
        begin(&comm, &call, (sends, receives), contribution, move |board| {
            let Some((data, layout)) = into.filter(|_| role == Role::Root) else { return Ok(()) };
            for (rank, block) in (0..).zip(&layout) {
                if !(keeps && rank == me) && block.0 > 0 && data.datatype.size() > 0 {
                    unpack(&data, *block, board.peer(rank)?)?;
                }
            }
            Ok(())
        })
    }))
}

/// Bytes of the root's blocks, which only the root knows.
fn of_root(class: Collective, lengths: Option<Vec<u64>>) -> Amount {
    match class {
        Collective::Gatherv | Collective::Scatterv => Amount::List(lengths.unwrap_or_default()),
        _ => Amount::Each(lengths.and_then(|lengths| lengths.first().copied()).unwrap_or(0)),
    }
}

/// Scatter and scatterv: `from` is the root's buffer with its blocks. The root's own block may stay
/// where it is.
pub fn scatter(
    class: Collective,
    from: Option<(Data, Layout)>,
    into: Option<Data>,
    root: i32,
    comm: Handle,
) -> Result<Starter> {
    let comm = mpi().comm(comm)?;
    let (role, number) = role(&comm, root)?;
    Ok(Box::new(move || {
        let call = Call { root: number, ..Call::new(class) };
        let receives = Amount::Each(into.as_ref().map_or(0, Data::bytes));
        let own = from.as_ref().map(|(data, layout)| lengths(data, layout));
        let contribution = match (&from, &own) {
            (Some((data, layout)), Some(lengths)) => {
                Contribution::blocks(lengths, &[], |rank, room| {
                    if let Some(block) = layout.get(rank) {
                        pack(data, *block, room);
                    }
                })?
            }
            _ => Contribution::none(),
        };
        let sends = of_root(class, own);
        let (into, me, is_inter) = (into.clone(), comm.rank, comm.is_inter());
        begin(&comm, &call, (sends, receives), contribution, move |board| {
            let Some(data) = into.filter(|data| data.bytes() > 0) else { return Ok(()) };
            let root = match role {
                Role::Member(root) => root,
                Role::Root if !is_inter => me,
                _ => return Ok(()),
            };
            data.fill(Blocks::new(board.peer(root)?, false).get(me as usize))
        })
    }))
}

/// Data, unless the buffer is in place.
pub fn unless_in_place(
    comm: Handle,
    address: *const std::ffi::c_void,
    data: impl FnOnce() -> Result<Data>,
) -> Result<Option<Data>> {
    let comm = mpi().comm(comm)?;
    if in_place(&comm, address.addr()) { Ok(None) } else { data().map(Some) }
}

/// The data of a rank that is not the root, or of a root that is also a member: a buffer that
/// matters only there.
pub fn own(
    comm: Handle,
    root: i32,
    address: *const std::ffi::c_void,
    data: impl FnOnce() -> Result<Data>,
) -> Result<Option<Data>> {
    let known = mpi().comm(comm)?;
    match role(&known, root)?.0 {
        Role::Root if !known.is_inter() => unless_in_place(comm, address, data),
        Role::Member(_) => data().map(Some),
        Role::Root | Role::Bystander => Ok(None),
    }
}

/// True if this rank is the root.
pub fn is_root(comm: Handle, root: i32) -> Result<bool> {
    Ok(role(&*mpi().comm(comm)?, root)?.0 == Role::Root)
}

/// The number of ranks on the other side.
pub fn peers(comm: Handle) -> Result<u32> {
    let comm = mpi().comm(comm)?;
    Ok(Rc::clone(&comm).peers().size())
}
