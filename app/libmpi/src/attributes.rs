//! Attributes: values that a program attaches to communicators, windows and datatypes (MPI 4.1, section 7.7).
//!
//! A keyval that is freed lives on as long as something has an attribute of it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use crate::abi::{self, Handle};
use crate::error::{Error, Result};
use crate::layer::{Callback, Kind};
use crate::state::Mpi;

mod functions;
#[cfg(test)]
mod tests;

/// The first keyval of a program; the predefined ones are below.
const FIRST: c_int = 0x1000;

/// What attributes of one kind have in common.
#[derive(Debug)]
pub struct Keyval {
    number: c_int,
    kind: Kind,
    copy: Callback,
    delete: Callback,
    extra: *mut c_void,
}

/// The keyvals that a program made. Their numbers do not come again, so that an attribute outlives the number of its keyval
/// without being taken for another.
#[derive(Debug, Default)]
pub struct Keyvals {
    live: RefCell<BTreeMap<c_int, Rc<Keyval>>>,
    made: Cell<c_int>,
}

#[derive(Clone, Debug)]
struct Attribute {
    keyval: Rc<Keyval>,
    value: *mut c_void,
}

/// The attributes of an object, in the order they were first set.
#[derive(Debug, Default)]
pub struct Attributes {
    held: RefCell<Vec<Attribute>>,
}

/// What has attributes.
pub trait Annotated {
    /// Those that the program set.
    fn attributes(&self) -> &Attributes;

    /// The value of one that the library supplies.
    fn predefined(&self, keyval: c_int) -> Option<*mut c_void> {
        let _ = keyval;
        None
    }
}

impl Keyvals {
    fn add(&self, kind: Kind, copy: Callback, delete: Callback, extra: *mut c_void) -> c_int {
        let number = FIRST + self.made.get();
        self.made.set(self.made.get() + 1);
        let keyval = Keyval { number, kind, copy, delete, extra };
        self.live.borrow_mut().insert(number, Rc::new(keyval));
        number
    }
}

impl Mpi {
    /// The keyval of a number, if it is one of the program for this kind of object.
    fn keyval(&self, kind: Kind, number: c_int) -> Result<Rc<Keyval>> {
        let found = self.keyvals.live.borrow().get(&number).cloned();
        match found {
            Some(keyval) if keyval.kind == kind => Ok(keyval),
            Some(_) => Err(Error::new(abi::ERR_KEYVAL, "the keyval is for another kind of object")),
            None if number == abi::KEYVAL_INVALID => {
                Err(Error::new(abi::ERR_KEYVAL, "the keyval is MPI_KEYVAL_INVALID"))
            }
            None if number < FIRST => Err(Error::new(
                abi::ERR_KEYVAL,
                "a predefined keyval, which the program cannot change",
            )),
            None => Err(Error::new(abi::ERR_KEYVAL, "no such keyval (freed?)")),
        }
    }
}

impl Attribute {
    /// Calls the program's delete function.
    fn delete(&self, object: Handle) -> Result {
        let keyval = &self.keyval;
        if keyval.delete.address() == abi::NULL_FN {
            return Ok(());
        }
        // SAFETY: the program handed it in as the delete function of a keyval of this kind.
        let code = unsafe {
            keyval.delete.delete_attribute(
                keyval.kind,
                object,
                keyval.number,
                self.value,
                keyval.extra,
            )
        };
        refused(code, "delete")
    }

    /// The value that a copy of the object gets, if it gets one.
    fn copied(&self, object: Handle) -> Result<Option<*mut c_void>> {
        let keyval = &self.keyval;
        match keyval.copy.address() {
            abi::NULL_FN => return Ok(None),
            abi::DUP_FN => return Ok(Some(self.value)),
            _ => {}
        }
        let mut copy = std::ptr::null_mut();
        let mut flag = 0;
        // SAFETY: the program handed it in as the copy function of a keyval of this kind; copy and flag live until it
        // returns.
        let code = unsafe {
            keyval.copy.copy_attribute(
                keyval.kind,
                object,
                keyval.number,
                keyval.extra,
                self.value,
                &raw mut copy,
                &raw mut flag,
            )
        };
        refused(code, "copy")?;
        Ok((flag != 0).then_some(copy))
    }
}

/// An error if a function of the program gave another code than success: that code.
fn refused(code: c_int, which: &str) -> Result {
    if code == abi::SUCCESS {
        return Ok(());
    }
    Err(Error::new(code, format!("the program's attribute {which} function returned an error")))
}

impl Attributes {
    fn find(&self, number: c_int) -> Option<Attribute> {
        self.held.borrow().iter().find(|held| held.keyval.number == number).cloned()
    }

    /// The value of an attribute.
    pub fn get(&self, number: c_int) -> Option<*mut c_void> {
        self.find(number).map(|held| held.value)
    }

    /// Sets an attribute; a value that it had is deleted first, which the program may refuse.
    fn set(&self, object: Handle, keyval: Rc<Keyval>, value: *mut c_void) -> Result {
        if let Some(old) = self.find(keyval.number) {
            old.delete(object)?;
        }
        let mut held = self.held.borrow_mut();
        match held.iter_mut().find(|held| held.keyval.number == keyval.number) {
            Some(held) => held.value = value,
            None => held.push(Attribute { keyval, value }),
        }
        Ok(())
    }

    /// Deletes an attribute, if it is there and the program does not refuse.
    fn delete(&self, object: Handle, number: c_int) -> Result {
        if let Some(old) = self.find(number) {
            old.delete(object)?;
            self.held.borrow_mut().retain(|held| held.keyval.number != number);
        }
        Ok(())
    }

    /// The attributes of a copy of an object.
    pub fn copies(&self, object: Handle) -> Result<Self> {
        let held = self.held.borrow().clone();
        let copies = Self::default();
        for attribute in held {
            if let Some(value) = attribute.copied(object)? {
                copies.held.borrow_mut().push(Attribute { keyval: attribute.keyval, value });
            }
        }
        Ok(copies)
    }

    /// Deletes all attributes, the latest first. One that the program refuses to delete stays, with those before it.
    pub fn clear(&self, object: Handle) -> Result {
        loop {
            let Some(last) = self.held.borrow().last().cloned() else { return Ok(()) };
            last.delete(object)?;
            self.held.borrow_mut().retain(|held| held.keyval.number != last.keyval.number);
        }
    }
}
