//! Collectives as messages.

use std::num::NonZeroU32;
use std::sync::Arc;

use calls::{CollectiveCall, Sink};
use rank_ipc::CollectiveStart;
use schedule::{Edge, Kind, Op};

use crate::communicators::Communicator;
use crate::graph::BLOCKING;
use crate::rank::{Ops, Rank, Rules};
use crate::shared::MemberCall;
use crate::tags::{Tags, message_of_collective};

/// Programs repeat their collectives: the messages of the last one are kept, if they are not more
/// than these.
const KEPT: usize = 128;

/// A rank's part in a collective: messages, and what each waits for.
#[derive(Debug)]
pub struct Expansion {
    /// The call that it is the expansion of, but for number and contents.
    part: CollectiveStart,
    plan: Arc<Plan>,
    /// The ranks that messages go to or come from, by step.
    peers: Box<[u32]>,
    /// The algorithm by which it counts, if it does for this rank.
    by: Option<&'static str>,
}

/// The part of an expansion that is the same for many ranks of a collective: all but their peers.
/// [`Shared::plan`] keeps it once for those that have it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    steps: Box<[Step]>,
    /// The steps that wait for each step, by number.
    next: Box<[u32]>,
    /// Steps that no other waits for.
    ends: Box<[u32]>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Step {
    /// Bytes, or picoseconds.
    size: u64,
    /// The number of others that it waits for.
    missing: u32,
    /// The end of its part of [`Plan::next`].
    end: u32,
    /// The number of the message between its two ranks, by which
    /// [`crate::tags::Tags::of_collective`] tells such messages apart.
    number: u16,
    kind: Kind,
    blocking: bool,
}

impl Expansion {
    fn new(part: CollectiveStart, known: &Communicator, rules: &Rules) -> Result<Self, String> {
        let call = CollectiveCall {
            collective: part.collective,
            ranks: known.local.len(),
            me: known.me,
            remote: known.remote.len(),
            root: part.root,
            element: part.element,
            commutative: part.commutative,
            sends: part.sends.clone(),
            receives: part.receives.clone(),
            neighbours: known.neighbours.as_ref(),
        };
        let mut recording = Recording {
            steps: Vec::new(),
            peers: Vec::new(),
            after: Vec::new(),
            known,
            message: 0,
            by: None,
        };
        rules.expand.expand(&call, &mut recording)?;
        let Recording { mut steps, peers, mut after, by, .. } = recording;
        after.sort_unstable();
        let mut next = after.iter().peekable();
        let (mut end, mut ends) = (0, Vec::new());
        for (number, step) in (0..).zip(&mut steps) {
            let start = end;
            while next.next_if(|(before, _)| *before == number).is_some() {
                end += 1;
            }
            step.end = end;
            if start == end {
                ends.push(number);
            }
        }
        let next = after.iter().map(|(_, next)| *next).collect();
        let plan = Plan { steps: steps.into(), next, ends: ends.into() };
        let plan = if plan.is_kept() { rules.shared.plan(plan) } else { Arc::new(plan) };
        Ok(Self { part, plan, peers: peers.into(), by })
    }

    /// It will be asked for whether it is that of another collective.
    pub fn prefetch(&self) {
        kernel::prefetch(self);
    }

    /// It will be posted.
    pub fn prefetch_peers(&self) {
        kernel::prefetch(&*self.peers);
    }

    /// True if a collective means the same messages.
    fn is_of(&self, other: &CollectiveStart) -> bool {
        let CollectiveStart { collective, context, root, element, commutative, .. } = self.part;
        (collective, context, root) == (other.collective, other.context, other.root)
            && (element, commutative) == (other.element, other.commutative)
            && (&self.part.sends, &self.part.receives) == (&other.sends, &other.receives)
    }

    /// Puts the messages among the operations of a rank; gives those that are last.
    fn post(&self, rank: &mut Rank, number: u32, tags: &Tags) -> Result<Ops, String> {
        let first = rank.graph.next();
        let ticket = Some(rank.tickets.next());
        let mut start = 0;
        for (step, &peer) in self.plan.steps.iter().zip(&self.peers) {
            let tag = match step.kind {
                Kind::Calc => 0,
                _ => tags.of_collective(number, step.number)?,
            };
            let Step { kind, size, .. } = *step;
            let op = rank.graph.add(Op { kind, peer, tag, size, cpu: 0, nic: 0 }, ticket);
            if step.blocking {
                rank.graph.mark(op, BLOCKING);
            }
            if step.missing == 0 {
                rank.call.starts.push(op);
            }
            rank.graph.expect(op, step.missing);
            for next in self.plan.next.get(start..step.end as usize).unwrap_or_default() {
                rank.graph.follow(op, first.wrapping_add(*next), Edge::Done);
            }
            start = step.end as usize;
        }
        let ends: Ops = self.plan.ends.iter().map(|step| first.wrapping_add(*step)).collect();
        rank.call.ends.extend_from_slice(&ends);
        Ok(ends)
    }
}

impl Plan {
    fn is_kept(&self) -> bool {
        self.steps.len() <= KEPT
    }
}

/// Keeps the messages of a collective.
struct Recording<'a> {
    steps: Vec<Step>,
    peers: Vec<u32>,
    /// Steps, and others that wait for them.
    after: Vec<(u32, u32)>,
    known: &'a Communicator,
    message: u16,
    by: Option<&'static str>,
}

impl Recording<'_> {
    fn member(&self, place: u32) -> u32 {
        let local = self.known.local.len();
        let found = match place.checked_sub(local) {
            Some(place) => self.known.remote.get(place),
            None => self.known.local.get(place),
        };
        found.unwrap_or(0)
    }

    fn add(&mut self, kind: Kind, peer: u32, size: u64, after: &[u32]) -> u32 {
        let (me, number) = (self.steps.len() as u32, self.message);
        self.after.extend(after.iter().map(|before| (*before, me)));
        let missing = after.len() as u32;
        self.steps.push(Step { kind, size, number, missing, end: 0, blocking: false });
        self.peers.push(peer);
        me
    }
}

impl Sink for Recording<'_> {
    fn by(&mut self, algorithm: &'static str) {
        self.by = Some(algorithm);
    }

    fn send(&mut self, to: u32, bytes: u64, after: &[u32]) -> u32 {
        self.add(Kind::Send, self.member(to), bytes, after)
    }

    fn receive(&mut self, from: u32, bytes: u64, after: &[u32]) -> u32 {
        self.add(Kind::Recv, self.member(from), bytes, after)
    }

    fn compute(&mut self, time: u64, after: &[u32]) -> u32 {
        self.add(Kind::Calc, 0, time, after)
    }

    fn blocking(&mut self, op: u32) {
        if let Some(step) = self.steps.get_mut(op as usize) {
            step.blocking = true;
        }
    }

    fn number(&mut self, number: u32) {
        self.message = message_of_collective(number);
    }
}

impl Rank {
    /// The rank takes part in a collective.
    pub fn collective(&mut self, part: &CollectiveStart, rules: &Rules) -> Result<(), String> {
        let &CollectiveStart { collective, context, number, root: part_root, contents, .. } = part;
        let kept = self.expansion.take().filter(|kept| kept.is_of(part));
        let known = &*self.known(context).ok_or("it uses an unknown communicator")?;
        let expansion = match kept {
            Some(kept) => {
                if let Some(algorithm) = kept.by {
                    rules.expand.again(collective, algorithm);
                }
                kept
            }
            None => Box::new(Expansion::new(part.clone(), known, rules)?),
        };
        // Both groups of an intercommunicator contribute to one list: the group of the lower ranks
        // first.
        let members = known.local.len() + known.remote.len();
        let behind = known.remote.get(0).is_some_and(|other| known.local.get(0) > Some(other));
        let me = known.me + if behind { known.remote.len() } else { 0 };
        let root = part_root.filter(|_| known.remote.is_empty());
        let mine = MemberCall { collective, root, me, contents };
        let (board, number) =
            rules.shared.contribute((context, number), members, mine, &rules.memory)?;
        self.call.is_collective = true;
        let ends = expansion.post(self, number, &rules.shared.tags)?;
        if expansion.plan.is_kept() {
            self.expansion = Some(expansion);
        }
        let ticket = self.tickets.next();
        self.ticket(&ends);
        if let Some(known) = self.tickets.get_mut(ticket) {
            known.completion.contents = board;
            known.collective = NonZeroU32::new(number + 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Shared;

    fn plan(size: u64) -> Plan {
        let step = Step { size, missing: 0, end: 0, number: 0, kind: Kind::Send, blocking: false };
        Plan { steps: [step].into(), next: [].into(), ends: [0].into() }
    }

    /// Ranks that have the same plan share it, and one that nobody has any more does not stay among
    /// many others.
    #[test]
    fn shared_plans() {
        let memory = rank_ipc::Memory::private(1).expect("memory");
        let shared = Shared::new(memory, 1);
        let (mine, yours) = (shared.plan(plan(8)), shared.plan(plan(8)));
        assert!(Arc::ptr_eq(&mine, &yours));
        let left = Arc::downgrade(&shared.plan(plan(9)));
        let others: Vec<_> = (10..1000).map(|size| shared.plan(plan(size))).collect();
        assert!(left.upgrade().is_none());
        assert!(Arc::ptr_eq(&mine, &shared.plan(plan(8))));
        assert_eq!(others.iter().filter(|other| ***other == plan(500)).count(), 1);
    }
}
