//! The functions of MPI on datatypes (MPI 4.1, chapter 5).

use std::rc::Rc;

pub use objects::datatype::{
    Contents, Datatype, Element, FRACTION, Kind, Types, basic, build, copy, external, layout, map,
    pair,
};

use crate::abi::Handle;
use crate::error::Result;
use crate::state::{Mpi, mpi};

mod construct;
mod f90;
mod pack;
mod query;
mod removed;

#[cfg(test)]
mod call_tests;

impl Mpi {
    /// The datatype of a handle.
    pub fn datatype(&self, handle: Handle) -> Result<Rc<Datatype>> {
        Ok(self.types.get(handle)?)
    }

    /// The datatype of a handle, for communication: it must be committed.
    pub fn committed(&self, handle: Handle) -> Result<Rc<Datatype>> {
        Ok(self.types.committed(handle)?)
    }
}

/// An error, `ERR_BUFFER`, if several of a datatype would be in place, or begin at a null address
/// while messages have contents.
pub fn check_buffer(datatype: &Datatype, buffer: *const u8, count: u64) -> Result {
    Ok(datatype.check_buffer(buffer, count, !mpi().hollow.get())?)
}
