//! The way to the simulator.

use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::Ordering;

use port::{
    Command, Died, ENVIRONMENT, Lane, Memory, Poll, Port, RANKS_TURN, SIMULATORS_TURN, Switch,
};
use rustix::thread::futex;
use rustix::time::{ClockId, clock_gettime};

use crate::abi;
use crate::error::{Error, Result};
use crate::state::{Mpi, mpi};

/// The environment variable that says what computation counts: `measured` or `off`.
const COMPUTE: &str = "HEDDLE_COMPUTE";

/// A rank that is a process of its own.
#[derive(Debug)]
struct Process;

impl Switch for Process {
    fn switch(&self, lane: &Lane) -> std::result::Result<(), Died> {
        lane.turn.store(SIMULATORS_TURN, Ordering::Release);
        // Nobody may be waiting.
        let _ = futex::wake(&lane.turn, futex::Flags::empty(), 1);
        wait_for_turn(lane);
        Ok(())
    }
}

/// The simulator ends its ranks when it ends, so that this needs no way out.
fn wait_for_turn(lane: &Lane) {
    while lane.turn.load(Ordering::Acquire) != RANKS_TURN {
        // Woken for nothing, it looks again.
        let _ = futex::wait(&lane.turn, futex::Flags::empty(), SIMULATORS_TURN, None);
    }
}

fn end(code: i32) -> ! {
    std::process::exit(code)
}

/// The processor time of this rank so far, in nanoseconds.
fn clock() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Connects this process with the simulator that started it, and waits for its first turn. Started by itself, it is alone.
pub fn connect() -> Result<&'static Port> {
    if let Some(port) = mpi().port.get() {
        return Ok(port);
    }
    let failed = |text: &str| Error::new(abi::ERR_OTHER, text.to_owned());
    let Ok(said) = std::env::var(ENVIRONMENT) else {
        let port = crate::alone::port(end)?;
        return Ok(mpi().port.get_or_init(|| port));
    };
    let numbers: Vec<u32> = said.split(',').filter_map(|word| word.parse().ok()).collect();
    let [file, ranks, rank] = numbers.as_slice() else {
        return Err(failed(&format!("{ENVIRONMENT} is `{said}`")));
    };
    // When the simulator is killed, so are its ranks; where the system cannot do that, they stay.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // SAFETY: the simulator opened it for this process, which uses it only here.
    let memory = unsafe { Memory::open(file.cast_signed(), *ranks) };
    let memory = memory.map_err(|error| failed(&format!("the simulator's memory: {error}")))?;
    let lane = memory.lane(*rank).ok_or_else(|| failed(&format!("{ENVIRONMENT} is `{said}`")))?;
    wait_for_turn(lane);
    let measures = std::env::var(COMPUTE).is_ok_and(|how| how == "measured");
    mpi().measured.set(measures.then(clock));
    Ok(mpi().port.get_or_init(|| Port::new(memory, *rank, *ranks, Box::new(Process), end)))
}

/// Connects a rank that the simulator holds in its own process, where `variables` are exchanged when another rank runs.
pub fn hold(rank: &Mpi, port: Port, measures: bool, variables: Vec<Range<usize>>) {
    rank.held.set(true);
    rank.variables.replace(variables);
    rank.measured.set(measures.then(clock));
    // A rank is held once.
    let _ = rank.port.set(port);
}

impl Mpi {
    /// The way to the simulator.
    pub fn port(&self) -> Result<&Port> {
        self.port.get().ok_or_else(|| Error::new(abi::ERR_OTHER, "MPI is not initialised"))
    }
}

/// Simulated time in picoseconds, for tools that record what the program does: looking costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_now() -> u64 {
    mpi().port.get().map_or(0, |port| port.poll(Poll::Nothing))
}

/// A call begins: what the rank computed since the last one is told.
pub fn enter(mpi: &Mpi, name: &'static str) {
    if let Some(port) = mpi.port.get() {
        port.enter(name);
    }
    if let (Some(last), Some(port)) = (mpi.measured.get(), mpi.port.get()) {
        let computed = clock().saturating_sub(last);
        if computed > 0 {
            port.say(&Command::Compute(computed));
        }
    }
}

/// A call ends.
pub fn leave(mpi: &Mpi) {
    if mpi.measured.get().is_some() {
        mpi.measured.set(Some(clock()));
    }
}

/// Ends all ranks.
pub fn abort(code: c_int) -> ! {
    if let Some(port) = mpi().port.get() {
        port.exit(if code == 0 { 1 } else { code });
    }
    std::process::exit(code)
}
