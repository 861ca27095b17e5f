//! Replaces `control.rs` in tests: a world whose ranks are threads, without a simulator.

// A test that goes wrong panics.
#![allow(clippy::missing_panics_doc)]

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::abi::{self, Handle};
use crate::argument::Out;
use crate::comm::Comm;
use crate::environment::Identity;
use crate::error::{Error, Result};

/// The state that the threads of a world share.
#[derive(Debug, Default)]
struct Hub {
    shared: Mutex<Shared>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Shared {
    said: HashMap<Meeting, HashMap<u32, Vec<u8>>>,
    words: HashMap<u64, Arc<AtomicU64>>,
}

/// Context, one of those who meet, tag, and the number of the meeting, from 1.
type Meeting = (u64, u32, c_int, u64);

thread_local! {
    static WORLD: RefCell<(Arc<Hub>, u32, u32)> = RefCell::new((Arc::default(), 0, 1));
    static MET: RefCell<HashMap<(u64, u32, c_int), u64>> = RefCell::default();
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// Runs a test as the program of each rank of a world.
pub fn ranks(size: u32, program: impl Fn(u32) + Sync) {
    let hub = Arc::<Hub>::default();
    std::thread::scope(|scope| {
        for rank in 0..size {
            let (hub, program) = (Arc::clone(&hub), &program);
            scope.spawn(move || {
                WORLD.set((hub, rank, size));
                program(rank);
            });
        }
    });
}

/// Stands for its namesake in `control.rs`.
#[allow(clippy::unnecessary_wraps)]
pub fn connect() -> Result<Identity> {
    let (rank, first) = WORLD.with_borrow(|(_, rank, size)| (*rank, *size));
    Ok(Identity { rank, first, most: first, universe: first, ..Identity::default() })
}

/// Says something at a meeting and waits until as many as `number` have, there or at another.
fn assemble(
    (context, who, tag): (u64, u32, c_int),
    own: (u32, &[u8]),
    (there, number): (u32, u32),
) -> Vec<Vec<u8>> {
    let time = MET.with_borrow_mut(|met| {
        let time = met.entry((context, who, tag)).or_default();
        *time += 1;
        *time
    });
    let hub = WORLD.with_borrow(|(hub, ..)| Arc::clone(hub));
    let mut shared = hub.shared.lock().unwrap();
    let said = shared.said.entry((context, who, tag, time)).or_default();
    assert!(said.insert(own.0, own.1.to_vec()).is_none(), "a rank said it twice");
    hub.news.notify_all();
    loop {
        if let Some(said) = shared.said.get(&(context, there, tag, time))
            && said.len() == number as usize
        {
            let mut said: Vec<_> = said.iter().collect();
            said.sort();
            return said.into_iter().map(|(_, bytes)| bytes.clone()).collect();
        }
        let (again, timeout) = hub.news.wait_timeout(shared, Duration::from_secs(20)).unwrap();
        assert!(!timeout.timed_out(), "a rank waits for others who do not come");
        shared = again;
    }
}

/// Stands for its namesake in `control.rs`.
#[allow(clippy::unnecessary_wraps)]
pub fn exchange(comm: &Comm, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
    let who = comm.local.world(0).unwrap();
    Ok(assemble((comm.context, who, -1), (comm.rank(), mine), (who, comm.size())))
}

/// Stands for its namesake in `control.rs`.
pub fn meet(comm: &Comm) -> Result {
    exchange(comm, &[]).map(|_| ())
}

/// Stands for its namesake in `control.rs`.
#[allow(clippy::unnecessary_wraps)]
pub fn exchange_both(comm: &Comm, mine: &[u8]) -> Result<[Vec<Vec<u8>>; 2]> {
    let local = exchange(comm, mine)?;
    let Some(remote) = &comm.remote else { return Ok([local, Vec::new()]) };
    let (who, there) = (comm.local.world(0).unwrap(), remote.world(0).unwrap());
    let remote = assemble((comm.context, who, -2), (comm.rank(), mine), (there, remote.size()));
    Ok([local, remote])
}

/// Stands for its namesake in `control.rs`.
#[derive(Debug)]
pub struct Word(Arc<AtomicU64>);

#[allow(missing_docs, clippy::missing_errors_doc, clippy::unnecessary_wraps)]
impl Word {
    pub fn new(comm: &Comm) -> Result<Self> {
        let hub = WORLD.with_borrow(|(hub, ..)| Arc::clone(hub));
        let mut shared = hub.shared.lock().unwrap();
        Ok(Self(Arc::clone(shared.words.entry(comm.context).or_default())))
    }

    pub fn get(&self) -> Result<u64> {
        Ok(self.0.load(Ordering::SeqCst))
    }

    pub fn set(&self, value: u64) -> Result {
        self.0.store(value, Ordering::SeqCst);
        Ok(())
    }

    pub fn add(&self, more: u64) -> Result<u64> {
        Ok(self.0.fetch_add(more, Ordering::SeqCst))
    }

    pub fn end(&self) {}
}

/// Stands for its namesake in `control.rs`.
pub fn settle() {}

/// Stands for its namesake in `control.rs`.
#[allow(clippy::unnecessary_wraps)]
pub fn exchange_pair(comm: &Comm, peer: u32, tag: c_int, mine: &[u8]) -> Result<Vec<u8>> {
    let (me, there) = (comm.local.world(comm.rank()).unwrap(), comm.world_rank(peer).unwrap());
    let context = !comm.context;
    Ok(assemble((context, me, tag), (0, mine), (there, 1)).remove(0))
}

/// Stands for its namesake in `control.rs`.
pub fn release(_: u64, _: u32) {}

/// Stands for its namesake in `control.rs`.
pub fn register_pair(_: u64, _: u32, _: [u32; 2]) {}

/// Two ranks to a host.
pub fn host(world: u32) -> u32 {
    world / 2
}

/// Stands for its namesake in `control.rs`.
pub fn host_name(world: u32) -> String {
    format!("host{}", host(world))
}

/// Stands for its namesake in `control.rs`.
pub fn share_memory(_: u32, _: u32) -> bool {
    true
}

/// Stands for its namesake in `control.rs`.
pub fn meet_later(_: Handle, request: Out<Handle>) -> Result {
    request.set(done())
}

/// Stands for its namesake in `control.rs`.
pub fn done() -> Handle {
    abi::REQUEST_NULL
}

/// Stands for its namesake in `control.rs`.
pub fn now() -> u64 {
    NOW.get()
}

/// Stands for its namesake in `control.rs`.
pub fn abort(code: i32) -> ! {
    panic!("ended with code {code}")
}

/// Stands for its namesake in `control.rs`.
pub fn register(comm: &Comm) {
    comm.registered.set(true);
}

/// Stands for its namesake in `control.rs`.
#[allow(clippy::unnecessary_wraps)]
pub fn begin() -> Result {
    Ok(())
}

/// Stands for its namesake in `control.rs`.
pub fn rest() {}

/// Stands for its namesake in `control.rs`.
pub fn leave() {}

/// Stands for its namesake in `control.rs`.
#[allow(clippy::unnecessary_wraps)]
pub fn wait_sent(_: &crate::memory::Buffer) -> Result {
    Ok(())
}

/// Stands for its namesake in `control.rs`.
pub fn when_sent(_: &crate::memory::Buffer) -> Handle {
    done()
}

/// Ports are for live ranks.
pub fn tell(_: u32, _: u32, _: &[u8]) -> Result {
    Err(Error::unsupported("ports"))
}

/// Only live ranks start others.
pub fn start(_: &[rank_ipc::start::Start]) -> Result<Vec<u32>> {
    Err(Error::unsupported("processes"))
}

/// Only live ranks start others.
pub fn tell_birth(_: u32, _: &[u8]) -> Result {
    Err(Error::unsupported("processes"))
}

/// Ports are for live ranks.
pub fn listen(_: u32, _: u32) -> Result<rank_ipc::Ticket> {
    Err(Error::unsupported("ports"))
}

/// Ports are for live ranks.
pub fn is_heard_within(_: rank_ipc::Ticket, _: u64) -> Result<bool> {
    Err(Error::unsupported("ports"))
}

/// Ports are for live ranks.
pub fn withdraw(_: rank_ipc::Ticket) -> Result {
    Err(Error::unsupported("ports"))
}

/// Ports are for live ranks.
pub fn heard(_: rank_ipc::Ticket) -> Result<(u32, Vec<u8>)> {
    Err(Error::unsupported("ports"))
}

/// Ports are for live ranks.
#[derive(Clone, Copy, Debug)]
pub struct Decision;

#[allow(missing_docs, clippy::missing_errors_doc)]
impl Decision {
    pub fn new() -> Result<Self> {
        Err(Error::unsupported("ports"))
    }

    pub const fn number(self) -> u64 {
        0
    }

    pub const fn of(_: u64) -> Self {
        Self
    }

    pub fn is_mine(self) -> Result<bool> {
        Err(Error::unsupported("ports"))
    }

    pub fn end(self) {}
}

/// Ports are for live ranks.
pub fn hear(_: u32, _: u32) -> Result<(u32, Vec<u8>)> {
    Err(Error::unsupported("ports"))
}
