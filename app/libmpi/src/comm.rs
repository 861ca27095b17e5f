//! Communicators (MPI 4.1, chapter 7): a context in which messages travel and the group, or the two
//! groups, of those who use it.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::abi::{self, Handle};
use crate::attributes::{Annotated, Attributes};
use crate::check;
use crate::environment::Identity;
use crate::errhandler::{Errhandler, Handled};
use crate::error::{Error, Result};
use crate::group::Group;
use crate::info::Info;
use crate::memory::Owner;
use crate::state::Mpi;
use crate::table::Table;
use crate::topology::Topology;

pub mod context;
mod create;
mod from_groups;
mod functions;
mod inter;
mod join;
mod names;
mod ports;
mod spawn;
mod split;
#[cfg(test)]
mod tests;

pub use create::{Purpose, private_copy};

/// The context of the messages of the world that the run began with.
pub const WORLD: u64 = 0;
/// The context of messages of a rank to itself, which every rank has for its own; and of what ranks
/// of all worlds tell each other by numbers of the library. There is no other rank in it whose
/// leader could meet this one by a tag of the program ([`crate::control::exchange_pair`]).
pub const OWN: u64 = 1;

/// A communicator.
#[derive(Debug)]
pub struct Comm {
    /// The number by which messages of this communicator are told from others, the same at all its
    /// ranks.
    pub context: u64,
    /// The group that this rank is in.
    pub local: Group,
    /// The other group of an inter-communicator: the ranks that messages go to and come from.
    pub remote: Option<Group>,
    /// This rank's number in its group.
    pub rank: u32,
    /// The attributes that the program set.
    pub attributes: Attributes,
    errhandler: RefCell<Errhandler>,
    name: RefCell<Vec<u8>>,
    info: RefCell<Info>,
    topology: OnceCell<Box<Topology>>,
    handle: Cell<Handle>,
    collectives: Cell<u64>,
    persistent: Cell<u32>,
    /// The number that the next collective has, if it is started again.
    number: Cell<Option<u64>>,
    agreements: Cell<u64>,
    /// The simulator has been told of it.
    pub registered: Cell<bool>,
}

/// In the number of a collective: it is a start of a persistent one. There are fewer than 2^31 of
/// these.
const PERSISTENT: u64 = 1 << 63;

impl Comm {
    /// A communicator of which this process is a member; nothing if it is not.
    fn new(context: u64, local: Group, remote: Option<Group>, me: u32) -> Option<Self> {
        let rank = local.rank_of(me)?;
        let remote = remote.map(|remote| remote.of_session(local.session()));
        Some(Self {
            context,
            local,
            remote,
            rank,
            attributes: Attributes::default(),
            errhandler: RefCell::new(Errhandler::Fatal),
            name: RefCell::default(),
            info: RefCell::default(),
            topology: OnceCell::new(),
            handle: Cell::new(abi::COMM_NULL),
            collectives: Cell::new(0),
            persistent: Cell::new(0),
            number: Cell::new(None),
            agreements: Cell::new(0),
            // The simulator knows the world, and each rank alone.
            registered: Cell::new(context <= OWN),
        })
    }

    /// Number of ranks in the local group.
    pub fn size(&self) -> u32 {
        self.local.size()
    }

    /// This rank's number in its group.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The ranks that messages go to and come from: the remote group of an inter-communicator, else
    /// the group.
    pub fn peers(&self) -> &Group {
        self.remote.as_ref().unwrap_or(&self.local)
    }

    /// The rank in the world of a peer.
    pub fn world_rank(&self, rank: u32) -> Option<u32> {
        self.peers().world(rank)
    }

    /// The rank among the peers of a rank of the world.
    pub fn rank_of_world(&self, world: u32) -> Option<u32> {
        self.peers().rank_of(world)
    }

    /// True if it joins two groups.
    pub fn is_inter(&self) -> bool {
        self.remote.is_some()
    }

    /// The number of this collective operation among those of the communicator; the same at all
    /// ranks, since they call in the same order.
    pub fn next_collective(&self) -> u64 {
        let next = || self.collectives.replace(self.collectives.get() + 1);
        self.number.take().unwrap_or_else(next)
    }

    /// Makes numbers for the starts of a persistent collective: its ranks make such in the same
    /// order, and may start them in any (MPI 4.1, section 6.13).
    pub fn persistent_collective(&self) -> impl Fn() -> u64 + use<> {
        let made = self.persistent.replace(self.persistent.get().wrapping_add(1));
        let starts = Cell::new(0_u32);
        move || {
            let start = starts.replace(starts.get().wrapping_add(1));
            PERSISTENT | u64::from(made) << 32 | u64::from(start)
        }
    }

    /// Does what may start one collective, by this number.
    pub fn numbered<T>(&self, number: u64, start: impl FnOnce() -> T) -> T {
        self.number.set(Some(number));
        let outcome = start();
        self.number.set(None);
        outcome
    }

    /// The number of the next operation that makes something of the communicator; a program makes
    /// few. A number of their own keeps the context keys of communicators apart from the tags of
    /// collectives.
    pub fn next_agreement(&self) -> u64 {
        self.agreements.replace(self.agreements.get() + 1)
    }

    /// The handle by which the program knows it.
    pub fn handle(&self) -> Handle {
        self.handle.get()
    }

    /// The name, for messages.
    pub fn display_name(&self) -> String {
        let name = self.name.borrow();
        if name.is_empty() {
            format!("unnamed communicator of {} ranks", self.size())
        } else {
            String::from_utf8_lossy(&name).into_owned()
        }
    }

    /// The process topology, if it has one.
    pub fn topology(&self) -> Option<&Topology> {
        self.topology.get().map(|topology| &**topology)
    }

    /// The ranks that a neighbourhood collective receives from and sends to, in the order of its
    /// buffers; nothing if there is no topology. `PROC_NULL` stands for a neighbour beyond the edge
    /// of a grid.
    pub fn neighbours(&self) -> Option<(Vec<c_int>, Vec<c_int>)> {
        self.topology().map(|topology| topology.neighbours(self.rank))
    }

    /// The value of a hint that the program gave.
    pub fn hint(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.info.borrow().get(key).map(<[u8]>::to_vec)
    }
}

impl Drop for Comm {
    /// Releases the number of the communicator, which may be used again when the last operation on
    /// it has ended as well.
    fn drop(&mut self) {
        if self.context > OWN {
            crate::state::mpi().memory.forget(Owner::Comm(self.context));
            let members = self.local.size() + self.remote.as_ref().map_or(0, Group::size);
            crate::control::release(self.context, members);
        }
    }
}

impl Handled for Comm {
    fn errhandler(&self) -> &RefCell<Errhandler> {
        &self.errhandler
    }

    fn title(&self) -> Option<String> {
        Some(self.display_name())
    }
}

impl Annotated for Comm {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn predefined(&self, keyval: c_int) -> Option<*mut c_void> {
        crate::environment::attribute(keyval)
    }
}

/// The communicators of a rank.
#[derive(Debug, Default)]
pub struct Comms {
    table: Table<Comm>,
    world: RefCell<Option<Rc<Comm>>>,
    /// Made when it is first asked for.
    own: RefCell<Option<Rc<Comm>>>,
    me: Cell<u32>,
    /// The largest number of ranks that the run can have.
    most: Cell<u32>,
    /// The group of the world, and the number of its messages.
    of_world: RefCell<(Group, u64)>,
    /// The handle for those who started this process; of other processes, and when it was freed,
    /// `COMM_NULL`.
    parent: Cell<Handle>,
    /// Error codes of the last start of processes.
    codes: Cell<c_int>,
    /// The number of ports that it has opened.
    ports: Cell<u32>,
    /// The number of times that something was made outside of any communicator's order, by its key.
    made: RefCell<FxHashMap<Vec<u64>, u64>>,
}

impl Comms {
    /// This process's rank in the world, also before there is a communicator of the world.
    pub fn me(&self) -> u32 {
        self.me.get()
    }

    /// Number of ranks of the world.
    pub fn world_size(&self) -> u32 {
        self.of_world.borrow().0.size()
    }

    /// All communicators that the program has not freed, for messages.
    pub fn all(&self) -> Vec<Rc<Comm>> {
        let predefined = [self.world.borrow().clone(), self.own.borrow().clone()];
        predefined.into_iter().flatten().chain(self.table.all()).collect()
    }

    /// The group of a process set that the library knows by name, in whatever case.
    pub fn process_set(&self, name: &[u8]) -> Option<Group> {
        match name.to_ascii_uppercase().as_slice() {
            b"MPI://WORLD" => Some(self.of_world.borrow().0.clone()),
            b"MPI://SELF" => Some(Group::range(self.me(), 1)),
            _ => None,
        }
    }

    /// Learns this process's number, by which messages call it before it has its place.
    pub fn call(&self, rank: u32) {
        self.me.set(rank);
    }

    /// Learns this process's place in the world.
    pub fn place(&self, who: &Identity) -> Result {
        self.me.set(who.rank);
        self.most.set(who.most);
        self.of_world.replace((Group::range(0, who.first), WORLD));
        self.parent.set(abi::COMM_NULL);
        who.birth.as_deref().map_or(Ok(()), spawn::born)
    }

    /// Makes the communicator of the world.
    pub fn start(&self) {
        let (world, context) = self.of_world.borrow().clone();
        self.world.replace(self.predefined(context, world, abi::COMM_WORLD, "MPI_COMM_WORLD"));
    }

    fn predefined(
        &self,
        context: u64,
        group: Group,
        handle: Handle,
        name: &str,
    ) -> Option<Rc<Comm>> {
        let comm = Comm::new(context, group, None, self.me())?;
        comm.handle.set(handle);
        *comm.name.borrow_mut() = name.into();
        Some(Rc::new(comm))
    }

    /// The communicator of the rank itself, which is there as long as that of the world is.
    fn own(&self) -> Option<Rc<Comm>> {
        let mut own = self.own.borrow_mut();
        if own.is_none() && self.world.borrow().is_some() {
            let group = Group::range(self.me(), 1);
            *own = self.predefined(OWN, group, abi::COMM_SELF, "MPI_COMM_SELF");
        }
        own.clone()
    }

    /// The communicator of this process alone, if the program has asked for it.
    pub fn known_own(&self) -> Option<Rc<Comm>> {
        self.own.borrow().clone()
    }

    /// Forgets the predefined communicators.
    pub fn end(&self) {
        self.world.take();
        self.own.take();
    }

    /// The number of times that this key was asked for before.
    pub(crate) fn again(&self, key: &[u64]) -> u64 {
        let mut made = self.made.borrow_mut();
        let times = made.entry(key.to_vec()).or_default();
        *times += 1;
        *times - 1
    }

    /// A handle for a new communicator.
    fn add(&self, comm: Comm) -> Handle {
        let comm = Rc::new(comm);
        let handle = self.table.add(Rc::clone(&comm));
        comm.handle.set(handle);
        handle
    }
}

impl Mpi {
    /// The communicator of a handle.
    pub fn comm(&self, handle: Handle) -> Result<Rc<Comm>> {
        let found = match handle {
            abi::COMM_WORLD => self.comms.world.borrow().clone(),
            abi::COMM_SELF => self.comms.own(),
            abi::COMM_NULL => {
                return Err(Error::new(abi::ERR_COMM, "the communicator is MPI_COMM_NULL"));
            }
            _ => self.comms.table.get(handle),
        };
        found.ok_or_else(|| Error::new(abi::ERR_COMM, "no such communicator (freed?)"))
    }

    /// The communicator of a handle, which must have one group only.
    pub fn intracomm(&self, handle: Handle) -> Result<Rc<Comm>> {
        let comm = self.comm(handle)?;
        check!(
            !comm.is_inter(),
            ERR_COMM,
            "an inter-communicator where one with one group is meant"
        );
        Ok(comm)
    }
}
