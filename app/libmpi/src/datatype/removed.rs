//! Functions on datatypes that MPI-3.0 removed and that older programs and real libraries have.

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use super::build::{self, Arguments};
use super::construct::register;
use crate::abi::{self, Handle};
use crate::argument::{In, Number, Out};
use crate::{mpi, mpi_functions};

mpi_functions! {
    local fn Address(location: *const c_void, address: Out<isize>) {
        address.set(location as isize)
    }

    local fn Type_extent(datatype: Handle, extent: Out<isize>) {
        extent.set(isize::narrow(mpi().datatype(datatype)?.extent()))
    }

    local fn Type_lb(datatype: Handle, displacement: Out<isize>) {
        displacement.set(isize::narrow(mpi().datatype(datatype)?.lb()))
    }

    fn Type_ub(datatype: Handle, displacement: Out<isize>) {
        displacement.set(isize::narrow(mpi().datatype(datatype)?.bounds().ub))
    }

    fn Type_hvector(count: c_int, length: c_int, stride: isize, old: Handle, new: Out<Handle>) {
        let old = mpi().datatype(old)?;
        let (count, length, stride) = (count.wide(), length.wide(), stride.wide());
        let arguments = Arguments::new(abi::COMBINER_HVECTOR, false).numbers(&[count, length]);
        register(
            new,
            build::vector(arguments.addresses(&[stride]).of(&old), count, length, stride, &old)?
        )
    }

    fn Type_hindexed(
        count: c_int, lengths: In<c_int>, displacements: In<isize>, old: Handle, new: Out<Handle>
    ) {
        let count = build::count(count.wide())?;
        let old = mpi().datatype(old)?;
        let (lengths, displacements) = (lengths.numbers(count)?, displacements.numbers(count)?);
        let arguments = Arguments::new(abi::COMBINER_HINDEXED, false).numbers(&[count as i64]);
        let contents = arguments.numbers(&lengths).addresses(&displacements).of(&old);
        register(new, build::indexed(contents, &lengths, &displacements, &old)?)
    }

    fn Type_struct(
        count: c_int, lengths: In<c_int>, displacements: In<isize>, types: In<Handle>,
        new: Out<Handle>
    ) {
        let count = build::count(count.wide())?;
        let types = types.slice(count)?.iter().map(|&handle| mpi().datatype(handle));
        let types = types.collect::<crate::Result<Vec<Rc<_>>>>()?;
        let (lengths, displacements) = (lengths.numbers(count)?, displacements.numbers(count)?);
        let arguments = Arguments::new(abi::COMBINER_STRUCT, false).numbers(&[count as i64]);
        let contents = arguments.numbers(&lengths).addresses(&displacements).types(
            types.iter().cloned()
        );
        register(new, build::structure(contents, &lengths, &displacements, &types)?)
    }
}
