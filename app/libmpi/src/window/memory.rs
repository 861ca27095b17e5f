//! Memory that ranks expose, and how others reach it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::{cell::OnceCell, fs::OpenOptions};

use crate::abi;
use crate::check;
use crate::datatype::layout::Runs;
use crate::error::{Error, Result};
use crate::p2p::Data;
use crate::state::mpi;

/// The memory that a rank exposes.
#[derive(Debug)]
pub struct Exposed {
    place: Where,
    size: u64,
    /// Bytes that displacements count.
    pub unit: i64,
}

/// The rank and the process that memory belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// The rank, by its number in the world.
    pub rank: Option<u32>,
    /// The number of its process.
    pub process: u32,
}

impl Owner {
    fn is_here(self) -> bool {
        self.process == std::process::id()
    }

    /// The address of a byte in this process, if that is its owner's.
    fn place(self, address: usize) -> *mut u8 {
        let mpi = mpi();
        let port = mpi.port.get().zip(self.rank);
        port.map_or(address, |(port, rank)| port.address_of(rank, address)) as *mut u8
    }
}

/// The location of memory.
#[derive(Debug)]
enum Where {
    /// In this process.
    Here(*mut u8),
    /// In another, at an address there.
    Process { owner: Owner, address: u64, file: OnceCell<File> },
    /// Wherever the program says in each access: a dynamic window.
    Anywhere { owner: Owner, file: OnceCell<File> },
}

/// A part of what a rank exposes, as an access names it: so many of a datatype.
#[derive(Debug)]
pub struct Part<'a> {
    exposed: &'a Exposed,
    /// Address or offset, in bytes.
    at: i64,
    /// Count and datatype; its address is that of this process, if it is there.
    data: Data,
}

impl Exposed {
    /// Memory of `size` bytes of this process.
    pub fn here(address: *mut u8, size: u64, unit: i64) -> Self {
        Self { place: Where::Here(address), size, unit }
    }

    /// Memory of `size` bytes of a rank that has had them for a while.
    pub fn of(owner: Owner, address: u64, size: u64, unit: i64) -> Self {
        if owner.is_here() {
            return Self::here(owner.place(address as usize), size, unit);
        }
        let place = Where::Process { owner, address, file: OnceCell::new() };
        Self { place, size, unit }
    }

    /// Whatever a rank attaches.
    pub fn anywhere(owner: Owner) -> Self {
        Self { place: Where::Anywhere { owner, file: OnceCell::new() }, size: 0, unit: 1 }
    }

    /// Bytes of it.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Its address in this process, if it can be loaded from and stored to.
    pub fn address(&self) -> *mut u8 {
        match self.place {
            Where::Here(address) => address,
            _ => std::ptr::null_mut(),
        }
    }

    /// The part of the memory that an access names: `displacement` units behind the beginning, so
    /// many of a datatype.
    pub fn part(&self, displacement: isize, data: Data) -> Result<Part<'_>> {
        let dynamic = matches!(self.place, Where::Anywhere { .. });
        check!(displacement >= 0 || dynamic, ERR_DISP, "displacement {displacement}");
        let at = (displacement as i64).saturating_mul(self.unit);
        let (offset, bytes) = data.datatype.span(data.count);
        let start = i128::from(at) + i128::from(offset);
        let within = start >= 0 && start + i128::from(bytes) <= i128::from(self.size);
        check!(
            within || dynamic || data.bytes() == 0,
            ERR_RMA_RANGE,
            "bytes {start} to {} of a window of {} bytes",
            start + i128::from(bytes),
            self.size
        );
        let address = match &self.place {
            Where::Here(base) => base.wrapping_offset(at as isize),
            Where::Anywhere { owner, .. } if owner.is_here() => owner.place(displacement as usize),
            _ => std::ptr::null_mut(),
        };
        Ok(Part { exposed: self, at, data: Data { address, ..data } })
    }
}

impl Where {
    /// The memory of another process as a file, and where it begins; nothing for this process's.
    fn file(&self) -> Result<Option<(&File, u64)>> {
        let (owner, file, address) = match self {
            Self::Process { owner, address, file } => (owner, file, *address),
            Self::Anywhere { owner, file } if !owner.is_here() => (owner, file, 0),
            _ => return Ok(None),
        };
        if let Some(file) = file.get() {
            return Ok(Some((file, address)));
        }
        let path = format!("/proc/{}/mem", owner.process);
        let opened = OpenOptions::new().read(true).write(true).open(&path).map_err(|error| {
            Error::new(abi::ERR_OTHER, format!("the memory of a rank, {path}: {error}"))
        })?;
        Ok(Some((file.get_or_init(|| opened), address)))
    }
}

impl Part<'_> {
    /// Bytes of the data.
    pub fn bytes(&self) -> u64 {
        self.data.bytes()
    }

    /// The data, packed.
    pub fn read(&self) -> Result<Vec<u8>> {
        let Some((file, base)) = self.exposed.place.file()? else { return Ok(self.data.packed()) };
        let mut packed = vec![0; self.bytes() as usize];
        let length = packed.len();
        self.each(base, length, |address, range| {
            packed.get_mut(range).map_or(Ok(()), |bytes| file.read_exact_at(bytes, address))
        })?;
        Ok(packed)
    }

    /// Writes packed data; what there is no room for is left out.
    pub fn write(&self, packed: &[u8]) -> Result {
        let Some((file, base)) = self.exposed.place.file()? else {
            self.data.unpack(packed);
            return Ok(());
        };
        let length = packed.len().min(self.bytes() as usize);
        self.each(base, length, |address, range| {
            packed.get(range).map_or(Ok(()), |bytes| file.write_all_at(bytes, address))
        })
    }

    /// Calls a function with the address of each run in another process and its place in the packed
    /// data.
    fn each(
        &self,
        base: u64,
        length: usize,
        mut run: impl FnMut(u64, std::ops::Range<usize>) -> io::Result<()>,
    ) -> Result {
        let start = base.wrapping_add_signed(self.at);
        let mut place = 0;
        let mut outcome = Ok(());
        self.data.datatype.visit(self.data.count, 0, length as u64, &mut |runs: Runs| {
            for number in 0..runs.count as i64 {
                let offset = runs.offset.wrapping_add(runs.stride.wrapping_mul(number));
                let range = place..place + runs.bytes as usize;
                place = range.end;
                if outcome.is_ok() {
                    outcome = run(start.wrapping_add_signed(offset), range);
                }
            }
        });
        outcome.map_err(|error| {
            Error::new(abi::ERR_RMA_RANGE, format!("memory that is not exposed ({error})"))
        })
    }
}
