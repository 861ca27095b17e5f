//! `MPI_Pack` and its like. What is packed is the data without its gaps, and nothing else.

use std::ffi::c_char;

use super::{Datatype, build, check_buffer, external};
use crate::abi::Handle;
use crate::argument::{In, Number, Out};
use crate::error::Result;
use crate::{both_forms, check, mpi};

/// Position and size of a packing buffer, of which some more bytes are used; gives the place of
/// these.
fn room(position: i64, size: i64, bytes: u64) -> Result<std::ops::Range<usize>> {
    check!(size >= 0, ERR_ARG, "a buffer of {size} bytes");
    check!(
        (0..=size).contains(&position),
        ERR_ARG,
        "position {position} in a buffer of {size} bytes"
    );
    let end = (position as u64).checked_add(bytes).filter(|&end| end <= size as u64);
    check!(
        end.is_some(),
        ERR_ARG,
        "{bytes} bytes do not fit in a buffer of {size} bytes at {position}"
    );
    Ok(position as usize..position as usize + bytes as usize)
}

/// Bytes that several of a datatype have.
fn bytes(count: i64, datatype: &Datatype) -> Result<u64> {
    Ok(build::product(build::count(count)? as i64, datatype.size() as i64)? as u64)
}

/// "external32" is the only representation there is for these functions.
fn check_representation(name: In<c_char>) -> Result {
    let name = name.string()?;
    check!(name == "external32", ERR_ARG, "{name} is no representation of packed data");
    Ok(())
}

both_forms! {
    fn Pack | Pack_c (
        from: *const u8, count: Count, datatype: Handle, into: Out<u8>, size: Count,
        position: Out<Count>, comm: Handle,
    ) about Comm(comm) {
        mpi().comm(comm)?;
        let (datatype, count) = (mpi().committed(datatype)?, count.wide());
        let place = room(position.get()?.wide(), size.wide(), bytes(count, &datatype)?)?;
        check_buffer(&datatype, from, count as u64)?;
        let packed = into.slice(place.end)?.get_mut(place.start..).unwrap_or_default();
        // SAFETY: the program's buffer.
        unsafe { datatype.pack(from, count as u64, packed) };
        position.set(Count::narrow(place.end as i64))
    }

    fn Unpack | Unpack_c (
        from: In<u8>, size: Count, position: Out<Count>, into: *mut u8, count: Count,
        datatype: Handle, comm: Handle,
    ) about Comm(comm) {
        mpi().comm(comm)?;
        let (datatype, count) = (mpi().committed(datatype)?, count.wide());
        let place = room(position.get()?.wide(), size.wide(), bytes(count, &datatype)?)?;
        check_buffer(&datatype, into, count as u64)?;
        let packed = from.slice(place.end)?.get(place.start..).unwrap_or_default();
        // SAFETY: the program's buffer.
        unsafe { datatype.unpack(packed, into, count as u64) };
        position.set(Count::narrow(place.end as i64))
    }

    fn Pack_size | Pack_size_c (
        count: Count, datatype: Handle, comm: Handle, size: Out<Count>
    ) about Comm(comm) {
        mpi().comm(comm)?;
        let datatype = mpi().committed(datatype)?;
        size.set(Count::narrow(bytes(count.wide(), &datatype)? as i64))
    }

    fn Pack_external | Pack_external_c (
        representation: In<c_char>, from: *const u8, count: Count, datatype: Handle,
        into: Out<u8>, size: Aint, position: Out<Aint>,
    ) {
        check_representation(representation)?;
        let (datatype, count) = (mpi().committed(datatype)?, build::count(count.wide())?);
        let place = room(position.get()?.wide(), size.wide(), external::size(&datatype, count)?)?;
        check_buffer(&datatype, from, count)?;
        let packed = into.slice(place.end)?.get_mut(place.start..).unwrap_or_default();
        // SAFETY: the program's buffer.
        unsafe { external::pack(&datatype, from, count, packed) };
        position.set(Aint::narrow(place.end as i64))
    }

    fn Unpack_external | Unpack_external_c (
        representation: In<c_char>, from: In<u8>, size: Aint, position: Out<Aint>,
        into: *mut u8, count: Count, datatype: Handle,
    ) {
        check_representation(representation)?;
        let (datatype, count) = (mpi().committed(datatype)?, build::count(count.wide())?);
        let place = room(position.get()?.wide(), size.wide(), external::size(&datatype, count)?)?;
        check_buffer(&datatype, into, count)?;
        let packed = from.slice(place.end)?.get(place.start..).unwrap_or_default();
        // SAFETY: the program's buffer.
        unsafe { external::unpack(&datatype, packed, into, count) };
        position.set(Aint::narrow(place.end as i64))
    }

    fn Pack_external_size | Pack_external_size_c (
        representation: In<c_char>, count: Count, datatype: Handle, size: Out<Aint>,
    ) {
        check_representation(representation)?;
        let datatype = mpi().committed(datatype)?;
        size.set(Aint::narrow(external::size(&datatype, build::count(count.wide())?)? as i64))
    }
}
