//! Partitioned communication (MPI 4.1, chapter 4).
//!
//! The partitions of a message travel together, when the last one is ready, and so they arrive together: the standard leaves
//! that to the library, since the two sides may divide a message differently.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use port::{Poll, Ticket};
use rustc_hash::FxHashMap;

use super::{ANY, Data, Mode, Peer, start_receive, start_send};
use crate::abi::{self, Handle, Status};
use crate::argument::{In, Out};
use crate::comm::{self, Comm};
use crate::error::{Error, Result};
use crate::request::{Active, Request, Starter};
use crate::{agree, check, mpi, mpi_functions};

/// The channels of a communicator: its partitioned messages are matched when their requests are made, not when they are sent.
#[derive(Debug)]
pub struct Channels {
    /// They have a context of their own, so that no other receive takes them.
    comm: Comm,
    /// How many there are: whether they send, with whom, with which tag.
    counts: RefCell<FxHashMap<(bool, u32, u32), u64>>,
}

impl Channels {
    /// Those of a communicator, of which there are none yet.
    pub fn new(of: &Comm) -> Option<Self> {
        let comm = of.beside()?;
        agree::register(&comm);
        Some(Self { comm, counts: RefCell::default() })
    }

    /// The context of messages that are the library's own. Channels have tags that are not negative as an `int`.
    pub fn context(&self) -> u32 {
        self.comm.context
    }

    /// The channel that both sides mean by the next request that they make.
    fn next(&self, sends: bool, with: u32, tag: u32) -> port::Tag {
        let mut counts = self.counts.borrow_mut();
        let count = counts.entry((sends, with, tag)).or_default();
        *count += 1;
        let me = mpi().comms.me();
        let (from, to) = if sends { (me, with) } else { (with, me) };
        let context = self.comm.context;
        let number = comm::channel([context, from, to, tag].map(u64::from), *count);
        port::Tag { context, tag: Some(number) }
    }
}

impl Peer {
    /// The same peer, reached by a channel.
    fn by_channel(self, sends: bool) -> Result<Self> {
        check!(self.world != Some(ANY), ERR_RANK, "a partitioned receive from any rank");
        let Some(tag) = self.tag else {
            return Err(Error::new(abi::ERR_TAG, "a partitioned receive of any tag"));
        };
        let Some(with) = self.world else { return Ok(self) };
        let channels = self.comm.channels().ok_or_else(crate::request::unfinished)?;
        let channel = Some(channels.next(sends, with, tag));
        Ok(Self { channel, ..self })
    }
}

/// A message whose parts get ready one by one.
#[derive(Debug)]
pub struct Sending {
    data: Data,
    peer: Peer,
    ready: RefCell<Vec<bool>>,
    /// Nothing until all are ready.
    sent: Cell<Option<Option<Ticket>>>,
}

impl Sending {
    /// The operation, if it has been sent and has one.
    pub fn ticket(&self) -> Option<Ticket> {
        self.sent.get().flatten()
    }

    /// Whether all is ready.
    pub fn is_sent(&self) -> bool {
        self.sent.get().is_some()
    }

    fn restart(&self) -> Result {
        self.ready.borrow_mut().fill(false);
        self.sent.set(None);
        self.send_if_ready()
    }

    fn send_if_ready(&self) -> Result {
        if !self.ready.borrow().iter().all(|ready| *ready) {
            return Ok(());
        }
        self.sent.set(Some(match start_send(&self.data, &self.peer, Mode::Standard)? {
            Active::Send { ticket, .. } => Some(ticket),
            _ => None,
        }));
        Ok(())
    }

    fn make_ready(&self, partition: c_int) -> Result {
        {
            let mut all = self.ready.borrow_mut();
            let number = all.len();
            let ready =
                usize::try_from(partition).ok().and_then(|partition| all.get_mut(partition));
            let ready = ready.ok_or_else(|| {
                Error::new(abi::ERR_ARG, format!("partition {partition} of {number}"))
            })?;
            check!(!*ready, ERR_ARG, "partition {partition} is ready already");
            *ready = true;
        }
        self.send_if_ready()
    }
}

/// The data of all partitions.
fn whole(buf: *const c_void, partitions: c_int, count: i64, datatype: Handle) -> Result<Data> {
    check!(partitions >= 0, ERR_ARG, "a negative number of partitions: {partitions}");
    Data::new(buf, count.saturating_mul(i64::from(partitions)), datatype)
}

fn ready(request: Handle, partitions: impl Iterator<Item = c_int>) -> Result {
    let known = mpi().request(request)?;
    let sending = known.and_then(|known| known.sending());
    let sending = sending.ok_or_else(|| {
        Error::new(abi::ERR_REQUEST, "the request is no partitioned send under way")
    })?;
    for partition in partitions {
        sending.make_ready(partition)?;
    }
    mpi().port()?.called(port::Shape::Posted);
    Ok(())
}

mpi_functions! {
    fn Psend_init(buf: *const c_void, partitions: c_int, count: i64, datatype: Handle, dest: c_int, tag: c_int, comm: Handle, _info: Handle, request: Out<Handle>) about Comm(comm) {
        request.check()?;
        let data = whole(buf, partitions, count, datatype)?;
        let peer = Peer::destination(comm, dest, tag)?.by_channel(true)?;
        let ready = RefCell::new(vec![false; partitions as usize]);
        let sending = Rc::new(Sending { data, peer, ready, sent: Cell::new(None) });
        let starter: Starter = Box::new(move || {
            sending.restart()?;
            Ok(Active::Partitioned(Rc::clone(&sending)))
        });
        request.set(mpi().requests.add(Rc::new(Request::persistent(starter))))
    }

    fn Precv_init(buf: *mut c_void, partitions: c_int, count: i64, datatype: Handle, source: c_int, tag: c_int, comm: Handle, _info: Handle, request: Out<Handle>) about Comm(comm) {
        request.check()?;
        let data = whole(buf, partitions, count, datatype)?;
        let peer = Peer::source(comm, source, tag)?.by_channel(false)?;
        let starter: Starter = Box::new(move || start_receive(&data, &peer));
        request.set(mpi().requests.add(Rc::new(Request::persistent(starter))))
    }

    fn Pready(partition: c_int, request: Handle) {
        ready(request, std::iter::once(partition))
    }

    fn Pready_range(low: c_int, high: c_int, request: Handle) {
        ready(request, low..=high)
    }

    fn Pready_list(length: c_int, partitions: In<c_int>, request: Handle) {
        ready(request, partitions.list(length)?.into_iter())
    }

    fn Parrived(request: Handle, partition: c_int, flag: Out<c_int>) {
        flag.check()?;
        check!(partition >= 0, ERR_ARG, "partition {partition}");
        let known = mpi().request(request)?;
        let known = known.ok_or_else(|| Error::new(abi::ERR_REQUEST, "the null request receives nothing"))?;
        mpi().port()?.poll(Poll::Test);
        let arrived: Option<Status> = known.settle()?;
        flag.set(c_int::from(arrived.is_some()))
    }
}
