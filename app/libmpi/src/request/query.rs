//! Queries of operations that stay as they are (MPI 4.1, section 3.7.6).

use std::ffi::c_int;

use super::Active;
use super::array::Requests;
use super::completion::{test_all, test_any, test_one, test_some};
use crate::abi::{Handle, Status};
use crate::argument::Out;
use crate::error::Result;
use crate::mpi_functions;

/// Takes in the data of an operation that is done, which stays for a later call to complete it.
fn look(requests: &Requests, place: usize) -> Result<Status> {
    let Some(request) = requests.at(place).filter(|request| request.is_active()) else {
        return Ok(Status::empty());
    };
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

/// Sets the status to one without an error where there was nothing to ask about, as MPICH does.
/// Calls that complete operations leave that field alone.
fn no_error(requests: &Requests, status: Out<Status>) -> Result {
    if requests.active().is_empty() && !status.address().is_null() {
        status.set(Status::empty())?;
    }
    Ok(())
}

mpi_functions! {
    fn Request_get_status(request: Handle, flag: Out<c_int>, status: Out<Status>) {
        let requests = Requests::of(&[request])?;
        test_one(&requests, flag, status, look)?;
        no_error(&requests, status)
    }

    fn Request_get_status_all(
        count: c_int, array: Out<Handle>, flag: Out<c_int>, statuses: Out<Status>
    ) {
        test_all(&Requests::new(array, count)?, flag, statuses, look)
    }

    fn Request_get_status_any(
        count: c_int, array: Out<Handle>, index: Out<c_int>, flag: Out<c_int>, status: Out<Status>
    ) {
        let requests = Requests::new(array, count)?;
        test_any(&requests, (index, flag), status, look)?;
        no_error(&requests, status)
    }

    fn Request_get_status_some(
        count: c_int, array: Out<Handle>, number: Out<c_int>, indices: Out<c_int>,
        statuses: Out<Status>
    ) {
        test_some(&Requests::new(array, count)?, (number, indices, statuses), look)
    }
}
