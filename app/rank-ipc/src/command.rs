//! The commands of a rank to the simulator, as words.

use calls::{Amount, Collective};

use crate::{Offset, Rule, Ticket};

/// The properties that tell messages of a rank to another apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The communicator, and what of it: its messages, its collectives, …
    pub context: u64,
    /// The program's own tag; `None` in a receive is any.
    pub tag: Option<u32>,
}

/// The relation of a call to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The next call waits until all its messages are done.
    Blocking,
    /// It returns at once.
    Posted,
}

/// A question of a rank whose answer depends on the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Asks if a message is there: what `MPI_Iprobe` costs.
    Probe,
    /// Asks for the time.
    Time,
    /// Nothing: how things stand.
    Nothing,
    /// Nothing: a turn of its own, when what was computed has passed and all that is earlier in
    /// simulated time has happened.
    Turn,
}

/// Of several operations that a rank looks at, which it takes if they are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// All, or none.
    All,
    /// The first that is.
    First,
    /// Each that is.
    Each,
}

/// Ranks of the world, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// `count` ranks, each `stride` after the one before.
    Range {
        /// The first.
        first: u32,
        /// The distance, modulo 2^32.
        stride: u32,
        /// The number of ranks.
        count: u32,
    },
    /// A list of ranks; [`crate::ANY`] is nobody.
    List(Vec<u32>),
}

impl Members {
    /// Makes the shortest form of a list of ranks.
    pub fn new(ranks: &[u32]) -> Self {
        let first = ranks.first().copied().unwrap_or(0);
        let stride = ranks.get(1).map_or(1, |second| second.wrapping_sub(first));
        let range = (0..)
            .zip(ranks)
            .all(|(place, rank)| u64::from(first) + u64::from(stride) * place == u64::from(*rank));
        if range {
            Self::Range { first, stride, count: ranks.len() as u32 }
        } else {
            Self::List(ranks.to_vec())
        }
    }

    /// Returns how many there are.
    pub fn len(&self) -> u32 {
        match self {
            Self::Range { count, .. } => *count,
            Self::List(list) => list.len() as u32,
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rank in a place.
    pub fn get(&self, place: u32) -> Option<u32> {
        match self {
            Self::Range { first, stride, count } => {
                (place < *count).then(|| first.wrapping_add(stride.wrapping_mul(place)))
            }
            Self::List(list) => list.get(place as usize).copied(),
        }
    }
}

/// A rank's part in a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectiveStart {
    /// The operation.
    pub collective: Collective,
    /// The communicator.
    pub context: u64,
    /// Its number among the collectives of the communicator.
    pub number: u64,
    /// The root, by rank of the communicator; of an intercommunicator behind the ranks of the own
    /// group.
    pub root: Option<u32>,
    /// Bytes of an element.
    pub element: u64,
    /// True if the reduction commutes.
    pub commutative: bool,
    /// The bytes that it sends.
    pub sends: Amount,
    /// The bytes that it receives.
    pub receives: Amount,
    /// The block that it contributes, for the others to read.
    pub contents: Offset,
}

/// Something a rank has done, or asks for. Peers are ranks of the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// It computed for so many nanoseconds of its CPU.
    Compute(u64),
    /// It slept for so many picoseconds of simulated time.
    Sleep(u64),
    /// It sends a message.
    Send {
        /// The rank that it goes to.
        to: u32,
        /// The tag of the message.
        tag: Tag,
        /// Its size.
        bytes: u64,
        /// Its contents.
        contents: Offset,
        /// True if it is done only when a receive has met it.
        synchronous: bool,
    },
    /// It has something done at another rank, whose program need not do anything for it: a request
    /// and its answer.
    Remote {
        /// The rank that does it.
        to: u32,
        /// Size of the request.
        bytes: u64,
        /// Size of the answer.
        answer: u64,
    },
    /// It receives a message.
    Receive {
        /// The rank that it comes from; [`crate::ANY`] is any rank.
        from: u32,
        /// The tag of the message.
        tag: Tag,
        /// The number of bytes that there is room for.
        room: u64,
        /// If no message is there, none is waited for.
        at_once: bool,
        /// It only finds the message: a receive of the program meets it when this operation is
        /// forgotten.
        probes: bool,
        /// It takes nothing: it is void unless there is a message that its sender has sent before
        /// one that was found.
        before: Option<Ticket>,
    },
    /// It takes part in a collective.
    Collective(CollectiveStart),
    /// The messages since the last call belong to one call, which is over.
    Called(Shape),
    /// It waits for operations: for all, or for the first of them.
    Wait {
        /// For all.
        all: bool,
        /// For which.
        tickets: Vec<Ticket>,
    },
    /// It looks whether operations are done: it costs what `MPI_Test` costs, and of messages that
    /// are there what it costs to receive them.
    Test {
        /// The operations that it takes of those that are done.
        taken: Taken,
        /// The operations.
        tickets: Vec<Ticket>,
    },
    /// It asks how things stand.
    Poll(Poll),
    /// A tool that watches the program asks what time it will be when what was computed has passed,
    /// if nothing comes between; the rank's time does not change by that.
    Computed,
    /// A receive is to be withdrawn if no message has met it.
    Cancel(Ticket),
    /// A send is to be withdrawn if it has not begun; the answer is whether it was.
    Withdraw(Ticket),
    /// Of two messages of one sender that were found: the answer is whether the first was sent
    /// before the second.
    Precedes(Ticket, Ticket),
    /// An operation will not be waited for.
    Leave(Ticket),
    /// An operation will not be spoken of again.
    Forget(Ticket),
    /// There is a communicator.
    Communicator {
        /// Its number.
        context: u64,
        /// The place of this rank in its group.
        me: u32,
        /// The own group.
        local: Members,
        /// The other one, of an intercommunicator.
        remote: Members,
        /// The neighbours in its topology, by their places in the group: sources and destinations,
        /// [`crate::ANY`] for none.
        neighbours: Option<(Members, Members)>,
    },
    /// A communicator, by its number, is no longer used by this rank, which need not have told of
    /// it; so many ranks are its members.
    Release(u64, u32),
    /// It starts an operation that is done at a moment of simulated time, in picoseconds, whatever
    /// it does meanwhile.
    Alarm(u64),
    /// It asks for the mean of what a block of the program took in all ranks, in nanoseconds, if
    /// there are enough by a rule; for `u64::MAX` otherwise.
    Sample {
        /// The block's number, the same for all ranks.
        block: u64,
        /// The time when there are enough.
        rule: Rule,
    },
    /// It looks at or changes what ranks share from here on: it goes on when ranks that come before
    /// it have run, where several compute at once. No time passes.
    Order,
    /// A block took so many nanoseconds.
    Sampled {
        /// The block's number.
        block: u64,
        /// The time that it took.
        nanoseconds: u64,
    },
    /// It asks for processes ([`crate::start::Start`]s); answered with the place of a block that
    /// says what came of it ([`crate::start::read`]).
    Start(Vec<u8>),
    /// It is in a function of MPI, for messages.
    In(String),
    /// The functions that it is in from now on are called from a place of the program that it has
    /// not told yet: the place's name, which is empty if nothing is known of it. Places of a rank
    /// are numbered from 1.
    Place(String),
    /// They are called from a place that it has told, by its number.
    At(u32),
    /// It is done.
    Exit,
    /// It ends all ranks, with an exit code.
    Abort(i32),
}

impl Command {
    /// A receive that waits for its message: from whom, what it is, and how many bytes there is
    /// room for.
    pub fn receive(from: u32, tag: Tag, room: u64) -> Self {
        Self::Receive { from, tag, room, at_once: false, probes: false, before: None }
    }
}
