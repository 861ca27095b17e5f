//! The functions by which a program queries a communicator.

use std::ffi::{c_char, c_int};

use super::Comm;
use super::create::hints;
use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::error::Error;
use crate::state::mpi;
use crate::{check, mpi_functions};

mpi_functions! {
    local fn Comm_size(comm: Handle, size: Out<c_int>) about Comm(comm) {
        size.set(mpi().comm(comm)?.size() as c_int)
    }

    local fn Comm_rank(comm: Handle, rank: Out<c_int>) about Comm(comm) {
        rank.set(mpi().comm(comm)?.rank() as c_int)
    }

    fn Comm_group(comm: Handle, group: Out<Handle>) about Comm(comm) {
        let comm = mpi().comm(comm)?;
        group.check()?;
        group.set(mpi().add_group(comm.local.clone()))
    }

    local fn Comm_test_inter(comm: Handle, flag: Out<c_int>) about Comm(comm) {
        flag.set(c_int::from(mpi().comm(comm)?.is_inter()))
    }

    local fn Comm_remote_size(comm: Handle, size: Out<c_int>) about Comm(comm) {
        let comm = mpi().comm(comm)?;
        check!(comm.is_inter(), ERR_COMM, "{} has no remote group", comm.display_name());
        size.set(comm.peers().size() as c_int)
    }

    fn Comm_remote_group(comm: Handle, group: Out<Handle>) about Comm(comm) {
        let comm = mpi().comm(comm)?;
        check!(comm.is_inter(), ERR_COMM, "{} has no remote group", comm.display_name());
        group.check()?;
        group.set(mpi().add_group(comm.peers().clone()))
    }

    fn Comm_compare(comm1: Handle, comm2: Handle, result: Out<c_int>) about Comm(comm1) {
        let one = mpi().comm(comm1)?;
        result.set(compare(&one, &*mpi().comm(comm2)?))
    }

    fn Comm_set_name(comm: Handle, comm_name: In<c_char>) about Comm(comm) {
        let comm = mpi().comm(comm)?;
        let Some(mut name) = comm_name.bytes() else {
            return Err(Error::new(abi::ERR_ARG, "the name is a null pointer"));
        };
        name.truncate(abi::MAX_OBJECT_NAME as usize - 1);
        comm.name.replace(name);
        Ok(())
    }

    fn Comm_get_name(comm: Handle, comm_name: Out<c_char>, resultlen: Out<c_int>) about Comm(comm) {
        let name = match comm {
            // Its name can be asked, though nothing else.
            abi::COMM_NULL => b"MPI_COMM_NULL".to_vec(),
            _ => mpi().comm(comm)?.name.borrow().clone(),
        };
        let length = comm_name.set_bytes(&name, abi::MAX_OBJECT_NAME as usize)?;
        resultlen.set(length as c_int)
    }

    fn Comm_set_info(comm: Handle, info: Handle) about Comm(comm) {
        let comm = mpi().comm(comm)?;
        check!(info != abi::INFO_NULL, ERR_INFO, "the info object is MPI_INFO_NULL");
        let given = hints(info)?;
        comm.info.borrow_mut().take_over(given);
        Ok(())
    }

    fn Comm_get_info(comm: Handle, info_used: Out<Handle>) about Comm(comm) {
        let comm = mpi().comm(comm)?;
        info_used.check()?;
        let used = comm.info.borrow().clone();
        info_used.set(mpi().add_used_info(used))
    }

    fn Comm_get_parent(parent: Out<Handle>) {
        parent.set(mpi().comms.parent.get())
    }
}

/// `IDENT`, `CONGRUENT`, `SIMILAR` or `UNEQUAL`.
fn compare(one: &Comm, other: &Comm) -> c_int {
    if one.is_inter() != other.is_inter() {
        return abi::UNEQUAL;
    }
    if one.context == other.context {
        return abi::IDENT;
    }
    let worst = |results: [c_int; 2]| match results {
        [abi::IDENT, abi::IDENT] => abi::CONGRUENT,
        [abi::UNEQUAL, _] | [_, abi::UNEQUAL] => abi::UNEQUAL,
        _ => abi::SIMILAR,
    };
    worst([one.local.compare(&other.local), one.peers().compare(other.peers())])
}
