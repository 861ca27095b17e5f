//! The functions by which a program queries a window.

use std::ffi::{c_char, c_int};

use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::error::{Error, Result};
use crate::info::Info;
use crate::{check, mpi, mpi_functions};

/// Hints about windows that the standard defines, and what holds without them.
const HINTS: [(&[u8], &[u8]); 6] = [
    (b"no_locks", b"false"),
    (b"accumulate_ordering", b"rar,raw,war,waw"),
    (b"accumulate_ops", b"same_op_no_op"),
    (b"same_size", b"false"),
    (b"same_disp_unit", b"false"),
    (b"alloc_shared_noncontig", b"false"),
];

/// The hints that the program gave, or else their defaults.
pub fn hints(given: Handle, flavor: c_int) -> Result<Info> {
    let given = mpi().info_or_none(given)?;
    let mut known = Info::default();
    for (key, value) in HINTS {
        if key == b"alloc_shared_noncontig" && flavor != abi::WIN_FLAVOR_SHARED {
            continue;
        }
        known.set(key, given.get(key).unwrap_or(value));
    }
    Ok(known)
}

mpi_functions! {
    fn Win_get_group(win: Handle, group: Out<Handle>) about Win(win) {
        let window = mpi().window(win)?;
        group.check()?;
        group.set(mpi().add_group(window.comm.local.clone()))
    }

    fn Win_set_name(win: Handle, win_name: In<c_char>) about Win(win) {
        let window = mpi().window(win)?;
        let Some(mut name) = win_name.bytes() else {
            return Err(Error::new(abi::ERR_ARG, "the name is a null pointer"));
        };
        name.truncate(abi::MAX_OBJECT_NAME as usize - 1);
        window.name.replace(name);
        Ok(())
    }

    fn Win_get_name(win: Handle, win_name: Out<c_char>, resultlen: Out<c_int>) about Win(win) {
        let name = match win {
            // Its name can be asked, though nothing else.
            abi::WIN_NULL => b"MPI_WIN_NULL".to_vec(),
            _ => mpi().window(win)?.name.borrow().clone(),
        };
        let length = win_name.set_bytes(&name, abi::MAX_OBJECT_NAME as usize)?;
        resultlen.set(length as c_int)
    }

    fn Win_set_info(win: Handle, info: Handle) about Win(win) {
        let window = mpi().window(win)?;
        check!(info != abi::INFO_NULL, ERR_INFO, "the info object is MPI_INFO_NULL");
        let given = mpi().info(info)?;
        let mut held = window.info.borrow_mut();
        for (key, _) in HINTS {
            if let (Some(value), true) = (given.get(key), held.get(key).is_some()) {
                held.set(key, value);
            }
        }
        Ok(())
    }

    fn Win_get_info(win: Handle, info_used: Out<Handle>) about Win(win) {
        let window = mpi().window(win)?;
        info_used.check()?;
        let used = window.info.borrow().clone();
        info_used.set(mpi().add_used_info(used))
    }
}
