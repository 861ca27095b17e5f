//! The client: a rank's side of its channel to the simulator.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::arena::{self, Arena, Full};
use crate::channel::{Channel, Completion, MpiUse, RANKS_TURN, Reply};
use crate::command::{Command, Poll, Shape, Taken};
use crate::places::{Locate, Places};
use crate::start::{Start, Started};
use crate::words::Encoder;
use crate::{Memory, Numbered, Offset, Rule, Ticket};

/// The way in which a rank waits for its turn. A process sleeps on a futex; a coroutine switches to
/// the simulator's stack; a program without a simulator simulates itself. [`Client`] calls it after
/// it has written its commands.
pub trait Suspend: std::fmt::Debug {
    /// Gives the turn to the simulator and returns when it is the rank's again. Fails if the
    /// simulator has ended.
    fn suspend(&self, channel: &Channel) -> Result<(), SimulatorGone>;

    /// Returns the address in this process, while the caller runs, of a byte of another rank, given
    /// that the two share the process. An implementation without such ranks returns the address
    /// itself.
    fn address_of(&self, _rank: u32, address: usize) -> usize {
        address
    }

    /// Has the rank go on, from here, on an operating system's thread of its own, so that others of
    /// the rank may wait beside it; returns whether it does. An implementation whose ranks have
    /// theirs, or have no others, does nothing.
    fn move_to_own_thread(&self) -> bool {
        false
    }
}

/// The error of a rank whose simulator has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the simulator is gone")]
pub struct SimulatorGone;

/// Number of calls that a rank makes before it lets the others go on.
const AHEAD: u32 = 512;
/// Number of bytes that it sends before it does so.
const AHEAD_BYTES: u64 = 64 << 20;

/// The buffers with which ranks write. Ranks of one process, of which one runs at a time, share
/// them.
#[derive(Clone, Debug)]
pub struct Writer {
    memory: Memory,
    arena: Rc<RefCell<Arena>>,
    encoder: Rc<RefCell<Encoder>>,
}

impl Writer {
    /// Makes the buffers of a rank, or of all ranks of a process.
    pub fn new(memory: Memory, rank: u32) -> Self {
        let arena = Rc::new(RefCell::new(Arena::new(memory, rank)));
        Self { memory, arena, encoder: Rc::default() }
    }
}

/// The client of the simulator in a rank. It belongs to one thread at a time.
#[derive(Debug)]
pub struct Client {
    rank: u32,
    ranks: u32,
    writer: Writer,
    /// By ticket, the ends of operations.
    done: RefCell<Numbered<Option<Completion>>>,
    /// The time of the last reply, which any thread may read.
    now: AtomicU64,
    ahead: Cell<(u32, u64)>,
    suspend: Box<dyn Suspend>,
    /// The function of MPI that the rank is in, and the last one that the simulator was told.
    inside: Cell<[&'static str; 2]>,
    /// Finds out where in the program the rank is.
    locate: Cell<Option<&'static dyn Locate>>,
    /// The places that the simulator was told.
    places: RefCell<Places>,
    /// True if it has said goodbye.
    left: Cell<bool>,
    /// Called when the simulator wants the rank to end.
    end: fn(i32) -> !,
}

impl Client {
    /// Makes the client of a rank. `end` is called when the simulator wants the rank to end, with
    /// an exit code.
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
            now: AtomicU64::new(0),
            ahead: Cell::new((0, 0)),
            suspend,
            inside: Cell::default(),
            locate: Cell::default(),
            places: RefCell::default(),
            left: Cell::new(false),
            end,
        }
    }

    /// Returns the number of the rank.
    pub const fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the number of ranks that the program began with.
    pub const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Returns the memory that all ranks share.
    pub const fn memory(&self) -> &Memory {
        &self.writer.memory
    }

    /// Returns the address of a byte of another rank, if the two share the process
    /// ([`Suspend::address_of`]).
    pub fn address_of(&self, rank: u32, address: usize) -> usize {
        self.suspend.address_of(rank, address)
    }

    /// Gives the rank a thread of its own if it has none and needs one; returns whether it has done
    /// so ([`Suspend::move_to_own_thread`]).
    pub fn move_to_own_thread(&self) -> bool {
        self.suspend.move_to_own_thread()
    }

    /// Allocates a block for contents.
    pub fn allocate(&self, bytes: u64) -> Result<Offset, Full> {
        self.writer.arena.borrow_mut().allocate(bytes)
    }

    /// Allocates a block of zeros.
    pub fn allocate_zeroed(&self, bytes: u64) -> Result<Offset, Full> {
        self.writer.arena.borrow_mut().allocate_zeroed(bytes)
    }

    /// Gives back a block that any rank has allocated.
    pub fn give_back(&self, place: Offset) {
        self.writer.arena.borrow_mut().give_back(place);
    }

    /// Notes the function of MPI that the rank is in; the simulator is told when the rank waits
    /// there, or at once if it wants to know each call.
    pub fn enter(&self, name: &'static str) {
        let [_, known] = self.inside.get();
        self.inside.set([name, known]);
        self.tell_call(name);
    }

    /// Tells the simulator, if it wants to know each call, what the rank is in: a function, and the
    /// place that it is called from, or with an empty name none of MPI.
    pub fn tell_call(&self, name: &'static str) {
        if self.memory().tells_calls() {
            self.inside.set([name, name]);
            if !name.is_empty() {
                self.tell_place();
            }
            self.say(&Command::In(name.to_owned()));
        }
    }

    fn tell_place(&self) {
        let Some(locate) = self.locate.get() else { return };
        if let Some(place) = self.places.borrow_mut().tell(locate) {
            self.say(&place);
        }
    }

    /// Sets what finds out where in the program the rank is.
    pub fn locate_by(&self, locate: &'static dyn Locate) {
        self.locate.set(Some(locate));
    }

    /// Writes a command. It is inlined, so that a command that is known at compile time is never
    /// built in memory: the processor stalls where words that were written in small parts are read
    /// at once in larger ones.
    #[inline(always)]
    pub fn say(&self, command: &Command) {
        self.writer.encoder.borrow_mut().add(command);
    }

    /// Starts an operation: a send, a receive, a remote access or a collective.
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

    /// Ends a call. The other ranks may go on before this returns.
    pub fn called(&self, shape: Shape) {
        self.say(&Command::Called(shape));
        let (calls, bytes) = self.ahead.get();
        self.ahead.set((calls + 1, bytes));
        if calls >= AHEAD || bytes >= AHEAD_BYTES {
            self.poll(Poll::Nothing);
        }
    }

    /// Waits for operations: for all of them, or for the first.
    pub fn wait(&self, all: bool, tickets: &[Ticket]) {
        self.turn(Command::Wait { all, tickets: tickets.to_vec() });
    }

    /// Waits for all of some operations. `woken` is called first when this rank has its turn again:
    /// other ranks have run since, so that this is the time to prefetch what the rank will look at.
    pub fn wait_for_all(&self, tickets: &[Ticket], woken: &dyn Fn()) {
        self.turn_after(Command::Wait { all: true, tickets: tickets.to_vec() }, woken);
    }

    /// Tests whether operations are done, and takes in the messages that cost time to take in.
    pub fn test(&self, taken: Taken, tickets: &[Ticket]) {
        self.turn(Command::Test { taken, tickets: tickets.to_vec() });
    }

    /// Polls the simulator; returns the simulated time.
    pub fn poll(&self, what: Poll) -> u64 {
        self.turn(Command::Poll(what));
        self.time()
    }

    /// Polls the simulator; calls `woken` when this rank has its turn again, as
    /// [`Client::wait_for_all`] does.
    pub fn poll_after(&self, woken: &dyn Fn()) {
        self.turn_after(Command::Poll(Poll::Nothing), woken);
    }

    /// Returns the time at which what was computed will have passed if nothing comes between, in
    /// picoseconds. No simulated time passes.
    pub fn computed(&self) -> u64 {
        self.turn(Command::Computed).max(self.time())
    }

    /// To be called before the rank looks at or changes what ranks share. If several ranks compute
    /// at once, they then do so in the order in which they would run one at a time. No simulated
    /// time passes.
    pub fn order(&self) {
        if self.memory().computes_at_once() {
            self.turn(Command::Order);
        }
    }

    /// Withdraws a send that has not begun; returns whether it had not. No simulated time passes.
    pub fn withdraw(&self, ticket: Ticket) -> bool {
        self.turn(Command::Withdraw(ticket)) != 0
    }

    /// Returns whether, of two messages of one sender that were found, the first was sent before
    /// the second. No simulated time passes.
    pub fn precedes(&self, one: Ticket, other: Ticket) -> bool {
        self.turn(Command::Precedes(one, other)) != 0
    }

    /// Has processes started; returns their ranks, or why there are none. No simulated time passes.
    pub fn start_processes(&self, what: &[Start]) -> Started {
        let place = self.turn(Command::Start(Start::encode(what)));
        if place == 0 {
            return Err("there is no memory for an answer".to_owned());
        }
        let started = crate::start::read(self.memory(), place);
        self.give_back(place);
        started
    }

    /// Reads the simulator's first words: the time, and the offset of the message that made this
    /// rank, if one did.
    pub fn begin(&self) -> Offset {
        let mut words = Vec::new();
        if let Some(channel) = self.writer.memory.channel(self.rank) {
            channel.read(RANKS_TURN, &mut words);
        }
        let reply = Reply::decode(&words, |_| ());
        self.now.store(reply.now, Ordering::Relaxed);
        reply.value
    }

    /// Returns the mean duration of a block of the program over all ranks, in nanoseconds, if there
    /// are enough by a rule. No simulated time passes.
    pub fn sample(&self, block: u64, rule: Rule) -> Option<u64> {
        Some(self.turn(Command::Sample { block, rule })).filter(|mean| *mean != u64::MAX)
    }

    /// Returns the completion of an operation, if it is done by now. It stays known until it is
    /// forgotten.
    #[inline]
    pub fn done(&self, ticket: Ticket) -> Option<Completion> {
        let done = self.done.borrow();
        let done = done.get(ticket)?.as_ref()?;
        (done.time <= self.time()).then_some(*done)
    }

    /// Returns whether an operation is done by now, and not forgotten.
    #[inline]
    pub fn is_done(&self, ticket: Ticket) -> bool {
        let done = self.done.borrow();
        let done = done.get(ticket).and_then(Option::as_ref);
        done.is_some_and(|done| done.time <= self.time())
    }

    /// Returns whether an operation is under way: neither done nor forgotten.
    pub fn is_open(&self, ticket: Ticket) -> bool {
        let done = self.done.borrow();
        done.get(ticket).is_some_and(|done| done.is_none_or(|done| done.time > self.time()))
    }

    /// Returns whether an operation is known: it was started and not forgotten.
    pub fn knows(&self, ticket: Ticket) -> bool {
        self.done.borrow().get(ticket).is_some()
    }

    /// Forgets an operation: it will not be asked for again.
    pub fn forget(&self, ticket: Ticket) {
        self.done.borrow_mut().drop(ticket);
        self.say(&Command::Forget(ticket));
    }

    /// Returns the time of the last reply, in picoseconds.
    pub fn time(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Tells the simulator that the rank is done.
    pub fn exit(&self) {
        self.leave(Command::Exit);
    }

    /// Returns whether the rank has told that it is done.
    pub fn has_left(&self) -> bool {
        self.left.get()
    }

    /// Notes the use that the rank makes of MPI, in case it ends without telling.
    pub fn note(&self, usage: MpiUse) {
        if let Some(channel) = self.memory().channel(self.rank()) {
            channel.note(usage);
        }
    }

    /// Ends all ranks, with an exit code.
    pub fn abort(&self, code: i32) {
        self.leave(Command::Abort(code));
    }

    fn leave(&self, goodbye: Command) {
        self.turn(goodbye);
        self.left.set(true);
    }

    /// Gives the simulator the commands that were written and, behind them, the last one, and waits
    /// for the answer; returns the number in it.
    fn turn(&self, want: Command) -> u64 {
        self.turn_after(want, &|| ())
    }

    /// Does the same as [`Client::turn`], and calls `woken` before it looks at the answer.
    fn turn_after(&self, want: Command, woken: &dyn Fn()) -> u64 {
        let [name, known] = self.inside.get();
        if name != known {
            self.inside.set([name, name]);
            self.say(&Command::In(name.to_owned()));
        }
        self.say(&want);
        // Its memory is freed, as thousands of ranks may wait at a time.
        drop(want);
        if self.left.get() {
            return 0;
        }
        self.ahead.set((0, 0));
        // The completion of a forgotten operation is dropped.
        let done = |done: Completion| {
            if done.contents != 0 {
                arena::prefetch(self.memory(), done.contents);
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
            let place = self.locate.get().and_then(|locate| locate.place(locate.caller()));
            let place = place.map_or_else(String::new, |place| format!(" {place}"));
            self.say(&Command::In(format!("{name}{place}")));
        };
        self.now.store(reply.now, Ordering::Relaxed);
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
        // The next rank that writes may use the buffer: it does so only after this one has given
        // its turn up.
        self.writer.encoder.borrow_mut().reuse(words);
        self.suspend.suspend(channel)?;
        woken();
        let mut reply = self.writer.encoder.borrow_mut().take();
        // Commands that a rank wrote after its goodbye are dropped.
        reply.clear();
        while channel.read(RANKS_TURN, &mut reply) {
            self.suspend.suspend(channel)?;
        }
        Ok(reply)
    }
}
