//! Operations under way (MPI 4.1, sections 3.7, 3.9 and 13.2).

use std::cell::RefCell;
use std::ffi::c_int;
use std::rc::Rc;

use port::{Command, Completion, Place, Poll, Port, Shape, Ticket};
use smallvec::{SmallVec, smallvec};

use crate::abi::{self, Handle, Status};
use crate::argument::{Out, count};
use crate::error::{Error, Result};
use crate::memory::Buffer;
use crate::p2p::{Target, set_status};
use crate::partitioned::Operation;
use crate::state::Mpi;
use crate::{check, lent, mpi, mpi_functions};

mod generalized;

pub use generalized::Generalized;

/// Starts an operation once more.
pub type Starter = Box<dyn Fn() -> Result<Active>>;
/// Takes in what a collective has brought.
pub type Finish = Box<dyn FnOnce(Completion) -> Result>;
type Tickets = SmallVec<[Ticket; 2]>;

/// An operation under way.
pub enum Active {
    /// It is done already.
    Done(Status),
    /// A send.
    Send {
        /// Its number.
        ticket: Ticket,
        /// What it sends.
        contents: Place,
    },
    /// A receive.
    Receive {
        /// Its number.
        ticket: Ticket,
        /// Where the message goes.
        target: Target,
    },
    /// Two operations; the status is that of the second.
    Both(Box<(Active, Active)>),
    /// A collective.
    Collective {
        /// Its number.
        ticket: Ticket,
        /// What is done when it has come.
        finish: Finish,
    },
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
    fn tickets(&self) -> Tickets {
        match self {
            Self::Done(_) | Self::Generalized(_) => smallvec![],
            Self::Send { ticket, .. }
            | Self::Receive { ticket, .. }
            | Self::Collective { ticket, .. } => smallvec![*ticket],
            Self::Partitioned(operation) => operation.tickets().into(),
            // The others have left before.
            Self::Buffered { buffer, tickets } => {
                let pending = buffer.pending().into_iter();
                pending.filter(|ticket| tickets.contains(ticket)).collect()
            }
            Self::Both(both) => {
                let mut tickets = both.0.tickets();
                tickets.extend(both.1.tickets());
                tickets
            }
        }
    }

    fn is_done(&self, port: &Port) -> bool {
        match self {
            Self::Generalized(operation) => operation.complete.get(),
            Self::Partitioned(operation) => operation.is_done(port),
            _ => self.tickets().iter().all(|ticket| port.done(*ticket).is_some()),
        }
    }
}

/// An operation that ought to be done is not: the simulator and this library disagree.
pub fn unfinished() -> Error {
    Error::new(abi::ERR_INTERN, "an operation is not done that was waited for")
}

/// Takes in the result of an operation that is done.
pub fn end(active: Active) -> Result<Status> {
    let port = mpi().port()?;
    let take = |ticket| {
        let done = port.done(ticket).ok_or_else(unfinished)?;
        port.forget(ticket);
        Ok(done)
    };
    match active {
        Active::Done(status) => Ok(status),
        Active::Send { ticket, contents } => {
            port.forget(ticket);
            lent::settle(port, contents).map(|()| Status::empty())
        }
        Active::Receive { ticket, target } => {
            let done: Completion = take(ticket)?;
            if done.void {
                let mut status = Status::empty();
                status.set_cancelled(true);
                return Ok(status);
            }
            target.accept(&done)
        }
        Active::Both(both) => {
            let (first, second) = *both;
            end(first)?;
            end(second)
        }
        Active::Collective { ticket, finish } => {
            finish(take(ticket)?)?;
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

/// Whoever started this operation does not want to know its end.
pub fn forget(active: Active) -> Result {
    match active {
        Active::Send { .. } => drop(end(active)?),
        Active::Done(_) | Active::Generalized(_) | Active::Buffered { .. } => {}
        // Its data still has to be taken in.
        other => mpi().orphans.borrow_mut().push(other),
    }
    Ok(())
}

/// Takes in the data of operations whose requests were freed.
fn adopt(port: &Port) -> Result {
    if mpi().orphans.borrow().is_empty() {
        return Ok(());
    }
    let orphans = std::mem::take(&mut *mpi().orphans.borrow_mut());
    let (done, open): (Vec<_>, Vec<_>) =
        orphans.into_iter().partition(|active| active.is_done(port));
    mpi().orphans.borrow_mut().extend(open);
    done.into_iter().try_for_each(|active| end(active).map(|_| ()))
}

/// A request.
pub struct Request {
    /// What is under way; a persistent request has nothing between its operations.
    active: RefCell<Option<Active>>,
    starter: Option<Starter>,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Request").field(&self.active).finish()
    }
}

impl Request {
    /// For one operation.
    pub fn active(active: Active) -> Self {
        Self { active: RefCell::new(Some(active)), starter: None }
    }

    /// For operations that are started with `MPI_Start`.
    pub fn persistent(starter: Starter) -> Self {
        Self { active: RefCell::new(None), starter: Some(starter) }
    }

    /// Whether an operation is under way.
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

    fn is_done(&self, port: &Port) -> bool {
        self.active.borrow().as_ref().is_none_or(|active| active.is_done(port))
    }

    fn tickets(&self) -> Tickets {
        self.active.borrow().as_ref().map(Active::tickets).unwrap_or_default()
    }

    fn start(&self) -> Result {
        let starter = self.starter.as_ref();
        let starter =
            starter.ok_or_else(|| Error::new(abi::ERR_REQUEST, "the request is not persistent"))?;
        check!(!self.is_active(), ERR_REQUEST, "the request is active already");
        let active = starter()?;
        self.active.replace(Some(active));
        Ok(())
    }

    fn end(&self) -> Result<Status> {
        self.active.take().map_or_else(|| Ok(Status::empty()), end)
    }
}

impl Mpi {
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
    let port = mpi().port()?;
    let tickets = buffer.pending();
    if !tickets.is_empty() {
        port.wait(true, &tickets);
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

/// An array of requests of the program.
struct Requests {
    handles: Out<Handle>,
    known: Vec<Option<Rc<Request>>>,
}

impl Requests {
    fn new(handles: Out<Handle>, number: c_int) -> Result<Self> {
        let given = handles.slice(count(number)?)?;
        let known = given.iter().map(|handle| mpi().request(*handle)).collect::<Result<_>>()?;
        Ok(Self { handles, known })
    }

    /// The places of those that are active.
    fn active(&self) -> Vec<usize> {
        let active = |(place, request): (usize, &Option<Rc<Request>>)| {
            request.as_ref().is_some_and(|request| request.is_active()).then_some(place)
        };
        self.known.iter().enumerate().filter_map(active).collect()
    }

    fn at(&self, place: usize) -> Option<&Rc<Request>> {
        self.known.get(place)?.as_ref()
    }

    fn is_done(&self, port: &Port, place: usize) -> bool {
        self.at(place).is_none_or(|request| request.is_done(port))
    }

    fn tickets(&self, places: &[usize]) -> Vec<Ticket> {
        places
            .iter()
            .filter_map(|place| self.at(*place))
            .flat_map(|request| request.tickets())
            .collect()
    }

    /// Takes in the result of one that is done; a request for one operation is no more.
    fn end(&self, place: usize) -> Result<Status> {
        let Some(request) = self.at(place) else { return Ok(Status::empty()) };
        let outcome = request.end();
        if request.starter.is_none() {
            let handle =
                self.handles.slice(place + 1)?.get(place).copied().unwrap_or(abi::REQUEST_NULL);
            mpi().requests.remove(handle);
            self.handles.set_at(place, abi::REQUEST_NULL)?;
        }
        outcome
    }

    /// Takes in several results; their statuses go into consecutive places of an array.
    fn end_all(&self, places: &[usize], statuses: Out<Status>) -> Result {
        let outcomes: Vec<_> = places.iter().map(|place| self.end(*place)).collect();
        let failed = outcomes.iter().any(Result::is_err);
        let mut first = None;
        for (place, outcome) in outcomes.into_iter().enumerate() {
            let (status, code) = match outcome {
                Ok(status) => (status, abi::SUCCESS),
                Err(error) => {
                    let code = error.code;
                    first.get_or_insert(error);
                    (Status::empty(), code)
                }
            };
            if statuses.address().is_null() {
                continue;
            }
            // Without a failure, the error fields are left alone.
            let error = if failed {
                code
            } else {
                statuses.slice(place + 1)?.get(place).map_or(0, |old| old.error)
            };
            statuses.set_at(place, Status { error, ..status })?;
        }
        match first {
            None => Ok(()),
            Some(error) if statuses.address().is_null() => Err(error),
            Some(error) => Err(Error { code: abi::ERR_IN_STATUS, ..error }),
        }
    }
}

/// Waits for all of some operations.
fn wait_for(port: &Port, tickets: &[Ticket]) -> Result {
    if !tickets.is_empty() {
        port.wait(true, tickets);
    }
    adopt(port)
}

/// Waits for operations that the program completes itself, and those of several messages.
fn wait_for_program(port: &Port, requests: &Requests, places: &[usize]) {
    loop {
        let open = places.iter().copied().filter(|place| !requests.is_done(port, *place));
        let open: Vec<_> = open.collect();
        if open.is_empty() {
            return;
        }
        wait_a_while(port, &requests.tickets(&open));
    }
}

/// Waits for the first of some operations; without one, until something may have changed.
fn wait_a_while(port: &Port, tickets: &[Ticket]) {
    let open: Vec<_> =
        tickets.iter().copied().filter(|ticket| port.done(*ticket).is_none()).collect();
    if open.is_empty() {
        crate::state::pause();
        port.poll(Poll::Test);
    } else {
        port.wait(false, &open);
    }
}

fn wait_any(requests: &Requests, active: &[usize]) -> Result<usize> {
    let port = mpi().port()?;
    let done = || active.iter().copied().find(|place| requests.is_done(port, *place));
    if let Some(place) = done() {
        wait_for(port, &requests.tickets(&[place]))?;
        return Ok(place);
    }
    loop {
        wait_a_while(port, &requests.tickets(active));
        adopt(port)?;
        if let Some(place) = done() {
            return Ok(place);
        }
    }
}

/// Finds out which of some operations are done by now.
fn test(requests: &Requests, active: &[usize]) -> Result<Vec<usize>> {
    let port = mpi().port()?;
    if active.is_empty() {
        return Ok(Vec::new());
    }
    port.poll(Poll::Test);
    adopt(port)?;
    Ok(active.iter().copied().filter(|place| requests.is_done(port, *place)).collect())
}

/// The result of a call about several requests that says which are done.
fn set_some(
    requests: &Requests,
    done: &[usize],
    number: Out<c_int>,
    indices: Out<c_int>,
    statuses: Out<Status>,
) -> Result {
    number.set(done.len() as c_int)?;
    indices.set_all(done.iter().map(|place| *place as c_int))?;
    wait_for(mpi().port()?, &requests.tickets(done))?;
    requests.end_all(done, statuses)
}

mpi_functions! {
    fn Wait(request: Out<Handle>, status: Out<Status>) {
        let requests = Requests::new(request, 1)?;
        let port = mpi().port()?;
        let active = requests.active();
        wait_for(port, &requests.tickets(&active))?;
        wait_for_program(port, &requests, &active);
        set_status(status, &requests.end(0)?)
    }

    fn Waitall(count: c_int, array: Out<Handle>, statuses: Out<Status>) {
        let requests = Requests::new(array, count)?;
        let port = mpi().port()?;
        let active = requests.active();
        wait_for(port, &requests.tickets(&active))?;
        wait_for_program(port, &requests, &active);
        requests.end_all(&(0..requests.known.len()).collect::<Vec<_>>(), statuses)
    }

    fn Waitany(count: c_int, array: Out<Handle>, index: Out<c_int>, status: Out<Status>) {
        index.check()?;
        let requests = Requests::new(array, count)?;
        let active = requests.active();
        if active.is_empty() {
            index.set(abi::UNDEFINED)?;
            return set_status(status, &Status::empty());
        }
        let place = wait_any(&requests, &active)?;
        index.set(place as c_int)?;
        set_status(status, &requests.end(place)?)
    }

    fn Waitsome(count: c_int, array: Out<Handle>, number: Out<c_int>, indices: Out<c_int>, statuses: Out<Status>) {
        number.check()?;
        let requests = Requests::new(array, count)?;
        let active = requests.active();
        if active.is_empty() {
            return number.set(abi::UNDEFINED);
        }
        wait_any(&requests, &active)?;
        let port = mpi().port()?;
        let done: Vec<_> = active.into_iter().filter(|place| requests.is_done(port, *place)).collect();
        set_some(&requests, &done, number, indices, statuses)
    }

    fn Test(request: Out<Handle>, flag: Out<c_int>, status: Out<Status>) {
        flag.check()?;
        let requests = Requests::new(request, 1)?;
        let active = requests.active();
        let done = active.is_empty() || !test(&requests, &active)?.is_empty();
        flag.set(c_int::from(done))?;
        if !done {
            return Ok(());
        }
        wait_for(mpi().port()?, &requests.tickets(&active))?;
        set_status(status, &requests.end(0)?)
    }

    fn Testall(count: c_int, array: Out<Handle>, flag: Out<c_int>, statuses: Out<Status>) {
        flag.check()?;
        let requests = Requests::new(array, count)?;
        let active = requests.active();
        let done = test(&requests, &active)?.len() == active.len();
        flag.set(c_int::from(done))?;
        if !done {
            return Ok(());
        }
        wait_for(mpi().port()?, &requests.tickets(&active))?;
        requests.end_all(&(0..requests.known.len()).collect::<Vec<_>>(), statuses)
    }

    fn Testany(count: c_int, array: Out<Handle>, index: Out<c_int>, flag: Out<c_int>, status: Out<Status>) {
        index.check()?;
        flag.check()?;
        let requests = Requests::new(array, count)?;
        let active = requests.active();
        index.set(abi::UNDEFINED)?;
        if active.is_empty() {
            flag.set(1)?;
            return set_status(status, &Status::empty());
        }
        let place = test(&requests, &active)?.first().copied();
        flag.set(c_int::from(place.is_some()))?;
        let Some(place) = place else { return Ok(()) };
        index.set(place as c_int)?;
        wait_for(mpi().port()?, &requests.tickets(&[place]))?;
        set_status(status, &requests.end(place)?)
    }

    fn Testsome(count: c_int, array: Out<Handle>, number: Out<c_int>, indices: Out<c_int>, statuses: Out<Status>) {
        number.check()?;
        let requests = Requests::new(array, count)?;
        let active = requests.active();
        if active.is_empty() {
            return number.set(abi::UNDEFINED);
        }
        let done = test(&requests, &active)?;
        set_some(&requests, &done, number, indices, statuses)
    }

    fn Start(request: Out<Handle>) {
        let requests = Requests::new(request, 1)?;
        let request = requests.at(0).ok_or_else(|| Error::new(abi::ERR_REQUEST, "the null request cannot be started"))?;
        request.start()?;
        mpi().port()?.called(Shape::Posted);
        Ok(())
    }

    fn Startall(count: c_int, array: Out<Handle>) {
        let requests = Requests::new(array, count)?;
        for request in &requests.known {
            let request = request.as_ref().ok_or_else(|| Error::new(abi::ERR_REQUEST, "the null request cannot be started"))?;
            request.start()?;
            // Each is a call of its own, so that they are met in this order.
            mpi().port()?.called(Shape::Posted);
        }
        Ok(())
    }

    fn Request_free(request: Out<Handle>) {
        let handle = request.get()?;
        let known = mpi().request(handle)?.ok_or_else(|| Error::new(abi::ERR_REQUEST, "the null request cannot be freed"))?;
        mpi().requests.remove(handle);
        request.set(abi::REQUEST_NULL)?;
        let active = known.active.take();
        if let Some(Active::Generalized(operation)) = &active {
            // SAFETY: the function and its argument are the program's.
            unsafe { operation.free.free(operation.extra) };
        }
        active.map_or(Ok(()), forget)
    }

    fn Cancel(request: Out<Handle>) {
        let known = mpi().request(request.get()?)?.ok_or_else(|| Error::new(abi::ERR_REQUEST, "the null request cannot be cancelled"))?;
        let port = mpi().port()?;
        match &*known.active.borrow() {
            Some(Active::Receive { ticket, .. }) => port.say(&Command::Cancel(*ticket)),
            Some(Active::Generalized(operation)) => {
                // SAFETY: the function and its argument are the program's.
                unsafe { operation.cancel.cancel(operation.extra, operation.complete.get()) };
            }
            Some(_) => {}
            None => return Err(Error::new(abi::ERR_REQUEST, "an inactive request cannot be cancelled")),
        }
        Ok(())
    }

    fn Request_get_status(request: Handle, flag: Out<c_int>, status: Out<Status>) {
        flag.check()?;
        let known = mpi().request(request)?;
        let Some(known) = known.filter(|known| known.is_active()) else {
            flag.set(1)?;
            return set_status(status, &Status::empty());
        };
        let port = mpi().port()?;
        port.poll(Poll::Test);
        let done = known.is_done(port);
        flag.set(c_int::from(done))?;
        if !done {
            return Ok(());
        }
        // The operation stays; its data comes in now.
        let outcome = known.end()?;
        known.active.replace(Some(Active::Done(outcome)));
        set_status(status, &outcome)
    }
}
