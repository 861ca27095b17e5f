//! The library's state of a rank, and the guard through which it is reached.
//!
//! A thread holds the state of its rank while it is in a call of MPI ([`enter`], [`look_up`]) or in
//! a function of the library beside MPI ([`alongside`]). It then has the lock of [`threads`], so
//! that no other thread is in the library. [`mpi`] returns a [`Guard`] to a thread that holds the
//! state, and to no other. While a function of the program runs within a call, and while a thread
//! waits without the lock, the state is given up ([`suspended`]): the guards that exist belong to
//! frames that do not run. A call that begins while the state is held by its own thread is nested
//! in something that MPI does not call, a signal handler or an allocator, and is an error.
//!
//! The fields that other threads may look at without the lock are those of [`Unguarded`].

use std::cell::{Cell, LazyCell};
use std::sync::OnceLock;

use crate::attributes::Keyvals;
use crate::codes::Codes;
use crate::comm::Comms;
use crate::datatype::Types;
use crate::environment::Environment;
use crate::errhandler::Errhandlers;
use crate::file::Files;
use crate::group::Groups;
use crate::info::Infos;
use crate::memory::Memory;
use crate::op::Operations;
use crate::session::Session;
use crate::table::Table;
use crate::tools::Tools;

mod guard;
#[cfg(test)]
mod tests;
mod unguarded;

pub use guard::{Guard, Inside, abandon, alongside, enter, look_up, mpi, suspended};
pub use unguarded::{
    Unguarded, move_to_own_thread, run_as, time_of_last_reply, unguarded, unguarded_if_made,
};

/// A state that few programs use: made when it is first asked for, as a process may hold thousands
/// of ranks.
type Rare<T> = LazyCell<Box<T>>;

/// A rank's state. Each module keeps what it needs in a field of its own, with interior mutability;
/// nothing stays borrowed while a function of the program is called. A state is never freed.
#[derive(Debug, Default)]
pub struct Mpi {
    /// The call that is under way, for messages.
    pub call: Cell<&'static str>,
    /// The fields that any thread may look at.
    pub unguarded: Unguarded,
    /// The number of guards of frames that run or may go on to run.
    guards: Cell<u32>,
    /// Groups.
    pub groups: Groups,
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
    pub port: OnceLock<rank_ipc::Client>,
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
    /// True if it has asked for a thread of its own, and has none yet.
    pub wants_thread: Cell<bool>,
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
    /// Messages that were probed for one receive.
    pub messages: Table<crate::p2p::Message>,
}
