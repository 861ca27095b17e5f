//! What a rank tells the simulator, as words.

use crate::{Place, Rule, Ticket};

/// What tells messages of a rank to another apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The communicator, and what of it: its messages, its collectives, …
    pub context: u32,
    /// The program's own tag; `None` in a receive is any.
    pub tag: Option<u32>,
}

/// How a call hangs together with the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The next call waits until all its messages are done.
    Blocking,
    /// It returns at once.
    Posted,
}

/// What a rank asks for whose answer depends on the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// What is done by now: it costs what `MPI_Test` costs.
    Test,
    /// Whether a message is there: what `MPI_Iprobe` costs.
    Probe,
    /// What time it is.
    Time,
    /// Nothing: how things stand.
    Nothing,
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
        /// How many.
        count: u32,
    },
    /// These; [`crate::ANY`] is nobody.
    List(Vec<u32>),
}

impl Members {
    /// As short as it can be said.
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

    /// How many there are.
    pub fn len(&self) -> u32 {
        match self {
            Self::Range { count, .. } => *count,
            Self::List(list) => list.len() as u32,
        }
    }

    /// Whether there are none.
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

/// Bytes for each member of a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// The same for each.
    Each(u64),
    /// By member.
    List(Vec<u64>),
}

/// Which collective; the names are those of MPI's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
#[expect(missing_docs, reason = "each is the collective of that name")]
pub enum Class {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Reduce,
    Allreduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Exscan,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
    /// Agreement on a new communicator.
    Create,
    WinCreate,
    WinFree,
    Fence,
}

impl Class {
    /// Whether members contribute contents.
    pub const fn has_contents(self) -> bool {
        !matches!(self, Self::Barrier | Self::Fence | Self::WinFree)
    }

    const ALL: [Self; 26] = [
        Self::Barrier,
        Self::Bcast,
        Self::Gather,
        Self::Gatherv,
        Self::Scatter,
        Self::Scatterv,
        Self::Allgather,
        Self::Allgatherv,
        Self::Alltoall,
        Self::Alltoallv,
        Self::Alltoallw,
        Self::Reduce,
        Self::Allreduce,
        Self::ReduceScatter,
        Self::ReduceScatterBlock,
        Self::Scan,
        Self::Exscan,
        Self::NeighborAllgather,
        Self::NeighborAllgatherv,
        Self::NeighborAlltoall,
        Self::NeighborAlltoallv,
        Self::NeighborAlltoallw,
        Self::Create,
        Self::WinCreate,
        Self::WinFree,
        Self::Fence,
    ];
}

/// A rank's part in a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Which.
    pub class: Class,
    /// The communicator.
    pub context: u32,
    /// The how manieth collective of the communicator it is.
    pub number: u64,
    /// The root, by rank of the communicator; of an intercommunicator behind the ranks of the own group.
    pub root: Option<u32>,
    /// Bytes of an element.
    pub element: u64,
    /// Whether the reduction commutes.
    pub commutative: bool,
    /// What it sends.
    pub sends: Amount,
    /// What it receives.
    pub receives: Amount,
    /// What it contributes, for the others to read.
    pub contents: Place,
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
        /// To whom.
        to: u32,
        /// What it is.
        tag: Tag,
        /// Its size.
        bytes: u64,
        /// Its contents.
        contents: Place,
        /// Whether it is done only when a receive has met it.
        synchronous: bool,
    },
    /// It has something done at another rank, whose program need not do anything for it: a request and its answer.
    Remote {
        /// At which rank.
        to: u32,
        /// Size of the request.
        bytes: u64,
        /// Size of the answer.
        answer: u64,
    },
    /// It receives a message.
    Receive {
        /// From whom; [`crate::ANY`] from anyone.
        from: u32,
        /// What it is.
        tag: Tag,
        /// How many bytes there is room for.
        room: u64,
        /// If no message is there, none is waited for.
        at_once: bool,
        /// It only finds the message: a receive of the program meets it when this operation is forgotten.
        probes: bool,
    },
    /// It takes part in a collective.
    Collective(Collective),
    /// The messages since the last call belong to one call, which is over.
    Called(Shape),
    /// It waits for operations: for all, or for the first of them.
    Wait {
        /// For all.
        all: bool,
        /// For which.
        tickets: Vec<Ticket>,
    },
    /// It asks how things stand.
    Poll(Poll),
    /// A receive is to be withdrawn if no message has met it.
    Cancel(Ticket),
    /// A send is to be withdrawn if it has not begun; the answer is whether it was.
    Withdraw(Ticket),
    /// An operation will not be spoken of again.
    Forget(Ticket),
    /// There is a communicator.
    Communicator {
        /// Its number.
        context: u32,
        /// The place of this rank in its group.
        me: u32,
        /// The own group.
        local: Members,
        /// The other one, of an intercommunicator.
        remote: Members,
        /// The neighbours in its topology, by their places in the group: sources and destinations, [`crate::ANY`] for none.
        neighbours: Option<(Members, Members)>,
    },
    /// The communicator is no longer used by this rank.
    Release(u32),
    /// It asks for a number: the same for all who say the same, another than all others in use.
    Context(Vec<u64>),
    /// It asks for the mean of what a block of the program took in all ranks, in nanoseconds, if there are enough by a rule; for
    /// `u64::MAX` otherwise.
    Sample {
        /// The block's number, the same for all ranks.
        block: u64,
        /// When there are enough.
        rule: Rule,
    },
    /// A block took so many nanoseconds.
    Sampled {
        /// The block's number.
        block: u64,
        /// How many.
        nanoseconds: u64,
    },
    /// It asks for processes ([`crate::start::Start`]s); answered with the place of a block that says what came of it
    /// ([`crate::start::read`]).
    Start(Vec<u8>),
    /// It is in a function of MPI, for messages.
    In(String),
    /// It is done, with an exit code.
    Exit(i32),
}

impl Command {
    /// A receive that waits for its message: from whom, what it is, and how many bytes there is room for.
    pub fn receive(from: u32, tag: Tag, room: u64) -> Self {
        Self::Receive { from, tag, room, at_once: false, probes: false }
    }
}

/// Turns commands into words.
#[derive(Debug, Default)]
pub struct Encoder {
    /// The words.
    pub words: Vec<u64>,
}

impl Encoder {
    fn list(&mut self, values: impl ExactSizeIterator<Item = u64>) {
        self.words.push(values.len() as u64);
        self.words.extend(values);
    }

    fn bytes(&mut self, command: u64, bytes: &[u8]) {
        self.words.extend([command, bytes.len() as u64]);
        self.list(bytes.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
            u64::from_le_bytes(word)
        }));
    }

    fn members(&mut self, members: &Members) {
        match members {
            Members::Range { first, stride, count } => {
                self.words.extend([0, u64::from(*first), u64::from(*stride), u64::from(*count)]);
            }
            Members::List(list) => {
                self.words.push(1);
                self.list(list.iter().map(|rank| u64::from(*rank)));
            }
        }
    }

    fn amount(&mut self, amount: &Amount) {
        match amount {
            Amount::Each(bytes) => self.words.extend([0, *bytes]),
            Amount::List(list) => {
                self.words.push(1);
                self.list(list.iter().copied());
            }
        }
    }

    fn collective(&mut self, part: &Collective) {
        let root = part.root.map_or(u64::MAX, u64::from);
        let (class, context) = (part.class as u64, u64::from(part.context));
        let commutative = u64::from(part.commutative);
        self.words.extend([4, class, context, part.number, root, part.element, commutative]);
        self.amount(&part.sends);
        self.amount(&part.receives);
        self.words.push(part.contents);
    }

    fn tag(&mut self, tag: Tag) {
        let any = u64::from(tag.tag.is_none()) << 32;
        self.words.extend([u64::from(tag.context), any | u64::from(tag.tag.unwrap_or(0))]);
    }

    // Long because it lists the commands.
    /// Adds a command.
    pub fn add(&mut self, command: &Command) {
        match command {
            Command::Compute(time) => self.words.extend([0, *time]),
            Command::Sleep(time) => self.words.extend([1, *time]),
            Command::Send { to, tag, bytes, contents, synchronous } => {
                let synchronous = u64::from(*synchronous);
                self.words.extend([2, u64::from(*to), *bytes, *contents, synchronous]);
                self.tag(*tag);
            }
            Command::Receive { from, tag, room, at_once, probes } => {
                let how = u64::from(*at_once) | u64::from(*probes) << 1;
                self.words.extend([3, u64::from(*from), *room, how]);
                self.tag(*tag);
            }
            Command::Collective(collective) => self.collective(collective),
            Command::Called(shape) => self.words.extend([5, *shape as u64]),
            Command::Wait { all, tickets } => {
                self.words.extend([6, u64::from(*all)]);
                self.list(tickets.iter().copied());
            }
            Command::Poll(poll) => self.words.extend([7, *poll as u64]),
            Command::Cancel(ticket) => self.words.extend([8, *ticket]),
            Command::Withdraw(ticket) => self.words.extend([19, *ticket]),
            Command::Forget(ticket) => self.words.extend([9, *ticket]),
            Command::Communicator { context, me, local, remote, neighbours } => {
                self.words.extend([10, u64::from(*context), u64::from(*me)]);
                self.members(local);
                self.members(remote);
                self.words.push(u64::from(neighbours.is_some()));
                if let Some((sources, destinations)) = neighbours {
                    self.members(sources);
                    self.members(destinations);
                }
            }
            Command::Release(context) => self.words.extend([11, u64::from(*context)]),
            Command::Context(key) => {
                self.words.push(12);
                self.list(key.iter().copied());
            }
            Command::In(name) => self.bytes(13, name.as_bytes()),
            Command::Start(what) => self.bytes(18, what),
            Command::Exit(code) => self.words.extend([14, u64::from(code.cast_unsigned())]),
            Command::Sample { block, rule } => {
                let precision = rule.precision.to_bits();
                self.words.extend([16, *block, u64::from(rule.times), precision]);
            }
            Command::Sampled { block, nanoseconds } => {
                self.words.extend([17, *block, *nanoseconds]);
            }
            Command::Remote { to, bytes, answer } => {
                self.words.extend([15, u64::from(*to), *bytes, *answer]);
            }
        }
    }
}

/// Turns words into commands.
#[derive(Debug)]
pub struct Decoder<'a> {
    words: &'a [u64],
}

impl<'a> Decoder<'a> {
    /// The commands that these words are.
    pub const fn new(words: &'a [u64]) -> Self {
        Self { words }
    }

    /// Whether all words were commands so far, and none is left. What is no command, and all behind it, stays.
    pub const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    fn word(&mut self) -> Option<u64> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*first)
    }

    fn small(&mut self) -> Option<u32> {
        self.word()?.try_into().ok()
    }

    fn list(&mut self) -> Option<&'a [u64]> {
        let length = usize::try_from(self.word()?).ok()?;
        let (list, rest) = self.words.split_at_checked(length)?;
        self.words = rest;
        Some(list)
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.word()?).ok()?;
        let mut bytes: Vec<u8> = self.list()?.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        Some(bytes)
    }

    fn members(&mut self) -> Option<Members> {
        if self.word()? == 0 {
            let (first, stride, count) = (self.small()?, self.small()?, self.small()?);
            return Some(Members::Range { first, stride, count });
        }
        let ranks = self.list()?.iter().map(|rank| u32::try_from(*rank).ok());
        Some(Members::List(ranks.collect::<Option<_>>()?))
    }

    fn amount(&mut self) -> Option<Amount> {
        Some(match self.word()? {
            0 => Amount::Each(self.word()?),
            _ => Amount::List(self.list()?.to_vec()),
        })
    }

    fn tag(&mut self) -> Option<Tag> {
        let context = self.small()?;
        let tag = self.word()?;
        Some(Tag { context, tag: (tag >> 32 == 0).then_some(tag as u32) })
    }

    fn collective(&mut self) -> Option<Command> {
        let class = *Class::ALL.get(usize::try_from(self.word()?).ok()?)?;
        Some(Command::Collective(Collective {
            class,
            context: self.small()?,
            number: self.word()?,
            root: u32::try_from(self.word()?).ok(),
            element: self.word()?,
            commutative: self.word()? != 0,
            sends: self.amount()?,
            receives: self.amount()?,
            contents: self.word()?,
        }))
    }

    fn communicator(&mut self) -> Option<Command> {
        let (context, me) = (self.small()?, self.small()?);
        let (local, remote) = (self.members()?, self.members()?);
        let neighbours =
            if self.word()? == 0 { None } else { Some((self.members()?, self.members()?)) };
        Some(Command::Communicator { context, me, local, remote, neighbours })
    }
}

impl Iterator for Decoder<'_> {
    type Item = Command;

    /// The next command; `None` at the end, or if the words are none: then they stay.
    fn next(&mut self) -> Option<Command> {
        let words = self.words;
        let command = self.command();
        if command.is_none() {
            self.words = words;
        }
        command
    }
}

impl Decoder<'_> {
    // Long because it lists the commands.
    fn command(&mut self) -> Option<Command> {
        Some(match self.word()? {
            0 => Command::Compute(self.word()?),
            1 => Command::Sleep(self.word()?),
            2 => {
                let (to, bytes, contents) = (self.small()?, self.word()?, self.word()?);
                let synchronous = self.word()? != 0;
                Command::Send { to, tag: self.tag()?, bytes, contents, synchronous }
            }
            3 => {
                let (from, room, how) = (self.small()?, self.word()?, self.word()?);
                let (at_once, probes) = (how & 1 != 0, how & 2 != 0);
                Command::Receive { from, tag: self.tag()?, room, at_once, probes }
            }
            4 => self.collective()?,
            5 => match self.word()? {
                0 => Command::Called(Shape::Blocking),
                _ => Command::Called(Shape::Posted),
            },
            6 => Command::Wait { all: self.word()? != 0, tickets: self.list()?.to_vec() },
            7 => Command::Poll(match self.word()? {
                0 => Poll::Test,
                1 => Poll::Probe,
                2 => Poll::Time,
                _ => Poll::Nothing,
            }),
            8 => Command::Cancel(self.word()?),
            19 => Command::Withdraw(self.word()?),
            9 => Command::Forget(self.word()?),
            10 => self.communicator()?,
            11 => Command::Release(self.small()?),
            12 => Command::Context(self.list()?.to_vec()),
            13 => Command::In(String::from_utf8_lossy(&self.bytes()?).into_owned()),
            14 => Command::Exit((self.word()? as u32).cast_signed()),
            15 => Command::Remote { to: self.small()?, bytes: self.word()?, answer: self.word()? },
            16 => {
                let (block, times) = (self.word()?, self.small()?);
                let precision = f64::from_bits(self.word()?);
                Command::Sample { block, rule: Rule { times, precision } }
            }
            17 => Command::Sampled { block: self.word()?, nanoseconds: self.word()? },
            18 => Command::Start(self.bytes()?),
            _ => return None,
        })
    }
}
