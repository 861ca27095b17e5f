//! The functions of MPI on attributes (MPI 4.1, section 7.7), for each kind of object that has
//! them.

use std::ffi::{c_int, c_void};

pub use objects::attributes::{Annotated, Attributes, Keyvals, Value};
use objects::attributes::{FIRST, Keyval, KeyvalFunctions};

use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::error::Result;
use crate::layer::{Callback, Form, Function, Kind, current_form};
use crate::state::mpi;
use crate::{check, mpi_functions};

/// The five functions on attributes of a kind of object, `$find` gives the object of a handle.
macro_rules! attribute_functions {
    (
        $kind:ident $(about $about:ident)?, $find:ident:
        $create:ident, $free:ident, $set:ident, $get:ident, $delete:ident
    ) => {
        mpi_functions! {
            fn $create(
                copy_attr_fn: Function, delete_attr_fn: Function, keyval: Out<c_int>,
                extra_state: *mut c_void,
            ) {
                keyval.check()?;
                let functions = Functions {
                    copy: Callback::new(copy_attr_fn),
                    delete: Callback::new(delete_attr_fn),
                    extra: extra_state,
                };
                keyval.set(mpi().keyvals.add(Kind::$kind, Box::new(functions)))
            }

            fn $free(keyval: Out<c_int>) {
                mpi().keyvals.free(Kind::$kind, keyval.get()?)?;
                keyval.set(abi::KEYVAL_INVALID)
            }

            fn $set(
                object: Handle, keyval: c_int, attribute_val: *mut c_void
            ) $(about $about(object))? {
                let annotated = mpi().$find(object)?;
                let keyval = mpi().keyvals.get(Kind::$kind, keyval)?;
                let value = Value::new(attribute_val, current_form());
                Ok(annotated.attributes().set(object, keyval, value)?)
            }

            fn $get(
                object: Handle, keyval: c_int, attribute_val: Out<*mut c_void>, flag: Out<c_int>,
            ) $(about $about(object))? {
                attribute_val.check()?;
                let value = value(Kind::$kind, &*mpi().$find(object)?, keyval)?;
                flag.set(c_int::from(value.is_some()))?;
                value.map_or(Ok(()), |value| attribute_val.set(value))
            }

            fn $delete(object: Handle, keyval: c_int) $(about $about(object))? {
                let annotated = mpi().$find(object)?;
                known(Kind::$kind, annotated.attributes(), keyval)?;
                Ok(annotated.attributes().delete(object, keyval)?)
            }
        }
    };
}

attribute_functions!(
    Comm about Comm, comm:
    Comm_create_keyval, Comm_free_keyval, Comm_set_attr, Comm_get_attr, Comm_delete_attr
);
// The names of MPI-1.
attribute_functions!(
    Comm about Comm, comm:
    Keyval_create, Keyval_free, Attr_put, Attr_get, Attr_delete
);

attribute_functions!(
    Datatype, datatype:
    Type_create_keyval, Type_free_keyval, Type_set_attr, Type_get_attr, Type_delete_attr
);

attribute_functions!(
    Win about Win, window:
    Win_create_keyval, Win_free_keyval, Win_set_attr, Win_get_attr, Win_delete_attr
);

/// An error unless a keyval is one of the program, or was when an attribute of it was set.
fn known(kind: Kind, attributes: &Attributes, keyval: c_int) -> Result {
    if attributes.get(keyval).is_none() {
        mpi().keyvals.get(kind, keyval)?;
    }
    Ok(())
}

/// The value of an attribute of an object, predefined or set by the program, as the calling
/// language reads it.
fn value(kind: Kind, object: &impl Annotated, keyval: c_int) -> Result<Option<*mut c_void>> {
    check!(keyval != abi::KEYVAL_INVALID, ERR_KEYVAL, "the keyval is MPI_KEYVAL_INVALID");
    if keyval < FIRST {
        let place = predefined_of(keyval);
        check!(place == Some(kind), ERR_KEYVAL, "{keyval} is not a keyval for this kind of object");
        return Ok(object.predefined(keyval));
    }
    known(kind, object.attributes(), keyval)?;
    Ok(object.attributes().get(keyval).map(|value| value.read(current_form())))
}

/// The kind of object that has a predefined attribute.
fn predefined_of(keyval: c_int) -> Option<Kind> {
    match keyval {
        abi::TAG_UB..=abi::UNIVERSE_SIZE => Some(Kind::Comm),
        abi::WIN_BASE..=abi::WIN_MODEL => Some(Kind::Win),
        _ => None,
    }
}

/// The program's functions of a keyval, with the state that it gave.
#[derive(Debug)]
struct Functions {
    copy: Callback,
    delete: Callback,
    extra: *mut c_void,
}

impl KeyvalFunctions for Functions {
    fn delete(&self, keyval: &Keyval, object: Handle, value: &Value) -> objects::Result {
        if self.delete.address() == abi::NULL_FN {
            return Ok(());
        }
        // SAFETY: the program handed it in as the delete function of a keyval of this kind.
        let code = unsafe {
            self.delete.delete_attribute(
                keyval.kind(),
                object,
                keyval.number(),
                value.read(self.delete.form()),
                self.extra,
            )
        };
        refused(code, "delete")
    }

    fn copy(
        &self,
        keyval: &Keyval,
        object: Handle,
        value: &Value,
    ) -> objects::Result<Option<Value>> {
        match self.copy.address() {
            abi::NULL_FN => return Ok(None),
            abi::DUP_FN => return Ok(Some(value.clone())),
            _ => {}
        }
        let form = self.copy.form();
        let original = value.read(form);
        let mut copy = std::ptr::null_mut();
        let mut flag = 0;
        // SAFETY: the program handed it in as the copy function of a keyval of this kind; copy and
        // flag live until it returns.
        let code = unsafe {
            self.copy.copy_attribute(
                keyval.kind(),
                object,
                keyval.number(),
                self.extra,
                original,
                &raw mut copy,
                &raw mut flag,
            )
        };
        refused(code, "copy")?;
        // A pointer to an integer of Fortran's that is passed on stands for that integer, which
        // stays there.
        let same = form == Form::Pointer && copy == original;
        Ok((flag != 0).then(|| if same { value.clone() } else { Value::new(copy, form) }))
    }
}

/// An error if a function of the program gave another code than success: that code.
fn refused(code: c_int, which: &str) -> objects::Result {
    if code == abi::SUCCESS {
        return Ok(());
    }
    Err(objects::Error::new(
        code,
        format!("the program's attribute {which} function returned an error"),
    ))
}

#[cfg(test)]
mod tests;
