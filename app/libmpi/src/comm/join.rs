//! Two ranks that a socket connects (MPI 4.1, section 11.10.5). What goes over the socket takes no
//! simulated time but that of looking whether it has come; then each hears of the other by a
//! message.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::create::{Purpose, child};
use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::state::mpi;
use crate::{check, control, mpi_functions, threads};

/// The beginning of every message that ranks send over a socket.
const GREETING: [u8; 8] = *b"heddle\r\n";
/// Behind it come the process that holds the run, and the rank in it.
const LENGTH: usize = 16;
/// The number by which ranks that are connected hear each other: the last before that of
/// [`rank_ipc::BIRTH`].
const NUMBER: u32 = u32::MAX - rank_ipc::BIRTH - 1;

fn greeting() -> Vec<u8> {
    let own = mpi().is_singleton.get() || mpi().shares_process.get();
    let run = if own { std::process::id() } else { std::os::unix::process::parent_id() };
    [&GREETING[..], &run.to_le_bytes(), &mpi().comms.me().to_le_bytes()].concat()
}

/// Tells the other side of a socket who this is; gives the rank there, if it is another one of this
/// run.
fn greet(socket: BorrowedFd<'_>) -> Result<Option<u32>> {
    let failed = |error: Errno| Error::new(abi::ERR_OTHER, format!("the socket: {error}"));
    let mine = greeting();
    // The other side may look for it now, at another moment of simulated time.
    mpi().port()?.order();
    let mut rest = mine.as_slice();
    while !rest.is_empty() {
        let sent = send(socket, rest, SendFlags::NOSIGNAL).map_err(failed)?;
        rest = rest.get(sent..).unwrap_or_default();
    }
    let (mut theirs, mut part) = (Vec::new(), [0; LENGTH]);
    while theirs.len() < LENGTH {
        let room = part.get_mut(theirs.len()..).unwrap_or_default();
        match recv(socket, &mut *room, RecvFlags::DONTWAIT) {
            Ok((0, _)) => {
                return Err(Error::new(abi::ERR_OTHER, "the other side closed the socket"));
            }
            Ok((length, _)) => theirs.extend_from_slice(room.get(..length).unwrap_or_default()),
            // It speaks when it runs.
            Err(Errno::AGAIN) => threads::look(mpi().port()?, &[]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let (run, rank) = mine.split_at(LENGTH - 4);
    let same = theirs.starts_with(run) && !theirs.ends_with(rank);
    let rank = theirs.last_chunk().map(|rank| u32::from_le_bytes(*rank));
    Ok(rank.filter(|_| same))
}

/// The lower rank chooses the number of the communicator.
fn agree_with(other: u32) -> Result<u64> {
    let me = mpi().comms.me();
    if me < other {
        let key = [Purpose::Join as u64, u64::from(me), u64::from(other)];
        let context = super::context::next_number(&key);
        control::tell(other, NUMBER, &context.to_le_bytes())?;
        control::hear(other, NUMBER)?;
        return Ok(context);
    }
    let (_, said) = control::hear(other, NUMBER)?;
    control::tell(other, NUMBER, &[])?;
    let context = said.first_chunk().map(|context| u64::from_le_bytes(*context));
    context
        .ok_or_else(|| Error::new(abi::ERR_INTERN, "the other rank does not name a communicator"))
}

mpi_functions! {
    fn Comm_join(fd: c_int, intercomm: Out<Handle>) {
        intercomm.set(abi::COMM_NULL)?;
        check!(fd >= 0, ERR_ARG, "{fd} is no socket");
        // SAFETY: the program's argument: a socket that is open until the call returns.
        let Some(other) = greet(unsafe { BorrowedFd::borrow_raw(fd) })? else {
            // As the standard has it where the two cannot reach each other.
            return Ok(());
        };
        let context = agree_with(other)?;
        let own = mpi().comm(abi::COMM_SELF)?;
        let remote = Group::range(other, 1);
        intercomm.set(child(&own, context, own.local.clone(), Some(remote)))
    }
}
