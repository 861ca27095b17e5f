//! The macros that make the exported functions, and the way of an error to its handler.

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
/// The body gives a [`Result`]. What comes behind `about` is a variant of [`About`]: whose error
/// handler is called if it fails; without it, nobody's in particular. Error handlers of the program
/// may leave the call with an exception. A `local fn` is carried out by [`tell`], any other by
/// [`run`].
#[macro_export]
macro_rules! mpi_functions {
    () => {};
    (fn $($rest:tt)*) => {
        $crate::mpi_functions!(@first run, $($rest)*);
    };
    (local fn $($rest:tt)*) => {
        $crate::mpi_functions!(@first tell, $($rest)*);
    };
    (
        @first $how:ident,
        $name:ident (
            $($argument:ident : $type:ty),* $(,)?
        ) about $kind:ident ( $handle:expr ) $body:block $($rest:tt)*
    ) => {
        $crate::mpi_functions!(
            @one $how, $name, ($($argument: $type),*), $crate::error::About::$kind($handle), $body
        );
        $crate::mpi_functions!($($rest)*);
    };
    (
        @first $how:ident,
        $name:ident ( $($argument:ident : $type:ty),* $(,)? ) $body:block $($rest:tt)*
    ) => {
        $crate::mpi_functions!(
            @one $how, $name, ($($argument: $type),*), $crate::error::About::Nothing, $body
        );
        $crate::mpi_functions!($($rest)*);
    };
    (@one $how:ident, $name:ident, ($($argument:ident : $type:ty),*), $about:expr, $body:block) => {
        const _: () = {
            #[unsafe(export_name = concat!("heddle_", stringify!($name)))]
            unsafe extern "C-unwind" fn call($($argument: $type),*) -> std::ffi::c_int {
                $crate::call::$how(
                    concat!("MPI_", stringify!($name)), $about, &mut || -> $crate::Result { $body }
                )
            }
        };
    };
}

/// The body of a function. The way around it is compiled once for all, which keeps the library
/// small.
type Body<'a> = &'a mut dyn FnMut() -> Result;

/// Carries out a call.
pub fn run(name: &'static str, about: About, body: Body) -> c_int {
    guard(name, about, || {
        let _inside = crate::state::enter(name)?;
        // Nobody waits for what was given up, so that it is taken in whenever it has come by the
        // end of a call.
        body().and_then(|()| crate::request::adopt())
    })
}

/// Carries out a call that tells what the library knows and leaves the simulator out. It is part of
/// what the program computes, as two looks at the processor's clock would take many times as long
/// as the call.
pub fn tell(name: &'static str, about: About, body: Body) -> c_int {
    guard(name, about, || {
        let _inside = crate::state::look_up(name);
        body()
    })
}

/// Carries out a call and returns its code. A panic, which is a bug, ends the process with a
/// message rather than unwinding into C.
fn guard(name: &'static str, about: About, call: impl FnOnce() -> Result) -> c_int {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)) {
        Ok(Ok(())) => abi::SUCCESS,
        Ok(Err(error)) => raise(name, about, error),
        Err(_) => {
            eprintln!("heddle: {name} failed within the MPI library; this is a bug of heddle");
            std::process::abort()
        }
    }
}

/// Calls the error handler of what an error is about; gives the code that the call returns.
pub fn raise(name: &'static str, about: About, error: Error) -> c_int {
    crate::errhandler::raise(name, about, error)
}

/// Exports functions in both their forms: counts as `int`, and, under the second name, as
/// `MPI_Count`.
///
/// ```ignore
/// both_forms! {
///     fn Type_size | Type_size_c (datatype: Handle, size: Out<Count>) {
///         size.set(Count::narrow(mpi().datatype(datatype)?.size() as i64))
///     }
/// }
/// ```
///
/// In arguments and body, `Count` is `int` or `MPI_Count`, `Aint` is `MPI_Aint` or `MPI_Count`,
/// `Displacement` is `int` or `MPI_Aint`, and `LARGE` tells the forms apart.
#[macro_export]
macro_rules! both_forms {
    () => {};
    (fn $($rest:tt)*) => {
        $crate::both_forms!(@first (fn), $($rest)*);
    };
    (local fn $($rest:tt)*) => {
        $crate::both_forms!(@first (local fn), $($rest)*);
    };
    (
        @first $how:tt,
        $small:ident | $large:ident (
            $($argument:ident : $type:ty),* $(,)?
        ) about $kind:ident ( $handle:expr ) $body:block $($rest:tt)*
    ) => {
        $crate::both_forms!(
            @two $how, $small, $large, { ( $($argument: $type),* ) about $kind($handle) $body }
        );
        $crate::both_forms!($($rest)*);
    };
    (
        @first $how:tt,
        $small:ident | $large:ident (
            $($argument:ident : $type:ty),* $(,)?
        ) $body:block $($rest:tt)*
    ) => {
        $crate::both_forms!(@two $how, $small, $large, { ( $($argument: $type),* ) $body });
        $crate::both_forms!($($rest)*);
    };
    (@two $how:tt, $small:ident, $large:ident, $function:tt) => {
        $crate::both_forms!(
            @one $how, $small, std::ffi::c_int, isize, std::ffi::c_int, false, $function
        );
        $crate::both_forms!(@one $how, $large, i64, i64, isize, true, $function);
    };
    (
        @one ($($how:tt)*), $name:ident, $count:ty, $aint:ty, $displacement:ty, $is_large:expr,
        { $($function:tt)* }
    ) => {
        // Not every function uses all of these.
        #[allow(dead_code, clippy::useless_conversion)]
        const _: () = {
            type Count = $count;
            type Aint = $aint;
            type Displacement = $displacement;
            const LARGE: bool = $is_large;
            $crate::mpi_functions! { $($how)* $name $($function)* }
        };
    };
}

/// Fails as a function that is not implemented. The layers call it for a function that this library
/// does not export.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn heddle_unsupported(name: *const c_char) -> c_int {
    // SAFETY: the layers give a literal.
    let name: &'static CStr = unsafe { CStr::from_ptr(name) };
    let name = name.to_str().unwrap_or("MPI");
    run(name, About::Nothing, &mut || Err(Error::unsupported(format!("{name} is not implemented"))))
}
