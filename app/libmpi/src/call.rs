//! How the exported functions are made, and what becomes of their errors.

use std::ffi::{CStr, c_char, c_int};

use crate::abi;
use crate::error::{About, Error, Result};

/// Exports functions of MPI as `heddle_NAME`.
///
/// ```ignore
/// mpi_functions! {
///     fn Comm_size(comm: Handle, size: *mut c_int) about Comm(comm) {
///         unsafe { *size = mpi().comm(comm)?.size() };
///         Ok(())
///     }
/// }
/// ```
///
/// The body gives a [`Result`]. What comes behind `about` is a variant of [`About`]: whose error handler is called if it
/// fails; without it, nobody's in particular.
#[macro_export]
macro_rules! mpi_functions {
    () => {};
    (fn $name:ident ( $($argument:ident : $type:ty),* $(,)? ) about $kind:ident ( $handle:expr ) $body:block $($rest:tt)*) => {
        $crate::mpi_functions!(@one $name, ($($argument: $type),*), $crate::error::About::$kind($handle), $body);
        $crate::mpi_functions!($($rest)*);
    };
    (fn $name:ident ( $($argument:ident : $type:ty),* $(,)? ) $body:block $($rest:tt)*) => {
        $crate::mpi_functions!(@one $name, ($($argument: $type),*), $crate::error::About::Nothing, $body);
        $crate::mpi_functions!($($rest)*);
    };
    (@one $name:ident, ($($argument:ident : $type:ty),*), $about:expr, $body:block) => {
        const _: () = {
            #[unsafe(export_name = concat!("heddle_", stringify!($name)))]
            unsafe extern "C" fn call($($argument: $type),*) -> std::ffi::c_int {
                $crate::call::run(concat!("MPI_", stringify!($name)), $about, || -> $crate::Result { $body })
            }
        };
    };
}

/// Carries out a call. A panic, which is a bug, ends the process with a message rather than unwinding into C.
pub fn run(name: &'static str, about: About, body: impl FnOnce() -> Result) -> c_int {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _inside = crate::state::enter(name);
        body()
    }));
    match outcome {
        Ok(Ok(())) => abi::SUCCESS,
        Ok(Err(error)) => raise(name, about, &error),
        Err(_) => {
            eprintln!("heddle: {name} failed within the MPI library; this is a bug of heddle");
            std::process::abort()
        }
    }
}

/// Calls the error handler of what an error is about; gives the code that the call returns.
pub fn raise(name: &'static str, about: About, error: &Error) -> c_int {
    crate::state::raise(name, about, error)
}

/// What the layers call for a function that this library does not export: fails as such. The name lives as long as the process.
#[unsafe(no_mangle)]
unsafe extern "C" fn heddle_unsupported(name: *const c_char) -> c_int {
    // SAFETY: the layers give a literal.
    let name: &'static CStr = unsafe { CStr::from_ptr(name) };
    let name = name.to_str().unwrap_or("MPI");
    run(name, About::Nothing, || Err(Error::unsupported(format!("{name} is not implemented"))))
}
