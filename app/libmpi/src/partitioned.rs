//! Partitioned communication (MPI 4.1, chapter 4): a message whose parts its sender makes ready one
//! by one.
//!
//! Each partition of the sender travels as a message of its own when it is ready. The two sides may
//! cut their buffers differently, and neither knows the other's cut beforehand, so each message
//! says which part of the data it is and how many there are. Messages of two requests that belong
//! together have a context of their own, as if they were those of a communicator of the two ranks:
//! both sides count the requests that they make for the same peer and tag.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use rank_ipc::{Client, Command, Shape, Tag, Taken, Ticket};

use crate::abi::{self, Handle, Status};
use crate::argument::{In, Out, count};
use crate::comm::{Comm, Purpose};
use crate::error::{Error, Result};
use crate::p2p::{self, Data, Peer};
use crate::request::{Active, Request, Starter, unfinished};
use crate::{check, comm, control, mpi, mpi_functions, zero_copy};

/// Words before the data of a message: where it begins in all data, its bytes, and how many
/// messages there are.
const HEAD: u64 = 3;

/// The properties of a partitioned message that stay as they are as long as the request lives.
#[derive(Debug)]
struct Channel {
    /// All partitions together.
    data: Data,
    partitions: u32,
    /// The rank of the world, or nobody for `PROC_NULL`.
    world: Option<u32>,
    comm: Rc<Comm>,
    tag: Tag,
    /// The status of a receive, but for its bytes.
    status: Status,
    sends: bool,
    /// Receives that no message has met; some may be left for the next time.
    posted: RefCell<VecDeque<Ticket>>,
    /// The number of partitions of the sender and the bytes of each, once they are known.
    sent: Cell<Option<(u64, u64)>>,
}

/// A partitioned operation under way.
#[derive(Debug)]
pub struct Operation {
    channel: Rc<Channel>,
    /// Of a sender, which partitions are ready; of a receiver, how many bytes each still waits for.
    missing: RefCell<Vec<u64>>,
    /// Messages sent, or how many have come.
    sent: RefCell<Vec<Ticket>>,
    come: Cell<u64>,
}

impl Channel {
    fn new(
        (address, partitions): (*mut c_void, c_int),
        (number, datatype): (i64, Handle),
        (rank, tag, comm): (c_int, c_int, Handle),
        sends: bool,
    ) -> Result<Self> {
        let partitions = count(partitions)? as u32;
        check!(number >= 0, ERR_COUNT, "a count is negative: {number}");
        let total = number.checked_mul(partitions.into());
        let total =
            total.ok_or_else(|| Error::new(abi::ERR_COUNT, "there are too many elements"))?;
        let data = Data::new(address, total, datatype)?;
        // Both sides name their peer: there are no wildcards.
        let peer = Peer::destination(comm, rank, tag)?;
        let status = match peer.world {
            _ if sends => Status::empty(),
            Some(_) => Status { source: rank, tag, ..Status::empty() },
            None => p2p::from_nobody(),
        };
        let context = peer.world.map_or(0, |world| open(&peer.comm, world, tag, sends));
        Ok(Self {
            data,
            partitions,
            world: peer.world,
            comm: peer.comm,
            tag: Tag { context, tag: Some(tag as u32) },
            status,
            sends,
            posted: RefCell::default(),
            sent: Cell::new(None),
        })
    }

    /// Bytes of a partition.
    fn part(&self) -> u64 {
        self.data.bytes().checked_div(self.partitions.into()).unwrap_or(0)
    }

    /// Posts receives until there are as many as messages will come, as far as that is known.
    fn post(&self, port: &Client, come: u64) {
        let Some(from) = self.world.filter(|_| !self.sends) else { return };
        let wanted = self.sent.get().map_or(self.partitions.max(1).into(), |(number, _)| number);
        let mut posted = self.posted.borrow_mut();
        while (posted.len() as u64) < wanted.saturating_sub(come) {
            let receive = Command::receive(from, self.tag, u64::MAX);
            posted.push_back(port.start(&receive));
            // Each by itself, so that they are met in this order.
            port.called(Shape::Posted);
        }
    }

    /// Sends a partition.
    fn send(&self, port: &Client, partition: u32) -> Result<Option<Ticket>> {
        let Some(to) = self.world else { return Ok(None) };
        let (skip, bytes) = (self.part() * u64::from(partition), self.part());
        let contents = p2p::block(8 * HEAD + bytes)?;
        let room = p2p::bytes_mut(port, contents, 8 * HEAD + bytes);
        let (head, body) = room.split_at_mut(8 * HEAD as usize);
        for (place, word) in head.chunks_exact_mut(8).zip([skip, bytes, self.partitions.into()]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let Data { address, count, datatype } = &self.data;
        // SAFETY: the program's buffer holds so many of the datatype (MPI 4.1, section 4.2.1).
        unsafe { datatype.pack_part(*address, *count, skip, body) };
        Ok(Some(port.start(&Command::Send {
            to,
            tag: self.tag,
            bytes,
            contents,
            synchronous: false,
        })))
    }
}

/// Opens the context of the messages of two requests that belong together, and returns its number.
fn open(comm: &Comm, peer: u32, tag: c_int, sends: bool) -> u64 {
    let me = mpi().comms.me();
    let (from, to) = if sends { (me, peer) } else { (peer, me) };
    let purpose = Purpose::Partitioned as u64;
    let both = [purpose, comm.context, from.into(), to.into(), tag as u64];
    // The two sides count apart, in case they are one rank.
    let again = mpi().comms.again(&[&both[..], &[sends.into()]].concat());
    let context = comm::context::number(&[&both[..], &[again]].concat());
    control::register_pair(context, u32::from(!sends), [from, to]);
    context
}

impl Drop for Channel {
    fn drop(&mut self) {
        if self.world.is_none() {
            return;
        }
        let mpi = mpi();
        let Ok(port) = mpi.port() else { return };
        for ticket in self.posted.take() {
            port.say(&Command::Cancel(ticket));
            port.forget(ticket);
        }
        control::release(self.tag.context, 2);
    }
}

impl Operation {
    fn start(channel: &Rc<Channel>) -> Result<Self> {
        let part = if channel.sends { 1 } else { channel.part() };
        let nobody = channel.world.is_none() && !channel.sends;
        let missing = vec![if nobody { 0 } else { part }; channel.partitions as usize];
        channel.post(mpi().port()?, 0);
        Ok(Self {
            channel: Rc::clone(channel),
            missing: RefCell::new(missing),
            sent: RefCell::default(),
            come: Cell::new(0),
        })
    }

    /// A message has come: it goes into the buffer.
    fn accept(&self, message: &[u8]) {
        let (head, body) = message.split_at(message.len().min(8 * HEAD as usize));
        let word = |place: &[u8]| place.try_into().map_or(0, u64::from_le_bytes);
        let mut words = head.chunks_exact(8).map(word);
        let (skip, bytes) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
        self.channel.sent.set(words.next().map(|number| (number, bytes)));
        self.come.set(self.come.get() + 1);
        let Data { address, count, datatype } = &self.channel.data;
        // SAFETY: the program's buffer holds so many of the datatype (MPI 4.1, section 4.2.3).
        unsafe { datatype.unpack_part(body, *address, *count, skip) };
        let part = self.channel.part();
        for (number, missing) in (0_u64..).zip(self.missing.borrow_mut().iter_mut()) {
            let begin = skip.max(number * part);
            let end = (skip + bytes).min((number + 1) * part);
            *missing = missing.saturating_sub(end.saturating_sub(begin));
        }
    }

    /// Takes in the messages that have come.
    fn advance(&self, port: &Client) {
        let channel = &self.channel;
        while !self.has_all() {
            let first = channel.posted.borrow().front().copied();
            let Some((ticket, done)) = first.and_then(|first| Some((first, port.done(first)?)))
            else {
                return;
            };
            channel.posted.borrow_mut().pop_front();
            port.forget(ticket);
            self.accept(p2p::bytes(port, done.contents, 8 * HEAD + done.bytes));
            zero_copy::release(port, done.contents);
            channel.post(port, self.come.get());
        }
    }

    fn has_all(&self) -> bool {
        let sent = self.channel.sent.get();
        self.channel.world.is_none() || sent.is_some_and(|(number, _)| number == self.come.get())
    }

    fn is_ready(&self) -> bool {
        self.missing.borrow().iter().all(|missing| *missing == 0)
    }

    /// True if it is over. What has come is taken in.
    pub fn is_done(&self, port: &Client) -> bool {
        if self.channel.sends {
            let sent = self.sent.borrow();
            return self.is_ready() && sent.iter().all(|ticket| port.is_done(*ticket));
        }
        self.advance(port);
        self.has_all()
    }

    /// The operations that there are to wait for at this moment.
    pub fn tickets(&self) -> Vec<Ticket> {
        if self.channel.sends {
            // Without all partitions, it waits for the program.
            return if self.is_ready() { self.sent.borrow().clone() } else { Vec::new() };
        }
        let first = self.channel.posted.borrow().front().copied();
        first.filter(|_| !self.has_all()).into_iter().collect()
    }

    /// It is over: returns the status, with the bytes of all partitions of the sender.
    pub fn end(&self, port: &Client) -> Result<Status> {
        if !self.is_done(port) {
            return Err(unfinished());
        }
        self.sent.take().into_iter().for_each(|ticket| port.forget(ticket));
        let mut status = self.channel.status;
        let Some((number, bytes)) = self.channel.sent.get() else { return Ok(status) };
        let (bytes, room) = (number.saturating_mul(bytes), self.channel.data.bytes());
        status.set_bytes(bytes.min(room));
        let fits = p2p::check_room(bytes, room);
        fits.map_err(|error| error.of_message(status, &self.channel.comm))?;
        Ok(status)
    }

    fn check_partition(&self, partition: c_int) -> Result<u32> {
        let known = u32::try_from(partition).ok().filter(|known| *known < self.channel.partitions);
        known.ok_or_else(|| {
            let text = format!("partition {partition} of {}", self.channel.partitions);
            Error::new(abi::ERR_ARG, text)
        })
    }

    fn ready(&self, partition: c_int) -> Result {
        check!(self.channel.sends, ERR_REQUEST, "the request is for a receive");
        let partition = self.check_partition(partition)?;
        let mut missing = self.missing.borrow_mut();
        let missing = missing.get_mut(partition as usize).map(std::mem::take);
        check!(missing == Some(1), ERR_ARG, "partition {partition} was made ready before");
        self.sent.borrow_mut().extend(self.channel.send(mpi().port()?, partition)?);
        Ok(())
    }

    fn arrived(&self, port: &Client, partition: c_int) -> Result<bool> {
        check!(!self.channel.sends, ERR_REQUEST, "the request is for a send");
        let partition = self.check_partition(partition)?;
        self.advance(port);
        let there = self.missing.borrow().get(partition as usize) == Some(&0);
        Ok(self.has_all() || (there && self.channel.part() > 0))
    }
}

fn make(channel: Channel, request: Out<Handle>) -> Result {
    let channel = Rc::new(channel);
    let starter: Starter =
        Box::new(move || Ok(Active::Partitioned(Rc::new(Operation::start(&channel)?))));
    request.set(mpi().requests.add(Rc::new(Request::persistent(starter))))
}

/// The operation of a request that has been started.
fn started(request: Handle) -> Result<Rc<Operation>> {
    let known = mpi().request(request)?.and_then(|request| request.partitioned());
    known.ok_or_else(|| Error::new(abi::ERR_REQUEST, "no partitioned operation has been started"))
}

fn make_ready(request: Handle, partitions: impl Iterator<Item = c_int>) -> Result {
    let operation = started(request)?;
    partitions.into_iter().try_for_each(|partition| operation.ready(partition))?;
    mpi().port()?.called(Shape::Posted);
    Ok(())
}

mpi_functions! {
    fn Psend_init(
        buf: *mut c_void, partitions: c_int, count: i64, datatype: Handle, dest: c_int, tag: c_int,
        comm: Handle, info: Handle, request: Out<Handle>
    ) about Comm(comm) {
        request.check()?;
        mpi().info_or_none(info)?;
        make(Channel::new((buf, partitions), (count, datatype), (dest, tag, comm), true)?, request)
    }

    fn Precv_init(
        buf: *mut c_void, partitions: c_int, count: i64, datatype: Handle, source: c_int,
        tag: c_int, comm: Handle, info: Handle, request: Out<Handle>
    ) about Comm(comm) {
        request.check()?;
        mpi().info_or_none(info)?;
        make(
            Channel::new((buf, partitions), (count, datatype), (source, tag, comm), false)?, request
        )
    }

    fn Pready(partition: c_int, request: Handle) {
        make_ready(request, [partition].into_iter())
    }

    fn Pready_range(low: c_int, high: c_int, request: Handle) {
        make_ready(request, low..=high)
    }

    fn Pready_list(length: c_int, partitions: In<c_int>, request: Handle) {
        make_ready(request, partitions.list(length)?.into_iter())
    }

    fn Parrived(request: Handle, partition: c_int, flag: Out<c_int>) {
        flag.check()?;
        let active = mpi().request(request)?.is_some_and(|request| request.is_active());
        if !active {
            return flag.set(1);
        }
        let mpi = mpi();
        let port = mpi.port()?;
        let operation = started(request)?;
        port.test(Taken::Each, &operation.tickets());
        flag.set(c_int::from(operation.arrived(port, partition)?))
    }
}
