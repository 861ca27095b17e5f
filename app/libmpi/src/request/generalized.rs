//! Operations that the program itself carries out (MPI 4.1, section 13.2).

use std::cell::Cell;
use std::ffi::c_void;
use std::rc::Rc;

use super::{Active, Generalized, Request};
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::error::Error;
use crate::layer::{Callback, Function};
use crate::{check, mpi, mpi_functions};

mpi_functions! {
    fn Grequest_start(query: Function, free: Function, cancel: Function, extra: *mut c_void, request: Out<Handle>) {
        request.check()?;
        check!(![query, free, cancel].iter().any(|function| function.is_null()), ERR_ARG, "a function is missing");
        let [query, free, cancel] = [query, free, cancel].map(Callback::new);
        let operation = Generalized { query, free, cancel, extra, complete: Cell::new(false) };
        request.set(mpi().requests.add(Rc::new(Request::active(Active::Generalized(Rc::new(operation))))))
    }

    fn Grequest_complete(request: Handle) {
        let known = mpi().request(request)?;
        let known = known.ok_or_else(|| Error::new(abi::ERR_REQUEST, "the null request is no generalized one"))?;
        match &*known.active.borrow() {
            Some(Active::Generalized(operation)) => operation.complete.set(true),
            _ => return Err(Error::new(abi::ERR_REQUEST, "the request is no generalized one")),
        }
        Ok(())
    }
}
