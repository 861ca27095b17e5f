//! Looks of a rank at how things stand.

use calls::polling::{APART, look_at_clock};
use rank_ipc::{Command, Poll, Taken, Ticket};
use schedule::Edge;

use crate::graph::LEFT;
use crate::rank::{Rank, Rules, Ticketed};

/// A look for what may have come.
#[derive(Debug)]
pub struct Look {
    /// The operation that stands for the look's cost.
    op: u32,
    /// Of operations whose ends are looked for: which are taken in.
    taken: Taken,
    tickets: Vec<Ticket>,
}

impl Rank {
    /// A look that names no operation.
    pub fn poll(&mut self, poll: Poll, rules: &Rules) -> Result<(), String> {
        match poll {
            Poll::Turn => {
                self.ahead(false, rules)?;
                self.turn = Some(self.moment(0));
                Ok(())
            }
            Poll::Nothing => Ok(()),
            Poll::Probe => {
                self.look(rules.costs.probe, (Taken::All, Vec::new()), rules)?;
                // What it then takes in or not, it does when the processor has come to that.
                self.moment(0);
                Ok(())
            }
            Poll::Time => {
                self.looks = self.looks.saturating_add(1);
                self.computed.fixed(look_at_clock(rules.costs.clock, self.looks));
                self.passes(true, rules)
            }
        }
    }

    /// A look whether operations are done.
    pub fn test(
        &mut self,
        taken: Taken,
        tickets: Vec<Ticket>,
        rules: &Rules,
    ) -> Result<(), String> {
        self.look(rules.costs.test, (taken, tickets), rules)
    }

    /// A look for what may have come, which costs more the more often that is done in a row: with
    /// little computation in between.
    fn look(
        &mut self,
        cost: u64,
        (taken, tickets): (Taken, Vec<Ticket>),
        rules: &Rules,
    ) -> Result<(), String> {
        if self.ahead(false, rules)? >= cost.saturating_mul(APART) {
            self.polls = 0;
        }
        self.polls = self.polls.saturating_add(1);
        self.looks = 0;
        let op = self.moment(cost.saturating_mul(self.polls));
        let look = Look { op, taken, tickets };
        match &mut self.look {
            Some(last) => **last = look,
            none => *none = Some(Box::new(look)),
        }
        Ok(())
    }

    /// The computation so far passes before the next call.
    fn passes(&mut self, ends: bool, rules: &Rules) -> Result<(), String> {
        let before = self.before(rules, ends)?;
        self.hang(before, Edge::Done);
        self.graph.seal();
        Ok(())
    }

    /// The computation so far; tells how long it takes, in picoseconds. An operation's end is known
    /// at its start, before what happens elsewhere meanwhile; so what must come behind that as well
    /// is an operation of its own. And one without length stands between them: of what could begin
    /// at one moment, what was caused first comes first, and that is what came while the rank
    /// computed.
    fn ahead(&mut self, ends: bool, rules: &Rules) -> Result<u64, String> {
        let computed = self.computed.take(&rules.computation, self.number, ends)?;
        if computed > 0 {
            self.by_itself(computed, true);
            self.by_itself(0, false);
        }
        Ok(computed)
    }

    /// Returns what takes so long, behind [`Rank::ahead`]. The next call waits for it.
    fn moment(&mut self, cost: u64) -> u32 {
        let moment = self.by_itself(cost, false);
        self.graph.seal();
        moment
    }

    fn by_itself(&mut self, time: u64, computes: bool) -> u32 {
        let op = self.calc(time);
        self.note(op, computes);
        self.follow_chain(op);
        self.hang(op, Edge::Done);
        op
    }

    /// A receive is withdrawn, at the time at which the rank has come to that.
    pub fn cancel(&mut self, ticket: Ticket, rules: &Rules) -> Result<(), String> {
        let Some(end) = self.tickets.get(ticket).and_then(|known| known.ends.first()).copied()
        else {
            return Ok(());
        };
        self.ahead(true, rules)?;
        let moment = self.moment(0);
        self.graph.cancel(moment, end);
        Ok(())
    }

    /// Returns whether a program that says this does more than look again for what has not come, as
    /// it does by calls that post or wait for something.
    pub fn gets_on(&self, command: &Command) -> bool {
        match command {
            Command::Cancel(_) => true,
            Command::Forget(ticket) => {
                let known = self.tickets.get(*ticket);
                known.is_some_and(|known| !known.completion.void && !known.ends.is_empty())
                    && !self.is_question(*ticket)
            }
            _ => false,
        }
    }

    /// Returns whether an operation is a look for what may have come.
    pub fn is_look(&self, index: u32) -> bool {
        self.look.as_ref().is_some_and(|look| look.op == index)
    }

    /// Returns what such a look takes in first of the operations that it is about: a receive that
    /// is not done, but whose message `is_there`.
    pub fn tested(&self, index: u32, is_there: &dyn Fn(u32) -> bool) -> Option<u32> {
        let Look { taken, tickets, .. } = self.look.as_deref().filter(|look| look.op == index)?;
        let mut known = tickets.iter().filter_map(|ticket| self.tickets.get(*ticket));
        let open =
            |known: &Ticketed| known.ends.iter().copied().find(|end| !self.graph.is_done(*end));
        let has_come = |known: &&Ticketed| {
            known.ends.iter().all(|end| self.graph.is_done(*end) || is_there(*end))
        };
        match taken {
            Taken::All if known.clone().all(|known| has_come(&known)) => known.find_map(open),
            Taken::All => None,
            Taken::First => known.find(has_come).and_then(open),
            Taken::Each => known.filter(has_come).find_map(open),
        }
    }

    /// Returns whether the rank waits for an operation for which no other waits, or nobody can wait
    /// for it any more.
    pub fn wants(&self, index: u32) -> bool {
        self.hangs_on(index) || !self.graph.is_pinned(index) || self.graph.is(index, LEFT)
    }
}
