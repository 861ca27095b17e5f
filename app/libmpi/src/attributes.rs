//! Attributes: values that a program attaches to communicators, windows and datatypes (MPI 4.1,
//! section 7.7).
//!
//! A keyval that is freed lives on as long as something has an attribute of it.
//!
//! A value is a pointer in C and an integer in Fortran. C reads an integer of Fortran's as its
//! address, which stays as long as a copy of the attribute does; Fortran reads a pointer as an
//! integer (MPI 4.1, section 19.3.7).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::rc::{Rc, Weak};

use crate::abi::{self, Handle};
use crate::error::{Error, Result};
use crate::layer::{Callback, Form, Kind};
use crate::state::Mpi;

mod functions;
#[cfg(test)]
mod tests;

/// The first keyval of a program; the predefined ones are below.
const FIRST: c_int = 0x1000;

/// The properties that all attributes of one key have in common.
#[derive(Debug)]
pub struct Keyval {
    number: c_int,
    kind: Kind,
    copy: Callback,
    delete: Callback,
    extra: *mut c_void,
}

/// The keyvals that a program made. Their numbers do not come again, so that an attribute outlives
/// the number of its keyval without being taken for another.
#[derive(Debug, Default)]
pub struct Keyvals {
    live: RefCell<BTreeMap<c_int, Rc<Keyval>>>,
    /// Keyvals that were freed while something had an attribute of theirs.
    freed: RefCell<BTreeMap<c_int, Weak<Keyval>>>,
    made: Cell<c_int>,
}

/// The value of an attribute, by the language that set it. Copies of an integer share its place.
#[derive(Clone, Debug)]
pub struct Value(Set);

#[derive(Clone, Debug)]
enum Set {
    Pointer(*mut c_void),
    Address(Rc<Cell<isize>>),
    Integer(Rc<Cell<c_int>>),
}

impl Value {
    /// The value that a language sets.
    fn new(word: *mut c_void, form: Form) -> Self {
        Self(match form {
            Form::Pointer => Set::Pointer(word),
            Form::Address => Set::Address(Rc::new(Cell::new(word as isize))),
            Form::Integer => Set::Integer(Rc::new(Cell::new(word as c_int))),
        })
    }

    /// Returns the value as a language reads it: an integer as a pointer's bits.
    fn read(&self, form: Form) -> *mut c_void {
        match (&self.0, form) {
            (Set::Pointer(pointer), _) => *pointer,
            (Set::Address(place), Form::Pointer) => place.as_ptr().cast(),
            (Set::Integer(place), Form::Pointer) => place.as_ptr().cast(),
            (Set::Address(place), _) => place.get() as *mut c_void,
            (Set::Integer(place), _) => place.get() as isize as *mut c_void,
        }
    }
}

#[derive(Clone, Debug)]
struct Attribute {
    keyval: Rc<Keyval>,
    value: Value,
}

/// The attributes of an object, in the order they were first set.
#[derive(Debug, Default)]
pub struct Attributes {
    held: RefCell<Vec<Attribute>>,
}

/// An object that has attributes. Its kind of object implements this, and the functions of
/// attributes call it; the attributes live as long as the object.
pub trait Annotated {
    /// The attributes that the program set.
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

    /// Frees a keyval. While something has an attribute of it, it may be freed again, as functions
    /// that delete attributes do.
    fn free_keyval(&self, kind: Kind, number: c_int) -> Result {
        let mut freed = self.keyvals.freed.borrow_mut();
        let is_used = |keyval: &Weak<Keyval>| keyval.upgrade().is_some_and(|own| own.kind == kind);
        if freed.get(&number).is_some_and(is_used) {
            return Ok(());
        }
        let keyval = self.keyval(kind, number)?;
        self.keyvals.live.borrow_mut().remove(&number);
        freed.retain(|_, other| other.strong_count() > 0);
        freed.insert(number, Rc::downgrade(&keyval));
        Ok(())
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
                self.value.read(keyval.delete.form()),
                keyval.extra,
            )
        };
        refused(code, "delete")
    }

    /// The value that a copy of the object gets, if it gets one.
    fn copied(&self, object: Handle) -> Result<Option<Value>> {
        let keyval = &self.keyval;
        match keyval.copy.address() {
            abi::NULL_FN => return Ok(None),
            abi::DUP_FN => return Ok(Some(self.value.clone())),
            _ => {}
        }
        let form = keyval.copy.form();
        let original = self.value.read(form);
        let mut copy = std::ptr::null_mut();
        let mut flag = 0;
        // SAFETY: the program handed it in as the copy function of a keyval of this kind; copy and
        // flag live until it returns.
        let code = unsafe {
            keyval.copy.copy_attribute(
                keyval.kind,
                object,
                keyval.number,
                keyval.extra,
                original,
                &raw mut copy,
                &raw mut flag,
            )
        };
        refused(code, "copy")?;
        // A pointer to an integer of Fortran's that is passed on stands for that integer, which
        // stays there.
        let same = form == Form::Pointer && copy == original;
        Ok((flag != 0).then(|| if same { self.value.clone() } else { Value::new(copy, form) }))
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
    pub fn get(&self, number: c_int) -> Option<Value> {
        self.find(number).map(|held| held.value)
    }

    /// Sets an attribute; a value that it had is deleted first, which the program may refuse.
    fn set(&self, object: Handle, keyval: Rc<Keyval>, value: Value) -> Result {
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

    /// Deletes all attributes, the latest first. One that the program refuses to delete stays, with
    /// those before it.
    pub fn clear(&self, object: Handle) -> Result {
        loop {
            let Some(last) = self.held.borrow().last().cloned() else { return Ok(()) };
            last.delete(object)?;
            self.held.borrow_mut().retain(|held| held.keyval.number != last.keyval.number);
        }
    }
}
