//! Clocks of the host that show simulated time, for programs that ask them rather than MPI.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use rank_ipc::{Client, Command};

use crate::simulator::{computed, leave, time};
use crate::state::{Mpi, known};
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

/// The rank's way to the simulator, if this thread is the one that goes it, and not on that way
/// already.
fn port(mpi: &Mpi) -> Option<&Client> {
    mpi.port.get().filter(|_| mpi.environment.is_main_thread() && !mpi.is_inside())
}

/// Does something with the simulator that is no call of MPI.
fn inside<T>(mpi: &'static Mpi, work: impl FnOnce() -> T) -> T {
    let _deeper = mpi.deeper();
    threads::alongside(work)
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
    let Some(mpi) = known() else {
        *picoseconds = 0;
        return 1;
    };
    *picoseconds = match port(mpi) {
        None => mpi.port.get().map_or(0, Client::time),
        Some(port) => inside(mpi, || {
            computed(mpi);
            let now = time(mpi, port);
            leave(mpi);
            now
        }),
    };
    1
}

/// Sleeps for `picoseconds` of simulated time and returns 1 if the caller is a rank that uses MPI,
/// else returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_sleep(picoseconds: u64) -> c_int {
    if !is_rank() || threads::waits() {
        return 0;
    }
    let Some((mpi, port)) = known().and_then(|mpi| Some((mpi, port(mpi)?))) else { return 0 };
    inside(mpi, || {
        computed(mpi);
        port.say(&Command::Sleep(picoseconds));
        leave(mpi);
    });
    1
}
