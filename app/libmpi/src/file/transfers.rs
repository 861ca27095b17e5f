//! The functions that read and write (MPI 4.1, section 14.4).

use std::ffi::c_void;
use std::rc::Rc;

use super::access::{Direction, Place, Together, access, begin, end};
use crate::abi::{Handle, Status};
use crate::argument::Out;
use crate::error::Result;
use crate::p2p::Data;
use crate::request::{Active, Request};
use crate::{both_forms, mpi, mpi_functions};

fn set_status(place: Out<Status>, status: Status) -> Result {
    if place.is_null() {
        return Ok(());
    }
    // Calls with one status leave its error field alone.
    let error = place.get()?.error;
    place.set(Status { error, ..status })
}

/// An access that goes on while the call returns: it is done at once.
fn started(
    file: Handle,
    (direction, place, together): (Direction, Place, Together),
    data: impl FnOnce() -> Result<Data>,
    request: Out<Handle>,
) -> Result {
    let file = mpi().file(file)?;
    request.check()?;
    let status = access(&file, direction, place, together, &data()?)?;
    request.set(mpi().requests.add(Rc::new(Request::active(Active::Done(status)))))
}

fn whole(
    file: Handle,
    (direction, place, together): (Direction, Place, Together),
    data: impl FnOnce() -> Result<Data>,
    status: Out<Status>,
) -> Result {
    set_status(status, access(&*mpi().file(file)?, direction, place, together, &data()?)?)
}

/// The functions at an explicit offset, at which the place is `At(offset)`, or at a pointer. First
/// those that are done when they return, then those with a request.
macro_rules! transfers {
    (
        at: $(
            $name:ident | $large:ident, $start:ident | $start_large:ident:
                $direction:ident, $together:ident, $later:ident;
        )*
    ) => {
        both_forms! { $(
            fn $name | $large (
                file: Handle, offset: i64, buf: *mut c_void, count: Count, datatype: Handle,
                status: Out<Status>
            ) about File(file) {
                let how = (Direction::$direction, Place::At(offset), Together::$together);
                whole(file, how, || Data::new(buf, count, datatype), status)
            }
            fn $start | $start_large (
                file: Handle, offset: i64, buf: *mut c_void, count: Count, datatype: Handle,
                request: Out<Handle>
            ) about File(file) {
                let how = (Direction::$direction, Place::At(offset), Together::$later);
                started(file, how, || Data::new(buf, count, datatype), request)
            }
        )* }
    };
    (
        $(
            $name:ident | $large:ident $(, $start:ident | $start_large:ident)?:
                $direction:ident, $place:ident, $together:ident $(, $later:ident)?;
        )*
    ) => {
        both_forms! { $(
            fn $name | $large (
                file: Handle, buf: *mut c_void, count: Count, datatype: Handle, status: Out<Status>
            ) about File(file) {
                let how = (Direction::$direction, Place::$place, Together::$together);
                whole(file, how, || Data::new(buf, count, datatype), status)
            }
            $(fn $start | $start_large (
                file: Handle, buf: *mut c_void, count: Count, datatype: Handle,
                request: Out<Handle>
            ) about File(file) {
                let how = (Direction::$direction, Place::$place, Together::$later);
                started(file, how, || Data::new(buf, count, datatype), request)
            })?
        )* }
    };
}

transfers! { at:
    File_read_at | File_read_at_c, File_iread_at | File_iread_at_c: Read, Alone, Alone;
    File_write_at | File_write_at_c, File_iwrite_at | File_iwrite_at_c: Write, Alone, Alone;
    File_read_at_all | File_read_at_all_c, File_iread_at_all | File_iread_at_all_c:
        Read, Whole, Later;
    File_write_at_all | File_write_at_all_c, File_iwrite_at_all | File_iwrite_at_all_c:
        Write, Whole, Later;
}

transfers! {
    File_read | File_read_c, File_iread | File_iread_c: Read, Own, Alone, Alone;
    File_write | File_write_c, File_iwrite | File_iwrite_c: Write, Own, Alone, Alone;
    File_read_all | File_read_all_c, File_iread_all | File_iread_all_c: Read, Own, Whole, Later;
    File_write_all | File_write_all_c, File_iwrite_all | File_iwrite_all_c:
        Write, Own, Whole, Later;
    File_read_shared | File_read_shared_c, File_iread_shared | File_iread_shared_c:
        Read, Shared, Alone, Alone;
    File_write_shared | File_write_shared_c, File_iwrite_shared | File_iwrite_shared_c:
        Write, Shared, Alone, Alone;
    File_read_ordered | File_read_ordered_c: Read, Ordered, Later;
    File_write_ordered | File_write_ordered_c: Write, Ordered, Whole;
}

both_forms! {
    fn File_read_at_all_begin | File_read_at_all_begin_c (
        file: Handle, offset: i64, buf: *mut c_void, count: Count, datatype: Handle
    ) about File(file) {
        begin(
            &*mpi().file(file)?, Direction::Read, Place::At(offset),
            &Data::new(buf, count, datatype)?
        )
    }

    fn File_write_at_all_begin | File_write_at_all_begin_c (
        file: Handle, offset: i64, buf: *mut c_void, count: Count, datatype: Handle
    ) about File(file) {
        begin(
            &*mpi().file(file)?, Direction::Write, Place::At(offset),
            &Data::new(buf, count, datatype)?
        )
    }

    fn File_read_all_begin | File_read_all_begin_c (
        file: Handle, buf: *mut c_void, count: Count, datatype: Handle
    ) about File(file) {
        begin(&*mpi().file(file)?, Direction::Read, Place::Own, &Data::new(buf, count, datatype)?)
    }

    fn File_write_all_begin | File_write_all_begin_c (
        file: Handle, buf: *mut c_void, count: Count, datatype: Handle
    ) about File(file) {
        begin(&*mpi().file(file)?, Direction::Write, Place::Own, &Data::new(buf, count, datatype)?)
    }

    fn File_read_ordered_begin | File_read_ordered_begin_c (
        file: Handle, buf: *mut c_void, count: Count, datatype: Handle
    ) about File(file) {
        begin(
            &*mpi().file(file)?, Direction::Read, Place::Ordered, &Data::new(buf, count, datatype)?
        )
    }

    fn File_write_ordered_begin | File_write_ordered_begin_c (
        file: Handle, buf: *mut c_void, count: Count, datatype: Handle
    ) about File(file) {
        begin(
            &*mpi().file(file)?, Direction::Write, Place::Ordered, &Data::new(buf, count, datatype)?
        )
    }
}

macro_rules! ends {
    ($($name:ident: $direction:ident, $place:expr;)*) => {
        mpi_functions! { $(
            fn $name(file: Handle, buf: *mut c_void, status: Out<Status>) about File(file) {
                // The data is there since the call that began it.
                let _ = buf;
                set_status(status, end(&*mpi().file(file)?, Direction::$direction, $place)?)
            }
        )* }
    };
}

ends! {
    File_read_at_all_end: Read, Place::At(0);
    File_write_at_all_end: Write, Place::At(0);
    File_read_all_end: Read, Place::Own;
    File_write_all_end: Write, Place::Own;
    File_read_ordered_end: Read, Place::Ordered;
    File_write_ordered_end: Write, Place::Ordered;
}
