//! The part of the binary interface that is about Fortran (MPI 5.0, chapter 20): its types are
//! those of gfortran, whatever a program says.

use std::ffi::c_int;

use crate::abi::Handle;
use crate::argument::{In, Out};
use crate::error::Result;
use crate::info::Info;
use crate::state::mpi;
use crate::{check, mpi_functions};

/// Sizes of the default types.
const SIZES: [(&str, usize); 4] = [
    ("mpi_logical_size", 4),
    ("mpi_integer_size", 4),
    ("mpi_real_size", 4),
    ("mpi_double_precision_size", 8),
];

/// Types that a compiler may lack: the library knows them all.
const OPTIONAL: [&str; 19] = [
    "mpi_logical1_supported",
    "mpi_logical2_supported",
    "mpi_logical4_supported",
    "mpi_logical8_supported",
    "mpi_logical16_supported",
    "mpi_integer1_supported",
    "mpi_integer2_supported",
    "mpi_integer4_supported",
    "mpi_integer8_supported",
    "mpi_integer16_supported",
    "mpi_real2_supported",
    "mpi_real4_supported",
    "mpi_real8_supported",
    "mpi_real16_supported",
    "mpi_complex4_supported",
    "mpi_complex8_supported",
    "mpi_complex16_supported",
    "mpi_complex32_supported",
    "mpi_double_complex_supported",
];

fn types() -> Info {
    let sizes = SIZES.iter().map(|(key, size)| (key, size.to_string()));
    let optional = OPTIONAL.iter().map(|key| (key, "true".to_owned()));
    let mut info = Info::default();
    for (key, value) in sizes.chain(optional) {
        info.set(key.as_bytes(), value.as_bytes());
    }
    info
}

/// The bytes of a logical value: 1 or 0 as an integer of its size.
fn logical(size: c_int, value: bool) -> Result<Vec<u8>> {
    check!([1, 2, 4, 8, 16].contains(&size), ERR_ABI, "no logical value has {size} bytes");
    Ok(std::iter::once(u8::from(value)).chain((1..size).map(|_| 0)).collect())
}

mpi_functions! {
    fn Abi_get_fortran_info(info: Out<Handle>) {
        info.check()?;
        info.set(mpi().add_info(types()))
    }

    fn Abi_set_fortran_info(info: Handle) {
        let said = mpi().info(info)?;
        let types = types();
        let other = said.keys().find(
            |key| types.get(key).is_some() && types.get(key) != said.get(key)
        );
        check!(
            other.is_none(),
            ERR_ABI,
            "{} is not that of gfortran",
            String::from_utf8_lossy(other.unwrap_or_default())
        );
        Ok(())
    }

    fn Abi_get_fortran_booleans(
        logical_size: c_int, logical_true: Out<u8>, logical_false: Out<u8>, is_set: Out<c_int>,
    ) {
        logical_true.set_all(logical(logical_size, true)?)?;
        logical_false.set_all(logical(logical_size, false)?)?;
        is_set.set(1)
    }

    fn Abi_set_fortran_booleans(logical_size: c_int, logical_true: In<u8>, logical_false: In<u8>) {
        for (said, value) in [(logical_true, true), (logical_false, false)] {
            let known = logical(logical_size, value)?;
            check!(
                said.slice(logical_size)? == known, ERR_ABI,
                "a logical value that is not gfortran's"
            );
        }
        Ok(())
    }
}
