//! Reduction operations (MPI 4.1, sections 6.9.2 to 6.9.7).

mod kernel;
mod number;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use crate::abi::{self, Handle};
use crate::check;
use crate::datatype::{self, Datatype, Element};
use crate::error::{Error, Result};
use crate::table::Table;

/// The predefined operations.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    Sum,
    Min,
    Max,
    Prod,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    Minloc,
    Maxloc,
    Replace,
    NoOp,
}

/// A reduction that a function of the program carries out. [`Operation::apply`] calls it.
pub trait UserReduction: std::fmt::Debug {
    /// Combines several of a datatype: `into = from op into`.
    ///
    /// # Safety
    /// Both buffers have so many of the datatype, and do not overlap.
    unsafe fn reduce(&self, from: *const u8, into: *mut u8, count: u64, datatype: &Rc<Datatype>);
}

/// A reduction operation.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A predefined one.
    Builtin(Builtin),
    /// A function of the program.
    User {
        /// The function.
        function: Rc<dyn UserReduction>,
        /// The order of its operands does not matter.
        commutes: bool,
    },
}

/// A rank's operations that the program made.
#[derive(Debug, Default)]
pub struct Operations {
    user: Table<Operation>,
}

fn builtin(handle: Handle) -> Option<Builtin> {
    Some(match handle {
        abi::SUM => Builtin::Sum,
        abi::MIN => Builtin::Min,
        abi::MAX => Builtin::Max,
        abi::PROD => Builtin::Prod,
        abi::BAND => Builtin::Band,
        abi::BOR => Builtin::Bor,
        abi::BXOR => Builtin::Bxor,
        abi::LAND => Builtin::Land,
        abi::LOR => Builtin::Lor,
        abi::LXOR => Builtin::Lxor,
        abi::MINLOC => Builtin::Minloc,
        abi::MAXLOC => Builtin::Maxloc,
        abi::REPLACE => Builtin::Replace,
        abi::NO_OP => Builtin::NoOp,
        _ => return None,
    })
}

impl Operations {
    /// A handle for an operation of the program.
    pub fn add(&self, function: Rc<dyn UserReduction>, commutes: bool) -> Handle {
        self.user.add(Rc::new(Operation::User { function, commutes }))
    }

    /// Gives a handle back. It is an error to free a predefined operation.
    pub fn free(&self, handle: Handle) -> Result {
        check!(builtin(handle).is_none(), ERR_OP, "a predefined operation cannot be freed");
        self.get(handle)?;
        self.user.remove(handle);
        Ok(())
    }

    /// The operation of a handle.
    pub fn get(&self, handle: Handle) -> Result<Operation> {
        check!(handle != abi::OP_NULL, ERR_OP, "the operation is MPI_OP_NULL");
        if let Some(builtin) = builtin(handle) {
            return Ok(Operation::Builtin(builtin));
        }
        let user = self.user.get(handle);
        user.map(|known| (*known).clone())
            .ok_or_else(|| Error::new(abi::ERR_OP, "this is no operation, or it has been freed"))
    }
}

impl Operation {
    /// True if the order of its operands does not matter.
    pub fn commutes(&self) -> bool {
        match self {
            Self::Builtin(builtin) => *builtin != Builtin::Replace,
            Self::User { commutes, .. } => *commutes,
        }
    }

    /// An error, `ERR_OP`, unless a reduction may combine elements of a datatype with this
    /// operation.
    pub fn check_allowed(&self, datatype: &Datatype) -> Result {
        let Self::Builtin(builtin) = *self else { return Ok(()) };
        let defined = datatype.element().and_then(|element| kernel::kernel(builtin, element));
        check!(defined.is_some(), ERR_OP, "{builtin:?} is not defined for the datatype");
        Ok(())
    }

    /// An error, `ERR_OP`, unless an accumulation may combine data of a datatype at the target with
    /// this operation: a predefined one, on elements all alike (MPI 4.1, section 12.3.4), if there
    /// are any.
    pub fn check_accumulate(&self, datatype: &Rc<Datatype>) -> Result {
        let Self::Builtin(builtin) = *self else {
            return Err(Error::new(abi::ERR_OP, "an operation of the program does not accumulate"));
        };
        let anything = matches!(builtin, Builtin::Replace | Builtin::NoOp) || datatype.size() == 0;
        let pair = datatype.pair().and_then(|pair| pair.element());
        let one = || datatype.map().uniform().map(Element::One);
        let element = pair.or_else(one);
        let defined = element.and_then(|element| kernel::kernel(builtin, element));
        check!(
            anything || defined.is_some(),
            ERR_OP,
            "{builtin:?} is not defined for the datatype"
        );
        Ok(())
    }

    /// Combines several of a datatype: `into = from op into`.
    ///
    /// # Safety
    /// Both buffers have so many of the datatype, and do not overlap.
    pub unsafe fn apply(
        &self,
        from: *const u8,
        into: *mut u8,
        count: u64,
        datatype: &Rc<Datatype>,
    ) -> Result {
        if count == 0 {
            return Ok(());
        }
        match self {
            Self::Builtin(Builtin::NoOp) => {}
            // SAFETY: the caller's.
            Self::Builtin(Builtin::Replace) => unsafe {
                datatype::copy((from, count, datatype), (into, count, datatype));
            },
            Self::Builtin(builtin) => {
                let kernel =
                    datatype.element().and_then(|element| kernel::kernel(*builtin, element));
                let missing = || {
                    Error::new(abi::ERR_OP, format!("{builtin:?} is not defined for the datatype"))
                };
                let kernel = kernel.ok_or_else(missing)?;
                // SAFETY: the caller's.
                unsafe { kernel(from, into, count) };
            }
            // SAFETY: the caller's.
            Self::User { function, .. } => unsafe {
                function.reduce(from, into, count, datatype);
            },
        }
        Ok(())
    }

    /// Combines data that is packed, of basic elements all alike: `into = from op into`, as
    /// accumulations do with what the origin sent and what the target has.
    pub fn apply_packed(&self, from: &[u8], into: &mut [u8], datatype: &Rc<Datatype>) -> Result {
        self.check_accumulate(datatype)?;
        let bytes = from.len().min(into.len());
        match (self, datatype.map().uniform()) {
            (Self::Builtin(Builtin::Replace), _) => {
                into.iter_mut().zip(from).for_each(|(into, from)| *into = *from);
            }
            (Self::Builtin(builtin), Some(basic)) => {
                let count = bytes / usize::from(basic.size);
                if let Some(kernel) = kernel::kernel(*builtin, Element::One(basic)) {
                    // SAFETY: so many elements are there, and slices do not overlap.
                    unsafe { kernel(from.as_ptr(), into.as_mut_ptr(), count as u64) };
                }
            }
            _ => {}
        }
        Ok(())
    }
}
