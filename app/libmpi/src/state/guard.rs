//! The guard of a rank's state, and how a thread comes to hold the state.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use super::Mpi;
use super::unguarded::{Deeper, Unguarded, current, thread_pointer, unguarded};
use crate::environment::check_phase;
use crate::error::{Error, Result};
use crate::threads::me;
use crate::{abi, simulator};

/// A guard of the state of the calling thread's rank.
///
/// It exists only on a thread that holds the state, which is checked where it is made, and it can
/// neither leave that thread nor outlive the call, which is checked where the call ends. So no two
/// threads use a state at a time.
#[derive(Debug)]
pub struct Guard {
    /// A pointer, so that the guard stays on its thread.
    rank: NonNull<Mpi>,
}

/// Returns a guard of the state of the calling thread's rank. The thread must hold the state: it is
/// in a call. Anything else is a bug of the library and panics.
#[inline]
pub fn mpi() -> Guard {
    // SAFETY: null, or a state that is never freed, of which atomic fields are read.
    match unsafe { current().as_ref() } {
        Some(rank) if rank.unguarded.is_held_here() => {
            rank.guards.set(rank.guards.get() + 1);
            Guard { rank: NonNull::from(rank) }
        }
        _ => not_held(),
    }
}

#[cold]
#[inline(never)]
fn not_held() -> ! {
    panic!("the state of a rank is used by a thread that does not hold it")
}

impl Deref for Guard {
    type Target = Mpi;

    #[inline]
    fn deref(&self) -> &Mpi {
        // SAFETY: states are never freed. This thread holds the state as long as the guard lives,
        // but for the time in which the guard's frame does not run (`suspended`).
        unsafe { self.rank.as_ref() }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        self.guards.set(self.guards.get() - 1);
    }
}

/// The calling thread holds the state of its rank as long as this lives, unless it did so before.
#[derive(Debug)]
struct Hold(Option<NonNull<Mpi>>);

impl Hold {
    /// Takes the state for the calling thread, whose number is `me`, once no other thread is in the
    /// library.
    #[inline]
    fn take(unguarded: &Unguarded, me: u32) -> Self {
        if unguarded.is_held_here() {
            return Self(None);
        }
        unguarded.threads.enter(me);
        unguarded.holder.store(thread_pointer(), Ordering::Relaxed);
        Self(NonNull::new(current()))
    }
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: never freed; this thread holds it, until it has said that it does not.
        let Some(rank) = self.0.map(|rank| unsafe { &*rank.as_ptr() }) else { return };
        assert!(rank.guards.get() == 0, "a guard outlives {}", rank.call.get());
        rank.unguarded.holder.store(0, Ordering::Relaxed);
        rank.unguarded.threads.leave(rank.port.get());
    }
}

/// Does what is no call of MPI with the state of the calling thread's rank, while no other thread
/// uses it.
pub fn alongside<T>(work: impl FnOnce(&Mpi) -> T) -> T {
    let _hold = Hold::take(unguarded(), me());
    work(&mpi())
}

/// Gives the state up while something runs that may hold it itself: a function of the program that
/// may call MPI, or other threads. The guards that exist belong to frames that do not run
/// meanwhile.
pub fn suspended<T>(run: impl FnOnce() -> T) -> T {
    /// Gives the state back, also where an exception leaves the function of the program.
    struct Suspended<'a>(&'a Mpi, u32);

    impl Drop for Suspended<'_> {
        fn drop(&mut self) {
            let Self(rank, guards) = self;
            rank.unguarded.holder.store(thread_pointer(), Ordering::Relaxed);
            rank.guards.set(*guards);
        }
    }

    if !unguarded().is_held_here() {
        return run();
    }
    // SAFETY: this thread holds the state, which is never freed.
    let rank = unsafe { &*current() };
    let _suspended = Suspended(rank, rank.guards.take());
    rank.unguarded.holder.store(0, Ordering::Relaxed);
    run()
}

/// Gives the state up for good: the calling thread ends the program, and no frame below it runs any
/// more. What the program does at its end may call MPI.
pub fn abandon() {
    if unguarded().is_held_here() {
        // SAFETY: this thread holds the state, which is never freed.
        let rank = unsafe { &*current() };
        rank.guards.set(0);
        rank.unguarded.holder.store(0, Ordering::Relaxed);
    }
}

/// A call is under way as long as this lives.
#[derive(Debug)]
pub struct Inside {
    simulates: bool,
    // In this order: the first thread is in the library until it has given the state up.
    _hold: Hold,
    _deeper: Deeper,
}

/// Begins a call. It is an error if the calling thread is in another call that has not called a
/// function of the program.
#[inline]
pub fn enter(name: &'static str) -> Result<Inside> {
    // MPI_Abort returns to nobody.
    let unguarded = unguarded();
    if unguarded.is_held_here() && name != "MPI_Abort" {
        return Err(nested());
    }
    Ok(begin(unguarded, name, true))
}

#[cold]
#[inline(never)]
fn nested() -> Error {
    let within = mpi().call.get();
    Error::new(
        abi::ERR_OTHER,
        format!(
            "the call began within {within}, by something that MPI does not call, such as a \
             signal handler or an allocator"
        ),
    )
}

/// Begins a call that has nothing to do with the simulator. It may interrupt another call: it
/// changes nothing.
#[inline]
pub fn look_up(name: &'static str) -> Inside {
    begin(unguarded(), name, false)
}

#[inline]
fn begin(unguarded: &'static Unguarded, name: &'static str, simulates: bool) -> Inside {
    let me = me();
    let deeper = unguarded.deeper(me);
    let hold = Hold::take(unguarded, me);
    // SAFETY: this thread holds the state, which is never freed.
    let rank = unsafe { &*current() };
    if simulates {
        simulator::enter(rank, name);
    }
    if hold.0.is_some() {
        rank.call.set(name);
    }
    check_phase(rank, name);
    Inside { simulates, _hold: hold, _deeper: deeper }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        if self.simulates {
            simulator::leave(&mpi());
        }
    }
}
