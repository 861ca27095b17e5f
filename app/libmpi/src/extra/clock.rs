//! Clocks of the host that show simulated time, for programs that ask them rather than MPI.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use rank_ipc::{Client, Command};

use crate::simulator::{computed, leave, time};
use crate::state::{Mpi, Unguarded, alongside, time_of_last_reply, unguarded_if_made};
use crate::threads;

/// True while a rank of this process runs, rather than the simulator.
static RUNNING: AtomicBool = AtomicBool::new(true);

/// The holder of ranks in one process says who runs.
pub fn running(is_rank: bool) {
    RUNNING.store(is_rank, Ordering::Release);
}

/// True if a rank runs here.
pub(super) fn is_rank() -> bool {
    RUNNING.load(Ordering::Acquire)
}

/// True if this thread may go the rank's way to the simulator: it is the rank's first, and not on
/// that way already.
fn may_ask(rank: &Unguarded) -> bool {
    rank.is_main_thread() && !rank.is_inside()
}

/// Does something with the simulator that is no call of MPI.
fn inside<T>(rank: &'static Unguarded, work: impl FnOnce(&Mpi, &Client) -> T) -> Option<T> {
    let _deeper = rank.deeper(threads::me());
    alongside(|mpi| {
        let port = mpi.port.get()?;
        port.tell_call("");
        Some(work(mpi, port))
    })
}

/// Writes the simulated time in picoseconds and returns 1 if the caller is a rank, else returns 0.
/// The time is 0 before `MPI_Init`, the last one afterwards. A thread that is not the rank's first
/// gets the time of the last call, and so does what looks within a call: an allocator, a signal
/// handler.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_clock(picoseconds: &mut u64) -> c_int {
    if !is_rank() || threads::waits() {
        return 0;
    }
    // The state is not made here, as memory for it may be what the clock is asked for.
    let asked = unguarded_if_made().filter(|rank| may_ask(rank)).and_then(|rank| {
        inside(rank, |mpi, port| {
            computed(mpi);
            let now = time(mpi, port);
            leave(mpi);
            now
        })
    });
    *picoseconds = asked.unwrap_or_else(time_of_last_reply);
    1
}

/// Sleeps for `picoseconds` of simulated time and returns 1 if the caller is a rank that uses MPI,
/// else returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_sleep(picoseconds: u64) -> c_int {
    if !is_rank() || threads::waits() {
        return 0;
    }
    let slept = unguarded_if_made().filter(|rank| may_ask(rank)).and_then(|rank| {
        inside(rank, |mpi, port| {
            computed(mpi);
            port.say(&Command::Sleep(picoseconds));
            leave(mpi);
        })
    });
    c_int::from(slept.is_some())
}
