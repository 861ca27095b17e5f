//! Communicators made from another one: copies, subsets, and their end.

use std::ffi::c_int;
use std::rc::Rc;

use super::Comm;
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::control;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::info::Info;
use crate::state::mpi;
use crate::topology::Topology;
use crate::{check, mpi_functions};

/// The purpose of a context, which is part of its key, so that no two purposes share a key.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// A copy.
    Copy = 1,
    /// A subset that all ranks make.
    Subset,
    /// A subset that its members make.
    OwnSubset,
    /// Parts by colour.
    Split,
    /// Two groups put together.
    Merge,
    /// A bridge between two groups.
    Bridge,
    /// A group and a name.
    FromGroup,
    /// A topology.
    Topology,
    /// Two groups and a name.
    BridgeFromGroups,
    /// The messages of a window.
    Window,
    /// A file's own.
    File,
    /// Two groups that met at a port.
    Door,
    /// The world of processes that were started, and the bridge to it.
    Spawn,
    /// Two ranks that a socket connects.
    Join,
    /// The messages of two partitioned requests that belong together.
    Partitioned,
}

/// The context for what all ranks of `comm` make now; `part` tells apart what disjoint sets of its
/// ranks make at once.
pub(super) fn context(comm: &Comm, purpose: Purpose, part: u64) -> u64 {
    super::context::number(&[purpose as u64, comm.context, comm.next_agreement(), part])
}

/// Makes a communicator that takes its error handler and its session from `parent`, and gives its
/// handle; `COMM_NULL` to those who are not in it.
pub(super) fn child(parent: &Comm, context: u64, local: Group, remote: Option<Group>) -> Handle {
    let comms = &mpi().comms;
    let local = local.of_session(parent.local.session());
    match Comm::new(context, local, remote, comms.me()) {
        Some(comm) => {
            comm.errhandler.replace(parent.errhandler.borrow().clone());
            comms.add(comm)
        }
        None => abi::COMM_NULL,
    }
}

/// A communicator of the same ranks that the program does not know of, for a window's messages.
pub fn private_copy(comm: &Comm) -> Result<Rc<Comm>> {
    let context = context(comm, Purpose::Window, 0);
    let copy = Comm::new(context, comm.local.clone(), None, mpi().comms.me());
    let copy = copy.ok_or_else(|| Error::new(abi::ERR_INTERN, "a rank is not in its own group"))?;
    Ok(Rc::new(copy))
}

/// Copies a communicator, but for its hints. The program's copy functions run first: a copy that
/// they refuse is not made anywhere else either, if they agree.
fn copy(handle: Handle, place: Out<Handle>, hints: Info) -> Result {
    place.check()?;
    let original = mpi().comm(handle)?;
    place.set(abi::COMM_NULL)?;
    let attributes = original.attributes.copies(handle)?;
    let context = context(&original, Purpose::Copy, 0);
    let copy =
        Comm::new(context, original.local.clone(), original.remote.clone(), mpi().comms.me());
    let Some(mut copy) = copy else {
        return Err(Error::new(abi::ERR_INTERN, "a rank is not in its own communicator"));
    };
    copy.attributes = attributes;
    copy.errhandler.replace(original.errhandler.borrow().clone());
    copy.info.replace(hints);
    if let Some(topology) = original.topology() {
        let _ = copy.topology.set(Box::new(topology.clone()));
    }
    place.set(mpi().comms.add(copy))
}

/// The hints that a call passes, of which those that the library knows are kept.
pub(super) fn hints(info: Handle) -> Result<Info> {
    Ok(match info {
        abi::INFO_NULL => Info::default(),
        _ => mpi().info(info)?.hints(),
    })
}

mpi_functions! {
    fn Comm_dup(comm: Handle, newcomm: Out<Handle>) about Comm(comm) {
        copy(comm, newcomm, Info::default())?;
        control::meet(&*mpi().comm(comm)?)
    }

    fn Comm_dup_with_info(comm: Handle, info: Handle, newcomm: Out<Handle>) about Comm(comm) {
        let hints = hints(info)?;
        copy(comm, newcomm, hints)?;
        control::meet(&*mpi().comm(comm)?)
    }

    fn Comm_idup(comm: Handle, newcomm: Out<Handle>, request: Out<Handle>) about Comm(comm) {
        request.check()?;
        copy(comm, newcomm, Info::default())?;
        control::meet_later(comm, request)
    }

    fn Comm_idup_with_info(
        comm: Handle, info: Handle, newcomm: Out<Handle>, request: Out<Handle>
    ) about Comm(comm) {
        request.check()?;
        let hints = hints(info)?;
        copy(comm, newcomm, hints)?;
        control::meet_later(comm, request)
    }

    fn Comm_create(comm: Handle, group: Handle, newcomm: Out<Handle>) about Comm(comm) {
        newcomm.check()?;
        let parent = mpi().comm(comm)?;
        let group = mpi().group(group)?;
        subset_of(&group, &parent)?;
        if parent.is_inter() {
            return newcomm.set(subset_of_inter(&parent, group)?);
        }
        control::meet(&parent)?;
        // Groups that different ranks name at once have no member in common, so the first member
        // tells them apart.
        let first = group.world(0).map_or(u64::MAX, u64::from);
        if group.rank_of(mpi().comms.me()).is_none() {
            parent.next_agreement();
            return newcomm.set(abi::COMM_NULL);
        }
        let context = context(&parent, Purpose::Subset, first);
        newcomm.set(child(&parent, context, group, None))
    }

    fn Comm_create_group(
        comm: Handle, group: Handle, tag: c_int, newcomm: Out<Handle>
    ) about Comm(comm) {
        newcomm.check()?;
        let parent = mpi().intracomm(comm)?;
        let group = mpi().group(group)?;
        check!(tag >= 0, ERR_TAG, "tag {tag}");
        subset_of(&group, &parent)?;
        if group.rank_of(mpi().comms.me()).is_none() {
            return newcomm.set(abi::COMM_NULL);
        }
        let key = [Purpose::OwnSubset as u64, parent.context, tag as u64, group.fingerprint()];
        let context = super::context::next_number(&key);
        let handle = child(&parent, context, group, None);
        control::meet(&*mpi().comm(handle)?)?;
        newcomm.set(handle)
    }

    fn Comm_free(comm: Out<Handle>) about Comm(comm.get().unwrap_or(abi::COMM_NULL)) {
        free(comm)
    }

    fn Comm_disconnect(comm: Out<Handle>) about Comm(comm.get().unwrap_or(abi::COMM_NULL)) {
        let members = mpi().comm(comm.get()?)?;
        free(comm)?;
        // Operations under way end before any rank goes on.
        control::meet(&members)
    }
}

/// Checks that a group's members are in a communicator.
fn subset_of(group: &Group, parent: &Comm) -> Result {
    let stranger = group.iter().find(|&world| parent.local.rank_of(world).is_none());
    match stranger {
        Some(world) => Err(Error::new(
            abi::ERR_GROUP,
            format!("the group's rank {world} of the world is not in the communicator"),
        )),
        None => Ok(()),
    }
}

/// `MPI_Comm_create` of an inter-communicator: each side keeps its subset, and tells the other who
/// that is.
fn subset_of_inter(parent: &Comm, group: Group) -> Result<Handle> {
    let own = group.rank_of(mpi().comms.me()).unwrap_or(u32::MAX);
    let [_, there] = control::exchange_both(parent, &own.to_le_bytes())?;
    let mut members: Vec<(u32, u32)> = parent
        .peers()
        .iter()
        .zip(&there)
        .filter_map(|(world, bytes)| {
            Some((u32::from_le_bytes(bytes.as_slice().try_into().ok()?), world))
        })
        .filter(|&(rank, _)| rank != u32::MAX)
        .collect();
    members.sort_unstable();
    let remote = Group::of(members.into_iter().map(|(_, world)| world).collect());
    if own == u32::MAX || remote.size() == 0 {
        parent.next_agreement();
        return Ok(abi::COMM_NULL);
    }
    let context = context(parent, Purpose::Subset, 0);
    Ok(child(parent, context, group, Some(remote)))
}

/// Frees a communicator: the program's delete functions first, which may refuse.
fn free(place: Out<Handle>) -> Result {
    let handle = place.get()?;
    let comm: Rc<Comm> = mpi().comm(handle)?;
    let predefined = [abi::COMM_WORLD, abi::COMM_SELF].contains(&handle);
    check!(!predefined, ERR_COMM, "{} cannot be freed", comm.display_name());
    comm.attributes.clear(handle)?;
    let comms = &mpi().comms;
    comms.table.remove(handle);
    // Operations under way do not know it by a handle that another may get.
    comm.handle.set(abi::COMM_NULL);
    if comms.parent.get() == handle {
        comms.parent.set(abi::COMM_NULL);
    }
    place.set(abi::COMM_NULL)
}

impl Comm {
    /// A communicator of the same ranks for what the library itself has to say among them. All
    /// ranks make it.
    pub(crate) fn own_copy(&self) -> Result<Self> {
        let context = context(self, Purpose::File, 0);
        let copy = Self::new(context, self.local.clone(), None, mpi().comms.me());
        copy.ok_or_else(|| Error::new(abi::ERR_INTERN, "a rank is not in its own communicator"))
    }

    /// A communicator of the first `size` ranks with a topology; `COMM_NULL` to the others. All
    /// ranks have met before.
    pub(crate) fn with_topology(&self, size: u32, topology: Topology) -> Result<Handle> {
        if self.rank() >= size {
            self.next_agreement();
            return Ok(abi::COMM_NULL);
        }
        let handle = child(self, context(self, Purpose::Topology, 0), self.local.first(size), None);
        set_topology(handle, topology)
    }

    /// A communicator of those who name the same part, in the order they give, with a topology.
    pub(crate) fn part_with_topology(
        &self,
        part: c_int,
        order: c_int,
        topology: Topology,
    ) -> Result<Handle> {
        set_topology(super::split::split(self, part, order)?, topology)
    }
}

/// Gives a new communicator its topology.
fn set_topology(handle: Handle, topology: Topology) -> Result<Handle> {
    let set = mpi().comm(handle)?.topology.set(Box::new(topology));
    debug_assert!(set.is_ok(), "a new communicator has no topology");
    Ok(handle)
}
