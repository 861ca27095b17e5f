//! Arrays of requests.

use std::ffi::c_int;
use std::rc::Rc;

use rank_ipc::Client;
use smallvec::SmallVec;

use super::{IDLE, Request, Tickets};
use crate::abi::{self, Handle, Status};
use crate::argument::Out;
use crate::error::{Error, Result};
use crate::window::Window;
use crate::{check, mpi};

/// Places in an array.
pub type Places = SmallVec<[usize; 8]>;

/// An array of requests of the program.
pub struct Requests {
    handles: Out<Handle>,
    /// The requests of the handles; none for the null request.
    pub known: SmallVec<[Option<Rc<Request>>; 8]>,
}

impl Requests {
    /// The requests of an array.
    pub fn new(handles: Out<Handle>, number: c_int) -> Result<Self> {
        check!(number >= 0, ERR_COUNT, "a number of {number}");
        let given = handles.slice(number as usize)?;
        Ok(Self { handles, ..Self::of(given)? })
    }

    /// Requests that no call is to change.
    pub fn of(given: &[Handle]) -> Result<Self> {
        let mpi = mpi();
        let known = given.iter().map(|handle| mpi.request(*handle)).collect::<Result<_>>()?;
        Ok(Self { handles: Out::null(), known })
    }

    /// The requests of an array, for a call that waits for them.
    pub fn to_wait(handles: Out<Handle>, number: c_int) -> Result<Self> {
        let requests = Self::new(handles, number)?;
        let mpi = mpi();
        let port = mpi.port()?;
        requests.known.iter().flatten().try_for_each(|request| request.give_up(port))?;
        Ok(requests)
    }

    /// The places of those that are active.
    pub fn active(&self) -> Places {
        let active = |(place, request): (usize, &Option<Rc<Request>>)| {
            request.as_ref().is_some_and(|request| request.is_active()).then_some(place)
        };
        self.known.iter().enumerate().filter_map(active).collect()
    }

    /// The one in a place.
    pub fn at(&self, place: usize) -> Option<&Rc<Request>> {
        self.known.get(place)?.as_ref()
    }

    /// True if the operation of a request is done.
    pub fn is_done(&self, port: &Client, place: usize) -> bool {
        self.at(place).is_none_or(|request| request.is_done(port))
    }

    /// True if the program has a part in the end of a request, which it may have done already.
    pub fn is_of_program(&self, place: usize) -> bool {
        self.at(place).is_some_and(|request| request.is_of_program())
    }

    /// The numbers of the operations of some.
    pub fn tickets(&self, places: &[usize]) -> Tickets {
        let mut tickets = Tickets::new();
        for request in places.iter().filter_map(|place| self.at(*place)) {
            request.add_tickets(&mut tickets);
        }
        tickets
    }

    /// The window of an access to the rank's own memory among some.
    pub fn own(&self, places: &[usize]) -> Option<Rc<Window>> {
        places.iter().find_map(|place| self.at(*place)?.own())
    }

    /// Asks for them: since they were made, other ranks have run, whose memory has taken the place
    /// of theirs in the processor's cache.
    pub fn prefetch(&self) {
        self.known.iter().flatten().for_each(|request| kernel::prefetch(&**request));
    }

    /// Asks for what they have brought, as far as they are done.
    pub fn prefetch_data(&self, port: &Client) {
        self.known.iter().flatten().for_each(|request| request.prefetch_data(port));
    }

    /// Takes in the result of one that is done; a request for one operation is no more.
    pub fn end(&self, place: usize) -> Result<Status> {
        let Some(request) = self.at(place) else { return Ok(Status::empty()) };
        let outcome = request.end();
        if request.starter.is_none() {
            let removed = mpi().requests.remove(self.handles.get_at(place)?);
            // Nobody else has it but this array.
            removed.filter(|removed| Rc::strong_count(removed) == 2).into_iter().for_each(rest);
            self.handles.set_at(place, abi::REQUEST_NULL)?;
        }
        outcome
    }
}

/// A request is there for another operation.
fn rest(request: Rc<Request>) {
    let mpi = mpi();
    let mut idle = mpi.idle.borrow_mut();
    if idle.len() < IDLE {
        idle.push(request);
    }
}

/// Writes what has become of several operations into consecutive places of an array.
pub fn set_all(outcomes: impl Iterator<Item = Result<Status>>, statuses: Out<Status>) -> Result {
    let outcomes: SmallVec<[Result<Status>; 8]> = outcomes.collect();
    let failed = outcomes.iter().any(Result::is_err);
    let mut first = None;
    for (place, outcome) in outcomes.into_iter().enumerate() {
        let (status, code) = match outcome {
            Ok(status) => (status, abi::SUCCESS),
            Err(error) => {
                let (code, received) = (error.code, error.received.as_ref());
                let status = received.map_or_else(Status::empty, |received| received.status);
                first.get_or_insert(error);
                (status, code)
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
    // Only the statuses of several requests say which is at fault. The communicator of the first
    // hears of it, as if it were alone.
    let error = first.map(|error| Error { code: abi::ERR_IN_STATUS, ..error });
    error.map_or(Ok(()), Err)
}
