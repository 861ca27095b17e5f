//! Memory: what programs allocate through MPI, addresses, and the buffers that they attach for
//! buffered sends (MPI 4.1, sections 3.6, 5.1.5 and 9.2).
//!
//! A buffer's memory is not used: messages are kept by the library. What counts is its size, which
//! the messages that have not left must not exceed.

use std::alloc::Layout;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use rank_ipc::{Client, Ticket};
use rustc_hash::FxHashMap;

use crate::abi::{self, Handle};
use crate::argument::{Number, Out};
use crate::control;
use crate::error::{Error, Result};
use crate::{both_forms, check, mpi, mpi_functions};

/// Bytes that a message takes of a buffer beside its contents: the `MPI_BSEND_OVERHEAD` of the
/// binary interface that allows least, MPICH's.
const OVERHEAD: u64 = 96;

/// The memory and the buffers of a program.
#[derive(Debug, Default)]
pub struct Memory {
    /// Allocated memory by address.
    allocated: RefCell<FxHashMap<usize, Layout>>,
    /// Attached buffers.
    buffers: RefCell<Vec<(Owner, Rc<Buffer>)>>,
}

/// The object that a buffer is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The process.
    Process,
    /// The communicator of a context.
    Comm(u64),
    /// The session of a handle.
    Session(Handle),
}

/// A buffer for buffered sends.
#[derive(Debug)]
pub struct Buffer {
    address: usize,
    size: u64,
    used: Cell<u64>,
    /// Messages that have not left, and their bytes.
    pending: RefCell<Vec<(Ticket, u64)>>,
}

impl Buffer {
    /// Bytes of it.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of messages that have not left, with `OVERHEAD` for each.
    pub fn used(&self) -> u64 {
        self.used.get()
    }

    /// True if there is room for a message.
    pub fn fits(&self, bytes: u64) -> bool {
        let needed = bytes.saturating_add(OVERHEAD);
        let used = self.used.get().saturating_add(needed);
        used <= self.size || self.address == abi::BUFFER_AUTOMATIC
    }

    /// Takes room for a message; an error, `ERR_BUFFER`, if there is not enough.
    pub fn reserve(&self, bytes: u64) -> Result {
        check!(
            self.fits(bytes),
            ERR_BUFFER,
            "a message of {bytes} bytes does not fit in the buffer, of whose {} bytes {} are used",
            self.size,
            self.used.get()
        );
        let needed = bytes.saturating_add(OVERHEAD);
        self.used.set(self.used.get().saturating_add(needed));
        Ok(())
    }

    /// The message is under way.
    pub fn keep(&self, ticket: Ticket, bytes: u64) {
        self.pending.borrow_mut().push((ticket, bytes));
    }

    /// The messages that have not left, as far as that is known.
    pub fn pending(&self) -> Vec<Ticket> {
        self.pending.borrow().iter().map(|(ticket, _)| *ticket).collect()
    }

    /// A message does not leave at all.
    pub fn withdraw(&self, port: &Client, ticket: Ticket) {
        self.pending.borrow_mut().retain(|(pending, bytes)| {
            if *pending == ticket {
                port.forget(ticket);
                self.release(*bytes);
            }
            *pending != ticket
        });
    }

    /// Gives back the room of messages that have left.
    pub fn sweep(&self, port: &Client) {
        self.pending.borrow_mut().retain(|(ticket, bytes)| {
            let left = port.is_done(*ticket);
            if left {
                port.forget(*ticket);
                self.release(*bytes);
            }
            !left
        });
    }

    /// Gives back the room of a message that has left.
    pub fn release(&self, bytes: u64) {
        self.used.set(self.used.get().saturating_sub(bytes.saturating_add(OVERHEAD)));
    }
}

impl Memory {
    fn attached(&self, owner: Owner) -> Option<Rc<Buffer>> {
        let buffers = self.buffers.borrow();
        buffers.iter().find(|(of, _)| *of == owner).map(|(_, buffer)| Rc::clone(buffer))
    }

    /// The buffer for messages of a communicator: its own, that of the session it came from, or the
    /// process's.
    pub fn buffer(&self, context: u64, session: Option<Handle>) -> Option<Rc<Buffer>> {
        let of_session = || self.attached(Owner::Session(session?));
        let own = self.attached(Owner::Comm(context)).or_else(of_session);
        own.or_else(|| self.attached(Owner::Process))
    }

    /// The owner is gone.
    pub fn forget(&self, owner: Owner) {
        self.buffers.borrow_mut().retain(|(of, _)| *of != owner);
    }
}

fn attach(owner: Owner, address: *mut c_void, size: i64) -> Result {
    check!(size >= 0, ERR_ARG, "a buffer of {size} bytes");
    let memory = &mpi().memory;
    check!(memory.attached(owner).is_none(), ERR_BUFFER, "a buffer is attached already");
    let buffer = Buffer {
        address: address as usize,
        size: size as u64,
        used: Cell::new(0),
        pending: RefCell::default(),
    };
    memory.buffers.borrow_mut().push((owner, Rc::new(buffer)));
    Ok(())
}

/// Detaches the buffer, once all its messages have left. Without one, its address is null and its
/// size 0.
fn detach<T: Number>(owner: Owner, address: Out<*mut c_void>, size: Out<T>) -> Result {
    address.check()?;
    size.check()?;
    flush(owner)?;
    let memory = &mpi().memory;
    let (at, bytes) = memory.attached(owner).map_or((0, 0), |buffer| (buffer.address, buffer.size));
    memory.forget(owner);
    address.set(at as *mut c_void)?;
    size.set(T::narrow(bytes as i64))
}

/// A session ends: the buffer that is still attached to it goes, once all its messages have left.
pub fn leave_session(session: Handle) -> Result {
    let owner = Owner::Session(session);
    flush(owner)?;
    mpi().memory.forget(owner);
    Ok(())
}

fn flush(owner: Owner) -> Result {
    mpi().memory.attached(owner).map_or(Ok(()), |buffer| control::wait_sent(&buffer))
}

/// A request that is complete when the buffer's messages have left.
fn start_flush(owner: Owner, request: Out<Handle>) -> Result {
    request.check()?;
    let buffer = mpi().memory.attached(owner);
    request.set(buffer.map_or_else(control::done, |buffer| control::when_sent(&buffer)))
}

fn of_comm(comm: Handle) -> Result<Owner> {
    Ok(Owner::Comm(mpi().comm(comm)?.context))
}

fn of_session(session: Handle) -> Result<Owner> {
    mpi().session(session).map(|_| Owner::Session(session))
}

both_forms! {
    fn Buffer_attach | Buffer_attach_c (buffer: *mut c_void, size: Count) {
        attach(Owner::Process, buffer, size.wide())
    }

    fn Comm_attach_buffer | Comm_attach_buffer_c (
        comm: Handle, buffer: *mut c_void, size: Count
    ) about Comm(comm) {
        attach(of_comm(comm)?, buffer, size.wide())
    }

    fn Session_attach_buffer | Session_attach_buffer_c (
        session: Handle, buffer: *mut c_void, size: Count
    ) about Session(session) {
        attach(of_session(session)?, buffer, size.wide())
    }

    fn Buffer_detach | Buffer_detach_c (address: Out<*mut c_void>, size: Out<Count>) {
        detach(Owner::Process, address, size)
    }

    fn Comm_detach_buffer | Comm_detach_buffer_c (
        comm: Handle, address: Out<*mut c_void>, size: Out<Count>
    ) about Comm(comm) {
        detach(of_comm(comm)?, address, size)
    }

    fn Session_detach_buffer | Session_detach_buffer_c (
        session: Handle, address: Out<*mut c_void>, size: Out<Count>
    ) about Session(session) {
        detach(of_session(session)?, address, size)
    }
}

mpi_functions! {
    fn Buffer_flush() {
        flush(Owner::Process)
    }

    fn Comm_flush_buffer(comm: Handle) about Comm(comm) {
        flush(of_comm(comm)?)
    }

    fn Session_flush_buffer(session: Handle) about Session(session) {
        flush(of_session(session)?)
    }

    fn Buffer_iflush(request: Out<Handle>) {
        start_flush(Owner::Process, request)
    }

    fn Comm_iflush_buffer(comm: Handle, request: Out<Handle>) about Comm(comm) {
        start_flush(of_comm(comm)?, request)
    }

    fn Session_iflush_buffer(session: Handle, request: Out<Handle>) about Session(session) {
        start_flush(of_session(session)?, request)
    }

    fn Alloc_mem(size: isize, info: Handle, base: Out<*mut c_void>) {
        base.check()?;
        check!(size >= 0, ERR_ARG, "memory of {size} bytes");
        let hints = mpi().info_or_none(info)?;
        let wanted = hints.get(b"mpi_minimum_memory_alignment").and_then(|bytes| {
            std::str::from_utf8(bytes).ok()?.trim().parse::<usize>().ok()
        });
        base.set(allocate(size as usize, wanted.unwrap_or(1))?)
    }

    fn Free_mem(base: *mut c_void) {
        let layout = mpi().memory.allocated.borrow_mut().remove(&base.addr());
        check!(
            layout.is_some() || base.is_null(), ERR_BASE,
            "the memory was not allocated by MPI_Alloc_mem, or has been freed"
        );
        if let Some(layout) = layout {
            // SAFETY: allocated with this layout, and not freed since.
            unsafe { std::alloc::dealloc(base.cast(), layout) };
        }
        Ok(())
    }

    local fn Get_address(location: *const c_void, address: Out<isize>) {
        address.set(location as isize)
    }
}

/// Memory for a program, on a boundary of a cache line or what more it wants.
fn allocate(size: usize, alignment: usize) -> Result<*mut c_void> {
    let none = || Error::new(abi::ERR_NO_MEM, format!("there is no memory of {size} bytes"));
    // An address of its own even for no bytes.
    let layout = Layout::from_size_align(size.max(1), alignment.max(64)).map_err(|_| none())?;
    // SAFETY: it is not of size 0.
    let address = unsafe { std::alloc::alloc(layout) };
    if address.is_null() {
        return Err(none());
    }
    mpi().memory.allocated.borrow_mut().insert(address.addr(), layout);
    Ok(address.cast())
}

/// `MPI_Aint_add`, which gives an address and no error.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_Aint_add(base: isize, displacement: isize) -> isize {
    base.wrapping_add(displacement)
}

/// `MPI_Aint_diff`, which gives a displacement and no error.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_Aint_diff(one: isize, other: isize) -> isize {
    one.wrapping_sub(other)
}
