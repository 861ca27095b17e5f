//! The way to the simulator.

use std::cell::Cell;
use std::ffi::{OsString, c_int};
use std::ops::Range;
use std::rc::Rc;

use rank_ipc::{
    Channel, Client, Command, ENVIRONMENT, Lost, Memory, MpiUse, Offset, Pinning, Poll, RANKS_TURN,
    SIMULATORS_TURN, SimulatorGone, Suspend, Writer,
};
use rustix::thread::{futex, sched_getcpu};
use rustix::time::{ClockId, clock_gettime};

use crate::abi;
use crate::error::{Error, Result};
use crate::state::{self, Mpi, alongside, mpi, suspended, unguarded};
use crate::{place, threads};

/// The environment variable that says what computation counts: `measured`, or `constant` if only
/// how often.
const COMPUTE: &str = "HEDDLE_COMPUTE";

/// The environment variable that says whether messages have contents: `off` if not.
const PAYLOAD: &str = "HEDDLE_PAYLOAD";

/// The advice if a program that `heddle mpirun` has started does not leave a rank to one process.
const LAUNCHER: &str = "a rank is one process: if it is started by the launcher of another MPI \
                        (mpirun, mpiexec, srun) within heddle mpirun, let heddle mpirun start the \
                        program itself";

/// The simulator's options for its ranks.
#[derive(Clone, Copy, Debug)]
pub struct RankOptions {
    /// They measure their computation.
    measures: bool,
    /// They say when they compute, though not for how long.
    counts: bool,
    /// Messages have no contents.
    hollow: bool,
}

impl RankOptions {
    /// The options that these environment variables select.
    pub fn new(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let says = |name, what: &str| variable(name).is_some_and(|said| said == what);
        let (measures, counts) = (says(COMPUTE, "measured"), says(COMPUTE, "constant"));
        Self { measures, counts, hollow: says(PAYLOAD, "off") }
    }

    fn adopt(self, rank: &Mpi) {
        rank.measured.set(self.measures.then(clock));
        rank.counted.set(self.counts);
        rank.hollow.set(self.hollow);
    }
}

/// A rank that is a process of its own.
#[derive(Debug)]
struct Process;

impl Suspend for Process {
    fn suspend(&self, channel: &Channel) -> std::result::Result<(), SimulatorGone> {
        if channel.pass(SIMULATORS_TURN) {
            let _ = futex::wake(&channel.turn, futex::Flags::empty(), 1);
        }
        wait_for_turn(channel);
        Ok(())
    }
}

/// The simulator ends its ranks when it ends, so that this needs no way out.
fn wait_for_turn(channel: &Channel) {
    while let Some(asleep) = channel.sleep(RANKS_TURN) {
        // Woken for nothing, it looks again.
        match channel.core() {
            None => drop(futex::wait(&channel.turn, futex::Flags::empty(), asleep, None)),
            Some(core) => wait_there(channel, asleep, core),
        }
    }
}

thread_local! {
    /// The number of times that this thread still pins itself before it sleeps.
    static PINS_LEFT: Cell<u32> = const { Cell::new(0) };
}

/// The number of times that a thread pins itself once it was woken elsewhere. Pinning and unpinning
/// cost as much as a turn, and need not be where the other cores are busy.
const PIN_REPEATS: u32 = 64;

/// Waits for the turn, to be woken on a core. This code is kept away from the turns on a machine of
/// one core, which take as long as the pages of code that they touch.
#[cold]
#[inline(never)]
fn wait_there(channel: &Channel, asleep: u32, core: usize) {
    let more = PINS_LEFT.get();
    let pinning = if more > 0 { Pinning::new(core) } else { None };
    let _ = futex::wait(&channel.turn, futex::Flags::empty(), asleep, None);
    drop(pinning);
    PINS_LEFT.set(if more == 0 && sched_getcpu() != core {
        PIN_REPEATS
    } else {
        more.saturating_sub(1)
    });
}

unsafe extern "C" {
    /// The C library's: that of Rust's library ends the process if a second rank of one process
    /// comes to it.
    safe fn exit(code: c_int) -> !;
}

fn end(code: i32) -> ! {
    state::abandon();
    exit(code)
}

/// The processor time of this rank so far, in nanoseconds: of all its threads, if several may call
/// MPI; else of the one that does.
fn clock() -> u64 {
    let threads = &unguarded().threads;
    if threads::allowed() { threads.time() } else { read(ClockId::ThreadCPUTime) }
}

/// The time of a clock, in nanoseconds.
pub fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

thread_local! {
    /// The processor time of this thread when its call began, where other threads may compute until
    /// it ends.
    static BEGAN: Cell<Option<u64>> = const { Cell::new(None) };
    /// The processor time of this thread when a tool that records the program began to work, or the
    /// library was left since; none if there is none at work.
    static TOOL: Cell<Option<u64>> = const { Cell::new(None) };
}

/// The properties of a process that has connected with the simulator.
#[derive(Debug)]
pub struct Connected {
    /// The number of ranks that there is room for.
    pub universe: u32,
    /// The number of the program that it runs, among those that were started together.
    pub program: u32,
    /// The place of the message that made it a rank, if others started it.
    pub birth: Offset,
}

/// Connects this process with the simulator that started it, and waits for its first turn. Started
/// by itself, it is alone.
pub fn connect() -> Result<Connected> {
    let mpi = mpi();
    if let Some(port) = mpi.port.get() {
        if let Some(options) = mpi.options.take() {
            options.adopt(&mpi);
        }
        return Ok(Connected { universe: port.ranks(), program: 0, birth: 0 });
    }
    let failed = |text: &str| Error::new(abi::ERR_OTHER, text.to_owned());
    let Ok(said) = std::env::var(ENVIRONMENT) else {
        let port = crate::singleton::port(end)?;
        mpi.is_singleton.set(true);
        let port = mpi.port.get_or_init(|| port);
        return Ok(Connected { universe: port.ranks(), program: 0, birth: 0 });
    };
    let numbers: Vec<u32> = said.split(',').filter_map(|word| word.parse().ok()).collect();
    let [file, channels, rank, first, universe, program] = numbers.as_slice() else {
        return Err(failed(&format!("{ENVIRONMENT} is `{said}`")));
    };
    mpi.comms.call(*rank);
    // When what started this process is ended with the simulator, so is this; where the system
    // cannot do that, it stays.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // SAFETY: the simulator opened it for this process, which uses it only here.
    let memory = unsafe { Memory::open(file.cast_signed(), *channels) };
    let memory = memory.map_err(|lost| {
        let why = match &lost {
            Lost::Unmapped(_) => String::new(),
            Lost::Closed => format!("; {LAUNCHER}"),
            Lost::Ended => "; nothing is simulated any more".to_owned(),
        };
        failed(&format!("there is no way to the simulator's memory: {lost}{why}"))
    })?;
    let channel =
        memory.channel(*rank).ok_or_else(|| failed(&format!("{ENVIRONMENT} is `{said}`")))?;
    match channel.claim() {
        MpiUse::Never => wait_for_turn(channel),
        MpiUse::Now => {
            memory.refuse();
            return Err(failed(&format!(
                "another process is or was rank {rank} already; {LAUNCHER}"
            )));
        }
        MpiUse::Before => {
            memory.refuse();
            return Err(failed(&format!(
                "rank {rank} is over: the process that was this rank has called MPI_Finalize, and \
                 a second program cannot be a rank again; a run of heddle mpirun for each program \
                 can"
            )));
        }
    }
    RankOptions::new(|name| std::env::var_os(name)).adopt(&mpi);
    let writer = Writer::new(memory, *rank);
    let port = mpi.port.get_or_init(|| Client::new(writer, *rank, *first, Box::new(Process), end));
    port.locate_by(&place::Stack);
    Ok(Connected { universe: *universe, program: *program, birth: port.begin() })
}

/// Connects a rank that the simulator holds in its own process, where `variables` are exchanged
/// when another rank runs.
pub fn hold(rank: &Mpi, port: Client, options: RankOptions, variables: Rc<[Range<usize>]>) {
    rank.unguarded.threads.forbid();
    rank.shares_process.set(true);
    port.locate_by(&place::Stack);
    rank.options.set(Some(options));
    // A rank is held once.
    let _ = rank.variables.set(variables);
    let _ = rank.port.set(port);
}

impl Mpi {
    /// The way to the simulator.
    pub fn port(&self) -> Result<&Client> {
        self.port.get().ok_or_else(|| Error::new(abi::ERR_OTHER, "MPI is not initialised"))
    }
}

/// Simulated time in picoseconds, for tools that record what the program does: looking costs
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_now() -> u64 {
    alongside(|mpi| mpi.port.get().map_or(0, |port| port.poll(Poll::Nothing)))
}

/// Simulated time in picoseconds where a call begins: when what was computed since the last one has
/// passed. From here on a tool is at work.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_computed() -> u64 {
    let now = look(|_, port| port.computed());
    heddle_records();
    now
}

/// A tool that records the program is at work on this thread, until [`heddle_recorded`]: what it
/// does is no computation.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_records() {
    alongside(|mpi| {
        if mpi.measured.get().is_some() {
            TOOL.set(Some(own_clock()));
        }
    });
}

/// The tool has recorded the call.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_recorded() {
    alongside(leave_out_tool);
    TOOL.set(None);
}

/// The processor time of this thread, where others may compute as well.
fn own_clock() -> u64 {
    if threads::allowed() { read(ClockId::ThreadCPUTime) } else { 0 }
}

/// Leaves out the computation of the tool at work, but not that of other threads meanwhile. Returns
/// whether a tool is at work.
fn leave_out_tool(mpi: &Mpi) -> bool {
    let (Some(began), Some(last)) = (TOOL.get(), mpi.measured.get()) else { return false };
    let now = if threads::allowed() { last + own_clock().saturating_sub(began) } else { clock() };
    mpi.measured.set(Some(now));
    true
}

/// The time in picoseconds at which the rank last looked at or changed memory that ranks share; 0
/// if it has not since this was last asked.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_moment() -> u64 {
    alongside(|mpi| mpi.moment.take())
}

/// The number of the call among those of all ranks that took locks of a window or gave some back,
/// as several may do so at the same picosecond. 0 if it did neither, or that was asked before.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_turn() -> u64 {
    alongside(|mpi| mpi.turn.take())
}

/// A function that is told of a look at the clock: when it began and ended, in picoseconds.
pub type LookHook = extern "C" fn(u64, u64);

/// Looks at the clock are told from now on: as they take their turn with what else the rank does, a
/// replay of what is recorded needs them.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_tell_looks(hook: LookHook) {
    alongside(|mpi| mpi.look_hook.set(Some(hook)));
}

/// A function that is told of something within a call: when it began and ended, in picoseconds, and
/// whether it is a turn, or an agreement of the ranks of a communicator.
pub type AgreementHook = extern "C" fn(begin: u64, end: u64, is_turn: bool);

/// Agreements within calls are told from now on, and turns: a replay of what is recorded needs
/// those of MPI-IO.
#[unsafe(no_mangle)]
pub extern "C" fn heddle_tell_agreements(hook: AgreementHook) {
    alongside(|mpi| mpi.agreement_hook.set(Some(hook)));
}

/// Does something of which is told.
pub fn tell<T>(port: &Client, is_turn: bool, act: impl FnOnce() -> T) -> T {
    let Some(hook) = mpi().agreement_hook.get() else { return act() };
    let begin = port.computed();
    let result = act();
    let end = port.time();
    suspended(|| hook(begin, end, is_turn));
    result
}

/// A look at the clock, in picoseconds.
pub fn time(mpi: &Mpi, port: &Client) -> u64 {
    let Some(hook) = mpi.look_hook.get() else { return port.poll(Poll::Time) };
    let begin = port.computed();
    let end = port.poll(Poll::Time);
    suspended(|| hook(begin, end));
    end
}

/// Simulated time in picoseconds, with all that was computed until now; 0 for who is no rank.
pub fn look(now: impl Fn(&Mpi, &Client) -> u64) -> u64 {
    alongside(|mpi| {
        let Some(port) = mpi.port.get() else { return 0 };
        computed(mpi);
        port.tell_call("MPI_Wtime");
        let now = now(mpi, port);
        leave(mpi);
        now
    })
}

/// A call begins.
pub fn enter(mpi: &Mpi, name: &'static str) {
    // To find the place of a call is no computation of the program.
    computed(mpi);
    if let Some(port) = mpi.port.get() {
        port.enter(name);
    }
}

/// Tells the simulator what the rank computed since the last call.
pub fn computed(mpi: &Mpi) {
    let told = leave_out_tool(mpi) && !threads::allowed();
    if threads::allowed() && mpi.measured.get().is_some() {
        BEGAN.set(Some(read(ClockId::ThreadCPUTime)));
    }
    if let (true, Some(port)) = (mpi.counted.get(), mpi.port.get()) {
        port.say(&Command::Compute(0));
    }
    // Otherwise the computation before is told already.
    if !told {
        meanwhile(mpi);
    }
}

/// Tells the simulator what threads computed while this one waits in a call.
pub fn meanwhile(mpi: &Mpi) {
    if let (Some(last), Some(port)) = (mpi.measured.get(), mpi.port.get()) {
        let now = clock();
        let computed = now.saturating_sub(last);
        if computed > 0 {
            mpi.measured.set(Some(now));
            port.say(&Command::Compute(computed));
            let running = &mpi.blocks.running;
            running.set(running.get().saturating_add(computed));
        }
    }
}

/// A call ends. What the library itself did is no computation; what other threads did meanwhile is.
pub fn leave(mpi: &Mpi) {
    let Some(last) = mpi.measured.get() else { return };
    mpi.measured.set(Some(match BEGAN.take() {
        Some(began) => last + read(ClockId::ThreadCPUTime).saturating_sub(began),
        None => clock(),
    }));
    if TOOL.get().is_some() {
        TOOL.set(Some(own_clock()));
    }
}

/// Writes out what the program has written in C and Fortran, which stays in buffers where it does
/// not go to a terminal.
pub fn flush_streams() {
    // SAFETY: the name is a string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_gfortran_flush_i4".as_ptr()) };
    // SAFETY: null, or the Fortran library's function, of this type.
    let flush: Option<extern "C" fn(*const c_int)> = unsafe { std::mem::transmute(found) };
    if let Some(flush) = flush {
        // With no unit, all of them.
        flush(std::ptr::null());
    }
    // SAFETY: all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

/// Ends all ranks. What this one has written is kept: it may say why.
pub fn abort(code: c_int) -> ! {
    flush_streams();
    alongside(|mpi| mpi.port.get().map(|port| port.abort(code)));
    end(code)
}
