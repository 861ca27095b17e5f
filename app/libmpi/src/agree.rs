//! What ranks agree about besides the program's messages, and what they ask of the simulator; for a world of one rank.

use crate::abi::{self, Handle};
use crate::check;
use crate::comm::Comm;
use crate::error::{Error, Result};
use crate::memory::Buffer;

/// This process's rank in the world and the world's size.
pub fn connect() -> Result<(u32, u32)> {
    Ok((0, 1))
}

/// Every rank of a communicator gives bytes and gets everybody's, in rank order; of an inter-communicator, those of the local group.
pub fn exchange(comm: &Comm, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
    check!(comm.size() == 1, ERR_UNSUPPORTED_OPERATION, "more than one rank");
    Ok(vec![mine.to_vec()])
}

/// Every rank of an inter-communicator gives bytes and gets those of the remote group, in rank order.
pub fn exchange_remote(comm: &Comm, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
    let _ = (comm, mine);
    Err(Error::unsupported("more than one rank"))
}

/// Two ranks of a communicator give each other bytes: this one and `peer`, by a tag.
pub fn exchange_pair(comm: &Comm, peer: u32, tag: std::ffi::c_int, mine: &[u8]) -> Result<Vec<u8>> {
    let _ = (comm, peer, tag, mine);
    Err(Error::unsupported("more than one rank"))
}

/// A number for a communicator: all who ask with the same key get the same one, which nobody else has. No time passes. A key may come
/// again when its number has been released.
pub fn context(key: &[u64]) -> u32 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    key.hash(&mut hasher);
    (hasher.finish() >> 33) as u32 + 2
}

/// This rank has no more use for a number.
pub fn release(context: u32) {
    let _ = context;
}

/// The host that a rank of the world is on.
pub fn host(world: u32) -> u32 {
    world
}

/// A request that is complete.
pub fn done() -> Handle {
    abi::REQUEST_NULL
}

/// Simulated time, in picoseconds.
pub fn now() -> u64 {
    0
}

/// Ends all ranks of the program.
pub fn abort(code: i32) -> ! {
    std::process::exit(code)
}

/// Waits until all messages of a buffer have left.
pub fn wait_sent(buffer: &Buffer) -> Result {
    check!(buffer.used() == 0, ERR_UNSUPPORTED_OPERATION, "messages that have not left");
    Ok(())
}

/// A request that is complete when all messages of a buffer have left.
pub fn when_sent(buffer: &Buffer) -> Handle {
    let _ = buffer;
    done()
}
