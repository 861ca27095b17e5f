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

#[cfg(test)]
mod tests;

/// The first keyval of a program; the predefined ones are below.
pub const FIRST: c_int = 0x1000;

/// The kind of object that a function of the program is about, as layers are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Kind {
    /// A communicator.
    Comm = 0,
    /// A datatype.
    Datatype = 1,
    /// A window.
    Win = 2,
    /// A file.
    File = 3,
    /// A session.
    Session = 4,
}

/// The form in which a language sees an attribute's value (MPI 4.1, section 19.3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Form {
    /// C: a pointer.
    Pointer = 0,
    /// Fortran: an integer as wide as an address.
    Address = 1,
    /// The calls of MPI-1 in Fortran: an integer.
    Integer = 2,
}

/// The program's functions of a keyval. [`Attributes`] calls them while nothing of it is borrowed,
/// so that they may set and delete attributes.
pub trait KeyvalFunctions: std::fmt::Debug {
    /// Returns the value that the copy of `object` gets for its attribute of `keyval`, if it gets
    /// one. An error is that of the program's function.
    fn copy(&self, keyval: &Keyval, object: Handle, value: &Value) -> Result<Option<Value>>;

    /// Hears that the attribute of `keyval` is about to be deleted from `object`. An error is that
    /// of the program's function, and the attribute stays.
    fn delete(&self, keyval: &Keyval, object: Handle, value: &Value) -> Result;
}

/// The properties that all attributes of one key have in common.
#[derive(Debug)]
pub struct Keyval {
    number: c_int,
    kind: Kind,
    functions: Box<dyn KeyvalFunctions>,
}

impl Keyval {
    /// The number by which the program knows it.
    pub fn number(&self) -> c_int {
        self.number
    }

    /// The kind of object that has attributes of it.
    pub fn kind(&self) -> Kind {
        self.kind
    }
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
    pub fn new(word: *mut c_void, form: Form) -> Self {
        Self(match form {
            Form::Pointer => Set::Pointer(word),
            Form::Address => Set::Address(Rc::new(Cell::new(word as isize))),
            Form::Integer => Set::Integer(Rc::new(Cell::new(word as c_int))),
        })
    }

    /// Returns the value as a language reads it: an integer as a pointer's bits.
    pub fn read(&self, form: Form) -> *mut c_void {
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
    /// Adds a keyval for a kind of object and returns its number.
    pub fn add(&self, kind: Kind, functions: Box<dyn KeyvalFunctions>) -> c_int {
        let number = FIRST + self.made.get();
        self.made.set(self.made.get() + 1);
        let keyval = Keyval { number, kind, functions };
        self.live.borrow_mut().insert(number, Rc::new(keyval));
        number
    }

    /// The keyval of a number, if it is one of the program for this kind of object.
    pub fn get(&self, kind: Kind, number: c_int) -> Result<Rc<Keyval>> {
        let found = self.live.borrow().get(&number).cloned();
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
    pub fn free(&self, kind: Kind, number: c_int) -> Result {
        let mut freed = self.freed.borrow_mut();
        let is_used = |keyval: &Weak<Keyval>| keyval.upgrade().is_some_and(|own| own.kind == kind);
        if freed.get(&number).is_some_and(is_used) {
            return Ok(());
        }
        let keyval = self.get(kind, number)?;
        self.live.borrow_mut().remove(&number);
        freed.retain(|_, other| other.strong_count() > 0);
        freed.insert(number, Rc::downgrade(&keyval));
        Ok(())
    }
}

impl Attribute {
    /// Calls the program's delete function.
    fn delete(&self, object: Handle) -> Result {
        self.keyval.functions.delete(&self.keyval, object, &self.value)
    }

    /// The value that a copy of the object gets, if it gets one.
    fn copied(&self, object: Handle) -> Result<Option<Value>> {
        self.keyval.functions.copy(&self.keyval, object, &self.value)
    }
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
    pub fn set(&self, object: Handle, keyval: Rc<Keyval>, value: Value) -> Result {
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
    pub fn delete(&self, object: Handle, number: c_int) -> Result {
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
