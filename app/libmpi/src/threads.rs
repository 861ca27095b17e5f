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
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rank_ipc::{Client, Command, Shape, Taken, Ticket};

use crate::simulator::meanwhile;
use crate::state::{Mpi, mpi, suspended};
use crate::thread_states::ThreadStates;

/// True if threads may call at any time.
static MULTIPLE: AtomicBool = AtomicBool::new(false);
/// The first thread that called, by the kernel's number, and in how many calls it is: kept as long
/// as it is the only one.
static FIRST: AtomicU32 = AtomicU32::new(0);
static CALLS: AtomicU32 = AtomicU32::new(0);
/// Ranks share the process, and have no threads of their own.
static SHARED: AtomicBool = AtomicBool::new(false);
/// Threads that are about to take the lock.
static COMING: AtomicU32 = AtomicU32::new(0);
static STATE: Mutex<State> = Mutex::new(State { owner: 0, depth: 0, waiting: Vec::new() });
/// The lock is free.
static FREE: Condvar = Condvar::new();
/// A thread has been in MPI: what others wait for may be done.
static CHANGED: Condvar = Condvar::new();

/// The state of the threads of the process.
static THREAD_STATES: Mutex<ThreadStates> = Mutex::new(ThreadStates::new());

/// The time that a thread waits before it looks again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(4));
/// The longest time after which a thread polls: at first at once, as what is about to end should
/// not be waited for.
const POLL: Duration = Duration::from_millis(50);

/// A thread that waits for operations.
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

struct State {
    /// The thread that has the lock, by the kernel's number; 0 if none.
    owner: u32,
    /// The number of times that it took the lock.
    depth: u32,
    waiting: Vec<Waiting>,
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

fn on_the_wall<T>(wait: impl FnOnce() -> T) -> T {
    WAITS.set(true);
    let outcome = wait();
    WAITS.set(false);
    outcome
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, threads may call at any time.
pub fn allow() {
    // Where ranks are threads, each has no other.
    if !cfg!(test) && !MULTIPLE.swap(true, Ordering::AcqRel) {
        // The call that says so has not taken the lock.
        let mut state = state();
        (state.owner, state.depth) = (me(), 1);
    }
}

/// Ranks share this process, and their threads cannot call.
pub fn forbid() {
    SHARED.store(true, Ordering::Relaxed);
}

/// True if threads may call at any time.
pub fn allowed() -> bool {
    MULTIPLE.load(Ordering::Acquire)
}

/// The calling thread, whose number is `me`, is about to use the library's state of its rank: waits
/// until no other thread does.
pub fn enter(me: u32) {
    if allowed() || !is_only_thread(me) {
        take(1);
    }
}

/// True if this thread is the only one that has called so far. A second thread, whatever the
/// program has asked for, makes all take turns from now on: programs count on that to work with
/// libraries that go by the calls that are under way.
fn is_only_thread(me: u32) -> bool {
    let first = FIRST.load(Ordering::Relaxed);
    if first == 0 || cfg!(test) {
        FIRST.store(me, Ordering::Relaxed);
    } else if first != me {
        if SHARED.load(Ordering::Relaxed) {
            refused();
        }
        allow_others(first);
        return false;
    }
    count(CALLS.load(Ordering::Relaxed) + 1, None)
}

/// The first thread is in so many calls. Gives whether no other thread has come just now, or one
/// that knows of them.
fn count(calls: u32, port: Option<&Client>) -> bool {
    if SHARED.load(Ordering::Relaxed) {
        // Another does not get as far as to ask.
        CALLS.store(calls, Ordering::Relaxed);
        return true;
    }
    CALLS.store(calls, Ordering::SeqCst);
    if !MULTIPLE.load(Ordering::SeqCst) {
        return true;
    }
    // It may have seen one call less, or more.
    let mut state = state();
    let is_known = state.owner == me();
    if is_known {
        state.depth = calls;
        if calls == 0 {
            release(&mut state, port);
        }
    }
    is_known
}

/// Ends the program.
#[cold]
fn refused() -> ! {
    eprintln!(
        "heddle: a thread calls MPI; where ranks share a process (--in-process), only the one that \
         a rank begins with can"
    );
    std::process::abort()
}

#[cold]
fn allow_others(first: u32) {
    let mut state = state();
    if !MULTIPLE.swap(true, Ordering::SeqCst) {
        let calls = CALLS.load(Ordering::SeqCst);
        (state.owner, state.depth) = if calls > 0 { (first, calls) } else { (0, 0) };
    }
}

/// The calling thread has left the library, whose state of the rank it had until now.
pub fn leave(rank: &Mpi) {
    let port = rank.port.get();
    if !allowed() {
        count(CALLS.load(Ordering::Relaxed).saturating_sub(1), port);
        return;
    }
    let mut state = state();
    state.depth = state.depth.saturating_sub(1);
    if state.depth == 0 {
        release(&mut state, port);
    }
}

fn take(depth: u32) {
    let me = me();
    COMING.fetch_add(1, Ordering::AcqRel);
    let mut state = state();
    while state.owner != 0 && state.owner != me {
        state = FREE.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.depth = if state.owner == me { state.depth + depth } else { depth };
    state.owner = me;
    COMING.fetch_sub(1, Ordering::AcqRel);
}

/// Gives the lock up; those whose operations are done go on.
fn release(state: &mut State, port: Option<&Client>) {
    let is_over = |waiting: &Waiting| port.is_none_or(|port| waiting.is_over(port));
    if state.waiting.iter().any(is_over) {
        CHANGED.notify_all();
    }
    state.owner = 0;
    if COMING.load(Ordering::Acquire) > 0 {
        FREE.notify_one();
    }
}

/// Lets other threads in for a moment.
pub fn pause(port: &Client) {
    if !allowed() {
        std::thread::yield_now();
        return;
    }
    // As long as the lock is held: what the others wait for is no thread's to look at without it.
    let is_last_awake = is_last_awake(port);
    suspended(|| {
        let depth = {
            let mut state = state();
            release(&mut state, Some(port));
            state.depth
        };
        if !is_last_awake {
            on_the_wall(|| std::thread::sleep(PAUSES.0));
        }
        take(depth);
    });
}

/// True if no other thread can do anything before this one, which has the lock, does: each waits in
/// MPI, or sleeps until a thread wakes it.
fn is_last_awake(port: &Client) -> bool {
    // Another thread that looks is awake.
    let Ok(mut states) = THREAD_STATES.try_lock() else { return false };
    if states.are_none() {
        return true;
    }
    let waiting: Vec<u32> = {
        let state = state();
        if state.waiting.iter().any(|waiting| waiting.is_over(port)) {
            return false;
        }
        state.waiting.iter().map(|waiting| waiting.thread).collect()
    };
    states.all_sleep(me(), |thread| waiting.contains(&thread))
        && COMING.load(Ordering::Acquire) == 0
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
    !allowed() || state().waiting.is_empty() && is_last_awake(port)
}

fn wait_among(port: &Client, all: bool, tickets: &[Ticket]) {
    let (mut pause, mut next) = (PAUSES.0, Duration::ZERO);
    let mut looked = on_the_wall(Instant::now);
    loop {
        let is_open = |ticket: &Ticket| port.is_open(*ticket);
        let open: Vec<Ticket> = tickets.iter().copied().filter(is_open).collect();
        if open.is_empty() || !all && open.len() < tickets.len() {
            return;
        }
        if is_last_awake(port) {
            let others: Vec<Ticket> =
                state().waiting.iter().flat_map(|waiting| waiting.tickets.clone()).collect();
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
        suspended(|| take(stand_by(port, all, open, pause)));
        // Not before: who waits in the simulator meanwhile waits for what this thread waits for as
        // well.
        state().waiting.retain(|waiting| waiting.thread != me());
        pause = (2 * pause).min(PAUSES.1);
    }
}

/// Gives the lock up until operations are done, or for some time; gives how often it was taken.
fn stand_by(port: &Client, all: bool, tickets: Vec<Ticket>, pause: Duration) -> u32 {
    let mut state = state();
    let depth = state.depth;
    release(&mut state, Some(port));
    state.waiting.push(Waiting { thread: me(), all, tickets });
    drop(on_the_wall(|| CHANGED.wait_timeout(state, pause)));
    depth
}
