//! The library's state of a rank.
//!
//! A rank's state is reached with [`mpi`]. It is used by one thread at a time: [`enter`] takes the
//! library's lock, and whoever waits for the simulator gives it up.

use std::cell::{Cell, LazyCell};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::attributes::Keyvals;
use crate::codes::Codes;
use crate::comm::Comms;
use crate::datatype::Types;
use crate::environment::{Environment, check_phase};
use crate::errhandler::Errhandlers;
use crate::file::Files;
use crate::group::Group;
use crate::info::Infos;
use crate::memory::Memory;
use crate::op::Operations;
use crate::session::Session;
use crate::table::Table;
use crate::tools::Tools;

/// A state that few programs use: made when it is first asked for, as a process may hold thousands
/// of ranks.
type Rare<T> = LazyCell<Box<T>>;

/// A rank's state. Each module keeps what it needs in a field of its own, with interior mutability;
/// nothing stays borrowed while a function of the program is called.
#[derive(Debug, Default)]
pub struct Mpi {
    /// The call that is under way, for messages.
    pub call: Cell<&'static str>,
    /// The number of calls that the rank's first thread is in: more than one where what it calls in
    /// one calls again.
    depth: Cell<u32>,
    /// Groups.
    pub groups: Table<Group>,
    /// Communicators.
    pub comms: Comms,
    /// Keyvals of attributes.
    pub keyvals: Rare<Keyvals>,
    /// Error handlers.
    pub errhandlers: Errhandlers,
    /// Error classes and codes that the program added.
    pub codes: Rare<Codes>,
    /// Info objects.
    pub infos: Infos,
    /// Sessions.
    pub sessions: Table<Session>,
    /// The state of the interface for tools.
    pub tools: Tools,
    /// The phase of the program, and its identity in the run.
    pub environment: Environment,
    /// Datatypes.
    pub types: Types,
    /// Operations.
    pub ops: Operations,
    /// Memory and buffers.
    pub memory: Rare<Memory>,
    /// The way to the simulator.
    pub port: std::cell::OnceCell<rank_ipc::Client>,
    /// The simulator's options for a rank that shares its process, until it uses MPI: what it does
    /// before does not count.
    pub options: Cell<Option<crate::simulator::RankOptions>>,
    /// The processor time at which the last call ended, if computation counts.
    pub measured: Cell<Option<u64>>,
    /// The time in picoseconds at which the rank last looked at or changed memory that ranks share;
    /// 0 once that has been asked for.
    pub moment: Cell<u64>,
    /// Its number among the calls of all ranks that took locks of a window or gave some back; 0
    /// likewise.
    pub turn: Cell<u64>,
    /// The function that is told of looks at the clock.
    pub look_hook: Cell<Option<crate::simulator::LookHook>>,
    /// The function that is told of agreements and turns.
    pub agreement_hook: Cell<Option<crate::simulator::AgreementHook>>,
    /// The library tells the simulator each time that the rank computes.
    pub counted: Cell<bool>,
    /// Messages and collectives have no contents: the program's buffers are left alone.
    pub hollow: Cell<bool>,
    /// There is no simulator.
    pub is_singleton: Cell<bool>,
    /// Its process holds other ranks, too.
    pub shares_process: Cell<bool>,
    /// The program was warned that messages are received as something else than what was sent.
    pub warned: Cell<bool>,
    /// Memory that is this rank's only while it runs.
    pub variables: std::cell::OnceCell<std::rc::Rc<[std::ops::Range<usize>]>>,
    /// Requests.
    pub requests: Table<crate::request::Request>,
    /// Requests that have no operation and no handle any more.
    pub idle: std::cell::RefCell<Vec<std::rc::Rc<crate::request::Request>>>,
    /// Operations whose requests were freed, but whose data has to be taken in.
    pub orphans: std::cell::RefCell<Vec<crate::request::Active>>,
    /// Files.
    pub files: Rare<Files>,
    /// Messages that were probed.
    pub probed: crate::p2p::Probed,
    /// Windows.
    pub windows: Table<crate::window::Window>,
    /// Blocks whose time is sampled.
    pub blocks: crate::extra::Blocks,
    /// Memory that all ranks share.
    pub folded: Rare<crate::extra::Folded>,
    /// Messages that were probed for one receive.
    pub messages: Table<crate::p2p::Message>,
}

/// The state of the rank that is running. The holder of several ranks changes it.
#[cfg(not(test))]
static CURRENT: AtomicPtr<Mpi> = AtomicPtr::new(std::ptr::null_mut());

// Where ranks are threads.
#[cfg(test)]
thread_local! {
    static CURRENT: AtomicPtr<Mpi> = const { AtomicPtr::new(std::ptr::null_mut()) };
}

/// The place of the pointer to the running rank's state.
fn current() -> &'static AtomicPtr<Mpi> {
    #[cfg(not(test))]
    return &CURRENT;
    // SAFETY: tests use it within their thread only.
    #[cfg(test)]
    return CURRENT.with(|current| unsafe { &*std::ptr::from_ref(current) });
}

/// Another rank runs now: who holds several in a process says so.
pub fn run_as(rank: *mut Mpi) {
    current().store(rank, Ordering::Release);
}

/// The state of the calling rank.
#[inline]
pub fn mpi() -> &'static Mpi {
    // SAFETY: null, or a state that lives as long as its rank.
    unsafe { current().load(Ordering::Acquire).as_ref() }.unwrap_or_else(first)
}

/// The state of the rank that runs, if it has one yet.
pub fn known() -> Option<&'static Mpi> {
    // SAFETY: as above.
    unsafe { current().load(Ordering::Acquire).as_ref() }
}

/// The state of a rank that has none yet. It is made by itself, as every function of MPI would have
/// room for it on its stack.
#[cold]
#[inline(never)]
fn first() -> &'static Mpi {
    let made = Box::into_raw(Box::<Mpi>::default());
    current().store(made, Ordering::Release);
    // SAFETY: made above, and never freed.
    unsafe { &*made }
}

/// The rank's first thread is in the library as long as this lives.
#[derive(Debug)]
pub struct Deeper(Option<&'static Mpi>);

impl Mpi {
    /// The calling thread is in the library.
    pub fn deeper(&'static self) -> Deeper {
        let first = self.environment.is_main_thread().then_some(self);
        if let Some(first) = first {
            first.depth.set(first.depth.get() + 1);
        }
        Deeper(first)
    }

    /// True if the rank's first thread is in the library: who calls now, if it is that thread, is
    /// an allocator, say, or handles a signal.
    pub fn is_inside(&self) -> bool {
        self.depth.get() > 0
    }
}

impl Drop for Deeper {
    fn drop(&mut self) {
        if let Some(first) = self.0 {
            first.depth.set(first.depth.get().saturating_sub(1));
        }
    }
}

/// A call is under way as long as this lives.
#[derive(Debug)]
pub struct Inside {
    _deeper: Deeper,
    simulates: bool,
}

/// A call begins.
pub fn enter(name: &'static str) -> Inside {
    begin(name, true)
}

/// A call begins that has nothing to do with the simulator.
pub fn look_up(name: &'static str) -> Inside {
    begin(name, false)
}

#[inline]
fn begin(name: &'static str, simulates: bool) -> Inside {
    let deeper = mpi().deeper();
    crate::threads::enter();
    let mpi = mpi();
    if simulates {
        crate::simulator::enter(mpi, name);
    }
    mpi.call.set(name);
    check_phase(name);
    Inside { _deeper: deeper, simulates }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.simulates {
            crate::simulator::leave(mpi());
        }
        crate::threads::leave();
    }
}
