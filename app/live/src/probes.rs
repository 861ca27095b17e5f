//! Messages that are found before they are received.

use rank_ipc::{Command, Ticket};
use schedule::{Edge, Kind};

use crate::graph::AT_ONCE;
use crate::rank::{Rank, Rules};

/// A receive that only finds its message.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    ticket: Ticket,
    receive: u32,
    /// It only asks whether there is one that was sent before this operation of the sender.
    before: Option<u32>,
    /// The send of the message that it has met.
    send: u32,
    /// If the sender of a message that was only found waits for an answer: who, and bytes of that.
    unanswered: Option<(u32, u64)>,
}

/// True if an operation became known before another one of the same rank.
const fn is_before(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}

impl Rank {
    /// Starts a receive.
    pub fn receive(&mut self, command: &Command, rules: &Rules) -> Result<(), String> {
        let &Command::Receive { from, tag, room, at_once, probes, before } = command else {
            return Ok(());
        };
        let key = rules.shared.tags.number(self.slot(tag.context)?, tag.tag)?;
        let op = self.message(Kind::Recv, from, key, room);
        self.ticket(&[op]);
        if probes || before.is_some() {
            let ticket = self.tickets.next().wrapping_sub(1);
            let before = before.map(|found| self.send_of(found));
            let probe = Probe { ticket, receive: op, before, send: 0, unanswered: None };
            self.probes.push(probe);
        }
        if at_once {
            self.graph.mark(op, AT_ONCE);
        }
        if before.is_some() {
            // It is no part of a call, and what was computed passes after it.
            self.follow_chain(op);
            self.hang(op, Edge::Done);
            self.graph.seal();
            return Ok(());
        }
        self.call.starts.push(op);
        self.call.ends.push(op);
        Ok(())
    }

    /// The send of a message that was found.
    fn send_of(&self, found: Ticket) -> u32 {
        let probe = self.probes.iter().find(|probe| probe.ticket == found);
        probe.map_or(0, |probe| probe.send)
    }

    /// Of two messages of one sender that were found: whether the first was sent before the second.
    /// Operations are numbered in that order.
    pub fn precedes(&self, one: Ticket, other: Ticket) -> bool {
        is_before(self.send_of(one), self.send_of(other))
    }

    /// True if an operation is one that only asks.
    pub fn is_question(&self, ticket: Ticket) -> bool {
        self.probes.iter().any(|probe| probe.ticket == ticket && probe.before.is_some())
    }

    /// A receive at once would take the message of a send, or none is there; whether it does.
    pub fn accepts(&mut self, receive: u32, send: Option<u32>) -> bool {
        let question = self.probes.iter().find(|probe| probe.receive == receive);
        let question = question.and_then(|probe| probe.before);
        let before = |send| question.is_none_or(|found| is_before(send, found));
        let is_there = send.is_some_and(before);
        if !is_there {
            self.void(receive);
        }
        is_there && question.is_none()
    }

    /// A receive has met a message, whose sender may wait for an answer of so many bytes.
    pub fn met_or_found(&mut self, receive: u32, (sender, send): (u32, u32), answer: Option<u64>) {
        let probe = self.probes.iter_mut().find(|probe| probe.receive == receive);
        if let Some(probe) = probe {
            probe.send = send;
            probe.unanswered = answer.map(|bytes| (sender, bytes));
        } else if let Some(bytes) = answer {
            self.answer(receive, (sender, send), bytes);
            self.graph.seal();
        }
    }

    /// An operation is forgotten. If it was a message that was only found, that has met its receive
    /// now.
    pub fn taken(&mut self, ticket: Ticket, rules: &Rules) -> Result<(), String> {
        let Some(place) = self.probes.iter().position(|probe| probe.ticket == ticket) else {
            return Ok(());
        };
        let Probe { send, unanswered, .. } = self.probes.swap_remove(place);
        let Some((sender, size)) = unanswered else { return Ok(()) };
        let before = self.before(rules, true)?;
        self.hang(before, Edge::Done);
        self.answer(before, (sender, send), size);
        // A call that has begun is complete later.
        if self.call.starts.is_empty() {
            self.graph.seal();
        }
        Ok(())
    }
}
