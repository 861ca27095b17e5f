//! Communicators split by colour or by where their ranks are.

use std::ffi::c_int;

use super::Comm;
use super::create::{Purpose, child, context, hints};
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::control;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::state::mpi;
use crate::{check, mpi_functions};

/// Kinds of resources, in info objects.
const RESOURCE: &[u8] = b"mpi_hw_resource_type";

mpi_functions! {
    fn Comm_split(comm: Handle, color: c_int, key: c_int, newcomm: Out<Handle>) about Comm(comm) {
        newcomm.check()?;
        let parent = mpi().comm(comm)?;
        check!(color >= 0 || color == abi::UNDEFINED, ERR_ARG, "colour {color}");
        newcomm.set(split(&parent, color, key)?)
    }

    fn Comm_split_type(
        comm: Handle, split_type: c_int, key: c_int, info: Handle, newcomm: Out<Handle>,
    ) about Comm(comm) {
        newcomm.check()?;
        let parent = mpi().comm(comm)?;
        let hints_given = hints(info)?;
        let color = match split_type {
            abi::UNDEFINED => abi::UNDEFINED,
            abi::COMM_TYPE_SHARED => host(mpi().comms.me()),
            abi::COMM_TYPE_HW_UNGUIDED => below(&parent),
            abi::COMM_TYPE_HW_GUIDED => resource(info)?,
            abi::COMM_TYPE_RESOURCE_GUIDED => match resource(info)? {
                abi::UNDEFINED => set(info)?,
                color => color,
            },
            _ => return Err(Error::new(abi::ERR_ARG, format!("split type {split_type}"))),
        };
        let handle = split(&parent, color, key)?;
        if handle != abi::COMM_NULL {
            mpi().comm(handle)?.info.replace(hints_given);
        }
        // The program learns what it was split into.
        let unguided = split_type == abi::COMM_TYPE_HW_UNGUIDED;
        if handle != abi::COMM_NULL && unguided && info != abi::INFO_NULL {
            mpi().own_info(info)?.borrow_mut().set(RESOURCE, b"mpi_shared_memory");
        }
        newcomm.set(handle)
    }
}

/// The host of a rank of the world, as a colour.
fn host(world: u32) -> c_int {
    control::host(world) as c_int
}

/// The colour of a split into the parts of the machine below the smallest one that holds all ranks:
/// the hosts, which have no parts themselves.
fn below(comm: &Comm) -> c_int {
    let mine = control::host(mpi().comms.me());
    if comm.local.iter().all(|world| control::host(world) == mine) {
        abi::UNDEFINED
    } else {
        mine as c_int
    }
}

/// The colour of a split by the kind of resource that an info object names.
fn resource(info: Handle) -> Result<c_int> {
    if info == abi::INFO_NULL {
        return Ok(abi::UNDEFINED);
    }
    Ok(match mpi().info(info)?.value(RESOURCE).as_deref() {
        Some(b"mpi_shared_memory" | b"host" | b"node") => host(mpi().comms.me()),
        _ => abi::UNDEFINED,
    })
}

/// The colour of a split by the process set that an info object names.
fn set(info: Handle) -> Result<c_int> {
    if info == abi::INFO_NULL {
        return Ok(abi::UNDEFINED);
    }
    let me = mpi().comms.me();
    let name = mpi().info(info)?.value(b"mpi_pset_name").map(|name| name.to_ascii_uppercase());
    Ok(match name.as_deref() {
        Some(b"MPI://WORLD") => 0,
        Some(b"MPI://SELF") => me as c_int,
        _ => abi::UNDEFINED,
    })
}

/// Decodes the message of a rank: colour and key.
fn said(bytes: &[u8]) -> Option<(c_int, c_int)> {
    let (color, key) = bytes.split_at_checked(4)?;
    Some((c_int::from_le_bytes(color.try_into().ok()?), c_int::from_le_bytes(key.try_into().ok()?)))
}

/// The members of a group who said this colour, by key and, if keys are equal, by rank.
fn of_color(group: &Group, all: &[Vec<u8>], color: c_int) -> Group {
    let mut members: Vec<(c_int, u32, u32)> = group
        .iter()
        .zip(all)
        .zip(0..)
        .filter_map(|((world, bytes), rank)| {
            let (its_color, key) = said(bytes)?;
            (its_color == color).then_some((key, rank, world))
        })
        .collect();
    members.sort_unstable();
    Group::of(members.into_iter().map(|(_, _, world)| world).collect())
}

/// Splits a communicator; `COMM_NULL` to those without a colour, and, of an inter-communicator, to
/// those whose colour nobody has on the other side.
pub(super) fn split(parent: &Comm, color: c_int, key: c_int) -> Result<Handle> {
    let mine = [color.to_le_bytes(), key.to_le_bytes()].concat();
    let [here, there] = control::exchange_both(parent, &mine)?;
    if color == abi::UNDEFINED {
        parent.next_agreement();
        return Ok(abi::COMM_NULL);
    }
    let local = of_color(&parent.local, &here, color);
    let remote = parent.remote.as_ref().map(|remote| of_color(remote, &there, color));
    if remote.as_ref().is_some_and(|remote| remote.size() == 0) {
        parent.next_agreement();
        return Ok(abi::COMM_NULL);
    }
    let context = context(parent, Purpose::Split, color as u64);
    Ok(child(parent, context, local, remote))
}
