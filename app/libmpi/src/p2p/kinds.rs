//! The kinds of numbers that messages consist of (MPI 4.1, section 3.3.1): a receive into other
//! numbers than were sent is a mistake of the program, which is said. Only what cannot be meant is:
//! numbers of another size, or with a fraction where there was none. Bytes, and data of several
//! kinds, may be anything.

use rank_ipc::{Client, Completion, Offset, arena};

use super::Data;
use crate::comm::Comm;
use crate::datatype::{FRACTION, Kind};
use crate::{mpi, zero_copy};

/// Notes what a block of contents is made of.
pub fn note(port: &Client, contents: Offset, data: &Data) {
    if contents != 0 {
        arena::label(port.memory(), zero_copy::block(contents), data.datatype.kind());
    }
}

fn words(kind: Kind) -> String {
    let what = if kind & FRACTION == 0 { "integers" } else { "floating-point numbers" };
    format!("{what} of {} bytes", kind & 0xff)
}

/// Says it, once, if a message is made of something else than it is received as.
pub fn check(port: &Client, done: &Completion, data: &Data, comm: &Comm) {
    if done.contents == 0 || done.bytes == 0 {
        return;
    }
    let (sent, received) =
        (arena::labelled(port.memory(), zero_copy::block(done.contents)), data.datatype.kind());
    if sent == received || sent == 0 || received == 0 || mpi().warned.replace(true) {
        return;
    }
    let (me, call) = (mpi().comms.me(), mpi().call.get());
    eprintln!(
        "heddle: warning: rank {me}: {call} on {}: rank {} of the world sent {}, and they are \
         received as {}",
        comm.display_name(),
        done.source,
        words(sent),
        words(received)
    );
}
