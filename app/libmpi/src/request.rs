//! Operations under way (MPI 4.1, sections 3.7, 3.9 and 13.2).

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::rc::Rc;

use rank_ipc::{Client, Command, Completion, Offset, Shape, Ticket, arena};
use smallvec::SmallVec;

use crate::abi::{self, Handle, Status};
use crate::argument::Out;
use crate::error::{Error, Result};
use crate::memory::Buffer;
use crate::p2p::Target;
use crate::partitioned::Operation;
use crate::state::Mpi;
use crate::window::Window;
use crate::{check, mpi, mpi_functions, threads, zero_copy};
use array::Requests;

mod array;
mod completion;
mod generalized;
mod query;

pub use generalized::Generalized;

/// Starts an operation once more.
pub type Starter = Box<dyn Fn() -> Result<Active>>;
/// Takes in what a collective has brought.
pub type Finish = Box<dyn FnOnce(Completion) -> Result>;
type Tickets = SmallVec<[Ticket; 8]>;

/// An operation under way.
pub enum Active {
    /// It is done already.
    Done(Status),
    /// It has failed.
    Failed(Error),
    /// A send.
    Send {
        /// Its number.
        ticket: Ticket,
        /// The contents that it sends.
        contents: Offset,
    },
    /// A send from a buffer, for which nobody waits.
    Copied {
        /// Its number.
        ticket: Ticket,
        /// The contents that it sends.
        contents: Offset,
        /// The buffer.
        buffer: Rc<Buffer>,
    },
    /// A receive.
    Receive {
        /// Its number.
        ticket: Ticket,
        /// The place that the message goes to.
        target: Target,
    },
    /// Two operations; the status is that of the second.
    Both(Box<(Active, Active)>),
    /// A collective.
    Collective {
        /// Its number.
        ticket: Ticket,
        /// Takes in the result when it has come.
        finish: Finish,
    },
    /// An access to the rank's own memory, which is done.
    Own(Rc<Window>),
    /// One that the program itself carries out.
    Generalized(Rc<Generalized>),
    /// One of several messages.
    Partitioned(Rc<Operation>),
    /// Messages that leave a buffer.
    Buffered {
        /// The buffer.
        buffer: Rc<Buffer>,
        /// The messages.
        tickets: Vec<Ticket>,
    },
}

impl std::fmt::Debug for Active {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.tickets()).finish()
    }
}

impl Active {
    /// The numbers of its parts.
    pub fn tickets(&self) -> Tickets {
        let mut tickets = Tickets::new();
        self.add_tickets(&mut tickets);
        tickets
    }

    fn add_tickets(&self, into: &mut Tickets) {
        match self {
            Self::Done(_)
            | Self::Failed(_)
            | Self::Own(_)
            | Self::Generalized(_)
            | Self::Copied { .. } => {}
            Self::Send { ticket, .. }
            | Self::Receive { ticket, .. }
            | Self::Collective { ticket, .. } => into.push(*ticket),
            Self::Partitioned(operation) => into.extend(operation.tickets()),
            // The others have left before.
            Self::Buffered { buffer, tickets } => {
                let pending = buffer.pending().into_iter();
                into.extend(pending.filter(|ticket| tickets.contains(ticket)));
            }
            Self::Both(both) => {
                both.0.add_tickets(into);
                both.1.add_tickets(into);
            }
        }
    }

    /// Asks for what takes in the result of a collective.
    pub fn prefetch(&self) {
        if let Self::Collective { finish, .. } = self {
            kernel::prefetch(&**finish);
        }
    }

    /// True if it is done. What was forgotten was waited for: an access with a request by a flush
    /// of its window.
    fn is_done(&self, port: &Client) -> bool {
        match self {
            Self::Generalized(operation) => operation.complete.get(),
            Self::Partitioned(operation) => operation.is_done(port),
            Self::Send { ticket, .. }
            | Self::Receive { ticket, .. }
            | Self::Collective { ticket, .. } => !port.is_open(*ticket),
            _ => !self.tickets().iter().any(|ticket| port.is_open(*ticket)),
        }
    }
}

/// An operation that ought to be done is not: the simulator and this library disagree.
pub fn unfinished() -> Error {
    Error::new(abi::ERR_INTERN, "an operation is not done that was waited for")
}

/// Takes the completion of an operation that is done.
#[inline(always)]
fn take(port: &Client, ticket: Ticket) -> Result<Completion> {
    let done = port.done(ticket).ok_or_else(unfinished)?;
    port.forget(ticket);
    Ok(done)
}

/// Takes in the result of an operation that is done.
pub fn end(active: Active) -> Result<Status> {
    let mpi = mpi();
    let port = mpi.port()?;
    match active {
        Active::Done(status) => Ok(status),
        Active::Failed(error) => Err(error),
        Active::Send { ticket, contents } => {
            port.forget(ticket);
            zero_copy::detach(port, contents).map(|()| Status::empty())
        }
        Active::Copied { .. } | Active::Own(_) => Ok(Status::empty()),
        Active::Receive { ticket, target } => {
            let done = take(port, ticket)?;
            if done.void {
                return Ok(Status::of_cancelled());
            }
            target.accept(&done)
        }
        Active::Both(both) => {
            let (first, second) = *both;
            end(first)?;
            end(second)
        }
        Active::Collective { ticket, finish } => {
            finish(take(port, ticket)?)?;
            Ok(Status::empty())
        }
        Active::Partitioned(operation) => operation.end(port),
        Active::Buffered { buffer, .. } => {
            buffer.sweep(port);
            Ok(Status::empty())
        }
        Active::Generalized(operation) => operation.end(),
    }
}

/// Gives an operation up whose end nobody wants to know.
pub fn forget(active: Active) -> Result {
    match active {
        Active::Send { .. } => drop(end(active)?),
        Active::Done(_)
        | Active::Failed(_)
        | Active::Own(_)
        | Active::Generalized(_)
        | Active::Copied { .. }
        | Active::Buffered { .. } => {}
        // Its data still has to be taken in.
        other => {
            let mpi = mpi();
            let port = mpi.port()?;
            other.tickets().iter().for_each(|ticket| port.say(&Command::Leave(*ticket)));
            mpi.orphans.borrow_mut().push(other);
        }
    }
    Ok(())
}

/// Takes in the data of operations whose requests were freed, as far as they are done.
pub fn adopt() -> Result {
    let mpi = mpi();
    if mpi.orphans.borrow().is_empty() {
        return Ok(());
    }
    let Some(port) = mpi.port.get() else { return Ok(()) };
    let orphans = mpi.orphans.take();
    let (done, open): (Vec<_>, Vec<_>) =
        orphans.into_iter().partition(|active| active.is_done(port));
    mpi.orphans.borrow_mut().extend(open);
    done.into_iter().try_for_each(|active| end(active).map(|_| ()))
}

/// A request.
pub struct Request {
    /// The operation under way; a persistent request has none between its operations.
    active: RefCell<Option<Active>>,
    starter: Option<Box<Starter>>,
    /// The program has cancelled it, and it is a send.
    cancelled: Cell<bool>,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Request").field(&self.active).finish()
    }
}

impl Request {
    /// For one operation.
    pub fn active(active: Active) -> Self {
        Self { active: RefCell::new(Some(active)), starter: None, cancelled: Cell::new(false) }
    }

    /// Asks for the data that its end takes in.
    fn prefetch_data(&self, port: &Client) {
        match &*self.active.borrow() {
            Some(Active::Send { contents, .. }) if *contents != 0 => {
                arena::prefetch(port.memory(), *contents);
            }
            Some(Active::Receive { target, .. }) => target.prefetch(),
            _ => {}
        }
    }

    /// For operations that are started with `MPI_Start`.
    pub fn persistent(starter: Starter) -> Self {
        let starter = Some(Box::new(starter));
        Self { active: RefCell::new(None), starter, cancelled: Cell::new(false) }
    }

    /// True if an operation is under way.
    pub fn is_active(&self) -> bool {
        self.active.borrow().is_some()
    }

    /// The partitioned operation under way, if it is one.
    pub fn partitioned(&self) -> Option<Rc<Operation>> {
        match &*self.active.borrow() {
            Some(Active::Partitioned(operation)) => Some(Rc::clone(operation)),
            _ => None,
        }
    }

    /// The program's own operation under way, if it is one.
    fn generalized(&self) -> Option<Rc<Generalized>> {
        match &*self.active.borrow() {
            Some(Active::Generalized(operation)) => Some(Rc::clone(operation)),
            _ => None,
        }
    }

    fn is_done(&self, port: &Client) -> bool {
        self.active.borrow().as_ref().is_none_or(|active| active.is_done(port))
    }

    /// The window of an access to the rank's own memory, if it is one.
    fn own(&self) -> Option<Rc<Window>> {
        match &*self.active.borrow() {
            Some(Active::Own(window)) => Some(Rc::clone(window)),
            _ => None,
        }
    }

    /// True if the program completes it itself, or if it is one of several messages that the
    /// program sets free one by one.
    fn is_of_program(&self) -> bool {
        let active = self.active.borrow();
        matches!(*active, Some(Active::Generalized(_) | Active::Partitioned(_)))
    }

    fn add_tickets(&self, into: &mut Tickets) {
        if let Some(active) = &*self.active.borrow() {
            active.add_tickets(into);
        }
    }

    fn start(&self) -> Result {
        let starter = self.starter.as_ref();
        let starter =
            starter.ok_or_else(|| Error::new(abi::ERR_REQUEST, "the request is not persistent"))?;
        check!(!self.is_active(), ERR_REQUEST, "the request is active already");
        let active = starter()?;
        self.active.replace(Some(active));
        self.cancelled.set(false);
        Ok(())
    }

    /// Cancels a send. Only one that has not begun is withdrawn (MPI 4.1, section 3.8.4).
    fn cancel(&self, port: &Client) -> Result {
        let (ticket, contents) = match &*self.active.borrow() {
            Some(Active::Send { ticket, contents } | Active::Copied { ticket, contents, .. }) => {
                (*ticket, *contents)
            }
            _ => return Ok(()),
        };
        if port.is_done(ticket) || !port.withdraw(ticket) {
            self.cancelled.set(true);
            return Ok(());
        }
        zero_copy::release(port, contents);
        let status = Active::Done(Status::of_cancelled());
        match self.active.replace(Some(status)) {
            Some(Active::Copied { buffer, .. }) => buffer.withdraw(port, ticket),
            _ => port.forget(ticket),
        }
        zero_copy::detach(port, contents)
    }

    /// A message is on its way, whatever its sender wants; but for one that was cancelled, nobody
    /// has to wait (MPI 4.1, section 3.8.4).
    fn give_up(&self, port: &Client) -> Result {
        let send = match &*self.active.borrow() {
            Some(Active::Send { ticket, contents }) if self.cancelled.get() => (*ticket, *contents),
            _ => return Ok(()),
        };
        port.forget(send.0);
        zero_copy::detach(port, send.1)?;
        self.active.replace(Some(Active::Done(Status::empty())));
        Ok(())
    }

    fn end(&self) -> Result<Status> {
        self.active.take().map_or_else(|| Ok(Status::empty()), end)
    }
}

/// Most requests that a rank keeps for its next operations.
const IDLE: usize = 64;

impl Mpi {
    /// Gives an operation a request: one that is idle, if there is one.
    pub fn begin(&self, active: Active) -> Handle {
        let mut idle = self.idle.borrow_mut();
        let request = idle.pop();
        // The next operation is likely to follow at once.
        idle.last().into_iter().for_each(|next| kernel::prefetch(&**next));
        let Some(request) = request else {
            return self.requests.add(Rc::new(Request::active(active)));
        };
        request.active.replace(Some(active));
        request.cancelled.set(false);
        self.requests.add(request)
    }

    /// The request of a handle; none for the null request.
    pub fn request(&self, handle: Handle) -> Result<Option<Rc<Request>>> {
        if handle == abi::REQUEST_NULL {
            return Ok(None);
        }
        let known = self.requests.get(handle);
        known
            .map(Some)
            .ok_or_else(|| Error::new(abi::ERR_REQUEST, "no such request (completed or freed?)"))
    }
}

/// A request that is complete.
pub fn complete() -> Handle {
    mpi().requests.add(Rc::new(Request::active(Active::Done(Status::empty()))))
}

/// Waits until the messages of a buffer have left.
pub fn wait_sent(buffer: &Buffer) -> Result {
    let mpi = mpi();
    let port = mpi.port()?;
    let tickets = buffer.pending();
    if !tickets.is_empty() {
        threads::wait(port, true, &tickets);
    }
    buffer.sweep(port);
    check!(buffer.used() == 0, ERR_INTERN, "messages are left in the buffer");
    Ok(())
}

/// A request that is complete when the messages that a buffer has now have left.
pub fn when_sent(buffer: &Rc<Buffer>) -> Handle {
    let tickets = buffer.pending();
    let active = Active::Buffered { buffer: Rc::clone(buffer), tickets };
    mpi().requests.add(Rc::new(Request::active(active)))
}

mpi_functions! {
    fn Start(request: Out<Handle>) {
        let requests = Requests::new(request, 1)?;
        let request = requests.at(0).ok_or_else(|| {
            Error::new(abi::ERR_REQUEST, "the null request cannot be started")
        })?;
        request.start()?;
        mpi().port()?.called(Shape::Posted);
        Ok(())
    }

    fn Startall(count: c_int, array: Out<Handle>) {
        let requests = Requests::new(array, count)?;
        for request in &requests.known {
            let request = request.as_ref().ok_or_else(|| {
                Error::new(abi::ERR_REQUEST, "the null request cannot be started")
            })?;
            request.start()?;
            // Each is a call of its own, so that they are met in this order.
            mpi().port()?.called(Shape::Posted);
        }
        Ok(())
    }

    fn Request_free(request: Out<Handle>) {
        let handle = request.get()?;
        let known = mpi().request(handle)?.ok_or_else(|| {
            Error::new(abi::ERR_REQUEST, "the null request cannot be freed")
        })?;
        request.set(abi::REQUEST_NULL)?;
        if let Some(operation) = known.generalized().filter(|operation| !operation.complete.get()) {
            // The program still has to say that it is complete, by the same handle.
            operation.freed.set(true);
            return Ok(());
        }
        mpi().requests.remove(handle);
        if let Some(operation) = known.generalized() {
            operation.free()?;
        }
        known.active.take().map_or(Ok(()), forget)
    }

    fn Cancel(request: Out<Handle>) {
        let known = mpi().request(request.get()?)?.ok_or_else(|| {
            Error::new(abi::ERR_REQUEST, "the null request cannot be cancelled")
        })?;
        let mpi = mpi();
        let port = mpi.port()?;
        if let Some(operation) = known.generalized() {
            return operation.cancel();
        }
        match &*known.active.borrow() {
            Some(Active::Receive { ticket, .. }) => port.say(&Command::Cancel(*ticket)),
            Some(_) => {}
            None => {
                return Err(Error::new(abi::ERR_REQUEST, "an inactive request cannot be cancelled"));
            }
        }
        known.cancel(port)
    }
}
