//! Messages that are found before they are received (MPI 4.1, section 3.8).

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use port::{ANY, Command, Completion, Poll};

use super::{Data, Peer, Target, from_nobody};
use crate::abi::{self, Handle, Status};
use crate::argument::Out;
use crate::error::{Error, Result};
use crate::request::{self, Active, Request};
use crate::status::{set_status, tell};
use crate::{both_forms, mpi, mpi_functions, threads};

/// Messages that a probe has found and no receive has taken: they have been received from the network.
#[derive(Debug, Default)]
pub struct Probed {
    found: RefCell<Vec<(u32, Completion)>>,
}

impl Probed {
    fn place(&self, context: u32, from: u32, tag: Option<u32>) -> Option<usize> {
        self.found.borrow().iter().position(|(of, found)| {
            *of == context
                && (from == ANY || from == found.source)
                && tag.is_none_or(|tag| tag == found.tag)
        })
    }

    pub(super) fn take(&self, context: u32, from: u32, tag: Option<u32>) -> Option<Completion> {
        let place = self.place(context, from, tag)?;
        Some(self.found.borrow_mut().remove(place).1)
    }

    fn peek(&self, context: u32, from: u32, tag: Option<u32>) -> Option<Completion> {
        let place = self.place(context, from, tag)?;
        self.found.borrow().get(place).map(|(_, found)| *found)
    }

    fn add(&self, context: u32, found: Completion) {
        self.found.borrow_mut().push((context, found));
    }
}

/// Receives a message from the network into the library: waits for it, or takes one that is there. Its operation is forgotten when a
/// receive of the program takes it, as the end of a synchronous send waits for that.
fn fetch(from: u32, tag: port::Tag, waits: bool) -> Result<Option<Completion>> {
    let port = mpi().port()?;
    let room = u64::MAX;
    let ticket = port.start(&Command::Receive { from, tag, room, at_once: !waits, probes: true });
    threads::finish(port, &[ticket]);
    let done = port.done(ticket).ok_or_else(request::unfinished)?;
    if done.void {
        port.forget(ticket);
        return Ok(None);
    }
    Ok(Some(done))
}

/// Looks for a message: waits for it, or says whether there is one. It has been received from the network then, and so have
/// those that came before it, whatever their tags: a receive of any tag takes them first.
fn look(peer: &Peer, waits: bool) -> Result<bool> {
    let Some(from) = peer.world else { return Ok(true) };
    let context = peer.comm.context;
    let known = || mpi().probed.place(context, from, peer.tag).is_some();
    if known() {
        return Ok(true);
    }
    if !waits {
        mpi().port()?.poll(Poll::Probe);
    }
    while !known() {
        let Some(found) = fetch(from, port::Tag { context, tag: None }, waits)? else {
            return Ok(false);
        };
        mpi().probed.add(context, found);
    }
    Ok(true)
}

fn probe(peer: &Peer, waits: bool) -> Result<Option<Status>> {
    let Some(from) = peer.world else { return Ok(Some(from_nobody())) };
    if !look(peer, waits)? {
        return Ok(None);
    }
    let found = mpi().probed.peek(peer.comm.context, from, peer.tag);
    Ok(found.map(|found| peer.status(&found)))
}

/// A message that was probed for one receive.
#[derive(Debug)]
pub struct Message {
    found: Completion,
    peer: Peer,
}

fn matched_probe(peer: Peer, waits: bool) -> Result<Option<(Handle, Status)>> {
    let Some(from) = peer.world else { return Ok(Some((abi::MESSAGE_NO_PROC, from_nobody()))) };
    // It is matched now, so that those before it can stay where they are.
    let mut found = mpi().probed.take(peer.comm.context, from, peer.tag);
    if found.is_none() {
        if !waits {
            mpi().port()?.poll(Poll::Probe);
        }
        found = fetch(from, peer.key(), waits)?;
    }
    let Some(found) = found else { return Ok(None) };
    let status = peer.status(&found);
    Ok(Some((mpi().messages.add(Rc::new(Message { found, peer })), status)))
}

/// Takes a message that was probed.
fn take_message(data: Data, message: Out<Handle>) -> Result<Status> {
    let handle = message.get()?;
    if handle == abi::MESSAGE_NO_PROC {
        message.set(abi::MESSAGE_NULL)?;
        return Ok(from_nobody());
    }
    let known = mpi().messages.remove(handle);
    let known = known.ok_or_else(|| Error::new(abi::ERR_REQUEST, "no message that was probed"))?;
    message.set(abi::MESSAGE_NULL)?;
    Target { data, peer: known.peer.clone() }.take(&known.found)
}

both_forms! {
    fn Mrecv | Mrecv_c (buf: *mut c_void, count: Count, datatype: Handle, message: Out<Handle>, status: Out<Status>) {
        tell(status, take_message(Data::new(buf, count, datatype)?, message))
    }

    fn Imrecv | Imrecv_c (buf: *mut c_void, count: Count, datatype: Handle, message: Out<Handle>, request: Out<Handle>) {
        request.check()?;
        let status = take_message(Data::new(buf, count, datatype)?, message)?;
        request.set(mpi().requests.add(Rc::new(Request::active(Active::Done(status)))))
    }
}

mpi_functions! {
    fn Probe(source: c_int, tag: c_int, comm: Handle, status: Out<Status>) about Comm(comm) {
        let found = probe(&Peer::source(comm, source, tag)?, true)?;
        found.map_or(Ok(()), |found| set_status(status, &found))
    }

    fn Iprobe(source: c_int, tag: c_int, comm: Handle, flag: Out<c_int>, status: Out<Status>) about Comm(comm) {
        let found = probe(&Peer::source(comm, source, tag)?, false)?;
        flag.set(c_int::from(found.is_some()))?;
        found.map_or(Ok(()), |found| set_status(status, &found))
    }

    fn Mprobe(source: c_int, tag: c_int, comm: Handle, message: Out<Handle>, status: Out<Status>) about Comm(comm) {
        message.check()?;
        let found = matched_probe(Peer::source(comm, source, tag)?, true)?;
        let (handle, known) = found.ok_or_else(request::unfinished)?;
        message.set(handle)?;
        set_status(status, &known)
    }

    fn Improbe(source: c_int, tag: c_int, comm: Handle, flag: Out<c_int>, message: Out<Handle>, status: Out<Status>) about Comm(comm) {
        message.check()?;
        let found = matched_probe(Peer::source(comm, source, tag)?, false)?;
        flag.set(c_int::from(found.is_some()))?;
        let Some((handle, known)) = found else { return Ok(()) };
        message.set(handle)?;
        set_status(status, &known)
    }
}
