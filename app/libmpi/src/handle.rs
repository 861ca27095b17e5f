//! Handles as integers, for Fortran and for programs that keep them so (MPI 5.0, section 20.4).

use std::ffi::c_int;

use crate::abi::Handle;

/// The two conversions of a kind of handle. Handles are small numbers, so they are the same in both
/// forms.
macro_rules! conversions {
    ($($to:ident, $from:ident;)*) => {
        $(
            const _: () = {
                #[unsafe(export_name = concat!("heddle_", stringify!($to)))]
                extern "C" fn to(handle: Handle) -> c_int {
                    handle as c_int
                }

                #[unsafe(export_name = concat!("heddle_", stringify!($from)))]
                extern "C" fn from(number: c_int) -> Handle {
                    number as Handle
                }
            };
        )*
    };
}

conversions! {
    Comm_toint, Comm_fromint;
    Errhandler_toint, Errhandler_fromint;
    File_toint, File_fromint;
    Group_toint, Group_fromint;
    Info_toint, Info_fromint;
    Message_toint, Message_fromint;
    Op_toint, Op_fromint;
    Request_toint, Request_fromint;
    Session_toint, Session_fromint;
    Type_toint, Type_fromint;
    Win_toint, Win_fromint;
}
