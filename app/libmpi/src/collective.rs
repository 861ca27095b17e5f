//! Collective communication (MPI 4.1, chapter 6).
//!
//! The simulator decides when a collective takes place: it sends and receives messages of the right
//! sizes by the algorithm that was chosen. The data moves aside from them: each rank lays down what
//! it contributes where all can read it, and when its part of the operation is over in simulated
//! time, it takes what it is to get from there. By then, all whose data it needs have contributed,
//! since their messages have reached it, if only through others.
//!
//! Reductions combine in the order of ranks, whatever the algorithm: a result does not depend on
//! the algorithm, the network, or how ranks are held.

use std::rc::Rc;

use rank_ipc::{Amount, Client, Collective, Command, Completion, Ticket};

use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::comm::Comm;
use crate::error::{Error, Result};
use crate::request::{self, Active, Request, Starter};
use crate::{control, mpi, p2p, threads};

mod board;
mod exchange;
mod functions;
mod neighbor;
mod reduction;
mod rooted;

pub use board::{Board, Contribution};

/// The properties of a call that are equal at all members of the collective.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The operation.
    pub collective: Collective,
    /// The root, as the simulator numbers members.
    pub root: Option<u32>,
    /// Bytes of an element.
    pub element: u64,
    /// The reduction commutes.
    pub commutative: bool,
}

impl Call {
    /// One without a root or a reduction.
    pub const fn new(collective: Collective) -> Self {
        Self { collective, root: None, element: 1, commutative: true }
    }
}

/// Posts this rank's part.
pub fn post(
    comm: &Comm,
    call: &Call,
    sends: Amount,
    receives: Amount,
    contribution: Contribution,
) -> Result<Ticket> {
    control::register(comm);
    let Call { collective, root, element, commutative } = *call;
    let (context, number, contents) = (comm.context, comm.next_collective(), contribution.place());
    let part = rank_ipc::CollectiveStart {
        collective,
        context,
        number,
        root,
        element,
        commutative,
        sends,
        receives,
        contents,
    };
    Ok(mpi().port()?.start(&Command::Collective(part)))
}

/// Reads what the others contributed to an operation that is done.
pub fn finish<T>(comm: &Comm, ticket: Ticket, read: impl FnOnce(&Board) -> Result<T>) -> Result<T> {
    let mpi = mpi();
    let port = mpi.port()?;
    let done = port.done(ticket).ok_or_else(request::unfinished)?;
    port.forget(ticket);
    taken(port, comm, &done, read)
}

fn taken<T>(
    port: &Client,
    comm: &Comm,
    done: &Completion,
    read: impl FnOnce(&Board) -> Result<T>,
) -> Result<T> {
    let board = Board::new(port, comm, done.contents);
    let outcome = read(&board);
    board.leave();
    outcome
}

/// Starts a collective; `read` takes in its result.
fn begin(
    comm: &Rc<Comm>,
    call: &Call,
    (sends, receives): (Amount, Amount),
    contribution: Contribution,
    read: impl FnOnce(&Board) -> Result + 'static,
) -> Result<Active> {
    let ticket = post(comm, call, sends, receives, contribution)?;
    let comm = Rc::clone(comm);
    let read = move |board: &Board| if mpi().hollow.get() { Ok(()) } else { read(board) };
    let finish = Box::new(move |done: Completion| taken(mpi().port()?, &comm, &done, read));
    Ok(Active::Collective { ticket, finish })
}

/// Carries out a collective and returns when it is over.
fn now(starter: &Starter) -> Result {
    let active = starter()?;
    let mpi = mpi();
    let port = mpi.port()?;
    threads::finish_after(port, &active.tickets(), &|| active.prefetch());
    request::end(active).map(|_| ())
}

/// Starts a collective and returns.
fn later(starter: &Starter, request: Out<Handle>) -> Result {
    request.check()?;
    p2p::posted(starter()?, request)
}

/// All ranks of a communicator meet, and a request waits for that.
pub fn meet_later(comm: Handle, request: Out<Handle>) -> Result {
    later(&exchange::meet(Collective::Create, comm)?, request)
}

/// Makes a collective ready.
fn ready(comm: Handle, starter: Starter, request: Out<Handle>) -> Result {
    let comm = mpi().comm(comm)?;
    let number = comm.persistent_collective();
    let starter = Box::new(move || comm.numbered(number(), &starter));
    request.set(mpi().requests.add(Rc::new(Request::persistent(starter))))
}

/// The part of a rank in a collective with a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It is the root.
    Root,
    /// The root is this rank of those that it talks to.
    Member(u32),
    /// It has nothing to do: another of its group is the root.
    Bystander,
}

/// Finds out a rank's part, and how the simulator calls the root.
fn role(comm: &Comm, root: i32) -> Result<(Role, Option<u32>)> {
    let wrong = || {
        Error::new(
            abi::ERR_ROOT,
            format!("root {root} of a communicator of {} ranks", comm.peers().size()),
        )
    };
    let known = u32::try_from(root).ok().filter(|root| *root < comm.peers().size());
    if !comm.is_inter() {
        let root = known.ok_or_else(wrong)?;
        let role = if root == comm.rank { Role::Root } else { Role::Member(root) };
        return Ok((role, Some(root)));
    }
    Ok(match root {
        abi::ROOT => (Role::Root, Some(comm.rank)),
        abi::PROC_NULL => (Role::Bystander, None),
        _ => {
            let root = known.ok_or_else(wrong)?;
            (Role::Member(root), Some(comm.size() + root))
        }
    })
}

/// True if a buffer is `MPI_IN_PLACE`, so that the data is in the other one.
fn in_place(comm: &Comm, address: usize) -> bool {
    address == abi::IN_PLACE && !comm.is_inter()
}
