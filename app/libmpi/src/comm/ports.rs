//! Groups that find each other by a port (MPI 4.1, section 11.9). Their ranks are those of one run,
//! of whatever world.

use std::ffi::{c_char, c_int};

use rank_ipc::ANY;

use super::create::{Purpose, child};
use super::inter::said_by_leader;
use super::{Comm, context};
use crate::abi::{self, Handle};
use crate::argument::{In, Out};
use crate::control::{self, Decision};
use crate::error::{Error, Result};
use crate::info::Info;
use crate::state::mpi;
use crate::{check, mpi_functions};

/// The beginning of a port's name; then come the rank that opened it and a number.
const PREFIX: &str = "heddle:";
/// The first number of what is said at ports: those before belong to the making of
/// inter-communicators.
const FIRST: u32 = 1 << 29;
/// The time that a connection waits to be accepted if nothing else is said: 180 seconds, as with
/// MPICH.
const DEFAULT_LIMIT: u64 = 180_000_000_000_000;
/// The variable that says something else, in seconds.
const TIMEOUT: &str = "HEDDLE_CONNECT_TIMEOUT";
/// A second in picoseconds.
const SECOND: f64 = 1e12;

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

    /// The number by which those who come are heard.
    const fn knock(self) -> u32 {
        FIRST + 2 * self.number
    }

    /// The number by which they get an answer.
    const fn answer(self) -> u32 {
        FIRST + 2 * self.number + 1
    }
}

fn accept(door: Door, comm: &Comm) -> Result<Vec<u8>> {
    let me = mpi().comms.me();
    check!(door.rank == me, ERR_PORT, "the port was opened by rank {} of the world", door.rank);
    let (from, mut theirs) = loop {
        let (from, said) = control::hear(ANY, door.knock())?;
        let (number, theirs) = said.split_first_chunk().ok_or_else(silent)?;
        let decision = Decision::of(u64::from_le_bytes(*number));
        if decision.is_mine()? {
            break (from, theirs.to_vec());
        }
        // The process that knocked has given up.
        decision.end();
    };
    let context = context::next_number(&[Purpose::Door as u64, u64::from(me)]);
    control::tell(from, door.answer(), &context::encoded(context, &comm.local))?;
    if let Some(place) = theirs.get_mut(..8) {
        place.copy_from_slice(&context.to_le_bytes());
    }
    Ok(theirs)
}

fn connect(door: Door, comm: &Comm, limit: u64) -> Result<Vec<u8>> {
    let decision = Decision::new()?;
    let knock = [&decision.number().to_le_bytes()[..], &context::encoded(0, &comm.local)].concat();
    control::tell(door.rank, door.knock(), &knock)?;
    let answer = control::listen(door.rank, door.answer())?;
    if !control::is_heard_within(answer, limit)? && decision.is_mine()? {
        control::withdraw(answer)?;
        let text = format!("nobody has accepted on the port for {} s", limit as f64 / SECOND);
        return Err(Error::new(abi::ERR_PORT, text));
    }
    let (_, said) = control::heard(answer)?;
    decision.end();
    Ok(said)
}

fn silent() -> Error {
    Error::new(abi::ERR_INTERN, "who came to the port does not say who it is")
}

/// Returns how long a connection waits to be accepted, in picoseconds: what the hint `timeout`
/// says, as for MPICH, or a variable of the environment, in seconds.
fn limit(info: &Info) -> Result<u64> {
    let said = match info.value(b"timeout") {
        Some(said) => String::from_utf8_lossy(&said).into_owned(),
        None => match std::env::var(TIMEOUT) {
            Ok(said) => said,
            Err(_) => return Ok(DEFAULT_LIMIT),
        },
    };
    let seconds = said.trim().parse().ok().filter(|seconds: &f64| *seconds >= 0.0);
    let wrong = || Error::new(abi::ERR_INFO_VALUE, format!("timeout: `{said}` is no time in s"));
    // Beyond what a word holds, it is the most that one does.
    Ok((seconds.ok_or_else(wrong)? * SECOND) as u64)
}

/// The root meets the other group, and tells its own what it has learnt.
fn bridge(
    name: In<c_char>,
    root: c_int,
    comm: Handle,
    place: Out<Handle>,
    meet: impl FnOnce(Door, &Comm) -> Result<Vec<u8>>,
) -> Result {
    place.check()?;
    let local = mpi().intracomm(comm)?;
    let is_rank = u32::try_from(root).is_ok_and(|root| root < local.size());
    check!(is_rank, ERR_ROOT, "root {root} of {} ranks", local.size());
    let leads = root as u32 == local.rank();
    let mine =
        if leads { Door::parse(name).and_then(|door| meet(door, &local)) } else { Ok(Vec::new()) };
    // A root that failed says so with an empty list, or the others would wait for ever.
    let all = control::exchange(&local, mine.as_deref().unwrap_or_default())?;
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
        port_name
            .set_string(&format!("{PREFIX}{me}:{number}"), abi::MAX_PORT_NAME as usize)
            .map(|_| ())
    }

    fn Close_port(port_name: In<c_char>) {
        let door = Door::parse(port_name)?;
        let is_mine = door.rank == mpi().comms.me() && door.number < mpi().comms.ports.get();
        check!(is_mine, ERR_PORT, "this rank did not open the port");
        Ok(())
    }

    fn Comm_accept(
        port_name: In<c_char>, info: Handle, root: c_int, comm: Handle, newcomm: Out<Handle>
    ) about Comm(comm) {
        mpi().info_or_none(info)?;
        bridge(port_name, root, comm, newcomm, accept)
    }

    fn Comm_connect(
        port_name: In<c_char>, info: Handle, root: c_int, comm: Handle, newcomm: Out<Handle>
    ) about Comm(comm) {
        let info = mpi().info_or_none(info)?;
        bridge(port_name, root, comm, newcomm, |door, comm| connect(door, comm, limit(&info)?))
    }
}
