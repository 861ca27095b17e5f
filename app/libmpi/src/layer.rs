//! Calls of functions of a program: reductions, attribute functions, error handlers, generalised
//! requests.
//!
//! Such a function has the calling convention of the binary interface the program was made for: the
//! handles and statuses it is given look as that interface says, and one written in Fortran takes
//! everything by reference. Therefore a layer may supply, in a [`Layer`], what makes such calls. A
//! program's function is kept as a [`Callback`], which remembers the layer it was handed in
//! through, since C and Fortran meet in one program.
//!
//! A layer names itself once, when it is loaded, with `heddle_set_layer`. A second layer of the
//! same program (Fortran over C) does so around a call that hands in a function, with
//! `heddle_use_layer`, and then puts back what that gave. Without a layer, and where an entry of it
//! is null, the convention is that of C with the standard binary interface.
//!
//! The addresses of data and extra state are the same in all interfaces and stay untranslated. An
//! attribute's value is a pointer in C and an integer in Fortran ([`Form`]). Error codes, which
//! differ, are translated by the layer in both directions.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

pub use objects::attributes::{Form, Kind};

use crate::abi::{Handle, Status};
use crate::state::suspended;

/// A program's function, of whatever type.
pub type Function = *const c_void;

/// The value of [`Layer::version`] that this library knows.
pub const VERSION: usize = 2;

/// `void call(function, large, invec, inoutvec, count, datatype)`: a user's reduction
/// (`MPI_User_function`; with `large` not 0, `MPI_User_function_c`) of `count` elements. The
/// program's function takes count and datatype by address.
pub type Reduce = unsafe extern "C" fn(Function, c_int, *mut c_void, *mut c_void, i64, Handle);
/// `int call(kind, function, object, keyval, extra_state, value, copied value, flag)`.
pub type CopyAttribute = unsafe extern "C" fn(
    Kind,
    Function,
    Handle,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut *mut c_void,
    *mut c_int,
) -> c_int;
/// `int call(kind, function, object, keyval, value, extra_state)`.
pub type DeleteAttribute =
    unsafe extern "C" fn(Kind, Function, Handle, c_int, *mut c_void, *mut c_void) -> c_int;
/// `void call(kind, function, object, code)`: an error handler, which may change the code.
pub type HandleError = unsafe extern "C-unwind" fn(Kind, Function, Handle, *mut c_int);
/// `int call(function, extra_state, status)` of a generalised request.
pub type Query = unsafe extern "C" fn(Function, *mut c_void, *mut Status) -> c_int;
/// `int call(function, extra_state)` of a generalised request.
pub type Free = unsafe extern "C" fn(Function, *mut c_void) -> c_int;
/// `int call(function, extra_state, complete)` of a generalised request.
pub type Cancel = unsafe extern "C" fn(Function, *mut c_void, c_int) -> c_int;
/// `int call(function, datatype, extent, extra_state)` of a data representation.
pub type Extent = unsafe extern "C" fn(Function, Handle, *mut isize, *mut c_void) -> c_int;
/// `int call(function, large, userbuf, datatype, count, filebuf, position, extra_state)` of a data
/// representation.
pub type Convert = unsafe extern "C" fn(
    Function,
    c_int,
    *mut c_void,
    Handle,
    i64,
    *mut c_void,
    i64,
    *mut c_void,
) -> c_int;

/// The functions by which a binary interface calls a program's functions; each entry is given the
/// function and its arguments in the terms of the standard binary interface. A null entry stands
/// for C with that interface.
#[repr(C)]
#[derive(Debug)]
pub struct Layer {
    /// [`VERSION`].
    pub version: usize,
    /// The name of the layer, for messages.
    pub name: *const c_char,
    /// Calls a user's reduction.
    pub reduce: Option<Reduce>,
    /// Calls an attribute copy function.
    pub copy_attribute: Option<CopyAttribute>,
    /// Calls an attribute delete function.
    pub delete_attribute: Option<DeleteAttribute>,
    /// Calls an error handler.
    pub handle_error: Option<HandleError>,
    /// Calls the query function of a generalised request.
    pub query: Option<Query>,
    /// Calls the free function of a generalised request.
    pub free: Option<Free>,
    /// Calls the cancel function of a generalised request.
    pub cancel: Option<Cancel>,
    /// Calls the extent function of a data representation.
    pub extent: Option<Extent>,
    /// Calls a conversion function of a data representation.
    pub convert: Option<Convert>,
    /// The number of a [`Form`]: how it sets and reads attributes.
    pub attributes: c_int,
}

/// The form of attributes in the calls of a layer.
fn form(layer: Option<&Layer>) -> Form {
    match layer.map_or(0, |layer| layer.attributes) {
        1 => Form::Address,
        2 => Form::Integer,
        _ => Form::Pointer,
    }
}

/// The form of attributes in the call that this thread is within.
pub fn current_form() -> Form {
    form(current())
}

/// The layer that the program was linked with. It is the same for all ranks of a process.
static PROGRAM: AtomicPtr<Layer> = AtomicPtr::new(std::ptr::null_mut());

// SAFETY: a layer is not changed once the library knows of it, and its functions may be called by
// any thread.
unsafe impl Sync for Layer {}

thread_local! {
    /// The layer whose call this thread is within, if it is another one.
    static CALLER: Cell<*const Layer> = const { Cell::new(std::ptr::null()) };
}

/// Names the layer that the program was linked with; it must stay where it is. Null: none. Returns
/// 0, or 1 if the layer is of another version, and then it is not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_set_layer(layer: *const Layer) -> c_int {
    // SAFETY: null, or a layer that lives as long as the process.
    if unsafe { layer.as_ref() }.is_some_and(|layer| layer.version != VERSION) {
        return 1;
    }
    PROGRAM.store(layer.cast_mut(), Ordering::Release);
    0
}

/// Names the layer, of version [`VERSION`], through which this thread makes its next calls; null:
/// the program's. Returns the one before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn heddle_use_layer(layer: *const Layer) -> *const Layer {
    CALLER.replace(layer)
}

/// The layer that a function handed in now comes through.
fn current() -> Option<&'static Layer> {
    let caller = CALLER.get();
    let layer =
        if caller.is_null() { PROGRAM.load(Ordering::Acquire).cast_const() } else { caller };
    // SAFETY: layers live as long as the process.
    unsafe { layer.as_ref() }
}

/// Before a function of the program runs, whose calls come through layers of their own.
fn leave() {
    CALLER.set(std::ptr::null());
}

/// A function of the program, and how it is called.
#[derive(Clone, Copy, Debug)]
pub struct Callback {
    function: Function,
    layer: Option<&'static Layer>,
}

/// The program's function at an address, as a function of a type.
macro_rules! function {
    ($function:expr, ($($argument:ty),*) $(-> $result:ty)?) => {
        std::mem::transmute::<
            Function, unsafe extern "C" fn($($argument),*) $(-> $result)?
        >($function)
    };
}

// Each of the functions here requires that the callback is a function of the type it says, and that
// the pointers are what the standard says of that type.
#[allow(clippy::too_many_arguments)]
impl Callback {
    /// A function that is being handed in by the program.
    pub fn new(function: Function) -> Self {
        Self { function, layer: current() }
    }

    /// Its address.
    pub fn address(&self) -> usize {
        self.function as usize
    }

    /// The form in which its language sees an attribute's value.
    pub fn form(&self) -> Form {
        form(self.layer)
    }

    /// Calls an `MPI_User_function`, or, if `large`, an `MPI_User_function_c`.
    pub unsafe fn reduce(
        &self,
        large: bool,
        from: *mut c_void,
        into: *mut c_void,
        mut count: i64,
        mut datatype: Handle,
    ) {
        // SAFETY: the caller's.
        suspended(|| unsafe {
            if let Some(call) = self.layer.and_then(|layer| layer.reduce) {
                call(self.function, c_int::from(large), from, into, count, datatype);
            } else if large {
                function!(self.function, (*mut c_void, *mut c_void, *mut i64, *mut Handle))(
                    from,
                    into,
                    &raw mut count,
                    &raw mut datatype,
                );
            } else {
                let mut count = count as c_int;
                function!(self.function, (*mut c_void, *mut c_void, *mut c_int, *mut Handle))(
                    from,
                    into,
                    &raw mut count,
                    &raw mut datatype,
                );
            }
        });
    }

    /// Calls an `MPI_Comm_copy_attr_function` or that of another kind.
    pub unsafe fn copy_attribute(
        &self,
        kind: Kind,
        object: Handle,
        keyval: c_int,
        extra: *mut c_void,
        value: *mut c_void,
        copy: *mut *mut c_void,
        flag: *mut c_int,
    ) -> c_int {
        leave();
        // SAFETY: the caller's.
        suspended(|| unsafe {
            match self.layer.and_then(|layer| layer.copy_attribute) {
                Some(call) => call(kind, self.function, object, keyval, extra, value, copy, flag),
                None => function!(
                    self.function,
                    (Handle, c_int, *mut c_void, *mut c_void, *mut *mut c_void, *mut c_int) -> c_int
                )(object, keyval, extra, value, copy, flag),
            }
        })
    }

    /// Calls an `MPI_Comm_delete_attr_function` or that of another kind.
    pub unsafe fn delete_attribute(
        &self,
        kind: Kind,
        object: Handle,
        keyval: c_int,
        value: *mut c_void,
        extra: *mut c_void,
    ) -> c_int {
        leave();
        // SAFETY: the caller's.
        suspended(|| unsafe {
            match self.layer.and_then(|layer| layer.delete_attribute) {
                Some(call) => call(kind, self.function, object, keyval, value, extra),
                None => {
                    function!(self.function, (Handle, c_int, *mut c_void, *mut c_void) -> c_int)(
                        object, keyval, value, extra,
                    )
                }
            }
        })
    }

    /// Calls an `MPI_Comm_errhandler_function` or that of another kind.
    pub unsafe fn handle_error(&self, kind: Kind, mut object: Handle, code: &mut c_int) {
        leave();
        // SAFETY: the caller's. The functions' type is variadic, after two fixed arguments that
        // every platform served here passes in the same way in both cases, save for the number of
        // vector registers, which a variadic callee on x86-64 reads: hence the variadic type.
        suspended(|| unsafe {
            match self.layer.and_then(|layer| layer.handle_error) {
                Some(call) => call(kind, self.function, object, code),
                None => std::mem::transmute::<
                    Function,
                    unsafe extern "C-unwind" fn(*mut Handle, *mut c_int, ...),
                >(self.function)(&raw mut object, code),
            }
        });
    }

    /// Calls an `MPI_Grequest_query_function`.
    pub unsafe fn query(&self, extra: *mut c_void, status: *mut Status) -> c_int {
        // SAFETY: the caller's.
        suspended(|| unsafe {
            match self.layer.and_then(|layer| layer.query) {
                Some(call) => call(self.function, extra, status),
                None => {
                    function!(self.function, (*mut c_void, *mut Status) -> c_int)(extra, status)
                }
            }
        })
    }

    /// Calls an `MPI_Grequest_free_function`.
    pub unsafe fn free(&self, extra: *mut c_void) -> c_int {
        // SAFETY: the caller's.
        suspended(|| unsafe {
            match self.layer.and_then(|layer| layer.free) {
                Some(call) => call(self.function, extra),
                None => function!(self.function, (*mut c_void) -> c_int)(extra),
            }
        })
    }

    /// Calls an `MPI_Grequest_cancel_function`.
    pub unsafe fn cancel(&self, extra: *mut c_void, complete: bool) -> c_int {
        let complete = c_int::from(complete);
        // SAFETY: the caller's.
        suspended(|| unsafe {
            match self.layer.and_then(|layer| layer.cancel) {
                Some(call) => call(self.function, extra, complete),
                None => function!(self.function, (*mut c_void, c_int) -> c_int)(extra, complete),
            }
        })
    }

    /// Calls an `MPI_Datarep_extent_function`.
    pub unsafe fn extent(&self, datatype: Handle, extent: *mut isize, extra: *mut c_void) -> c_int {
        // SAFETY: the caller's.
        suspended(|| unsafe {
            match self.layer.and_then(|layer| layer.extent) {
                Some(call) => call(self.function, datatype, extent, extra),
                None => function!(self.function, (Handle, *mut isize, *mut c_void) -> c_int)(
                    datatype, extent, extra,
                ),
            }
        })
    }

    /// Calls an `MPI_Datarep_conversion_function`, or, if `large`, an
    /// `MPI_Datarep_conversion_function_c`.
    pub unsafe fn convert(
        &self,
        large: bool,
        user: *mut c_void,
        datatype: Handle,
        count: i64,
        file: *mut c_void,
        position: i64,
        extra: *mut c_void,
    ) -> c_int {
        // SAFETY: the caller's.
        suspended(|| unsafe {
            if let Some(call) = self.layer.and_then(|layer| layer.convert) {
                let large = c_int::from(large);
                call(self.function, large, user, datatype, count, file, position, extra)
            } else if large {
                function!(
                    self.function,
                    (*mut c_void, Handle, i64, *mut c_void, i64, *mut c_void) -> c_int
                )(user, datatype, count, file, position, extra)
            } else {
                function!(
                    self.function,
                    (*mut c_void, Handle, c_int, *mut c_void, i64, *mut c_void) -> c_int
                )(user, datatype, count as c_int, file, position, extra)
            }
        })
    }
}
