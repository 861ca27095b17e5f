//! The functions of MPI on error handlers.

use std::ffi::c_int;
use std::rc::Rc;

use super::{Errhandler, UserHandler};
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::error::{About, Error, Result};
use crate::layer::{Callback, Function, Kind};
use crate::state::mpi;
use crate::{check, mpi_functions};

/// The functions on the error handlers of a kind of object.
macro_rules! errhandler_functions {
    ($kind:ident: $create:ident, $set:ident, $get:ident $(, $call:ident)?) => {
        mpi_functions! {
            fn $create(function: Function, errhandler: Out<Handle>) {
                create(Kind::$kind, function, errhandler)
            }

            fn $set(object: Handle, errhandler: Handle) about $kind(object) {
                let handled = mpi().handled(About::$kind(object))?;
                let handler = mpi().errhandler_for(Kind::$kind, errhandler)?;
                handled.errhandler().replace(handler);
                Ok(())
            }

            fn $get(object: Handle, errhandler: Out<Handle>) about $kind(object) {
                let handled = mpi().handled(About::$kind(object))?;
                errhandler.check()?;
                let handler = handled.errhandler().borrow().clone();
                errhandler.set(mpi().errhandlers.give(&handler))
            }

            $(fn $call(object: Handle, errorcode: c_int) about $kind(object) {
                mpi().handled(About::$kind(object))?;
                let error = Error::new(errorcode, "the program called the error handler");
                super::raise(mpi().call.get(), About::$kind(object), error);
                Ok(())
            })?
        }
    };
}

errhandler_functions!(
    Comm: Comm_create_errhandler, Comm_set_errhandler, Comm_get_errhandler, Comm_call_errhandler
);
errhandler_functions!(
    Win: Win_create_errhandler, Win_set_errhandler, Win_get_errhandler, Win_call_errhandler
);
errhandler_functions!(
    File: File_create_errhandler, File_set_errhandler, File_get_errhandler, File_call_errhandler
);
errhandler_functions!(
    Session: Session_create_errhandler, Session_set_errhandler, Session_get_errhandler,
    Session_call_errhandler
);
// The names of MPI-1.
errhandler_functions!(Comm: Errhandler_create, Errhandler_set, Errhandler_get);

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
