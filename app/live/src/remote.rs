//! Services that ranks do for each other without their programs: they answer requests, and tell
//! that a message has met its receive.

use rank_ipc::{Command, Ticket};
use schedule::{Edge, Kind, Op};

use crate::envelope::Envelope;
use crate::graph::MET;
use crate::rank::{Ops, Rank, Rules};
use crate::shared::Shared;
use crate::tags::{REQUEST, Tags};

impl Rank {
    /// The rank sends a message. A synchronous one is answered when a receive has met it.
    pub fn send(&mut self, command: &Command, rules: &Rules) -> Result<(), String> {
        let &Command::Send { to, tag, bytes, contents, synchronous } = command else {
            return Ok(());
        };
        let key = rules.shared.tags.number(self.slot(tag.context)?, tag.tag)?;
        let op = self.message(Kind::Send, to, key, bytes);
        let answer = synchronous.then(|| self.message(Kind::Recv, to, Tags::of_answer(op), 0));
        match answer {
            Some(answer) => self.ticket(&[op, answer]),
            None => self.ticket(&[op]),
        }
        let tag = tag.tag.unwrap_or(0);
        let envelope = Envelope::Message { tag, contents, answer: answer.is_some() };
        rules.shared.send(self.number, op, envelope);
        for end in std::iter::once(op).chain(answer) {
            self.call.starts.push(end);
            self.call.ends.push(end);
        }
        Ok(())
    }

    /// A send is withdrawn, if nothing of it has begun.
    pub fn withdraw(&mut self, ticket: Ticket, shared: &Shared) -> bool {
        let ends = self.tickets.get(ticket).map(|known| Ops::from(&*known.ends));
        let ends = ends.unwrap_or_default();
        let withdrawn = !ends.is_empty() && ends.iter().all(|end| self.graph.is_held(*end));
        for end in ends.iter().filter(|_| withdrawn) {
            shared.receive(self.number, *end);
            self.graph.void(*end);
        }
        withdrawn
    }

    /// The rank has something done at another: it is done when the answer has come.
    pub fn remote(&mut self, to: u32, bytes: u64, answer: u64, shared: &Shared) {
        let send = self.message(Kind::Send, to, REQUEST, bytes);
        let receive = self.message(Kind::Recv, to, Tags::of_answer(send), answer);
        self.ticket(&[receive]);
        shared.send(self.number, send, Envelope::Request { answer });
        self.call.starts.extend_from_slice(&[send, receive]);
        self.call.ends.push(receive);
    }

    /// The receive of a request of another rank.
    pub fn serve(&mut self, sender: u32, tag: u32) -> u32 {
        let (kind, size) = (Kind::Recv, u64::MAX);
        let op = Op { kind, peer: sender, tag, size, cpu: 0, nic: 0 };
        let receive = self.graph.add(op, None);
        self.graph.mark(receive, MET);
        receive
    }

    /// A message is answered when an operation is done, which is that of its receive.
    pub fn answer(&mut self, receive: u32, (sender, send): (u32, u32), size: u64) {
        let (kind, tag) = (Kind::Send, Tags::of_answer(send));
        let answer = self.graph.add(Op { kind, peer: sender, tag, size, cpu: 0, nic: 0 }, None);
        self.graph.depend(answer, receive, Edge::Done);
    }
}
