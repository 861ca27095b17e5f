//! Waiting and testing for completion (MPI 4.1, sections 3.7.3 to 3.7.6).

use std::ffi::c_int;

use rank_ipc::{Client, Taken, Ticket};

use super::array::{Places, Requests, set_all};
use crate::abi::{self, Handle, Status};
use crate::argument::Out;
use crate::error::Result;
use crate::status::{set_status, tell};
use crate::{mpi, mpi_functions, threads};

/// Waits for all of some operations.
fn wait_for(port: &Client, requests: &Requests, places: &[usize]) -> Result {
    wait_for_messages(port, requests, places);
    count_own(requests, places)
}

fn wait_for_messages(port: &Client, requests: &Requests, places: &[usize]) {
    let tickets = requests.tickets(places);
    if !tickets.is_empty() {
        threads::wait_for_all(port, &tickets, &|| requests.prefetch());
        requests.prefetch_data(port);
    }
}

/// Counts a call that had nothing to wait for but an access to the own memory, so that such calls
/// let others go on at times.
fn count_own(requests: &Requests, places: &[usize]) -> Result {
    match requests.own(places) {
        Some(window) if requests.tickets(places).is_empty() => window.idle(),
        _ => Ok(()),
    }
}

/// Waits for operations that the program completes itself, and those of several messages.
fn wait_for_program(port: &Client, requests: &Requests, places: &[usize]) {
    loop {
        let is_open =
            |place: &usize| requests.is_of_program(*place) && !requests.is_done(port, *place);
        let open: Places = places.iter().copied().filter(is_open).collect();
        if open.is_empty() {
            return;
        }
        wait_a_while(port, &requests.tickets(&open));
    }
}

/// Waits for the first of some operations; without one, until something may have changed.
fn wait_a_while(port: &Client, tickets: &[Ticket]) {
    let open: Vec<_> = tickets.iter().copied().filter(|ticket| port.is_open(*ticket)).collect();
    if open.is_empty() {
        threads::pause(port);
        port.test(Taken::Each, &[]);
    } else {
        threads::wait(port, false, &open);
    }
}

/// Waits for the first of some operations, which it gives; that it is an access to the rank's own
/// memory is not counted yet.
fn wait_any(port: &Client, requests: &Requests, active: &[usize]) -> usize {
    let done = || active.iter().copied().find(|place| requests.is_done(port, *place));
    if let Some(place) = done() {
        wait_for_messages(port, requests, &[place]);
        return place;
    }
    loop {
        wait_a_while(port, &requests.tickets(active));
        if let Some(place) = done() {
            return place;
        }
    }
}

/// Finds out which of some operations are done by now.
fn test(requests: &Requests, active: &[usize], taken: Taken) -> Result<Places> {
    let mpi = mpi();
    let port = mpi.port()?;
    if active.is_empty() {
        return Ok(Places::new());
    }
    port.test(taken, &requests.tickets(active));
    Ok(active.iter().copied().filter(|place| requests.is_done(port, *place)).collect())
}

/// The status of no operation.
fn set_empty(place: Out<Status>) -> Result {
    set_status(place, &Status::empty())
}

/// Takes in the result of an operation that is done: for good, or only to tell it.
pub(super) type Take = fn(&Requests, usize) -> Result<Status>;

/// The result of a call about several requests that says which are done.
fn set_some(
    requests: &Requests,
    done: &[usize],
    (number, indices, statuses): (Out<c_int>, Out<c_int>, Out<Status>),
    take: Take,
) -> Result {
    number.set(done.len() as c_int)?;
    indices.set_all(done.iter().map(|place| *place as c_int))?;
    wait_for(mpi().port()?, requests, done)?;
    set_all(done.iter().map(|place| take(requests, *place)), statuses)
}

/// Tells whether the only one is done, and if so, its result.
pub(super) fn test_one(
    requests: &Requests,
    flag: Out<c_int>,
    status: Out<Status>,
    take: Take,
) -> Result {
    flag.check()?;
    let active = requests.active();
    if active.is_empty() {
        flag.set(1)?;
        return set_empty(status);
    }
    let done = !test(requests, &active, Taken::All)?.is_empty();
    flag.set(c_int::from(done))?;
    if !done {
        return Ok(());
    }
    wait_for(mpi().port()?, requests, &active)?;
    tell(status, take(requests, 0))
}

/// Tells whether all are done, and if so, their results.
pub(super) fn test_all(
    requests: &Requests,
    flag: Out<c_int>,
    statuses: Out<Status>,
    take: Take,
) -> Result {
    flag.check()?;
    let active = requests.active();
    let done = test(requests, &active, Taken::All)?.len() == active.len();
    flag.set(c_int::from(done))?;
    if !done {
        return Ok(());
    }
    wait_for(mpi().port()?, requests, &active)?;
    set_all((0..requests.known.len()).map(|place| take(requests, place)), statuses)
}

/// Tells whether one is done, and if so, which and its result.
pub(super) fn test_any(
    requests: &Requests,
    (index, flag): (Out<c_int>, Out<c_int>),
    status: Out<Status>,
    take: Take,
) -> Result {
    index.check()?;
    flag.check()?;
    let active = requests.active();
    index.set(abi::UNDEFINED)?;
    if active.is_empty() {
        flag.set(1)?;
        return set_empty(status);
    }
    let place = test(requests, &active, Taken::First)?.first().copied();
    flag.set(c_int::from(place.is_some()))?;
    let Some(place) = place else { return Ok(()) };
    index.set(place as c_int)?;
    wait_for(mpi().port()?, requests, &[place])?;
    tell(status, take(requests, place))
}

/// Tells which are done, and their results.
pub(super) fn test_some(
    requests: &Requests,
    results: (Out<c_int>, Out<c_int>, Out<Status>),
    take: Take,
) -> Result {
    let (number, ..) = results;
    number.check()?;
    let active = requests.active();
    if active.is_empty() {
        return number.set(abi::UNDEFINED);
    }
    let done = test(requests, &active, Taken::Each)?;
    set_some(requests, &done, results, take)
}

mpi_functions! {
    fn Wait(request: Out<Handle>, status: Out<Status>) {
        let requests = Requests::to_wait(request, 1)?;
        let mpi = mpi();
        let port = mpi.port()?;
        let active = requests.active();
        if active.is_empty() {
            return set_empty(status);
        }
        wait_for(port, &requests, &active)?;
        wait_for_program(port, &requests, &active);
        tell(status, requests.end(0))
    }

    fn Waitall(count: c_int, array: Out<Handle>, statuses: Out<Status>) {
        let requests = Requests::to_wait(array, count)?;
        let mpi = mpi();
        let port = mpi.port()?;
        let active = requests.active();
        wait_for(port, &requests, &active)?;
        wait_for_program(port, &requests, &active);
        set_all((0..requests.known.len()).map(|place| requests.end(place)), statuses)
    }

    fn Waitany(count: c_int, array: Out<Handle>, index: Out<c_int>, status: Out<Status>) {
        index.check()?;
        let requests = Requests::to_wait(array, count)?;
        let active = requests.active();
        if active.is_empty() {
            index.set(abi::UNDEFINED)?;
            return set_empty(status);
        }
        let place = wait_any(mpi().port()?, &requests, &active);
        count_own(&requests, &[place])?;
        index.set(place as c_int)?;
        tell(status, requests.end(place))
    }

    fn Waitsome(
        count: c_int, array: Out<Handle>, number: Out<c_int>, indices: Out<c_int>,
        statuses: Out<Status>
    ) {
        number.check()?;
        let requests = Requests::to_wait(array, count)?;
        let active = requests.active();
        if active.is_empty() {
            return number.set(abi::UNDEFINED);
        }
        let mpi = mpi();
        let port = mpi.port()?;
        wait_any(port, &requests, &active);
        let done: Places =
            active.into_iter().filter(|place| requests.is_done(port, *place)).collect();
        set_some(&requests, &done, (number, indices, statuses), Requests::end)
    }

    fn Test(request: Out<Handle>, flag: Out<c_int>, status: Out<Status>) {
        test_one(&Requests::new(request, 1)?, flag, status, Requests::end)
    }

    fn Testall(count: c_int, array: Out<Handle>, flag: Out<c_int>, statuses: Out<Status>) {
        test_all(&Requests::new(array, count)?, flag, statuses, Requests::end)
    }

    fn Testany(
        count: c_int, array: Out<Handle>, index: Out<c_int>, flag: Out<c_int>, status: Out<Status>
    ) {
        test_any(&Requests::new(array, count)?, (index, flag), status, Requests::end)
    }

    fn Testsome(
        count: c_int, array: Out<Handle>, number: Out<c_int>, indices: Out<c_int>,
        statuses: Out<Status>
    ) {
        test_some(&Requests::new(array, count)?, (number, indices, statuses), Requests::end)
    }
}
