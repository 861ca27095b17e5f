//! The choice of the receive that a rank takes in next.

use flow::{Load, Routes};
use kernel::Probe;
use schedule::Op;

use super::engine::Engine;
use super::rank::Rank;
use crate::Record;
use crate::source::Source;

impl<S: Source, R: Routes, W: Probe<Load>, B: Probe<Record>> Engine<'_, S, R, W, B> {
    /// Returns whether a send is blocking.
    pub fn is_blocking(&self, rank: u32, index: u32) -> bool {
        self.source.is_blocking(&self.ranks[rank as usize].source, rank, index)
    }

    /// Returns an operation of a rank.
    pub fn op(&self, rank: u32, index: u32) -> Op {
        self.source.op(&self.ranks[rank as usize].source, rank, index)
    }

    /// Returns a receive of this CPU whose overhead is due, and its message.
    pub fn due(&self, rank: u32, cpu: u8) -> Option<(u32, u32)> {
        let state = &self.ranks[rank as usize];
        if state.mailbox.open.is_empty() {
            return None;
        }
        let missing = |index| self.source.missing(&state.source, rank, index);
        let is_any = |index| self.source.is_any(&state.source, index);
        let wanted = |index| self.source.wants(&state.source, index);
        let due = state.mailbox.due(missing, is_any, wanted)?;
        (self.op(rank, due.0).cpu == cpu).then_some(due)
    }

    /// Returns whether a receive that is posted now takes a message, or waits for one.
    pub fn accepts(&mut self, rank: u32, receive: u32, op: &Op) -> bool {
        let Rank { source, mailbox, .. } = &mut self.ranks[rank as usize];
        if !self.source.is_conditional(source, receive) {
            return true;
        }
        let message = mailbox.unexpected.peek(op.peer, self.source.matched_by(op.tag));
        let message = message.and_then(|number| self.messages.get(*number));
        self.source.accepts(source, receive, message.map(|message| message.send))
    }

    /// Returns the next receive that a look takes in, and its message: those that are due, then
    /// those that it asks for; `asks` once it is at these.
    pub fn tested(
        &self,
        (rank, cpu): (u32, u8),
        index: u32,
        asks: &mut bool,
    ) -> Option<(u32, u32)> {
        let Rank { source, mailbox, .. } = &self.ranks[rank as usize];
        if mailbox.open.is_empty() || !self.source.is_look(source, rank, index) {
            return None;
        }
        if !*asks && let Some(due) = self.due(rank, cpu) {
            return Some(due);
        }
        *asks = true;
        let is_there = |index| mailbox.message(index).is_some();
        let receive = self.source.tested(source, index, &is_there)?;
        Some((receive, mailbox.message(receive)?))
    }
}
