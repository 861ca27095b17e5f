//! The functions of MPI that make datatypes, commit and free them.

use std::ffi::c_int;
use std::rc::Rc;

use super::build::{self, Arguments, product};
use super::{Contents, Datatype};
use crate::abi::{self, Handle};
use crate::argument::{In, Number, Out};
use crate::error::Result;
use crate::{both_forms, check, mpi, mpi_functions};
use objects::datatype::arrays::{Dimension, grid_place, part};

/// Gives a new datatype a handle and writes that.
pub fn register(new: Out<Handle>, datatype: Datatype) -> Result {
    new.check()?;
    new.set(mpi().types.add(datatype))
}

/// Displacements in extents, in bytes. Empty blocks are nowhere.
fn scaled(displacements: &[i64], lengths: &[i64], old: &Datatype) -> Result<Vec<i64>> {
    let blocks = displacements.iter().zip(lengths);
    let bytes = blocks.map(|(&displacement, &length)| match length {
        0 => Ok(0),
        _ => Ok(product(displacement, old.extent())?),
    });
    bytes.collect()
}

/// Arguments of a constructor with blocks of one length.
fn of_blocks(
    combiner: c_int,
    large: bool,
    count: i64,
    length: i64,
) -> Result<(Arguments, Vec<i64>)> {
    build::count(count)?;
    build::length(length)?;
    let arguments = Arguments::new(combiner, large).numbers(&[count, length]);
    Ok((arguments, vec![length; count as usize]))
}

/// Datatypes of handles, which all must be some.
fn datatypes(handles: &[Handle]) -> Result<Vec<Rc<Datatype>>> {
    handles.iter().map(|&handle| mpi().datatype(handle)).collect()
}

both_forms! {
    fn Type_contiguous | Type_contiguous_c (count: Count, old: Handle, new: Out<Handle>) {
        let (count, old) = (count.wide(), mpi().datatype(old)?);
        let contents = Arguments::new(abi::COMBINER_CONTIGUOUS, LARGE).numbers(&[count]).of(&old);
        register(new, build::contiguous(contents, count, &old)?)
    }

    fn Type_vector | Type_vector_c (
        count: Count, length: Count, stride: Count, old: Handle, new: Out<Handle>
    ) {
        let old = mpi().datatype(old)?;
        let (count, length, stride) = (count.wide(), length.wide(), stride.wide());
        let contents =
            Arguments::new(abi::COMBINER_VECTOR, LARGE).numbers(&[count, length, stride]).of(&old);
        // One that leads to no other block may be anything.
        let bytes = if count > 1 && length > 0 { product(stride, old.extent())? } else { 0 };
        register(new, build::vector(contents, count, length, bytes, &old)?)
    }

    fn Type_create_hvector | Type_create_hvector_c (
        count: Count, length: Count, stride: Aint, old: Handle, new: Out<Handle>
    ) {
        let old = mpi().datatype(old)?;
        let (count, length, stride) = (count.wide(), length.wide(), stride.wide());
        let arguments = Arguments::new(abi::COMBINER_HVECTOR, LARGE).numbers(&[count, length]);
        register(
            new,
            build::vector(arguments.addresses(&[stride]).of(&old), count, length, stride, &old)?
        )
    }

    fn Type_indexed | Type_indexed_c (
        count: Count, lengths: In<Count>, displacements: In<Count>, old: Handle, new: Out<Handle>
    ) {
        let count = build::count(count.wide())?;
        let old = mpi().datatype(old)?;
        let (lengths, displacements) = (lengths.numbers(count)?, displacements.numbers(count)?);
        let arguments = Arguments::new(abi::COMBINER_INDEXED, LARGE).numbers(&[count as i64]);
        let contents = arguments.numbers(&lengths).numbers(&displacements).of(&old);
        register(
            new, build::indexed(contents, &lengths, &scaled(&displacements, &lengths, &old)?, &old)?
        )
    }

    fn Type_create_hindexed | Type_create_hindexed_c (
        count: Count, lengths: In<Count>, displacements: In<Aint>, old: Handle, new: Out<Handle>
    ) {
        let count = build::count(count.wide())?;
        let old = mpi().datatype(old)?;
        let (lengths, displacements) = (lengths.numbers(count)?, displacements.numbers(count)?);
        let arguments = Arguments::new(abi::COMBINER_HINDEXED, LARGE).numbers(&[count as i64]);
        let contents = arguments.numbers(&lengths).addresses(&displacements).of(&old);
        register(new, build::indexed(contents, &lengths, &displacements, &old)?)
    }

    fn Type_create_indexed_block | Type_create_indexed_block_c (
        count: Count, length: Count, displacements: In<Count>, old: Handle, new: Out<Handle>
    ) {
        let old = mpi().datatype(old)?;
        let (arguments, lengths) = of_blocks(
            abi::COMBINER_INDEXED_BLOCK, LARGE, count.wide(), length.wide()
        )?;
        let displacements = displacements.numbers(lengths.len())?;
        let contents = arguments.numbers(&displacements).of(&old);
        register(
            new, build::indexed(contents, &lengths, &scaled(&displacements, &lengths, &old)?, &old)?
        )
    }

    fn Type_create_hindexed_block | Type_create_hindexed_block_c (
        count: Count, length: Count, displacements: In<Aint>, old: Handle, new: Out<Handle>
    ) {
        let old = mpi().datatype(old)?;
        let (arguments, lengths) = of_blocks(
            abi::COMBINER_HINDEXED_BLOCK, LARGE, count.wide(), length.wide()
        )?;
        let displacements = displacements.numbers(lengths.len())?;
        let contents = arguments.addresses(&displacements).of(&old);
        register(new, build::indexed(contents, &lengths, &displacements, &old)?)
    }

    fn Type_create_struct | Type_create_struct_c (
        count: Count, lengths: In<Count>, displacements: In<Aint>, types: In<Handle>,
        new: Out<Handle>
    ) {
        let count = build::count(count.wide())?;
        let types = datatypes(types.slice(count)?)?;
        let (lengths, displacements) = (lengths.numbers(count)?, displacements.numbers(count)?);
        let arguments = Arguments::new(abi::COMBINER_STRUCT, LARGE).numbers(&[count as i64]);
        let contents = arguments.numbers(&lengths).addresses(&displacements).types(
            types.iter().cloned()
        );
        register(new, build::structure(contents, &lengths, &displacements, &types)?)
    }

    fn Type_create_resized | Type_create_resized_c (
        old: Handle, lb: Aint, extent: Aint, new: Out<Handle>
    ) {
        let old = mpi().datatype(old)?;
        let (lb, extent) = (lb.wide(), extent.wide());
        let contents =
            Arguments::new(abi::COMBINER_RESIZED, LARGE).addresses(&[lb, extent]).of(&old);
        register(new, build::resized(contents, lb, extent, &old)?)
    }

    fn Type_create_subarray | Type_create_subarray_c (
        dimensions: c_int, sizes: In<Count>, subsizes: In<Count>, starts: In<Count>, order: c_int,
        old: Handle, new: Out<Handle>
    ) {
        let old = mpi().datatype(old)?;
        check!(dimensions > 0, ERR_ARG, "an array of {dimensions} dimensions has no parts");
        let (sizes, subsizes) = (sizes.numbers(dimensions)?, subsizes.numbers(dimensions)?);
        let starts = starts.numbers(dimensions)?;
        let arguments = Arguments::new(abi::COMBINER_SUBARRAY, LARGE).integers([dimensions]);
        let arguments = arguments.numbers(&sizes).numbers(&subsizes).numbers(&starts);
        let contents = arguments.integers([order]).of(&old);
        register(new, subarray(contents, &sizes, &subsizes, &starts, order, &old)?)
    }

    fn Type_create_darray | Type_create_darray_c (
        size: c_int, rank: c_int, dimensions: c_int, sizes: In<Count>, distributions: In<c_int>,
        arguments: In<c_int>, grid: In<c_int>, order: c_int, old: Handle, new: Out<Handle>,
    ) {
        let old = mpi().datatype(old)?;
        check!(dimensions > 0, ERR_ARG, "an array of {dimensions} dimensions has no parts");
        check!(0 <= rank && rank < size, ERR_ARG, "{rank} is no rank of {size} processes");
        let sizes = sizes.numbers(dimensions)?;
        let (how, with) = (distributions.slice(dimensions)?, arguments.slice(dimensions)?);
        let grid = grid.slice(dimensions)?;
        let arguments =
            Arguments::new(abi::COMBINER_DARRAY, LARGE).integers([size, rank, dimensions]);
        let arguments = arguments.numbers(&sizes).integers(how.iter().copied());
        let arguments = arguments.integers(with.iter().copied()).integers(grid.iter().copied());
        let contents = arguments.integers([order]).of(&old);
        let grid = grid.iter().map(|&places| i64::from(places)).collect::<Vec<i64>>();
        let shares = shares((size, rank), &sizes, how, with, &grid)?;
        register(new, part(contents, order, &shares, &old)?)
    }
}

fn subarray(
    contents: Contents,
    sizes: &[i64],
    subsizes: &[i64],
    starts: &[i64],
    order: c_int,
    old: &Datatype,
) -> Result<Datatype> {
    let dimensions = sizes.iter().zip(subsizes).zip(starts).map(|((&size, &subsize), &start)| {
        check!(
            size > 0 && subsize > 0,
            ERR_ARG,
            "a dimension of {size}, or {subsize} of it, is not positive"
        );
        check!(subsize <= size, ERR_ARG, "{subsize} elements of a dimension of {size}");
        check!(
            (0..=size - subsize).contains(&start),
            ERR_ARG,
            "{subsize} of {size} elements do not begin at {start}"
        );
        Ok(Dimension::slice(size, start, subsize))
    });
    Ok(part(contents, order, &dimensions.collect::<Result<Vec<_>>>()?, old)?)
}

/// The share of a rank in each dimension of an array.
fn shares(
    (size, rank): (c_int, c_int),
    sizes: &[i64],
    how: &[c_int],
    with: &[c_int],
    grid: &[i64],
) -> Result<Vec<Dimension>> {
    check!(
        grid.iter().all(|&places| places > 0),
        ERR_ARG,
        "a grid of processes has no dimension of 0"
    );
    check!(sizes.iter().all(|&elements| elements > 0), ERR_ARG, "an array has no dimension of 0");
    let places = grid.iter().try_fold(1, |all, &places| product(all, places))?;
    check!(places == size.into(), ERR_ARG, "{size} processes are no grid of {places}");
    let place = grid_place(rank.into(), grid);
    let dimensions = sizes.iter().zip(how).zip(with).zip(grid.iter().zip(place));
    dimensions
        .map(|(((&size, &how), &with), (&places, place))| {
            Ok(Dimension::share(size, how, with.into(), places, place)?)
        })
        .collect()
}

mpi_functions! {
    fn Type_dup(old: Handle, new: Out<Handle>) {
        let found = mpi().datatype(old)?;
        // If a copy function refuses, there is no new datatype.
        new.set(abi::DATATYPE_NULL)?;
        let attributes = found.attributes.copies(old)?;
        register(new, build::duplicate(&found).with_attributes(attributes))
    }

    fn Type_commit(datatype: Out<Handle>) {
        mpi().datatype(datatype.get()?)?.commit();
        Ok(())
    }

    fn Type_free(datatype: Out<Handle>) {
        let handle = datatype.get()?;
        let found = mpi().datatype(handle)?;
        check!(!found.is_permanent(), ERR_TYPE, "a predefined datatype cannot be freed");
        found.attributes.clear(handle)?;
        mpi().types.free(handle);
        datatype.set(abi::DATATYPE_NULL)
    }
}
