//! Error classes and codes (MPI 4.1, sections 9.4 and 9.5). The codes of the library are the
//! classes themselves; a program may add classes, codes and texts of its own, with numbers above
//! `ERR_LASTCODE`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_int;

use crate::abi;
use crate::check;
use crate::error::{Error, Result};

mod names;
#[cfg(test)]
mod tests;

pub use names::class_name;
use names::known;

/// An error class or code that a program added.
#[derive(Debug)]
struct Added {
    /// Its class; a class is its own.
    class: c_int,
    text: Vec<u8>,
}

/// The classes and codes that a program added, by number.
#[derive(Debug, Default)]
pub struct Codes {
    added: RefCell<BTreeMap<c_int, Added>>,
    made: Cell<c_int>,
}

impl Codes {
    /// The largest number in use: the value of the attribute `LASTUSEDCODE`. It does not sink when
    /// one is removed.
    pub fn last_used(&self) -> c_int {
        abi::ERR_LASTCODE + self.made.get()
    }

    /// The class of an error code.
    pub fn class(&self, code: c_int) -> Result<c_int> {
        if known(code).is_some() {
            return Ok(code);
        }
        let class = self.added.borrow().get(&code).map(|added| added.class);
        class.ok_or_else(|| unknown(code))
    }

    /// The text of an error code.
    pub fn text(&self, code: c_int) -> Result<Vec<u8>> {
        if let Some((name, meaning)) = known(code) {
            return Ok(match name {
                "" => meaning.into(),
                _ => format!("{name}: {meaning}").into_bytes(),
            });
        }
        let text = self.added.borrow().get(&code).map(|added| added.text.clone());
        text.ok_or_else(|| unknown(code))
    }

    /// Adds a class and returns its number.
    pub fn add_class(&self) -> c_int {
        let number = self.last_used() + 1;
        self.add(number)
    }

    /// Adds a code of a class and returns its number.
    pub fn add_code(&self, class: c_int) -> Result<c_int> {
        check!(self.class(class) == Ok(class), ERR_ARG, "{class} is not an error class");
        Ok(self.add(class))
    }

    fn add(&self, class: c_int) -> c_int {
        self.made.set(self.made.get() + 1);
        let number = self.last_used();
        self.added.borrow_mut().insert(number, Added { class, text: Vec::new() });
        number
    }

    /// Gives a class or code that the program added a text; an empty one removes what it has.
    pub fn set_text(&self, code: c_int, text: Vec<u8>) -> Result {
        match self.added.borrow_mut().get_mut(&code) {
            Some(added) => {
                added.text = text;
                Ok(())
            }
            None => {
                Err(Error::new(abi::ERR_ARG, format!("the program did not add error code {code}")))
            }
        }
    }

    /// Removes a code that the program added and that has no text.
    pub fn remove_code(&self, code: c_int) -> Result {
        let is_code = |added: &Added| added.class != code;
        let is_code = self.added.borrow().get(&code).is_some_and(is_code);
        check!(is_code, ERR_ARG, "{code} is not an error code that the program added");
        self.remove(code)
    }

    /// Removes a class that the program added and that has neither codes nor a text.
    pub fn remove_class(&self, class: c_int) -> Result {
        let of_class = self.added.borrow().values().filter(|added| added.class == class).count();
        check!(
            of_class > 0 && self.added.borrow().contains_key(&class),
            ERR_ARG,
            "{class} is not an error class that the program added"
        );
        check!(of_class == 1, ERR_ARG, "error class {class} still has codes");
        self.remove(class)
    }

    fn remove(&self, number: c_int) -> Result {
        let has_text = self.added.borrow().get(&number).is_some_and(|added| !added.text.is_empty());
        check!(!has_text, ERR_ARG, "{number} still has a text");
        self.added.borrow_mut().remove(&number);
        Ok(())
    }
}

fn unknown(code: c_int) -> Error {
    Error::new(abi::ERR_ARG, format!("{code} is not an error code"))
}
