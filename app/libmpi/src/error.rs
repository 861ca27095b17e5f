//! Errors of MPI calls.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::{self, Handle, Status};
use crate::comm::Comm;

/// A failure: an error class of the standard ([`abi`]) or a code that the program made, and what it
/// is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Error code; those of the library are classes.
    pub code: c_int,
    /// A description of the error, for error handlers that print it.
    pub text: String,
    /// The message that a receive failed with.
    pub received: Option<Box<Received>>,
}

/// A message of which only a part was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its status, as far as it is known.
    pub status: Status,
    /// The communicator that it came in, whose error handler hears of it. The program may have
    /// freed its handle since, and another communicator may have it.
    pub comm: Rc<Comm>,
}

impl PartialEq for Received {
    fn eq(&self, other: &Self) -> bool {
        self.status == other.status && Rc::ptr_eq(&self.comm, &other.comm)
    }
}

impl Eq for Received {}

/// The result of a function of MPI inside this library.
pub type Result<T = ()> = std::result::Result<T, Error>;

impl Error {
    /// An error of a class of [`abi`], such as `ERR_RANK`.
    pub fn new(code: c_int, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), received: None }
    }

    /// The error of a receive that took in only a part of its message.
    #[must_use]
    pub fn of_message(self, status: Status, comm: &Rc<Comm>) -> Self {
        Self { received: Some(Box::new(Received { status, comm: Rc::clone(comm) })), ..self }
    }

    /// The error of a function that is not implemented.
    pub fn unsupported(text: impl Into<String>) -> Self {
        Self::new(abi::ERR_UNSUPPORTED_OPERATION, text)
    }
}

impl From<objects::Error> for Error {
    fn from(error: objects::Error) -> Self {
        Self::new(error.code, error.text)
    }
}

/// The object whose error handler hears of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Nobody's in particular: that of `MPI_COMM_SELF`, or the world's.
    Nothing,
    /// A communicator.
    Comm(Handle),
    /// A window.
    Win(Handle),
    /// A file.
    File(Handle),
    /// A session.
    Session(Handle),
    /// A communicator that the call is to make, which gets this error handler.
    NewComm(Handle),
    /// A session that the call is to begin, which gets this error handler.
    NewSession(Handle),
}

/// An `Err` of a class if a condition does not hold.
#[macro_export]
macro_rules! check {
    ($condition:expr, $class:ident, $($text:tt)*) => {
        if !$condition {
            return Err($crate::Error::new($crate::abi::$class, format!($($text)*)));
        }
    };
}
