//! Collectives among neighbours of a topology (MPI 4.1, section 8.6).

use rank_ipc::{Amount, Collective};

use super::board::Blocks;
use super::exchange::{Buffer, amount};
use super::{Call, Contribution, begin};
use crate::abi::{self, Handle};
use crate::error::{Error, Result};
use crate::p2p::Data;
use crate::request::Starter;
use crate::{mpi, topology};

type Ranks = Vec<std::ffi::c_int>;

/// The neighbours of this rank: from whom it receives, and to whom it sends.
pub fn neighbours(comm: Handle) -> Result<(Ranks, Ranks)> {
    let comm = mpi().comm(comm)?;
    comm.neighbours()
        .ok_or_else(|| Error::new(abi::ERR_TOPOLOGY, "the communicator has no topology"))
}

/// The data that goes to the neighbours: the same for all, or a block each.
#[derive(Clone, Debug)]
pub enum Sent {
    /// All get the same.
    All(Data),
    /// A block each.
    Each(Buffer),
}

/// A collective among neighbours.
pub fn collective(class: Collective, from: Sent, into: Buffer, comm: Handle) -> Result<Starter> {
    let (sources, destinations) = neighbours(comm)?;
    let comm = mpi().comm(comm)?;
    let is_grid = matches!(comm.topology(), Some(topology::Topology::Cart(_)));
    Ok(Box::new(move || {
        let (lengths, sends) = match &from {
            Sent::All(data) => (vec![data.bytes()], Amount::Each(data.bytes())),
            Sent::Each(buffer) => (buffer.lengths(), amount(class, buffer.lengths())),
        };
        let whom: Vec<u64> = match &from {
            Sent::All(_) => vec![0],
            Sent::Each(_) => {
                destinations.iter().map(|rank| u64::from(rank.cast_unsigned())).collect()
            }
        };
        let contribution = Contribution::blocks(&lengths, &whom, |number, room| match &from {
            Sent::All(data) => data.pack(room),
            Sent::Each(buffer) => buffer.pack(number, room),
        })?;
        let amounts = (sends, amount(class, into.lengths()));
        let (into, sources, me) = (into.clone(), sources.clone(), u64::from(comm.rank));
        let all = matches!(from, Sent::All(_));
        begin(&comm, &Call::new(class), amounts, contribution, move |board| {
            for (number, source) in sources.iter().enumerate() {
                let Ok(source) = u32::try_from(*source) else { continue };
                let blocks = Blocks::new(board.peer(source)?, true);
                let block = if all {
                    0
                } else if is_grid {
                    // A block that leaves one way along a dimension comes in from the other side.
                    number ^ 1
                } else {
                    // The blocks of a rank are in the order of the edges from there.
                    let earlier = sources
                        .iter()
                        .take(number)
                        .filter(|other| **other == source.cast_signed())
                        .count();
                    let mut edges = blocks.numbers().enumerate().filter(|(_, whom)| *whom == me);
                    edges.nth(earlier).map_or(0, |(block, _)| block)
                };
                into.unpack(number, blocks.get(block))?;
            }
            Ok(())
        })
    }))
}

/// The number of neighbours that send to a rank in its topology, and of those that it sends to.
pub fn counts(comm: Handle) -> Result<(u32, u32)> {
    let (sources, destinations) = neighbours(comm)?;
    Ok((sources.len() as u32, destinations.len() as u32))
}
