//! Messages that are found before they are received (MPI 4.1, section 3.8).

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use port::{ANY, Command, Completion, Poll, Port, Ticket};

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
    /// The receives of threads that look for messages now, by context.
    fetches: RefCell<Vec<(u32, Ticket)>>,
}

impl Probed {
    fn place(&self, context: u32, from: u32, tag: Option<u32>) -> Option<usize> {
        self.found.borrow().iter().position(|(of, found)| {
            *of == context
                && (from == ANY || from == found.source)
                && tag.is_none_or(|tag| tag == found.tag)
        })
    }

    fn take(&self, context: u32, from: u32, tag: Option<u32>) -> Option<Completion> {
        let place = self.place(context, from, tag)?;
        Some(self.found.borrow_mut().remove(place).1)
    }

    fn peek(&self, context: u32, from: u32, tag: Option<u32>) -> Option<Completion> {
        let place = self.place(context, from, tag)?;
        self.found.borrow().get(place).map(|(_, found)| *found)
    }

    /// Takes a message for a receive of the program. If there is none, the receive comes before all threads that look for messages, as these
    /// would take its message from it.
    pub(super) fn receive(
        &self,
        port: &Port,
        context: u32,
        from: u32,
        tag: Option<u32>,
    ) -> Option<Completion> {
        if self.fetches.borrow().is_empty() {
            return self.take(context, from, tag);
        }
        self.collect(port);
        self.take(context, from, tag).or_else(|| {
            let tickets = self.disturb(port, context);
            port.wait(true, &tickets);
            self.collect(port);
            self.take(context, from, tag)
        })
    }

    /// Those who look for messages have to look again; gives the receives that they will find withdrawn.
    fn disturb(&self, port: &Port, context: u32) -> Vec<Ticket> {
        let fetches = self.fetches.borrow();
        let tickets: Vec<Ticket> =
            fetches.iter().filter(|(of, _)| *of == context).map(|(_, ticket)| *ticket).collect();
        for ticket in &tickets {
            port.say(&Command::Cancel(*ticket));
        }
        tickets
    }

    /// Takes up what has come for those who look for messages; others may have been waiting for it.
    fn collect(&self, port: &Port) {
        let done = |(_, ticket): &mut (u32, Ticket)| !port.is_open(*ticket);
        let ended: Vec<_> = self.fetches.borrow_mut().extract_if(.., done).collect();
        for (context, ticket) in ended {
            match port.done(ticket) {
                Some(found) if !found.void => {
                    self.found.borrow_mut().push((context, found));
                    self.disturb(port, context);
                }
                _ => port.forget(ticket),
            }
        }
    }

    /// Receives a message from the network into the library: waits for it, or takes one that is there. Its operation is forgotten when a
    /// receive of the program takes it, as the end of a synchronous send waits for that. Gives whether it is worth looking
    /// again: something has come, or might have.
    fn fetch(&self, port: &Port, from: u32, tag: port::Tag, waits: bool) -> bool {
        let room = u64::MAX;
        let receive = Command::Receive { from, tag, room, at_once: !waits, probes: true };
        let ticket = port.start(&receive);
        // Whoever waits for one, all are taken in, in their order.
        port.say(&Command::Leave(ticket));
        self.fetches.borrow_mut().push((tag.context, ticket));
        threads::finish(port, &[ticket]);
        let void = port.done(ticket).is_some_and(|done| done.void);
        self.collect(port);
        waits || !void
    }
}

/// Looks for a message: waits for it, or says whether there is one. It has been received from the network then, and so have
/// those that came before it, whatever their tags: a receive of any tag takes them first.
fn look(peer: &Peer, waits: bool) -> Result<bool> {
    let Some(from) = peer.world else { return Ok(true) };
    let context = peer.comm.context;
    let (probed, port) = (&mpi().probed, mpi().port()?);
    if !waits {
        port.poll(Poll::Probe);
    }
    let known = || probed.place(context, from, peer.tag).is_some();
    probed.collect(port);
    while !known() {
        if !probed.fetch(port, from, port::Tag { context, tag: None }, waits) {
            return Ok(false);
        }
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
    // It is matched now, so that those before it can stay where they are. Whoever looks beside this one shares what he finds.
    let (probed, port) = (&mpi().probed, mpi().port()?);
    let take = || {
        probed.collect(port);
        probed.take(peer.comm.context, from, peer.tag)
    };
    if !waits {
        port.poll(Poll::Probe);
    }
    let mut found = take();
    while found.is_none() {
        if !probed.fetch(port, from, peer.key(), waits) {
            return Ok(None);
        }
        found = take();
    }
    let Some(found) = found else { return Ok(None) };
    let status = peer.status(&found);
    Ok(Some((mpi().messages.add(Rc::new(Message { found, peer })), status)))
}

/// Takes a message that was probed.
fn take_message(data: Data, message: Out<Handle>) -> Result<Active> {
    let handle = message.get()?;
    if handle == abi::MESSAGE_NO_PROC {
        message.set(abi::MESSAGE_NULL)?;
        return Ok(Active::Done(from_nobody()));
    }
    let known = mpi().messages.remove(handle);
    let known = known.ok_or_else(|| Error::new(abi::ERR_REQUEST, "no message that was probed"))?;
    message.set(abi::MESSAGE_NULL)?;
    Target { data, peer: known.peer.clone() }.take(&known.found)
}

both_forms! {
    fn Mrecv | Mrecv_c (buf: *mut c_void, count: Count, datatype: Handle, message: Out<Handle>, status: Out<Status>) {
        tell(status, request::end(take_message(Data::new(buf, count, datatype)?, message)?))
    }

    fn Imrecv | Imrecv_c (buf: *mut c_void, count: Count, datatype: Handle, message: Out<Handle>, request: Out<Handle>) {
        request.check()?;
        let active = take_message(Data::new(buf, count, datatype)?, message)?;
        request.set(mpi().requests.add(Rc::new(Request::active(active))))
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
