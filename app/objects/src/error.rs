//! Errors of functions on objects.

use std::ffi::c_int;

/// A failure: an error class of the standard ([`crate::abi`]), or a code that the program made, and
/// what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The error code; those of the library are classes.
    pub code: c_int,
    /// A description of the error, for error handlers that print it.
    pub text: String,
}

/// The result of a function on objects.
pub type Result<T = ()> = std::result::Result<T, Error>;

impl Error {
    /// An error of a class of [`crate::abi`], such as `ERR_RANK`.
    pub fn new(code: c_int, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }
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
