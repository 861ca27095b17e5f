//! Messages between two ranks (MPI 4.1, chapter 3).

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::rc::Rc;

use rank_ipc::{ANY, Client, Command, Completion, Offset, Poll, Shape};

use crate::abi::{self, Handle, Status};
use crate::argument::{Number, Out};
use crate::comm::Comm;
use crate::datatype::Datatype;
use crate::environment::TAG_UB;
use crate::error::{Error, Result};
use crate::memory::Buffer;
use crate::request::{self, Active, Request, Starter};
use crate::status::tell;
use crate::{both_forms, check, control, mpi, threads, zero_copy};

mod kinds;
mod probe;

use probe::Met;
pub use probe::{Message, Probed};

/// The mode of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The library decides when it is done.
    Standard,
    /// The standard mode, by a call that does not return at once with the buffer free again.
    Posted,
    /// It is done when its receive has begun.
    Synchronous,
    /// It is kept in the program's buffer.
    Buffered,
}

/// A buffer of the program: address, count, datatype.
#[derive(Clone, Debug)]
pub struct Data {
    /// The address of its beginning.
    pub address: *mut u8,
    /// The number of elements of the datatype.
    pub count: u64,
    /// The datatype of the elements.
    pub datatype: Rc<Datatype>,
}

impl Data {
    /// Checks a buffer of the program.
    #[inline]
    pub fn new(address: *const c_void, count: impl Number, datatype: Handle) -> Result<Self> {
        let count = count.wide();
        check!(count >= 0, ERR_COUNT, "a count is negative: {count}");
        let mpi = mpi();
        let datatype = mpi.committed(datatype)?;
        let address: *mut u8 = address.cast_mut().cast();
        datatype.check_buffer(address, count as u64, !mpi.hollow.get())?;
        Ok(Self { address, count: count as u64, datatype })
    }

    /// Its size, packed.
    pub fn bytes(&self) -> u64 {
        self.datatype.size().saturating_mul(self.count)
    }

    /// The address of its first byte, if it has any.
    pub fn first(&self) -> Option<usize> {
        let offset = self.datatype.span(self.count).0 as isize;
        (self.bytes() > 0).then(|| self.address.wrapping_offset(offset).addr())
    }

    /// A buffer of the same datatype that begins `elements` further on.
    #[must_use]
    pub fn at(&self, elements: i64, count: u64) -> Self {
        let offset = self.datatype.extent().wrapping_mul(elements);
        Self {
            address: self.address.wrapping_offset(offset as isize),
            count,
            datatype: Rc::clone(&self.datatype),
        }
    }

    /// Packs it.
    pub fn pack(&self, into: &mut [u8]) {
        // SAFETY: the program's buffer holds so many of the datatype (MPI 4.1, section 3.2.2).
        unsafe { self.datatype.pack(self.address, self.count, into) };
    }

    /// Packed.
    pub fn packed(&self) -> Vec<u8> {
        let mut packed = vec![0; self.bytes() as usize];
        self.pack(&mut packed);
        packed
    }

    /// Unpacks into it what must fit.
    pub fn fill(&self, from: &[u8]) -> Result {
        self.unpack(from);
        check_room(from.len() as u64, self.bytes())
    }

    /// Unpacks into it.
    pub fn unpack(&self, from: &[u8]) {
        let from = from.get(..self.bytes() as usize).unwrap_or(from);
        // SAFETY: as in `pack`.
        unsafe { self.datatype.unpack(from, self.address, self.count) };
    }
}

/// An error if more has come than there is room for.
pub fn check_room(bytes: u64, room: u64) -> Result {
    check!(
        bytes <= room,
        ERR_TRUNCATE,
        "a message of {bytes} bytes where there is room for {room}"
    );
    Ok(())
}

/// Contents of a message as a block that its receiver can read.
pub fn contents(bytes: &[u8]) -> Result<(u64, Offset)> {
    let length = bytes.len() as u64;
    let place = block(length)?;
    if length > 0 {
        bytes_mut(mpi().port()?, place, length).copy_from_slice(bytes);
    }
    Ok((length, place))
}

/// A block of memory that others can read; none for no bytes.
pub fn block(bytes: u64) -> Result<Offset> {
    if bytes == 0 {
        return Ok(0);
    }
    mpi().port()?.allocate(bytes).map_err(full)
}

/// A block of zeros that others can read; none for no bytes.
pub fn zeroed(bytes: u64) -> Result<Offset> {
    if bytes == 0 {
        return Ok(0);
    }
    mpi().port()?.allocate_zeroed(bytes).map_err(full)
}

/// There is no room.
pub fn full(full: rank_ipc::arena::Full) -> Error {
    Error::new(abi::ERR_NO_MEM, full.to_string())
}

/// The bytes of a block.
pub fn bytes(port: &Client, place: Offset, bytes: u64) -> &[u8] {
    if place == 0 || bytes == 0 {
        return &[];
    }
    // SAFETY: so many bytes are there, which nobody writes any more.
    unsafe { std::slice::from_raw_parts(zero_copy::address(port, place), bytes as usize) }
}

/// The bytes of a block of this rank that nobody knows yet.
#[expect(clippy::mut_from_ref, reason = "the block was just allocated")]
pub fn bytes_mut(port: &Client, place: Offset, bytes: u64) -> &mut [u8] {
    if place == 0 || bytes == 0 {
        return &mut [];
    }
    // SAFETY: a block of this rank that holds so many bytes, which no other rank knows yet.
    unsafe { std::slice::from_raw_parts_mut(port.memory().at(place), bytes as usize) }
}

/// The other side of a message.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The communicator of the message.
    pub comm: Rc<Comm>,
    /// The rank of the world, or any; `None` is nobody, `PROC_NULL`.
    pub world: Option<u32>,
    tag: Option<u32>,
}

impl Peer {
    fn check_tag(tag: c_int) -> Result<u32> {
        match u32::try_from(tag) {
            // The library's own tags have the sign of negative ones.
            Ok(known) => Ok(known),
            Err(_) => {
                Err(Error::new(abi::ERR_TAG, format!("tag {tag}, which is not from 0 to {TAG_UB}")))
            }
        }
    }

    fn world(comm: &Comm, rank: c_int) -> Result<u32> {
        let world = u32::try_from(rank).ok().and_then(|rank| comm.world_rank(rank));
        world.ok_or_else(|| {
            Error::new(
                abi::ERR_RANK,
                format!("rank {rank} of a communicator of {} ranks", comm.peers().size()),
            )
        })
    }

    /// The receiver of a message.
    pub fn destination(comm: Handle, rank: c_int, tag: c_int) -> Result<Self> {
        let comm = mpi().comm(comm)?;
        let tag = Self::check_tag(tag)?;
        let world = if rank == abi::PROC_NULL { None } else { Some(Self::world(&comm, rank)?) };
        control::register(&comm);
        Ok(Self { comm, world, tag: Some(tag) })
    }

    /// The sender of a message, perhaps any.
    pub fn source(comm: Handle, rank: c_int, tag: c_int) -> Result<Self> {
        let comm = mpi().comm(comm)?;
        let tag = if tag == abi::ANY_TAG { None } else { Some(Self::check_tag(tag)?) };
        let world = match rank {
            abi::PROC_NULL => None,
            abi::ANY_SOURCE => Some(ANY),
            _ => Some(Self::world(&comm, rank)?),
        };
        control::register(&comm);
        Ok(Self { comm, world, tag })
    }

    fn key(&self) -> rank_ipc::Tag {
        rank_ipc::Tag { context: self.comm.context, tag: self.tag }
    }

    /// The status of a message that was received.
    pub fn status(&self, done: &Completion) -> Status {
        let mut status = Status::empty();
        let rank = self.comm.rank_of_world(done.source);
        status.source = rank.map_or(abi::ANY_SOURCE, |rank| rank as c_int);
        status.tag = done.tag as c_int;
        status.set_bytes(done.bytes);
        status
    }
}

/// The status of a message from or to nobody.
pub fn from_nobody() -> Status {
    let mut status = Status::empty();
    status.source = abi::PROC_NULL;
    status
}

/// The buffer that a message of so many bytes goes into.
fn room_for(peer: &Peer, bytes: u64) -> Result<Rc<Buffer>> {
    let mpi = mpi();
    let port = mpi.port()?;
    let buffer = mpi.memory.buffer(peer.comm.context, peer.comm.local.session());
    let buffer = buffer.ok_or_else(|| Error::new(abi::ERR_BUFFER, "no buffer is attached"))?;
    buffer.sweep(port);
    if !buffer.fits(bytes) {
        port.poll(Poll::Nothing);
        buffer.sweep(port);
    }
    buffer.reserve(bytes)?;
    Ok(buffer)
}

/// Starts a send. Inlined, as [`start_receive`] and [`posted`]: so the operation is made where it
/// stays.
#[inline(always)]
pub fn start_send(data: &Data, peer: &Peer, mode: Mode) -> Result<Active> {
    let Some(to) = peer.world else { return Ok(Active::Done(Status::empty())) };
    let mpi = mpi();
    let port = mpi.port()?;
    let length = data.bytes();
    let buffer = if mode == Mode::Buffered { Some(room_for(peer, length)?) } else { None };
    let hollow = mpi.hollow.get();
    let stays = !hollow && matches!(mode, Mode::Posted | Mode::Synchronous);
    let mut contents = if stays { zero_copy::expose(data)? } else { 0 };
    if contents == 0 && !hollow {
        contents = block(length)?;
        data.pack(bytes_mut(port, contents, length));
    }
    kinds::note(port, contents, data);
    mpi.tools.counters.sent(length);
    let (tag, bytes, synchronous) = (peer.key(), length, mode == Mode::Synchronous);
    let ticket = port.start(&Command::Send { to, tag, bytes, contents, synchronous });
    let Some(buffer) = buffer else { return Ok(Active::Send { ticket, contents }) };
    buffer.keep(ticket, length);
    Ok(Active::Copied { ticket, contents, buffer })
}

/// Starts a receive; of a message that was probed by this rank, it has it already.
#[inline(always)]
pub fn start_receive(data: &Data, peer: &Peer) -> Result<Active> {
    let Some(from) = peer.world else { return Ok(Active::Done(from_nobody())) };
    let mpi = mpi();
    let port = mpi.port()?;
    let target = || Target { data: data.clone(), peer: peer.clone() };
    let from = match mpi.probed.receive(port, from, peer.key()) {
        Met::Nothing => from,
        Met::Earlier(from) => from,
        Met::Found(found) => return target().take(&found),
    };
    let ticket = port.start(&Command::receive(from, peer.key(), data.bytes()));
    Ok(Active::Receive { ticket, target: target() })
}

/// The place that a received message goes to.
#[derive(Clone, Debug)]
pub struct Target {
    data: Data,
    peer: Peer,
}

impl Target {
    /// A message that was probed has met its receive. If it does not fit, its completion says so,
    /// as if it had come later.
    fn take(&self, found: &Completion) -> Result<Active> {
        mpi().port()?.forget(found.ticket);
        Ok(self.accept(found).map_or_else(Active::Failed, Active::Done))
    }

    /// Asks for where it goes.
    pub fn prefetch(&self) {
        let first = self.data.first().filter(|_| !mpi().hollow.get());
        if let Some(first) = first.map(std::ptr::with_exposed_provenance::<MaybeUninit<u8>>) {
            // SAFETY: the first byte of the program's buffer; it is not read.
            kernel::prefetch(unsafe { &*first });
        }
    }

    /// The message has come.
    pub fn accept(&self, done: &Completion) -> Result<Status> {
        let mpi = mpi();
        let port = mpi.port()?;
        let mut status = self.peer.status(done);
        let room = self.data.bytes();
        mpi.tools.counters.received(done.bytes.min(room));
        kinds::check(port, done, &self.data, &self.peer.comm);
        if done.contents != 0 {
            self.data.unpack(bytes(port, done.contents, done.bytes.min(room)));
            zero_copy::release(port, done.contents);
        }
        status.set_bytes(done.bytes.min(room));
        let fits = check_room(done.bytes, room);
        fits.map_err(|error| error.of_message(status, &self.peer.comm))?;
        Ok(status)
    }
}

/// Carries out a call that returns when its operation is done.
pub fn blocking(active: Active) -> Result<Status> {
    let mpi = mpi();
    let port = mpi.port()?;
    match active {
        Active::Send { ticket, contents } => {
            // The contents are kept; whoever depends on the end of the send waits in the simulator.
            zero_copy::detach(port, contents)?;
            threads::finish_later(port, &[ticket]);
            port.forget(ticket);
            return Ok(Status::empty());
        }
        Active::Done(_) | Active::Failed(_) => threads::finish_later(port, &[]),
        _ => threads::finish(port, &active.tickets()),
    }
    request::end(active)
}

/// A request for an operation that goes on while the call returns.
#[inline(always)]
pub fn posted(active: Active, request: Out<Handle>) -> Result {
    let mpi = mpi();
    mpi.port()?.called(Shape::Posted);
    request.set(mpi.begin(active))
}

/// Sends and returns when the buffer is free again.
#[inline(always)]
fn send(data: &Data, peer: &Peer, mode: Mode) -> Result {
    let active = start_send(data, peer, mode)?;
    match mode {
        Mode::Buffered => {
            mpi().port()?.called(Shape::Posted);
            request::forget(active)
        }
        Mode::Synchronous => {
            // The program may rely on what the receiver did before its receive.
            threads::finish(mpi().port()?, &active.tickets());
            request::end(active).map(|_| ())
        }
        Mode::Standard | Mode::Posted => blocking(active).map(|_| ()),
    }
}

/// Starts a send and gives a request for it.
#[inline(always)]
fn send_later(data: &Data, peer: &Peer, mode: Mode, request: Out<Handle>) -> Result {
    posted(start_send(data, peer, mode)?, request)
}

/// Gives a request with which the program starts a send again and again.
fn prepare_send(data: &Data, peer: &Peer, mode: Mode, request: Out<Handle>) -> Result {
    let (data, peer) = (data.clone(), peer.clone());
    let starter: Starter = Box::new(move || start_send(&data, &peer, mode));
    request.set(mpi().requests.add(Rc::new(Request::persistent(starter))))
}

/// The functions that send: `NAME | LARGE NAME = function(mode)`, and where they give a request,
/// its name behind the mode. The function carries the send out.
macro_rules! send_functions {
    ($($name:ident | $large:ident = $send:ident($mode:ident $(, $request:ident)?);)*) => {
        both_forms! {$(
            fn $name | $large (
                buf: *const c_void, count: Count, datatype: Handle, dest: c_int, tag: c_int,
                comm: Handle $(, $request: Out<Handle>)?
            ) about Comm(comm) {
                $($request.check()?;)?
                let data = Data::new(buf, count, datatype)?;
                let peer = Peer::destination(comm, dest, tag)?;
                $send(&data, &peer, Mode::$mode $(, $request)?)
            }
        )*}
    };
}

send_functions! {
    Send | Send_c = send(Standard);
    Rsend | Rsend_c = send(Standard);
    Ssend | Ssend_c = send(Synchronous);
    Bsend | Bsend_c = send(Buffered);
    Isend | Isend_c = send_later(Posted, request);
    Irsend | Irsend_c = send_later(Posted, request);
    Issend | Issend_c = send_later(Synchronous, request);
    Ibsend | Ibsend_c = send_later(Buffered, request);
    Send_init | Send_init_c = prepare_send(Posted, request);
    Rsend_init | Rsend_init_c = prepare_send(Posted, request);
    Ssend_init | Ssend_init_c = prepare_send(Synchronous, request);
    Bsend_init | Bsend_init_c = prepare_send(Buffered, request);
}

both_forms! {
    fn Recv | Recv_c (
        buf: *mut c_void, count: Count, datatype: Handle, source: c_int, tag: c_int, comm: Handle,
        status: Out<Status>
    ) about Comm(comm) {
        let (data, peer) = (Data::new(buf, count, datatype)?, Peer::source(comm, source, tag)?);
        tell(status, blocking(start_receive(&data, &peer)?))
    }

    fn Irecv | Irecv_c (
        buf: *mut c_void, count: Count, datatype: Handle, source: c_int, tag: c_int, comm: Handle,
        request: Out<Handle>
    ) about Comm(comm) {
        request.check()?;
        let (data, peer) = (Data::new(buf, count, datatype)?, Peer::source(comm, source, tag)?);
        posted(start_receive(&data, &peer)?, request)
    }

    fn Recv_init | Recv_init_c (
        buf: *mut c_void, count: Count, datatype: Handle, source: c_int, tag: c_int, comm: Handle,
        request: Out<Handle>
    ) about Comm(comm) {
        let (data, peer) = (Data::new(buf, count, datatype)?, Peer::source(comm, source, tag)?);
        let starter: Starter = Box::new(move || start_receive(&data, &peer));
        request.set(mpi().requests.add(Rc::new(Request::persistent(starter))))
    }

    fn Sendrecv | Sendrecv_c (
        sendbuf: *const c_void, sendcount: Count, sendtype: Handle, dest: c_int, sendtag: c_int,
        recvbuf: *mut c_void, recvcount: Count, recvtype: Handle, source: c_int, recvtag: c_int,
        comm: Handle, status: Out<Status>
    ) about Comm(comm) {
        let sent = Data::new(sendbuf, sendcount, sendtype)?;
        let into = Data::new(recvbuf, recvcount, recvtype)?;
        let to = Peer::destination(comm, dest, sendtag)?;
        let from = Peer::source(comm, source, recvtag)?;
        tell(status, exchange(&sent, &to, &into, &from))
    }

    fn Sendrecv_replace | Sendrecv_replace_c (
        buf: *mut c_void, count: Count, datatype: Handle, dest: c_int, sendtag: c_int,
        source: c_int, recvtag: c_int, comm: Handle, status: Out<Status>
    ) about Comm(comm) {
        let data = Data::new(buf, count, datatype)?;
        let to = Peer::destination(comm, dest, sendtag)?;
        let from = Peer::source(comm, source, recvtag)?;
        tell(status, exchange(&data, &to, &data, &from))
    }

    fn Isendrecv | Isendrecv_c (
        sendbuf: *const c_void, sendcount: Count, sendtype: Handle, dest: c_int, sendtag: c_int,
        recvbuf: *mut c_void, recvcount: Count, recvtype: Handle, source: c_int, recvtag: c_int,
        comm: Handle, request: Out<Handle>
    ) about Comm(comm) {
        request.check()?;
        let sent = Data::new(sendbuf, sendcount, sendtype)?;
        let into = Data::new(recvbuf, recvcount, recvtype)?;
        let to = Peer::destination(comm, dest, sendtag)?;
        let from = Peer::source(comm, source, recvtag)?;
        posted(both(&sent, &to, &into, &from)?, request)
    }

    fn Isendrecv_replace | Isendrecv_replace_c (
        buf: *mut c_void, count: Count, datatype: Handle, dest: c_int, sendtag: c_int,
        source: c_int, recvtag: c_int, comm: Handle, request: Out<Handle>
    ) about Comm(comm) {
        request.check()?;
        let data = Data::new(buf, count, datatype)?;
        let to = Peer::destination(comm, dest, sendtag)?;
        let from = Peer::source(comm, source, recvtag)?;
        posted(both(&data, &to, &data, &from)?, request)
    }
}

/// A send and a receive as one operation; its status is that of the receive.
fn both(sent: &Data, to: &Peer, into: &Data, from: &Peer) -> Result<Active> {
    if let Some(world) = from.world {
        mpi().probed.settle(mpi().port()?, world, from.key());
    }
    let send = start_send(sent, to, Mode::Posted)?;
    let receive = start_receive(into, from)?;
    Ok(Active::Both(Box::new((send, receive))))
}

fn exchange(sent: &Data, to: &Peer, into: &Data, from: &Peer) -> Result<Status> {
    let active = both(sent, to, into, from)?;
    blocking(active)
}
