//! Contents of messages that stay in the program's buffer until they are wanted.
//!
//! If ranks share a process, the receiver of a message can read the sender's buffer, which the
//! program must not change until the send is complete. So the data is copied once. If the send
//! completes first, it is copied aside then.
//!
//! An empty block stands for such contents, with words beside it: where the data is, how many bytes
//! it has, and what has become of it.

use std::sync::atomic::Ordering;

use rank_ipc::{Client, Offset, arena};

use crate::error::Result;
use crate::mpi;
use crate::p2p::{self, Data};

/// Marks the place of such a block, in the bits that are left to its user.
const IN_PLACE: Offset = 1 << 63;
/// Less is copied at once.
const LEAST: u64 = 256;

/// The values of the word that tells the state of the data: it is in the program's buffer; it has
/// been read; any other number is the place of a copy.
const IN_BUFFER: u64 = 0;
const READ: u64 = 1;

/// Leaves contents where they are and returns the place of the block that stands for them; 0 if
/// they cannot stay there.
pub fn expose(data: &Data) -> Result<Offset> {
    let bytes = data.bytes();
    if bytes < LEAST {
        return Ok(0);
    }
    let mpi = mpi();
    let port = mpi.port()?;
    if !port.memory().layout().is_private() {
        return Ok(0);
    }
    let Some((offset, length)) = data.datatype.run(data.count) else { return Ok(0) };
    let start = data.address.wrapping_offset(offset as isize).expose_provenance();
    let end = start.saturating_add(length as usize);
    // The program's variables are there only while this rank runs.
    let mut variables = mpi.variables.get().into_iter().flat_map(|parts| parts.iter());
    if variables.any(|part| part.start < end && start < part.end) {
        return Ok(0);
    }
    let place = port.allocate(0).map_err(p2p::full)?;
    for (number, value) in (0..).zip([start as u64, bytes, IN_BUFFER]) {
        arena::beside(port.memory(), place, number).store(value, Ordering::Release);
    }
    Ok(IN_PLACE | place)
}

/// The block that stands for contents.
pub const fn block(place: Offset) -> Offset {
    place & !IN_PLACE
}

fn word(port: &Client, place: Offset, number: u64) -> u64 {
    arena::beside(port.memory(), block(place), number).load(Ordering::Acquire)
}

fn set(port: &Client, place: Offset, value: u64) {
    arena::beside(port.memory(), block(place), 2).store(value, Ordering::Release);
}

/// The address of the contents of a message: those in a program's buffer, or those of a block.
pub fn address(port: &Client, place: Offset) -> *const u8 {
    if place & IN_PLACE == 0 {
        return port.memory().at(place);
    }
    match word(port, place, 2) {
        IN_BUFFER | READ => std::ptr::with_exposed_provenance(word(port, place, 0) as usize),
        copy => port.memory().at(copy),
    }
}

/// Gives contents back that the receiver of a message has read.
pub fn release(port: &Client, place: Offset) {
    if place == 0 {
        return;
    }
    if place & IN_PLACE == 0 {
        return port.give_back(place);
    }
    match word(port, place, 2) {
        IN_BUFFER | READ => set(port, place, READ),
        copy => {
            port.give_back(copy);
            port.give_back(block(place));
        }
    }
}

/// Gives the buffer back to the program, as the send is complete: contents that have not been read
/// are copied.
pub fn detach(port: &Client, place: Offset) -> Result {
    if place & IN_PLACE == 0 {
        return Ok(());
    }
    if word(port, place, 2) == READ {
        port.give_back(block(place));
        return Ok(());
    }
    let bytes = word(port, place, 1);
    let copy = p2p::block(bytes)?;
    p2p::bytes_mut(port, copy, bytes).copy_from_slice(p2p::bytes(port, place, bytes));
    set(port, place, copy);
    Ok(())
}
