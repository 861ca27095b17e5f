//! The functions of MPI on reduction operations (MPI 4.1, sections 6.9.2 to 6.9.7).

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use objects::op::UserReduction;
pub use objects::op::{Builtin, Operation, Operations};

use crate::abi::{self, Handle};
use crate::argument::{Number, Out};
use crate::datatype::{self, Datatype, check_buffer};
use crate::error::Result;
use crate::layer::{Callback, Function};
use crate::state::Mpi;
use crate::{both_forms, check, mpi, mpi_functions};

impl Mpi {
    /// The operation of a handle.
    pub fn op(&self, handle: Handle) -> Result<Operation> {
        Ok(self.ops.get(handle)?)
    }
}

/// A function of the program that reduces.
#[derive(Debug)]
struct User {
    function: Callback,
    /// It takes a large count.
    large: bool,
}

impl UserReduction for User {
    /// Calls the program's function, as often as its count is too small for all elements.
    unsafe fn reduce(
        &self,
        mut from: *const u8,
        mut into: *mut u8,
        mut count: u64,
        datatype: &Rc<Datatype>,
    ) {
        let most = if self.large { i64::MAX as u64 } else { c_int::MAX as u64 };
        let mpi = mpi();
        let types = &mpi.types;
        let (handle, is_new) = types.show(datatype);
        while count > 0 {
            let some = count.min(most);
            // SAFETY: the caller's. What is read is not changed by a function that keeps the
            // standard's rules.
            unsafe {
                let (from, into) = (from.cast_mut().cast::<c_void>(), into.cast::<c_void>());
                self.function.reduce(self.large, from, into, some as i64, handle);
            }
            let step = (datatype.extent() as isize).wrapping_mul(some as isize);
            (from, into) = (from.wrapping_offset(step), into.wrapping_offset(step));
            count -= some;
        }
        if is_new {
            types.forget(handle);
        }
    }
}

fn create(function: Function, commutes: c_int, large: bool, new: Out<Handle>) -> Result {
    check!(!function.is_null(), ERR_ARG, "an operation needs a function");
    new.check()?;
    let user = User { function: Callback::new(function), large };
    new.set(mpi().ops.add(Rc::new(user), commutes != 0))
}

both_forms! {
    fn Op_create | Op_create_c (function: Function, commutes: c_int, new: Out<Handle>) {
        create(function, commutes, LARGE, new)
    }

    fn Reduce_local | Reduce_local_c (
        from: *const u8, into: *mut u8, count: Count, datatype: Handle, op: Handle
    ) {
        let (count, op) = (datatype::build::count(count.wide())?, mpi().op(op)?);
        let datatype = mpi().committed(datatype)?;
        op.check_allowed(&datatype)?;
        if count == 0 {
            return Ok(());
        }
        check!(!std::ptr::eq(from, into), ERR_BUFFER, "both operands are the same buffer");
        check_buffer(&datatype, from, count)?;
        check_buffer(&datatype, into, count)?;
        // SAFETY: the program's buffers.
        unsafe { op.apply(from, into, count, &datatype)? };
        Ok(())
    }
}

mpi_functions! {
    fn Op_free(op: Out<Handle>) {
        let handle = op.get()?;
        mpi().ops.free(handle)?;
        op.set(abi::OP_NULL)
    }

    local fn Op_commutative(op: Handle, commutes: Out<c_int>) {
        commutes.set(c_int::from(mpi().op(op)?.commutes()))
    }
}
