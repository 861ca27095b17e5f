//! The beginning and the end of MPI, and what a program asks of where it runs (MPI 4.1, chapters 9
//! and 11).

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};

use rank_ipc::MpiUse;

use crate::abi;
use crate::control;
use crate::error::Result;
use crate::state::{Mpi, Unguarded, alongside, move_to_own_thread, mpi, unguarded};
use crate::threads;

mod fortran;
mod functions;
mod phase;

pub use phase::{Phase, check_phase};

/// The largest tag.
pub const TAG_UB: c_int = c_int::MAX;

/// The resolution of `MPI_Wtime`, in seconds: simulated time is in picoseconds.
pub const TICK: f64 = 1e-12;

/// The library's knowledge of the program's run.
#[derive(Debug)]
pub struct Environment {
    phase: Cell<Phase>,
    /// Uses of the library that began and have not ended: by `MPI_Init` and by sessions.
    open: Cell<u32>,
    connected: Cell<bool>,
    thread_level: Cell<c_int>,
    /// Values of predefined attributes. Programs keep their addresses, so the box stays where it
    /// is.
    values: RefCell<Box<Values>>,
}

#[derive(Debug)]
struct Values {
    tag_ub: c_int,
    io: c_int,
    host: c_int,
    wtime_is_global: c_int,
    universe_size: c_int,
    appnum: c_int,
    last_used_code: c_int,
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            phase: Cell::default(),
            open: Cell::default(),
            connected: Cell::default(),
            thread_level: Cell::new(abi::THREAD_SINGLE),
            values: RefCell::new(Box::new(Values {
                tag_ub: TAG_UB,
                io: abi::ANY_SOURCE,
                host: abi::PROC_NULL,
                wtime_is_global: 1,
                universe_size: 0,
                appnum: 0,
                last_used_code: abi::ERR_LASTCODE,
            })),
        }
    }
}

/// The address of the value of a predefined attribute of communicators.
pub fn attribute(keyval: c_int) -> Option<*mut c_void> {
    let mpi = mpi();
    let mut values = mpi.environment.values.borrow_mut();
    let value = match keyval {
        abi::TAG_UB => &raw mut values.tag_ub,
        abi::IO => &raw mut values.io,
        abi::HOST => &raw mut values.host,
        abi::WTIME_IS_GLOBAL => &raw mut values.wtime_is_global,
        abi::APPNUM => &raw mut values.appnum,
        abi::LASTUSEDCODE => &raw mut values.last_used_code,
        abi::UNIVERSE_SIZE => &raw mut values.universe_size,
        _ => return None,
    };
    Some(value.cast())
}

/// The program added an error class or code.
pub fn last_used_code(code: c_int) {
    mpi().environment.values.borrow_mut().last_used_code = code;
}

/// The identity of a process among those of the run.
#[derive(Debug, Default)]
pub struct Identity {
    /// Its number among all ranks, of all worlds.
    pub rank: u32,
    /// The number of ranks that the run began with.
    pub first: u32,
    /// The largest number of ranks that there can be.
    pub most: u32,
    /// The number of ranks that there is room for, as far as the program is to know.
    pub universe: u32,
    /// The number of the program that it runs, among those that were started together.
    pub program: u32,
    /// The message of the rank that started it, if one did.
    pub birth: Option<Vec<u8>>,
}

/// The level of thread support of who asks for none in particular: where ranks share a process,
/// only the thread of the ranks may call.
fn usual_threads() -> c_int {
    if mpi().shares_process.get() { abi::THREAD_FUNNELED } else { abi::THREAD_MULTIPLE }
}

/// The level of thread support.
pub fn thread_level() -> c_int {
    mpi().environment.thread_level.get()
}

/// The levels of thread support, and their names in C.
const LEVELS: [(c_int, &str); 4] = [
    (abi::THREAD_SINGLE, "MPI_THREAD_SINGLE"),
    (abi::THREAD_FUNNELED, "MPI_THREAD_FUNNELED"),
    (abi::THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"),
    (abi::THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"),
];

/// The name of the level of thread support.
pub fn thread_level_name() -> &'static str {
    let found = LEVELS.iter().find(|(level, _)| *level == thread_level());
    found.map_or("MPI_THREAD_SINGLE", |(_, name)| name)
}

/// The level of thread support of a name.
pub fn level_of_name(wanted: &[u8]) -> Option<c_int> {
    LEVELS.iter().find(|(_, name)| name.as_bytes() == wanted).map(|(level, _)| *level)
}

/// Tells whether there is such a level.
pub fn is_level(wanted: c_int) -> bool {
    LEVELS.iter().any(|(level, _)| *level == wanted)
}

/// Tells whether a rank with a level of thread support has threads of its own that call.
pub fn is_for_threads(level: c_int) -> bool {
    matches!(level, abi::THREAD_SERIALIZED | abi::THREAD_MULTIPLE)
}

/// Gives the rank a thread of its own if it has asked for threads that call, and shares the thread
/// that it runs on with other ranks. To be called when nothing is under way: a variable of the
/// thread has another place afterwards.
#[inline(never)]
pub fn settle_threads() {
    let rank = unguarded();
    if rank.threads.are_forbidden()
        && alongside(|mpi| mpi.wants_thread.take())
        && move_to_own_thread()
    {
        moved(rank);
    }
}

/// The rank is on another thread.
#[inline(never)]
fn moved(rank: &'static Unguarded) {
    rank.set_main_thread();
    rank.threads.own_thread();
    alongside(|mpi| {
        crate::simulator::leave(mpi);
        if thread_level() == abi::THREAD_MULTIPLE {
            threads::allow();
        }
    });
}

/// The name of the host that this rank is on.
pub fn processor_name() -> String {
    control::host_name(mpi().comms.me())
}

/// The program begins to use MPI: `MPI_Init` with the level of thread support it asked for, or a
/// session.
pub fn open(thread_level: Option<c_int>) -> Result {
    let environment = &mpi().environment;
    if !environment.connected.replace(true) {
        let who = control::connect()?;
        {
            let mut values = environment.values.borrow_mut();
            (values.universe_size, values.appnum) = (who.universe as c_int, who.program as c_int);
        }
        mpi().unguarded.set_main_thread();
        environment.thread_level.set(usual_threads());
        mpi().comms.place(&who)?;
    }
    let opened = environment.open.get();
    if opened == 0 {
        control::begin()?;
    }
    environment.open.set(opened + 1);
    let level = thread_level.unwrap_or_else(usual_threads);
    allow_threads(level);
    if thread_level.is_some() {
        environment.thread_level.set(level);
        mpi().comms.start();
        environment.phase.set(Phase::Initialised);
    }
    Ok(())
}

/// Threads of the rank may call as this level says.
fn allow_threads(level: c_int) {
    if mpi().shares_process.get() {
        mpi().wants_thread.set(is_for_threads(level));
    } else if level == abi::THREAD_MULTIPLE {
        threads::allow();
    }
}

/// The program begins to use MPI in a session, and may ask for a level of thread support. Threads
/// of a session may always call, if the rank has any.
pub fn open_session(wanted: Option<&[u8]>) -> Result {
    open(None)?;
    let wanted = wanted.and_then(level_of_name).filter(|level| is_for_threads(*level));
    let level = &mpi().environment.thread_level;
    if let Some(wanted) = wanted.filter(|_| !is_for_threads(level.get())) {
        allow_threads(wanted);
        level.set(wanted);
    }
    Ok(())
}

/// Tells whether a rank of this process uses MPI.
pub fn usage(rank: &Mpi) -> MpiUse {
    let environment = &rank.environment;
    match (environment.connected.get(), environment.open.get()) {
        (false, _) => MpiUse::Never,
        (true, 0) => MpiUse::Before,
        (true, _) => MpiUse::Now,
    }
}

/// The program ends a use of MPI. After `MPI_Finalize`, what the rank computes is no longer waited
/// for; until then it may begin again.
pub fn close() -> Result {
    let environment = &mpi().environment;
    environment.open.set(environment.open.get().saturating_sub(1));
    match (environment.open.get(), environment.phase.get()) {
        (0, Phase::Finalised) => control::leave(),
        (0, _) => control::rest(),
        _ => {}
    }
    Ok(())
}

/// Ends the program.
pub fn abort(code: c_int) -> ! {
    control::abort(code)
}
