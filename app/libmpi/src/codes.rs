//! Error classes and codes (MPI 4.1, sections 9.4 and 9.5). The codes of the library are the
//! classes themselves; a program may add classes, codes and texts of its own, with numbers above
//! `ERR_LASTCODE`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int};

use crate::abi;
use crate::argument::{In, Out};
use crate::error::{Error, Result};
use crate::state::mpi;

mod names;

use crate::{check, mpi_functions};
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

    fn add(&self, class: Option<c_int>) -> c_int {
        self.made.set(self.made.get() + 1);
        let number = self.last_used();
        let class = class.unwrap_or(number);
        self.added.borrow_mut().insert(number, Added { class, text: Vec::new() });
        crate::environment::last_used_code(number);
        number
    }
}

/// The class of an error code.
pub fn class(code: c_int) -> Option<c_int> {
    if known(code).is_some() {
        return Some(code);
    }
    mpi().codes.added.borrow().get(&code).map(|added| added.class)
}

mpi_functions! {
    fn Error_class(errorcode: c_int, errorclass: Out<c_int>) {
        errorclass.set(class(errorcode).ok_or_else(|| unknown(errorcode))?)
    }

    fn Error_string(errorcode: c_int, string: Out<c_char>, resultlen: Out<c_int>) {
        let text = text(errorcode).ok_or_else(|| unknown(errorcode))?;
        let length = string.set_bytes(&text, abi::MAX_ERROR_STRING as usize)?;
        resultlen.set(length as c_int)
    }

    fn Add_error_class(errorclass: Out<c_int>) {
        errorclass.check()?;
        errorclass.set(mpi().codes.add(None))
    }

    fn Add_error_code(errorclass: c_int, errorcode: Out<c_int>) {
        errorcode.check()?;
        check!(
            class(errorclass) == Some(errorclass), ERR_ARG,
            "{errorclass} is not an error class"
        );
        errorcode.set(mpi().codes.add(Some(errorclass)))
    }

    fn Add_error_string(errorcode: c_int, string: In<c_char>) {
        let Some(mut text) = string.bytes() else {
            return Err(Error::new(abi::ERR_ARG, "the text is a null pointer"));
        };
        text.truncate(abi::MAX_ERROR_STRING as usize - 1);
        change(errorcode, |added| added.text = text)
    }

    fn Remove_error_string(errorcode: c_int) {
        change(errorcode, |added| added.text.clear())
    }

    fn Remove_error_code(errorcode: c_int) {
        let is_code = |added: &Added| added.class != errorcode;
        let is_code = mpi().codes.added.borrow().get(&errorcode).is_some_and(is_code);
        check!(is_code, ERR_ARG, "{errorcode} is not an error code that the program added");
        bare(errorcode)?;
        mpi().codes.added.borrow_mut().remove(&errorcode);
        Ok(())
    }

    fn Remove_error_class(errorclass: c_int) {
        let of_class =
            mpi().codes.added.borrow().values().filter(|added| added.class == errorclass).count();
        check!(
            of_class > 0 && mpi().codes.added.borrow().contains_key(&errorclass),
            ERR_ARG,
            "{errorclass} is not an error class that the program added"
        );
        check!(of_class == 1, ERR_ARG, "error class {errorclass} still has codes");
        bare(errorclass)?;
        mpi().codes.added.borrow_mut().remove(&errorclass);
        Ok(())
    }
}

/// Changes what a program added.
fn change(code: c_int, make: impl FnOnce(&mut Added)) -> Result {
    match mpi().codes.added.borrow_mut().get_mut(&code) {
        Some(added) => {
            make(added);
            Ok(())
        }
        None => Err(Error::new(abi::ERR_ARG, format!("the program did not add error code {code}"))),
    }
}

/// An error if a class or code still has a text (MPI 4.1, section 9.5).
fn bare(code: c_int) -> Result {
    let mpi = mpi();
    let added = mpi.codes.added.borrow();
    let has_text = added.get(&code).is_some_and(|added| !added.text.is_empty());
    check!(!has_text, ERR_ARG, "{code} still has a text");
    Ok(())
}

fn unknown(code: c_int) -> Error {
    Error::new(abi::ERR_ARG, format!("{code} is not an error code"))
}

/// The text of an error code.
fn text(code: c_int) -> Option<Vec<u8>> {
    if let Some((name, meaning)) = known(code) {
        return Some(match name {
            "" => meaning.into(),
            _ => format!("{name}: {meaning}").into_bytes(),
        });
    }
    mpi().codes.added.borrow().get(&code).map(|added| added.text.clone())
}
