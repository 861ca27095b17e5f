//! Operations of the program's own (MPI 4.1, section 13.2).

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use super::{Active, Request};
use crate::abi::{self, Handle, Status};
use crate::argument::Out;
use crate::error::{Error, Result};
use crate::layer::{Callback, Function};
use crate::{check, mpi, mpi_functions};

/// An operation of the program's own.
#[derive(Debug)]
pub struct Generalized {
    query: Callback,
    free: Callback,
    cancel: Callback,
    extra: *mut c_void,
    pub(super) complete: Cell<bool>,
    /// The program has freed the request before it was complete.
    pub(super) freed: Cell<bool>,
}

impl Generalized {
    /// The program says how it ended.
    pub(super) fn ask(&self) -> Result<Status> {
        let mut status = Status::empty();
        // SAFETY: the function and its argument are the program's.
        passed(unsafe { self.query.query(self.extra, &raw mut status) })?;
        Ok(status)
    }

    /// Asks the program how it ended, and frees it.
    pub(super) fn end(&self) -> Result<Status> {
        let (status, freed) = (self.ask(), self.free());
        freed.and(status)
    }

    /// The program forgets it.
    pub(super) fn free(&self) -> Result {
        // SAFETY: the function and its argument are the program's.
        passed(unsafe { self.free.free(self.extra) })
    }

    /// The program gives it up.
    pub(super) fn cancel(&self) -> Result {
        // SAFETY: the function and its argument are the program's.
        passed(unsafe { self.cancel.cancel(self.extra, self.complete.get()) })
    }
}

/// The outcome of a function of the program: its code is that of the call.
fn passed(code: c_int) -> Result {
    match code {
        abi::SUCCESS => Ok(()),
        _ => Err(Error::new(code, "a function of a generalized request failed")),
    }
}

mpi_functions! {
    fn Grequest_start(
        query: Function, free: Function, cancel: Function, extra: *mut c_void, request: Out<Handle>
    ) {
        request.check()?;
        check!(
            ![query, free, cancel].iter().any(|function| function.is_null()), ERR_ARG,
            "a function is missing"
        );
        let [query, free, cancel] = [query, free, cancel].map(Callback::new);
        let operation = Generalized {
            query, free, cancel, extra, complete: Cell::new(false), freed: Cell::new(false)
        };
        request.set(
            mpi().requests.add(Rc::new(Request::active(Active::Generalized(Rc::new(operation)))))
        )
    }

    fn Grequest_complete(request: Handle) {
        let known = mpi().request(request)?;
        let known = known.ok_or_else(|| {
            Error::new(abi::ERR_REQUEST, "the null request is no generalized one")
        })?;
        let operation = known.generalized();
        let operation = operation.ok_or_else(|| {
            Error::new(abi::ERR_REQUEST, "the request is no generalized one")
        })?;
        operation.complete.set(true);
        if operation.freed.get() {
            mpi().requests.remove(request);
            operation.free()?;
        }
        Ok(())
    }
}
