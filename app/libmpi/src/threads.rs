//! Several threads of a rank in MPI at once (MPI 4.1, section 11.6).
//!
//! One lock is around every call; nobody takes it in a program that asks for less than
//! `MPI_THREAD_MULTIPLE`. A thread that waits gives it up, and the rank waits in the simulator only
//! when none of its threads can do anything else: all that are outside of MPI sleep until another
//! thread wakes them, as the kernel tells of them. It waits then for the first of all that its
//! threads wait for. As long as a thread is busy, those that wait look now and then, and ever more
//! rarely, what has come: what the thread has computed passes, and a poll, as it may be waiting for
//! what other ranks do, without calling MPI.
//!
//! A thread that waits alone, which is the case where a program has a second thread but does not
//! use it for MPI, waits as that of a program with one thread does, so that its simulated time is
//! the same.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rank_ipc::{Client, Command, Shape, Taken, Ticket};

use rustix::time::ClockId;

use crate::simulator::{meanwhile, read};
use crate::state::{mpi, suspended, unguarded};
use crate::thread_members::Members;
use crate::thread_states::{Restless, ThreadStates};

/// The threads of a rank, as far as the library knows of them. Any thread may use it at any time.
#[derive(Debug, Default)]
pub struct Threads {
    /// True if threads may call at any time.
    multiple: AtomicBool,
    /// The first thread that called, by the kernel's number, and in how many calls it is: kept as
    /// long as it is the only one.
    first: AtomicU32,
    calls: AtomicU32,
    /// The rank shares the thread that it runs on with other ranks, and its own others cannot call.
    alone: AtomicBool,
    /// Threads that are about to take the lock.
    coming: AtomicU32,
    state: Mutex<State>,
    /// The lock is free.
    free: Condvar,
    /// A thread has been in MPI: what others wait for may be done.
    changed: Condvar,
    /// The states of the threads, as the kernel tells of them.
    states: Mutex<ThreadStates>,
    /// The threads, if others of the process are not the rank's.
    members: OnceLock<Members>,
    /// Processor time of the process, in nanoseconds, that is not the rank's.
    others_time: AtomicU64,
}

/// The time that a thread waits before it looks again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(4));
/// The longest time after which a thread polls: at first at once, as what is about to end should
/// not be waited for.
const POLL: Duration = Duration::from_millis(50);

/// A thread that waits for operations.
#[derive(Debug)]
struct Waiting {
    thread: u32,
    all: bool,
    tickets: Vec<Ticket>,
}

impl Waiting {
    fn is_over(&self, port: &Client) -> bool {
        let is_done = |ticket: &Ticket| !port.is_open(*ticket);
        let mut tickets = self.tickets.iter();
        if self.all { tickets.all(is_done) } else { tickets.any(is_done) }
    }
}

#[derive(Debug, Default)]
struct State {
    /// The thread that has the lock, by the kernel's number; 0 if none.
    owner: u32,
    /// The number of times that it took the lock.
    depth: u32,
    waiting: Vec<Waiting>,
    /// Threads that will take the lock before they do anything else, but look at the clock first.
    pausing: Vec<u32>,
}

thread_local! {
    static ME: Cell<u32> = const { Cell::new(0) };
    /// The thread waits by the clock on the wall, whatever clocks show the program.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread, by the kernel's number.
#[inline]
pub fn me() -> u32 {
    match ME.get() {
        0 => first_time(),
        me => me,
    }
}

/// Asks the kernel for the number of the calling thread.
#[cold]
fn first_time() -> u32 {
    let me = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
    ME.set(me);
    me
}

/// True if this thread waits by the clock on the wall.
pub fn waits() -> bool {
    WAITS.get()
}

/// Waits by the clock on the wall.
pub fn on_the_wall<T>(wait: impl FnOnce() -> T) -> T {
    WAITS.set(true);
    let outcome = wait();
    WAITS.set(false);
    outcome
}

/// The threads of the rank that runs.
fn threads() -> &'static Threads {
    &unguarded().threads
}

/// From now on, threads of the running rank may call at any time.
pub fn allow() {
    let own = threads();
    // Where ranks are threads, each has no other.
    if !cfg!(test) && !own.multiple.swap(true, Ordering::AcqRel) {
        // The call that says so has not taken the lock.
        let mut state = own.state();
        (state.owner, state.depth) = (me(), 1);
    }
}

/// True if threads of the running rank may call at any time.
pub fn allowed() -> bool {
    threads().are_allowed()
}

impl Threads {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn are_allowed(&self) -> bool {
        self.multiple.load(Ordering::Acquire)
    }

    /// The rank shares the thread that it runs on: its own others cannot call.
    pub fn forbid(&self) {
        self.alone.store(true, Ordering::Relaxed);
    }

    /// True if the rank has other threads that cannot call.
    pub fn are_forbidden(&self) -> bool {
        self.alone.load(Ordering::Relaxed)
    }

    /// The rank, which is in no call, has a thread of its own from now on, the calling one: whoever
    /// calls next is its first.
    pub fn own_thread(&self) {
        self.alone.store(false, Ordering::Relaxed);
        self.first.store(0, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        // So that what it has computed so far is what this thread has.
        let [process, thread] = [ClockId::ProcessCPUTime, ClockId::ThreadCPUTime].map(read);
        self.others_time.store(process.saturating_sub(thread), Ordering::Relaxed);
    }

    /// The threads of a rank that shares its process.
    pub fn members(&self) -> &Members {
        self.members.get_or_init(Members::default)
    }

    /// The process has taken so many nanoseconds of processor time for others than this rank.
    pub fn leave_out(&self, nanoseconds: u64) {
        self.others_time.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// The processor time of all threads, in nanoseconds.
    pub fn time(&self) -> u64 {
        let process = read(ClockId::ProcessCPUTime);
        process.saturating_sub(self.others_time.load(Ordering::Relaxed))
    }

    /// The calling thread, whose number is `me`, is about to use the library's state of its rank:
    /// waits until no other thread does.
    #[inline]
    pub fn enter(&self, me: u32) {
        if self.are_allowed() || !self.is_only_thread(me) {
            self.take(1);
        }
    }

    /// True if this thread is the only one that has called so far. A second thread, whatever the
    /// program has asked for, makes all take turns from now on: programs count on that to work with
    /// libraries that go by the calls that are under way.
    #[inline]
    fn is_only_thread(&self, me: u32) -> bool {
        let first = self.first.load(Ordering::Relaxed);
        if first == 0 || cfg!(test) {
            self.first.store(me, Ordering::Relaxed);
        } else if first != me {
            if self.are_forbidden() {
                refused();
            }
            self.allow_others(first);
            return false;
        }
        self.count(self.calls.load(Ordering::Relaxed) + 1, None)
    }

    /// The first thread is in so many calls. Gives whether no other thread has come just now, or
    /// one that knows of them.
    #[inline]
    fn count(&self, calls: u32, port: Option<&Client>) -> bool {
        if self.are_forbidden() {
            // Another does not get as far as to ask.
            self.calls.store(calls, Ordering::Relaxed);
            return true;
        }
        self.calls.store(calls, Ordering::SeqCst);
        if !self.multiple.load(Ordering::SeqCst) {
            return true;
        }
        // It may have seen one call less, or more.
        let mut state = self.state();
        let is_known = state.owner == me();
        if is_known {
            state.depth = calls;
            if calls == 0 {
                self.release(&mut state, port);
            }
        }
        is_known
    }

    #[cold]
    fn allow_others(&self, first: u32) {
        let mut state = self.state();
        if !self.multiple.swap(true, Ordering::SeqCst) {
            let calls = self.calls.load(Ordering::SeqCst);
            (state.owner, state.depth) = if calls > 0 { (first, calls) } else { (0, 0) };
        }
    }

    /// The calling thread has left the library, whose state of the rank it had until now.
    #[inline]
    pub fn leave(&self, port: Option<&Client>) {
        if !self.are_allowed() {
            self.count(self.calls.load(Ordering::Relaxed).saturating_sub(1), port);
            return;
        }
        let mut state = self.state();
        state.depth = state.depth.saturating_sub(1);
        if state.depth == 0 {
            self.release(&mut state, port);
        }
    }

    /// Takes the lock, so many times. Another rank may run until then: what is the running rank's
    /// is not looked at.
    fn take(&self, depth: u32) {
        let me = me();
        self.coming.fetch_add(1, Ordering::AcqRel);
        let mut state = self.state();
        while state.owner != 0 && state.owner != me {
            state = self.free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.depth = if state.owner == me { state.depth + depth } else { depth };
        state.owner = me;
        self.coming.fetch_sub(1, Ordering::AcqRel);
    }

    /// Takes the lock for good: the calling thread ends the rank, and no other does anything more.
    pub fn take_for_good(&self) {
        self.multiple.store(true, Ordering::SeqCst);
        self.take(1);
    }

    /// Gives the lock up; those whose operations are done go on.
    fn release(&self, state: &mut State, port: Option<&Client>) {
        let is_over = |waiting: &Waiting| port.is_none_or(|port| waiting.is_over(port));
        if state.waiting.iter().any(is_over) {
            self.changed.notify_all();
        }
        state.owner = 0;
        if self.coming.load(Ordering::Acquire) > 0 {
            self.free.notify_one();
        }
    }

    /// True if no other thread can do anything before this one, which has the lock, does: each
    /// waits in MPI, or sleeps until a thread wakes it.
    fn is_last_awake(&self, port: &Client) -> bool {
        // Another thread that looks is awake.
        let Ok(mut states) = self.states.try_lock() else { return false };
        if states.are_none(self.members.get()) {
            return true;
        }
        let waiting: Vec<u32> = {
            let state = self.state();
            if state.waiting.iter().any(|waiting| waiting.is_over(port)) {
                return false;
            }
            state.waiting.iter().map(|waiting| waiting.thread).collect()
        };
        states.all_sleep(self.members.get(), me(), |thread| waiting.contains(&thread))
            && self.coming.load(Ordering::Acquire) == 0
    }

    /// The threads beside the calling one, which has the lock, that may go on before it gives the
    /// lock up: all but those that wait in MPI, and those that sleep until a thread wakes them at
    /// an address that `is_apart` is true of. Nothing if that cannot be told at the moment; an
    /// empty list if all of them have rested since it was asked last.
    pub fn restless(&self, is_apart: &dyn Fn(usize) -> bool) -> Option<Vec<Restless>> {
        let members = self.members.get()?;
        let waiting: Vec<u32> = {
            let state = self.state();
            let waiting = state.waiting.iter().map(|waiting| waiting.thread);
            waiting.chain(state.pausing.iter().copied()).collect()
        };
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.restless(members, me(), |thread| waiting.contains(&thread), is_apart)
    }
}

/// Ends the program.
#[cold]
fn refused() -> ! {
    eprintln!(
        "heddle: a second thread calls MPI; where ranks share a process (--in-process), the \
         program has to ask for that: MPI_Init_thread with MPI_THREAD_SERIALIZED or \
         MPI_THREAD_MULTIPLE"
    );
    std::process::abort()
}

/// Lets other threads in for a moment.
pub fn pause(port: &Client) {
    let own = threads();
    if !own.are_allowed() {
        std::thread::yield_now();
        return;
    }
    // As long as the lock is held: what the others wait for is no thread's to look at without it.
    let is_last_awake = own.is_last_awake(port);
    suspended(|| {
        let depth = {
            let mut state = own.state();
            own.release(&mut state, Some(port));
            state.pausing.push(me());
            state.depth
        };
        if !is_last_awake {
            on_the_wall(|| std::thread::sleep(PAUSES.0));
        }
        own.take(depth);
        own.state().pausing.retain(|thread| *thread != me());
    });
}

/// A call has said all its messages: returns when these of its operations are done.
pub fn finish(port: &Client, tickets: &[Ticket]) {
    finish_after(port, tickets, &|| ());
}

/// Finishes as [`finish`] does; `woken` is called when what the thread will look at is best asked
/// for.
pub fn finish_after(port: &Client, tickets: &[Ticket], woken: &dyn Fn()) {
    if plain(port) {
        port.called(Shape::Blocking);
        port.poll_after(woken);
    } else {
        port.called(Shape::Posted);
        wait_among(port, true, tickets);
    }
}

/// Finishes a call that need not wait, if nobody looks: whatever comes after it waits in the
/// simulator.
pub fn finish_later(port: &Client, tickets: &[Ticket]) {
    if plain(port) {
        port.called(Shape::Blocking);
    } else {
        finish(port, tickets);
    }
}

/// Waits for operations to be done: for all, or for the first.
pub fn wait(port: &Client, all: bool, tickets: &[Ticket]) {
    if plain(port) {
        port.wait(all, tickets);
    } else {
        wait_among(port, all, tickets);
    }
}

/// Waits for all; `woken` is called as by [`finish_after`].
pub fn wait_for_all(port: &Client, tickets: &[Ticket], woken: &dyn Fn()) {
    if plain(port) {
        port.wait_for_all(tickets, woken);
    } else {
        wait_among(port, true, tickets);
    }
}

/// Waits for all operations, if nobody looks, only when the simulator has its turn next.
pub fn wait_later(port: &Client, tickets: &[Ticket]) {
    if allowed() {
        wait(port, true, tickets);
    } else {
        port.say(&Command::Wait { all: true, tickets: tickets.to_vec() });
    }
}

/// Others may change what this thread looks at: other ranks in simulated time, and other threads.
/// These operations are taken in if all are done.
pub fn look(port: &Client, tickets: &[Ticket]) {
    if allowed() {
        pause(port);
    }
    port.test(Taken::All, tickets);
    port.order();
}

/// True if a wait of this thread is that of the whole rank.
fn plain(port: &Client) -> bool {
    let own = threads();
    !own.are_allowed() || own.state().waiting.is_empty() && own.is_last_awake(port)
}

fn wait_among(port: &Client, all: bool, tickets: &[Ticket]) {
    let own = threads();
    let (mut pause, mut next) = (PAUSES.0, Duration::ZERO);
    let mut looked = on_the_wall(Instant::now);
    loop {
        let is_open = |ticket: &Ticket| port.is_open(*ticket);
        let open: Vec<Ticket> = tickets.iter().copied().filter(is_open).collect();
        if open.is_empty() || !all && open.len() < tickets.len() {
            return;
        }
        if own.is_last_awake(port) {
            let others: Vec<Ticket> =
                own.state().waiting.iter().flat_map(|waiting| waiting.tickets.clone()).collect();
            let first: Vec<Ticket> = open.into_iter().chain(others).filter(is_open).collect();
            port.wait(false, &first);
            continue;
        }
        if on_the_wall(|| looked.elapsed()) >= next {
            meanwhile(&mpi());
            port.test(if all { Taken::Each } else { Taken::First }, &open);
            looked = on_the_wall(Instant::now);
            next = (2 * next).clamp(PAUSES.0, POLL);
            continue;
        }
        suspended(|| own.take(own.stand_by(port, all, open, pause)));
        // Not before: who waits in the simulator meanwhile waits for what this thread waits for as
        // well.
        own.state().waiting.retain(|waiting| waiting.thread != me());
        pause = (2 * pause).min(PAUSES.1);
    }
}

impl Threads {
    /// Gives the lock up until operations are done, or for some time; gives how often it was taken.
    /// Another rank may run when it returns.
    fn stand_by(&self, port: &Client, all: bool, tickets: Vec<Ticket>, pause: Duration) -> u32 {
        let mut state = self.state();
        let depth = state.depth;
        self.release(&mut state, Some(port));
        state.waiting.push(Waiting { thread: me(), all, tickets });
        drop(on_the_wall(|| self.changed.wait_timeout(state, pause)));
        depth
    }
}
