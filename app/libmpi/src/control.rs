//! Communication of the library itself: what ranks agree on besides the program's messages, and
//! what they ask of the simulator.

use std::ffi::c_int;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use rank_ipc::{Amount, Collective, Command, Members, MpiUse, Offset, Poll, Shape, Ticket};

use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::collective::{self, Contribution};
use crate::comm::{self, Comm};
use crate::environment::Identity;
use crate::error::{Error, Result};
use crate::group::{Group, told};
use crate::memory::Buffer;
use crate::{check, mpi, p2p, request, simulator, threads, zero_copy};

/// Connects with the simulator and returns the identity of this process.
pub fn connect() -> Result<Identity> {
    let simulator::Connected { universe, program, birth } = simulator::connect()?;
    let mpi = mpi();
    let port = mpi.port()?;
    let (rank, first) = (port.rank(), port.ranks());
    let most = port.memory().layout().ranks();
    let birth = (birth != 0).then(|| {
        // It begins with its length.
        let length = port.memory().word(birth).load(Ordering::Acquire);
        let told = p2p::bytes(port, birth, length).to_vec();
        zero_copy::release(port, birth);
        told
    });
    Ok(Identity { rank, first, most, universe, program, birth })
}

/// Starts processes; gives the ranks that they are to be.
pub fn start(programs: &[rank_ipc::start::Start]) -> Result<Vec<u32>> {
    let started = mpi().port()?.start_processes(programs);
    started.map_err(|why| Error::new(abi::ERR_SPAWN, why))
}

/// Exchanges `mine` among all members of a communicator and reads all contributions, in the order
/// of members; in an inter-communicator both groups take part.
fn agreed<T>(
    comm: &Comm,
    mine: &[u8],
    read: impl FnOnce(&collective::Board) -> Result<T>,
) -> Result<T> {
    let contribution = Contribution::of(mine)?;
    let nothing = || Amount::Each(0);
    let create = collective::Call {
        collective: Collective::Create,
        root: None,
        element: 1,
        commutative: true,
    };
    let mpi = mpi();
    let port = mpi.port()?;
    let ticket = simulator::tell(port, false, || {
        let ticket = collective::post(comm, &create, nothing(), nothing(), contribution)?;
        threads::finish(port, &[ticket]);
        Result::Ok(ticket)
    })?;
    collective::finish(comm, ticket, read)
}

/// Every rank of a communicator gives bytes and gets everybody's, in rank order; of an
/// inter-communicator, those of the local group.
pub fn exchange(comm: &Comm, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
    agreed(comm, mine, |board| {
        (0..comm.size()).map(|rank| Ok(board.local(rank)?.to_vec())).collect()
    })
}

/// Every rank of a communicator comes here before any goes on; of an inter-communicator, those of
/// the local group.
pub fn meet(comm: &Comm) -> Result {
    agreed(comm, &[], |_| Ok(()))
}

/// Every rank of a communicator gives bytes and gets those of the local group, and those of the
/// remote one if there is one.
pub fn exchange_both(comm: &Comm, mine: &[u8]) -> Result<[Vec<Vec<u8>>; 2]> {
    let remote = comm.remote.as_ref().map_or(0, Group::size);
    agreed(comm, mine, |board| {
        let local = (0..comm.size()).map(|rank| Ok(board.local(rank)?.to_vec()));
        let remote = (0..remote).map(|rank| Ok(board.peer(rank)?.to_vec()));
        Ok([local.collect::<Result<_>>()?, remote.collect::<Result<_>>()?])
    })
}

/// A number that all ranks of a communicator can read and change.
#[derive(Debug)]
pub struct Word {
    place: Offset,
    mine: bool,
}

impl Word {
    /// A new one, 0; all ranks make it.
    pub fn new(comm: &Comm) -> Result<Self> {
        let mine = comm.rank() == 0;
        let mut place = 0;
        if mine {
            place = p2p::block(8)?;
            mpi().port()?.memory().word(place).store(0, Ordering::Release);
        }
        let places = exchange(comm, &place.to_le_bytes())?;
        let first = places.first().and_then(|first| first.as_slice().try_into().ok());
        Ok(Self { place: first.map_or(0, u64::from_le_bytes), mine })
    }

    fn with<T>(&self, act: impl FnOnce(&AtomicU64) -> T) -> Result<T> {
        Ok(act(mpi().port()?.memory().word(self.place)))
    }

    /// Reads the word.
    pub fn get(&self) -> Result<u64> {
        self.with(|word| word.load(Ordering::Acquire))
    }

    /// Changes it.
    pub fn set(&self, value: u64) -> Result {
        self.with(|word| word.store(value, Ordering::Release))
    }

    /// Adds to it; gives what it was before.
    pub fn add(&self, more: u64) -> Result<u64> {
        self.with(|word| word.fetch_add(more, Ordering::AcqRel))
    }

    /// All ranks have met after the last use.
    pub fn end(&self) {
        if let (true, Ok(port)) = (self.mine, mpi().port()) {
            port.give_back(self.place);
        }
    }
}

/// A question that the first of two ranks who come to it in simulated time decides.
#[derive(Clone, Copy, Debug)]
pub struct Decision(Offset);

impl Decision {
    /// A new one, which is open.
    pub fn new() -> Result<Self> {
        let place = p2p::block(8)?;
        mpi().port()?.memory().word(place).store(0, Ordering::Release);
        Ok(Self(place))
    }

    /// The number by which another rank knows it.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The decision that another rank made, by its number.
    pub const fn of(number: u64) -> Self {
        Self(number)
    }

    /// This rank comes to it; gives whether it is the first.
    pub fn is_mine(self) -> Result<bool> {
        let mpi = mpi();
        let port = mpi.port()?;
        port.order();
        let word = port.memory().word(self.0);
        Ok(word.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire).is_ok())
    }

    /// Both have come to it: it is forgotten.
    pub fn end(self) {
        if let Ok(port) = mpi().port() {
            port.give_back(self.0);
        }
    }
}

/// Lets the other ranks do what they do before this moment of simulated time: when what this one
/// computed so far has passed.
pub fn settle() {
    if let Ok(port) = mpi().port() {
        mpi().moment.set(simulator::tell(port, true, || port.poll(Poll::Turn)));
        port.order();
    }
}

/// Two ranks of a communicator give each other bytes: this one and `peer`, by a tag.
pub fn exchange_pair(comm: &Comm, peer: u32, tag: c_int, mine: &[u8]) -> Result<Vec<u8>> {
    let mpi = mpi();
    let port = mpi.port()?;
    let world =
        comm.world_rank(peer).ok_or_else(|| Error::new(abi::ERR_RANK, format!("rank {peer}")))?;
    register(comm);
    // Negative tags are not the program's.
    let tag = rank_ipc::Tag { context: comm.context, tag: Some((-1 - tag).cast_unsigned()) };
    let (bytes, contents) = p2p::contents(mine)?;
    let send = port.start(&Command::Send { to: world, tag, bytes, contents, synchronous: false });
    let receive = port.start(&Command::receive(world, tag, u64::MAX));
    threads::finish(port, &[send, receive]);
    let done = port.done(receive).ok_or_else(request::unfinished)?;
    port.forget(send);
    port.forget(receive);
    let said = p2p::bytes(port, done.contents, done.bytes).to_vec();
    zero_copy::release(port, done.contents);
    Ok(said)
}

/// Tells a rank of the world something, in the name of nobody's communicator: by a number that both
/// know.
pub fn tell(world: u32, number: u32, mine: &[u8]) -> Result {
    let mpi = mpi();
    let port = mpi.port()?;
    let (bytes, contents) = p2p::contents(mine)?;
    let tag = rank_ipc::Tag { context: comm::OWN, tag: Some(u32::MAX - number) };
    let send = port.start(&Command::Send { to: world, tag, bytes, contents, synchronous: false });
    threads::finish_later(port, &[send]);
    port.forget(send);
    Ok(())
}

/// Tells a process that was started who it is: that makes it a rank.
pub fn tell_birth(rank: u32, birth: &[u8]) -> Result {
    tell(rank, u32::MAX - rank_ipc::BIRTH, birth)
}

/// Starts to listen to what a rank of the world tells by a number, or any does.
pub fn listen(world: u32, number: u32) -> Result<Ticket> {
    let tag = rank_ipc::Tag { context: comm::OWN, tag: Some(u32::MAX - number) };
    Ok(mpi().port()?.start(&Command::receive(world, tag, u64::MAX)))
}

/// Waits for what a rank of the world tells by a number, or any does; gives which, and what.
pub fn hear(world: u32, number: u32) -> Result<(u32, Vec<u8>)> {
    let receive = listen(world, number)?;
    threads::finish(mpi().port()?, &[receive]);
    said(receive)
}

/// Waits until something is heard, for so many picoseconds at most. Gives whether it was.
pub fn is_heard_within(receive: Ticket, limit: u64) -> Result<bool> {
    let mpi = mpi();
    let port = mpi.port()?;
    port.called(Shape::Posted);
    let alarm = port.start(&Command::Alarm(port.computed().saturating_add(limit)));
    threads::wait(port, false, &[receive, alarm]);
    port.forget(alarm);
    Ok(port.is_done(receive))
}

/// Listens no longer.
pub fn withdraw(receive: Ticket) -> Result {
    let mpi = mpi();
    let port = mpi.port()?;
    port.say(&Command::Cancel(receive));
    threads::wait(port, true, &[receive]);
    port.forget(receive);
    Ok(())
}

/// Waits for what is listened to; gives who told it, and what.
pub fn heard(receive: Ticket) -> Result<(u32, Vec<u8>)> {
    threads::wait(mpi().port()?, true, &[receive]);
    said(receive)
}

/// Takes in the message that was heard and returns its sender and its bytes.
fn said(receive: Ticket) -> Result<(u32, Vec<u8>)> {
    let mpi = mpi();
    let port = mpi.port()?;
    let done = port.done(receive).ok_or_else(request::unfinished)?;
    port.forget(receive);
    let said = p2p::bytes(port, done.contents, done.bytes).to_vec();
    zero_copy::release(port, done.contents);
    Ok((done.source, said))
}

/// This rank has no more use for a number that so many ranks use.
pub fn release(context: u64, members: u32) {
    if let Ok(port) = mpi().port() {
        port.say(&Command::Release(context, members));
    }
}

/// Tells the simulator of a communicator, if it has not been told.
pub fn register(comm: &Comm) {
    if comm.registered.get() {
        return;
    }
    let mpi = mpi();
    let Ok(port) = mpi.port() else { return };
    comm.registered.set(true);
    let places = |ranks: Vec<c_int>| {
        let places: Vec<_> =
            ranks.into_iter().map(|rank| u32::try_from(rank).unwrap_or(rank_ipc::ANY)).collect();
        Members::new(&places)
    };
    port.say(&Command::Communicator {
        context: comm.context,
        me: comm.rank,
        local: told(&comm.local),
        remote: comm.remote.as_ref().map_or_else(|| Members::new(&[]), told),
        neighbours: comm.neighbours().map(|(from, to)| (places(from), places(to))),
    });
}

/// Tells the simulator of a context of two ranks, which may be one; this one has the given place in
/// the pair.
pub fn register_pair(context: u64, me: u32, pair: [u32; 2]) {
    let mpi = mpi();
    let Ok(port) = mpi.port() else { return };
    let (local, remote) = (Members::new(&pair), Members::new(&[]));
    port.say(&Command::Communicator { context, me, local, remote, neighbours: None });
}

/// The host that a rank of the world is on.
pub fn host(world: u32) -> u32 {
    let known = mpi().port.get().and_then(|port| rank_ipc::hosts::host(port.memory(), world));
    known.unwrap_or(world)
}

/// True if two ranks of the world can share memory. Where hosts are not known, all can.
pub fn share_memory(one: u32, other: u32) -> bool {
    let of = |rank| rank_ipc::hosts::host(mpi().port.get()?.memory(), rank);
    of(one) == of(other)
}

/// The name of the host that a rank of the world is on.
pub fn host_name(world: u32) -> String {
    let known = mpi().port.get().and_then(|port| rank_ipc::hosts::name(port.memory(), world));
    known.unwrap_or_else(|| format!("host{world}"))
}

/// Starts [`meet`] and makes a request that waits for it.
pub fn meet_later(comm: Handle, request: Out<Handle>) -> Result {
    collective::meet_later(comm, request)
}

/// A request that is complete.
pub fn done() -> Handle {
    request::complete()
}

/// Simulated time, in picoseconds.
pub fn now() -> u64 {
    simulator::look(simulator::time)
}

/// Ends all ranks of the program.
pub fn abort(code: i32) -> ! {
    simulator::abort(code)
}

/// The rank uses MPI from now on, for the first time or again.
pub fn begin() -> Result {
    let mpi = mpi();
    let port = mpi.port()?;
    check!(
        !port.has_left(),
        ERR_OTHER,
        "after MPI_Finalize, when no session was open, no session can begin"
    );
    port.note(MpiUse::Now);
    Ok(())
}

/// The rank's last session is over: it may begin another, or end. What it has said of its calls
/// reaches the simulator first, as a process that ends says no more.
pub fn rest() {
    if let Ok(port) = mpi().port() {
        port.poll(Poll::Nothing);
        port.note(MpiUse::Before);
    }
}

/// The rank has no more to do with the others.
pub fn leave() {
    if let Ok(port) = mpi().port() {
        port.exit();
        port.note(MpiUse::Before);
    }
}

/// Waits until all messages of a buffer have left.
pub fn wait_sent(buffer: &Buffer) -> Result {
    request::wait_sent(buffer)
}

/// A request that is complete when all messages of a buffer have left.
pub fn when_sent(buffer: &Rc<Buffer>) -> Handle {
    request::when_sent(buffer)
}
