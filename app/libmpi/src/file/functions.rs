//! The functions by which a program queries and changes a file (MPI 4.1, sections 14.2.4 to 14.3,
//! 14.4.3 and 14.6).

use std::ffi::{c_char, c_int};
use std::os::fd::AsFd;
use std::rc::Rc;

use rustix::fs::{FallocateFlags, fallocate, ftruncate};

use super::open::{check_same, hints};
use super::representation::Representation;
use super::view::View;
use super::{File, failed};
use crate::abi::{self, Handle};
use crate::argument::{In, Number, Out};
use crate::error::{Error, Result};
use crate::{both_forms, check, control, mpi, mpi_functions};

impl File {
    fn size(&self) -> Result<u64> {
        let about = self.disk.metadata().map_err(|error| failed("the file's size", &error))?;
        Ok(about.len())
    }

    fn check_writable(&self) -> Result {
        let allowed = !self.has(abi::MODE_RDONLY);
        check!(allowed, ERR_READ_ONLY, "the file is open for reading only");
        Ok(())
    }

    fn check_random(&self) -> Result {
        check!(
            !self.has(abi::MODE_SEQUENTIAL),
            ERR_UNSUPPORTED_OPERATION,
            "the file is open for sequential access"
        );
        Ok(())
    }

    /// One rank does something about the file that all want.
    fn once(&self, act: impl FnOnce() -> rustix::io::Result<()>) -> Result {
        control::meet(&self.comm)?;
        let outcome = if self.comm.rank() == 0 { act() } else { Ok(()) };
        let code = outcome.map_or_else(|error| failed("", &error.into()).code, |()| abi::SUCCESS);
        let codes = control::exchange(&self.comm, &code.to_le_bytes())?;
        let first = codes.first().and_then(|code| code.as_slice().try_into().ok());
        let code = first.map_or(abi::ERR_INTERN, c_int::from_le_bytes);
        if code == abi::SUCCESS {
            return Ok(());
        }
        Err(Error::new(code, "the file's size could not be changed"))
    }

    /// The position of a file pointer after a seek, in etypes.
    fn sought(&self, offset: i64, whence: c_int, current: u64) -> Result<u64> {
        let from = match whence {
            abi::SEEK_SET => 0,
            abi::SEEK_CUR => current,
            abi::SEEK_END => {
                control::settle();
                let view = self.view();
                view.before(self.size()?).div_ceil(view.unit)
            }
            _ => return Err(Error::new(abi::ERR_ARG, format!("{whence} is no way to seek"))),
        };
        let place = from.checked_add_signed(offset);
        place.ok_or_else(|| Error::new(abi::ERR_ARG, "a place before the beginning of the file"))
    }
}

/// `MPI_DISPLACEMENT_CURRENT` of MPICH and Open MPI, which no other displacement is.
const CURRENT_OF_OTHERS: i64 = -54_278_278;

fn set_view(
    file: &File,
    displacement: i64,
    (etype, filetype): (Handle, Handle),
    name: In<c_char>,
) -> Result {
    let sequential = file.has(abi::MODE_SEQUENTIAL);
    let current = [abi::DISPLACEMENT_CURRENT, CURRENT_OF_OTHERS].contains(&displacement);
    check!(
        (displacement >= 0 && !sequential) || (current && sequential),
        ERR_ARG,
        "displacement {displacement}"
    );
    let types = [etype, filetype];
    check!(!types.contains(&abi::DATATYPE_NULL), ERR_ARG, "a datatype is MPI_DATATYPE_NULL");
    let representation = Representation::named(name)?;
    let (etype, filetype) = (mpi().committed(etype)?, mpi().committed(filetype)?);
    let displacement = if current {
        file.view().place(file.shared.get()?.saturating_mul(file.view().unit))? as i64
    } else {
        displacement
    };
    let view = View::new(displacement, etype, filetype, representation)?;
    let allowed = file.has(abi::MODE_RDONLY) || !view.overlaps();
    check!(allowed, ERR_IO, "the filetype shows bytes twice, and the file is open for writing");
    check_same(&file.comm, &view.unit.to_le_bytes(), "extents of the etype")?;
    file.view.replace(Rc::new(view));
    file.position.set(0);
    if file.comm.rank() == 0 {
        file.shared.set(0)?;
    }
    control::meet(&file.comm)
}

mpi_functions! {
    fn File_set_size(file: Handle, size: i64) about File(file) {
        let file = mpi().file(file)?;
        check!(size >= 0, ERR_ARG, "a file of {size} bytes");
        file.check_writable()?;
        check_same(&file.comm, &size.to_le_bytes(), "sizes")?;
        file.once(|| ftruncate(&file.disk, size as u64))
    }

    fn File_preallocate(file: Handle, size: i64) about File(file) {
        let file = mpi().file(file)?;
        check!(size >= 0, ERR_ARG, "a file of {size} bytes");
        file.check_writable()?;
        check_same(&file.comm, &size.to_le_bytes(), "sizes")?;
        file.once(|| preallocate(&file.disk, size as u64))
    }

    fn File_get_size(file: Handle, size: Out<i64>) about File(file) {
        let file = mpi().file(file)?;
        size.check()?;
        control::settle();
        size.set(file.size()? as i64)
    }

    fn File_get_group(file: Handle, group: Out<Handle>) about File(file) {
        let file = mpi().file(file)?;
        group.check()?;
        group.set(mpi().add_group(file.comm.local.clone()))
    }

    fn File_get_amode(file: Handle, amode: Out<c_int>) about File(file) {
        amode.set(mpi().file(file)?.mode)
    }

    fn File_set_info(file: Handle, info: Handle) about File(file) {
        let file = mpi().file(file)?;
        check!(info != abi::INFO_NULL, ERR_INFO, "the info object is MPI_INFO_NULL");
        file.info.borrow_mut().take_over(hints(info)?);
        control::meet(&file.comm)
    }

    fn File_get_info(file: Handle, info: Out<Handle>) about File(file) {
        let file = mpi().file(file)?;
        info.check()?;
        let known = file.info.borrow().clone();
        info.set(mpi().add_used_info(known))
    }

    fn File_set_view(
        file: Handle, displacement: i64, etype: Handle, filetype: Handle, datarep: In<c_char>,
        info: Handle
    ) about File(file) {
        let file = mpi().file(file)?;
        let hints = hints(info)?;
        set_view(&file, displacement, (etype, filetype), datarep)?;
        file.info.borrow_mut().take_over(hints);
        Ok(())
    }

    fn File_get_view(
        file: Handle, displacement: Out<i64>, etype: Out<Handle>, filetype: Out<Handle>,
        datarep: Out<c_char>
    ) about File(file) {
        let view = mpi().file(file)?.view();
        etype.check()?;
        filetype.check()?;
        displacement.set(view.displacement)?;
        datarep.set_bytes(view.representation.name(), abi::MAX_DATAREP_STRING as usize)?;
        etype.set(mpi().types.give(&view.etype))?;
        filetype.set(mpi().types.give(&view.filetype))
    }

    fn File_seek(file: Handle, offset: i64, whence: c_int) about File(file) {
        let file = mpi().file(file)?;
        file.check_random()?;
        file.position.set(file.sought(offset, whence, file.position.get())?);
        Ok(())
    }

    fn File_get_position(file: Handle, offset: Out<i64>) about File(file) {
        let file = mpi().file(file)?;
        file.check_random()?;
        offset.set(file.position.get() as i64)
    }

    fn File_get_byte_offset(file: Handle, offset: i64, displacement: Out<i64>) about File(file) {
        let file = mpi().file(file)?;
        check!(offset >= 0, ERR_ARG, "an offset is negative: {offset}");
        let view = file.view();
        displacement.set(view.place((offset as u64).saturating_mul(view.unit))? as i64)
    }

    fn File_seek_shared(file: Handle, offset: i64, whence: c_int) about File(file) {
        let file = mpi().file(file)?;
        file.check_random()?;
        let said = [offset.to_le_bytes(), i64::from(whence).to_le_bytes()].concat();
        check_same(&file.comm, &said, "places")?;
        let place = file.sought(offset, whence, file.shared.get()?)?;
        // All know the place before one changes it.
        control::meet(&file.comm)?;
        if file.comm.rank() == 0 {
            file.shared.set(place)?;
        }
        control::meet(&file.comm)
    }

    fn File_get_position_shared(file: Handle, offset: Out<i64>) about File(file) {
        let file = mpi().file(file)?;
        file.check_random()?;
        control::settle();
        offset.set(file.shared.get()? as i64)
    }

    fn File_set_atomicity(file: Handle, flag: c_int) about File(file) {
        let file = mpi().file(file)?;
        check_same(&file.comm, &[u8::from(flag != 0)], "atomicities")?;
        file.atomic.set(flag != 0);
        Ok(())
    }

    fn File_get_atomicity(file: Handle, flag: Out<c_int>) about File(file) {
        flag.set(c_int::from(mpi().file(file)?.atomic.get()))
    }

    fn File_sync(file: Handle) about File(file) {
        let file = mpi().file(file)?;
        file.check_writable()?;
        let outcome = file.disk.sync_all();
        control::meet(&file.comm)?;
        outcome.map_err(|error| failed("writing to the device", &error))
    }
}

both_forms! {
    fn File_get_type_extent | File_get_type_extent_c (
        file: Handle, datatype: Handle, extent: Out<Aint>
    ) about File(file) {
        let view = mpi().file(file)?.view();
        let (_, known) = view.representation.stored(&*mpi().datatype(datatype)?)?;
        extent.set(Aint::narrow(known))
    }
}

/// Gives a file room for so many bytes; where the system cannot promise that, it is made as long.
fn preallocate(disk: impl AsFd, size: u64) -> rustix::io::Result<()> {
    let now = rustix::fs::fstat(&disk)?.st_size as u64;
    if size == 0 {
        return Ok(());
    }
    match fallocate(&disk, FallocateFlags::empty(), 0, size) {
        Err(rustix::io::Errno::OPNOTSUPP) if now < size => ftruncate(&disk, size),
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(()),
        other => other,
    }
}
