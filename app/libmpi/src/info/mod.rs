//! The functions of MPI on info objects (MPI 4.1, chapter 10).

use std::ffi::{c_char, c_int};
use std::rc::Rc;

pub use objects::info::{Info, Infos};
use objects::info::{Shared, check_key, check_value};

use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::error::{Error, Result};
use crate::state::{Mpi, mpi};
use crate::{check, mpi_functions};

mod environment;
#[cfg(test)]
mod tests;

/// The kinds of memory that calls take, which all objects tell alike (MPI 4.1, section 11.4.3).
const MEMORY_KINDS: (&[u8], &[u8]) = (b"mpi_memory_alloc_kinds", b"mpi,system");

impl Mpi {
    /// The contents of an info object now.
    pub fn info(&self, handle: Handle) -> Result<Info> {
        if handle == abi::INFO_ENV {
            return Ok(environment::of_start());
        }
        Ok(self.own_info(handle)?.borrow().clone())
    }

    /// The contents of an info object now; `INFO_NULL`, which a call that takes hints allows, is
    /// empty.
    pub fn info_or_none(&self, handle: Handle) -> Result<Info> {
        if handle == abi::INFO_NULL { Ok(Info::default()) } else { self.info(handle) }
    }

    /// A handle for a new info object.
    pub fn add_info(&self, info: Info) -> Handle {
        self.infos.add(info)
    }

    /// A handle for a new info object that tells what another object uses; the kinds of memory are
    /// added.
    pub fn add_used_info(&self, mut info: Info) -> Handle {
        let (key, value) = MEMORY_KINDS;
        info.set(key, value);
        self.add_info(info)
    }

    /// An info object that the program may change.
    pub fn own_info(&self, handle: Handle) -> Result<Rc<Shared>> {
        Ok(self.infos.own(handle)?)
    }
}

/// A key, of allowed length.
fn key(text: In<c_char>) -> Result<Vec<u8>> {
    let Some(key) = text.bytes() else {
        return Err(Error::new(abi::ERR_INFO_KEY, "the key is a null pointer"));
    };
    check_key(&key)?;
    Ok(key)
}

mpi_functions! {
    fn Info_create(info: Out<Handle>) {
        info.check()?;
        info.set(mpi().add_info(Info::default()))
    }

    fn Info_create_env(argc: c_int, argv: In<In<c_char>>, info: Out<Handle>) {
        info.check()?;
        let arguments = if argv.address().is_null() { Vec::new() } else { argv.list(argc.max(0))? };
        let arguments: Vec<_> = arguments.into_iter().filter_map(In::bytes).collect();
        info.set(mpi().add_info(environment::of(&arguments)))
    }

    fn Info_dup(info: Handle, newinfo: Out<Handle>) {
        let copy = mpi().info(info)?;
        newinfo.check()?;
        newinfo.set(mpi().add_info(copy))
    }

    fn Info_free(info: Out<Handle>) {
        let handle = info.get()?;
        mpi().infos.free(handle)?;
        info.set(abi::INFO_NULL)
    }

    fn Info_set(info: Handle, key_text: In<c_char>, value: In<c_char>) {
        let info = mpi().own_info(info)?;
        let key = key(key_text)?;
        let Some(value) = value.bytes() else {
            return Err(Error::new(abi::ERR_INFO_VALUE, "the value is a null pointer"));
        };
        check_value(&value)?;
        info.borrow_mut().set(&key, &value);
        Ok(())
    }

    fn Info_delete(info: Handle, key_text: In<c_char>) {
        let info = mpi().own_info(info)?;
        let key = key(key_text)?;
        Ok(info.borrow_mut().remove(&key)?)
    }

    fn Info_get(
        info: Handle, key_text: In<c_char>, valuelen: c_int, value: Out<c_char>, flag: Out<c_int>
    ) {
        let info = mpi().info(info)?;
        let key = key(key_text)?;
        check!(valuelen >= 0, ERR_ARG, "a value of {valuelen} characters");
        let found = info.get(&key);
        flag.set(c_int::from(found.is_some()))?;
        let Some(found) = found else { return Ok(()) };
        value.set_bytes(found, valuelen as usize + 1).map(|_| ())
    }

    fn Info_get_string(
        info: Handle, key_text: In<c_char>, buflen: Out<c_int>, value: Out<c_char>, flag: Out<c_int>
    ) {
        let info = mpi().info(info)?;
        let key = key(key_text)?;
        let room = buflen.get()?;
        check!(room >= 0, ERR_ARG, "a buffer of {room} characters");
        let found = info.get(&key);
        flag.set(c_int::from(found.is_some()))?;
        let Some(found) = found else { return Ok(()) };
        if room > 0 {
            value.set_bytes(found, room as usize)?;
        }
        // The room that it would take, with the final zero.
        buflen.set(found.len() as c_int + 1)
    }

    fn Info_get_valuelen(
        info: Handle, key_text: In<c_char>, valuelen: Out<c_int>, flag: Out<c_int>
    ) {
        let info = mpi().info(info)?;
        let key = key(key_text)?;
        let found = info.get(&key);
        flag.set(c_int::from(found.is_some()))?;
        found.map_or(Ok(()), |found| valuelen.set(found.len() as c_int))
    }

    fn Info_get_nkeys(info: Handle, nkeys: Out<c_int>) {
        nkeys.set(mpi().info(info)?.len() as c_int)
    }

    fn Info_get_nthkey(info: Handle, n: c_int, key_place: Out<c_char>) {
        let info = mpi().info(info)?;
        let key = usize::try_from(n).ok().and_then(|n| info.keys().nth(n));
        let Some(key) = key else {
            return Err(Error::new(abi::ERR_ARG, format!("key {n} of {}", info.len())));
        };
        key_place.set_bytes(key, abi::MAX_INFO_KEY as usize).map(|_| ())
    }
}
