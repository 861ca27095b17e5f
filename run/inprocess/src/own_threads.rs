//! Ranks with threads of the operating system.
//!
//! Ranks share the thread of the simulator ([`ranks`](crate::ranks)). One that asks for threads
//! that call MPI (`MPI_THREAD_SERIALIZED`, `MPI_THREAD_MULTIPLE`) moves to a thread of its own,
//! unless its program cannot start any: its stack goes on there. Then the simulator's thread waits
//! while the rank has its turn, and the thread of the rank that gave the turn away, which may be
//! any of them, waits until the rank has it again. So one rank runs at a time as before, and its
//! other threads are stopped while another one does ([`stops`]).
//!
//! What moves is said in [`Carried`]. Not modelled: a variable of the thread whose address the
//! program has kept from before the move.

use std::cell::Cell;
use std::ffi::{c_int, c_long, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Builder;

use corosensei::CoroutineResult;
use heddle_mpi::simulator::read;
use heddle_mpi::state::Mpi;
use heddle_mpi::thread_members::{Member, Members};
use heddle_mpi::threads::{Threads, on_the_wall};
use rustix::time::ClockId;

use crate::image::Image;
use crate::ranks::Ran;
use crate::stacks::Stacks;
use crate::{cores, floats, keys, random, signals, stacks, stops};

/// Whose turn it is.
const SIMULATORS: u32 = 0;
const RANKS: u32 = 1;

/// Bytes of the stack on which a thread resumes its rank, which has its own.
const STACK: usize = 256 << 10;

/// A rank, as its threads know it.
#[derive(Debug)]
pub struct Own {
    /// Its number.
    pub rank: usize,
    /// Its threads, as the library knows of them.
    pub threads: &'static Threads,
    /// Its program may start threads.
    pub may_start_threads: bool,
    /// It is to move, or has moved.
    wants: AtomicBool,
    has_moved: AtomicBool,
    turn: AtomicU32,
    /// The code with which it has ended.
    code: Mutex<Option<c_int>>,
    /// The state of its threads that are stopped ([`stops`]).
    pub stopped: AtomicU32,
    /// Threads that were stopped while they slept.
    pub sleepers: Mutex<Vec<Arc<Member>>>,
    /// The locks of critical sections without a name, and of atomic operations.
    pub criticals: [AtomicPtr<c_void>; 2],
}

thread_local! {
    /// The rank that this thread is of.
    static OF: Cell<Option<&'static Own>> = const { Cell::new(None) };
    /// The rank's state of this thread.
    static MEMBER: Cell<*const Member> = const { Cell::new(ptr::null()) };
    /// True if this is the thread that the rank moved to.
    static IS_FIRST: Cell<bool> = const { Cell::new(false) };
}

static ALL: OnceLock<Vec<&'static Own>> = OnceLock::new();

/// The threads' knowledge of each rank, of which these are the states, of a program that may start
/// threads.
pub fn of_ranks(states: &[&'static Mpi], may_start_threads: bool) -> &'static [&'static Own] {
    let rank = |(rank, state): (usize, &&'static Mpi)| {
        let own: &'static Own = Box::leak(Box::new(Own {
            rank,
            threads: &state.unguarded.threads,
            may_start_threads,
            wants: AtomicBool::new(false),
            has_moved: AtomicBool::new(false),
            turn: AtomicU32::new(SIMULATORS),
            code: Mutex::new(None),
            stopped: AtomicU32::new(0),
            sleepers: Mutex::new(Vec::new()),
            criticals: [const { AtomicPtr::new(ptr::null_mut()) }; 2],
        }));
        own
    };
    ALL.get_or_init(|| states.iter().enumerate().map(rank).collect())
}

/// The threads' knowledge of a rank.
pub fn of_rank(rank: usize) -> Option<&'static Own> {
    ALL.get()?.get(rank).copied()
}

/// The rank that the calling thread is of, whether it has moved or not; none on the thread of the
/// simulator.
pub fn known() -> Option<&'static Own> {
    OF.get()
}

/// The rank that the calling thread is of, if it has moved.
pub fn current() -> Option<&'static Own> {
    OF.get().filter(|own| own.has_moved())
}

/// True if this is the thread that a rank moved to.
pub fn is_first() -> bool {
    IS_FIRST.get()
}

/// The calling thread as one of its rank, for as long as it lives.
pub fn member() -> Option<&'static Member> {
    // SAFETY: null, or one that the rank keeps until the thread has ended.
    unsafe { MEMBER.get().as_ref() }
}

/// Makes the calling thread one of a rank's.
pub fn join(own: &'static Own) {
    OF.set(Some(own));
    MEMBER.set(Arc::as_ptr(&own.members().join()));
}

/// A futex, which may be used in a handler of signals.
fn futex(word: &AtomicU32, operation: c_int, value: u32) {
    let nothing: *const libc::timespec = ptr::null();
    let operation = c_long::from(operation | libc::FUTEX_PRIVATE_FLAG);
    // SAFETY: a word of this process, and no time.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, nothing) };
}

/// Waits as long as a word has a value.
pub fn wait_while(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Acquire) == value {
        futex(word, libc::FUTEX_WAIT, value);
    }
}

/// Changes a word, and wakes those who wait for that.
pub fn change(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Release);
    futex(word, libc::FUTEX_WAKE, i32::MAX.cast_unsigned());
}

impl Own {
    /// The rank's threads.
    pub fn members(&self) -> &'static Members {
        self.threads.members()
    }

    /// True if the rank has a thread of its own.
    pub fn has_moved(&self) -> bool {
        self.has_moved.load(Ordering::Acquire)
    }

    /// The rank is about to give its turn away in order to move.
    pub fn want_to_move(&self) {
        self.wants.store(true, Ordering::Relaxed);
    }

    /// True, once, if the rank has given its turn away in order to move.
    pub fn wants_to_move(&self) -> bool {
        self.wants.swap(false, Ordering::Relaxed)
    }

    /// The rank has its turn, until it gives it away: gives the code if it has ended.
    pub fn run(&self) -> Option<c_int> {
        change(&self.turn, RANKS);
        wait_while(&self.turn, RANKS);
        self.code.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// A thread of the rank gives the turn away and returns when the rank has it again.
    pub fn wait_for_turn(&'static self) {
        on_the_wall(|| stops::stop_others(self));
        let before = read(ClockId::ProcessCPUTime);
        change(&self.turn, SIMULATORS);
        wait_while(&self.turn, SIMULATORS);
        let passed = read(ClockId::ProcessCPUTime).saturating_sub(before);
        self.threads.leave_out(passed);
        on_the_wall(|| stops::let_go(self));
    }

    /// A thread of the rank ends it: none of its threads does anything more.
    pub fn end(&'static self, code: c_int) -> ! {
        self.threads.take_for_good();
        on_the_wall(|| stops::stop_others(self));
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = Some(code);
        change(&self.turn, SIMULATORS);
        let never = AtomicU32::new(0);
        loop {
            wait_while(&never, 0);
        }
    }

    /// Moves the rank, which has given its turn away for that, to a thread of its own, and returns
    /// when it has given its turn away there: with the code if it has ended.
    pub fn begin(&'static self, coroutine: Ran, carried: Carried) -> Option<c_int> {
        let stack = STACK + carried.locals.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        let moving = Moving { own: self, coroutine, carried };
        self.turn.store(RANKS, Ordering::Release);
        if let Err(error) = Builder::new().stack_size(stack).spawn(move || moving.resume()) {
            eprintln!("error: rank {} gets no thread of its own: {error}", self.rank);
            std::process::abort();
        }
        wait_while(&self.turn, RANKS);
        self.code.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// State of the thread that a rank takes along when it moves.
pub struct Carried {
    /// The thread-local variables of the program, by the loader's number of its object.
    locals: Vec<(usize, Vec<u8>)>,
    /// The state of exceptions of C++.
    exceptions: Option<[u8; 16]>,
    /// Values of the rank's keys.
    keys: Vec<(u32, usize)>,
    floats: floats::Environment,
    /// The cores that it has asked for.
    cores: Box<[u8]>,
    stacks: Option<Stacks>,
}

impl Carried {
    /// The state of this thread, on which the rank runs.
    pub fn of(rank: usize, image: &Image, floats: floats::Environment) -> Self {
        random::share(rank);
        Self {
            locals: image.thread_locals(),
            exceptions: Image::exceptions(),
            keys: keys::values(rank),
            floats,
            cores: cores::asked(rank),
            stacks: stacks::known(),
        }
    }
}

struct Moving {
    own: &'static Own,
    coroutine: Ran,
    carried: Carried,
}

// SAFETY: the thread that made it waits until this one has given the turn back, and uses none of it
// any more.
unsafe impl Send for Moving {}

impl Moving {
    /// The first of the rank's thread.
    fn resume(self) {
        let Self { own, mut coroutine, carried } = self;
        Image::set_thread_locals(&carried.locals, carried.exceptions);
        keys::set(&carried.keys);
        cores::note(own.rank, carried.cores);
        stacks::know(carried.stacks);
        signals::stand_apart();
        stops::watch();
        join(own);
        IS_FIRST.set(true);
        own.has_moved.store(true, Ordering::Release);
        carried.floats.set();
        // It does not give its turn away by this way any more.
        let code = match coroutine.resume(()) {
            CoroutineResult::Return(code) => code,
            CoroutineResult::Yield(()) => 1,
        };
        own.end(code)
    }
}
