//! One-sided communication (MPI 4.1, chapter 12).
//!
//! The simulator decides when an access takes place: a request travels to the target and is
//! answered there without its program ([`rank_ipc::Command::Remote`]); what ends an epoch waits for
//! the answers. The data moves aside from that, when the access is called: by then the epoch is
//! open at both sides, and until the call that completes the access nobody may rely on when it
//! happens. One rank runs at a time, so that every access is atomic.
//!
//! Memory that the library allocated lies where all ranks reach it; other memory is reached through
//! the kernel ([`memory`]).
//!
//! Not modelled: a lock that is free is asked for with the first access, and costs nothing of its
//! own. Memory of a shared window is shared by ranks on whatever hosts, and loads and stores of it
//! take no simulated time.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use rank_ipc::{Offset, Ticket};

use crate::abi::{self, Handle};
use crate::attributes::{Annotated, Attributes};
use crate::check;
use crate::comm::Comm;
use crate::errhandler::{Errhandler, Handled};
use crate::error::{Error, Result};
use crate::info::Info;
use crate::state::{Mpi, mpi};
use crate::threads;

mod access;
mod active;
mod create;
mod epoch;
mod functions;
mod lock;
mod memory;
mod passive;
#[cfg(test)]
mod tests;

use epoch::Epoch;
use lock::Locks;
use memory::Exposed;

/// A window.
#[derive(Debug)]
pub struct Window {
    /// Its ranks, with a context of its own.
    comm: Rc<Comm>,
    base: *mut c_void,
    size: isize,
    unit: c_int,
    flavor: c_int,
    model: c_int,
    /// By rank, what it exposes.
    exposed: Vec<Exposed>,
    /// Of a dynamic window, what this rank has attached: address and size.
    attached: RefCell<Vec<(usize, usize)>>,
    /// Memory that was allocated for the window: for this rank, and for all.
    blocks: Cell<[Offset; 2]>,
    locks: Locks,
    epoch: RefCell<Epoch>,
    /// Accesses that are not known to be complete.
    open: RefCell<Vec<Access>>,
    /// The number of calls that completed accesses with nothing to wait for.
    idle: Cell<u32>,
    attributes: Attributes,
    errhandler: RefCell<Errhandler>,
    name: RefCell<Vec<u8>>,
    info: RefCell<Info>,
}

/// An access under way.
#[derive(Clone, Copy, Debug)]
struct Access {
    target: u32,
    ticket: Ticket,
    /// It brings data, so that it is not complete at the origin before its answer has come.
    brings: bool,
}

/// Selects accesses of a window.
#[derive(Clone, Copy, Debug)]
struct Which {
    /// Selects those to a target; otherwise to all.
    target: Option<u32>,
    /// Only those that are not complete at the origin.
    local: bool,
}

/// All accesses.
const ALL: Which = Which { target: None, local: false };

impl Window {
    /// Waits for accesses to be complete, when the simulator has its turn next. Tells whether there
    /// were any.
    fn complete(&self, which: Which) -> Result<bool> {
        let meant = |access: &Access| {
            which.target.is_none_or(|target| target == access.target)
                && (access.brings || !which.local)
        };
        let (mut done, left): (Vec<_>, Vec<_>) = self.open.take().into_iter().partition(meant);
        self.open.replace(left);
        let mpi = mpi();
        let port = mpi.port()?;
        // Those that had requests may have been completed.
        done.retain(|access| port.knows(access.ticket));
        if done.is_empty() {
            return Ok(false);
        }
        let tickets: Vec<_> = done.iter().map(|access| access.ticket).collect();
        threads::wait_later(port, &tickets);
        for access in &done {
            port.forget(access.ticket);
        }
        Ok(true)
    }

    /// The rank of the world behind a rank of the window.
    fn world(&self, rank: u32) -> Result<u32> {
        self.comm.world_rank(rank).ok_or_else(|| self.wrong_rank(rank))
    }

    /// The target of an access or a lock: `None` is nobody, `PROC_NULL`.
    fn target(&self, rank: c_int) -> Result<Option<u32>> {
        if rank == abi::PROC_NULL {
            return Ok(None);
        }
        let known = u32::try_from(rank).ok().filter(|rank| *rank < self.comm.size());
        known.map(Some).ok_or_else(|| self.wrong_rank(rank))
    }

    fn wrong_rank(&self, rank: impl std::fmt::Display) -> Error {
        let size = self.comm.size();
        Error::new(abi::ERR_RANK, format!("rank {rank} of a window of {size} ranks"))
    }
}

impl Handled for Window {
    fn errhandler(&self) -> &RefCell<Errhandler> {
        &self.errhandler
    }

    fn title(&self) -> Option<String> {
        let name = self.name.borrow();
        let known = || format!("window of {} ranks", self.comm.size());
        Some(if name.is_empty() { known() } else { String::from_utf8_lossy(&name).into_owned() })
    }
}

impl Annotated for Window {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The address of the value, but of the base, which is the value itself.
    fn predefined(&self, keyval: c_int) -> Option<*mut c_void> {
        let number = |value: &c_int| std::ptr::from_ref(value).cast_mut().cast();
        Some(match keyval {
            abi::WIN_BASE => self.base,
            abi::WIN_SIZE => std::ptr::from_ref(&self.size).cast_mut().cast(),
            abi::WIN_DISP_UNIT => number(&self.unit),
            abi::WIN_CREATE_FLAVOR => number(&self.flavor),
            abi::WIN_MODEL => number(&self.model),
            _ => return None,
        })
    }
}

impl Mpi {
    /// The window of a handle.
    pub fn window(&self, handle: Handle) -> Result<Rc<Window>> {
        check!(handle != abi::WIN_NULL, ERR_WIN, "the window is MPI_WIN_NULL");
        let known = self.windows.get(handle);
        known.ok_or_else(|| Error::new(abi::ERR_WIN, "no such window (freed?)"))
    }
}
