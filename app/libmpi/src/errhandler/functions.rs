//! The functions of MPI on error handlers.

use std::ffi::c_int;
use std::rc::Rc;

use super::{Errhandler, Handled, UserHandler};
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::error::{About, Error, Result};
use crate::layer::{Callback, Function, Kind};
use crate::state::mpi;
use crate::{check, mpi_functions};

/// The four functions on the error handlers of a kind of object; `$find` gives the object of a handle.
macro_rules! errhandler_functions {
    ($kind:ident, $find:expr => $create:ident, $set:ident, $get:ident, $call:ident) => {
        mpi_functions! {
            fn $create(function: Function, errhandler: Out<Handle>) {
                create(Kind::$kind, function, errhandler)
            }

            fn $set(object: Handle, errhandler: Handle) about $kind(object) {
                let handled = $find(object)?;
                let handler = mpi().errhandler_for(Kind::$kind, errhandler)?;
                handled.errhandler().replace(handler);
                Ok(())
            }

            fn $get(object: Handle, errhandler: Out<Handle>) about $kind(object) {
                let handled = $find(object)?;
                errhandler.check()?;
                let handler = handled.errhandler().borrow().clone();
                errhandler.set(mpi().errhandlers.give(&handler))
            }

            fn $call(object: Handle, errorcode: c_int) about $kind(object) {
                $find(object)?;
                handle(About::$kind(object), errorcode);
                Ok(())
            }
        }
    };
}

errhandler_functions!(
    Comm, |object| mpi().comm(object) =>
    Comm_create_errhandler, Comm_set_errhandler, Comm_get_errhandler, Comm_call_errhandler
);
// The names of MPI-1.
mpi_functions! {
    fn Errhandler_create(function: Function, errhandler: Out<Handle>) {
        create(Kind::Comm, function, errhandler)
    }

    fn Errhandler_set(comm: Handle, errhandler: Handle) about Comm(comm) {
        let comm = mpi().comm(comm)?;
        let handler = mpi().errhandler_for(Kind::Comm, errhandler)?;
        comm.errhandler().replace(handler);
        Ok(())
    }

    fn Errhandler_get(comm: Handle, errhandler: Out<Handle>) about Comm(comm) {
        let comm = mpi().comm(comm)?;
        errhandler.check()?;
        let handler = comm.errhandler().borrow().clone();
        errhandler.set(mpi().errhandlers.give(&handler))
    }
}
errhandler_functions!(
    Session, |object| mpi().session(object) =>
    Session_create_errhandler, Session_set_errhandler, Session_get_errhandler, Session_call_errhandler
);

mpi_functions! {
    fn Errhandler_free(errhandler: Out<Handle>) {
        let handle = errhandler.get()?;
        mpi().errhandler(handle)?;
        mpi().errhandlers.take(handle);
        errhandler.set(abi::ERRHANDLER_NULL)
    }
}

/// Makes an error handler for a kind of object.
fn create(kind: Kind, function: Function, place: Out<Handle>) -> Result {
    check!(!function.is_null(), ERR_ARG, "the function is a null pointer");
    let function = Callback::new(function);
    place.check()?;
    let user = UserHandler {
        kind,
        function,
        handle: std::cell::Cell::default(),
        given: std::cell::Cell::default(),
    };
    place.set(mpi().errhandlers.give(&Errhandler::User(Rc::new(user))))
}

/// Calls an object's handler for the program.
fn handle(about: About, code: c_int) {
    let error = Error::new(code, "the program called the error handler");
    super::raise(mpi().call.get(), about, &error);
}
