//! What is known of operations that stay as they are (MPI 4.1, section 3.7.6).

use std::ffi::c_int;

use super::Active;
use super::array::{Requests, set_all};
use super::completion::{set_empty, test, wait_for};
use crate::abi::{self, Handle, Status};
use crate::argument::Out;
use crate::error::Result;
use crate::p2p::set_status;
use crate::{mpi, mpi_functions};

/// Takes in the data of an operation that is done, which stays for a later call to complete it.
fn look(requests: &Requests, place: usize) -> Result<Status> {
    let Some(request) = requests.at(place).filter(|request| request.is_active()) else {
        return Ok(Status::empty());
    };
    wait_for(mpi().port()?, &requests.tickets(&[place]))?;
    if let Some(operation) = request.generalized() {
        return operation.ask();
    }
    let outcome = request.end();
    let kept = match &outcome {
        Ok(status) => Active::Done(*status),
        Err(error) => Active::Failed(error.clone()),
    };
    request.active.replace(Some(kept));
    outcome
}

mpi_functions! {
    fn Request_get_status(request: Handle, flag: Out<c_int>, status: Out<Status>) {
        flag.check()?;
        let requests = Requests::of(vec![request])?;
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
        set_status(status, &look(&requests, 0)?)
    }

    fn Request_get_status_all(count: c_int, array: Out<Handle>, flag: Out<c_int>, statuses: Out<Status>) {
        flag.check()?;
        let requests = Requests::new(array, count)?;
        let active = requests.active();
        let done = test(&requests, &active)?.len() == active.len();
        flag.set(c_int::from(done))?;
        if !done {
            return Ok(());
        }
        set_all((0..requests.known.len()).map(|place| look(&requests, place)).collect(), statuses)
    }

    fn Request_get_status_any(count: c_int, array: Out<Handle>, index: Out<c_int>, flag: Out<c_int>, status: Out<Status>) {
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
        set_status(status, &look(&requests, place)?)
    }

    fn Request_get_status_some(count: c_int, array: Out<Handle>, number: Out<c_int>, indices: Out<c_int>, statuses: Out<Status>) {
        number.check()?;
        let requests = Requests::new(array, count)?;
        let active = requests.active();
        if active.is_empty() {
            return number.set(abi::UNDEFINED);
        }
        let done = test(&requests, &active)?;
        number.set(done.len() as c_int)?;
        indices.set_all(done.iter().map(|place| *place as c_int))?;
        set_all(done.iter().map(|place| look(&requests, *place)).collect(), statuses)
    }
}
