//! Messages that are found before they are received (MPI 4.1, section 3.8).

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use rank_ipc::{ANY, Client, Command, Completion, Poll, Ticket};

use super::{Data, Peer, Target, from_nobody};
use crate::abi::{self, Handle, Status};
use crate::argument::Out;
use crate::error::{Error, Result};
use crate::request::{self, Active, Request};
use crate::status::{set_status, tell};
use crate::{both_forms, mpi, mpi_functions, threads};

/// Messages that a probe has found and no receive has taken: they have been received from the
/// network.
#[derive(Debug, Default)]
pub struct Probed {
    /// The messages that were found; those of one sender and context lie in the order in which they
    /// were sent.
    found: RefCell<Vec<Found>>,
    /// The receives of threads that look for messages now.
    fetches: RefCell<Vec<Fetch>>,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    context: u64,
    message: Completion,
    turn: Turn,
}

/// Tells whether a message is the first that its sender has sent, of those that were sent in the
/// context and not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    First,
    Later,
    /// It was looked for by its tag.
    Unknown,
}

/// The message that a receive of the program meets.
pub(super) enum Met {
    Nothing,
    /// A message that a probe has found.
    Found(Completion),
    /// One that is in the network and comes before those that were found; of this rank.
    Earlier(u32),
}

/// A receive from the network.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    tag: rank_ipc::Tag,
    ticket: Ticket,
}

impl Probed {
    fn place(&self, from: u32, tag: rank_ipc::Tag) -> Option<usize> {
        self.found.borrow().iter().position(|Found { context, message, .. }| {
            *context == tag.context
                && (from == ANY || from == message.source)
                && tag.tag.is_none_or(|tag| tag == message.tag)
        })
    }

    fn peek(&self, from: u32, tag: rank_ipc::Tag) -> Option<Found> {
        let place = self.place(from, tag)?;
        self.found.borrow().get(place).copied()
    }

    fn take(&self, from: u32, tag: rank_ipc::Tag) -> Option<Completion> {
        let place = self.place(from, tag)?;
        Some(self.found.borrow_mut().remove(place).message)
    }

    fn set(&self, message: Ticket, turn: Turn) {
        let mut found = self.found.borrow_mut();
        if let Some(same) = found.iter_mut().find(|found| found.message.ticket == message) {
            same.turn = turn;
        }
    }

    /// Finds out whether the message that was found is the first of its sender. A receive of any
    /// tag gets the messages of a sender in their order, and those that were looked for by their
    /// tags may have been found before others. No time passes.
    pub(super) fn settle(&self, port: &Client, from: u32, tag: rank_ipc::Tag) {
        let found = if tag.tag.is_none() { self.peek(from, tag) } else { None };
        let Some(Found { message, turn: Turn::Unknown, .. }) = found else { return };
        let (from, before, room) = (message.source, Some(message.ticket), 0);
        let (at_once, probes) = (true, false);
        let ticket = port.start(&Command::Receive { from, tag, room, at_once, probes, before });
        port.poll(Poll::Nothing);
        let is_first = port.done(ticket).is_some_and(|done| done.void);
        port.forget(ticket);
        self.set(message.ticket, if is_first { Turn::First } else { Turn::Later });
    }

    /// The rank whose message comes before what was found. That is asked once: it changes when
    /// something is received.
    fn earlier(&self, port: &Client, from: u32, tag: rank_ipc::Tag) -> Option<u32> {
        self.settle(port, from, tag);
        let Found { message, turn, .. } = self.peek(from, tag)?;
        let is_later = tag.tag.is_none() && turn == Turn::Later;
        is_later.then(|| self.set(message.ticket, Turn::Unknown))?;
        Some(message.source)
    }

    /// Takes a message for a receive of the program. If there is none, the receive comes before all
    /// threads that look for messages, as these would take its message from it.
    pub(super) fn receive(&self, port: &Client, from: u32, tag: rank_ipc::Tag) -> Met {
        if !self.fetches.borrow().is_empty() {
            self.collect(port);
            if self.place(from, tag).is_none() {
                let tickets = self.disturb(port, tag.context);
                port.wait(true, &tickets);
                self.collect(port);
            }
        }
        match self.earlier(port, from, tag) {
            Some(rank) => Met::Earlier(rank),
            None => self.take(from, tag).map_or(Met::Nothing, Met::Found),
        }
    }

    /// Withdraws the receives of those who look for messages, and returns them; they have to look
    /// again.
    fn disturb(&self, port: &Client, context: u64) -> Vec<Ticket> {
        let fetches = self.fetches.borrow();
        let same = fetches.iter().filter(|fetch| fetch.tag.context == context);
        let tickets: Vec<Ticket> = same.map(|fetch| fetch.ticket).collect();
        for ticket in &tickets {
            port.say(&Command::Cancel(*ticket));
        }
        tickets
    }

    /// Takes up what has come for those who look for messages; others may have been waiting for it.
    fn collect(&self, port: &Client) {
        let done = |fetch: &mut Fetch| !port.is_open(fetch.ticket);
        let ended: Vec<_> = self.fetches.borrow_mut().extract_if(.., done).collect();
        for Fetch { tag, ticket } in ended {
            match port.done(ticket) {
                Some(message) if !message.void => {
                    self.keep(port, message, tag);
                    self.disturb(port, tag.context);
                }
                _ => port.forget(ticket),
            }
        }
    }

    /// Keeps a message that was received with a tag: before those that its sender sent later.
    fn keep(&self, port: &Client, message: Completion, tag: rank_ipc::Tag) {
        let mut found = self.found.borrow_mut();
        let is_later = |known: &Found| {
            known.context == tag.context
                && known.message.source == message.source
                && !(known.turn == Turn::First || known.message.tag == message.tag)
                && port.precedes(message.ticket, known.message.ticket)
        };
        let place = found.iter().position(is_later).unwrap_or(found.len());
        let context = tag.context;
        let turn = if tag.tag.is_none() { Turn::First } else { Turn::Unknown };
        found.insert(place, Found { context, message, turn });
        let before = found.iter_mut().take(place).filter(|known| {
            tag.tag.is_none() && known.context == context && known.message.source == message.source
        });
        before.for_each(|known| known.turn = Turn::First);
    }

    /// Receives a message from the network into the library: waits for it, or takes one that is
    /// there. Its operation is forgotten when a receive of the program takes it, as the end of a
    /// synchronous send waits for that. Gives whether it is worth looking again: something has
    /// come, or might have.
    fn fetch(&self, port: &Client, from: u32, tag: rank_ipc::Tag, waits: bool) -> bool {
        let (room, at_once, probes, before) = (u64::MAX, !waits, true, None);
        let receive = Command::Receive { from, tag, room, at_once, probes, before };
        let ticket = port.start(&receive);
        // All are taken in, in their order, whichever of them is waited for.
        port.say(&Command::Leave(ticket));
        self.fetches.borrow_mut().push(Fetch { tag, ticket });
        threads::finish(port, &[ticket]);
        let void = port.done(ticket).is_some_and(|done| done.void);
        self.collect(port);
        waits || !void
    }

    /// Looks for a message: waits for it, or says whether there is one. It has been received from
    /// the network then. Whoever looks beside this one shares what he finds.
    fn look(&self, port: &Client, from: u32, tag: rank_ipc::Tag, waits: bool) -> Option<Found> {
        if !waits {
            port.poll(Poll::Probe);
        }
        self.collect(port);
        loop {
            let earlier = self.earlier(port, from, tag);
            if earlier.is_none()
                && let Some(found) = self.peek(from, tag)
            {
                return Some(found);
            }
            if !self.fetch(port, earlier.unwrap_or(from), tag, waits) {
                return None;
            }
        }
    }
}

fn probe(peer: &Peer, waits: bool) -> Result<Option<Status>> {
    let Some(from) = peer.world else { return Ok(Some(from_nobody())) };
    let found = mpi().probed.look(mpi().port()?, from, peer.key(), waits);
    Ok(found.map(|found| peer.status(&found.message)))
}

/// A message that was probed for one receive.
#[derive(Debug)]
pub struct Message {
    found: Completion,
    peer: Peer,
}

fn matched_probe(peer: Peer, waits: bool) -> Result<Option<(Handle, Status)>> {
    let Some(from) = peer.world else { return Ok(Some((abi::MESSAGE_NO_PROC, from_nobody()))) };
    let mpi = mpi();
    let (probed, port) = (&mpi.probed, mpi.port()?);
    if probed.look(port, from, peer.key(), waits).is_none() {
        return Ok(None);
    }
    let Some(found) = probed.take(from, peer.key()) else { return Ok(None) };
    let status = peer.status(&found);
    Ok(Some((mpi.messages.add(Rc::new(Message { found, peer })), status)))
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
    fn Mrecv | Mrecv_c (
        buf: *mut c_void, count: Count, datatype: Handle, message: Out<Handle>, status: Out<Status>
    ) {
        tell(status, request::end(take_message(Data::new(buf, count, datatype)?, message)?))
    }

    fn Imrecv | Imrecv_c (
        buf: *mut c_void, count: Count, datatype: Handle, message: Out<Handle>, request: Out<Handle>
    ) {
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

    fn Iprobe(
        source: c_int, tag: c_int, comm: Handle, flag: Out<c_int>, status: Out<Status>
    ) about Comm(comm) {
        let found = probe(&Peer::source(comm, source, tag)?, false)?;
        flag.set(c_int::from(found.is_some()))?;
        found.map_or(Ok(()), |found| set_status(status, &found))
    }

    fn Mprobe(
        source: c_int, tag: c_int, comm: Handle, message: Out<Handle>, status: Out<Status>
    ) about Comm(comm) {
        message.check()?;
        let found = matched_probe(Peer::source(comm, source, tag)?, true)?;
        let (handle, known) = found.ok_or_else(request::unfinished)?;
        message.set(handle)?;
        set_status(status, &known)
    }

    fn Improbe(
        source: c_int, tag: c_int, comm: Handle, flag: Out<c_int>, message: Out<Handle>,
        status: Out<Status>
    ) about Comm(comm) {
        message.check()?;
        let found = matched_probe(Peer::source(comm, source, tag)?, false)?;
        flag.set(c_int::from(found.is_some()))?;
        let Some((handle, known)) = found else { return Ok(()) };
        message.set(handle)?;
        set_status(status, &known)
    }
}
