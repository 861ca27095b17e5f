//! Waiting and testing for completion (MPI 4.1, sections 3.7.3 to 3.7.6).

use std::ffi::c_int;

use port::{Poll, Port, Ticket};

use super::adopt;
use super::array::Requests;
use crate::abi::{self, Handle, Status};
use crate::argument::Out;
use crate::error::Result;
use crate::p2p::set_status;
use crate::{mpi, mpi_functions, threads};

/// Waits for all of some operations.
pub(super) fn wait_for(port: &Port, tickets: &[Ticket]) -> Result {
    if !tickets.is_empty() {
        threads::wait(port, true, tickets);
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
        threads::pause();
        port.poll(Poll::Test);
    } else {
        threads::wait(port, false, &open);
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
pub(super) fn test(requests: &Requests, active: &[usize]) -> Result<Vec<usize>> {
    let port = mpi().port()?;
    if active.is_empty() {
        return Ok(Vec::new());
    }
    port.poll(Poll::Test);
    adopt(port)?;
    Ok(active.iter().copied().filter(|place| requests.is_done(port, *place)).collect())
}

/// The status of no operation; its error field is part of it.
pub(super) fn set_empty(place: Out<Status>) -> Result {
    if place.address().is_null() { Ok(()) } else { place.set(Status::empty()) }
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
        if active.is_empty() {
            return set_empty(status);
        }
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
            return set_empty(status);
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
        if active.is_empty() {
            flag.set(1)?;
            return set_empty(status);
        }
        let done = !test(&requests, &active)?.is_empty();
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
            return set_empty(status);
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
}
