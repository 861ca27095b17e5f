//! The two-way ring: a program whose ranks answer whichever message came first.
//!
//! Each rank sends a message to either neighbour on a ring. Then it takes in messages from anybody,
//! one after the other, and passes each on in the direction in which it goes, until it has gone
//! around the ring so many times: the last one from either side is the rank's own. The order in
//! which a rank answers thus depends on what the network delivers first, which no schedule can say.
//!
//! Source: the example of the simulator NSIM (IPSJ SIG Technical Report, 2010, figure 3), in which
//! a rank passes on as many messages as there are ranks. Where the two directions advance at
//! different speeds, ranks there wait for messages that others have kept; here each message goes
//! all the way, so that every run ends.

use schedule::pattern::{Error, Options, Roles};
use schedule::{ANY, Edge, Kind, Op, Run};

use super::{Claims, Explains, Operations, Probing, Starts, Waits, Work};
use crate::path::Stamp;

/// The program of the two-way ring.
#[derive(Clone, Copy, Debug)]
pub struct TwoWayRing {
    ranks: u32,
    size: u64,
    /// Messages that come to a rank from either side.
    rounds: u32,
    roles: Roles,
}

/// The state of a rank: one operation at a time is posted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// Messages that have come from the rank before, and from the one behind.
    come: [u32; 2],
    /// The neighbour to which the last message that has come goes on; `None` if it is at its
    /// origin.
    to: Option<u32>,
    /// True if the last message has come.
    ended: bool,
}

/// Operations before the first receive: the sends to the neighbours.
const SENDS: u32 = 2;

impl TwoWayRing {
    /// The ring with these options. With one rank there are no messages.
    ///
    /// # Errors
    /// If an option is set that means nothing here, or if the operations of a rank are too many to
    /// be numbered.
    pub fn new(options: &Options) -> Result<Self, Error> {
        const NAME: &str = "two-way-ring";
        options.check(NAME)?;
        let &Options { ranks, size, steps, .. } = options;
        let rounds = u64::from(ranks) * u64::from(steps);
        // The operations of a rank are twice the messages that come to it.
        let too_long = || {
            let ops = rounds.saturating_mul(4);
            Error::TooLong { pattern: NAME.to_owned(), ops }
        };
        let rounds = u32::try_from(rounds).ok().filter(|&rounds| rounds < 1 << 30);
        let rounds = rounds.ok_or_else(too_long)?;
        Ok(Self { ranks, size, rounds, roles: options.roles(NAME) })
    }

    /// The rank before another one and the one behind it.
    fn neighbours(self, rank: u32) -> [u32; 2] {
        let role = self.roles.role(rank);
        let ahead =
            |steps: u32| ((u64::from(role) + u64::from(steps)) % u64::from(self.ranks)) as u32;
        [self.ranks - 1, 1].map(|steps| self.roles.rank(ahead(steps)))
    }

    /// Returns an operation: sends to the neighbours, and then in turn a receive and the answer to
    /// it, which goes to a rank that only a run decides on.
    pub fn operation(self, rank: u32, index: u32) -> Op {
        let [before, behind] = self.neighbours(rank);
        let (kind, peer) = match index {
            0 => (Kind::Send, before),
            1 => (Kind::Send, behind),
            _ if index.is_multiple_of(2) => (Kind::Recv, ANY),
            _ => (Kind::Send, ANY),
        };
        Op { kind, peer, tag: 0, size: self.size, cpu: 0, nic: 0 }
    }

    /// Messages that a rank takes in.
    const fn receives(self) -> u32 {
        if self.ranks < 2 { 0 } else { 2 * self.rounds }
    }

    /// A message from a neighbour has come.
    fn came(self, state: &mut Round, rank: u32, from: u32) {
        let [before, behind] = self.neighbours(rank);
        let side = usize::from(from != before);
        state.come[side] += 1;
        // Of two ranks either is on both sides of the other.
        let most = if before == behind { 2 * (self.rounds - 1) } else { self.rounds - 1 };
        state.to = (state.come[side] <= most).then_some(if side == 0 { behind } else { before });
        state.ended = state.come[0] + state.come[1] == self.receives();
    }
}

impl Work for TwoWayRing {
    type Source<'s> = &'s Self;

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn operations(&self) -> Option<u64> {
        let each = u64::from(self.receives());
        Some(2 * each * u64::from(self.ranks))
    }

    fn source(&self) -> &Self {
        self
    }
}

impl Operations for &TwoWayRing {
    /// With the number of the rank, as [`Probing::matched`] does not tell it.
    type State = (u32, Round);

    fn state(&self, rank: u32) -> (u32, Round) {
        (rank, Round::default())
    }

    fn op(&self, (rank, state): &(u32, Round), _: u32, index: u32) -> Op {
        let op = TwoWayRing::operation(**self, *rank, index);
        match (op.peer, op.kind, state.to) {
            (ANY, Kind::Send, Some(peer)) => Op { peer, ..op },
            _ => op,
        }
    }

    fn start(&self, (rank, state): &mut (u32, Round), _: u32, mut post: impl FnMut(Run, Op)) {
        state.ended = self.receives() == 0;
        if !state.ended {
            post(Run::one(0), TwoWayRing::operation(**self, *rank, 0));
        }
    }

    fn reached(
        &self,
        state: &mut (u32, Round),
        rank: u32,
        (index, edge): (u32, Edge),
        at: &Stamp,
        mut post: impl FnMut(u32, Op, &Stamp),
    ) {
        if edge != Edge::Done {
            return;
        }
        let received = index >= SENDS && index.is_multiple_of(2);
        let answers = received && state.1.to.is_some();
        let next = index + if received && !answers { 2 } else { 1 };
        if answers || !state.1.ended {
            post(next, self.op(state, rank, next), at);
        }
    }

    fn unfinished(&self, (_, state): &(u32, Round), _: u32) -> bool {
        !state.ended
    }

    fn starts(&self) -> Starts {
        Starts::Nothing
    }

    fn wants_sends(&self) -> bool {
        true
    }
}

impl Claims for &TwoWayRing {
    fn fits(&self) -> bool {
        true
    }
}

impl Probing for &TwoWayRing {
    fn matched(&self, (rank, state): &mut (u32, Round), _: u32, (from, _): (u32, u32), _: u64) {
        self.came(state, *rank, from);
    }
}

impl Waits for &TwoWayRing {
    fn is_blocking(&self, _: &(u32, Round), _: u32, _: u32) -> bool {
        true
    }

    fn is_in_order(&self, _: &(u32, Round), _: u32, _: u32) -> bool {
        true
    }

    /// Names the send behind a receive, which is known when the receive has met its message.
    fn dependents(&self, _: &(u32, Round), _: u32, index: u32, each: &mut dyn FnMut(u32)) {
        if index < SENDS || !index.is_multiple_of(2) {
            each(index + 1);
        }
    }

    fn missing(&self, _: &(u32, Round), _: u32, _: u32) -> u32 {
        1
    }
}

impl Explains for &TwoWayRing {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The peers to which a rank sends if the messages come from these.
    fn answers(ring: TwoWayRing, rank: u32, from: &[u32]) -> Vec<u32> {
        let source = &ring;
        let mut state = source.state(rank);
        let (mut next, mut sent) = (Vec::new(), Vec::new());
        source.start(&mut state, rank, |run, op| next.push((run.first, op)));
        let mut from = from.iter();
        while let Some((index, op)) = next.pop() {
            match op.kind {
                Kind::Send => sent.push(op.peer),
                _ => source.matched(&mut state, index, (*from.next().expect("a message"), 0), 8),
            }
            let event = (index, Edge::Done);
            source.reached(&mut state, rank, event, &crate::START, |index, op, _| {
                next.push((index, op));
            });
        }
        assert!(!source.unfinished(&state, rank) && from.next().is_none());
        sent
    }

    fn ring(ranks: u32) -> TwoWayRing {
        TwoWayRing::new(&Options::new(ranks, 8)).unwrap()
    }

    /// On a ring of three, rank 1 sends to 0 and 2; what comes from 0 goes to 2 and back again, but
    /// for its own message, the third from either side.
    #[test]
    fn the_order_of_arrival_is_that_of_answers() {
        let ring = ring(3);
        assert_eq!(answers(ring, 1, &[0, 2, 0, 2, 0, 2]), [0, 2, 2, 0, 2, 0]);
        assert_eq!(answers(ring, 1, &[2, 2, 2, 0, 0, 0]), [0, 2, 0, 0, 2, 2]);
    }

    #[test]
    fn few_ranks() {
        assert_eq!(answers(ring(1), 0, &[]), []);
        assert_eq!(answers(ring(2), 0, &[1, 1, 1, 1]), [1, 1, 1, 1]);
        let wrong = |options| TwoWayRing::new(&options).map(|_| ()).unwrap_err().to_string();
        assert!(wrong(Options::new(0, 8)).contains("at least 1"));
        assert!(wrong(Options { ways: 2, ..Options::new(4, 8) }).contains("does not use \"ways\""));
    }
}
