//! The functions of MPI that tell about datatypes.

use std::ffi::{c_char, c_int};

use crate::abi::{self, Handle};
use crate::argument::{In, Number, Out};
use crate::error::{Error, Result};
use crate::{both_forms, check, mpi, mpi_functions};

both_forms! {
    local fn Type_size | Type_size_c (datatype: Handle, size: Out<Count>) {
        size.set(Count::narrow(mpi().datatype(datatype)?.size() as i64))
    }

    local fn Type_get_extent | Type_get_extent_c (
        datatype: Handle, lb: Out<Aint>, extent: Out<Aint>
    ) {
        let datatype = mpi().datatype(datatype)?;
        lb.set(Aint::narrow(datatype.lb()))?;
        extent.set(Aint::narrow(datatype.extent()))
    }

    local fn Type_get_true_extent | Type_get_true_extent_c (
        datatype: Handle, lb: Out<Aint>, extent: Out<Aint>
    ) {
        let datatype = mpi().datatype(datatype)?;
        lb.set(Aint::narrow(datatype.true_lb()))?;
        extent.set(Aint::narrow(datatype.true_extent()))
    }
}

mpi_functions! {
    local fn Type_size_x(datatype: Handle, size: Out<i64>) {
        size.set(mpi().datatype(datatype)?.size() as i64)
    }

    local fn Type_get_extent_x(datatype: Handle, lb: Out<i64>, extent: Out<i64>) {
        let datatype = mpi().datatype(datatype)?;
        lb.set(datatype.lb())?;
        extent.set(datatype.extent())
    }

    local fn Type_get_true_extent_x(datatype: Handle, lb: Out<i64>, extent: Out<i64>) {
        let datatype = mpi().datatype(datatype)?;
        lb.set(datatype.true_lb())?;
        extent.set(datatype.true_extent())
    }

    fn Type_get_envelope(
        datatype: Handle, integers: Out<c_int>, addresses: Out<c_int>, types: Out<c_int>,
        combiner: Out<c_int>
    ) {
        let datatype = mpi().datatype(datatype)?;
        let contents = datatype.contents();
        check!(!contents.large, ERR_TYPE, "the datatype was made with large counts");
        integers.set(contents.integers.len() as c_int)?;
        addresses.set(contents.addresses.len() as c_int)?;
        types.set(contents.types.len() as c_int)?;
        combiner.set(contents.combiner)
    }

    fn Type_get_envelope_c(
        datatype: Handle, integers: Out<i64>, addresses: Out<i64>, counts: Out<i64>,
        types: Out<i64>, combiner: Out<c_int>
    ) {
        let datatype = mpi().datatype(datatype)?;
        let contents = datatype.contents();
        integers.set(contents.integers.len() as i64)?;
        addresses.set(contents.addresses.len() as i64)?;
        counts.set(contents.counts.len() as i64)?;
        types.set(contents.types.len() as i64)?;
        combiner.set(contents.combiner)
    }

    fn Type_get_contents(
        datatype: Handle, room_integers: c_int, room_addresses: c_int, room_types: c_int,
        integers: Out<c_int>, addresses: Out<isize>, types: Out<Handle>,
    ) {
        let room = (room_integers.into(), room_addresses.into(), 0, room_types.into());
        contents(datatype, room, (integers, addresses, None, types))
    }

    fn Type_get_contents_c(
        datatype: Handle, room_integers: i64, room_addresses: i64, room_counts: i64,
        room_types: i64, integers: Out<c_int>, addresses: Out<isize>, counts: Out<i64>,
        types: Out<Handle>,
    ) {
        let room = (room_integers, room_addresses, room_counts, room_types);
        contents(datatype, room, (integers, addresses, Some(counts), types))
    }

    fn Type_get_name(datatype: Handle, name: Out<c_char>, length: Out<c_int>) {
        let known = match datatype {
            // Its name can be asked, though nothing else.
            abi::DATATYPE_NULL => b"MPI_DATATYPE_NULL".as_slice().into(),
            _ => mpi().datatype(datatype)?.name(),
        };
        let written = name.set_bytes(&known, abi::MAX_OBJECT_NAME as usize)?;
        length.set(written as c_int)
    }

    fn Type_set_name(datatype: Handle, name: In<c_char>) {
        let datatype = mpi().datatype(datatype)?;
        let Some(mut given) = name.bytes() else {
            return Err(Error::new(abi::ERR_ARG, "the name is a null pointer"));
        };
        given.truncate(abi::MAX_OBJECT_NAME as usize - 1);
        datatype.set_name(given.into());
        Ok(())
    }
}

/// Places for what a datatype was made from.
type Places = (Out<c_int>, Out<isize>, Option<Out<i64>>, Out<Handle>);

/// Writes what a datatype was made from. Datatypes among it get handles of their own, which the
/// program frees, unless they are predefined.
fn contents(handle: Handle, room: (i64, i64, i64, i64), places: Places) -> Result {
    let datatype = mpi().datatype(handle)?;
    let contents = datatype.contents();
    check!(
        contents.combiner != abi::COMBINER_NAMED,
        ERR_TYPE,
        "a predefined datatype is not made of others"
    );
    check!(
        places.2.is_some() || !contents.large,
        ERR_TYPE,
        "the datatype was made with large counts"
    );
    let fits = |room: i64, needed: usize| room >= needed as i64;
    let enough = fits(room.0, contents.integers.len())
        && fits(room.1, contents.addresses.len())
        && fits(room.2, contents.counts.len())
        && fits(room.3, contents.types.len());
    check!(enough, ERR_ARG, "there is not room for all that the datatype was made from");
    places.0.set_all(contents.integers.iter().copied())?;
    places.1.set_all(contents.addresses.iter().copied())?;
    if let Some(counts) = places.2 {
        counts.set_all(contents.counts.iter().copied())?;
    }
    places.3.set_all(contents.types.iter().map(|of| mpi().types.give(of)))
}
