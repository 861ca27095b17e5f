//! Collectives in which all get something from all: barrier, allgather, alltoall.

use rank_ipc::{Amount, Collective};

use super::board::Blocks;
use super::rooted::{Layout, lengths, pack, piece, unpack};
use super::{Call, Contribution, begin};
use crate::abi::Handle;
use crate::error::Result;
use crate::mpi;
use crate::p2p::Data;
use crate::request::Starter;

/// All meet: a barrier, or the making of a communicator.
pub fn meet(class: Collective, comm: Handle) -> Result<Starter> {
    let comm = mpi().comm(comm)?;
    Ok(Box::new(move || {
        let amounts = (Amount::Each(0), Amount::Each(0));
        begin(&comm, &Call::new(class), amounts, Contribution::none(), |_| Ok(()))
    }))
}

/// Allgather and allgatherv; in place, the own block of `into` is what is contributed.
pub fn allgather(
    class: Collective,
    from: Option<Data>,
    into: (Data, Layout),
    comm: Handle,
) -> Result<Starter> {
    let comm = mpi().comm(comm)?;
    Ok(Box::new(move || {
        let (data, layout) = into.clone();
        let keeps = from.is_none();
        let own = || {
            let (count, displacement) = layout.get(comm.rank as usize).copied().unwrap_or_default();
            data.at(displacement, count.max(0) as u64)
        };
        let mine = from.clone().unwrap_or_else(own);
        let contribution = Contribution::new(mine.bytes(), |room| mine.pack(room))?;
        let lengths = lengths(&data, &layout);
        let (receives, element) = match class {
            Collective::Allgatherv => (Amount::List(lengths), data.datatype.size().max(1)),
            _ => (Amount::Each(lengths.first().copied().unwrap_or(0)), 1),
        };
        let call = Call { element, ..Call::new(class) };
        let me = comm.rank;
        begin(&comm, &call, (Amount::Each(mine.bytes()), receives), contribution, move |board| {
            for (rank, block) in (0..).zip(&layout) {
                if !(keeps && rank == me) && block.0 > 0 && data.datatype.size() > 0 {
                    unpack(&data, *block, board.peer(rank)?)?;
                }
            }
            Ok(())
        })
    }))
}

/// A buffer for an alltoall: a datatype for each block in the w-form, else one for all.
#[derive(Clone, Debug)]
pub enum Buffer {
    /// Of one datatype.
    Uniform(Data, Layout),
    /// A block each.
    Each(Vec<Data>),
}

impl Buffer {
    pub fn block(&self, number: usize) -> Option<Data> {
        match self {
            Self::Uniform(data, layout) => layout.get(number).map(|block| piece(data, *block)),
            Self::Each(blocks) => blocks.get(number).cloned(),
        }
    }

    pub fn lengths(&self) -> Vec<u64> {
        match self {
            Self::Uniform(data, layout) => lengths(data, layout),
            Self::Each(blocks) => blocks.iter().map(Data::bytes).collect(),
        }
    }

    pub fn pack(&self, number: usize, room: &mut [u8]) {
        match self {
            Self::Uniform(data, layout) => {
                if let Some(block) = layout.get(number) {
                    pack(data, *block, room);
                }
            }
            Self::Each(blocks) => {
                blocks.iter().skip(number).take(1).for_each(|block| block.pack(room));
            }
        }
    }

    pub fn unpack(&self, number: usize, from: &[u8]) -> Result {
        match self {
            Self::Uniform(data, layout) => {
                layout.get(number).map_or(Ok(()), |block| unpack(data, *block, from))
            }
            Self::Each(blocks) => blocks.get(number).map_or(Ok(()), |block| block.fill(from)),
        }
    }
}

/// Bytes for each of several; as one number where the class has one.
pub fn amount(class: Collective, lengths: Vec<u64>) -> Amount {
    let even = matches!(
        class,
        Collective::Alltoall | Collective::NeighborAlltoall | Collective::NeighborAllgather
    );
    if even { Amount::Each(lengths.first().copied().unwrap_or(0)) } else { Amount::List(lengths) }
}

/// Alltoall, alltoallv and alltoallw; in place, what is sent is what `into` holds.
pub fn alltoall(
    class: Collective,
    from: Option<Buffer>,
    into: Buffer,
    comm: Handle,
) -> Result<Starter> {
    let comm = mpi().comm(comm)?;
    Ok(Box::new(move || {
        let source = from.as_ref().unwrap_or(&into);
        let sent = source.lengths();
        let contribution = Contribution::blocks(&sent, &[], |rank, room| source.pack(rank, room))?;
        let received = into.lengths();
        let amounts = (amount(class, sent), amount(class, received.clone()));
        let (into, me) = (into.clone(), comm.rank as usize);
        begin(&comm, &Call::new(class), amounts, contribution, move |board| {
            for (rank, _) in received.iter().enumerate().filter(|(_, length)| **length > 0) {
                into.unpack(rank, Blocks::new(board.peer(rank as u32)?, false).get(me))?;
            }
            Ok(())
        })
    }))
}
