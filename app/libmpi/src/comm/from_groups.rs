//! Communicators made from groups and a name, without a communicator to start from.

use std::ffi::{c_char, c_int};

use super::Comm;
use super::create::{Purpose, hints};
use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::control;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::info::Info;
use crate::state::mpi;
use crate::{check, mpi_functions};

mpi_functions! {
    fn Comm_create_from_group(
        group: Handle, stringtag: In<c_char>, info: Handle, errhandler: Handle,
        newcomm: Out<Handle>,
    ) about NewComm(errhandler) {
        newcomm.check()?;
        let group = mpi().group(group)?;
        let handler = mpi().errhandler(errhandler)?;
        let hints = hints(info)?;
        let key = [Purpose::FromGroup as u64, name(stringtag)?, group.fingerprint()];
        let Some(comm) = made(&key, group, None, hints) else {
            return newcomm.set(abi::COMM_NULL);
        };
        comm.errhandler.replace(handler);
        control::meet(&comm)?;
        newcomm.set(mpi().comms.add(comm))
    }

    fn Intercomm_create_from_groups(
        local_group: Handle, local_leader: c_int, remote_group: Handle, remote_leader: c_int,
        stringtag: In<c_char>, info: Handle, errhandler: Handle, newintercomm: Out<Handle>,
    ) about NewComm(errhandler) {
        newintercomm.check()?;
        let (local, remote) = (mpi().group(local_group)?, mpi().group(remote_group)?);
        for (leader, group) in [(local_leader, &local), (remote_leader, &remote)] {
            check!(
                u32::try_from(leader).is_ok_and(|leader| leader < group.size()),
                ERR_RANK,
                "leader {leader} of {} ranks",
                group.size()
            );
        }
        check!(
            local.iter().all(|world| remote.rank_of(world).is_none()),
            ERR_GROUP,
            "the two groups have members in common"
        );
        let handler = mpi().errhandler(errhandler)?;
        let hints = hints(info)?;
        // Both sides ask with the same key.
        let (one, other) = if local.world(0) < remote.world(0) {
            (&local, &remote)
        } else {
            (&remote, &local)
        };
        let key = [
            Purpose::BridgeFromGroups as u64, name(stringtag)?, one.fingerprint(),
            other.fingerprint(),
        ];
        let Some(comm) = made(&key, local, Some(remote), hints) else {
            return newintercomm.set(abi::COMM_NULL);
        };
        comm.errhandler.replace(handler);
        control::meet(&comm)?;
        newintercomm.set(mpi().comms.add(comm))
    }
}

/// A number for the name by which concurrent calls are told apart.
fn name(stringtag: In<c_char>) -> Result<u64> {
    use std::hash::{Hash, Hasher};
    let Some(bytes) = stringtag.bytes() else {
        return Err(Error::new(abi::ERR_ARG, "the string tag is a null pointer"));
    };
    let mut hasher = rustc_hash::FxHasher::default();
    bytes.hash(&mut hasher);
    Ok(hasher.finish())
}

/// The communicator for a key, of which all members have used the same number of times before.
fn made(key: &[u64], local: Group, remote: Option<Group>, hints: Info) -> Option<Comm> {
    let me = mpi().comms.me();
    local.rank_of(me)?;
    let comm = Comm::new(super::context::next_number(key), local, remote, me)?;
    comm.info.replace(hints);
    Some(comm)
}
