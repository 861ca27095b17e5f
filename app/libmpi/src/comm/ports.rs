//! Groups that find each other by a port (MPI 4.1, section 11.9). Their ranks are those of one run,
//! of whatever world.

use std::ffi::{c_char, c_int};

use rank_ipc::ANY;

use super::Comm;
use super::create::{Purpose, child};
use super::inter::said_by_leader;
use crate::abi::{self, Handle};
use crate::agree;
use crate::argument::{In, Out};
use crate::error::{Error, Result};
use crate::state::mpi;
use crate::{check, mpi_functions};

/// How the name of a port begins; then come the rank that opened it and a number.
const PREFIX: &str = "heddle:";
/// The first number of what is said at ports: those before belong to the making of
/// inter-communicators.
const FIRST: u32 = 1 << 29;

/// A port, by its name.
#[derive(Clone, Copy, Debug)]
struct Door {
    rank: u32,
    number: u32,
}

impl Door {
    fn parse(name: In<c_char>) -> Result<Self> {
        let name = name.string()?;
        let numbers = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once(':'));
        let door = numbers.and_then(|(rank, number)| {
            Some(Self { rank: rank.parse().ok()?, number: number.parse().ok()? })
        });
        let door = door.filter(|door| door.rank < mpi().comms.most.get() && door.number < FIRST);
        door.ok_or_else(|| Error::new(abi::ERR_PORT, format!("`{name}` is no port")))
    }

    /// By what number those who come are heard.
    const fn knock(self) -> u32 {
        FIRST + 2 * self.number
    }

    /// By what number they get an answer.
    const fn answer(self) -> u32 {
        FIRST + 2 * self.number + 1
    }
}

/// A context and who is in a group, as the other group is told.
fn told(context: u32, comm: &Comm) -> Vec<u8> {
    std::iter::once(context).chain(comm.local.iter()).flat_map(u32::to_le_bytes).collect()
}

fn accept(door: Door, comm: &Comm) -> Result<Vec<u8>> {
    let me = mpi().comms.me();
    check!(door.rank == me, ERR_PORT, "the port was opened by rank {} of the world", door.rank);
    let (from, mut theirs) = agree::hear(ANY, door.knock())?;
    let key = [Purpose::Door as u64, u64::from(me)];
    let context = agree::context(&[&key[..], &[mpi().comms.again(&key)]].concat());
    agree::tell(from, door.answer(), &told(context, comm))?;
    if let Some(place) = theirs.get_mut(..4) {
        place.copy_from_slice(&context.to_le_bytes());
    }
    Ok(theirs)
}

fn connect(door: Door, comm: &Comm) -> Result<Vec<u8>> {
    agree::tell(door.rank, door.knock(), &told(0, comm))?;
    Ok(agree::hear(door.rank, door.answer())?.1)
}

/// The root meets the other group, and tells its own what it has learnt.
fn bridge(
    name: In<c_char>,
    root: c_int,
    comm: Handle,
    place: Out<Handle>,
    meet: fn(Door, &Comm) -> Result<Vec<u8>>,
) -> Result {
    place.check()?;
    let local = mpi().intracomm(comm)?;
    let is_rank = u32::try_from(root).is_ok_and(|root| root < local.size());
    check!(is_rank, ERR_ROOT, "root {root} of {} ranks", local.size());
    let leads = root as u32 == local.rank();
    let mine =
        if leads { Door::parse(name).and_then(|door| meet(door, &local)) } else { Ok(Vec::new()) };
    // A root that failed says so with an empty list, or the others would wait for ever.
    let all = agree::exchange(&local, mine.as_deref().unwrap_or_default())?;
    mine?;
    let said = all.get(root as usize).map(Vec::as_slice).unwrap_or_default();
    let (context, remote) = said_by_leader(said)?;
    place.set(child(&local, context, local.local.clone(), Some(remote)))
}

mpi_functions! {
    fn Open_port(info: Handle, port_name: Out<c_char>) {
        mpi().info_or_none(info)?;
        let (me, ports) = (mpi().comms.me(), &mpi().comms.ports);
        let number = ports.get();
        ports.set(number + 1);
        port_name.set_string(&format!("{PREFIX}{me}:{number}"), abi::MAX_PORT_NAME as usize).map(|_| ())
    }

    fn Close_port(port_name: In<c_char>) {
        let door = Door::parse(port_name)?;
        let is_mine = door.rank == mpi().comms.me() && door.number < mpi().comms.ports.get();
        check!(is_mine, ERR_PORT, "this rank did not open the port");
        Ok(())
    }

    fn Comm_accept(port_name: In<c_char>, info: Handle, root: c_int, comm: Handle, newcomm: Out<Handle>) about Comm(comm) {
        mpi().info_or_none(info)?;
        bridge(port_name, root, comm, newcomm, accept)
    }

    fn Comm_connect(port_name: In<c_char>, info: Handle, root: c_int, comm: Handle, newcomm: Out<Handle>) about Comm(comm) {
        mpi().info_or_none(info)?;
        bridge(port_name, root, comm, newcomm, connect)
    }
}
