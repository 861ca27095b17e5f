//! What the library knows for a rank.
//!
//! A rank's state is reached with [`mpi`]. It is used by one thread at a time: [`enter`] takes the library's lock, and whoever waits for
//! the simulator gives it up.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::error::{About, Error};

/// A rank's state. Each module keeps what it needs in a field of its own, with interior mutability; nothing stays borrowed
/// while a function of the program is called.
#[derive(Debug, Default)]
pub struct Mpi {
    /// The call that is under way, for messages.
    pub call: Cell<&'static str>,
    /// Datatypes.
    pub types: crate::datatype::Types,
    /// Operations.
    pub ops: crate::op::Operations,
}

/// The state of the rank that is running. The holder of several ranks changes it.
static CURRENT: AtomicPtr<Mpi> = AtomicPtr::new(std::ptr::null_mut());

/// The state of the calling rank.
pub fn mpi() -> &'static Mpi {
    let current = CURRENT.load(Ordering::Acquire);
    if let Some(state) = unsafe { current.as_ref() } {
        return state;
    }
    let made = Box::into_raw(Box::<Mpi>::default());
    CURRENT.store(made, Ordering::Release);
    unsafe { &*made }
}

/// A call is under way as long as this lives.
#[derive(Debug)]
pub struct Inside;

/// A call begins.
pub fn enter(name: &'static str) -> Inside {
    mpi().call.set(name);
    Inside
}

/// See [`crate::call::raise`].
pub fn raise(name: &'static str, about: About, error: &Error) -> c_int {
    let _ = (name, about);
    error.code
}
