//! Reading and writing (MPI 4.1, section 14.4).

use std::os::unix::fs::FileExt;

use rustix::fs::{FlockOperation, flock};

use super::{File, failed};
use crate::abi::{self, Status};
use crate::datatype::map::Map;
use crate::error::{Error, Result};
use crate::p2p::Data;
use crate::{check, control};

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the file.
    Read,
    /// To it.
    Write,
}

/// The place of an access in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an offset in etypes.
    At(i64),
    /// At the rank's own file pointer.
    Own,
    /// At the file pointer of all ranks, one after the other as they come.
    Shared,
    /// At the file pointer of all ranks, in the order of ranks.
    Ordered,
}

/// A collective access that has begun: the program asks for its status later.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    direction: Direction,
    place: Place,
    status: Status,
}

/// The form of an access: of one rank, or collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// It is not.
    Alone,
    /// It is.
    Whole,
    /// All of it, and the call returns before it is over.
    Later,
}

fn check_mode(file: &File, direction: Direction, place: Place) -> Result {
    let allowed = direction == Direction::Write || !file.has(abi::MODE_WRONLY);
    check!(allowed, ERR_ACCESS, "the file is open for writing only");
    let allowed = direction == Direction::Read || !file.has(abi::MODE_RDONLY);
    check!(allowed, ERR_READ_ONLY, "the file is open for reading only");
    let shared = matches!(place, Place::Shared | Place::Ordered);
    check!(
        shared || !file.has(abi::MODE_SEQUENTIAL),
        ERR_UNSUPPORTED_OPERATION,
        "the file is open for sequential access"
    );
    if let Place::At(offset) = place {
        check!(offset >= 0, ERR_ARG, "an offset is negative: {offset}");
    }
    Ok(())
}

/// The offset of this rank's data if all access the file in the order of ranks; the shared pointer
/// moves behind all of it.
fn in_order(file: &File, etypes: u64) -> Result<u64> {
    let words = |all: Vec<Vec<u8>>| {
        all.into_iter().map(|bytes| bytes.as_slice().try_into().map_or(0, u64::from_le_bytes))
    };
    let all: Vec<u64> = words(control::exchange(&file.comm, &etypes.to_le_bytes())?).collect();
    let rank = file.comm.rank() as usize;
    let start = if rank == 0 { file.shared.add(all.iter().sum())? } else { 0 };
    let start = words(control::exchange(&file.comm, &start.to_le_bytes())?).next().unwrap_or(0);
    Ok(start.saturating_add(all.iter().take(rank).sum()))
}

/// Bytes in memory of so many bytes in the file.
fn in_memory(data: &Data, stored: &Map, bytes: u64) -> u64 {
    if stored.size() == 0 || stored.size() == data.datatype.size() {
        return bytes;
    }
    let (whole, rest) = (bytes / stored.size(), bytes % stored.size());
    let rest =
        stored.elements_in(rest).map_or(0, |elements| data.datatype.map().bytes_of(elements));
    whole.saturating_mul(data.datatype.size()).saturating_add(rest)
}

/// Carries out an access.
pub fn access(
    file: &File,
    direction: Direction,
    place: Place,
    together: Together,
    data: &Data,
) -> Result<Status> {
    let view = file.view();
    let stored = view.representation.stored(&data.datatype)?.0;
    let bytes = stored.size().saturating_mul(data.count);
    check!(bytes.is_multiple_of(view.unit), ERR_IO, "{bytes} bytes are not whole etypes");
    check_mode(file, direction, place)?;
    if together == Together::Whole && direction == Direction::Read {
        control::meet(&file.comm)?;
    } else {
        control::settle();
    }
    let etypes = bytes / view.unit;
    let start = match place {
        Place::At(offset) => offset as u64,
        Place::Own => file.position.get(),
        Place::Shared => file.shared.add(etypes)?,
        Place::Ordered => in_order(file, etypes)?,
    };
    let outcome = transfer(file, direction, (start, bytes), data);
    if let (Place::Own, Ok(done)) = (place, &outcome) {
        file.position.set(start + done.div_ceil(view.unit));
    }
    if together == Together::Whole && direction == Direction::Write {
        control::meet(&file.comm)?;
    }
    let mut status = Status::empty();
    status.set_bytes(in_memory(data, &stored, outcome?));
    Ok(status)
}

/// Moves so many bytes from an offset in etypes on; gives how many there were.
fn transfer(
    file: &File,
    direction: Direction,
    (start, bytes): (u64, u64),
    data: &Data,
) -> Result<u64> {
    let view = file.view();
    let beyond = || Error::new(abi::ERR_ARG, "an offset is beyond what 64 bits can tell");
    let skip = start.checked_mul(view.unit).ok_or_else(beyond)?;
    let alone = file.atomic.get();
    if alone {
        flock(&file.disk, FlockOperation::LockExclusive)
            .map_err(|error| failed("locking the file", &error.into()))?;
    }
    let plain = view.representation.is_native().then(|| data.datatype.run(data.count)).flatten();
    let outcome = match (direction, plain) {
        (Direction::Write, Some((offset, _))) => {
            // SAFETY: the program's buffer holds so many bytes there (MPI 4.1, section 14.4.1).
            let from = unsafe { slice(data.address, offset, bytes) };
            write(file, skip, from)
        }
        (Direction::Write, None) => {
            view.representation.write(data, bytes).and_then(|packed| write(file, skip, &packed))
        }
        (Direction::Read, Some((offset, _))) => {
            // SAFETY: as above.
            let into = unsafe { slice(data.address, offset, bytes) };
            read(file, skip, into)
        }
        (Direction::Read, None) => {
            let mut packed = vec![0; bytes as usize];
            read(file, skip, &mut packed).and_then(|read| {
                let (there, _) = packed.split_at_mut(read as usize);
                view.representation.read(data, there)?;
                Ok(read)
            })
        }
    };
    if alone {
        // It was locked before.
        let _ = flock(&file.disk, FlockOperation::Unlock);
    }
    outcome
}

/// The bytes of a buffer without gaps.
///
/// # Safety
/// Nobody else uses them meanwhile.
/// The program's buffer holds so many bytes from there on.
unsafe fn slice<'a>(address: *mut u8, offset: i64, bytes: u64) -> &'a mut [u8] {
    if bytes == 0 {
        return &mut [];
    }
    let address = address.wrapping_offset(offset as isize);
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts_mut(address, bytes as usize) }
}

/// Writes a part of the stream.
fn write(file: &File, skip: u64, mut from: &[u8]) -> Result<u64> {
    let (total, mut outcome) = (from.len() as u64, Ok(()));
    file.view().pieces(skip, total, |place, length| {
        let (now, rest) = from.split_at(length as usize);
        from = rest;
        outcome = file.disk.write_all_at(now, place);
        outcome.is_ok()
    })?;
    outcome.map(|()| total).map_err(|error| failed("writing", &error))
}

/// Reads a part of the stream, as far as the file goes.
fn read(file: &File, skip: u64, into: &mut [u8]) -> Result<u64> {
    let (total, mut done, mut outcome) = (into.len() as u64, 0_u64, Ok(()));
    file.view().pieces(skip, total, |place, length| {
        let end = done + length;
        let mut place = place;
        while done < end {
            let room = into.get_mut(done as usize..end as usize).unwrap_or_default();
            match file.disk.read_at(room, place) {
                Ok(0) => return false,
                Ok(read) => {
                    done += read as u64;
                    place += read as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    outcome = Err(error);
                    return false;
                }
            }
        }
        true
    })?;
    outcome.map(|()| done).map_err(|error| failed("reading", &error))
}

/// Begins a collective access whose status is asked for later.
pub fn begin(file: &File, direction: Direction, place: Place, data: &Data) -> Result {
    check!(file.split.borrow().is_none(), ERR_IO, "a split collective access is under way");
    let status = access(file, direction, place, Together::Whole, data)?;
    // Its end names the function, not the offset.
    let place = if let Place::At(_) = place { Place::At(0) } else { place };
    file.split.replace(Some(Split { direction, place, status }));
    Ok(())
}

/// Ends it.
pub fn end(file: &File, direction: Direction, place: Place) -> Result<Status> {
    let split = *file.split.borrow();
    let split = split.filter(|split| split.direction == direction && split.place == place);
    let split = split
        .ok_or_else(|| Error::new(abi::ERR_IO, "no such split collective access has begun"))?;
    file.split.replace(None);
    Ok(split.status)
}
