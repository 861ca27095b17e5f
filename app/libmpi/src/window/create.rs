//! Windows are made and freed (MPI 4.1, section 12.2).

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use rank_ipc::{Amount, Collective, Offset};
use rustix::process::{PTracer, set_ptracer};

use super::Window;
use super::epoch::Epoch;
use super::functions::hints;
use super::lock::Locks;
use super::memory::{Exposed, Owner};
use crate::abi::{self, Handle};
use crate::argument::{Number, Out};
use crate::attributes::Attributes;
use crate::collective::{self, Board, Call, Contribution};
use crate::comm::{self, Comm};
use crate::errhandler::Errhandler;
use crate::error::{Error, Result};
use crate::{both_forms, check, control, mpi, mpi_functions, p2p, threads};

/// Segments of a shared window begin on such a boundary, if they need not follow on each other.
const APART: u64 = 64;

/// The description of its part of a window that a rank sends to the others.
#[derive(Clone, Copy, Debug)]
struct Told {
    process: u32,
    /// Address in the process, or place in the memory that all share.
    at: u64,
    size: u64,
    unit: i64,
}

impl Told {
    fn encode(self) -> Vec<u8> {
        let words = [u64::from(self.process), self.at, self.size, self.unit.cast_unsigned()];
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    fn decode(bytes: &[u8]) -> Self {
        let [process, at, size, unit] = [0, 1, 2, 3].map(|number| word(bytes, number));
        Self { process: process as u32, at, size, unit: unit.cast_signed() }
    }
}

fn word(bytes: &[u8], number: usize) -> u64 {
    let bytes = bytes.as_chunks().0.get(number).copied().unwrap_or_default();
    u64::from_le_bytes(bytes)
}

/// The arguments of all functions that make windows.
#[derive(Debug)]
struct Parts {
    comm: Rc<Comm>,
    flavor: c_int,
    info: Handle,
}

/// The offsets of the segments of a shared window, and their size in all.
fn segments(sizes: &[Told], apart: bool) -> (Vec<u64>, u64) {
    let mut end: u64 = 0;
    let starts = sizes.iter().map(|told| {
        let start = if apart { end.next_multiple_of(APART) } else { end };
        end = start + told.size;
        start
    });
    (starts.collect(), end)
}

impl Parts {
    fn new(comm: Handle, flavor: c_int, info: Handle) -> Result<Self> {
        let comm = mpi().intracomm(comm)?;
        mpi().info_or_none(info)?;
        Ok(Self { comm, flavor, info })
    }

    /// Refuses ranks on several hosts.
    fn share_memory(&self) -> Result {
        let me = mpi().comms.me();
        let near =
            |rank| self.comm.world_rank(rank).is_none_or(|rank| control::share_memory(me, rank));
        let far = (0..self.comm.size()).find(|rank| !near(*rank));
        check!(far.is_none(), ERR_RMA_SHARED, "rank {} is on another host", far.unwrap_or(0));
        Ok(())
    }

    fn is_apart(&self) -> Result<bool> {
        let info = mpi().info_or_none(self.info)?;
        Ok(info.get(b"alloc_shared_noncontig") == Some(b"true"))
    }

    /// All ranks tell of their parts; one of them allocates what all share: the locks, and the
    /// memory of a shared window.
    fn agree(&self, comm: &Comm, mine: Told) -> Result<(Vec<Told>, [Offset; 2])> {
        let (call, mine) = (Call::new(Collective::WinCreate), Contribution::of(&mine.encode())?);
        let nothing = || Amount::Each(0);
        let ticket = collective::post(comm, &call, nothing(), nothing(), mine)?;
        let mpi = mpi();
        let port = mpi.port()?;
        threads::finish(port, &[ticket]);
        let apart = self.is_apart()?;
        collective::finish(comm, ticket, |board: &Board| {
            let told = (0..comm.size()).map(|rank| board.local(rank).map(Told::decode));
            let told: Vec<_> = told.collect::<Result<_>>()?;
            port.order();
            let shared = board.shared(|| {
                let locks = p2p::block(Locks::bytes(comm.size()))?;
                Locks::new(locks, comm.size()).clear(port);
                let memory = match self.flavor {
                    abi::WIN_FLAVOR_SHARED => p2p::zeroed(segments(&told, apart).1)?,
                    _ => 0,
                };
                Ok([locks, memory].into_iter().flat_map(u64::to_le_bytes).collect())
            })?;
            Ok((told, [word(shared, 0), word(shared, 1)]))
        })
    }

    /// Makes the window, together with the other ranks. `base` is this rank's part, if it has it
    /// already; `block` what it has allocated.
    fn make(
        self,
        base: *mut c_void,
        mine: Told,
        block: Offset,
        place: Out<Handle>,
    ) -> Result<Rc<Window>> {
        let comm = comm::private_copy(&self.comm)?;
        // So that other ranks may reach the memory of this process where the system asks for leave.
        // If it knows no such leave, none is needed.
        let _ = set_ptracer(PTracer::Any);
        let (told, [locks, memory]) = self.agree(&comm, mine)?;
        let mpi = mpi();
        let port = mpi.port()?;
        let at =
            |place: Offset| if place == 0 { std::ptr::null_mut() } else { port.memory().at(place) };
        let starts = segments(&told, self.is_apart()?).0;
        let owner =
            |rank, told: &Told| Owner { rank: comm.world_rank(rank), process: told.process };
        let exposed: Vec<_> = (0..)
            .zip(&told)
            .zip(starts)
            .map(|((rank, told), start)| match self.flavor {
                abi::WIN_FLAVOR_CREATE => {
                    Exposed::of(owner(rank, told), told.at, told.size, told.unit)
                }
                abi::WIN_FLAVOR_DYNAMIC => Exposed::anywhere(owner(rank, told)),
                abi::WIN_FLAVOR_SHARED if memory != 0 => {
                    Exposed::here(at(memory + start), told.size, told.unit)
                }
                _ => Exposed::here(at(told.at), told.size, told.unit),
            })
            .collect();
        let own = || exposed.get(comm.rank() as usize).map_or(base, |own| own.address().cast());
        let base = if base.is_null() { own() } else { base };
        let locks = Locks::new(locks, comm.size());
        let window = Window {
            base,
            size: mine.size as isize,
            unit: mine.unit as c_int,
            flavor: self.flavor,
            model: abi::WIN_UNIFIED,
            exposed,
            attached: RefCell::default(),
            blocks: Cell::new([block, memory]),
            locks,
            epoch: RefCell::<Epoch>::default(),
            open: RefCell::default(),
            idle: Cell::default(),
            attributes: Attributes::default(),
            errhandler: RefCell::new(Errhandler::Fatal),
            name: RefCell::default(),
            info: RefCell::new(hints(self.info, self.flavor)?),
            comm,
        };
        let window = Rc::new(window);
        place.set(mpi.windows.add(Rc::clone(&window)))?;
        Ok(window)
    }
}

/// Size and unit of displacements of a rank's part of a window.
fn measures(size: isize, unit: i64) -> Result<Told> {
    check!(size >= 0, ERR_SIZE, "a window of {size} bytes");
    check!(unit > 0, ERR_DISP, "displacements in units of {unit} bytes");
    Ok(Told { process: std::process::id(), at: 0, size: size as u64, unit })
}

/// Frees a window, when all its ranks do.
fn free(place: Out<Handle>) -> Result {
    let handle = place.get()?;
    let window = mpi().window(handle)?;
    window.epoch.borrow_mut().free()?;
    window.attributes.clear(handle)?;
    window.meet(Collective::WinFree)?;
    let mpi = mpi();
    let port = mpi.port()?;
    let [own, shared] = window.blocks.take();
    let last = window.locks.leave()?;
    let of_all = [shared, window.locks.place()].into_iter().filter(|_| last);
    for block in [own].into_iter().chain(of_all).filter(|block| *block != 0) {
        port.give_back(block);
    }
    mpi.windows.remove(handle);
    place.set(abi::WIN_NULL)
}

both_forms! {
    fn Win_create | Win_create_c (
        base: *mut c_void, size: isize, disp_unit: Displacement, info: Handle, comm: Handle,
        win: Out<Handle>
    ) about Comm(comm) {
        win.check()?;
        let parts = Parts::new(comm, abi::WIN_FLAVOR_CREATE, info)?;
        let mine = measures(size, disp_unit.wide())?;
        check!(
            size == 0 || !base.is_null(), ERR_ARG,
            "the window of {size} bytes begins at a null pointer"
        );
        parts.make(base, Told { at: base as u64, ..mine }, 0, win).map(|_| ())
    }

    fn Win_allocate | Win_allocate_c (
        size: isize, disp_unit: Displacement, info: Handle, comm: Handle, base: Out<*mut c_void>,
        win: Out<Handle>
    ) about Comm(comm) {
        win.check()?;
        base.check()?;
        let parts = Parts::new(comm, abi::WIN_FLAVOR_ALLOCATE, info)?;
        let mine = measures(size, disp_unit.wide())?;
        // Programs rely on that, as other libraries get the memory of each window from the system.
        let block = p2p::zeroed(mine.size)?;
        let window = parts.make(std::ptr::null_mut(), Told { at: block, ..mine }, block, win)?;
        base.set(window.base)
    }

    fn Win_allocate_shared | Win_allocate_shared_c (
        size: isize, disp_unit: Displacement, info: Handle, comm: Handle, base: Out<*mut c_void>,
        win: Out<Handle>
    ) about Comm(comm) {
        win.check()?;
        base.check()?;
        let parts = Parts::new(comm, abi::WIN_FLAVOR_SHARED, info)?;
        parts.share_memory()?;
        let mine = measures(size, disp_unit.wide())?;
        let window = parts.make(std::ptr::null_mut(), mine, 0, win)?;
        base.set(window.base)
    }

    fn Win_shared_query | Win_shared_query_c (
        win: Handle, rank: c_int, size: Out<isize>, disp_unit: Out<Displacement>,
        base: Out<*mut c_void>
    ) about Win(win) {
        let window = mpi().window(win)?;
        let wanted = window.target(rank)?;
        let (bytes, unit, address) = window.shared(wanted)?;
        size.set(bytes as isize)?;
        disp_unit.set(Displacement::narrow(unit))?;
        base.set(address)
    }
}

impl Window {
    /// Size, unit and address of a rank's part, as this rank can load from and store to it; nothing
    /// if it cannot. Nobody is the first rank that has any.
    fn shared(&self, rank: Option<u32>) -> Result<(u64, i64, *mut c_void)> {
        let dynamic = self.flavor == abi::WIN_FLAVOR_DYNAMIC;
        check!(!dynamic, ERR_RMA_FLAVOR, "the memory of the window is not shared");
        let me = self.comm.rank();
        let host = |rank| self.comm.world_rank(rank).map(control::host);
        let near = |rank| match self.flavor {
            abi::WIN_FLAVOR_SHARED => true,
            abi::WIN_FLAVOR_ALLOCATE => host(rank) == host(me),
            // Memory of the program's own.
            _ => rank == me,
        };
        let rank = rank.or_else(|| {
            let mut all = (0..).zip(&self.exposed);
            all.find_map(|(rank, part)| (part.size() > 0).then_some(rank))
        });
        let Some(rank) = rank.filter(|rank| near(*rank)) else {
            return Ok((0, 1, std::ptr::null_mut()));
        };
        let part = self.exposed.get(rank as usize).ok_or_else(|| self.wrong_rank(rank))?;
        Ok((part.size(), part.unit, part.address().cast()))
    }
}

mpi_functions! {
    fn Win_create_dynamic(info: Handle, comm: Handle, win: Out<Handle>) about Comm(comm) {
        win.check()?;
        let parts = Parts::new(comm, abi::WIN_FLAVOR_DYNAMIC, info)?;
        parts.make(std::ptr::null_mut(), measures(0, 1)?, 0, win).map(|_| ())
    }

    fn Win_attach(win: Handle, base: *mut c_void, size: isize) about Win(win) {
        let window = mpi().window(win)?;
        window.check_dynamic()?;
        check!(size >= 0, ERR_SIZE, "memory of {size} bytes");
        check!(size == 0 || !base.is_null(), ERR_ARG, "the memory is a null pointer");
        let (start, size) = (base as usize, size as usize);
        // An empty region overlaps nothing.
        let overlaps = |(other, length): &(usize, usize)| {
            start.max(*other) < (start + size).min(other + length)
        };
        let taken = window.attached.borrow().iter().any(overlaps);
        check!(!taken, ERR_RMA_ATTACH, "the memory is attached already");
        window.attached.borrow_mut().push((start, size));
        Ok(())
    }

    fn Win_detach(win: Handle, base: *const c_void) about Win(win) {
        let window = mpi().window(win)?;
        window.check_dynamic()?;
        let mut attached = window.attached.borrow_mut();
        let place = attached.iter().position(|(start, _)| *start == base as usize);
        let place = place.ok_or_else(|| {
            Error::new(abi::ERR_RMA_ATTACH, "the memory is not attached")
        })?;
        attached.remove(place);
        Ok(())
    }

    fn Win_free(win: Out<Handle>) about Win(win.get().unwrap_or(abi::WIN_NULL)) {
        free(win)
    }
}

impl Window {
    fn check_dynamic(&self) -> Result {
        let dynamic = self.flavor == abi::WIN_FLAVOR_DYNAMIC;
        check!(dynamic, ERR_RMA_FLAVOR, "the window was not made by MPI_Win_create_dynamic");
        Ok(())
    }
}
