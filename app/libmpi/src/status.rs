//! The status of a message that has been received (MPI 4.1, sections 3.2.5 and 5.1.11).

use std::ffi::c_int;

use crate::abi::{self, Handle, Status};
use crate::argument::{In, Number, Out};
use crate::error::Result;
use crate::{both_forms, check, mpi, mpi_functions};

/// Writes a status where the program wants one.
pub fn set_status(place: Out<Status>, status: &Status) -> Result {
    if place.address().is_null() {
        return Ok(());
    }
    // Calls with one status leave its error field alone.
    let error = place.get()?.error;
    place.set(Status { error, ..*status })
}

/// Writes what is known of a message where the program wants it, also if not all of it was
/// received.
pub fn tell(place: Out<Status>, outcome: Result<Status>) -> Result {
    let received = outcome.as_ref().map_or_else(
        |error| error.received.as_ref().map(|received| received.status),
        |status| Some(*status),
    );
    received.map_or(Ok(()), |status| set_status(place, &status))?;
    outcome.map(|_| ())
}

/// The number of elements of a datatype in a message, if they are whole.
fn count(status: &Status, datatype: Handle) -> Result<i64> {
    let size = mpi().datatype(datatype)?.size();
    let bytes = status.bytes();
    Ok(match bytes.checked_rem(size) {
        Some(0) => (bytes / size) as i64,
        None if bytes == 0 => 0,
        _ => abi::UNDEFINED.into(),
    })
}

/// The number of basic elements in a message, if they are whole.
fn elements(status: &Status, datatype: Handle) -> Result<i64> {
    let elements = mpi().datatype(datatype)?.elements_in(status.bytes());
    Ok(elements.map_or(abi::UNDEFINED.into(), |elements| elements as i64))
}

fn set_elements(status: Out<Status>, datatype: Handle, elements: i64) -> Result {
    check!(elements >= 0, ERR_COUNT, "a count is negative: {elements}");
    let mut changed = status.get()?;
    changed.set_bytes(mpi().datatype(datatype)?.bytes_of(elements as u64));
    status.set(changed)
}

both_forms! {
    local fn Get_count | Get_count_c (status: In<Status>, datatype: Handle, result: Out<Count>) {
        result.set(Count::narrow(count(&status.get()?, datatype)?))
    }

    local fn Get_elements | Get_elements_c (
        status: In<Status>, datatype: Handle, result: Out<Count>
    ) {
        result.set(Count::narrow(elements(&status.get()?, datatype)?))
    }

    fn Status_set_elements | Status_set_elements_c (
        status: Out<Status>, datatype: Handle, count: Count
    ) {
        set_elements(status, datatype, count.wide())
    }
}

mpi_functions! {
    local fn Get_elements_x(status: In<Status>, datatype: Handle, result: Out<i64>) {
        result.set(elements(&status.get()?, datatype)?)
    }

    fn Status_set_elements_x(status: Out<Status>, datatype: Handle, count: i64) {
        set_elements(status, datatype, count)
    }

    fn Status_set_cancelled(status: Out<Status>, flag: c_int) {
        let mut changed = status.get()?;
        changed.set_cancelled(flag != 0);
        status.set(changed)
    }

    local fn Test_cancelled(status: In<Status>, flag: Out<c_int>) {
        flag.set(c_int::from(status.get()?.cancelled()))
    }

    local fn Status_get_source(status: In<Status>, source: Out<c_int>) {
        source.set(status.get()?.source)
    }

    local fn Status_get_tag(status: In<Status>, tag: Out<c_int>) {
        tag.set(status.get()?.tag)
    }

    local fn Status_get_error(status: In<Status>, error: Out<c_int>) {
        error.set(status.get()?.error)
    }

    fn Status_set_source(status: Out<Status>, source: c_int) {
        status.set(Status { source, ..status.get()? })
    }

    fn Status_set_tag(status: Out<Status>, tag: c_int) {
        status.set(Status { tag, ..status.get()? })
    }

    fn Status_set_error(status: Out<Status>, error: c_int) {
        status.set(Status { error, ..status.get()? })
    }
}
