//! Communicators that join two groups.

use std::ffi::c_int;

use super::Comm;
use super::context::{decoded, encoded, next_number};
use super::create::{Purpose, child, context};
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::control;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::state::mpi;
use crate::{check, mpi_functions};

mpi_functions! {
    fn Intercomm_create(
        local_comm: Handle, local_leader: c_int, peer_comm: Handle, remote_leader: c_int,
        tag: c_int, newintercomm: Out<Handle>,
    ) about Comm(local_comm) {
        newintercomm.check()?;
        let local = mpi().intracomm(local_comm)?;
        check!(
            u32::try_from(local_leader).is_ok_and(|leader| leader < local.size()),
            ERR_RANK,
            "leader {local_leader} of {} ranks",
            local.size()
        );
        check!(tag >= 0, ERR_TAG, "tag {tag}");
        let leads = local_leader as u32 == local.rank();
        let mine = if leads { meet(&local, peer_comm, remote_leader, tag) } else { Ok(Vec::new()) };
        // A leader who failed says so with an empty list, or the others would wait for ever.
        let all = control::exchange(&local, mine.as_deref().unwrap_or_default())?;
        mine?;
        let said = all.get(local_leader as usize).map(Vec::as_slice).unwrap_or_default();
        let (context, remote) = said_by_leader(said)?;
        newintercomm.set(child(&local, context, local.local.clone(), Some(remote)))
    }

    fn Intercomm_merge(
        intercomm: Handle, high: c_int, newintracomm: Out<Handle>
    ) about Comm(intercomm) {
        newintracomm.check()?;
        let inter = mpi().comm(intercomm)?;
        check!(inter.is_inter(), ERR_COMM, "{} has one group only", inter.display_name());
        let high = high != 0;
        let mine = [u8::from(high)];
        let [here, there] = control::exchange_both(&inter, &mine)?;
        check!(
            here.iter().all(|said| *said == mine),
            ERR_ARG,
            "the ranks of a group disagree about which group is the high one"
        );
        let other_high = there.first().is_some_and(|said| *said == [1]);
        let (local, remote) = (&inter.local, inter.peers());
        let first = if high == other_high { local.world(0) < remote.world(0) } else { !high };
        let (low, high) = if first { (local, remote) } else { (remote, local) };
        let all = Group::of(low.iter().chain(high.iter()).collect());
        let context = context(&inter, Purpose::Merge, 0);
        newintracomm.set(child(&inter, context, all, None))
    }
}

/// The leaders of both groups tell each other who is in them; gives the new context and the remote
/// group, as bytes.
fn meet(local: &Comm, peer_comm: Handle, remote_leader: c_int, tag: c_int) -> Result<Vec<u8>> {
    let peers = mpi().comm(peer_comm)?;
    let leader = u32::try_from(remote_leader).ok();
    let Some((leader, world)) = leader.and_then(|leader| Some((leader, peers.world_rank(leader)?)))
    else {
        return Err(Error::new(
            abi::ERR_RANK,
            format!(
                "remote leader {remote_leader} in a communicator of {} ranks",
                peers.peers().size()
            ),
        ));
    };
    check!(
        local.local.rank_of(world).is_none(),
        ERR_RANK,
        "the remote leader is in the local group"
    );
    let me = mpi().comms.me();
    // The leader with the lower rank in the world chooses the context.
    let proposed =
        if me < world { next_number(&[Purpose::Bridge as u64, u64::from(me)]) } else { 0 };
    let mine = encoded(proposed, &local.local);
    let mut theirs = control::exchange_pair(&peers, leader, tag, &mine)?;
    if me < world
        && let Some(place) = theirs.get_mut(..8)
    {
        place.copy_from_slice(&proposed.to_le_bytes());
    }
    Ok(theirs)
}

/// Context and remote group from what a leader told its group.
pub(super) fn said_by_leader(bytes: &[u8]) -> Result<(u64, Group)> {
    let failed = || Error::new(abi::ERR_OTHER, "the leader of the group failed");
    decoded(bytes).ok_or_else(failed)
}
