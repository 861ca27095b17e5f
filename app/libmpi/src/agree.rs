//! What ranks agree about besides the program's messages, and what they ask of the simulator.

use std::ffi::c_int;

use port::{Amount, Class, Command, Members, Poll};

use crate::abi::{self, Handle};
use crate::collective::{self, Contribution};
use crate::comm::Comm;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::memory::Buffer;
use crate::{mpi, p2p, request, simulator};

/// This process's rank in the world and the world's size.
pub fn connect() -> Result<(u32, u32)> {
    let port = simulator::connect()?;
    Ok((port.rank(), port.ranks()))
}

/// What all members of a communicator contribute to an agreement, by their places in the list; in an inter-communicator of both groups.
fn agreed<T>(
    comm: &Comm,
    mine: &[u8],
    read: impl FnOnce(&collective::Board) -> Result<T>,
) -> Result<T> {
    let contribution = Contribution::of(mine)?;
    let nothing = || Amount::Each(0);
    let class =
        collective::Call { class: Class::Create, root: None, element: 1, commutative: true };
    let ticket = collective::post(comm, &class, nothing(), nothing(), contribution)?;
    let port = mpi().port()?;
    port.called(port::Shape::Blocking);
    port.poll(Poll::Nothing);
    collective::finish(comm, ticket, read)
}

/// Every rank of a communicator gives bytes and gets everybody's, in rank order; of an inter-communicator, those of the local group.
pub fn exchange(comm: &Comm, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
    agreed(comm, mine, |board| {
        (0..comm.size()).map(|rank| Ok(board.local(rank)?.to_vec())).collect()
    })
}

/// Every rank of a communicator comes here before any goes on; of an inter-communicator, those of the local group.
pub fn meet(comm: &Comm) -> Result {
    agreed(comm, &[], |_| Ok(()))
}

/// Every rank of an inter-communicator gives bytes and gets those of the remote group, in rank order.
pub fn exchange_remote(comm: &Comm, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
    let remote = comm.remote.as_ref().map_or(0, Group::size);
    agreed(comm, mine, |board| (0..remote).map(|rank| Ok(board.peer(rank)?.to_vec())).collect())
}

/// Two ranks of a communicator give each other bytes: this one and `peer`, by a tag.
pub fn exchange_pair(comm: &Comm, peer: u32, tag: c_int, mine: &[u8]) -> Result<Vec<u8>> {
    let port = mpi().port()?;
    let world =
        comm.world_rank(peer).ok_or_else(|| Error::new(abi::ERR_RANK, format!("rank {peer}")))?;
    // Apart from the program's messages, of which a receive may take those with any tag.
    let context = comm.channels().ok_or_else(request::unfinished)?.context();
    let tag = port::Tag { context, tag: Some((-1 - tag).cast_unsigned()) };
    let (bytes, contents) = p2p::contents(mine)?;
    let send = port.start(&Command::Send { to: world, tag, bytes, contents, synchronous: false });
    let receive =
        port.start(&Command::Receive { from: world, tag, room: u64::MAX, at_once: false });
    port.called(port::Shape::Blocking);
    port.poll(Poll::Nothing);
    let done = port.done(receive).ok_or_else(request::unfinished)?;
    port.forget(send);
    port.forget(receive);
    let said = p2p::bytes(port, done.contents, done.bytes).to_vec();
    if done.contents != 0 {
        port.give_back(done.contents);
    }
    Ok(said)
}

/// A number for a communicator: all who ask with the same key get the same one, which nobody else has. No time passes.
pub fn context(key: &[u64]) -> u32 {
    mpi().port().map_or(u32::MAX, |port| port.context(key))
}

/// This rank has no more use for a number.
pub fn release(context: u32) {
    if let Ok(port) = mpi().port() {
        port.say(&Command::Release(context));
    }
}

/// Tells the simulator of a communicator, if it has not been told.
pub fn register(comm: &Comm) {
    let Ok(port) = mpi().port() else { return };
    if comm.registered.replace(true) {
        return;
    }
    let members = |group: &Group| Members::new(&group.iter().collect::<Vec<_>>());
    let places = |ranks: Vec<c_int>| {
        let places: Vec<_> =
            ranks.into_iter().map(|rank| u32::try_from(rank).unwrap_or(port::ANY)).collect();
        Members::new(&places)
    };
    port.say(&Command::Communicator {
        context: comm.context,
        me: comm.rank,
        local: members(&comm.local),
        remote: comm.remote.as_ref().map_or_else(|| Members::new(&[]), members),
        neighbours: comm.neighbours().map(|(from, to)| (places(from), places(to))),
    });
}

/// The host that a rank of the world is on.
pub fn host(world: u32) -> u32 {
    world
}

/// A request that is complete.
pub fn done() -> Handle {
    request::complete()
}

/// Simulated time, in picoseconds.
pub fn now() -> u64 {
    mpi().port().map_or(0, |port| port.poll(Poll::Time))
}

/// Ends all ranks of the program.
pub fn abort(code: i32) -> ! {
    simulator::abort(code)
}

/// The rank has no more to do with the others.
pub fn leave() {
    if let Ok(port) = mpi().port() {
        port.exit(0);
    }
}

/// Waits until all messages of a buffer have left.
pub fn wait_sent(buffer: &Buffer) -> Result {
    request::wait_sent(buffer)
}

/// A request that is complete when all messages of a buffer have left.
pub fn when_sent(buffer: &Buffer) -> Handle {
    // Messages leave their buffers when they are sent: the library keeps their contents.
    let _ = buffer;
    done()
}
