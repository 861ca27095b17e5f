//! The functions of MPI on groups of processes (MPI 4.1, section 7.3).

use std::ffi::{c_char, c_int};

use objects::group::ranges::{Range, members, ranks};
use objects::group::translate;
pub use objects::group::{Group, Groups, Members};

use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::error::{Error, Result};
use crate::mpi_functions;
use crate::state::{Mpi, mpi};

mpi_functions! {
    local fn Group_size(group: Handle, size: Out<c_int>) {
        size.set(mpi().group(group)?.size() as c_int)
    }

    local fn Group_rank(group: Handle, rank: Out<c_int>) {
        let own = mpi().group(group)?.rank_of(mpi().comms.me());
        rank.set(own.map_or(abi::UNDEFINED, |rank| rank as c_int))
    }

    local fn Group_translate_ranks(
        group1: Handle, n: c_int, ranks1: In<c_int>, group2: Handle, ranks2: Out<c_int>,
    ) {
        let (from, to) = (mpi().group(group1)?, mpi().group(group2)?);
        ranks2.set_all(translate(&from, &ranks1.list(n)?, &to)?)
    }

    fn Group_compare(group1: Handle, group2: Handle, result: Out<c_int>) {
        result.set(mpi().group(group1)?.compare(&mpi().group(group2)?))
    }

    fn Group_union(group1: Handle, group2: Handle, newgroup: Out<Handle>) {
        let (one, other) = (mpi().group(group1)?, mpi().group(group2)?);
        let added = other.without(|world| one.rank_of(world).is_some());
        let session = one.session().or(other.session());
        let all = if added.size() == 0 {
            one
        } else {
            Group::of(one.iter().chain(added.iter()).collect())
        };
        give(newgroup, all.of_session(session))
    }

    fn Group_intersection(group1: Handle, group2: Handle, newgroup: Out<Handle>) {
        let other = mpi().group(group2)?;
        give(newgroup, mpi().group(group1)?.without(|world| other.rank_of(world).is_none()))
    }

    fn Group_difference(group1: Handle, group2: Handle, newgroup: Out<Handle>) {
        let other = mpi().group(group2)?;
        give(newgroup, mpi().group(group1)?.without(|world| other.rank_of(world).is_some()))
    }

    fn Group_incl(group: Handle, n: c_int, list: In<c_int>, newgroup: Out<Handle>) {
        let group = mpi().group(group)?;
        let chosen = ranks(&group, &list.list(n)?)?;
        give(newgroup, group.chosen(chosen))
    }

    fn Group_excl(group: Handle, n: c_int, list: In<c_int>, newgroup: Out<Handle>) {
        let group = mpi().group(group)?;
        let left_out = group.chosen(ranks(&group, &list.list(n)?)?);
        give(newgroup, group.without(|world| left_out.rank_of(world).is_some()))
    }

    fn Group_range_incl(group: Handle, n: c_int, ranges: In<Range>, newgroup: Out<Handle>) {
        let group = mpi().group(group)?;
        let chosen = members(&group, &ranges.list(n)?)?;
        give(newgroup, group.chosen(chosen))
    }

    fn Group_range_excl(group: Handle, n: c_int, ranges: In<Range>, newgroup: Out<Handle>) {
        let group = mpi().group(group)?;
        let left_out = group.chosen(members(&group, &ranges.list(n)?)?);
        give(newgroup, group.without(|world| left_out.rank_of(world).is_some()))
    }

    fn Group_free(group: Out<Handle>) {
        let handle = group.get()?;
        mpi().groups.free(handle)?;
        group.set(abi::GROUP_NULL)
    }

    fn Group_from_session_pset(
        session: Handle, pset_name: In<c_char>, newgroup: Out<Handle>
    ) about Session(session) {
        mpi().session(session)?;
        let Some(name) = pset_name.bytes() else {
            return Err(Error::new(abi::ERR_ARG, "the name of a process set is a null pointer"));
        };
        match mpi().comms.process_set(&name) {
            Some(group) => give(newgroup, group.of_session(Some(session))),
            None => Err(Error::new(
                abi::ERR_ARG,
                format!("no process set {}", String::from_utf8_lossy(&name)),
            )),
        }
    }
}

/// Hands a new group to the program.
fn give(place: Out<Handle>, group: Group) -> Result {
    place.check()?;
    place.set(mpi().add_group(group))
}

impl Mpi {
    /// The group of a handle.
    pub fn group(&self, handle: Handle) -> Result<Group> {
        Ok(self.groups.get(handle)?)
    }

    /// A handle for a group.
    pub fn add_group(&self, group: Group) -> Handle {
        self.groups.add(group)
    }
}

/// Returns the members of a group in the form that the simulator is told.
pub fn told(group: &Group) -> rank_ipc::Members {
    match group.members() {
        Members::Even { first, stride, count } => {
            rank_ipc::Members::Range { first: *first, stride: *stride as u32, count: *count }
        }
        Members::List { ranks, .. } => rank_ipc::Members::List(ranks.clone()),
    }
}
