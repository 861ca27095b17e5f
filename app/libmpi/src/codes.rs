//! The functions of MPI on error classes and codes (MPI 4.1, sections 9.4 and 9.5).

use std::ffi::{c_char, c_int};

pub use objects::codes::{Codes, class_name};

use crate::abi;
use crate::argument::{In, Out};
use crate::environment::last_used_code;
use crate::error::{Error, Result};
use crate::mpi_functions;
use crate::state::mpi;

/// The class of an error code.
pub fn class(code: c_int) -> Result<c_int> {
    Ok(mpi().codes.class(code)?)
}

mpi_functions! {
    fn Error_class(errorcode: c_int, errorclass: Out<c_int>) {
        errorclass.set(class(errorcode)?)
    }

    fn Error_string(errorcode: c_int, string: Out<c_char>, resultlen: Out<c_int>) {
        let text = mpi().codes.text(errorcode)?;
        let length = string.set_bytes(&text, abi::MAX_ERROR_STRING as usize)?;
        resultlen.set(length as c_int)
    }

    fn Add_error_class(errorclass: Out<c_int>) {
        errorclass.check()?;
        let class = mpi().codes.add_class();
        last_used_code(class);
        errorclass.set(class)
    }

    fn Add_error_code(errorclass: c_int, errorcode: Out<c_int>) {
        errorcode.check()?;
        let code = mpi().codes.add_code(errorclass)?;
        last_used_code(code);
        errorcode.set(code)
    }

    fn Add_error_string(errorcode: c_int, string: In<c_char>) {
        let Some(mut text) = string.bytes() else {
            return Err(Error::new(abi::ERR_ARG, "the text is a null pointer"));
        };
        text.truncate(abi::MAX_ERROR_STRING as usize - 1);
        Ok(mpi().codes.set_text(errorcode, text)?)
    }

    fn Remove_error_string(errorcode: c_int) {
        Ok(mpi().codes.set_text(errorcode, Vec::new())?)
    }

    fn Remove_error_code(errorcode: c_int) {
        Ok(mpi().codes.remove_code(errorcode)?)
    }

    fn Remove_error_class(errorclass: c_int) {
        Ok(mpi().codes.remove_class(errorclass)?)
    }
}
