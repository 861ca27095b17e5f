//! A rank's end of the boundary.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::arena::{self, Arena, Full};
use crate::channel::{Channel, Completion, MpiUse, RANKS_TURN, Reply};
use crate::command::{Command, Poll, Shape, Taken};
use crate::start::{Start, Started};
use crate::words::Encoder;
use crate::{Memory, Numbered, Offset, Rule, Ticket};

/// How a rank gives the simulator its turn, and gets it back.
pub trait Suspend: std::fmt::Debug {
    /// Returns when it is the rank's turn again.
    fn suspend(&self, channel: &Channel) -> Result<(), SimulatorGone>;

    /// Where in this process a byte of a rank's lies while the caller runs, if that rank shares the
    /// process.
    fn address_of(&self, _rank: u32, address: usize) -> usize {
        address
    }
}

/// The simulator is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the simulator is gone")]
pub struct SimulatorGone;

/// Calls that a rank makes before it lets the others go on.
const AHEAD: u32 = 512;
/// Bytes that it sends before it does.
const AHEAD_BYTES: u64 = 64 << 20;

/// What ranks write with. Those of one process, of which one runs at a time, share it.
#[derive(Clone, Debug)]
pub struct Writer {
    memory: Memory,
    arena: Rc<RefCell<Arena>>,
    encoder: Rc<RefCell<Encoder>>,
}

impl Writer {
    /// That of a rank, or of all.
    pub fn new(memory: Memory, rank: u32) -> Self {
        let arena = Rc::new(RefCell::new(Arena::new(memory, rank)));
        Self { memory, arena, encoder: Rc::default() }
    }
}

/// A rank's end. It belongs to one thread at a time.
#[derive(Debug)]
pub struct Client {
    rank: u32,
    ranks: u32,
    writer: Writer,
    /// By ticket, what has become of operations.
    done: RefCell<Numbered<Option<Completion>>>,
    now: Cell<u64>,
    ahead: Cell<(u32, u64)>,
    suspend: Box<dyn Suspend>,
    /// The function of MPI that it is in, and that which the simulator knows of.
    inside: Cell<[&'static str; 2]>,
    /// Finds out where in the program it is.
    locate: Cell<fn() -> Option<String>>,
    /// It has said goodbye.
    left: Cell<bool>,
    /// What is called if the rank is to end.
    end: fn(i32) -> !,
}

impl Client {
    /// The end of a rank. `end` is called when the simulator wants it to end, with an exit code.
    pub fn new(
        writer: Writer,
        rank: u32,
        ranks: u32,
        suspend: Box<dyn Suspend>,
        end: fn(i32) -> !,
    ) -> Self {
        Self {
            rank,
            ranks,
            writer,
            done: RefCell::default(),
            now: Cell::new(0),
            ahead: Cell::new((0, 0)),
            suspend,
            inside: Cell::default(),
            locate: Cell::new(|| None),
            left: Cell::new(false),
            end,
        }
    }

    /// Its number.
    pub const fn rank(&self) -> u32 {
        self.rank
    }

    /// How many the program began with.
    pub const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The memory that all share.
    pub const fn memory(&self) -> &Memory {
        &self.writer.memory
    }

    /// Where in this process a byte of another rank's lies while this one runs, if the two share
    /// the process.
    pub fn address_of(&self, rank: u32, address: usize) -> usize {
        self.suspend.address_of(rank, address)
    }

    /// A block for contents.
    pub fn allocate(&self, bytes: u64) -> Result<Offset, Full> {
        self.writer.arena.borrow_mut().allocate(bytes)
    }

    /// A block of zeros.
    pub fn allocate_zeroed(&self, bytes: u64) -> Result<Offset, Full> {
        self.writer.arena.borrow_mut().allocate_zeroed(bytes)
    }

    /// Gives back a block that somebody has allocated.
    pub fn give_back(&self, place: Offset) {
        self.writer.arena.borrow_mut().give_back(place);
    }

    /// The rank is in a function of MPI: said when it waits there.
    pub fn enter(&self, name: &'static str) {
        let [_, known] = self.inside.get();
        self.inside.set([name, known]);
    }

    /// How it is found out where in the program the rank is: what to add to the name of the
    /// function of MPI.
    pub fn locate_by(&self, locate: fn() -> Option<String>) {
        self.locate.set(locate);
    }

    /// Says something. Inlined, so that of a command that is known no value is made in memory:
    /// where what was written in small parts is read at once in larger ones, the processor waits
    /// until all that was written before has left it.
    #[inline(always)]
    pub fn say(&self, command: &Command) {
        self.writer.encoder.borrow_mut().add(command);
    }

    /// Starts an operation: a send, a receive, something remote or a collective.
    #[inline(always)]
    pub fn start(&self, command: &Command) -> Ticket {
        let bytes = match command {
            Command::Send { bytes, .. } => *bytes,
            _ => 0,
        };
        let (calls, ahead) = self.ahead.get();
        self.ahead.set((calls, ahead.saturating_add(bytes)));
        self.say(command);
        self.done.borrow_mut().push(None)
    }

    /// A call is over; it may be that the others go on before this returns.
    pub fn called(&self, shape: Shape) {
        self.say(&Command::Called(shape));
        let (calls, bytes) = self.ahead.get();
        self.ahead.set((calls + 1, bytes));
        if calls >= AHEAD || bytes >= AHEAD_BYTES {
            self.poll(Poll::Nothing);
        }
    }

    /// Waits for operations to be done: for all, or for the first.
    pub fn wait(&self, all: bool, tickets: &[Ticket]) {
        self.turn(Command::Wait { all, tickets: tickets.to_vec() });
    }

    /// Waits for all of some operations. When this rank has its turn again, `woken` is called
    /// first: others have run since, so that what the rank will look at is best asked for then.
    pub fn wait_for_all(&self, tickets: &[Ticket], woken: &dyn Fn()) {
        self.turn_after(Command::Wait { all: true, tickets: tickets.to_vec() }, woken);
    }

    /// Looks whether operations are done, and takes in what costs time to take in.
    pub fn test(&self, taken: Taken, tickets: &[Ticket]) {
        self.turn(Command::Test { taken, tickets: tickets.to_vec() });
    }

    /// Finds out how things stand.
    pub fn poll(&self, what: Poll) -> u64 {
        self.turn(Command::Poll(what));
        self.now.get()
    }

    /// Finds out how things stand; calls `woken` when this rank has its turn again, as
    /// [`Client::wait_for_all`] does.
    pub fn poll_after(&self, woken: &dyn Fn()) {
        self.turn_after(Command::Poll(Poll::Nothing), woken);
    }

    /// The time when what was computed will have passed, if nothing comes between, in picoseconds.
    /// No time passes.
    pub fn computed(&self) -> u64 {
        self.turn(Command::Computed).max(self.now.get())
    }

    /// A number: the same for all who ask with the same key, now or later. No time passes.
    pub fn context(&self, key: &[u64]) -> u32 {
        self.turn(Command::Context(key.to_vec())) as u32
    }

    /// To be called before the rank looks at or changes what ranks share: if several compute at
    /// once, they do so in the order in which they would run one at a time. No time passes.
    pub fn order(&self) {
        if self.memory().computes_at_once() {
            self.turn(Command::Order);
        }
    }

    /// Withdraws a send that has not begun; tells whether that was so. No time passes.
    pub fn withdraw(&self, ticket: Ticket) -> bool {
        self.turn(Command::Withdraw(ticket)) != 0
    }

    /// Of two messages of one sender that were found: whether the first was sent before the second.
    /// No time passes.
    pub fn precedes(&self, one: Ticket, other: Ticket) -> bool {
        self.turn(Command::Precedes(one, other)) != 0
    }

    /// Has processes started; gives the ranks that they are, or why there are none. No time passes.
    pub fn start_processes(&self, what: &[Start]) -> Started {
        let place = self.turn(Command::Start(Start::encode(what)));
        if place == 0 {
            return Err("there is no memory for an answer".to_owned());
        }
        let started = crate::start::read(self.memory(), place);
        self.give_back(place);
        started
    }

    /// Hears, in its first turn, what time it is, and where the message is that made this rank, if
    /// one did.
    pub fn begin(&self) -> Offset {
        let mut words = Vec::new();
        if let Some(channel) = self.writer.memory.channel(self.rank) {
            channel.read(RANKS_TURN, &mut words);
        }
        let reply = Reply::decode(&words, |_| ());
        self.now.set(reply.now);
        reply.value
    }

    /// What a block of the program took on average in all ranks, in nanoseconds, if there are
    /// enough of them. No time passes.
    pub fn sample(&self, block: u64, rule: Rule) -> Option<u64> {
        Some(self.turn(Command::Sample { block, rule })).filter(|mean| *mean != u64::MAX)
    }

    /// What has become of an operation, if it is done by now. It stays known until it is forgotten.
    #[inline]
    pub fn done(&self, ticket: Ticket) -> Option<Completion> {
        let done = self.done.borrow();
        let done = done.get(ticket)?.as_ref()?;
        (done.time <= self.now.get()).then_some(*done)
    }

    /// Whether an operation is done by now, and not forgotten.
    #[inline]
    pub fn is_done(&self, ticket: Ticket) -> bool {
        let done = self.done.borrow();
        let done = done.get(ticket).and_then(Option::as_ref);
        done.is_some_and(|done| done.time <= self.now.get())
    }

    /// Whether an operation is under way: it is neither done nor forgotten.
    pub fn is_open(&self, ticket: Ticket) -> bool {
        let done = self.done.borrow();
        done.get(ticket).is_some_and(|done| done.is_none_or(|done| done.time > self.now.get()))
    }

    /// Whether an operation was not forgotten.
    pub fn knows(&self, ticket: Ticket) -> bool {
        self.done.borrow().get(ticket).is_some()
    }

    /// An operation will not be asked for again.
    pub fn forget(&self, ticket: Ticket) {
        self.done.borrow_mut().drop(ticket);
        self.say(&Command::Forget(ticket));
    }

    /// The time of the last reply, in picoseconds.
    pub fn time(&self) -> u64 {
        self.now.get()
    }

    /// The rank is done.
    pub fn exit(&self) {
        self.leave(Command::Exit);
    }

    /// Whether it was said that the rank is done.
    pub fn has_left(&self) -> bool {
        self.left.get()
    }

    /// Notes whether the rank uses MPI, for the case that it ends without a word.
    pub fn note(&self, usage: MpiUse) {
        if let Some(channel) = self.memory().channel(self.rank()) {
            channel.note(usage);
        }
    }

    /// The rank ends all, with an exit code.
    pub fn abort(&self, code: i32) {
        self.leave(Command::Abort(code));
    }

    fn leave(&self, goodbye: Command) {
        self.turn(goodbye);
        self.left.set(true);
    }

    /// Gives the simulator what was said and, behind it, what the rank wants, and waits for its
    /// answer; gives the number in it.
    fn turn(&self, want: Command) -> u64 {
        self.turn_after(want, &|| ())
    }

    /// The same; calls a function before it looks at the answer.
    fn turn_after(&self, want: Command, woken: &dyn Fn()) -> u64 {
        let [name, known] = self.inside.get();
        if name != known {
            self.inside.set([name, name]);
            self.say(&Command::In(name.to_owned()));
        }
        self.say(&want);
        // Thousands of ranks may wait at a time.
        drop(want);
        if self.left.get() {
            return 0;
        }
        self.ahead.set((0, 0));
        // Of what was forgotten, nobody wants to know.
        let done = |done: Completion| {
            if done.contents != 0 {
                arena::soon(self.memory(), done.contents);
            }
            if let Some(known) = self.done.borrow_mut().get_mut(done.ticket) {
                *known = Some(done);
            }
        };
        let reply = loop {
            let words = match self.exchange(woken) {
                Ok(words) => words,
                Err(SimulatorGone) => (self.end)(1),
            };
            let reply = Reply::decode(&words, done);
            self.writer.encoder.borrow_mut().reuse(words);
            if !reply.asks_place {
                break reply;
            }
            let place = (self.locate.get())().unwrap_or_default();
            self.say(&Command::In(format!("{name}{place}")));
        };
        self.now.set(reply.now);
        if let Some(code) = reply.end {
            (self.end)(code);
        }
        reply.value
    }

    fn exchange(&self, woken: &dyn Fn()) -> Result<Vec<u64>, SimulatorGone> {
        let channel = self.writer.memory.channel(self.rank).ok_or(SimulatorGone)?;
        let words = self.writer.encoder.borrow_mut().take();
        let mut rest = channel.write(RANKS_TURN, &words);
        while !rest.is_empty() {
            self.suspend.suspend(channel)?;
            rest = channel.write(RANKS_TURN, rest);
        }
        // The next rank that writes may have them: it comes when this one has given its turn up.
        self.writer.encoder.borrow_mut().reuse(words);
        self.suspend.suspend(channel)?;
        woken();
        let mut reply = self.writer.encoder.borrow_mut().take();
        // What a rank has said after it said goodbye is of no use.
        reply.clear();
        while channel.read(RANKS_TURN, &mut reply) {
            self.suspend.suspend(channel)?;
        }
        Ok(reply)
    }
}
