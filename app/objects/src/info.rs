//! Info objects: keys and values, in the order they were set (MPI 4.1, chapter 10).

use std::cell::RefCell;
use std::rc::Rc;

use crate::abi::{self, Handle};
use crate::check;
use crate::error::{Error, Result};
use crate::table::Table;

#[cfg(test)]
mod tests;

/// Keys and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The info objects of a rank.
#[derive(Debug, Default)]
pub struct Infos {
    made: Table<Shared>,
}

/// The object that a handle stands for.
pub type Shared = RefCell<Info>;

/// Hints about communicators that the standard defines. Programs may rely on their being kept;
/// others are ignored, as it says they may be.
const HINTS: [&[u8]; 4] = [
    b"mpi_assert_no_any_tag",
    b"mpi_assert_no_any_source",
    b"mpi_assert_exact_length",
    b"mpi_assert_allow_overtaking",
];

impl Info {
    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.pairs.iter().find(|(its, _)| its == key).map(|(_, value)| value.as_slice())
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.pairs.iter().map(|(key, _)| key.as_slice())
    }

    /// The value of a key, as one's own.
    pub fn value(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.get(key).map(<[u8]>::to_vec)
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// True if there is no key.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Removes a key; an error, `ERR_INFO_NOKEY`, if it is not there.
    pub fn remove(&mut self, key: &[u8]) -> Result {
        let there = self.get(key).is_some();
        check!(there, ERR_INFO_NOKEY, "no key {}", String::from_utf8_lossy(key));
        self.pairs.retain(|(its, _)| its != key);
        Ok(())
    }

    /// Sets a value.
    pub fn set(&mut self, key: &[u8], value: &[u8]) {
        match self.pairs.iter_mut().find(|(its, _)| its == key) {
            Some((_, old)) => *old = value.to_vec(),
            None => self.pairs.push((key.to_vec(), value.to_vec())),
        }
    }

    /// The hints about communicators in it.
    #[must_use]
    pub fn hints(&self) -> Self {
        let known = |(key, _): &&(Vec<u8>, Vec<u8>)| HINTS.contains(&key.as_slice());
        Self { pairs: self.pairs.iter().filter(known).cloned().collect() }
    }

    /// Sets all that another sets.
    pub fn take_over(&mut self, other: Self) {
        for (key, value) in other.pairs {
            self.set(&key, &value);
        }
    }
}

impl Infos {
    /// A handle for a new info object.
    pub fn add(&self, info: Info) -> Handle {
        self.made.add(Rc::new(RefCell::new(info)))
    }

    /// An info object that the program may change.
    pub fn own(&self, handle: Handle) -> Result<Rc<Shared>> {
        match handle {
            abi::INFO_NULL => Err(Error::new(abi::ERR_INFO, "the info object is MPI_INFO_NULL")),
            abi::INFO_ENV => Err(Error::new(abi::ERR_INFO, "MPI_INFO_ENV cannot be changed")),
            _ => match self.made.get(handle) {
                Some(info) => Ok(info),
                None => Err(Error::new(abi::ERR_INFO, "no such info object (freed?)")),
            },
        }
    }

    /// Gives a handle back.
    pub fn free(&self, handle: Handle) -> Result {
        self.own(handle)?;
        self.made.remove(handle);
        Ok(())
    }
}

/// An error unless a key is of the length that the standard allows.
pub fn check_key(key: &[u8]) -> Result {
    check!(!key.is_empty(), ERR_INFO_KEY, "the key is empty");
    check!(
        key.len() < abi::MAX_INFO_KEY as usize,
        ERR_INFO_KEY,
        "a key of {} characters; at most {} are allowed",
        key.len(),
        abi::MAX_INFO_KEY - 1
    );
    Ok(())
}

/// An error unless a value is of the length that the standard allows.
pub fn check_value(value: &[u8]) -> Result {
    check!(
        value.len() < abi::MAX_INFO_VAL as usize,
        ERR_INFO_VALUE,
        "a value of {} characters; at most {} are allowed",
        value.len(),
        abi::MAX_INFO_VAL - 1
    );
    Ok(())
}
