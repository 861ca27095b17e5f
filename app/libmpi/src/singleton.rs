//! A world of one rank without a simulator: what a program is that is started by itself.
//!
//! The rank answers its own commands: an operation is done as soon as it is there, and a message
//! when its receive is. Time is that of the clock on the wall. What can never be done, a message
//! that nobody sends, ends the program.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Instant;

use rank_ipc::{
    ANY, Arena, Channel, Client, Command, Completion, Decoder, Memory, Offset, RANKS_TURN, Reply,
    SIMULATORS_TURN, Shape, SimulatorGone, Suspend, Tag, Ticket, Writer,
};

use crate::error::{Error, Result};

/// The code that the program exits with when it waits for what never comes; a deadlock under the
/// simulator has it, too.
const STUCK: i32 = 3;

/// The port of a rank that is alone.
pub fn port(end: fn(i32) -> !) -> Result<Client> {
    let failed = |error| Error::new(crate::abi::ERR_OTHER, format!("shared memory: {error}"));
    let (memory, _) = Memory::new(1).map_err(failed)?;
    let singleton = Singleton(RefCell::new(World::new(memory)));
    Ok(Client::new(Writer::new(memory, 0), 0, 1, Box::new(singleton), end))
}

#[derive(Debug)]
struct Singleton(RefCell<World>);

/// A message that no receive has met.
#[derive(Debug)]
struct Sent {
    ticket: Ticket,
    tag: Tag,
    bytes: u64,
    contents: Offset,
    /// Its sender waits for it to be received.
    waits: bool,
}

#[derive(Debug)]
struct World {
    memory: Memory,
    arena: Arena,
    began: Instant,
    tickets: Ticket,
    sent: VecDeque<Sent>,
    /// Receives that no message has met.
    open: VecDeque<(Ticket, Tag)>,
    /// Messages that were found and not received: the probe, the send, and whether its sender waits
    /// for that.
    found: Vec<(Ticket, Ticket, bool)>,
    /// Operations of the call that is under way.
    call: Vec<Ticket>,
    inside: String,
    words: Vec<u64>,
    reply: Reply,
    /// Completions that the rank has not been told.
    done: Vec<Completion>,
    /// The part of the reply that the rank has not read.
    rest: VecDeque<u64>,
}

impl Suspend for Singleton {
    fn suspend(&self, channel: &Channel) -> std::result::Result<(), SimulatorGone> {
        channel.turn.store(SIMULATORS_TURN, Ordering::Release);
        self.0.borrow_mut().turn(channel);
        channel.turn.store(RANKS_TURN, Ordering::Release);
        Ok(())
    }
}

/// True if a receive matches a message; a wildcard matches none of the library's own messages,
/// whose tags are beyond the program's.
fn meets(wanted: Tag, sent: Tag) -> bool {
    let own = sent.tag.is_some_and(|tag| tag > i32::MAX.cast_unsigned());
    wanted.context == sent.context
        && if wanted.tag.is_none() { !own } else { wanted.tag == sent.tag }
}

const fn is_before(one: Ticket, other: Ticket) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}

impl World {
    fn new(memory: Memory) -> Self {
        Self {
            memory,
            arena: Arena::new(memory, 1),
            began: Instant::now(),
            tickets: 0,
            sent: VecDeque::new(),
            open: VecDeque::new(),
            found: Vec::new(),
            call: Vec::new(),
            inside: String::new(),
            words: Vec::new(),
            reply: Reply::default(),
            done: Vec::new(),
            rest: VecDeque::new(),
        }
    }

    /// Reads what the rank says, and answers.
    fn turn(&mut self, channel: &Channel) {
        if self.rest.is_empty() {
            if channel.read(SIMULATORS_TURN, &mut self.words) {
                return;
            }
            let words = std::mem::take(&mut self.words);
            let commands: Vec<_> = Decoder::new(&words).collect();
            if let Some(Command::In(name)) =
                commands.iter().rfind(|command| matches!(command, Command::In(_)))
            {
                // It is said behind what the function has done so far.
                self.inside.clone_from(name);
            }
            for command in commands {
                self.take(command);
            }
            let mut reply = std::mem::take(&mut self.reply);
            reply.now = self.began.elapsed().as_nanos() as u64 * 1000;
            let mut words = Vec::new();
            reply.encode(&mut words, &std::mem::take(&mut self.done));
            self.rest = words.into();
        }
        let words = self.rest.make_contiguous();
        let left = channel.write(SIMULATORS_TURN, words).len();
        self.rest.drain(..self.rest.len() - left);
    }

    fn take(&mut self, command: Command) {
        match command {
            Command::Send { tag, bytes, contents, synchronous, .. } => {
                let ticket = self.ticket();
                self.send(Sent { ticket, tag, bytes, contents, waits: synchronous });
            }
            Command::Receive { from, tag, at_once, probes, before, .. } => {
                let ticket = self.ticket();
                debug_assert!(from == ANY || from == 0, "there is one rank");
                self.receive(ticket, tag, (at_once, probes, before));
            }
            Command::Forget(ticket) => self.forget(ticket),
            Command::Collective(part) => {
                let ticket = self.ticket();
                let contents = self.board(part.contents);
                self.done(Completion { ticket, contents, ..Completion::default() });
            }
            // Nobody else is there to be waited for.
            Command::Remote { .. } | Command::Alarm(_) => {
                let ticket = self.ticket();
                self.done(Completion { ticket, ..Completion::default() });
            }
            Command::Called(Shape::Blocking) => {
                let call = std::mem::take(&mut self.call);
                if call.iter().any(|ticket| self.is_open(*ticket)) {
                    self.stuck();
                }
            }
            Command::Called(Shape::Posted) => self.call.clear(),
            Command::Wait { all, tickets } => {
                let mut open = tickets.iter().map(|ticket| self.is_open(*ticket));
                if if all { open.any(|open| open) } else { open.all(|open| open) } {
                    self.stuck();
                }
            }
            Command::Cancel(ticket) => self.cancel(ticket),
            Command::Precedes(one, other) => self.reply.value = self.precedes(one, other).into(),
            Command::Withdraw(ticket) => self.reply.value = self.withdraw(ticket).into(),
            Command::Computed => self.reply.value = self.began.elapsed().as_nanos() as u64 * 1000,
            // All blocks run.
            Command::Sample { .. } => self.reply.value = u64::MAX,
            // Nothing that happens elsewhere, and time passes by itself; nothing is started.
            Command::Start(_)
            | Command::Compute(_)
            | Command::In(_)
            | Command::Place(_)
            | Command::At(_)
            | Command::Sampled { .. }
            | Command::Sleep(_)
            | Command::Leave(_)
            | Command::Order
            | Command::Test { .. }
            | Command::Poll(_)
            | Command::Communicator { .. }
            | Command::Release(..)
            | Command::Exit
            | Command::Abort(_) => {}
        }
    }

    fn ticket(&mut self) -> Ticket {
        let ticket = self.tickets;
        self.tickets = ticket.wrapping_add(1);
        self.call.push(ticket);
        ticket
    }

    fn done(&mut self, done: Completion) {
        self.done.push(done);
    }

    fn send(&mut self, sent: Sent) {
        let place = self.open.iter().position(|(_, tag)| meets(*tag, sent.tag));
        if let Some((receive, _)) = place.and_then(|place| self.open.remove(place)) {
            return self.met(receive, &sent);
        }
        if !sent.waits {
            self.done(Completion { ticket: sent.ticket, ..Completion::default() });
        }
        self.sent.push_back(sent);
    }

    fn receive(
        &mut self,
        ticket: Ticket,
        tag: Tag,
        (at_once, probes, before): (bool, bool, Option<Ticket>),
    ) {
        let place = self.sent.iter().position(|sent| meets(tag, sent.tag));
        if let Some(found) = before {
            let first = place.and_then(|place| self.sent.get(place));
            let void = !first.is_some_and(|sent| is_before(sent.ticket, self.send_of(found)));
            return self.done(Completion { ticket, void, ..Completion::default() });
        }
        match place.and_then(|place| self.sent.remove(place)) {
            Some(sent) if probes => {
                self.found.push((ticket, sent.ticket, sent.waits));
                self.arrived(ticket, &sent);
            }
            Some(sent) if sent.waits => self.met(ticket, &sent),
            Some(sent) => self.arrived(ticket, &sent),
            None if at_once => {
                self.done(Completion { ticket, void: true, ..Completion::default() });
            }
            None => self.open.push_back((ticket, tag)),
        }
    }

    /// A message that was found has met its receive now.
    fn forget(&mut self, ticket: Ticket) {
        let place = self.found.iter().position(|(probe, ..)| *probe == ticket);
        if let Some((_, send, true)) = place.map(|place| self.found.swap_remove(place)) {
            self.done(Completion { ticket: send, ..Completion::default() });
        }
    }

    /// True if, of two messages that were found, the first was sent before the second.
    fn precedes(&self, one: Ticket, other: Ticket) -> bool {
        is_before(self.send_of(one), self.send_of(other))
    }

    /// The send of a message that was found.
    fn send_of(&self, found: Ticket) -> Ticket {
        let known = self.found.iter().find(|(probe, ..)| *probe == found);
        known.map_or(0, |(_, send, _)| *send)
    }

    /// A receive that has met no message is withdrawn.
    fn cancel(&mut self, ticket: Ticket) {
        let before = self.open.len();
        self.open.retain(|(open, _)| *open != ticket);
        if self.open.len() < before {
            self.done(Completion { ticket, void: true, ..Completion::default() });
        }
    }

    /// A message that nobody has received is withdrawn.
    fn withdraw(&mut self, ticket: Ticket) -> bool {
        let before = self.sent.len();
        self.sent.retain(|sent| sent.ticket != ticket);
        self.sent.len() < before
    }

    fn met(&mut self, receive: Ticket, sent: &Sent) {
        self.done(Completion { ticket: sent.ticket, ..Completion::default() });
        self.arrived(receive, sent);
    }

    fn arrived(&mut self, ticket: Ticket, sent: &Sent) {
        let Sent { bytes, contents, .. } = *sent;
        let tag = sent.tag.tag.unwrap_or_default();
        self.done(Completion { ticket, tag, bytes, contents, ..Completion::default() });
    }

    /// The list of what the only member of a collective contributes.
    fn board(&mut self, contents: Offset) -> Offset {
        let Ok(place) = self.arena.allocate(24) else { return 0 };
        for (number, value) in [0, 0, contents].into_iter().enumerate() {
            self.memory.word(place + 8 * number as u64).store(value, Ordering::Release);
        }
        place
    }

    fn is_open(&self, ticket: Ticket) -> bool {
        self.open.iter().any(|(open, _)| *open == ticket)
            || self.sent.iter().any(|sent| sent.waits && sent.ticket == ticket)
            || self.found.iter().any(|(_, send, waits)| *waits && *send == ticket)
    }

    fn stuck(&self) -> ! {
        eprintln!("heddle: {} waits for what never comes: the world is one rank", self.inside);
        std::process::exit(STUCK)
    }
}
