//! The beginning and the end of MPI, and what a program asks of where it runs (MPI 4.1, chapters 9
//! and 11).

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};

use rank_ipc::MpiUse;

use crate::abi;
use crate::control;
use crate::error::Result;
use crate::state::{Mpi, mpi};
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

/// The highest level of thread support: where ranks share a process, only the thread of the ranks
/// may call.
pub fn most_threads() -> c_int {
    if mpi().shares_process.get() { abi::THREAD_FUNNELED } else { abi::THREAD_MULTIPLE }
}

/// The level of thread support.
pub fn thread_level() -> c_int {
    mpi().environment.thread_level.get()
}

/// Its name in C.
pub fn thread_level_name() -> &'static str {
    match thread_level() {
        abi::THREAD_FUNNELED => "MPI_THREAD_FUNNELED",
        abi::THREAD_SERIALIZED => "MPI_THREAD_SERIALIZED",
        abi::THREAD_MULTIPLE => "MPI_THREAD_MULTIPLE",
        _ => "MPI_THREAD_SINGLE",
    }
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
        environment.thread_level.set(most_threads());
        mpi().comms.place(&who)?;
    }
    let opened = environment.open.get();
    if opened == 0 {
        control::begin()?;
    }
    environment.open.set(opened + 1);
    // Threads of a session may always call.
    let level = thread_level.unwrap_or_else(most_threads);
    if level == abi::THREAD_MULTIPLE {
        threads::allow();
    }
    if thread_level.is_some() {
        environment.thread_level.set(level);
        mpi().comms.start();
        environment.phase.set(Phase::Initialised);
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
